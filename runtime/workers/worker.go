package workers

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/storage"
)

// maxAsked is how much is told of what a child was asked, in bytes.
const maxAsked = 1024

// about returns what is told of a child besides its steps. What of it cannot be read is left out.
func (k *Keeper) about(ctx context.Context, t storage.Tenant, child, parent *abi.Task) *abi.Worker {
	w := &abi.Worker{WorkerID: child.ID, WorkerName: child.PersonaID, WorkerMode: abi.WorkerDelegatedStage}
	if child.SessionID != parent.SessionID {
		w.WorkerMode = abi.WorkerSubAgent
	}
	if p, err := k.parts.Persona(ctx, t, child.PersonaID); err == nil {
		w.WorkerName, w.Audit = p.Name, abi.MutationSessionOf(child, parent, nil, &p.Persona)
		if p.IsSubagent() {
			w.WorkerMode = abi.WorkerSubAgent
		}
	}
	w.WorkerTask, w.Internal = k.asked(ctx, t, child.ID)
	w.Metadata = abi.WorkerMetadata{Task: w.WorkerTask, Mode: w.WorkerMode, StartedAt: timeOf(child.StartedAt), ChildRunID: child.ID, Audit: w.Audit}
	return w
}

// as returns what is told of a child after one of its steps, which was taken at some time.
func as(about *abi.Worker, event abi.WorkerEvent, child *abi.Task, o *abi.Outcome, at time.Time) *abi.Worker {
	w := *about
	w.Event, w.Status, w.Terminal = event, event.Status(), event.Terminal()
	switch {
	case w.Terminal:
		w.Metadata.FinishedAt = timeOf(abi.At(at))
	case event == abi.WorkerWaitingForInput:
		w.Metadata.AwaitingStartedAt = timeOf(abi.At(at))
	}
	if f := child.Failure; f != nil {
		w.Metadata.Error = &abi.Failure{Code: f.Code}
		if !desk.Internal(f) {
			w.Metadata.Error.Message = f.Message
		}
	}
	if o != nil {
		w.Metadata.Handoff = o.Handoff
	}
	return &w
}

func timeOf(t abi.Time) *abi.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// asked returns what a child was asked: what everybody may see of it, and the rest.
func (k *Keeper) asked(ctx context.Context, t storage.Tenant, child string) (public string, internal *abi.WorkerAsked) {
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectTask, child)
	if err != nil {
		return "", nil
	}
	in, err := k.parts.Desk.InputOf(ctx, t, res)
	if err != nil {
		return "", nil
	}
	return Asked(in.Value)
}

// Asked returns what an input asks, cut off: what everybody may see of it, and what else those see who see what is
// internal; nil when that is nothing.
func Asked(input jsontext.Value) (public string, internal *abi.WorkerAsked) {
	public, all := textOf(input, false), textOf(input, true)
	if all != public {
		internal = &abi.WorkerAsked{Type: string(abi.PartText), Visibility: abi.VisibilityInternal, Text: all}
	}
	return public, internal
}

// textOf returns an input as a text: the texts of a Message, or any other object as it is.
func textOf(input jsontext.Value, internal bool) string {
	shown, err := redact.Document(input, internal)
	if err != nil {
		return ""
	}
	var m struct {
		Parts []abi.Part `json:"parts"`
	}
	if json.Unmarshal(shown, &m) != nil || m.Parts == nil {
		return cut(string(shown))
	}
	var texts []string
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == abi.PartText && p.Text != nil && !p.Redacted {
			texts = append(texts, *p.Text)
		}
	}
	return cut(strings.Join(texts, "\n"))
}

// cut bounds a text, between two characters.
func cut(text string) string {
	if len(text) <= maxAsked {
		return text
	}
	end := maxAsked - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// record returns the event that tells of a child.
func record(w *abi.Worker, seq uint64) ledger.Record {
	return ledger.Record{Kind: abi.EventWorker, Object: abi.ObjectWorker, ID: idOf(w.WorkerID), Sequence: seq,
		Restricted: w.Internal != nil || w.Metadata.Handoff != nil, Payload: w}
}

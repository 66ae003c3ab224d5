package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/skill"
)

// host answers a guest from a record.
type host struct {
	record  *journal.Record
	options Options
	defs    map[string]*abi.HostCall
	cursor  *journal.Cursor
	ground  *journal.Ground
	byIndex map[int]*Replacement
	result  *Result
	gave    skill.Result
	changed bool // a replacement was applied: what the plugin makes may differ from here on
	failed  error
}

var _ sandbox.Host = (*host)(nil)

func newHost(rec *journal.Record, o Options) *host {
	if o.TaskID == "" {
		o.TaskID = rec.TaskID
	}
	h := &host{
		record: rec, options: o, defs: abi.HostCallsByName(), cursor: journal.NewCursor(rec.Entries),
		ground: journal.NewGround(rec.StartedAt, rec.Program.Seed), byIndex: map[int]*Replacement{},
		result: &Result{Tally: receipt.NewTally(&rec.Program, rec.Input, o.TaskID)},
	}
	for i := range o.Replacements {
		if r := &h.options.Replacements[i]; r.Index >= 0 {
			h.byIndex[r.Index] = r
		} else {
			h.result.Applied = append(h.result.Applied, *r)
		}
	}
	return h
}

// Now implements [sandbox.Host].
func (h *host) Now() time.Time { return h.ground.Now() }

// Random implements [sandbox.Host].
func (h *host) Random(p []byte) { h.ground.Random(p) }

// Sleep implements [sandbox.Host].
func (h *host) Sleep(_ context.Context, d time.Duration) { h.ground.Sleep(d) }

// Call implements [sandbox.Host].
func (h *host) Call(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	def := h.defs[call]
	switch {
	case def == nil:
		return 0, nil, fmt.Errorf("there is no host call %q", call)
	case def.Effect == abi.EffectHint:
		if _, _, err := journal.ReadHint(call, request); err != nil {
			refused := provider.Malformed(err)
			return refused.Status, refused.Answer(), nil
		}
		return abi.CallOK, nil, nil
	case def.Effect == abi.EffectGiven:
		status, answer := Given(call, h.record.Input)
		return status, answer, nil
	}
	status, answer, err := h.recorded(call, request)
	if err != nil && !errors.Is(err, errStop) && h.result.Divergence == nil {
		h.failed = err
	}
	return status, answer, err
}

// Given answers a call whose answer is not recorded, for it follows from what the Task
// was submitted with. A Task has no deliveries.
func Given(call string, input []byte) (abi.CallStatus, []byte) {
	if call == abi.CallInput {
		return abi.CallOK, input
	}
	refused := provider.Refuse(abi.CallNotFound, "in_a_task", "a task has no deliveries")
	return refused.Status, refused.Answer()
}

// recorded answers a call from the record.
func (h *host) recorded(call string, request []byte) (abi.CallStatus, []byte, error) {
	asked := journal.Canonical(call, request)
	hooks, gate := h.cursor.Gates()
	for _, before := range []*journal.Entry{hooks, gate} {
		switch {
		case before == nil:
		case before.Open:
			return 0, nil, errStop
		default:
			if err := h.take(before, nil); err != nil {
				return 0, nil, err
			}
		}
	}
	next := h.cursor.Peek()
	switch {
	case next == nil && (h.record.End == nil || h.record.End.Stopped), next != nil && next.Open:
		return 0, nil, errStop
	case next == nil:
		h.result.Divergence = h.diverge(nil, call, asked)
		return 0, nil, h.result.Divergence
	}
	by := h.byIndex[next.Index]
	entry := *next
	if !h.cursor.Fits(call, asked) {
		if next.Call != call || !h.changed || by == nil && !made[call] {
			h.result.Divergence = h.diverge(next, call, asked)
			return 0, nil, h.result.Divergence
		}
		if by == nil {
			if err := h.makeAnew(&entry, request); err != nil {
				return 0, nil, err
			}
		}
		entry.Request = bytes.Clone(asked)
	}
	if by != nil {
		entry.Status, entry.Answer, h.changed = abi.CallOK, by.Answer, true
		h.result.Applied = append(h.result.Applied, *by)
	}
	h.cursor.Skip()
	return entry.Status, entry.Answer, h.take(&entry, by)
}

// take takes over an answered call.
func (h *host) take(e *journal.Entry, by *Replacement) error {
	h.ground.Reach(e.At)
	if err := h.result.Tally.Add(e); err != nil {
		return err
	}
	h.result.Entries = append(h.result.Entries, *e)
	if e.Status == abi.CallOK {
		h.gave.Note(e.Call, e.Request)
	}
	if err := h.result.Outputs.Take(e); err != nil {
		return fmt.Errorf("call %d: %w", e.Index, err)
	}
	if h.options.OnCall == nil {
		return nil
	}
	return h.options.OnCall(e, by)
}

// made are the calls by which a plugin hands something out. Once a replacement has
// changed what the plugin was told, they may differ from the record: nothing that
// it is told depends on the world.
var made = map[string]bool{abi.CallOutput: true, abi.CallMessageAppend: true, abi.CallArtifactPut: true,
	abi.CallStateSet: true, abi.CallEventEmit: true, abi.CallMemoryWrite: true}

// makeAnew answers a call that hands out something else than recorded.
func (h *host) makeAnew(e *journal.Entry, request []byte) error {
	if e.Status != abi.CallOK {
		return nil
	}
	var object abi.Object
	var answer func(id string) any
	switch e.Call {
	case abi.CallMessageAppend:
		object, answer = abi.ObjectMessage, func(id string) any { return abi.CallMessageAppendAnswer{MessageID: id} }
	case abi.CallMemoryWrite:
		object, answer = abi.ObjectMemory, func(id string) any { return abi.CallMemoryWriteAnswer{MemoryID: id} }
	case abi.CallArtifactPut:
		_, content, _ := bytes.Cut(request, []byte("\n"))
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		object, answer = abi.ObjectArtifact, func(id string) any { return abi.CallArtifactPutAnswer{ArtifactID: id, SHA256: sum} }
	default:
		return nil
	}
	id := DerivedID(object, h.options.TaskID, h.record.CreatedAt, e.Index)
	text, err := json.Marshal(answer(id))
	if err != nil {
		return err
	}
	e.Answer = text
	h.result.Made = append(h.result.Made, Made{Call: e.Call, ID: id, Request: bytes.Clone(request)})
	return nil
}

// DerivedID returns the id that a resource has when it is made by call number
// index of what is named by base: the same on every node.
func DerivedID(o abi.Object, base string, at time.Time, index int) string {
	return abi.DerivedID(o, at, fmt.Sprintf("%s %s %d", o, base, index))
}

func (h *host) diverge(e *journal.Entry, call string, request []byte) *journal.Divergence {
	index := len(h.result.Entries)
	return h.name(journal.Diverge(e, index, call, request))
}

// name says what ran on both sides.
func (h *host) name(d *journal.Divergence) *journal.Divergence {
	p := &h.record.Program
	d.RecordedModule, d.RecordedABI, d.ActualABI = p.Module, p.ABI, abi.ABIVersion
	d.RecordedRewriter, d.ActualRewriter = p.Rewriter, h.options.Rewriter
	d.ActualModule = h.options.Module
	if d.ActualModule == "" {
		d.ActualModule = p.Module
	}
	return d
}

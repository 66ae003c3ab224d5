package records

import (
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/storage"
)

// read adds what one event tells.
func (h *History) read(ev storage.Event, blob func(storage.Hash) ([]byte, error)) error {
	rec := ev.Record()
	switch rec.Kind {
	case abi.EventTaskStarted, abi.EventTaskStatusChanged:
		return h.readStart(ev.Position(), rec)
	}
	if !journal.Recorded(rec) {
		return nil
	}
	entry, phase, err := journal.Decode(rec, blob)
	if err != nil {
		return fmt.Errorf("event %s: %w", ev.Position(), err)
	}
	entry.EventID = ev.Position().String()
	h.Progress = true
	return h.add(entry, phase)
}

// add adds a call, or the answer to the last one.
func (h *History) add(entry journal.Entry, phase journal.Phase) error {
	n := len(h.Entries)
	switch {
	case phase == journal.Result && n > 0 && h.Entries[n-1].Open && h.Entries[n-1].Index == entry.Index:
		entry.Request, entry.Effect, entry.Key = h.Entries[n-1].Request, h.Entries[n-1].Effect, h.Entries[n-1].Key
		h.Entries[n-1] = entry
		return nil
	case phase == journal.Result, entry.Index != n, n > 0 && h.Entries[n-1].Open:
		return fmt.Errorf("event %s tells call %d, out of its order", entry.EventID, entry.Index)
	}
	h.Entries = append(h.Entries, entry)
	return nil
}

// startPayload is the payload of the event that tells a Task's first start. The program is
// internal: the seed of the guest's randomness is part of it.
type startPayload struct {
	Program *startedProgram `json:"program,omitzero"`
}

type startedProgram struct {
	Type            string         `json:"type"`
	Visibility      abi.Visibility `json:"visibility"`
	journal.Program `json:",inline"`
}

// Started returns the payload of the event that tells a Task's first start: what it runs.
func Started(p *journal.Program) any {
	return &startPayload{&startedProgram{Type: "program", Visibility: abi.VisibilityInternal, Program: *p}}
}

// readStart reads an event that states that the Task runs.
func (h *History) readStart(at storage.Position, rec *storage.Record) error {
	var p struct {
		startPayload  `json:",inline"`
		abi.TaskTrial `json:",inline"`
	}
	if len(rec.Payload) > 0 {
		if err := json.Unmarshal(rec.Payload, &p); err != nil {
			return fmt.Errorf("reading what the task started: %w", err)
		}
	}
	if p.Program != nil {
		h.Program = &p.Program.Program
	}
	switch {
	case p.Drained && !h.Alone: // of a suspect, nothing is known that was not known before
		h.Progress = true
	case !p.Drained && !p.Lived:
		h.LastStart, h.Progress = at, false
	}
	h.Alone = p.Alone
	return nil
}

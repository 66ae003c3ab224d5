//go:build !wasip1

package wharftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// beyond answers a call with a function of the test's.
func beyond[Request, Answer any](f func(Request) (Answer, error), request []byte) (uint32, []byte) {
	if f == nil {
		return refused(&wharf.Error{Status: wharf.StatusUnavailable, Code: "not_set", Message: "the test answers no such call"})
	}
	var r Request
	if err := json.Unmarshal(request, &r); err != nil {
		return invalid("%v", err)
	}
	answer, err := f(r)
	var refusal *wharf.Error
	switch {
	case errors.As(err, &refusal):
		return refused(refusal)
	case err != nil:
		return refused(&wharf.Error{Status: wharf.StatusUnavailable, Code: "failed", Message: err.Error()})
	}
	return hostcall.OK, mustMarshal(answer)
}

// with decodes a request and hands it on.
func with[Request any](request []byte, f func(Request) (uint32, []byte)) (uint32, []byte) {
	var r Request
	if err := json.Unmarshal(request, &r); err != nil {
		return invalid("%v", err)
	}
	return f(r)
}

func unknown(format string, args ...any) (uint32, []byte) {
	return refused(&wharf.Error{Status: wharf.StatusNotFound, Code: "resource_not_found", Message: fmt.Sprintf(format, args...)})
}

func (h *Host) newID([]byte) (uint32, []byte) {
	h.ids++
	return hostcall.OK, mustMarshal(map[string]string{"id": fmt.Sprintf("01J00000000000000000%06d", h.ids)})
}

func (h *Host) sleep(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		MS int64 `json:"ms"`
	}) (uint32, []byte) {
		h.Slept += time.Duration(r.MS) * time.Millisecond
		return hostcall.OK, nil
	})
}

func (h *Host) plan(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		Steps []wharf.PlanStep `json:"steps"`
	}) (uint32, []byte) {
		h.Plans = append(h.Plans, r.Steps)
		return hostcall.OK, nil
	})
}

func (h *Host) setPlan(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		Steps   []wharf.Step `json:"steps"`
		Version *int64       `json:"version"`
	}) (uint32, []byte) {
		if r.Version != nil && *r.Version != h.Plan.Version {
			return refused(&wharf.Error{Status: wharf.StatusInvalid, Code: wharf.CodePlanChanged, Message: "somebody has changed the plan"})
		}
		for i := range r.Steps {
			if r.Steps[i].ID == "" {
				h.ids++
				r.Steps[i].ID = fmt.Sprintf("step_%d", h.ids)
			}
		}
		h.Plan = wharf.Plan{Version: h.Plan.Version + 1, ChangedBy: "persona_test", Steps: r.Steps}
		return h.getPlan(nil)
	})
}

func (h *Host) listBlocks([]byte) (uint32, []byte) {
	if h.Blocks == nil {
		return refused(noBlocks())
	}
	return hostcall.OK, mustMarshal(wharf.Blocks{Version: h.Blocks.Version, Blocks: append([]wharf.Block{}, h.Blocks.Blocks...)})
}

func (h *Host) writeBlock(request []byte) (uint32, []byte) { return beyond(h.WriteBlock, request) }

// WriteBlock changes a block of what the agent has in mind, as the host call does, also for tools of
// a test's that stand for it. It holds what a plugin relies on, and no bounds.
func (h *Host) WriteBlock(w wharf.BlockWrite) (wharf.WrittenBlock, error) {
	if h.Blocks == nil {
		return wharf.WrittenBlock{}, noBlocks()
	}
	i, found := slices.BinarySearchFunc(h.Blocks.Blocks, w.Label, func(b wharf.Block, label string) int { return strings.Compare(b.Label, label) })
	var old wharf.Block
	if found {
		old = h.Blocks.Blocks[i]
	}
	switch {
	case old.ReadOnly:
		return wharf.WrittenBlock{}, &wharf.Error{Status: wharf.StatusDenied, Code: wharf.CodeBlockReadOnly, Message: "the block is read-only"}
	case w.Version != nil && *w.Version != old.Version:
		return wharf.WrittenBlock{}, &wharf.Error{Status: wharf.StatusInvalid, Code: wharf.CodeBlockChanged, Message: "somebody has changed the block"}
	case w.Append && found:
		w.Value = old.Value + "\n" + w.Value
	case !found:
		h.Blocks.Blocks = slices.Insert(h.Blocks.Blocks, i, old)
	}
	h.Blocks.Version++
	h.Blocks.Blocks[i] = wharf.Block{Label: w.Label, Value: w.Value, Version: h.Blocks.Version}
	return wharf.WrittenBlock{Label: w.Label, Version: h.Blocks.Version, Characters: utf8.RuneCountInString(w.Value)}, nil
}

func noBlocks() *wharf.Error {
	return &wharf.Error{Status: wharf.StatusNotFound, Code: wharf.CodeNoBlocks, Message: "the persona is no agent of a workspace"}
}

func (h *Host) getPlan([]byte) (uint32, []byte) { return hostcall.OK, mustMarshal(h.Plan) }

func (h *Host) delta(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		Text string `json:"text"`
	}) (uint32, []byte) {
		h.Deltas = append(h.Deltas, r.Text)
		return hostcall.OK, nil
	})
}

func (h *Host) readTranscript(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		Last int `json:"last"`
	}) (uint32, []byte) {
		all := slices.Concat(h.Transcript, h.Messages)
		if r.Last == 0 {
			r.Last = 50
		}
		from := max(0, len(all)-min(r.Last, 200))
		return hostcall.OK, mustMarshal(map[string]any{"messages": all[from:], "earlier": from > 0})
	})
}

func (h *Host) listTools(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		Server string `json:"server"`
	}) (uint32, []byte) {
		tools := []wharf.Tool{}
		for _, t := range h.Tools {
			if r.Server == "" || r.Server == t.Server {
				tools = append(tools, t)
			}
		}
		return hostcall.OK, mustMarshal(map[string]any{"tools": tools})
	})
}

func (h *Host) readResource(request []byte) (uint32, []byte) {
	status, contents := beyond(h.ReadResource, request)
	if status != hostcall.OK {
		return status, contents
	}
	return status, mustMarshal(map[string]json.RawMessage{"contents": contents})
}

func (h *Host) queryMemory(request []byte) (uint32, []byte) {
	return with(request, func(q wharf.MemoryQuery) (uint32, []byte) {
		found := []wharf.Memory{}
		for _, m := range slices.Backward(h.Memories) {
			if m.Scope == q.Scope && holdsWords(m, q.Text) && (q.Limit == 0 || len(found) < q.Limit) {
				found = append(found, m)
			}
		}
		return hostcall.OK, mustMarshal(map[string]any{"memories": found})
	})
}

func holdsWords(m wharf.Memory, words string) bool {
	text := strings.ToLower(string(m.Content))
	for _, word := range strings.Fields(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func (h *Host) writeMemory(request []byte) (uint32, []byte) {
	return with(request, func(m wharf.Memory) (uint32, []byte) {
		m.ID = fmt.Sprintf("mem_%d", len(h.Memories)+1)
		m.CreatedAt = h.Now
		h.Memories = append(h.Memories, m)
		return hostcall.OK, mustMarshal(map[string]string{"memory_id": m.ID})
	})
}

func (h *Host) useSecret(request []byte) (uint32, []byte) {
	return with(request, func(r named) (uint32, []byte) {
		if !slices.Contains(h.Secrets, r.Name) {
			return refused(&wharf.Error{Status: wharf.StatusDenied, Code: "policy_violation",
				Message: fmt.Sprintf("the plugin may not use the secret %q", r.Name)})
		}
		return hostcall.OK, mustMarshal(map[string]string{"handle": "{{secret:" + r.Name + "}}"})
	})
}

// named is the request of calls that take a name.
type named struct {
	Name string `json:"name"`
}

func (h *Host) config(request []byte) (uint32, []byte) {
	return with(request, func(r named) (uint32, []byte) {
		return hostcall.OK, mustMarshal(map[string]any{"value": h.Config[r.Name]})
	})
}

func (h *Host) fact(request []byte) (uint32, []byte) {
	return with(request, func(r named) (uint32, []byte) {
		value, ok := h.Facts[r.Name]
		if !ok {
			return unknown("there is no host fact %q", r.Name)
		}
		return hostcall.OK, mustMarshal(map[string]string{"value": value})
	})
}

func (h *Host) getState(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		Key string `json:"key"`
	}) (uint32, []byte) {
		return hostcall.OK, mustMarshal(map[string]any{"value": h.State[r.Key]})
	})
}

func (h *Host) setState(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		Key   string `json:"key"`
		Value any    `json:"value"`
	}) (uint32, []byte) {
		if h.State == nil {
			h.State = map[string]any{}
		}
		h.State[r.Key] = r.Value
		if r.Value == nil {
			delete(h.State, r.Key)
		}
		return hostcall.OK, nil
	})
}

// spawn runs a child at once; what became of it is kept for await.
func (h *Host) spawn(request []byte) (uint32, []byte) {
	id := fmt.Sprintf("task_child_%d", len(h.children)+1)
	status, answer := beyond(h.Child, request)
	if status != hostcall.OK {
		return status, answer
	}
	return with(answer, func(outcome wharf.ChildOutcome) (uint32, []byte) {
		outcome.TaskID = id
		h.children[id] = outcome
		return hostcall.OK, mustMarshal(map[string]string{"task_id": id})
	})
}

func (h *Host) await(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		TaskID string `json:"task_id"`
	}) (uint32, []byte) {
		outcome, ok := h.children[r.TaskID]
		if !ok {
			return unknown("the task %q is not a child of this one", r.TaskID)
		}
		return hostcall.OK, mustMarshal(outcome)
	})
}

func (h *Host) takeInbox(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		Checkpoint wharf.Checkpoint `json:"checkpoint"`
		Wait       bool             `json:"wait"`
	}) (uint32, []byte) {
		taken := wharf.Inbox{Woken: "never"}
		if h.Inbox != nil {
			taken = h.Inbox(r.Checkpoint, r.Wait)
		}
		if taken.Messages == nil {
			taken.Messages = []wharf.Message{}
		}
		if taken.Reminders == nil {
			taken.Reminders = []wharf.Reminder{}
		}
		return hostcall.OK, mustMarshal(taken)
	})
}

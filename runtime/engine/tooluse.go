package engine

import (
	"context"
	"strconv"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/tooluse"
	"github.com/wharf-dev/wharf/storage"
)

// handed is a batch that a run has handed over.
type handed struct {
	storage.Commit
	events int
}

// ID implements [tooluse.Event]: it is that of the batch's last event.
func (h *handed) ID() string {
	first, err := h.Wait(context.Background())
	if err != nil {
		return ""
	}
	return strconv.FormatUint(uint64(first)+uint64(h.events)-1, 10)
}

// toolUse returns what people see of a call that begins. One whose intent stands has begun in an
// earlier life.
func (r *run) toolUse(c *liveCall) *tooluse.Use {
	if c.entry.Call != abi.CallToolCall {
		return nil
	}
	call := &tooluse.Call{Index: c.entry.Index, At: r.engine.now()}
	if c.intent != nil {
		call.At = c.intent.At
	}
	if req, err := ask[abi.CallToolCallRequest](c); err == nil {
		call.Request = &req
	}
	return tooluse.Begin(call, r.persona.ToolsVisibility)
}

// begins tells that a tool is called which has no intent to tell it. leaves says that others are
// asked, for who knows how long: then it is told now, and else together with the end.
func (r *run) begins(ctx context.Context, c *liveCall, leaves bool) error {
	if c.use == nil || c.intent != nil {
		return nil
	}
	entry := c.entry
	entry.At = journal.Moment(r.engine.now())
	refs, err := entry.Keep(ctx, disk.Patient{Blobs: r.engine.store.Blobs()}, journal.Whole)
	if err != nil {
		return err
	}
	rec := ledger.Record{Kind: abi.EventToolRequested, Object: abi.ObjectTask, ID: r.task.id, Hint: true, Restricted: true}
	if rec.Text, err = c.use.AppendBegun(entry.AppendPayload(nil, journal.Whole, refs)); err != nil {
		return err
	}
	r.task.mu.Lock()
	r.pending, r.using = append(r.pending, rec), c
	r.task.mu.Unlock()
	if !leaves {
		return nil
	}
	if err := r.handOver(); err != nil {
		return err
	}
	c.use.Told(r.last)
	return nil
}

// cutOff tells that a tool call is over whose Task ends while it is made. The caller holds t.mu.
func (t *task) cutOff(now time.Time) ([]ledger.Record, error) {
	entry := journal.Entry{Call: abi.CallToolCall, At: journal.Moment(now)}
	var use *abi.ToolUse
	if t.run != nil && t.run.using != nil {
		entry.Index, use = t.run.using.entry.Index, t.run.using.use.About()
	} else if w := t.task.Waiting; w != nil {
		entry.Index, use = w.Index, w.Tool
	}
	if use == nil {
		return nil, nil
	}
	text, err := tooluse.Ended(entry.AppendPayload(nil, journal.Whole, journal.Refs{}), use, &tooluse.End{At: entry.At, Cut: true})
	return []ledger.Record{{Kind: abi.EventToolFailed, Object: abi.ObjectTask, ID: t.id, Hint: true, Restricted: true, Text: text}}, err
}

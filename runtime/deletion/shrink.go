package deletion

import (
	"context"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Shrink erases the oldest Tasks that have ended, whosever they are, until so many bytes are freed, their blobs included.
func (k *Keeper) Shrink(ctx context.Context, tooMany int64) (removed Removed, err error) {
	if k.eraser == nil || tooMany <= 0 {
		return removed, nil
	}
	until := k.freed() + uint64(tooMany)
	heads, err := k.heads(ctx)
	if err != nil {
		return removed, err
	}
	for k.freed() < until && ctx.Err() == nil {
		h := oldest(heads)
		if h == nil {
			break
		}
		if err := h.take(ctx); err != nil {
			return removed, err
		}
		n, err := h.erase(ctx)
		removed.Tasks += n
		if err == nil {
			err = h.look(ctx)
		}
		if err == nil && n > 0 {
			_, err = k.eraser.Sweep(ctx, noPart)
		}
		if err != nil {
			return removed, err
		}
	}
	return removed, ctx.Err()
}

// noPart has only the blobs swept of what was erased.
const noPart = -1

// freed is how many bytes were erased since the store was opened, or are about to be.
func (k *Keeper) freed() uint64 {
	e := k.eraser.Erased()
	return e.EventBytes + e.BlobBytes + e.Waiting
}

// head goes through the Tasks of a Workspace, the oldest first.
type head struct {
	*place
	page storage.Page
	list []storage.Resource
	more bool
}

func (k *Keeper) heads(ctx context.Context) (all []*head, err error) {
	err = k.eachWorkspace(ctx, func(in *place) error {
		in.rest = restForSize
		h := &head{place: in, page: storage.Page{Limit: tasksAtOnce - 1, Oldest: true}, more: true}
		all = append(all, h)
		return h.look(ctx)
	})
	return all, err
}

// fill reads the next Tasks that may go, once none are left of those that were read. One that has to stay would make its Workspace
// the one with the oldest for ever.
func (h *head) fill(ctx context.Context) (err error) {
	for len(h.list) == 0 && h.more && ctx.Err() == nil {
		h.list, h.more, err = h.k.parts.Store.List(ctx, h.tenant, abi.ObjectTask, storage.Scope{Object: abi.ObjectWorkspace, ID: h.about.ID}, h.page)
		if err != nil {
			return h.k.parts.Ledger.Failed("listing what may go", err)
		}
		if n := len(h.list); n > 0 {
			h.page.After = h.list[n-1].ID
		}
		h.list = slices.DeleteFunc(h.list, h.stays)
	}
	return ctx.Err()
}

// look reads which Task goes next, and keeps that alone: there may be very many Workspaces.
func (h *head) look(ctx context.Context) error {
	err := h.fill(ctx)
	if len(h.list) > 1 {
		h.list, h.more = slices.Clone(h.list[:1]), true
		h.page.After = h.list[0].ID
	}
	return err
}

// take reads the Tasks that go together with the next one, so that they are tasksAtOnce.
func (h *head) take(ctx context.Context) error {
	next := h.list
	h.list = nil
	err := h.fill(ctx)
	h.list = append(next, h.list...)
	return err
}

// stays reports whether a Task is to stay, or cannot be read.
func (h *head) stays(res storage.Resource) bool {
	var t abi.Task
	return res.Err != nil || ledger.Decode(res.State, &t) != nil || !h.expired(&t, h.before())
}

// before is until when a Task must have ended.
func (h *head) before() time.Time { return h.k.parts.Now().Add(-settling) }

// oldest returns the one whose next Task is the oldest, nil for none.
func oldest(heads []*head) (first *head) {
	for _, h := range heads {
		if len(h.list) > 0 && (first == nil || h.list[0].ID < first.list[0].ID) {
			first = h
		}
	}
	return first
}

// erase erases those of the Tasks that were read which have ended.
func (h *head) erase(ctx context.Context) (int, error) {
	before := h.removed.Tasks
	for _, res := range h.list {
		if err := h.task(ctx, res, h.before()); err != nil {
			return 0, err
		}
	}
	h.list = nil
	err := h.flush(ctx)
	return h.removed.Tasks - before, err
}

// settling is how long ago a Task must have ended that goes for its size: whoever waits for it sees how it ended.
const settling = time.Minute

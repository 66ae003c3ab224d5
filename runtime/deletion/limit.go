package deletion

import (
	"context"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Limiter keeps Workspaces within the room that they may take. One goroutine uses it at a time.
type Limiter struct {
	k      *Keeper
	sizer  storage.Sizer // nil for a store that does not say what Workspaces take
	looked Pace
	// limited are the Workspaces that have a limit of their own, full those that stay above it.
	limited []limited
	full    map[ledger.Key]*Pace
}

// limited is a Workspace with a limit.
type limited struct {
	tenant *abi.Tenant
	id     string
}

func (l limited) key() ledger.Key {
	return ledger.Key{Tenant: storage.Tenant(l.tenant.Number), ID: l.id}
}

// NewLimiter returns a limiter of the keeper's Workspaces.
func (k *Keeper) NewLimiter() *Limiter {
	sizer, _ := k.parts.Store.(storage.Sizer)
	return &Limiter{k: k, sizer: sizer, full: map[ledger.Key]*Pace{}}
}

// Pace says when something is done again: after a while, and a hundred times as long as it took. The zero value says at once.
type Pace struct{ next time.Time }

// Due reports whether it is time.
func (p *Pace) Due(now time.Time) bool { return !now.Before(p.next) }

// Done notes that it was begun and is over, and for how long it rests at least.
func (p *Pace) Done(began, now time.Time, least time.Duration) {
	p.next = now.Add(max(least, 100*now.Sub(began)))
}

const (
	// lookEvery is how long a new limit goes unseen at most, where there are not very many Workspaces.
	lookEvery = 10 * time.Second
	// fullEvery is how long a Workspace is left alone in which nothing could go.
	fullEvery = settling
)

// Shrink erases the oldest Tasks that have ended in Workspaces that take more than they may.
func (l *Limiter) Shrink(ctx context.Context) (removed Removed, err error) {
	if l.k.eraser == nil || l.sizer == nil {
		return removed, nil
	}
	if began := l.k.parts.Now(); l.looked.Due(began) {
		if err := l.look(ctx); err != nil {
			return removed, err
		}
		l.looked.Done(began, l.k.parts.Now(), lookEvery)
	}
	for _, w := range l.limited {
		n, err := l.shrink(ctx, w)
		removed.Tasks += n
		if err != nil {
			return removed, fmt.Errorf("in workspace %s: %w", w.id, err)
		}
	}
	return removed, ctx.Err()
}

// look finds the Workspaces that have a limit.
func (l *Limiter) look(ctx context.Context) error {
	var found []limited
	for _, t := range l.k.parts.Tenants() {
		err := l.k.each(ctx, storage.Tenant(t.Number), abi.ObjectWorkspace, storage.Scope{}, time.Time{}, func(res storage.Resource) error {
			var w abi.Workspace
			if err := ledger.Decode(res.State, &w); err != nil {
				return err
			}
			if w.Retention != nil && w.Retention.MaxBytes != nil {
				found = append(found, limited{t, w.ID})
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("in tenant %s: %w", t.ID, err)
		}
	}
	l.limited = found
	return nil
}

// Spare is which part of a limit is left free, so that not every moment has too much again: one of so many.
const Spare = 50

// shrink erases the oldest Tasks of a Workspace while it takes more than it may.
func (l *Limiter) shrink(ctx context.Context, w limited) (removed int, err error) {
	res, err := l.k.parts.Ledger.Find(ctx, w.key().Tenant, abi.ObjectWorkspace, w.id)
	if err != nil {
		return 0, err
	}
	var about abi.Workspace
	if err := ledger.Decode(res.State, &about); err != nil || about.Retention == nil || about.Retention.MaxBytes == nil {
		return 0, err
	}
	limit := *about.Retention.MaxBytes
	size, known, err := l.sizer.SizeOf(ctx, w.key().Tenant, w.id)
	if err != nil || !known {
		return 0, err
	}
	if size <= limit {
		delete(l.full, w.key())
		return 0, nil
	}
	full, began := l.full[w.key()], l.k.parts.Now()
	if full != nil && !full.Due(began) {
		return 0, nil
	}
	in, err := l.k.place(ctx, w.tenant, res)
	if err != nil {
		return 0, err
	}
	removed, err = l.erase(ctx, in, limit-limit/Spare)
	if err != nil {
		return removed, err
	}
	return removed, l.judge(ctx, w, limit, began)
}

// erase erases Tasks until the Workspace takes no more than a number of bytes. It takes as many at once as seem to be needed by
// what those before have freed.
func (l *Limiter) erase(ctx context.Context, in *place, until int64) (removed int, err error) {
	if in.held[in.about.ID] {
		return 0, nil
	}
	in.rest = restForSize
	h := &head{place: in, page: storage.Page{Oldest: true, Limit: 1}, more: true}
	for first := int64(0); ctx.Err() == nil; {
		size, _, err := l.sizer.SizeOf(ctx, in.tenant, in.about.ID)
		if err != nil || size <= until {
			return removed, err
		}
		if first == 0 {
			first = size
		}
		h.page.Limit = atOnce(removed, first-size, size-until)
		if err := h.fill(ctx); err != nil || len(h.list) == 0 {
			return removed, err
		}
		n, err := h.erase(ctx)
		removed += n
		if err != nil {
			return removed, err
		}
	}
	return removed, ctx.Err()
}

// atOnce returns how many Tasks to look at next, when some have freed so much and so much more is needed.
func atOnce(removed int, freed, needed int64) int {
	if removed == 0 || freed <= 0 {
		return 1
	}
	each := max(1, freed/int64(removed))
	return int(min(tasksAtOnce, max(1, needed/each)))
}

// judge says, once for as long as it is so, that a Workspace stays above its limit.
func (l *Limiter) judge(ctx context.Context, w limited, limit int64, began time.Time) error {
	size, _, err := l.sizer.SizeOf(ctx, w.key().Tenant, w.id)
	if err != nil || size <= limit {
		delete(l.full, w.key())
		return err
	}
	if l.full[w.key()] == nil {
		l.full[w.key()] = &Pace{}
		l.k.parts.Log.Warn("a workspace takes more room than it may, and nothing of the rest can go now: what is held, has not ended, is shared, or is no Task",
			"tenant", w.tenant.ID, "workspace", w.id, "bytes", size, "limit", limit)
	}
	l.full[w.key()].Done(began, l.k.parts.Now(), fullEvery)
	return nil
}

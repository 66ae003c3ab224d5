package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Limits say how long things are kept. 0 is for ever.
type Limits struct {
	Tasks     time.Duration // since they have ended
	Sessions  time.Duration // since they were closed
	Artifacts time.Duration // of no Task, since they were made
}

// Removed counts what [Keeper.Expire] has removed.
type Removed struct{ Tasks, Sessions, Artifacts int }

func (r *Removed) add(more Removed) {
	r.Tasks, r.Sessions, r.Artifacts = r.Tasks+more.Tasks, r.Sessions+more.Sessions, r.Artifacts+more.Artifacts
}

// Total is how many resources that were.
func (r Removed) Total() int { return r.Tasks + r.Sessions + r.Artifacts }

// of returns the limits of a Workspace: its own where it states any.
func (l Limits) of(w *abi.WorkspaceRetention) Limits {
	if w == nil {
		return l
	}
	for _, own := range []struct {
		days *float64
		age  *time.Duration
	}{{w.TaskDays, &l.Tasks}, {w.SessionDays, &l.Sessions}, {w.ArtifactDays, &l.Artifacts}} {
		if own.days != nil {
			*own.age = time.Duration(*own.days * float64(24*time.Hour))
		}
	}
	return l
}

// Expire erases what is older than the limits say.
func (k *Keeper) Expire(ctx context.Context, l Limits) (removed Removed, err error) {
	if k.eraser == nil {
		return removed, nil
	}
	err = k.eachWorkspace(ctx, func(in *place) error {
		err := in.expire(ctx, l.of(in.about.Retention))
		removed.add(in.removed)
		return err
	})
	return removed, err
}

// each calls f with every resource of a list that was made before a time, the oldest first. Those that cannot be read
// are left out.
func (k *Keeper) each(ctx context.Context, t storage.Tenant, o abi.Object, in storage.Scope, before time.Time, f func(storage.Resource) error) error {
	page := storage.Page{Limit: pageOfResources, Oldest: true}
	if !before.IsZero() {
		page.Below = abi.LeastID(o, before)
	}
	for more := true; more; {
		list, next, err := k.parts.Store.List(ctx, t, o, in, page)
		if err != nil {
			return k.parts.Ledger.Failed("listing what may go", err)
		}
		for _, res := range list {
			page.After = res.ID
			if res.Err != nil {
				continue
			}
			if err := f(res); err != nil {
				return err
			}
		}
		more = next
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// eachWorkspace calls f with every Workspace that no Hold is on.
func (k *Keeper) eachWorkspace(ctx context.Context, f func(*place) error) error {
	for _, about := range k.parts.Tenants() {
		t := storage.Tenant(about.Number)
		err := k.each(ctx, t, abi.ObjectWorkspace, storage.Scope{}, time.Time{}, func(res storage.Resource) error {
			in, err := k.place(ctx, about, res)
			if ledger.IsUnreadable(err) { // all of it stays, and nothing else has to
				k.parts.Log.Warn("nothing of a workspace is removed, for it or one of its holds cannot be read", "workspace", res.ID, "error", err)
				return nil
			}
			if err != nil || in.held[in.about.ID] {
				return err
			}
			return f(in)
		})
		if err != nil {
			return fmt.Errorf("in tenant %s: %w", about.ID, err)
		}
	}
	return nil
}

// place returns a Workspace, and what is held in it.
func (k *Keeper) place(ctx context.Context, t *abi.Tenant, res storage.Resource) (*place, error) {
	in := &place{k: k, tenant: storage.Tenant(t.Number), tenantID: t.ID, held: map[string]bool{}, rest: restForAge}
	if err := ledger.Decode(res.State, &in.about); err != nil {
		return nil, err
	}
	return in, in.findHolds(ctx)
}

// place is a Workspace that is looked through.
type place struct {
	k        *Keeper
	tenant   storage.Tenant
	tenantID string
	about    abi.Workspace
	held     map[string]bool // the resources that Holds are on, and the Tasks of Artifacts that are
	placed   uint64          // how many Holds had been placed when they were looked for
	removed  Removed
	batch    batch
	took     time.Duration // of the time, the work on the batch
	rest     time.Duration // how many times as long it rests then
}

func (p *place) findHolds(ctx context.Context) error {
	p.placed = p.k.placed.Load()
	return p.k.each(ctx, p.tenant, abi.ObjectHold, storage.Scope{Object: abi.ObjectWorkspace, ID: p.about.ID}, time.Time{}, func(res storage.Resource) error {
		var h abi.Hold
		err := ledger.Decode(res.State, &h)
		if err != nil || !h.ReleasedAt.IsZero() {
			return err
		}
		p.held[h.Resource.ID] = true
		if h.Resource.Object != abi.ObjectArtifact {
			return nil
		}
		a, err := read[abi.Artifact](ctx, p.k, p.tenant, abi.ObjectArtifact, h.Resource.ID)
		if err == nil && a.TaskID != "" {
			p.held[a.TaskID] = true // with which it would go
		}
		if ledger.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// letGo takes out of a batch what a Hold has come to be on since they were looked for. The caller holds holding, shared.
func (p *place) letGo(ctx context.Context, b *batch) error {
	if p.k.placed.Load() == p.placed {
		return nil
	}
	if err := p.findHolds(ctx); err != nil {
		return err
	}
	kept := batch{took: b.took}
	for i, id := range b.tasks {
		if p.held[p.about.ID] || p.held[id] || p.held[b.sessions[i]] {
			continue
		}
		kept.add(id, b.sessions[i], b.records[i], 0)
	}
	*b = kept
	return nil
}

// expire erases what is older than the limits say.
func (p *place) expire(ctx context.Context, l Limits) error {
	for _, part := range []struct {
		age    time.Duration
		object abi.Object
		look   func(context.Context, storage.Resource, time.Time) error
	}{{l.Tasks, abi.ObjectTask, p.task}, {l.Sessions, abi.ObjectSession, p.session}, {l.Artifacts, abi.ObjectArtifact, p.artifact}} {
		if part.age <= 0 {
			continue
		}
		before := p.k.parts.Now().Add(-part.age)
		err := p.k.each(ctx, p.tenant, part.object, storage.Scope{Object: abi.ObjectWorkspace, ID: p.about.ID}, before, func(res storage.Resource) error {
			return part.look(ctx, res, before)
		})
		if err == nil {
			err = p.flush(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// task erases a Task that has ended before a time, together with others.
func (p *place) task(ctx context.Context, res storage.Resource, before time.Time) error {
	var t abi.Task
	if err := ledger.Decode(res.State, &t); err != nil {
		return nil // it stays, and is told of where it is read
	}
	if !p.expired(&t, before) {
		return nil
	}
	began := time.Now()
	records, err := p.k.recordsOf(ctx, p.tenant, &t)
	switch {
	case errors.Is(err, storage.ErrInUse), errors.Is(err, storage.ErrDamaged), ledger.IsUnreadable(err):
		return nil
	case err != nil:
		return err
	}
	p.batch.add(t.ID, t.SessionID, records, time.Since(began))
	if len(p.batch.tasks) < tasksAtOnce {
		return nil
	}
	return p.flush(ctx)
}

func (p *place) expired(t *abi.Task, before time.Time) bool {
	ended := t.CompletedAt
	if t.Status == abi.TaskCanceled {
		ended = t.CanceledAt
	}
	return t.Status.Terminal() && !ended.IsZero() && ended.Before(before) && t.DeletedAt.IsZero() &&
		!p.held[t.ID] && !p.held[t.SessionID] && !p.k.live(p.tenant, t.ID)
}

// tasksAtOnce is how many Tasks one batch erases: few enough that most have fewer events together than a batch may
// erase, and that nobody waits long for a processor: with twice as many others waited a third longer.
const tasksAtOnce = 16

// batch is what is erased together.
type batch struct {
	tasks, sessions []string          // the Tasks, and the Session of each
	records         [][]ledger.Record // of each Task
	took            time.Duration     // to find it
}

func (b *batch) add(task, session string, records []ledger.Record, took time.Duration) {
	b.tasks, b.sessions, b.records, b.took = append(b.tasks, task), append(b.sessions, session), append(b.records, records), b.took+took
}

// How many times as long as the work on a batch took it rests: for what is too old, which can wait, and for what is too much.
const (
	restForAge  = 2
	restForSize = 1
)

// flush erases the batch, and rests for a multiple of what it took to find what goes. The rest of the time was waiting for the disk, with
// others.
func (p *place) flush(ctx context.Context) error {
	b := p.batch
	p.batch = batch{}
	if len(b.tasks) == 0 {
		return ctx.Err()
	}
	p.took = b.took
	err := p.eraseUnheld(ctx, &b)
	pause(ctx, p.rest*p.took)
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// eraseUnheld erases a batch, without what is held. No Hold is placed meanwhile.
func (p *place) eraseUnheld(ctx context.Context, b *batch) error {
	p.k.holding.RLock()
	defer p.k.holding.RUnlock()
	if err := p.letGo(ctx, b); err != nil || len(b.tasks) == 0 {
		return err
	}
	return p.eraseAll(ctx, b.tasks, b.records)
}

// eraseAll erases Tasks in one batch or, if that is not possible, in two halves.
func (p *place) eraseAll(ctx context.Context, tasks []string, records [][]ledger.Record) error {
	all := slices.Concat(records...)
	began := time.Now()
	commit, err := p.k.handOver(p.tenant, p.about.ID, all...)
	p.took += time.Since(began)
	if err == nil {
		err = p.k.erased(p.tenant, commit, all...)
	}
	switch {
	case err == nil:
		p.count(Removed{Tasks: len(tasks)})
		return nil
	case !errors.Is(err, storage.ErrTooLarge) && !errors.Is(err, storage.ErrInUse) && !errors.Is(err, storage.ErrDamaged):
		return err
	case len(tasks) > 1:
		half := len(tasks) / 2
		if err := p.eraseAll(ctx, tasks[:half], records[:half]); err != nil {
			return err
		}
		return p.eraseAll(ctx, tasks[half:], records[half:])
	}
	began = time.Now()
	ok, err := p.k.erase(ctx, p.tenant, abi.ResourcePointer{Object: abi.ObjectTask, ID: tasks[0]})
	p.took += time.Since(began)
	if ok {
		p.count(Removed{Tasks: 1})
	}
	return err
}

// session deletes a Session that was closed before a time. It is erased like any that somebody deletes.
func (p *place) session(ctx context.Context, res storage.Resource, before time.Time) error {
	var s abi.Session
	if err := ledger.Decode(res.State, &s); err != nil {
		return nil // it stays, and is told of where it is read
	}
	if s.State != abi.SessionClosed || s.UpdatedAt.After(before) || !s.DeletedAt.IsZero() || p.held[s.ID] {
		return nil
	}
	_, err := p.k.DeleteSession(ctx, host(p.tenant, p.tenantID), nil, s.ID)
	return p.counted(Removed{Sessions: 1}, err)
}

// artifact deletes an Artifact of no Task that was made before a time: others go with their Task.
func (p *place) artifact(ctx context.Context, res storage.Resource, _ time.Time) error {
	var a abi.Artifact
	if err := ledger.Decode(res.State, &a); err != nil {
		return nil // it stays, and is told of where it is read
	}
	if a.TaskID != "" || !a.DeletedAt.IsZero() || p.held[a.ID] || p.held[a.SessionID] {
		return nil
	}
	_, err := p.k.DeleteArtifact(ctx, host(p.tenant, p.tenantID), nil, a.ID)
	return p.counted(Removed{Artifacts: 1}, err)
}

// counted counts a deletion. What cannot be deleted now, a Hold or a caller has come between, stays.
func (p *place) counted(r Removed, err error) error {
	if _, refused := errors.AsType[*abi.Error](err); refused {
		return nil
	}
	if err == nil {
		p.count(r)
	}
	return err
}

// count adds what was removed, and tells of it.
func (p *place) count(r Removed) {
	p.removed.add(r)
	p.k.told(r)
}

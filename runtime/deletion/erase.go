package deletion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Erase erases what was deleted and is not needed any more. It returns how much it was.
func (k *Keeper) Erase(ctx context.Context) (erased int, err error) {
	if k.eraser == nil {
		return 0, nil
	}
	type doomed struct {
		tenant storage.Tenant
		abi.ResourcePointer
	}
	var all []doomed
	err = k.eraser.Deleted(ctx, func(t storage.Tenant, r abi.ResourcePointer, _ storage.Position) error {
		all = append(all, doomed{t, r})
		return nil
	})
	if err != nil {
		return 0, k.parts.Ledger.Failed("looking for what was deleted", err)
	}
	for _, d := range all {
		began := time.Now()
		ok, err := k.erase(ctx, d.tenant, d.ResourcePointer)
		if err != nil {
			return erased, fmt.Errorf("erasing %s: %w", d.ID, err)
		}
		if ok {
			erased++
		}
		pause(ctx, time.Since(began))
	}
	return erased, ctx.Err()
}

// erase erases one resource. It reports false when something still needs it.
func (k *Keeper) erase(ctx context.Context, t storage.Tenant, r abi.ResourcePointer) (bool, error) {
	var err error
	switch r.Object {
	case abi.ObjectTask:
		err = k.eraseTask(ctx, t, r.ID)
	case abi.ObjectSession:
		err = k.eraseSession(ctx, t, r.ID)
	case abi.ObjectArtifact:
		err = k.eraseArtifact(ctx, t, r.ID)
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, storage.ErrInUse), errors.Is(err, storage.ErrPreparing), errors.Is(err, storage.ErrTooLarge), ledger.IsNotFound(err): // later, or it went with something else
		return false, nil
	case errors.Is(err, storage.ErrDamaged), ledger.IsUnreadable(err): // it stays, and hinders nobody
		k.parts.Log.Warn("what was deleted cannot be erased, for it is damaged", "resource", r.ID, "error", err)
		return false, nil
	}
	return false, err
}

func (k *Keeper) eraseTask(ctx context.Context, t storage.Tenant, id string) error {
	task, err := read[abi.Task](ctx, k, t, abi.ObjectTask, id)
	if err != nil {
		return err
	}
	if k.live(t, id) {
		return storage.ErrInUse
	}
	records, err := k.recordsOf(ctx, t, &task)
	if err != nil {
		return err
	}
	for i := range records {
		if err := k.strip(ctx, t, abi.ResourcePointer{Object: records[i].Object, ID: records[i].ID}); err != nil {
			return err
		}
	}
	return k.write(t, task.WorkspaceID, records...)
}

// recordsOf returns the records that erase a Task, and its Session if that was made for it alone. They are none, and
// the error is storage.ErrInUse, while something was made from it.
func (k *Keeper) recordsOf(ctx context.Context, t storage.Tenant, task *abi.Task) ([]ledger.Record, error) {
	about := abi.ResourcePointer{Object: abi.ObjectTask, ID: task.ID}
	if err := k.unused(ctx, t, about); err != nil {
		return nil, err
	}
	op := &storage.Erasure{Session: task.SessionID}
	if source := task.Source(); source != "" {
		op.Source = abi.ResourcePointer{Object: abi.ObjectTask, ID: source}
	}
	records := []ledger.Record{{Kind: abi.EventTaskErased, Object: abi.ObjectTask, ID: task.ID, Erase: op}}
	s, err := read[abi.Session](ctx, k, t, abi.ObjectSession, task.SessionID)
	if ledger.IsNotFound(err) {
		return records, nil
	}
	if err != nil || s.OnlyTaskID != task.ID {
		return records, err
	}
	alone, err := k.aloneIn(ctx, t, &s)
	if err != nil || !alone {
		return records, err
	}
	return append(records, sessionRecord(&s)), nil
}

// aloneIn reports whether the Session that was made for a Task has no other Task, and nothing was made from it.
func (k *Keeper) aloneIn(ctx context.Context, t storage.Tenant, s *abi.Session) (bool, error) {
	list, _, err := k.parts.Store.List(ctx, t, abi.ObjectTask, storage.Scope{Object: abi.ObjectSession, ID: s.ID}, storage.Page{Limit: 2})
	if err != nil {
		return false, k.parts.Ledger.Failed("listing the tasks of "+s.ID, err)
	}
	err = k.unused(ctx, t, abi.ResourcePointer{Object: abi.ObjectSession, ID: s.ID})
	if errors.Is(err, storage.ErrInUse) {
		return false, nil
	}
	return len(list) < 2, err
}

func sessionRecord(s *abi.Session) ledger.Record {
	op := &storage.Erasure{}
	if s.ParentSessionID != "" {
		op.Source = abi.ResourcePointer{Object: abi.ObjectSession, ID: s.ParentSessionID}
	}
	return ledger.Record{Kind: abi.EventSessionErased, Object: abi.ObjectSession, ID: s.ID, Erase: op}
}

// eraseSession erases a Session once all of its Tasks are.
func (k *Keeper) eraseSession(ctx context.Context, t storage.Tenant, id string) error {
	s, err := read[abi.Session](ctx, k, t, abi.ObjectSession, id)
	if err != nil {
		return err
	}
	about := abi.ResourcePointer{Object: abi.ObjectSession, ID: id}
	needed := k.unused(ctx, t, about)
	if needed != nil && !errors.Is(needed, storage.ErrInUse) {
		return needed
	}
	page := storage.Page{Limit: pageOfResources}
	for more := true; more; {
		list, next, err := k.parts.Store.List(ctx, t, abi.ObjectTask, storage.Scope{Object: abi.ObjectSession, ID: id}, page)
		if err != nil {
			return k.parts.Ledger.Failed("listing the tasks of "+id, err)
		}
		for i := range list {
			page.After = list[i].ID
			began := time.Now()
			ended, err := k.endedIn(list[i])
			if err == nil && ended {
				err = k.eraseTask(ctx, t, list[i].ID)
			}
			if err == nil && !ended {
				err = storage.ErrInUse
			}
			if err != nil && !errors.Is(err, storage.ErrInUse) {
				return err
			}
			if err != nil {
				needed = err
			}
			if err != nil && ended { // it may have run when the Session was deleted
				k.parts.Desk.Hide(t, list[i].ID)
			}
			pause(ctx, time.Since(began))
		}
		more = next
	}
	if needed != nil {
		return needed
	}
	if err := k.strip(ctx, t, about); err != nil {
		return err
	}
	return k.write(t, s.WorkspaceID, sessionRecord(&s))
}

// endedIn reports whether a Task of a list has ended.
func (k *Keeper) endedIn(res storage.Resource) (bool, error) {
	var task struct {
		Status abi.TaskStatus `json:"status"`
	}
	if res.Err != nil {
		return false, res.Err
	}
	err := ledger.Decode(res.State, &task)
	return task.Status.Terminal(), err
}

func (k *Keeper) eraseArtifact(ctx context.Context, t storage.Tenant, id string) error {
	a, err := read[abi.Artifact](ctx, k, t, abi.ObjectArtifact, id)
	if err != nil {
		return err
	}
	return k.write(t, a.WorkspaceID, ledger.Record{Kind: abi.EventArtifactErased, Object: abi.ObjectArtifact, ID: id,
		Erase: &storage.Erasure{Session: a.SessionID, Task: a.TaskID}})
}

// unused returns storage.ErrInUse if something was made from a resource.
func (k *Keeper) unused(ctx context.Context, t storage.Tenant, r abi.ResourcePointer) error {
	users, err := k.eraser.Users(ctx, t, r, 1)
	if err == nil && len(users) > 0 {
		err = fmt.Errorf("%s was made from %s: %w", users[0].ID, r.ID, storage.ErrInUse)
	}
	return err
}

// strip leaves no more of a resource than one batch erases.
func (k *Keeper) strip(ctx context.Context, t storage.Tenant, r abi.ResourcePointer) error {
	for more := true; more; {
		began := time.Now()
		var err error
		if more, err = k.eraser.Strip(ctx, t, r); err != nil {
			return err
		}
		if more {
			pause(ctx, time.Since(began))
		}
	}
	return nil
}

// write hands over a batch that erases, and waits for the disk.
func (k *Keeper) write(t storage.Tenant, workspace string, records ...ledger.Record) error {
	commit, err := k.handOver(t, workspace, records...)
	if err != nil {
		return err
	}
	return k.erased(t, commit, records...)
}

// erased waits until a batch that erases is on the disk, and notes what is gone with it.
func (k *Keeper) erased(t storage.Tenant, commit storage.Commit, records ...ledger.Record) error {
	if _, err := commit.Wait(context.Background()); err != nil {
		return err
	}
	for i := range records {
		k.parts.Desk.Erased(t, records[i].ID)
	}
	return nil
}

// handOver hands over a batch that erases. What that takes is finding what goes.
func (k *Keeper) handOver(t storage.Tenant, workspace string, records ...ledger.Record) (storage.Commit, error) {
	_, commit, err := k.parts.Ledger.HandOver(storage.Frame{Tenant: t, WorkspaceID: workspace, Actor: desk.HostActor}, nil, 0, records...)
	return commit, err
}

// read reads a resource, also one that was deleted.
func read[T any](ctx context.Context, k *Keeper, t storage.Tenant, o abi.Object, id string) (v T, err error) {
	res, err := k.parts.Ledger.Find(ctx, t, o, id)
	if err == nil {
		err = ledger.Naming(o, id, ledger.Decode(res.State, &v))
	}
	return v, err
}

package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// checkErasures returns why what a frame erases cannot be erased, nil if it can.
func (s *Store) checkErasures(f *storage.Frame) error {
	t := s.of(f.Tenant)
	for i := range f.Records {
		r := &f.Records[i]
		if r.Erase == nil {
			continue
		}
		for _, each := range append(t.tasksOf(r.Resource), r.Resource) {
			_, active := t.active[each.ID]
			if len(t.users[each]) > 0 || active || s.shared(f.Tenant, each) {
				return fmt.Errorf("%s: %w", each.ID, storage.ErrInUse)
			}
		}
	}
	return nil
}

// shared reports whether a frame that tells of an Artifact tells of something else, too.
func (s *Store) shared(t storage.Tenant, r abi.ResourcePointer) bool {
	return r.Object == abi.ObjectArtifact && slices.ContainsFunc(s.kept.frames, func(f *storage.Frame) bool {
		return f.Tenant == t && !storage.OwnFrame(f, r) && slices.ContainsFunc(f.Records, func(rec storage.Record) bool { return rec.Resource == r })
	})
}

// tasksOf returns the Tasks that a Session lists, none for others.
func (t *tenant) tasksOf(r abi.ResourcePointer) (all []abi.ResourcePointer) {
	for about, res := range t.resources {
		if about.Object == abi.ObjectTask && r.Object == abi.ObjectSession && slices.Contains(res.owners, storage.Scope{Object: r.Object, ID: r.ID}) {
			all = append(all, about)
		}
	}
	return all
}

// erase removes a resource and what goes with it.
func (s *Store) erase(tenant storage.Tenant, r abi.ResourcePointer, source abi.ResourcePointer) {
	t := s.of(tenant)
	if users := t.users[source]; users != nil {
		delete(users, r)
	}
	for _, task := range t.tasksOf(r) {
		s.erase(tenant, task, abi.ResourcePointer{})
	}
	s.kept.frames = slices.DeleteFunc(s.kept.frames, func(f *storage.Frame) bool {
		switch {
		case f.Tenant != tenant:
			return false
		case r.Object == abi.ObjectArtifact:
			return storage.OwnFrame(f, r)
		case f.Owner(r.Object) != r.ID:
			return false
		}
		for i := range f.Records {
			about := f.Records[i].Resource
			whole := about.Object == abi.ObjectTask || about.Object == abi.ObjectSession
			if storage.GoesWith(r.Object, about.Object) && (!whole || about == r) {
				t.drop(about)
			}
		}
		return true
	})
	owner := storage.Scope{Object: r.Object, ID: r.ID}
	for about, res := range t.resources {
		if storage.GoesWith(r.Object, about.Object) && about.Object != abi.ObjectTask && (slices.Contains(res.owners, owner) || slices.Contains(res.kept, owner)) {
			t.drop(about)
			continue
		}
		res.owners = without(res.owners, func(s storage.Scope) bool { return s == owner })
	}
	if r.Object == abi.ObjectSession {
		delete(t.transcripts, r.ID)
	}
	for _, with := range append(storage.NamedAfter(r), r) {
		t.drop(with)
	}
}

func (t *tenant) drop(r abi.ResourcePointer) {
	delete(t.resources, r)
	delete(t.deleted, r)
}

// Deleted implements [storage.Eraser].
func (s *Store) Deleted(_ context.Context, f func(storage.Tenant, abi.ResourcePointer, storage.Position) error) error {
	type found struct {
		tenant storage.Tenant
		abi.ResourcePointer
		at storage.Position
	}
	var all []found
	err := s.locked(func() error {
		for _, t := range sortedKeys(s.kept.tenants) {
			for r, at := range s.kept.tenants[t].deleted {
				all = append(all, found{t, r, at})
			}
		}
		return nil
	})
	for _, d := range all {
		if err == nil {
			err = f(d.tenant, d.ResourcePointer, d.at)
		}
	}
	return err
}

// Strip implements [storage.Eraser]: a batch here may erase anything.
func (s *Store) Strip(context.Context, storage.Tenant, abi.ResourcePointer) (more bool, err error) {
	return false, s.locked(func() error { return nil })
}

// Users implements [storage.Eraser].
func (s *Store) Users(_ context.Context, t storage.Tenant, r abi.ResourcePointer, limit int) (all []abi.ResourcePointer, err error) {
	err = s.locked(func() error {
		for user := range s.of(t).users[r] {
			if len(all) < limit {
				all = append(all, user)
			}
		}
		return nil
	})
	return all, err
}

// Sweep implements [storage.Eraser]. Blobs stay: they end with the process.
func (s *Store) Sweep(context.Context, int) (storage.Swept, error) { return storage.Swept{}, nil }

// Reclaim implements [storage.Eraser].
func (s *Store) Reclaim(context.Context) error { return nil }

// Erased implements [storage.Eraser].
func (s *Store) Erased() storage.Swept { return storage.Swept{} }

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
			if len(t.users[each]) > 0 || active {
				return fmt.Errorf("%s: %w", each.ID, storage.ErrInUse)
			}
		}
	}
	return nil
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
		if f.Tenant != tenant || r.Object == abi.ObjectArtifact || f.Owner(r.Object) != r.ID {
			return false
		}
		for i := range f.Records {
			about := f.Records[i].Resource
			whole := about.Object == abi.ObjectTask || about.Object == abi.ObjectSession
			if storage.GoesWith(r.Object, about.Object) && (!whole || about == r) {
				delete(t.resources, about)
			}
		}
		return true
	})
	owner := storage.Scope{Object: r.Object, ID: r.ID}
	for about, res := range t.resources {
		if storage.GoesWith(r.Object, about.Object) && about.Object != abi.ObjectTask && (slices.Contains(res.owners, owner) || slices.Contains(res.kept, owner)) {
			delete(t.resources, about)
			continue
		}
		res.owners = without(res.owners, func(s storage.Scope) bool { return s == owner })
	}
	if r.Object == abi.ObjectSession {
		delete(t.transcripts, r.ID)
	}
	for _, with := range append(storage.NamedAfter(r), r) {
		delete(t.resources, with)
	}
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

package aside

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Resource is something stored that could not be read, and that the node goes on
// without.
type Resource struct {
	Tenant storage.Tenant
	Object abi.Object
	ID     string
	Err    error
	// Ended says that it was a Task, and that its end was recorded.
	Ended bool
}

// String names the resource, in the order of tenants, kinds and ids.
func (r *Resource) String() string { return fmt.Sprintf("%010d %s %s", r.Tenant, r.Object, r.ID) }

// Shelf holds what was set aside since the node started. It is safe for concurrent use.
type Shelf struct {
	parts desk.Parts

	mu  lockrank.RWMutex[lockrank.Table]
	all map[place]Resource
}

// place is where a resource lies on a shelf.
type place struct {
	ledger.Key
	object abi.Object
}

// NewShelf returns a shelf with nothing on it.
func NewShelf(p desk.Parts) *Shelf { return &Shelf{parts: p, all: map[place]Resource{}} }

// Put sets a resource aside.
func (s *Shelf) Put(r Resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[place{ledger.Key{Tenant: r.Tenant, ID: r.ID}, r.Object}] = r
}

// LeaveOut sets aside a resource that is not a Task, and logs what follows.
func (s *Shelf) LeaveOut(t storage.Tenant, o abi.Object, id string, cause error) {
	s.Put(Resource{Tenant: t, Object: o, ID: id, Err: cause})
	s.parts.Log.Error("something stored cannot be read and was set aside: the node goes on without it",
		"object", o, "id", id, "tenant", t, "error", cause, "effect", withoutIt[o])
}

// withoutIt says what becomes of what needs a resource that was set aside.
var withoutIt = map[abi.Object]string{
	abi.ObjectTenant:    "its keys are refused, and nothing of it is touched",
	abi.ObjectQuota:     "it counts as used up: what it bounds is refused until its limits are stated anew",
	abi.ObjectConnector: "it takes no deliveries and does not poll; what is pending stays so",
	abi.ObjectPersona:   "Tasks of it fail",
	abi.ObjectSkill:     "it is not offered",
	abi.ObjectWorkspace: "no Task is accepted in it",
	abi.ObjectAPIKey:    "it is refused",
}

// Unended reports whether a Task was set aside and its end could not be recorded.
func (s *Shelf) Unended(key ledger.Key) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok := s.all[place{key, abi.ObjectTask}]
	return ok && !r.Ended
}

// Ended notes that a Task has ended, whether it was set aside or not.
func (s *Shelf) Ended(key ledger.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := place{key, abi.ObjectTask}
	if r, ok := s.all[at]; ok {
		r.Ended = true
		s.all[at] = r
	}
}

// Cause returns why a resource was set aside; nil when it was not.
func (s *Shelf) Cause(o abi.Object, key ledger.Key) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.all[place{key, o}].Err
}

// Count counts what was set aside, by its kind.
func (s *Shelf) Count() map[abi.Object]int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	counts := map[abi.Object]int{}
	for at := range s.all {
		counts[at.object]++
	}
	return counts
}

// List returns what was set aside, in the order of tenants, kinds and ids.
func (s *Shelf) List() []Resource {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]Resource, 0, len(s.all))
	for _, r := range s.all {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Resource) int { return strings.Compare(a.String(), b.String()) })
	return list
}

package figures

import (
	"maps"
	"sync"
)

// table holds so many named things, and one more for all other names.
type table[T any] struct {
	most int

	mu sync.RWMutex
	by map[string]*T
}

// at returns what has a name, which is made when it is new and there is room.
func (t *table[T]) at(name string, create func() *T) *T {
	t.mu.RLock()
	one := t.by[name]
	t.mu.RUnlock()
	if one != nil {
		return one
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[string]*T{}
	}
	if len(t.by) >= t.most && t.by[name] == nil {
		name = Other
	}
	if t.by[name] == nil {
		t.by[name] = create()
	}
	return t.by[name]
}

// all returns what there is by now.
func (t *table[T]) all() map[string]*T {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return maps.Clone(t.by)
}

package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage"
)

// meeting is a store on which two look for the answer to a write before either goes on.
type meeting struct {
	storage.Store
	mu   sync.Mutex
	both map[storage.Key]*sync.WaitGroup
	seen map[storage.Key]int
}

// Idempotency implements [storage.Store].
func (m *meeting) Idempotency(ctx context.Context, t storage.Tenant, k storage.Key, now time.Time) (*storage.Idempotency, error) {
	i, err := m.Store.Idempotency(ctx, t, k, now)
	m.mu.Lock()
	if m.both[k] == nil {
		m.both[k] = &sync.WaitGroup{}
		m.both[k].Add(2)
	}
	all := m.both[k]
	if m.seen[k]++; m.seen[k] <= 2 {
		all.Done()
	}
	m.mu.Unlock()
	all.Wait()
	return i, err
}

// Two engines on one store share no claims. A Task that is submitted to both at once, with
// one key, is accepted once; both answer with it, and the one that came too late has
// nothing of it left.
func TestATaskIsAcceptedOnceByTwoWriters(t *testing.T) {
	store := &meeting{both: map[storage.Key]*sync.WaitGroup{}, seen: map[storage.Key]int{}}
	var parts engine.Parts
	one := newNode(t, enginetest.Guests{"echo": enginetest.Echo}, func(_ *engine.Config, p *engine.Parts) {
		store.Store = p.Store
		p.Store = store
		parts = *p
	})
	other, err := engine.New(engine.Config{DefaultPersona: "persona_echo"}, parts)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	session := one.Session(t)
	for n := range 10 {
		retry := &desk.Retry{Key: fmt.Sprint("k", n), Scope: "POST /tasks"}
		var ids [2]string
		var all sync.WaitGroup
		for i, e := range []*engine.Engine{one.Engine, other} {
			all.Go(func() {
				doc, err := e.SubmitTask(t.Context(), one.Root, retry, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("hi")})
				if err != nil {
					t.Error(err)
				}
				ids[i] = doc.ID
			})
		}
		all.Wait()
		if ids[0] != ids[1] || ids[0] == "" {
			t.Fatalf("the answers are %v", ids)
		}
	}
	tasks, _, err := store.List(t.Context(), one.Root.Tenant, abi.ObjectTask, storage.Scope{}, storage.Page{Limit: 100})
	if err != nil || len(tasks) != 10 {
		t.Errorf("%d Tasks were accepted, %v", len(tasks), err)
	}
	if err := other.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if a, b := one.Stats(), other.Stats(); a.Accepted+b.Accepted != 10 || b.Queued != 0 || b.Running != 0 {
		t.Errorf("%d and %d were accepted; %d are queued and %d run after the end", a.Accepted, b.Accepted, b.Queued, b.Running)
	}
}

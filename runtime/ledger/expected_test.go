package ledger

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// shared is a store on which others come in between whatever a writer reads and what it does then.
type shared struct{ storage.Store }

func (s shared) Get(ctx context.Context, t storage.Tenant, o abi.Object, id string) (storage.Resource, error) {
	res, err := s.Store.Get(ctx, t, o, id)
	for range 20 {
		runtime.Gosched()
	}
	return res, err
}

// writers returns ledgers on one store: they share no locks.
func writers(n int) (storage.Store, []*Ledger) {
	store := shared{memory.New(time.Now)}
	var all []*Ledger
	for range n {
		all = append(all, New(Config{Store: store, Now: time.Now, Log: slog.New(slog.DiscardHandler), KeepKeys: time.Hour, IdleSessions: 1}))
	}
	return store, all
}

// What the tests change, and how. Events that state nothing are told of quota_told only.
const (
	changed     = "quota_changed"
	told        = "quota_told"
	sessionRead = "sess_01JZZZZZZZZZZZZZZZZZZZZZZZ"
)

// count is a resource that is read and then changed.
type count struct {
	N int `json:"n"`
}

// countUp makes a count that is not there, and adds one to it.
func countUp(ctx context.Context, l *Ledger, id string) error {
	_, err := Change(l, tenant, id, func() (is count, err error) {
		res, err := l.Find(ctx, tenant, abi.ObjectQuota, id)
		rec := Record{Kind: abi.EventQuotaUpdated, Object: abi.ObjectQuota, ID: id, Created: IsNotFound(err), State: &is}
		if err == nil {
			rec.Sequence = res.Sequence + 1
			err = json.Unmarshal(res.State, &is)
		}
		if err != nil && !rec.Created {
			return is, err
		}
		is.N++
		if id == changed {
			_, _, err = l.Commit(storage.Frame{Tenant: tenant, Actor: "me"}, nil, 0, rec)
		} else {
			rec.Read = res.Position
			_, err = l.AppendNext(ctx, storage.Frame{Tenant: tenant}, nil, 0, rec)
		}
		return is, err
	})
	return err
}

// tellOf tells of a resource, and states nothing.
func tellOf(ctx context.Context, l *Ledger) error {
	_, err := l.AppendNext(ctx, storage.Frame{Tenant: tenant}, nil, 0, Record{Kind: abi.EventQuotaUpdated, Object: abi.ObjectQuota, ID: told})
	return err
}

// nameMore adds a letter to what a Session is summed up as.
func nameMore(ctx context.Context, l *Ledger) error {
	s, release, err := l.Open(ctx, Key{tenant, sessionRead})
	if err != nil {
		return err
	}
	defer release()
	return s.Change(ctx, func(next *abi.Session, sequence uint64) error {
		next.Transcript += "x"
		_, _, err := l.Commit(storage.Frame{Tenant: tenant, SessionID: sessionRead}, nil, 0,
			Record{Kind: abi.EventSessionUpdated, Object: abi.ObjectSession, ID: sessionRead, Sequence: sequence, State: next})
		return err
	})
}

// Whatever several writers that share no locks do to the same resources at once, no change is
// lost, and the events of each resource have every sequence once.
func TestNoChangeIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, ledgers := writers(3)
		ctx := t.Context()
		if err := errors.Join(countUp(ctx, ledgers[0], told), stateSession(ledgers[0])); err != nil {
			t.Fatal(err)
		}
		steps := map[string]func(*Ledger) error{
			"change":  func(l *Ledger) error { return countUp(ctx, l, changed) },
			"beside":  func(l *Ledger) error { return countUp(ctx, l, told) },
			"tell":    func(l *Ledger) error { return tellOf(ctx, l) },
			"session": func(l *Ledger) error { return nameMore(ctx, l) },
		}
		done := map[string]int{}
		var all sync.WaitGroup
		for _, l := range ledgers {
			for range 2 {
				work := rapid.SliceOfN(rapid.SampledFrom([]string{"change", "beside", "tell", "session"}), 0, 5).Draw(t, "work")
				for _, step := range work {
					done[step]++
				}
				all.Go(func() {
					for _, step := range work {
						if err := steps[step](l); err != nil {
							t.Errorf("%s: %v", step, err)
						}
					}
				})
			}
		}
		all.Wait()
		for _, c := range []struct {
			object        abi.Object
			id            string
			events, count int
		}{
			{abi.ObjectQuota, changed, done["change"], done["change"]},
			{abi.ObjectQuota, told, 1 + done["beside"] + done["tell"], 1 + done["beside"]},
			{abi.ObjectSession, sessionRead, 1 + done["session"], done["session"]},
		} {
			if n := counted(t, store, c.object, c.id); n != c.count {
				t.Errorf("%s counts %d of %d changes", c.id, n, c.count)
			}
			if got := sequencesOf(t, store, c.id); !slices.Equal(got, upTo(c.events)) {
				t.Errorf("%s has the sequences %v, and %d events", c.id, got, c.events)
			}
		}
	})
}

func stateSession(l *Ledger) error {
	state := &abi.Session{Envelope: abi.NewEnvelope(abi.ObjectSession, sessionRead, start, nil), WorkspaceID: "ws_a", State: abi.SessionActive}
	_, _, err := l.Commit(storage.Frame{Tenant: tenant, SessionID: sessionRead}, nil, 0,
		Record{Kind: abi.EventSessionCreated, Object: abi.ObjectSession, ID: sessionRead, Created: true, State: state})
	return err
}

// counted returns how often a resource was changed, by what it says.
func counted(t *rapid.T, store storage.Store, o abi.Object, id string) int {
	res, err := store.Get(t.Context(), tenant, o, id)
	if errors.Is(err, storage.ErrNotFound) {
		return 0
	}
	var is struct {
		count
		Transcript string `json:"transcript"`
	}
	if err == nil {
		err = json.Unmarshal(res.State, &is)
	}
	if err != nil {
		t.Fatal(err)
	}
	return is.N + len(is.Transcript)
}

// sequencesOf returns those of a resource's events, in their order.
func sequencesOf(t *rapid.T, store storage.Store, id string) (all []uint64) {
	for p := storage.Position(1); p <= store.Watermark(); p++ {
		ev, err := store.Event(t.Context(), tenant, p)
		if err != nil {
			t.Fatal(err)
		}
		if ev.Record().Resource.ID == id {
			all = append(all, ev.Record().Sequence)
		}
	}
	return all
}

func upTo(n int) (all []uint64) {
	for i := range n {
		all = append(all, uint64(i))
	}
	return all
}

// Who never gets the better of other writers is told so, and may come again.
func TestOvertakenEachTime(t *testing.T) {
	_, ledgers := writers(2)
	one, other := ledgers[0], ledgers[1]
	tries := 0
	_, err := Change(one, tenant, changed, func() (bool, error) {
		tries++
		counted := make(chan error, 1) // by a goroutine of its own, as the other writer is another process
		go func() { counted <- countUp(t.Context(), other, changed) }()
		if err := <-counted; err != nil {
			t.Fatal(err)
		}
		return true, tell(one, changed, uint64(tries-1), tries, nil)
	})
	own, ok := errors.AsType[*abi.Error](err)
	if !ok || own.Code != abi.CodeServiceUnavailable || own.RetryAfter == 0 || tries != maxTries {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

// Of two that make one resource, one does.
func TestMadeOnce(t *testing.T) {
	store, ledgers := writers(2)
	for i, l := range ledgers {
		rec := Record{Kind: abi.EventQuotaCreated, Object: abi.ObjectQuota, ID: told, Created: true, State: &count{N: i}}
		_, err := l.AppendNext(t.Context(), storage.Frame{Tenant: tenant}, nil, 0, rec)
		if Overtaken(err) != (i == 1) || err != nil != (i == 1) {
			t.Errorf("writer %d: %v", i, err)
		}
	}
	if mark := store.Watermark(); mark != 1 {
		t.Errorf("there are %d events", mark)
	}
}

// What a batch expects of what it holds.
func TestExpected(t *testing.T) {
	quota, other := abi.ResourcePointer{Object: abi.ObjectQuota, ID: "quota_a"}, abi.ResourcePointer{Object: abi.ObjectQuota, ID: "quota_b"}
	got := Expected(
		Record{Object: quota.Object, ID: quota.ID, Sequence: 3, Read: 9}, Record{Object: quota.Object, ID: quota.ID, Sequence: 4},
		Record{Object: abi.ObjectMessage, ID: "msg_a"}, Record{Object: abi.ObjectDelivery, ID: "delivery_a", Sequence: 1},
		Record{Object: other.Object, ID: other.ID})
	want := []storage.Expectation{
		{Kind: storage.ExpectSequence, Resource: quota, Sequence: 2}, {Kind: storage.ExpectLease, Resource: quota, Position: 9},
		{Kind: storage.ExpectNew, Resource: other},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// Many tell of one resource at once, as Tasks do that use one secret.
func BenchmarkAppendNext(b *testing.B) {
	l := newLedger(b)
	rec := Record{Kind: abi.EventQuotaUpdated, Object: abi.ObjectQuota, ID: told}
	b.SetParallelism(50)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := l.AppendNext(context.Background(), storage.Frame{Tenant: tenant}, nil, 0, rec); err != nil {
				b.Error(err)
			}
		}
	})
}

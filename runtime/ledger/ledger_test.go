package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

const tenant storage.Tenant = 7

// start is today: the store forgets keys whose day is over by its own clock.
var start = time.Now()

func newLedger(t testing.TB) *Ledger {
	t.Helper()
	store, err := crashtest.NewDisk().Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(Config{Store: store, Now: func() time.Time { return start }, Log: slog.New(slog.DiscardHandler), KeepKeys: time.Hour, IdleSessions: 1})
}

// tell writes one event of a resource that states a number.
func tell(l *Ledger, id string, sequence uint64, n int, idem *storage.Idempotency) error {
	_, _, err := l.Commit(storage.Frame{Tenant: tenant, Actor: "me"}, idem, 201, Record{Kind: abi.EventQuotaUpdated,
		Object: abi.ObjectQuota, ID: id, Sequence: sequence, Created: sequence == 0, State: jsontext.Value(fmt.Sprintf(`{"n":%d}`, n))})
	return err
}

// Of many writes with one key that come at once, one is made, and all are told which.
func TestOnce(t *testing.T) {
	l := newLedger(t)
	made := 0
	var firsts sync.Map
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			w := &Write{Tenant: tenant, Key: storage.Key{1}, Sent: "k", Fingerprint: CanonicalHash([]byte([]string{`{"a":1, "b":2}`, `{"b":2,"a":1.0}`}[n%2]))}
			_, first, err := Once(context.Background(), l, w, func(idem *storage.Idempotency) (bool, error) {
				made++ // nobody else is here: the race detector says so
				return true, tell(l, "quota_a", 0, n, idem)
			})
			if err != nil {
				t.Error(err)
			}
			if first != nil {
				firsts.Store(first.Position, first.Status)
			}
		})
	}
	all.Wait()
	if made != 1 {
		t.Errorf("it was made %d times", made)
	}
	firsts.Range(func(position, status any) bool {
		if position != storage.Position(1) || status != 201 {
			t.Errorf("the first is at %v, with the status %v", position, status)
		}
		return true
	})
	again := &Write{Tenant: tenant, Key: storage.Key{1}, Sent: "k", Fingerprint: CanonicalHash([]byte(`{"a":2}`))}
	_, _, err := Once(t.Context(), l, again, func(*storage.Idempotency) (bool, error) { t.Error("it was made"); return true, nil })
	if own, ok := errors.AsType[*abi.Error](err); !ok || own.Code != abi.CodeIdempotencyKeyReused {
		t.Errorf("another body: %v", err)
	}
}

// Two ledgers on one store are two writers that share no claims. Of their writes with one
// key one is made, and each is told which.
func TestOnceWithAnotherWriter(t *testing.T) {
	one := newLedger(t)
	other := New(Config{Store: one.store, Now: one.now, Log: one.log, KeepKeys: time.Hour})
	for n := range 20 {
		w := &Write{Tenant: tenant, Key: storage.Key{1, byte(n)}, Sent: "k"}
		quota := fmt.Sprint("quota_", n)
		var looked, all sync.WaitGroup
		looked.Add(2)
		firsts, made := make([]*storage.Idempotency, 2), make([]bool, 2)
		for i, l := range []*Ledger{one, other} {
			all.Go(func() {
				var err error
				made[i], firsts[i], err = Once(t.Context(), l, w, func(idem *storage.Idempotency) (bool, error) {
					looked.Done()
					looked.Wait() // both have seen that nobody was the first
					return true, tell(l, quota, 0, i, idem)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if made[0] == made[1] || made[0] == (firsts[0] != nil) || made[1] == (firsts[1] != nil) {
			t.Fatalf("made: %v, told of a first one: %v, %v", made, firsts[0], firsts[1])
		}
		if last, ok, err := one.store.Sequence(t.Context(), tenant, abi.ResourcePointer{Object: abi.ObjectQuota, ID: quota}); last != 0 || !ok || err != nil {
			t.Errorf("%s is at %d, %v, %v", quota, last, ok, err)
		}
		if mark := one.store.Watermark(); mark != storage.Position(n+1) {
			t.Errorf("after %d writes the log ends at %s", n+1, mark)
		}
	}
}

// A write that fails uses up no key.
func TestAFailedWriteUsesNoKey(t *testing.T) {
	l, fault := newLedger(t), errors.New("no")
	w := &Write{Tenant: tenant, Key: storage.Key{1}, Sent: "k"}
	for range 2 {
		if _, first, err := Once(t.Context(), l, w, func(*storage.Idempotency) (bool, error) { return false, fault }); !errors.Is(err, fault) || first != nil {
			t.Errorf("%v, %v", first, err)
		}
	}
	done, _, err := Once(t.Context(), l, w, func(idem *storage.Idempotency) (bool, error) { return true, tell(l, "quota_a", 0, 1, idem) })
	if err != nil || !done {
		t.Errorf("%v, %v", done, err)
	}
}

// Who waits for another's write with its key stops when its time is up.
func TestAClaimIsNotWaitedForForEver(t *testing.T) {
	var claims Claims[lockrank.Key]
	release, err := claims.Claim(t.Context(), ClaimKey{Tenant: tenant})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	waited := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := claims.Claim(ctx, ClaimKey{Tenant: tenant})
		waited <- err
	}()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What many tell of at once has each sequence once, from the one that the log is at.
func TestAppendNext(t *testing.T) {
	l := newLedger(t)
	if err := tell(l, "quota_a", 0, 0, nil); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			rec := Record{Kind: abi.EventQuotaUpdated, Object: abi.ObjectQuota, ID: "quota_a", State: jsontext.Value(`{}`)}
			if _, err := l.AppendNext(context.Background(), storage.Frame{Tenant: tenant}, nil, 0, rec); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var sequences []uint64
	for p := storage.Position(1); p <= l.store.Watermark(); p++ {
		ev, err := l.store.Event(t.Context(), tenant, p)
		if err != nil {
			t.Fatal(err)
		}
		sequences = append(sequences, ev.Record().Sequence)
	}
	for n, sequence := range sequences {
		if sequence != uint64(n) {
			t.Fatalf("the sequences are %v", sequences)
		}
	}
	if len(sequences) != 101 {
		t.Errorf("there are %d events", len(sequences))
	}
	if len(l.sequences.all) != 0 {
		t.Errorf("%d sequences are kept", len(l.sequences.all))
	}
}

// newSession writes a Session, and opens it.
func newSession(t *testing.T, l *Ledger, id string) (*Session, func()) {
	t.Helper()
	state := &abi.Session{Envelope: abi.NewEnvelope(abi.ObjectSession, id, start, nil), WorkspaceID: "ws_a", State: abi.SessionActive}
	_, _, err := l.Commit(storage.Frame{Tenant: tenant, SessionID: id}, nil, 0,
		Record{Kind: abi.EventSessionCreated, Object: abi.ObjectSession, ID: id, Created: true, State: state})
	if err != nil {
		t.Fatal(err)
	}
	s, release, err := l.Open(t.Context(), Key{tenant, id})
	if err != nil {
		t.Fatal(err)
	}
	return s, release
}

// Nothing is handed over for a Session while it is changed, and what is handed over later
// sees the change, whether it is in memory still or read again.
func TestChangesOfASessionAreInOrder(t *testing.T) {
	l := newLedger(t)
	const id = "sess_01JZZZZZZZZZZZZZZZZZZZZZZZ"
	s, release := newSession(t, l, id)
	changing, change := make(chan bool), make(chan bool)
	var all sync.WaitGroup
	all.Go(func() {
		err := s.Change(t.Context(), func(next *abi.Session, sequence uint64) error {
			close(changing)
			<-change
			next.State = abi.SessionClosed
			_, _, err := l.Commit(storage.Frame{Tenant: tenant, SessionID: id}, nil, 0,
				Record{Kind: abi.EventSessionClosed, Object: abi.ObjectSession, ID: id, Sequence: sequence, State: next})
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-changing
	closed := errors.New("closed")
	for range 4 {
		all.Go(func() {
			_, err := s.Append(l, &storage.Batch{}, func(now *abi.Session) error {
				if now.State == abi.SessionClosed {
					return closed
				}
				return nil
			})
			if !errors.Is(err, closed) {
				t.Error("it was handed over while the session was changed")
			}
		})
	}
	close(change)
	all.Wait()
	release()
	_, other := newSession(t, l, "sess_01JYYYYYYYYYYYYYYYYYYYYYYY")
	other() // one idle Session is kept: the first is forgotten
	read, release, err := l.Open(t.Context(), Key{tenant, id})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if read == s || read.State().State != abi.SessionClosed || read.sequence != 1 {
		t.Errorf("it is read again as %+v at %d (the same: %t)", read.State(), read.sequence, read == s)
	}
}

// A change that fails leaves the Session as it was.
func TestAFailedChange(t *testing.T) {
	l := newLedger(t)
	s, release := newSession(t, l, "sess_01JZZZZZZZZZZZZZZZZZZZZZZZ")
	defer release()
	for range 2 {
		_ = s.Change(t.Context(), func(next *abi.Session, sequence uint64) error {
			if next.State != abi.SessionActive || sequence != 1 {
				t.Errorf("%s, %d", next.State, sequence)
			}
			next.State = abi.SessionClosed
			return errors.New("no")
		})
	}
}

// What a client is told of an error of the store, and whether it is to come again.
func TestFailed(t *testing.T) {
	var logged bytes.Buffer
	l := New(Config{Log: slog.New(slog.NewTextHandler(&logged, nil))})
	for _, c := range []struct {
		err  error
		code abi.ErrorCode
	}{
		{storage.ErrFailed, abi.CodeServiceUnavailable},
		{storage.ErrClosed, abi.CodeServiceUnavailable},
		{fmt.Errorf("blob: %w", syscall.ENOSPC), abi.CodeServiceUnavailable},
		{storage.ErrTooLarge, abi.CodePayloadTooLarge},
		{storage.ErrCursorExpired, abi.CodeCursorExpired},
		{context.DeadlineExceeded, abi.CodeDeadlineExceeded},
		{context.Canceled, abi.CodeClientClosedRequest},
		{abi.NotFound(abi.ObjectTask, "task_1"), abi.CodeResourceNotFound},
		{&storage.ContentError{}, abi.CodeInternalError},
	} {
		err := l.Failed("doing something", c.err)
		if own, ok := errors.AsType[*abi.Error](err); !ok || own.Code != c.code || own.Code == abi.CodeServiceUnavailable && own.RetryAfter == 0 {
			t.Errorf("%v is told as %v", c.err, err)
		}
	}
	if err := l.Failed("reading", storage.ErrDamaged); !IsUnreadable(err) {
		t.Errorf("what is damaged is told as %v", err)
	}
	if l.Failed("doing nothing", nil) != nil {
		t.Error("nothing is told as an error")
	}
	if got := bytes.Count(logged.Bytes(), []byte("refuses content")); got != 1 {
		t.Errorf("the full disk was logged %d times", got)
	}
}

// An error of reading is lasting when the same bytes will give it again.
func TestLasting(t *testing.T) {
	lasting := []error{Nonsense(abi.ObjectTask, "task_1", "it has no input"), abi.NotFound(abi.ObjectTask, "task_1"), Decode([]byte(`[]`), new(abi.Task))}
	passing := []error{fmt.Errorf("%w", storage.ErrDamaged), &UnreadableError{Err: ErrForeign}, &UnreadableError{Err: ErrLostTenant}, storage.ErrClosed}
	if i := slices.IndexFunc(lasting, func(err error) bool { return !Lasting(err) }); i >= 0 {
		t.Errorf("%v is not lasting", lasting[i])
	}
	if i := slices.IndexFunc(passing, Lasting); i >= 0 {
		t.Errorf("%v is lasting", passing[i])
	}
}

package sealed_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage/memory"
)

const canary = "canary-0815-token"

type room struct {
	*roomtest.House
	*sealed.Keeper
	t      *testing.T
	values roomtest.Values
}

func newRoom(t *testing.T) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now)), t: t, values: roomtest.Values{}}
	r.furnish()
	return r
}

func (r *room) furnish() {
	r.Keeper = &sealed.Keeper{Ledger: r.Parts.Ledger, Values: r.values, Now: r.Parts.Now}
}

// write writes an event as the rooms do, in the batch that makes use of the value.
func (r *room) write(rec ledger.Record) {
	r.t.Helper()
	c := &desk.Caller{Tenant: roomtest.Tenant, Actor: desk.HostActor}
	if _, err := r.Desk.Commit(c, "", roomtest.Workspace, nil, 0, rec); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) seal(of sealed.Secret, value string) ledger.Record {
	r.t.Helper()
	rec, err := r.Seal(r.t.Context(), of, []byte(value))
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(rec)
	return rec
}

var secret = sealed.Secret{Tenant: roomtest.Tenant, ID: "vsec_one", WorkspaceID: roomtest.Workspace, Name: "one"}

// A value is there after every change and after a restart, and the log has none of it.
func TestAValueIsKept(t *testing.T) {
	r := newRoom(t)
	for n, value := range []string{canary + "-1", canary + "-2"} {
		rec := r.seal(secret, value)
		if rec.Created != (n == 0) || rec.Kind != abi.EventSecretStored {
			t.Errorf("value %d is told as %s, created %v", n+1, rec.Kind, rec.Created)
		}
		r.Crash()
		r.furnish()
		got, err := r.Open(t.Context(), roomtest.Tenant, secret.ID)
		if err != nil || string(got) != value {
			t.Errorf("value %d is %q, %v", n+1, got, err)
		}
		res, err := r.Parts.Ledger.Find(t.Context(), roomtest.Tenant, abi.ObjectVaultSecret, secret.ID)
		if err != nil || strings.Contains(string(res.State), canary) {
			t.Errorf("the log tells of value %d: %s, %v", n+1, res.State, err)
		}
	}
}

// A removed value is gone for good, and another one can take its place.
func TestAValueIsRemoved(t *testing.T) {
	r := newRoom(t)
	if _, err := r.Remove(t.Context(), roomtest.Tenant, secret.ID); !ledger.IsNotFound(err) {
		t.Errorf("removing what is not there: %v", err)
	}
	r.seal(secret, canary)
	rec, err := r.Remove(t.Context(), roomtest.Tenant, secret.ID)
	if err != nil {
		t.Fatal(err)
	}
	r.write(rec)
	if len(r.values) != 0 {
		t.Errorf("%d values are left", len(r.values))
	}
	if got, err := r.Open(t.Context(), roomtest.Tenant, secret.ID); err == nil {
		t.Errorf("it is still read: %q", got)
	}
	again := r.seal(secret, canary)
	if s := again.State.(*abi.VaultSecret); s.Version != 2 || !s.RemovedAt.IsZero() {
		t.Errorf("it comes back as %+v", s)
	}
	if got, err := r.Open(t.Context(), roomtest.Tenant, secret.ID); err != nil || string(got) != canary {
		t.Errorf("after that it is %q, %v", got, err)
	}
}

// A node without a vault, opened on the data of one that had one, says so.
func TestAValueWithoutAVault(t *testing.T) {
	r := newRoom(t)
	r.seal(secret, canary)
	r.Values = nil
	if got, err := r.Open(t.Context(), roomtest.Tenant, secret.ID); err == nil || !strings.Contains(err.Error(), "no vault") {
		t.Errorf("it reads %q, %v", got, err)
	}
}

func TestAnotherTenantHasNoneOfIt(t *testing.T) {
	r := newRoom(t)
	r.seal(secret, canary)
	if got, err := r.Open(t.Context(), roomtest.Tenant+1, secret.ID); !ledger.IsNotFound(err) {
		t.Errorf("another tenant reads %q, %v", got, err)
	}
	if _, err := r.Remove(t.Context(), roomtest.Tenant+1, secret.ID); !ledger.IsNotFound(err) || len(r.values) != 1 {
		t.Errorf("another tenant removes it: %v, %d left", err, len(r.values))
	}
}

func TestHeadersAreKept(t *testing.T) {
	r := newRoom(t)
	for _, headers := range []map[string]string{{"authorization": "Bearer " + canary, "x-a": "ü \"\\"}, {}} {
		rec, err := r.SealHeaders(t.Context(), roomtest.Tenant, "hook_1", roomtest.Workspace, headers)
		if err != nil {
			t.Fatal(err)
		}
		r.write(rec)
		got, err := r.OpenHeaders(t.Context(), roomtest.Tenant, "hook_1")
		if err != nil || !maps.Equal(got, headers) {
			t.Errorf("the headers are %v, %v, want %v", got, err, headers)
		}
	}
	if _, err := r.OpenHeaders(t.Context(), roomtest.Tenant, "hook_2"); !ledger.IsNotFound(err) {
		t.Errorf("those of another: %v", err)
	}
}

// failing keeps nothing, and says so.
type failing struct{ roomtest.Values }

var errFull = errors.New("the disk is full")

func (failing) Seal(context.Context, string, int, []byte) (string, error) { return "", errFull }
func (failing) Keep(string, int) error                                    { return errFull }
func (failing) Blind(context.Context, []byte) ([]byte, error)             { return nil, errFull }

// What could not be done on disk is told by no event.
func TestAFailureIsToldByNoEvent(t *testing.T) {
	r := newRoom(t)
	r.seal(secret, canary)
	r.Keeper.Values = failing{r.values}
	if rec, err := r.Seal(t.Context(), secret, []byte("next")); !errors.Is(err, errFull) || rec.State != nil {
		t.Errorf("keeping says %v, %v", rec.State, err)
	}
	if rec, err := r.Remove(t.Context(), roomtest.Tenant, secret.ID); !errors.Is(err, errFull) || rec.State != nil {
		t.Errorf("removing says %v, %v", rec.State, err)
	}
	if again, err := sealed.Blind(t.Context(), r.Keeper.Values, &desk.Retry{Key: "k"}); !errors.Is(err, errFull) || again != nil {
		t.Errorf("blinding says %v, %v", again, err)
	}
	if got, err := r.Open(t.Context(), roomtest.Tenant, secret.ID); err != nil || string(got) != canary {
		t.Errorf("the value before is %q, %v", got, err)
	}
}

// keyed blinds by a key of its own.
type keyed struct {
	roomtest.Values
	key string
}

func (k keyed) Blind(_ context.Context, text []byte) ([]byte, error) {
	return append([]byte(k.key), text...), nil
}

// Equal bodies stay equal and others different, and without the key nobody can say which body it was.
func TestBlindRetriesCompare(t *testing.T) {
	blind := func(key string, print byte) *desk.Retry {
		r := &desk.Retry{Key: "k", Scope: "s"}
		r.Fingerprint[0] = print
		blinded, err := sealed.Blind(t.Context(), keyed{key: key}, r)
		if err != nil || blinded.Key != r.Key || blinded.Scope != r.Scope || blinded.Fingerprint == r.Fingerprint || r.Fingerprint[0] != print {
			t.Errorf("blinding %+v gives %+v, %v", r, blinded, err)
		}
		return blinded
	}
	if first, again := *blind("a", 1), *blind("a", 1); first != again {
		t.Error("the same body twice gives two")
	}
	if *blind("a", 1) == *blind("a", 2) || *blind("a", 1) == *blind("b", 1) {
		t.Error("two bodies, or two keys, give one")
	}
	if r, err := sealed.Blind(t.Context(), keyed{}, nil); r != nil || err != nil {
		t.Errorf("no retry gives %v, %v", r, err)
	}
}

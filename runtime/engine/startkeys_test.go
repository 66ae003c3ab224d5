package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// started is a node's engine that was only started, with a key or without, and what it
// logged and printed.
type started struct {
	*engine.Engine
	made   string
	err    error
	logged *strings.Builder
	close  func() error
}

func startWith(t *testing.T, disk *crashtest.Disk, key string) *started {
	t.Helper()
	store, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &started{logged: &strings.Builder{}, close: store.Close}
	s.Engine, err = engine.New(engine.Config{DefaultPersona: "persona_echo"}, engine.Parts{Store: store, Modules: enginetest.Guests{"echo": enginetest.Echo},
		Personas: enginetest.Guests{"echo": enginetest.Echo}.Personas(), Log: slog.New(slog.NewTextHandler(io.Writer(s.logged), nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.made, s.err = s.Bootstrap(context.Background(), key)
	return s
}

// opens reports whether a key is taken.
func (s *started) opens(t *testing.T, key string) bool {
	t.Helper()
	_, err := s.Authenticate(t.Context(), key)
	if err != nil {
		enginetest.WantCode(t, err, abi.CodeUnauthenticated)
	}
	return err == nil
}

const (
	firstKey  = "the first key of a person"
	secondKey = "another key of a person"
)

// Each line is a row of starts with keys, and which keys open the node after the last.
func TestStartsAreGivenKeys(t *testing.T) {
	for name, test := range map[string]struct {
		starts []string
		open   []string
		shut   []string
		logged string
	}{
		"one":                {[]string{firstKey}, []string{firstKey}, []string{secondKey}, ""},
		"the same again":     {[]string{firstKey, firstKey}, []string{firstKey}, nil, ""},
		"another":            {[]string{firstKey, secondKey}, []string{secondKey}, []string{firstKey}, "the former one is revoked"},
		"none":               {[]string{firstKey, ""}, []string{firstKey}, []string{secondKey}, ""},
		"none, then another": {[]string{firstKey, "", secondKey}, []string{secondKey}, []string{firstKey}, "the former one is revoked"},
		"and back":           {[]string{firstKey, secondKey, firstKey}, []string{firstKey}, []string{secondKey}, "the former one is revoked"},
		"and back, for long": {[]string{firstKey, secondKey, firstKey, secondKey, secondKey}, []string{secondKey}, []string{firstKey}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			disk := crashtest.NewDisk()
			for i, key := range test.starts {
				s := startWith(t, disk, key)
				if s.err != nil || s.made != "" {
					t.Fatalf("made %q, %v", s.made, s.err)
				}
				if i < len(test.starts)-1 {
					if err := s.close(); err != nil {
						t.Fatal(err)
					}
					continue
				}
				defer s.close()
				for _, key := range test.open {
					if !s.opens(t, key) {
						t.Errorf("%q is not taken", key)
					}
				}
				for _, key := range test.shut {
					if s.opens(t, key) {
						t.Errorf("%q is taken", key)
					}
				}
				if !strings.Contains(s.logged.String(), test.logged) || test.logged == "" && s.logged.Len() > 0 {
					t.Errorf("logged %q, want %q", s.logged, test.logged)
				}
			}
		})
	}
}

// What a person revoked stays so, whoever starts the node with it.
func TestAStartGivesNoKeyBack(t *testing.T) {
	disk := crashtest.NewDisk()
	s := startWith(t, disk, firstKey)
	root, err := s.Authenticate(t.Context(), firstKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RevokeKey(t.Context(), root, root.KeyID); err != nil {
		t.Fatal(err)
	}
	s.close()
	s = startWith(t, disk, firstKey)
	defer s.close()
	if s.err != nil || s.opens(t, firstKey) || !strings.Contains(s.logged.String(), "was revoked") {
		t.Errorf("%v, %s", s.err, s.logged)
	}
}

// The key that a first start made is not the environment's: it works on.
func TestAMadeKeySurvivesAChosenOne(t *testing.T) {
	disk := crashtest.NewDisk()
	s := startWith(t, disk, "")
	made := s.made
	s.close()
	for _, key := range []string{made, firstKey, secondKey, made} {
		s = startWith(t, disk, key)
		if s.err != nil || !s.opens(t, made) || !s.opens(t, key) {
			t.Errorf("%v: %q or the made key is not taken", s.err, key)
		}
		s.close()
	}
	s = startWith(t, disk, "")
	defer s.close()
	if s.opens(t, firstKey) || s.opens(t, secondKey) {
		t.Error("a former key is taken")
	}
}

// A key from before it was written down where keys come from works as it did, under the
// id that it had, and ends when a start is given another.
func TestAKeyOfAnOlderProgram(t *testing.T) {
	disk := crashtest.NewDisk()
	s := startWith(t, disk, "")
	tenant := s.Tenants().Named(tenancy.DefaultTenant)
	hash := sha256.Sum256([]byte(firstKey))
	old := &abi.APIKey{Envelope: abi.NewEnvelope(abi.ObjectAPIKey, abi.APIKeyID(firstKey), time.Now(), nil), Name: "root", Actor: "key:root",
		Hash: hex.EncodeToString(hash[:]), Hint: "rson", TenantID: tenant.ID, TenantNumber: tenant.Number, Scopes: []string{"*"}, WorkspaceIDs: []string{}}
	if _, err := s.Commit(&desk.Caller{Tenant: storage.SystemTenant, Actor: desk.HostActor}, "", "", nil, 0,
		ledger.Record{Kind: abi.EventKeyCreated, Object: abi.ObjectAPIKey, ID: old.ID, Created: true, State: old}); err != nil {
		t.Fatal(err)
	}
	s.close()
	s = startWith(t, disk, firstKey)
	root, err := s.Authenticate(t.Context(), firstKey)
	if err != nil || root.KeyID != old.ID || root.Actor != "key:root" || root.Retries != "" {
		t.Fatalf("%+v %v", root, err)
	}
	s.close()
	for _, key := range []string{secondKey, firstKey} {
		s = startWith(t, disk, key)
		if s.err != nil || !s.opens(t, key) || s.opens(t, firstKey) != (key == firstKey) {
			t.Errorf("started with %q: %v", key, s.err)
		}
		s.close()
	}
}

// Nothing that is shown of a key of a person's choice tells whether a guess is right.
func TestAChosenKeyIsNoOracle(t *testing.T) {
	s := startWith(t, crashtest.NewDisk(), firstKey)
	defer s.close()
	root, err := s.Authenticate(t.Context(), firstKey)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.ListKeys(t.Context(), root, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 {
		t.Fatal(len(list.Docs), err)
	}
	sum := sha256.Sum256([]byte(firstKey))
	for _, told := range []string{hex.EncodeToString(sum[:8]), firstKey[len(firstKey)-4:]} {
		if strings.Contains(string(list.Docs[0].JSON), told) {
			t.Errorf("%s tells %q", list.Docs[0].JSON, told)
		}
	}
	if k := enginetest.As[abi.APIKey](t, list.Docs[0]); k.ID != root.KeyID || k.ID == abi.APIKeyID(firstKey) || k.Source != abi.KeyFromEnvironment {
		t.Errorf("%s", list.Docs[0].JSON)
	}
}

// Two keys of one name have Idempotency-Keys of their own; a key keeps its own over a
// restart, and one from before keeps those of its actor.
func TestIdempotencyKeysAreAKeysOwn(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	one, _ := n.newKey(t, abi.CreateKeyRequest{Name: "ci"})
	two, _ := n.newKey(t, abi.CreateKeyRequest{Name: "ci"})
	old := *one
	old.Retries, old.KeyID = "", "key_of_before"
	older := old
	older.KeyID = "key_of_before_too"
	make := func(c *desk.Caller) string {
		t.Helper()
		doc, err := n.CreateSession(t.Context(), c, &desk.Retry{Key: "k", Scope: "POST /v1/sessions", Fingerprint: ledger.CanonicalHash([]byte(`{}`))},
			abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace})
		if err != nil {
			t.Fatal(err)
		}
		return doc.ID
	}
	first := make(one)
	if again := make(one); again != first {
		t.Error("a retry made another Session")
	}
	if other := make(two); other == first {
		t.Error("the other key is answered with the first one's Session")
	}
	if before := make(&old); before == first || make(&older) != before {
		t.Error("keys of before do not share what their actor has")
	}
}

package pinned_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/pinned"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// node has modules and one Persona, and counts how often it is asked for a module.
type node struct {
	wasm  map[string]string
	asked int
	now   *personas.Persona // nil: it cannot be read
}

func (n *node) Wasm(_ context.Context, digest string) ([]byte, error) {
	n.asked++
	if wasm, ok := n.wasm[digest]; ok {
		return []byte(wasm), nil
	}
	return nil, &abi.Failure{Code: abi.FailurePluginMissing, Message: "there is none"}
}

func (n *node) Persona(context.Context, storage.Tenant, string) (*personas.Persona, error) {
	if n.now == nil {
		return nil, abi.NotFound(abi.ObjectPersona, "persona_a")
	}
	return n.now, nil
}

func persona(version string) *personas.Persona {
	p := &personas.Persona{Persona: abi.Persona{Envelope: abi.Envelope{ID: "persona_a"}, Name: "a", Version: version}}
	p.Text = fmt.Appendf(nil, `{"id":"persona_a","name":"a","version":%q}`, version)
	return p
}

func setUp(t *testing.T) (*node, *memory.Store, *pinned.Keeper) {
	t.Helper()
	store := memory.New(time.Now)
	t.Cleanup(func() { _ = store.Close() })
	n := &node{wasm: map[string]string{}, now: persona("1")}
	return n, store, again(n, store)
}

// again is a keeper that remembers nothing, as after a restart.
func again(n *node, store storage.Store) *pinned.Keeper {
	return pinned.NewKeeper(pinned.Parts{Blobs: store.Blobs(), Modules: n, Persona: n.Persona})
}

func (n *node) module(text string) (digest string) {
	digest = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
	n.wasm[digest] = text
	return digest
}

// A module that Tasks run is there when the node has it no more, and is fetched once.
func TestModuleStays(t *testing.T) {
	n, store, k := setUp(t)
	digest := n.module("of today")
	for range 3 {
		if err := k.KeepModule(t.Context(), digest); err != nil {
			t.Fatal(err)
		}
	}
	if n.asked != 1 {
		t.Errorf("it was fetched %d times", n.asked)
	}
	delete(n.wasm, digest)
	if err := again(n, store).KeepModule(t.Context(), digest); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	if wasm, err := pinned.Module(t.Context(), store, digest); err != nil || string(wasm) != "of today" {
		t.Errorf("%q, %v", wasm, err)
	}
}

func TestModuleThatIsNone(t *testing.T) {
	n, store, k := setUp(t)
	none := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("nobody's")))
	for range 2 { // what failed is not remembered
		if err := k.KeepModule(t.Context(), none); err == nil {
			t.Error("a module was kept that nobody has")
		}
	}
	if n.asked != 2 {
		t.Errorf("it was looked for %d times", n.asked)
	}
	if wasm, err := pinned.Module(t.Context(), store, none); wasm != nil || err != nil {
		t.Errorf("%q, %v", wasm, err)
	}
	lying := n.module("said to be this")
	n.wasm[lying] = "and is that"
	if err := k.KeepModule(t.Context(), lying); err == nil {
		t.Error("bytes were kept under the digest of others")
	}
	for _, digest := range []string{"", "sha256:", "md5:00", "sha256:zz"} {
		if err := k.KeepModule(t.Context(), digest); err == nil {
			t.Errorf("%q is taken for a digest", digest)
		}
	}
}

// A Task goes on with the Persona that it began with, whatever that is now.
func TestPersonaStays(t *testing.T) {
	n, store, k := setUp(t)
	hash, err := k.KeepPersona(t.Context(), n.now)
	if err != nil || hash != journal.HashOf(n.now.Text) {
		t.Fatalf("%s, %v", hash, err)
	}
	if p, err := k.PersonaAt(t.Context(), 1, "persona_a", hash); err != nil || p != n.now {
		t.Errorf("it is another than the one that is: %+v, %v", p, err)
	}
	for _, now := range []*personas.Persona{persona("2"), nil} {
		n.now = now
		for _, k := range []*pinned.Keeper{k, again(n, store)} {
			first, err := k.PersonaAt(t.Context(), 1, "persona_a", hash)
			if err != nil || first.Version != "1" {
				t.Fatalf("%+v, %v", first, err)
			}
			if second, err := k.PersonaAt(t.Context(), 1, "persona_a", hash); err != nil || second != first {
				t.Errorf("it was read twice: %v", err)
			}
		}
	}
}

// A Persona that is lost is told by the failure that a Task ends with.
func TestPersonaIsLost(t *testing.T) {
	n, _, k := setUp(t)
	_, err := k.PersonaAt(t.Context(), 1, "persona_a", journal.HashOf(persona("0").Text))
	if _, ok := err.(*abi.Failure); !ok {
		t.Errorf("%T %v", err, err)
	}
	foreign := &personas.Persona{Text: []byte(`{"id":7}`)}
	hash, err := k.KeepPersona(t.Context(), foreign)
	if err != nil {
		t.Fatal(err)
	}
	n.now = nil
	if _, err := k.PersonaAt(t.Context(), 1, "persona_a", hash); !ledger.IsUnreadable(err) {
		t.Errorf("%T %v", err, err)
	}
}

// What is remembered is bounded, and right when it was forgotten.
func TestManyPersonas(t *testing.T) {
	n, _, k := setUp(t)
	hashes := []string{}
	for i := range 2500 {
		hash, err := k.KeepPersona(t.Context(), persona(fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, hash)
	}
	n.now = nil
	for _, i := range []int{0, 999, 1000, 2499} {
		if p, err := k.PersonaAt(t.Context(), 1, "persona_a", hashes[i]); err != nil || p.Version != fmt.Sprint(i) {
			t.Errorf("version %d: %+v, %v", i, p, err)
		}
	}
}

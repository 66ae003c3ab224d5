package pinned

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/storage"
)

// Modules are the modules that the node has.
type Modules interface {
	// Wasm returns a module's bytes, which must not be changed.
	Wasm(ctx context.Context, digest string) ([]byte, error)
}

// Parts are what a keeper works with.
type Parts struct {
	Blobs   storage.Blobs
	Modules Modules
	// Persona returns a Persona as it is now.
	Persona func(ctx context.Context, t storage.Tenant, id string) (*personas.Persona, error)
}

// Keeper keeps modules and Personas. It is safe for concurrent use.
type Keeper struct {
	parts Parts

	mu      lockrank.Mutex[lockrank.Table]
	modules map[string]bool              // by their digests: those that are blobs
	hashes  map[*personas.Persona]string // of Personas that are blobs
	read    map[string]*personas.Persona // by their hashes: those that were read
}

// maxKnown bounds what is remembered of each kind.
const maxKnown = 1000

// NewKeeper returns a keeper that remembers nothing.
func NewKeeper(parts Parts) *Keeper {
	return &Keeper{parts: parts, modules: map[string]bool{}, hashes: map[*personas.Persona]string{}, read: map[string]*personas.Persona{}}
}

// remember adds an entry. When there are too many, all others are forgotten first.
func remember[K comparable, V any](k *Keeper, all map[K]V, key K, value V) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(all) >= maxKnown {
		clear(all)
	}
	all[key] = value
}

func recall[K comparable, V any](k *Keeper, all map[K]V, key K) (value V, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	value, ok = all[key]
	return value, ok
}

// KeepModule puts a module into the blob store, if it is not there, and keeps it from being swept until what it is
// kept for tells of it.
func (k *Keeper) KeepModule(ctx context.Context, digest string) error {
	hash, err := journal.ParseHash(digest)
	if err != nil {
		return err
	}
	if _, ok := recall(k, k.modules, digest); ok && k.parts.Blobs.Keep(hash) {
		return nil
	}
	if !k.parts.Blobs.Keep(hash) || !k.has(ctx, hash) { // a damaged one is written again
		wasm, err := k.parts.Modules.Wasm(ctx, digest)
		if err != nil {
			return err
		}
		if _, _, err := k.parts.Blobs.Put(ctx, bytes.NewReader(wasm), &hash); err != nil {
			return fmt.Errorf("keeping the module %s: %w", digest, err)
		}
	}
	remember(k, k.modules, digest, true)
	return nil
}

func (k *Keeper) has(ctx context.Context, hash storage.Hash) bool {
	b, err := k.parts.Blobs.Open(ctx, hash)
	if err != nil {
		return false
	}
	defer b.Close()
	return b.Verify(ctx) == nil
}

// KeepPersona puts a Persona's JSON into the blob store, once, and returns its hash.
func (k *Keeper) KeepPersona(ctx context.Context, p *personas.Persona) (string, error) {
	if hash, ok := recall(k, k.hashes, p); ok {
		if h, err := journal.ParseHash(hash); err == nil && k.parts.Blobs.Keep(h) {
			return hash, nil
		}
	}
	h, _, err := k.parts.Blobs.Put(ctx, bytes.NewReader(p.Text), nil)
	if err != nil {
		return "", fmt.Errorf("keeping the persona %s: %w", p.ID, err)
	}
	hash := journal.FormatHash(h)
	remember(k, k.hashes, p, hash)
	return hash, nil
}

// PersonaAt returns the Persona of an id as it was when a Task was pinned to the given
// hash. Do not change it. An *abi.Failure says that it is lost.
func (k *Keeper) PersonaAt(ctx context.Context, t storage.Tenant, id, hash string) (*personas.Persona, error) {
	now, err := k.parts.Persona(ctx, t, id)
	if err == nil {
		if kept, ok := recall(k, k.hashes, now); ok && kept == hash || journal.HashOf(now.Text) == hash {
			return now, nil
		}
	}
	if p, ok := recall(k, k.read, hash); ok {
		return p, nil
	}
	h, err := journal.ParseHash(hash)
	if err != nil {
		return nil, err
	}
	p := &personas.Persona{}
	if p.Text, err = journal.Content(ctx, k.parts.Blobs, h); err != nil {
		return nil, ledger.Missing("blob", hash, err)
	}
	if err := ledger.Decode(p.Text, &p.Persona); err != nil {
		return nil, err
	}
	remember(k, k.read, hash, p)
	return p, nil
}

// Module returns the bytes of a module that a Task of a node has run, nil when none has.
// It is meant for what no longer has them otherwise.
func Module(ctx context.Context, store storage.Store, digest string) ([]byte, error) {
	hash, err := journal.ParseHash(digest)
	if err != nil {
		return nil, err
	}
	wasm, err := journal.Content(ctx, store.Blobs(), hash)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return wasm, err
}

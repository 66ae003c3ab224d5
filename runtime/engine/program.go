package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
)

// keptBlobs remembers which modules and Personas are in the blob store already.
type keptBlobs struct {
	byKey sync.Map // "module " and digest, or the persona → string, the hash
}

// offers reports whether a plugin of this node has an export.
func (e *Engine) offers(ctx context.Context, plugin, export string) (bool, error) {
	_, module, err := e.moduleNamed(ctx, plugin)
	return err == nil && module.HasExport(export), err
}

// moduleNamed returns the module that a plugin's name stands for now, and its digest.
func (e *Engine) moduleNamed(ctx context.Context, plugin string) (digest string, module Module, err error) {
	if digest, err = e.modules.Resolve(ctx, plugin); err != nil {
		return "", nil, err
	}
	module, err = e.modules.ModuleAt(ctx, digest)
	return digest, module, err
}

// programFor fixes what a Task will run: from here on a new version of the plugin
// changes nothing for it, nor one of its Persona. The module and the Persona are
// kept as blobs.
func (e *Engine) programFor(ctx context.Context, t *task) (*journal.Program, error) {
	persona, err := e.Persona(ctx, t.tenant, t.about.PersonaID)
	if err != nil {
		return nil, &abi.Failure{Code: abi.FailurePluginMissing, Message: err.Error()}
	}
	t.mu.Lock()
	t.task.PersonaVersion = persona.Version
	t.mu.Unlock()
	name, export, named := strings.Cut(cmp.Or(e.PollWorkflow(t.tenant, &t.about), persona.EntryWorkflow), "#")
	if !named {
		export = abi.DefaultExport
	}
	digest, err := e.modules.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := e.keepModule(ctx, digest); err != nil {
		return nil, err
	}
	personaHash, err := e.keepPersona(ctx, persona)
	if err != nil {
		return nil, err
	}
	seed := make([]byte, 16)
	if _, err := io.ReadFull(e.entropy, seed); err != nil {
		return nil, fmt.Errorf("reading randomness: %w", err)
	}
	p := &journal.Program{Plugin: name, Module: digest, Export: export, ABI: abi.ABIVersion, Persona: personaHash, Seed: seed}
	e.fixGround(p)
	p.Skill, err = e.SkillOf(ctx, t.tenant, &t.about)
	return p, err
}

// fixGround fixes what a program runs on and what it may use. Modules that run as
// they are depend on the processor, and nothing counts their gas.
func (e *Engine) fixGround(p *journal.Program) {
	l := e.config.limitsFor(p.Plugin)
	p.Limits = journal.Limits{MemoryBytes: l.MemoryBytes, HostCalls: l.HostCalls, PayloadBytes: l.PayloadBytes, OutputBytes: l.OutputBytes}
	p.Engine, p.Rewriter = e.runs, e.rewriter
	if e.rewriter == "" {
		p.Arch = goruntime.GOARCH
		return
	}
	p.Limits.Gas, p.Limits.Depth = l.Gas, l.Depth
}

// keepModule puts a module into the blob store, once.
func (e *Engine) keepModule(ctx context.Context, digest string) error {
	if _, ok := e.kept.byKey.Load(digest); ok {
		return nil
	}
	hash, err := journal.ParseHash(digest)
	if err != nil {
		return err
	}
	if !e.hasBlob(ctx, hash) { // a damaged one is written again
		wasm, err := e.modules.Wasm(ctx, digest)
		if err != nil {
			return err
		}
		if _, _, err := e.store.Blobs().Put(ctx, bytes.NewReader(wasm), &hash); err != nil {
			return fmt.Errorf("keeping the module %s: %w", digest, err)
		}
	}
	e.kept.byKey.Store(digest, true)
	return nil
}

func (e *Engine) hasBlob(ctx context.Context, hash storage.Hash) bool {
	b, err := e.store.Blobs().Open(ctx, hash)
	if err != nil {
		return false
	}
	defer b.Close()
	return b.Verify(ctx) == nil
}

// keepPersona puts a Persona's JSON into the blob store, once, and returns its hash.
func (e *Engine) keepPersona(ctx context.Context, p *personas.Persona) (string, error) {
	if hash, ok := e.kept.byKey.Load(p); ok {
		return hash.(string), nil
	}
	hash, _, err := e.store.Blobs().Put(ctx, bytes.NewReader(p.Text), nil)
	if err != nil {
		return "", fmt.Errorf("keeping the persona %s: %w", p.ID, err)
	}
	e.kept.byKey.Store(p, journal.FormatHash(hash))
	return journal.FormatHash(hash), nil
}

// KeptModule returns the bytes of a module that a Task of this node has run, nil
// when none has. It is meant for [Modules] that no longer have it.
func KeptModule(ctx context.Context, store storage.Store, digest string) ([]byte, error) {
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

// limitsOf returns the limits that a program runs under here: its own, and the
// node's on time.
func (e *Engine) limitsOf(p *journal.Program) sandbox.Limits {
	return replay.Limits(p, e.config.limitsFor(p.Plugin).WallTime)
}

// personaAt returns a Persona as it was when a program was fixed.
func (e *Engine) personaAt(ctx context.Context, t storage.Tenant, id, hash string) (*personas.Persona, error) {
	now, err := e.Persona(ctx, t, id)
	if err == nil {
		if kept, ok := e.kept.byKey.Load(now); ok && kept == hash || journal.HashOf(now.Text) == hash {
			return now, nil
		}
	}
	key := "persona " + hash
	if p, ok := e.kept.byKey.Load(key); ok {
		return p.(*personas.Persona), nil
	}
	h, err := journal.ParseHash(hash)
	if err != nil {
		return nil, err
	}
	p := &personas.Persona{}
	if p.Text, err = e.blob(ctx, h); err != nil {
		return nil, ledger.Missing("blob", hash, err)
	}
	if err := ledger.Decode(p.Text, &p.Persona); err != nil {
		return nil, err
	}
	e.kept.byKey.Store(key, p)
	return p, nil
}

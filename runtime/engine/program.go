package engine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

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

// fixProgram finds out what a Task that has not started will run. It is called
// before the Task's first start is told, by whoever tells it.
func (e *Engine) fixProgram(ctx context.Context, t *task) {
	t.mu.Lock()
	submitted := t.state.Status == abi.TaskSubmitted
	t.mu.Unlock()
	if !submitted || t.program != nil || t.about.Replay != nil || t.about.Fork != nil {
		return
	}
	t.program, t.startErr = e.programFor(ctx, t)
	t.fresh = true
}

// programFor fixes what a Task will run: from here on a new version of the plugin
// changes nothing for it, nor one of its Persona. The module and the Persona are
// kept as blobs.
func (e *Engine) programFor(ctx context.Context, t *task) (*journal.Program, error) {
	persona, err := e.PersonaIn(ctx, t.tenant, t.about.WorkspaceID, t.about.PersonaID)
	if err == nil {
		persona, err = e.RunsAs(ctx, t.tenant, persona)
	}
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
	if err := e.pinned.KeepModule(ctx, digest); err != nil {
		return nil, err
	}
	personaHash, err := e.pinned.KeepPersona(ctx, persona)
	if err != nil {
		return nil, err
	}
	seed := make([]byte, 16)
	if _, err := io.ReadFull(e.entropy, seed); err != nil {
		return nil, fmt.Errorf("reading randomness: %w", err)
	}
	p := &journal.Program{Plugin: name, Module: digest, Export: export, ABI: abi.ABIVersion, Persona: personaHash, Seed: seed}
	e.fixGround(p)
	if p.Skill, err = e.SkillOf(ctx, t.tenant, &t.about); err != nil {
		return nil, err
	}
	p.Skills, err = e.SkillsFor(t.tenant, &t.about, t.skills, persona.Text)
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

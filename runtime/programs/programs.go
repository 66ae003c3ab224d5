package programs

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a Fixer works with.
type Parts struct {
	// Resolve returns the digest of the module that a plugin's name stands for now.
	Resolve func(ctx context.Context, plugin string) (digest string, err error)
	Pinned  Pinned
	// PersonaOf returns the Persona of a Task that was taken, RunsAs as it runs.
	PersonaOf func(ctx context.Context, t storage.Tenant, workspace, id string) (*personas.Persona, error)
	RunsAs    func(ctx context.Context, t storage.Tenant, p *personas.Persona) (*personas.Persona, error)
	// Workflow returns what a Task runs in place of its Persona's entry_workflow; "" for that.
	Workflow func(t storage.Tenant, about *abi.Task) string
	Skill    func(ctx context.Context, t storage.Tenant, about *abi.Task) (*journal.Skill, error)
	Skills   func(t storage.Tenant, about *abi.Task, session []string, persona []byte) ([]abi.TaskSkill, error)
	Limits   func(plugin string) sandbox.Limits
	Entropy  io.Reader
	Runs     string // what runs modules
	Rewriter string // what rewrites them; "" when they run as they are
}

// Pinned keeps what programs name.
type Pinned interface {
	KeepModule(ctx context.Context, digest string) error
	KeepPersona(ctx context.Context, p *personas.Persona) (hash string, err error)
}

// Fixer fixes programs. It is safe for concurrent use.
type Fixer struct{ parts Parts }

// NewFixer returns a Fixer.
func NewFixer(p Parts) *Fixer { return &Fixer{parts: p} }

// For fixes what a Task runs; session are the names of SkillBundles that its Session has. The error is an
// *abi.Failure where the Task cannot run for want of what it names. version is the Persona's, also with an
// error that comes after it is known.
func (f *Fixer) For(ctx context.Context, t storage.Tenant, about *abi.Task, session []string) (p *journal.Program, version string, err error) {
	persona, err := f.parts.PersonaOf(ctx, t, about.WorkspaceID, about.PersonaID)
	if err == nil {
		persona, err = f.parts.RunsAs(ctx, t, persona)
	}
	if err != nil {
		return nil, "", &abi.Failure{Code: abi.FailurePluginMissing, Message: err.Error()}
	}
	p, err = f.program(ctx, t, about, persona)
	if err != nil {
		return nil, persona.Version, err
	}
	if p.Skill, err = f.parts.Skill(ctx, t, about); err != nil {
		return nil, persona.Version, err
	}
	p.Skills, err = f.parts.Skills(t, about, session, persona.Text)
	return p, persona.Version, err
}

// program fixes the code, what it runs on and what it may use.
func (f *Fixer) program(ctx context.Context, t storage.Tenant, about *abi.Task, persona *personas.Persona) (*journal.Program, error) {
	workflow := f.parts.Workflow(t, about)
	if workflow == "" {
		workflow = persona.EntryWorkflow
	}
	name, export, named := strings.Cut(workflow, "#")
	if !named {
		export = abi.DefaultExport
	}
	digest, err := f.parts.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := f.parts.Pinned.KeepModule(ctx, digest); err != nil {
		return nil, err
	}
	hash, err := f.parts.Pinned.KeepPersona(ctx, persona)
	if err != nil {
		return nil, err
	}
	seed := make([]byte, 16)
	if _, err := io.ReadFull(f.parts.Entropy, seed); err != nil {
		return nil, fmt.Errorf("reading randomness: %w", err)
	}
	p := &journal.Program{Plugin: name, Module: digest, Export: export, ABI: abi.ABIVersion, Persona: hash, Seed: seed,
		Engine: f.parts.Runs, Rewriter: f.parts.Rewriter}
	f.limit(p)
	return p, nil
}

// limit fixes what a program may use.
func (f *Fixer) limit(p *journal.Program) {
	l := f.parts.Limits(p.Plugin)
	p.Limits = journal.Limits{MemoryBytes: l.MemoryBytes, HostCalls: l.HostCalls, PayloadBytes: l.PayloadBytes, OutputBytes: l.OutputBytes}
	if p.Rewriter == "" {
		p.Arch = runtime.GOARCH
		return
	}
	p.Limits.Gas, p.Limits.Depth = l.Gas, l.Depth
}

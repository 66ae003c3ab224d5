package engine

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/programs"
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
	program, version, err := e.programs.For(ctx, t.tenant, &t.about, t.skills)
	t.program, t.startErr, t.fresh = program, err, true
	t.mu.Lock()
	defer t.mu.Unlock()
	t.task.PersonaVersion = version
}

// newPrograms makes what fixes what Tasks run.
func (e *Engine) newPrograms() *programs.Fixer {
	resolve := func(ctx context.Context, plugin string) (string, error) { return e.modules.Resolve(ctx, plugin) }
	return programs.NewFixer(programs.Parts{Resolve: resolve, Pinned: e.pinned, PersonaOf: e.PersonaOf, RunsAs: e.RunsAs,
		Workflow: e.PollWorkflow, Skill: e.SkillOf, Skills: e.SkillsFor, Limits: e.config.limitsFor, Entropy: e.entropy,
		Runs: e.runs, Rewriter: e.rewriter})
}

package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/storage"
)

// newHarnesses makes the room that serves Harnesses.
func (e *Engine) newHarnesses(common desk.Parts) *harnesses.Keeper {
	return harnesses.NewKeeper(harnesses.Parts{Parts: common, Config: e.config.Harnesses, Started: e.started,
		Persona: plugins.PersonaAgent, Workflow: plugins.WorkflowAgent, Remote: plugins.WorkflowRemote,
		DefaultWorkspace: e.DefaultWorkspace, NewWorkspace: e.DraftWorkspace, NewPersona: e.DraftPersona, Calls: e.callsOf,
		Running: e.tasks.anyIn})
}

// callsOf returns the host calls that a plugin makes.
func (e *Engine) callsOf(ctx context.Context, workflow string) ([]string, error) {
	plugin, _, err := plugins.ParseEntry(workflow)
	if err != nil {
		return nil, err
	}
	_, module, err := e.moduleNamed(ctx, plugin)
	if err != nil {
		return nil, err
	}
	return module.Imports(), nil
}

// anyIn reports whether a Task of a Workspace has not ended.
func (t *taskTable) anyIn(tenant storage.Tenant, workspace string) bool {
	t.mu.Lock()
	live := slices.Collect(maps.Values(t.byID))
	t.mu.Unlock()
	return slices.ContainsFunc(live, func(one *task) bool { return one.tenant == tenant && one.about.WorkspaceID == workspace })
}

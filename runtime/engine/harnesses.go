package engine

import (
	"context"

	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/storage"
)

// newHarnesses makes the room that serves Harnesses.
func (e *Engine) newHarnesses(common desk.Parts, parts *Parts) *harnesses.Keeper {
	k := harnesses.NewKeeper(harnesses.Parts{Parts: common, Config: e.config.Harnesses, Started: e.started,
		Persona: plugins.PersonaAgent, Workflow: plugins.WorkflowAgent, RemoteWorkflow: plugins.WorkflowRemote, Remote: parts.RemoteHarnesses,
		TenantID: e.tenants.IDOf, Authenticate: e.Authenticate,
		DefaultWorkspace: e.DefaultWorkspace, NewWorkspace: e.DraftWorkspace, NewPersona: e.DraftPersona, Calls: e.callsOf,
		Running: e.tasks.countIn, Values: parts.values(), Background: &e.background, Life: e.base})
	e.observers = append(e.observers, k.TaskEnded)
	return k
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

// countIn returns how many Tasks of a Workspace have not ended.
func (t *taskTable) countIn(tenant storage.Tenant, workspace string) (n int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for key, live := range t.byID {
		if key.Tenant == tenant && live.about.WorkspaceID == workspace {
			n++
		}
	}
	return n
}

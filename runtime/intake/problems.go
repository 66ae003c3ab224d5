package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// onlyTicks reports whether a provider sends nothing: what its Connectors do, their schedule says.
func onlyTicks(provider string) bool { return provider == "cron" }

// problems says what keeps a Connector from working now. It looks at everything, for who mends one thing
// wants to know of the others.
func (i *Intake) problems(ctx context.Context, s *inlet) []string {
	about := s.about.Load()
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if why := i.absentPlugin(ctx, about.Plugin); why != "" {
		add("its plugin %s cannot be used: %s", about.Plugin, why)
	}
	if id := about.TargetPersonaID; id != "" {
		workflow, err := i.parts.Persona(ctx, s.key.Tenant, about.WorkspaceID, id)
		if err != nil {
			add("its Persona %s is not there, or may not be used in its Workspace", id)
		} else if why := i.absentPlugin(ctx, workflow); why != "" {
			add("its Persona %s cannot run: %s", id, why)
		}
	}
	if onlyTicks(about.Provider) && about.Polling == nil {
		add("it has no schedule, and so never does anything")
	}
	auth := authOf(about, s.provider)
	for _, name := range auth.Secrets {
		if _, err := i.parts.Secret(ctx, s.key.Tenant, about, auth.VaultID, name); err != nil {
			add("the secret %q, which signatures are checked with, cannot be used: %s", name, refusalOf(err))
		}
	}
	if fault := s.pollFault.Load(); fault != nil {
		add("the last poll did not work: %s", *fault)
	}
	return found
}

// absentPlugin says why a plugin that a workflow names is not there; "" when it is.
func (i *Intake) absentPlugin(ctx context.Context, workflow string) string {
	name, _, _ := strings.Cut(workflow, "#")
	_, err := i.parts.Plugins.Resolve(ctx, name)
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		return failure.Message
	}
	return ""
}

// refusalOf is what of an error about a secret a client may be told.
func refusalOf(err error) string {
	if refused, ok := errors.AsType[*provider.Refusal](err); ok {
		return refused.Message
	}
	return "see the node's log"
}

// because gives the reason of a Task that failed.
func because(f *abi.Failure) string {
	if f == nil {
		return ""
	}
	return ": " + cmp.Or(f.Message, f.Code)
}

// logProblems writes down what keeps a Connector from working, once for as long as it does.
func (i *Intake) logProblems(s *inlet, found []string) {
	if before := s.logged.Swap(&found); before != nil && slices.Equal(*before, found) {
		return
	}
	for _, one := range found {
		i.parts.Log.Warn("a connector cannot work as it is", "connector", s.key.ID, "name", s.about.Load().Name, "problem", one)
	}
}

package model

import (
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// choice is the model that a call takes, and why.
type choice struct {
	name  string
	route string
}

// choose decides which model a plugin gets when it asks for the named one.
func (m *Models) choose(named, plugin string) (choice, error) {
	if len(m.config.Models) == 0 {
		return choice{}, provider.Refuse(abi.CallUnavailable, "model_not_configured",
			`this node has no model: configure one under "models" and name it in "models.default", for example `+
				`models: {default: main, main: {provider: openai, model: gpt-5-mini, api_key_env: OPENAI_API_KEY}}, `+
				`or provider anthropic, or script for answers from a file (docs/configuration.md, docs/models.md)`)
	}
	c := choice{name: named, route: "named by the plugin"}
	if named == "" {
		c = choice{name: m.config.defaultModel(), route: "configured default"}
	}
	if c.name == "" {
		return choice{}, provider.Refuse(abi.CallUnavailable, "model_not_configured",
			`this node has several models and no default: name one in "models.default", or in the call; `+m.offer(plugin))
	}
	if _, ok := m.config.Models[c.name]; !ok {
		return choice{}, provider.Refuse(abi.CallNotFound, "model_unknown",
			fmt.Sprintf("no model %q is configured; %s", c.name, m.offer(plugin)))
	}
	if !m.allowed(plugin, c.name) {
		return choice{}, provider.Refuse(abi.CallDenied, "model_denied",
			fmt.Sprintf("the plugin %q has no grant for the model %q; %s", plugin, c.name, m.offer(plugin)))
	}
	return c, nil
}

// offer says which models a plugin may name.
func (m *Models) offer(plugin string) string {
	var names []string
	for _, name := range sortedKeys(m.config.Models) {
		if m.allowed(plugin, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "it may use none"
	}
	return "it may use " + strings.Join(names, ", ")
}

// permitted asks the policy of the Task's Persona about a model.
func (m *Models) permitted(c *provider.Call, name string) error {
	if c.AllowModel == nil {
		return nil
	}
	return c.AllowModel(name, m.config.Models[name].Provider)
}

package node

import (
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
	"github.com/wharf-dev/wharf/runtime/provider/model"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/web"
)

// Regrant has plugins use from now on what a configuration grants them. Calls that were allowed go on.
func (n *Node) Regrant(c *config.Config) { regrant(c, n.calls, n.agents) }

// regrant tells what answers host calls.
func regrant(c *config.Config, calls map[string]provider.Performer, agents *agent.Agents) {
	if secrets, ok := calls[abi.CallSecretUse].(*secret.Store); ok {
		secrets.Regrant(secretGrants(c))
	}
	if models, ok := calls[abi.CallLLMComplete].(*model.Models); ok {
		models.Regrant(modelGrants(c))
	}
	if tools, ok := calls[abi.CallToolCall].(*tool.Tools); ok {
		tools.Regrant(toolGrants(c))
	}
	if fetch, ok := calls[abi.CallHTTPFetch].(*web.Web); ok {
		fetch.Regrant(webGrants(c))
	}
	agents.Regrant(agentGrants(c))
}

// granted returns a part of what plugins are granted, by plugin.
func granted[T any](c *config.Config, part func(config.Grant) []T) map[string][]T {
	all := make(map[string][]T, len(c.Grants))
	for plugin, g := range c.Grants {
		all[plugin] = part(g)
	}
	return all
}

func secretGrants(c *config.Config) map[string][]string {
	return granted(c, func(g config.Grant) []string { return g.Secrets })
}

func agentGrants(c *config.Config) map[string][]string {
	return granted(c, func(g config.Grant) []string { return g.Agents })
}

// toolGrants are those of the configuration, and what the bundled agent has of itself: the tools of the
// node, where nobody has said which, and those of hosted harnesses.
func toolGrants(c *config.Config) map[string][]string {
	all := granted(c, func(g config.Grant) []string { return g.Tools })
	if _, said := c.Grants[pluginAgent]; !said {
		all[pluginAgent] = ownTools()
	}
	all[pluginAgent] = append(slices.Clone(all[pluginAgent]), harnesses.ServerRemote+":*")
	return all
}

func webGrants(c *config.Config) map[string][]web.Grant {
	return granted(c, func(g config.Grant) (reaches []web.Grant) {
		for _, h := range g.HTTP {
			reaches = append(reaches, web.Grant{Hosts: h.Hosts, Methods: h.Methods, Private: h.Private})
		}
		return reaches
	})
}

// modelGrants are nil where nothing is said of any plugin: each may use all models then.
func modelGrants(c *config.Config) (all map[string][]string) {
	for plugin, g := range c.Grants {
		if g.Models == nil {
			continue
		}
		if all == nil {
			all = map[string][]string{}
		}
		all[plugin] = g.Models
	}
	return all
}

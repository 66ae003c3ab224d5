package node

import (
	"maps"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/harn"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// offer is what clients are told of what Tasks can reach: which plugins and models, and
// neither hosts nor secrets nor how anything is reached.
func offer(c *config.Config, calls map[string]provider.Performer, sandbox string) harn.Node {
	told := harn.Node{Sandbox: sandbox, Reach: reach(c)}
	if tools, ok := calls[abi.CallToolList].(*tool.Tools); ok {
		told.Tools = tools
	}
	return told
}

// callable are the tools of the node that clients can call by themselves: the bundled agent does it
// for them.
func callable(calls map[string]provider.Performer) api.GrantedTools {
	tools, _ := calls[abi.CallToolList].(*tool.Tools)
	return api.GrantedTools{Of: tools, Plugin: pluginAgent}
}

func reach(c *config.Config) map[string]harn.Reach {
	granted := func(some func(config.Grant) bool) []string { return pluginsOf(c.Grants, some) }
	tools := granted(func(g config.Grant) bool { return len(g.Tools) > 0 })
	web := granted(func(g config.Grant) bool { return len(g.HTTP) > 0 })
	agents := granted(func(g config.Grant) bool { return len(g.Agents) > 0 })
	secrets := granted(func(g config.Grant) bool { return len(g.Secrets) > 0 })
	ofTools := harn.Reach{Available: len(tools) > 0, Plugins: tools, Servers: slices.Sorted(maps.Keys(c.Tools))}
	return map[string]harn.Reach{
		abi.CallLLMComplete:   {Available: len(c.Models) > 0, Models: slices.Sorted(maps.Keys(c.Models))},
		abi.CallToolList:      ofTools,
		abi.CallToolCall:      ofTools,
		abi.CallResourceList:  ofTools,
		abi.CallResourceRead:  ofTools,
		abi.CallPromptGet:     ofTools,
		abi.CallAgentDelegate: {Available: len(agents) > 0, Plugins: agents},
		abi.CallHTTPFetch:     {Available: len(web) > 0, Plugins: web},
		// Without a grant there are the secrets of Vaults.
		abi.CallSecretUse: {Available: true, Plugins: secrets},
		abi.CallConfigGet: {Available: true, Plugins: slices.Sorted(maps.Keys(c.Settings))},
	}
}

// pluginsOf returns the plugins with grants of some kind, in order.
func pluginsOf(grants map[string]config.Grant, some func(config.Grant) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(grants)), func(plugin string) bool { return !some(grants[plugin]) })
}

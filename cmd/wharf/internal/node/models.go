package node

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/provider/model"
	"github.com/wharf-dev/wharf/runtime/provider/settings"
)

// models returns the models of the configuration, by name, without any secret. What is there of the
// environment and of files is looked at each time; no command is run, and no provider is asked.
func (n *Node) models() []abi.NodeModel {
	c := &n.options.Config
	names := slices.Sorted(maps.Keys(c.Models))
	all := make([]abi.NodeModel, 0, len(names))
	for _, name := range names {
		m := c.Models[name]
		auth, there := modelAuth(c, m)
		shown := abi.NodeModel{
			Name: name, Aliases: aliasesOf(c, name), Kind: m.Provider, Model: m.Model, Place: modelPlace(m), Auth: auth, Available: there,
			Default: isDefault(c, name), ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens,
			Thinking: m.Thinking > 0, Fallbacks: append([]string{}, m.Fallbacks...),
		}
		if p, ok := c.Prices[m.Provider+"/"+m.Model]; ok {
			shown.Price = &abi.ModelPrice{Input: p.Input, Output: p.Output, Currency: cmp.Or(p.Currency, model.DefaultCurrency)}
		}
		all = append(all, shown)
	}
	return all
}

// aliasesOf returns the other names of a model. One that is a model's own name means that model.
func aliasesOf(c *config.Config, name string) []string {
	others := []string{}
	for alias, meant := range c.ModelNames {
		if _, own := c.Models[alias]; meant == name && !own {
			others = append(others, alias)
		}
	}
	slices.Sort(others)
	return others
}

// modelPlace says where a model runs: what has a base URL on this machine or on a private network is local.
func modelPlace(m config.Model) abi.ModelPlace {
	switch m.Provider {
	case model.ProviderScript:
		return abi.ModelLocal
	case model.ProviderClient:
		return abi.ModelClient
	}
	u, err := url.Parse(m.BaseURL)
	if err != nil || m.BaseURL == "" {
		return abi.ModelCloud
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()) ||
		host == "localhost" || strings.HasSuffix(host, ".localhost") || ip == nil && !strings.Contains(host, ".") {
		return abi.ModelLocal
	}
	return abi.ModelCloud
}

// modelAuth returns what asking a model takes, and whether it is there as far as a look tells.
func modelAuth(c *config.Config, m config.Model) (auth abi.ModelAuth, there bool) {
	s := config.Secret{Env: m.APIKeyEnv}
	switch {
	case m.APIKey != "":
		s = c.Secrets[m.APIKey]
	case m.APIKeyEnv == "":
		return abi.ModelAuth{Env: []string{}}, true
	}
	auth = abi.ModelAuth{Required: true, Env: []string{}}
	switch {
	case s.Env != "":
		auth.Env = []string{s.Env}
		return auth, os.Getenv(s.Env) != ""
	case s.File != "":
		_, err := os.Stat(s.File)
		return auth, err == nil
	}
	return auth, len(s.Command) > 0
}

// contextWindows is the setting of the bundled agent by that name: how many tokens models take, by the names that
// they can be asked for by, and under "" the default's. Those of which nobody has said it are not in it.
const contextWindows = "context_windows"

// pluginSettings returns the settings of plugins, with what the agent is told of the models besides.
func pluginSettings(c *config.Config) (settings.Settings, error) {
	all, own := settings.Settings(maps.Clone(c.Settings)), c.Settings[plugins.WorkflowAgent]
	windows := map[string]int{}
	for name, m := range c.Models {
		if m.ContextWindow == 0 {
			continue
		}
		for _, as := range append(aliasesOf(c, name), name) {
			windows[as] = m.ContextWindow
		}
		if isDefault(c, name) {
			windows[""] = m.ContextWindow
		}
	}
	if _, said := own[contextWindows]; said || len(windows) == 0 {
		return all, nil
	}
	text, err := json.Marshal(windows, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	told := maps.Clone(own)
	if told == nil {
		told = map[string]jsontext.Value{}
	}
	told[contextWindows] = text
	if all == nil {
		all = settings.Settings{}
	}
	all[plugins.WorkflowAgent] = told
	return all, nil
}

// isDefault reports whether a model is the one that is asked when none is named.
func isDefault(c *config.Config, name string) bool {
	if c.Model.Default == "" {
		return len(c.Models) == 1
	}
	return name == c.Model.Default || slices.Contains(aliasesOf(c, name), c.Model.Default)
}

package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// checker holds the rules that tie named things to each other.
type checker struct {
	effective *Effective
	problems  Problems
}

func (e *Effective) crossCheckNamed() Problems {
	c := &checker{effective: e}
	for _, name := range slices.Sorted(maps.Keys(e.Config.Secrets)) {
		c.secret("secrets."+name, e.Config.Secrets[name])
	}
	for _, name := range slices.Sorted(maps.Keys(e.Config.Models)) {
		c.model("models."+name, name, e.Config.Models[name])
	}
	for _, name := range slices.Sorted(maps.Keys(e.Config.Tools)) {
		c.tools("tools."+name, e.Config.Tools[name])
	}
	for _, name := range slices.Sorted(maps.Keys(e.Config.Grants)) {
		c.grant("grants."+name, e.Config.Grants[name])
	}
	c.vaults(e.Config.Vaults)
	c.issuers()
	c.tls()
	c.defaults()
	return c.problems
}

// report blames path, at the line of it or of what is below it.
func (c *checker) report(path, format string, args ...any) {
	origin := c.effective.File
	for _, v := range c.effective.Values {
		if name := v.Setting.Name; name == path || strings.HasPrefix(name, path+".") || strings.HasPrefix(name, path+"[") {
			origin = v.Origin
			break
		}
	}
	c.problems = append(c.problems, Problem{Origin: origin, Setting: path, Message: fmt.Sprintf(format, args...)})
}

// exists reports a name that nothing has, together with those there are.
func exists[T any](c *checker, path, kind, name string, all map[string]T) {
	if _, ok := all[name]; ok || name == "" {
		return
	}
	there := "there are none"
	if len(all) > 0 {
		there = "there is " + strings.Join(slices.Sorted(maps.Keys(all)), ", ")
	}
	c.report(path, "names the %s %q, which is not configured: %s", kind, name, there)
}

func (c *checker) secret(path string, s Secret) {
	stated := 0
	for _, is := range []bool{s.Env != "", s.File != "", len(s.Command) > 0} {
		if is {
			stated++
		}
	}
	if stated != 1 {
		c.report(path, "needs exactly one of env, file and command")
	}
}

func (c *checker) model(path, name string, m Model) {
	config := &c.effective.Config
	switch {
	case m.Provider == "":
		c.report(path, "has no provider")
	case m.Provider == "script" && config.Model.Script == "":
		c.report(path, "answers from a script, and models.script is not set")
	case m.Provider == "client" && (m.BaseURL != "" || m.APIKey != "" || m.APIKeyEnv != ""):
		c.report(path, "is the client's own model, and has no base_url and no API key")
	case m.Provider == "client":
	case m.Provider != "script" && m.Model == "":
		c.report(path, "does not say which model of the provider it is: set model")
	case m.Provider != "script" && m.BaseURL == "" && m.APIKey == "" && m.APIKeyEnv == "":
		c.report(path, "has no API key: set api_key or api_key_env, or the base_url of a server that needs none")
	case m.APIKey != "" && m.APIKeyEnv != "":
		c.report(path, "has both api_key and api_key_env")
	case slices.Contains(m.Fallbacks, name):
		c.report(path+".fallbacks", "names the model itself")
	}
	exists(c, path+".api_key", "secret", m.APIKey, config.Secrets)
	for _, fallback := range m.Fallbacks {
		exists(c, path+".fallbacks", "model", fallback, config.Models)
		if config.Models[fallback].Provider == "client" {
			c.report(path+".fallbacks", "names %s, the client's own model, which can only be asked first", fallback)
		}
	}
}

// ownServers are the tool servers that every node has: what the host keeps, the
// Personas as tools, and what clients offer.
var ownServers = []string{engine.ServerHost, engine.ServerSkills, tool.ServerClient}

func (c *checker) tools(path string, s ToolServer) {
	name := strings.TrimPrefix(path, "tools.")
	if name == tool.ServerClient {
		c.clientTools(path, s)
		return
	}
	if slices.Contains(ownServers, name) {
		c.report(path, "the node has a tool server %q of its own: give this one another name", name)
	}
	switch {
	case count(s.Command, s.URL, s.A2A) != 1:
		c.report(path, "needs either command, url or a2a")
	case s.A2A == "" && (s.Hosts != nil || s.Private):
		c.report(path, "has no a2a: hosts and private are for an agent")
	case s.A2A != "" && (s.Args != nil || s.Env != nil || s.Dir != ""):
		c.report(path, "has a2a: args, env and cwd are for a command")
	case s.URL != "" && (s.Args != nil || s.Env != nil || s.Dir != ""):
		c.report(path, "has a url: args, env and cwd are for a command")
	case s.Command != "" && s.Headers != nil:
		c.report(path, "has a command: headers are for a url")
	}
	c.handles(path+".env", s.Env)
	c.handles(path+".headers", s.Headers)
}

// count returns how many of the texts are there.
func count(texts ...string) (n int) {
	for _, text := range texts {
		if text != "" {
			n++
		}
	}
	return n
}

// clientTools checks what the configuration says of the tools that clients offer: what
// they are, and nothing of where.
func (c *checker) clientTools(path string, s ToolServer) {
	if s.Command != "" || s.URL != "" || s.Args != nil || s.Env != nil || s.Dir != "" || s.Headers != nil || s.A2A != "" || s.Hosts != nil || s.Private {
		c.report(path, "stands for the tools of a Session's clients, so that it takes timeout, answer, read_only, idempotent and writes alone: give a server of your own another name")
	}
}

func (c *checker) handles(path string, texts map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		for _, name := range secret.Names(texts[key]) {
			exists(c, path+"."+key, "secret", name, c.effective.Config.Secrets)
		}
	}
}

func (c *checker) grant(path string, g Grant) {
	for _, name := range g.Secrets {
		exists(c, path+".secrets", "secret", name, c.effective.Config.Secrets)
	}
	for _, name := range g.Agents {
		if !strings.Contains(name, "*") && c.effective.Config.Tools[name].A2A == "" {
			c.report(path+".agents", "names the agent %q: no entry of tools has it with a2a", name)
		}
	}
	for _, pattern := range g.Tools {
		if server, _, _ := strings.Cut(pattern, ":"); !strings.Contains(server, "*") {
			if !slices.Contains(ownServers, server) {
				exists(c, path+".tools", "server", server, c.effective.Config.Tools)
			}
		}
	}
}

func (c *checker) defaults() {
	config := &c.effective.Config
	exists(c, "models.default", "model", config.Model.Default, config.Models)
	for _, name := range slices.Sorted(maps.Keys(config.ModelNames)) {
		exists(c, "openharness.models."+name, "model", config.ModelNames[name], config.Models)
	}
}

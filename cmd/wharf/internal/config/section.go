package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml/ast"

	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/spelling"
)

// Section declares what the file may name as it likes: the section's members are
// names, and what stands below each has the declared members. It can be stated in
// the file alone. It belongs to the [Group] of the same name, or to that before the
// dot of its name.
type Section struct {
	Name    string // dotted, as in the file
	Doc     string // of a section within a group; the others have that of the group
	Key     string // what a name is, in a word
	Example string // YAML as it stands below the section
	Members []Member

	valid func(name string) error
	read  func(into *Named, name string, p place)
}

// sectionOf returns the section of the given name, or nil.
func sectionOf(name string) *Section {
	for _, s := range Sections() {
		if s.Name == name {
			return &s
		}
	}
	return nil
}

// sectionsIn returns the sections of a group.
func sectionsIn(group string) (in []Section) {
	for _, s := range Sections() {
		if name, _, _ := strings.Cut(s.Name, "."); name == group {
			in = append(in, s)
		}
	}
	return in
}

// path returns the keys that lead to the section in the file.
func (s *Section) path() []string { return strings.Split(s.Name, ".") }

// section declares things of the type T.
func section[T any](s Section, at func(*Named) *map[string]T, members []member[T]) Section {
	for _, m := range members {
		s.Members = append(s.Members, m.Member)
	}
	s.read = func(into *Named, name string, p place) {
		var t T
		readMembers(p, &t, members)
		put(at(into), name, t)
	}
	return s
}

func put[T any](m *map[string]T, name string, t T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[name] = t
}

// named returns a check of names against a pattern that words explain.
func named(pattern, words string) func(string) error {
	re := regexp.MustCompile("^(?:" + pattern + ")$")
	return func(name string) error {
		if !re.MatchString(name) {
			return fmt.Errorf("%q is no name here: %s", name, words)
		}
		return nil
	}
}

func anyText(string) error { return nil }

// Sections declares every section, in the order of [Groups].
func Sections() []Section {
	return []Section{limitSection(), modelSection(), priceSection(), secretSection(), toolSection(), grantSection(), pluginSection(), issuerSection(), commandSection(), modelNameSection()}
}

func limitSection() Section {
	return section(Section{Name: "plugins.limits", Key: "PLUGIN",
		Doc: "Limits of single plugins, instead of those in tasks. What a Task may use is recorded when it starts.",
		Example: `digest:
  memory: 64MiB
  gas: 5_000_000_000
agent:
  wall_time: 10m
  host_calls: 1_000_000
`, valid: pluginName()},
		func(n *Named) *map[string]RunLimits { return &n.PluginLimits },
		[]member[RunLimits]{
			memberOf("wall_time", period(time.Millisecond, 24*time.Hour), func(l *RunLimits) *time.Duration { return &l.WallTime },
				"As tasks.wall_time."),
			memberOf("memory", size(64*kib, 4*gib), func(l *RunLimits) *int64 { return &l.Memory }, "As tasks.memory."),
			memberOf("host_calls", number(1, 1_000_000_000), func(l *RunLimits) *int { return &l.HostCalls }, "As tasks.host_calls."),
			memberOf("payload", size(kib, gib), func(l *RunLimits) *int64 { return &l.Payload }, "As tasks.payload."),
			memberOf("output", size(kib, 64*gib), func(l *RunLimits) *int64 { return &l.Output }, "As tasks.output."),
			memberOf("gas", number(1000, maxGas), func(l *RunLimits) *int { return &l.Gas }, "As tasks.gas."),
			memberOf("depth", number(64, maxDepth), func(l *RunLimits) *int { return &l.Depth }, "As tasks.depth."),
		})
}

func modelSection() Section {
	return section(Section{Name: "models", Key: "NAME", Example: `fast:
  provider: openai
  base_url: http://127.0.0.1:11434/v1
  model: qwen3:4b
good:
  provider: anthropic
  model: claude-sonnet-4-5
  api_key: {secret: anthropic}
  fallbacks: [fast]
`, valid: named(`[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}`, "at most 64 of A-Z a-z 0-9 _ . : -")},
		func(n *Named) *map[string]Model { return &n.Models },
		[]member[Model]{
			memberOf("provider", choice("openai", "anthropic", "script", "client"), func(m *Model) *string { return &m.Provider },
				"Whose API it speaks. openai is also what Ollama, vLLM, llama.cpp and many others speak; script answers from models.script; client is the model of the client that gave the Task."),
			memberOf("base_url", text(httpURL), func(m *Model) *string { return &m.BaseURL },
				"Where the API is, for openai with its /v1. Empty: the provider's own."),
			memberOf("model", text(notEmpty), func(m *Model) *string { return &m.Model }, "The provider's name of the model."),
			{Member{Name: "api_key", Kind: "{secret: NAME}", Doc: "The secret with the API key. A key never stands in this file."},
				func(m *Model, p place) { m.APIKey = p.reference() }},
			memberOf("api_key_env", text(notEmpty), func(m *Model) *string { return &m.APIKeyEnv },
				"The environment variable with the API key, instead of api_key."),
			memberOf("timeout", period(time.Second, time.Hour), func(m *Model) *time.Duration { return &m.Timeout },
				"How long one attempt may take. 2m if it is not set; a client is waited for without end then."),
			memberOf("retries", number(0, 10), func(m *Model) *int { return &m.Retries },
				"How often a failed attempt is repeated: on 429, on 5xx, when the connection breaks. 0 if it is not set."),
			memberOf("max_tokens", number(1, 10_000_000), func(m *Model) *int { return &m.MaxTokens },
				"The most tokens that one answer may have. Not set: no limit of the node's."),
			memberOf("context_window", number(1, 100_000_000), func(m *Model) *int { return &m.ContextWindow },
				"How many tokens it takes in and gives together, as clients are told. Not set: nobody knows."),
			memberOf("thinking", number(0, 10_000_000), func(m *Model) *int { return &m.Thinking },
				"How many tokens of max_tokens it may think before it answers, for anthropic at least 1024. What it thinks is told to keys with events:internal. Servers of openai think as they do: any number has it told. 0 if it is not set: nothing is told."),
			texts("fallbacks", "Names of models that are asked, in order, when this one fails.", func(m *Model) *[]string { return &m.Fallbacks }, notEmpty),
		})
}

func priceSection() Section {
	return section(Section{Name: "prices", Key: "PROVIDER/MODEL", Example: `anthropic/claude-sonnet-4-5:
  input: 3
  output: 15
`, valid: named(`(openai|anthropic|script)/.+`, "it is provider/model, such as openai/gpt-4.1")},
		func(n *Named) *map[string]Price { return &n.Prices },
		[]member[Price]{
			memberOf("input", decimal(), func(p *Price) *float64 { return &p.Input }, "Of a million input tokens."),
			memberOf("output", decimal(), func(p *Price) *float64 { return &p.Output }, "Of a million output tokens."),
			memberOf("currency", text(named(`[A-Z]{3}`, "a currency is three capital letters")), func(p *Price) *string { return &p.Currency },
				"ISO 4217 code. USD if it is not set."),
		})
}

func secretSection() Section {
	return section(Section{Name: "secrets", Key: "NAME", Example: `anthropic: {env: ANTHROPIC_API_KEY}
crm: {file: /run/secrets/crm, hosts: [crm.example.com]}
vault: {command: [vault, read, -field=token, secret/wharf]}
`, valid: named(secret.NamePattern, "at most 64 of A-Z a-z 0-9 _ . -")},
		func(n *Named) *map[string]Secret { return &n.Secrets },
		[]member[Secret]{
			memberOf("env", text(notEmpty), func(s *Secret) *string { return &s.Env }, "The environment variable with the value."),
			memberOf("file", text(notEmpty), func(s *Secret) *string { return &s.File },
				"The file with the value. A line break at its end does not count."),
			texts("command", "A program and its arguments. What it writes to standard output is the value; a line break at its end does not count. No shell is involved.", func(s *Secret) *[]string { return &s.Command }, anyText),
			texts("hosts", "The hosts that plugins may send the value to, written as in grants. Not set: wherever the plugin may send requests.", func(s *Secret) *[]string { return &s.Hosts }, spelling.CheckHost),
			texts("connectors", "The Connectors, of any tenant, that may check signatures with the value: ids or providers, with * for any characters. Not set: none.", func(s *Secret) *[]string { return &s.Connectors }, globPattern),
		})
}

func toolSection() Section {
	return section(Section{Name: "tools", Key: "SERVER", Example: `files:
  command: npx
  args: [-y, "@modelcontextprotocol/server-filesystem", /srv/files]
tickets:
  url: https://tickets.example.com/mcp
  headers:
    Authorization: Bearer {{secret:tickets}}
  idempotent: [update_*]
coder:
  a2a: https://coder.example.com
  headers:
    Authorization: Bearer {{secret:coder}}
`, valid: named(`[A-Za-z0-9][A-Za-z0-9_-]{0,63}`, "at most 64 of A-Z a-z 0-9 _ -")},
		func(n *Named) *map[string]ToolServer { return &n.Tools }, toolMembers())
}

func toolMembers() []member[ToolServer] {
	return []member[ToolServer]{
		memberOf("command", text(notEmpty), func(s *ToolServer) *string { return &s.Command },
			"The program to start; it speaks over its standard input and output."),
		texts("args", "The program's arguments.", func(s *ToolServer) *[]string { return &s.Args }, anyText),
		secrets("env", "The program's environment. Besides these it gets HOME, LANG, PATH, TMPDIR, USER and what Windows needs, and nothing else of the node's.", func(s *ToolServer) *map[string]string { return &s.Env }),
		memberOf("cwd", text(notEmpty), func(s *ToolServer) *string { return &s.Dir }, "The folder that the program runs in. Not set: the node's."),
		memberOf("url", text(httpURL), func(s *ToolServer) *string { return &s.URL },
			"The URL of a server that speaks streamable HTTP, instead of command."),
		memberOf("a2a", text(httpURL), func(s *ToolServer) *string { return &s.A2A },
			"The URL of an agent that speaks A2A, instead of command and url: of its card, or of the host that has one at /.well-known/agent-card.json. Its skills are the tools, and plugins with a grant may delegate paid work to it ([delegation.md](delegation.md))."),
		texts("hosts", "Further hosts, written as in grants, that the card of an agent may name for requests, which then get the headers, too. Not set: the host of a2a alone.", func(s *ToolServer) *[]string { return &s.Hosts }, spelling.CheckHost),
		memberOf("private", truth(), func(s *ToolServer) *bool { return &s.Private },
			"Whether an agent may have a loopback, private or link-local address, which is refused otherwise, whatever name leads to it."),
		secrets("headers", "Headers of each request to url or a2a.", func(s *ToolServer) *map[string]string { return &s.Headers }),
		memberOf("timeout", period(10*time.Millisecond, time.Hour), func(s *ToolServer) *time.Duration { return &s.Timeout },
			"How long a call may take. 1m if it is not set."),
		memberOf("answer", size(kib, gib), func(s *ToolServer) *int64 { return &s.Answer }, "The largest answer of a call. 4MiB if it is not set."),
		texts("read_only", "Tools that are taken as read-only, whatever they say of themselves: names, with * for any characters.", func(s *ToolServer) *[]string { return &s.ReadOnly }, globPattern),
		texts("idempotent", "Tools that may be called again with the same arguments, whatever they say of themselves.", func(s *ToolServer) *[]string { return &s.Idempotent }, globPattern),
		texts("writes", "Tools that are taken as changing things, and not to be repeated, whatever they say of themselves.", func(s *ToolServer) *[]string { return &s.Writes }, globPattern),
	}
}

// commandSection declares the programs that tenants may have the node start, by name.
func commandSection() Section {
	return Section{Name: "openharness.commands", Key: "NAME",
		Doc: "Programs that tenants may have the node start as servers of tools, as tools and as hooks. They name one, and add arguments to it; they name no other. Whoever may write tool servers runs these programs as the node's user.",
		Example: `files: [npx, -y, "@modelcontextprotocol/server-filesystem", /srv/files]
lint: [/usr/local/bin/lint]
`,
		Members: []Member{{Name: "[PROGRAM, ARGUMENT, …]", Kind: "list of texts", Doc: "The program, and its first arguments. No shell is involved."}},
		valid:   named(`[A-Za-z0-9][A-Za-z0-9_-]{0,63}`, "at most 64 of A-Z a-z 0-9 _ -"),
		read: func(into *Named, name string, p place) {
			words := p.texts(anyText)
			if len(words) == 0 || words[0] == "" {
				p.problem("names no program")
			}
			put(&into.Commands, name, words)
		}}
}

// modelNameSection declares the names that clients of the Open Harness API have for models.
func modelNameSection() Section {
	return Section{Name: "openharness.models", Key: "NAME",
		Doc: "Names by which clients and bundles of agents ask for models, and the models of the section models that they mean. sonnet, opus and haiku mean the default where nothing else is said.",
		Example: `opus: good
gpt-5: good
haiku: fast
`,
		Members: []Member{{Name: "MODEL", Kind: "text", Doc: "The name of a model of the section models."}},
		valid:   named(`[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}`, "at most 128 of A-Z a-z 0-9 . _ : / -"),
		read: func(into *Named, name string, p place) {
			text, ok := p.plain()
			if !ok {
				return
			}
			if text == "" {
				p.problem("names no model")
			}
			p.states(text)
			put(&into.ModelNames, name, text)
		}}
}

func grantSection() Section {
	return section(Section{Name: "grants", Key: "PLUGIN", Example: `agent:
  models: ["*"]
  tools: ["files:read_*", "tickets:*"]
  agents: [coder]
  secrets: [crm]
  http:
    - hosts: [crm.example.com, "*.example.org:8443"]
      methods: [GET, POST]
`, valid: pluginName()},
		func(n *Named) *map[string]Grant { return &n.Grants },
		[]member[Grant]{
			{Member{Name: "http", Kind: "list of {hosts, methods, private}",
				Doc: "Hosts that requests may go to: exact names, or *.example.com for any name below it, with :PORT or else the port of http or https. methods: GET and HEAD if they are not set. private: true also allows loopback, private and link-local addresses, which are refused otherwise, whatever name leads to them."},
				func(g *Grant, p place) { p.items(func(item place) { g.HTTP = append(g.HTTP, readHTTPGrant(item)) }) }},
			texts("secrets", "Names of secrets.", func(g *Grant) *[]string { return &g.Secrets }, notEmpty),
			texts("tools", "Tools as SERVER:TOOL, with * for any characters. Every node has the servers host (time_now, memory_search, memory_save, memory_replace, memory_append, artifact_read, skill_read, plan_set, ask, and file_* for the files of the Workspace) and skills (each Persona, as a child Task).", func(g *Grant) *[]string { return &g.Tools }, toolPattern),
			texts("agents", "Agents of the section tools, with * for any characters, that the plugin may delegate paid work to.", func(g *Grant) *[]string { return &g.Agents }, globPattern),
			texts("models", "Models, with * for any characters. When no plugin has this, all plugins may use all models; as soon as one has, each needs it.", func(g *Grant) *[]string { return &g.Models }, globPattern),
		})
}

func readHTTPGrant(p place) (g HTTPGrant) {
	readMembers(p, &g, []member[HTTPGrant]{
		texts("hosts", "", func(g *HTTPGrant) *[]string { return &g.Hosts }, spelling.CheckHost),
		texts("methods", "", func(g *HTTPGrant) *[]string { return &g.Methods }, named(`[A-Z]{1,32}`, "a method is written in capitals, such as GET")),
		memberOf("private", truth(), func(g *HTTPGrant) *bool { return &g.Private }, ""),
	})
	if len(g.Hosts) == 0 {
		p.problem("has no hosts")
	}
	return g
}

func pluginSection() Section {
	return Section{Name: "settings", Key: "PLUGIN", Example: `agent:
  greeting: Hello.
  languages: [en, de]
`,
		Members: []Member{{Name: "SETTING", Kind: "anything", Doc: "A value that the plugin reads by this name. It is not a place for secrets: the plugin sees it, and records of Tasks hold it."}},
		valid:   pluginName(),
		read: func(into *Named, name string, p place) {
			values := map[string]jsontext.Value{}
			p.members(func(setting string, _ ast.Node, value place) { values[setting] = value.json() })
			put(&into.Settings, name, values)
		}}
}

func pluginName() func(string) error {
	return named(`[A-Za-z0-9_./-]{1,128}`, "it is the name of a plugin")
}

func toolPattern(pattern string) error {
	server, tool, ok := strings.Cut(pattern, ":")
	if !ok || server == "" || tool == "" {
		return fmt.Errorf("%q is not SERVER:TOOL, such as files:read_*", pattern)
	}
	return globPattern(pattern)
}

func globPattern(pattern string) error {
	if pattern == "" {
		return errors.New("must not be empty")
	}
	if strings.ContainsAny(pattern, `?[]\`) {
		return fmt.Errorf("%q is no pattern: * alone stands for any characters", pattern)
	}
	return nil
}

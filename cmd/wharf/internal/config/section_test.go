package config

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const everything = `
models:
  default: good
  script: answers.json
  fast: {provider: openai, base_url: "http://127.0.0.1:11434/v1", model: "qwen3:4b"}
  good:
    provider: anthropic
    model: claude
    api_key: {secret: key}
    timeout: 30s
    retries: 3
    max_tokens: 1_000
    fallbacks: [fast, canned]
  canned:
    provider: script
prices:
  anthropic/claude: {input: 3, output: 15.5, currency: EUR}
secrets:
  key: {env: KEY}
  crm:
    file: /run/crm
    hosts: [crm.example.com, "*.example.org:8443"]
  vault: {command: [vault, read, token]}
tools:
  files:
    command: npx
    args: [-y, server]
    env: {TOKEN: {secret: crm}, MODE: ro}
    cwd: /srv
    answer: 1MiB
  tickets:
    url: https://tickets.example.com/mcp
    headers:
      Authorization: Bearer {{secret:key}}
    timeout: 5s
    read_only: [get_*]
    idempotent: update
    writes: ["*"]
grants:
  agent:
    http:
      - {hosts: [api.example.com], methods: [GET, POST]}
      - hosts: 127.0.0.1:9000
        private: true
    secrets: [crm]
    tools: ["files:read_*", "tickets:*"]
    models: [good]
settings:
  agent:
    greeting: |
      Hello.
      There.
    nested: {b: [1, true, null, "x"], a: 2.5}
receipts:
  issue: required
plugins:
  dir: plugins
  limits:
    agent: {gas: 1_000_000, depth: 100, memory: 1MiB, wall_time: 5s, host_calls: 7, payload: 1KiB, output: 2KiB}
    echo: {gas: 2000}
openharness:
  private: true
  commands:
    lint: [/usr/bin/lint, --all]
    plain: cat
  models: {opus: good, vendor/gpt-5.1: fast}
`

func TestNamedThings(t *testing.T) {
	eff, err := load(t, everything, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	want := Named{
		Models: map[string]Model{
			"fast": {Provider: "openai", BaseURL: "http://127.0.0.1:11434/v1", Model: "qwen3:4b"},
			"good": {Provider: "anthropic", Model: "claude", APIKey: "key", Timeout: 30 * time.Second, Retries: 3,
				MaxTokens: 1000, Fallbacks: []string{"fast", "canned"}},
			"canned": {Provider: "script"},
		},
		Prices: map[string]Price{"anthropic/claude": {Input: 3, Output: 15.5, Currency: "EUR"}},
		Secrets: map[string]Secret{
			"key": {Env: "KEY"}, "crm": {File: "/run/crm", Hosts: []string{"crm.example.com", "*.example.org:8443"}},
			"vault": {Command: []string{"vault", "read", "token"}},
		},
		Tools: map[string]ToolServer{
			"files": {Command: "npx", Args: []string{"-y", "server"}, Dir: "/srv", Answer: 1 << 20,
				Env: map[string]string{"TOKEN": "{{secret:crm}}", "MODE": "ro"}},
			"tickets": {URL: "https://tickets.example.com/mcp", Timeout: 5 * time.Second,
				Headers:  map[string]string{"Authorization": "Bearer {{secret:key}}"},
				ReadOnly: []string{"get_*"}, Idempotent: []string{"update"}, Writes: []string{"*"}},
		},
		Grants: map[string]Grant{"agent": {
			HTTP: []HTTPGrant{{Hosts: []string{"api.example.com"}, Methods: []string{"GET", "POST"}},
				{Hosts: []string{"127.0.0.1:9000"}, Private: true}},
			Secrets: []string{"crm"}, Tools: []string{"files:read_*", "tickets:*"}, Models: []string{"good"},
		}},
		PluginLimits: map[string]RunLimits{
			"agent": {Gas: 1_000_000, Depth: 100, Memory: 1 << 20, WallTime: 5 * time.Second, HostCalls: 7, Payload: 1 << 10, Output: 2 << 10},
			"echo":  {Gas: 2000},
		},
		Commands:   map[string][]string{"lint": {"/usr/bin/lint", "--all"}, "plain": {"cat"}},
		ModelNames: map[string]string{"opus": "good", "vendor/gpt-5.1": "fast"},
		Settings: map[string]map[string]jsontext.Value{"agent": {
			"greeting": jsontext.Value(`"Hello.\nThere.\n"`), "nested": jsontext.Value(`{"a":2.5,"b":[1,true,null,"x"]}`),
		}},
	}
	if !reflect.DeepEqual(eff.Config.Named, want) {
		t.Errorf("got  %+v\nwant %+v", eff.Config.Named, want)
	}
	if c := eff.Config; c.Model != (ModelDefaults{"good", filepath.Join(filepath.Dir(eff.File), "answers.json")}) || c.Receipts.Issue != "required" || c.OpenHarness.Private != "true" {
		t.Errorf("got %+v, %+v, %+v", c.Model, c.Receipts, c.OpenHarness)
	}
}

func TestNamedThingsAreShownWithTheirLine(t *testing.T) {
	eff, err := load(t, everything, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, v := range eff.Values {
		shown[v.Setting.Name] = v.Text + " from " + strings.Replace(v.Origin, eff.File, "FILE", 1)
	}
	for name, want := range map[string]string{
		"models.good.api_key":          "{secret: key} from FILE:9",
		"models.good.max_tokens":       "1000 from FILE:12",
		"tools.files.env.TOKEN":        "{secret: crm} from FILE:28",
		"grants.agent.http[1].private": "true from FILE:44",
		"plugins.limits.agent.gas":     "1000000 from FILE:59",
		"settings.agent.nested":        `{"a":2.5,"b":[1,true,null,"x"]} from FILE:53`,
	} {
		if shown[name] != want {
			t.Errorf("%s = %s, want %s", name, shown[name], want)
		}
	}
}

func TestMistakesInNamedThings(t *testing.T) {
	const ok = "secrets: {key: {env: K}}\n"
	for _, test := range []struct{ name, file, want string }{
		{"misspelt member", "models:\n  m:\n    provder: openai\n", `FILE:3: there is no setting "models.m.provder": did you mean "models.m.provider"?`},
		{"unlike any", "secrets:\n  s: {xyzzyplugh: 1}\n", `secrets.s has env, file, command, hosts`},
		{"misspelt section", "grant: {}\n", `there is no setting "grant": did you mean "grants"?`},
		{"no program", "openharness:\n  commands:\n    lint: []\n", "FILE:3: openharness.commands.lint: names no program"},
		{"an empty program", "openharness:\n  commands: {lint: [\"\", x]}\n", "openharness.commands.lint: names no program"},
		{"a program of members", "openharness:\n  commands: {lint: {run: x}}\n", "openharness.commands.lint: has to be a single value"},
		{"a command's name", "openharness:\n  commands: {\"a b\": x}\n", `"a b" is no name here`},
		{"a name for no model", "models:\n  m: {provider: script}\nopenharness:\n  models: {opus: n}\n", `FILE:4: openharness.models.opus: names the model "n", which is not configured: there is m`},
		{"a name for nothing", "openharness:\n  models: {opus: \"\"}\n", "openharness.models.opus: names no model"},
		{"a name for two models", "openharness:\n  models: {opus: [a, b]}\n", "openharness.models.opus: has to be a single value"},
		{"literal key", "models:\n  m: {provider: openai, model: x, api_key: sk-12345}\n", "FILE:2: models.m.api_key: has to have members"},
		{"other member of a reference", "models:\n  m: {provider: openai, model: x, api_key: {env: X}}\n", `has no member "env": write {secret: NAME}`},
		{"choice", "models:\n  m: {provider: google}\n", `FILE:2: models.m.provider: "google" is not one of openai, anthropic, script`},
		{"no provider", "models:\n  m: {model: x}\n", "FILE:2: models.m: has no provider"},
		{"no key", "models:\n  m: {provider: openai, model: x}\n", "models.m: has no API key"},
		{"two keys", ok + "models:\n  m: {provider: openai, model: x, api_key: {secret: key}, api_key_env: K}\n", "has both api_key and api_key_env"},
		{"no script", "models:\n  m: {provider: script}\n", "models.script is not set"},
		{"default", "models:\n  default: big\n", `FILE:2: models.default: names the model "big", which is not configured: there are none`},
		{"fallback", ok + "models:\n  m: {provider: openai, model: x, api_key_env: K, fallbacks: [n]}\n", `names the model "n", which is not configured: there is m`},
		{"own fallback", "models:\n  m: {provider: openai, model: x, api_key_env: K, fallbacks: [m]}\n", "names the model itself"},
		{"empty", "models:\n  m:\n", "FILE:2: models.m: is empty"},
		{"scalar", "models:\n  m: gpt\n", "FILE:2: models.m: has to have members"},
		{"price name", "prices:\n  gpt: {input: 1}\n", `"gpt" is no name here: it is provider/model`},
		{"price", "prices:\n  openai/gpt: {input: -1}\n", `FILE:2: prices.openai/gpt.input: "-1" is not a number of at least 0`},
		{"currency", "prices:\n  openai/gpt: {currency: euro}\n", "three capital letters"},
		{"no source", "secrets:\n  s: {hosts: [a]}\n", "FILE:2: secrets.s: needs exactly one of env, file and command"},
		{"two sources", "secrets:\n  s: {env: A, file: b}\n", "needs exactly one of env, file and command"},
		{"secret name", "secrets:\n  a b: {env: A}\n", `"a b" is no name here`},
		{"unknown secret", "models:\n  m: {provider: openai, model: x, api_key: {secret: nope}}\n", `FILE:2: models.m.api_key: names the secret "nope", which is not configured: there are none`},
		{"secret of a header", ok + "tools:\n  t:\n    url: http://a/b\n    headers:\n      X: a {{secret:nope}}\n", `FILE:6: tools.t.headers.X: names the secret "nope", which is not configured: there is key`},
		{"neither", "tools:\n  t: {timeout: 5s}\n", "tools.t: needs either command, url or a2a"},
		{"clients elsewhere", "tools:\n  client: {url: http://a/b}\n", "tools.client: stands for the tools of a Session's clients"},
		{"both", "tools:\n  t: {command: a, url: http://a/b}\n", "tools.t: needs either command, url or a2a"},
		{"args of a url", "tools:\n  t: {url: http://a/b, args: [x]}\n", "args, env and cwd are for a command"},
		{"headers of a command", "tools:\n  t: {command: x, headers: {a: b}}\n", "headers are for a url"},
		{"timeout", "tools:\n  t: {command: x, timeout: 3d}\n", "FILE:2: tools.t.timeout: 3d is not within 10ms to 1h"},
		{"host", "grants:\n  p:\n    http: [{hosts: [\"https://x\"]}]\n", `FILE:3: grants.p.http[0].hosts[0]: "https://x" is not`},
		{"host port", "grants:\n  p: {http: {hosts: \"x:99999\"}}\n", "no port from 0 to 65535"},
		{"star within", "grants:\n  p: {http: {hosts: \"a.*.com\"}}\n", "is not a host"},
		{"no hosts", "grants:\n  p:\n    http: [{methods: [GET]}]\n", "FILE:3: grants.p.http[0]: has no hosts"},
		{"method", "grants:\n  p: {http: [{hosts: [a], methods: [get]}]}\n", "written in capitals"},
		{"key of vaults", "vaults: {key: x}\n", `vaults.key: names the secret "x", which is not configured`},
		{"granted key of vaults", ok + "vaults: {key: key}\ngrants:\n  p: {secrets: [key]}\n", `names the secret "key", which is the key of the vaults`},
		{"prefix of vaults", "vaults: {env: WHARF_}\n", "is no prefix such as VAULT_"},
		{"no prefix of vaults", "vaults: {env: \"A=B\"}\n", "is no prefix such as VAULT_"},
		{"granted secret", "grants:\n  p: {secrets: [x]}\n", `FILE:2: grants.p.secrets: names the secret "x"`},
		{"a server of the node's own", "tools:\n  host: {url: http://a/b}\n", `the node has a tool server "host" of its own`},
		{"granted tools", "grants:\n  p: {tools: [\"x:y\"]}\n", `names the server "x", which is not configured`},
		{"tool pattern", "grants:\n  p: {tools: [read]}\n", `"read" is not SERVER:TOOL`},
		{"pattern", "grants:\n  p: {models: [\"[a]\"]}\n", "* alone stands for any characters"},
		{"plugin name", "settings:\n  a b: {x: 1}\n", "it is the name of a plugin"},
		{"settings", "settings:\n  a: 3\n", "FILE:2: settings.a: has to have members"},
		{"no JSON", "settings:\n  a: {x: .inf}\n", "FILE:2: settings.a.x: is no JSON"},
		{"limit of a plugin", "plugins:\n  limits:\n    p: {memory: 1KiB}\n", "FILE:3: plugins.limits.p.memory: 1KiB is not within 64KiB to 4GiB"},
		{"misspelt limit", "plugins:\n  limits:\n    p: {memry: 1MiB}\n", `did you mean "plugins.limits.p.memory"?`},
		{"misspelt limits", "plugins:\n  limts: {}\n", `FILE:2: there is no setting "plugins.limts": did you mean "plugins.limits"?`},
		{"no plugin", "plugins:\n  limits: 3\n", "FILE:2: plugins.limits: is a group of settings"},
		{"colon within brackets and braces", "oauth:\n  issuers:\n    x: {issuer: \"https://x.example\", audience: a, scopes: [tasks:read]}\n",
			"FILE:3: oauth.issuers.x.scopes[0]: has to be a single value; put a text with a colon in quotes"},
		{"list where a value belongs", "secrets:\n  s: {env: [a]}\n", "FILE:2: secrets.s.env: has to be a single value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := load(t, test.file, Sources{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestSectionExamples holds that what the documents show can be used as it is.
func TestSectionExamples(t *testing.T) {
	var file strings.Builder
	head := ""
	for _, s := range Sections() {
		example := nested(s.path(), s.Example)
		if own := s.path()[0] + ":\n"; own == head {
			example = strings.TrimPrefix(example, head) // as a second section of the same head is written
		} else {
			head = own
		}
		file.WriteString(example)
		if s.Name == "secrets" { // which another section's example names
			file.WriteString("  tickets: {env: TICKETS}\n  coder: {env: CODER}\n")
		}
	}
	if _, err := load(t, file.String(), Sources{}); err != nil {
		t.Errorf("%v\n%s", err, file.String())
	}
}

// What is known of the tools of clients is said under their server's name, without
// saying where that is.
func TestToolsOfClients(t *testing.T) {
	eff, err := load(t, "tools:\n  client: {read_only: [look_*], timeout: 5s}\n", Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if got := eff.Config.Tools["client"]; !slices.Equal(got.ReadOnly, []string{"look_*"}) || got.Timeout != 5*time.Second {
		t.Errorf("read as %+v", got)
	}
}

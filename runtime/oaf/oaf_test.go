package oaf_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/oaf"
)

const minimal = `---
name: "Simple Assistant"
vendorKey: "acme"
agentKey: "simple"
version: "1.0.0"
slug: "acme/simple"
description: "A simple helpful assistant"
author: "@acme"
license: "MIT"
tags: ["assistant"]
---

# Agent Purpose

I am a simple helpful assistant.
`

const full = `---
# Who it is
name: Researcher   # shown to people
vendorKey: acme
agentKey: researcher
version: 1.2.0-rc.1
slug: acme/researcher
description: >
  Looks things up, compares what it finds,
  and says where it has found it.
author: "@acme"
license: Apache-2.0 OR MIT
tags:
- search
- "écrit"
skills:
  - name: web-search
    source: local
    version: 1.0.0
    required: true
  - name: pdf
    source: https://example.com/.well-known/skills/pdf
mcpServers:
  - vendor: block
    server: filesystem
    version: "1.0.0"
    configDir: mcp-configs/fs
    required: true
agents:
  - vendor: acme
    agent: reviewer
    version: 1.0.0
    role: reviewer
tools: ["Read", "Bash"]
config:
  # How warm
  temperature: 0.7
  max_tokens: 4096
  require_confirmation: true
  x-own: kept
  tools:
    allowed: [read, web_fetch, "weather:*", mcp__gh__issues]
    denied: [Bash]
memory:
  type: read-only
  blocks:
    personality: "dry"
    user_context: default
model:
  provider: anthropic
  name: claude-sonnet-4-5
harnessConfig:
  goose: {docker-image: "python:3.11"}
# the end
---

You look things up.

---
Not a front matter.
`

// tree is a bundle with the given files, in pairs of path and content.
func tree(pairs ...string) *filetree.Tree {
	t := &filetree.Tree{}
	for i := 0; i < len(pairs); i += 2 {
		t.Files = append(t.Files, filetree.File{Path: pairs[i], Content: []byte(pairs[i+1])})
	}
	slices.SortFunc(t.Files, func(a, b filetree.File) int { return strings.Compare(a.Path, b.Path) })
	return t
}

func codes(findings []oaf.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, fmt.Sprintf("%s %s:%d", f.Code, f.File, f.Line))
	}
	return all
}

// What a front matter says is read, whether it is a text, a list or nested.
func TestReads(t *testing.T) {
	r := oaf.Read(tree("AGENTS.md", full, "docs/a.md", "a", "skills/web-search/SKILL.md", "s", "mcp-configs/fs/ActiveMCP.json",
		`{"selectedTools":[{"name":"read_file","enabled":true},{"name":"off","enabled":false}],"excludedTools":["chmod"],"contextStrategy":"subset"}`), nil)
	if len(r.Errors) > 0 || len(r.Agents) != 1 {
		t.Fatal(codes(r.Errors))
	}
	a := r.Agents[0]
	if a.Name != "Researcher" || a.Version != "1.2.0-rc.1" || a.Description != "Looks things up, compares what it finds, and says where it has found it." ||
		a.License != "Apache-2.0 OR MIT" || fmt.Sprint(a.Tags) != "[search écrit]" || a.Instructions != "You look things up.\n\n---\nNot a front matter." {
		t.Errorf("%+v", a.Fields)
	}
	if *a.Temperature != 0.7 || a.MaxTokens != 4096 || !a.Confirm || !a.ReadOnly || a.Model != (oaf.Model{Provider: "anthropic", Name: "claude-sonnet-4-5"}) {
		t.Errorf("%+v", a)
	}
	if len(a.Skills) != 2 || !a.Skills[0].Local() || a.Skills[1].Local() || a.SkillTree("web-search").Files[0].Path != "SKILL.md" || a.SkillTree("pdf") != nil {
		t.Errorf("%+v", a.Skills)
	}
	if fmt.Sprintf("%+v", a.Servers) != "[{Vendor:block Name:filesystem Version:1.0.0 Required:true Tools:[read_file] Excluded:[chmod]}]" ||
		fmt.Sprint(a.Subagents) != "[{acme reviewer 1.0.0 reviewer false}]" || fmt.Sprint(a.Blocks) != "[{personality dry} {user_context default}]" {
		t.Errorf("%+v %+v %+v", a.Servers, a.Subagents, a.Blocks)
	}
	allow, deny, unknown := a.Patterns()
	if fmt.Sprint(allow, deny, unknown) != "[host:file_read weather:* gh:issues] [*:Bash] [web_fetch]" {
		t.Error(allow, deny, unknown)
	}
}

// An agent that is allowed some tools, none of which is here, has none: not all.
func TestNoToolIsNotEveryTool(t *testing.T) {
	f := &oaf.Fields{Allow: []string{"Bash", "python"}}
	allow, deny, unknown := f.Patterns()
	if len(allow) != 0 || fmt.Sprint(deny) != "[*]" || len(unknown) != 2 {
		t.Error(allow, deny, unknown)
	}
	if allow, deny, _ = (&oaf.Fields{}).Patterns(); len(allow)+len(deny) != 0 {
		t.Error(allow, deny)
	}
}

// Whatever is wrong is said with its code, its file and its line.
func TestRefuses(t *testing.T) {
	edit := func(old, new string) *filetree.Tree {
		if !strings.Contains(minimal, old) {
			t.Fatal(old)
		}
		return tree("AGENTS.md", strings.Replace(minimal, old, new, 1))
	}
	with := func(line string) *filetree.Tree { return edit("tags:", line+"\ntags:") }
	for name, try := range map[string]struct {
		t    *filetree.Tree
		want string
	}{
		"no file":            {tree("README.md", "x"), "AGENT_MISSING AGENTS.md:0"},
		"deeper":             {tree("a/b/AGENTS.md", minimal), "AGENT_MISSING AGENTS.md:0"},
		"several":            {tree("a/AGENTS.md", minimal, "b/AGENTS.md", minimal), "AGENTS_WITHOUT_PACKAGE PACKAGE.yaml:0"},
		"no front matter":    {tree("AGENTS.md", "# Hi"), "FRONT_MATTER_MISSING AGENTS.md:1"},
		"not closed":         {tree("AGENTS.md", "---\nname: x\n"), "FRONT_MATTER_UNCLOSED AGENTS.md:1"},
		"no yaml":            {edit("name: \"Simple", "name: \"Simple\": [\n"), "YAML_INVALID AGENTS.md:2"},
		"aliases":            {with("a: &a [x]\nb: [*a, *a]"), "YAML_ALIAS AGENTS.md:10"},
		"no UTF-8":           {edit("I am", "\xff"), "SKILL_NOT_UTF8 AGENTS.md:15"},
		"name missing":       {edit("name: \"Simple Assistant\"\n", ""), "FIELD_MISSING AGENTS.md:1"},
		"empty":              {edit("\"@acme\"", "\"\""), "FIELD_MISSING AGENTS.md:8"},
		"tags missing":       {edit("tags: [\"assistant\"]\n", ""), "FIELD_MISSING AGENTS.md:1"},
		"type":               {edit("\"@acme\"", "[a]"), "FIELD_TYPE AGENTS.md:8"},
		"twice":              {with("slug: again"), "KEY_DUPLICATE AGENTS.md:10"},
		"key":                {edit("\"acme\"", "\"Acme Inc\""), "FIELD_INVALID AGENTS.md:3"},
		"version":            {edit("\"1.0.0\"", "\"1.0\""), "VERSION_INVALID AGENTS.md:5"},
		"license":            {edit("\"MIT\"", "\"MIT-7\""), "LICENSE_UNKNOWN AGENTS.md:9"},
		"license form":       {edit("\"MIT\"", "\"MIT or so\""), "LICENSE_UNKNOWN AGENTS.md:9"},
		"one license of two": {edit("\"MIT\"", "\"MIT AND (Nope-1.0 OR ISC)\""), "LICENSE_UNKNOWN AGENTS.md:9"},
		"name too long":      {edit("Simple Assistant", strings.Repeat("n", 101)), "FIELD_TOO_LONG AGENTS.md:2"},
		"hot":                {with("config: {temperature: 1.01}"), "FIELD_INVALID AGENTS.md:10"},
		"no number":          {with("config:\n  temperature: \"0.7\""), "FIELD_INVALID AGENTS.md:11"},
		"half tokens":        {with("config: {max_tokens: 1.5}"), "FIELD_INVALID AGENTS.md:10"},
		"tokens":             {with("config: {max_tokens: 200001}"), "FIELD_INVALID AGENTS.md:10"},
		"skill":              {with("skills:\n  - name: none\n    source: local\n    required: true"), "SKILL_MISSING AGENTS.md:11"},
		"skill out":          {with("skills:\n  - name: ../x\n    source: local"), "FIELD_INVALID AGENTS.md:11"},
		"server":             {with("mcpServers: [{vendor: x}]"), "FIELD_MISSING AGENTS.md:10"},
		"block":              {with("memory: {blocks: {\"a b\": x}}"), "FIELD_INVALID AGENTS.md:10"},
		"long instructions":  {edit("I am", strings.Repeat("ä", 100_001)), "FIELD_TOO_LONG AGENTS.md:13"},
	} {
		r := oaf.Read(try.t, nil)
		if got := codes(r.Errors); len(r.Agents) > 0 || len(got) == 0 || !slices.Contains(got, try.want) {
			t.Errorf("%s: %v, want %s", name, got, try.want)
		}
	}
	r := oaf.Read(edit("Simple Assistant", strings.Repeat("ä", 100)), nil)
	if len(r.Errors) > 0 || fmt.Sprint(codes(r.Warnings)) != "[DESCRIPTION_LENGTH AGENTS.md:7]" {
		t.Error(codes(r.Errors), codes(r.Warnings))
	}
	if r := oaf.Read(edit("\"acme/simple\"", "simple"), nil); len(r.Errors) > 0 || !slices.Contains(codes(r.Warnings), "SLUG_UNUSUAL AGENTS.md:6") || r.Agents[0].Slug != "simple" {
		t.Error(codes(r.Errors), codes(r.Warnings))
	}
}

// One agent at the root, one in a folder, several by a PACKAGE.yaml of each published form.
func TestPlaces(t *testing.T) {
	second := strings.ReplaceAll(minimal, "simple", "other")
	if a := oaf.Read(tree("AGENTS.md", minimal, "sub/AGENTS.md", second), nil).Agents; len(a) != 1 || a[0].Folder != "" || len(a[0].Files) != 1 {
		t.Errorf("%+v", a)
	}
	if a := oaf.Read(tree("README.md", "r", "my-agent/AGENTS.md", minimal, "my-agent/docs/x.md", "x"), nil).Agents; len(a) != 1 || a[0].Folder != "my-agent" || a[0].Files[0].Path != "docs/x.md" {
		t.Errorf("%+v", a)
	}
	for _, pack := range []string{
		"format: oaf-package\nagents:\n  - slug: acme/other\n    version: 1.0.0\n  - slug: acme/simple\ncontents:\n  mode: bundled\n",
		"---\nagents:\n- slug: acme/other\n- slug: acme/simple\ncontents_mode: \"referenced\"\n",
		"agents: [other, a]\n",
	} {
		r := oaf.Read(tree("PACKAGE.yaml", pack, "a/AGENTS.md", minimal, "b/AGENTS.md", second), nil)
		if len(r.Errors) > 0 || len(r.Agents) != 2 || r.Agents[0].AgentKey != "other" || r.Agents[1].AgentKey != "simple" {
			t.Error(pack, codes(r.Errors), len(r.Agents))
		}
	}
	for _, pack := range []string{"agents: [acme/none]\n", "agents: nobody\n", "a: *b\n", "\x00"} {
		if r := oaf.Read(tree("PACKAGE.yaml", pack, "a/AGENTS.md", minimal), nil); len(r.Errors) == 0 || r.Errors[0].File != "PACKAGE.yaml" {
			t.Errorf("%q: %v", pack, codes(r.Errors))
		}
	}
}

// What the uploader says comes before what the bundle says, and fills what it does not say.
func TestFills(t *testing.T) {
	bare := strings.Replace(strings.Replace(minimal, "name: \"Simple Assistant\"\n", "", 1), "description: \"A simple helpful assistant\"\n", "", 1)
	r := oaf.Read(tree("AGENTS.md", bare), &oaf.Fill{Name: "Given: \"it\"", Description: "What\nit does"})
	if len(r.Errors) > 0 || r.Agents[0].Name != "Given: \"it\"" || r.Agents[0].Description != "What\nit does" {
		t.Fatal(codes(r.Errors))
	}
	again, err := oaf.Manifest(r.Agents[0].Text)
	if err != nil || again.Name != r.Agents[0].Name {
		t.Error(again, err)
	}
}

// What is written anew says what it is to say; comments, keys that are not known and all other
// lines stay, byte by byte.
func TestRewrites(t *testing.T) {
	before, err := oaf.Manifest([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if same, err := oaf.Rewrite([]byte(full), before); err != nil || string(same) != full {
		t.Errorf("%v\n%s", err, same)
	}
	want := *before
	heat := 0.25
	want.Name, want.Description, want.Temperature, want.Model = "Finder", "Finds: \"things\" # all", &heat, oaf.Model{Name: "sonnet"}
	want.MaxTokens, want.Allow, want.Tags = 0, []string{"Read"}, nil
	got, err := oaf.Rewrite([]byte(full), &want)
	if err != nil {
		t.Fatal(err)
	}
	expected := full
	for _, change := range [][2]string{
		{"name: Researcher   # shown to people", `name: "Finder"`},
		{"description: >\n  Looks things up, compares what it finds,\n  and says where it has found it.\n", "description: \"Finds: \\\"things\\\" # all\"\n"},
		{"tags:\n- search\n- \"écrit\"\n", "tags: []\n"},
		{"tools: [\"Read\", \"Bash\"]\n", ""},
		{"  temperature: 0.7\n  max_tokens: 4096\n", "  temperature: 0.25\n"},
		{"allowed: [read, web_fetch, \"weather:*\", mcp__gh__issues]", `allowed: ["Read"]`},
		{"model:\n  provider: anthropic\n  name: claude-sonnet-4-5\n", "model: \"sonnet\"\n"},
	} {
		if !strings.Contains(expected, change[0]) {
			t.Fatal(change[0])
		}
		expected = strings.Replace(expected, change[0], change[1], 1)
	}
	if string(got) != expected {
		t.Errorf("it is\n%s\nwant\n%s", got, expected)
	}
}

// Any fields can be written, into any of these texts, and are read again as they are.
func TestWhatIsWrittenIsRead(t *testing.T) {
	texts := []string{full, minimal, "---\n---\n", "---\n{name: a, config: {x: [1, {y: z}]}}\n---\nbody", strings.ReplaceAll(minimal, "\n", "\r\n"),
		"---\nname: |\n  a\n  # b\n\n# c\nconfig:\n    tools:\n        denied:\n        - a\n        # d\n---\n", "---\nconfig:\nmodel: sonnet\n---\n"}
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.Custom(func(t *rapid.T) string { return strings.TrimSpace(rapid.StringN(1, 40, -1).Draw(t, "text")) }).Filter(func(s string) bool {
			return s != "" && !strings.ContainsRune(s, 0)
		})
		some := rapid.SliceOfN(line, 1, 3)
		want := oaf.Fields{Name: line.Draw(t, "name"), Description: line.Draw(t, "description"), Author: line.Draw(t, "author"), Tags: some.Draw(t, "tags"), Deny: some.Draw(t, "deny")}
		want.VendorKey, want.AgentKey, want.Slug, want.Version, want.License = "a", "b-2", "a/b-2", "1.0.0", "MIT"
		if rapid.Bool().Draw(t, "more") {
			heat := rapid.Float64Range(0, 1).Draw(t, "heat")
			want.Temperature, want.MaxTokens, want.Allow = &heat, rapid.IntRange(1, 200_000).Draw(t, "tokens"), some.Draw(t, "allow")
			want.Model = oaf.Model{Name: line.Draw(t, "model"), Provider: line.Draw(t, "provider")}
			want.Instructions = line.Draw(t, "instructions")
		}
		for _, text := range append(texts, "") {
			var got []byte
			var err error
			if text == "" {
				got = oaf.Compose(&want, nil, nil)
			} else if got, err = oaf.Rewrite([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			is, err := oaf.Manifest(got)
			if err != nil {
				t.Fatalf("%v\n%s", err, got)
			}
			is.Instructions, want.Instructions = strings.TrimSpace(is.Instructions), strings.TrimSpace(want.Instructions)
			if fmt.Sprintf("%q %v", fields(is), is.Temperature != nil) != fmt.Sprintf("%q %v", fields(&want), want.Temperature != nil) {
				t.Fatalf("it is %q\nwant %q\n%s", fields(is), fields(&want), got)
			}
		}
	})
}

func fields(f *oaf.Fields) []string {
	heat := ""
	if f.Temperature != nil {
		heat = fmt.Sprint(*f.Temperature)
	}
	return []string{f.Name, f.Description, f.Author, fmt.Sprint(f.Tags), fmt.Sprint(f.Deny), fmt.Sprint(f.Allow), heat, fmt.Sprint(f.MaxTokens), fmt.Sprint(f.Model), f.Instructions}
}

// Equal files are equal bytes, in whatever order they come, and are read again.
func TestPacks(t *testing.T) {
	r := oaf.Read(tree("PACKAGE.yaml", "agents: [acme/simple, acme/other]", "a/AGENTS.md", minimal, "a/docs/x.md", "x", "b/AGENTS.md", strings.ReplaceAll(minimal, "simple", "other")), nil)
	pack := func(mode string, agents []oaf.Agent) []byte {
		var packed []oaf.Packed
		for i := range agents {
			packed = append(packed, oaf.Packed{Fields: &agents[i].Fields, Text: agents[i].Text, Files: agents[i].Files})
		}
		var b bytes.Buffer
		if err := oaf.Pack(&b, oaf.Bundle(packed, mode)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, n := range []int{1, 2} {
		first := pack("bundled", r.Agents[:n])
		read, err := filetree.ReadZip(bytes.NewReader(first), int64(len(first)), oaf.Limits())
		if err != nil {
			t.Fatal(err)
		}
		again := oaf.Read(read, nil)
		if len(again.Errors) > 0 || len(again.Agents) != n || again.Agents[0].AgentKey != "simple" {
			t.Fatal(codes(again.Errors), again.Agents)
		}
		if !bytes.Equal(pack("bundled", again.Agents), first) {
			t.Error("what was read is packed otherwise")
		}
	}
}

package oaf

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/runtime/skillmd"
)

// The bounds of what an agent says of itself, in characters.
const (
	maxName         = 100
	maxKey          = 64
	maxText         = 256
	maxDescription  = 4096
	usualLeast      = 50 // of a description
	usualMost       = 500
	maxInstructions = 100_000
	maxEntries      = 200 // of a list
	maxTokens       = 200_000
	maxBlockLabel   = 100
	maxBlockValue   = 100_000
)

var (
	keyForm   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	labelForm = regexp.MustCompile(`^[a-z0-9]+([-_][a-z0-9]+)*$`)
)

// manifest is an AGENTS.md that is read.
type manifest struct {
	*findings
	file  string
	agent *Agent
	root  node
}

// read reads an AGENTS.md, and reports whether it could be read at all.
func (m *manifest) read(fill *Fill) bool {
	if fill != nil {
		m.fill(fill)
	}
	front, wrong := skillmd.ReadFront(m.file, m.agent.Text)
	for _, w := range wrong {
		if w.Code == skillmd.FrontMatterMissing {
			w.Message = "it has to begin with a line ---, what the agent is, such as its name, and another line ---"
		}
		m.errors = append(m.errors, w)
	}
	if front == nil {
		return false
	}
	root, err := parseYAML(front.Text)
	if err != nil {
		m.fail(skillmd.YAMLInvalid, m.file, 1, "the front matter is no YAML")
		return false
	}
	m.root = root
	m.checkKeys(&root)
	m.body(front)
	m.identity()
	m.about()
	m.model()
	m.config()
	m.composition()
	m.memory()
	return true
}

// fill writes what the uploader says into the front matter, where that can be read.
func (m *manifest) fill(f *Fill) {
	var changes []change
	for _, c := range []struct{ key, value string }{{"name", f.Name}, {"description", f.Description}} {
		if c.value != "" {
			changes = append(changes, change{[]string{c.key}, textNode(c.value)})
		}
	}
	if text, err := apply(m.agent.Text, changes, nil); err == nil {
		m.agent.Text = text
	}
}

// checkKeys says which keys are there twice, at any depth.
func (m *manifest) checkKeys(n *node) {
	seen := map[string]int{}
	for i := range n.entries {
		e := &n.entries[i]
		if first, twice := seen[e.key]; twice {
			m.fail(skillmd.KeyDuplicate, m.file, e.fileLine(), "%q is there twice, first in line %d: remove one", e.key, first)
		} else {
			seen[e.key] = e.fileLine()
		}
		m.checkKeys(&e.value)
	}
	for i := range n.items {
		m.checkKeys(&n.items[i])
	}
}

func (m *manifest) body(front *skillmd.Front) {
	m.agent.Instructions = instructions(front.Body)
	if utf8.RuneCountInString(m.agent.Instructions) > maxInstructions {
		m.fail(FieldTooLong, m.file, front.BodyLine, "the text below the front matter has more than %d characters: make it shorter, or move some into skills", maxInstructions)
	}
	if m.agent.Instructions == "" {
		m.warn(skillmd.BodyEmpty, m.file, front.BodyLine, "there is no text below the front matter, so the agent is told what others are told")
	}
}

// instructions returns a body without blank lines around it.
func instructions(body string) string {
	lines := strings.Split(body, "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	return strings.TrimRight(strings.Join(lines, "\n"), " \t\r\n")
}

// text reads a member that is a text of at most so many characters; line is 1 for one that is not
// there.
func (m *manifest) text(in *node, key string, most int) (value string, line int) {
	e := in.get(key)
	if e == nil || e.value.kind == nothing {
		return "", 1
	}
	line = e.fileLine()
	if e.value.kind != text {
		m.fail(skillmd.FieldType, m.file, line, "%s has to be a text: put quotes around it", key)
		return "", line
	}
	value = strings.TrimSpace(e.value.value)
	if utf8.RuneCountInString(value) > most {
		m.fail(FieldTooLong, m.file, line, "%s has more than %d characters: make it shorter", key, most)
	}
	return value, line
}

// needed is text for a member that has to be there.
func (m *manifest) needed(key string, most int) (value string, line int) {
	before := len(m.errors)
	value, line = m.text(&m.root, key, most)
	if value == "" && len(m.errors) == before {
		m.fail(FieldMissing, m.file, line, "%s is missing in the front matter, and every agent has one: write it", key)
	}
	return value, line
}

// texts reads a member that is a list of texts.
func (m *manifest) texts(in *node, key string) (values []string) {
	e := in.get(key)
	if e == nil || e.value.kind == nothing {
		return nil
	}
	if e.value.kind != listKind || len(e.value.items) > maxEntries {
		m.fail(skillmd.FieldType, m.file, e.fileLine(), "%s has to be a list of at most %d texts", key, maxEntries)
		return nil
	}
	for i := range e.value.items {
		item := &e.value.items[i]
		if item.kind != text || strings.TrimSpace(item.value) == "" || len(item.value) > maxText {
			m.fail(skillmd.FieldType, m.file, e.fileLine(), "%s has to be a list of texts of at most %d bytes: put quotes around each", key, maxText)
			return nil
		}
		values = append(values, strings.TrimSpace(item.value))
	}
	return values
}

// flag reads a member that is true or false.
func (m *manifest) flag(in *node, key string) bool {
	e := in.get(key)
	if e == nil || e.value.kind == nothing {
		return false
	}
	if e.value.kind != other || e.value.value != "true" && e.value.value != "false" {
		m.fail(skillmd.FieldType, m.file, e.fileLine(), "%s has to be true or false", key)
	}
	return e.value.value == "true"
}

// number reads a member that is a number; nil when it is not there.
func (m *manifest) number(in *node, key string, least, most float64) *float64 {
	e := in.get(key)
	if e == nil || e.value.kind == nothing {
		return nil
	}
	n, err := strconv.ParseFloat(e.value.value, 64)
	if e.value.kind != other || err != nil || !(n >= least && n <= most) {
		m.fail(FieldInvalid, m.file, e.fileLine(), "%s has to be a number from %v to %v", key, least, most)
		return nil
	}
	return &n
}

func (m *manifest) identity() {
	a := m.agent
	a.Name, _ = m.needed("name", maxName)
	for _, k := range []struct {
		name string
		to   *string
	}{{"vendorKey", &a.VendorKey}, {"agentKey", &a.AgentKey}} {
		value, line := m.needed(k.name, maxKey)
		if value != "" && !keyForm.MatchString(value) {
			m.fail(FieldInvalid, m.file, line, "%s has to be of a-z, 0-9 and single - between them, such as my-agent", k.name)
		}
		*k.to = value
	}
	version, line := m.needed("version", maxText)
	if version != "" && !skillmd.SemVer(version) {
		m.fail(skillmd.VersionInvalid, m.file, line, "the version %q is not like 1.2.3 (semver.org): write it so, in quotes", version)
	}
	a.Version = version
	a.Slug, line = m.needed("slug", maxText)
	if a.Slug != "" && a.Slug != a.VendorKey+"/"+a.AgentKey {
		m.warn(SlugUnusual, m.file, line, "the slug is usually vendorKey/agentKey, %s/%s; it is kept", a.VendorKey, a.AgentKey)
	}
}

func (m *manifest) about() {
	a, line := m.agent, 0
	a.Description, line = m.needed("description", maxDescription)
	if n := utf8.RuneCountInString(a.Description); n > 0 && (n < usualLeast || n > usualMost) {
		m.warn(DescriptionLength, m.file, line, "a description usually has %d to %d characters, and this one has %d", usualLeast, usualMost, n)
	}
	a.Author, _ = m.needed("author", maxText)
	a.License, line = m.needed("license", maxText)
	if unknown := unknownLicense(a.License); a.License != "" && unknown != "" {
		m.fail(LicenseUnknown, m.file, line, "SPDX knows no license %q (spdx.org/licenses): use an id such as Apache-2.0 or MIT, or LicenseRef- and a name for one of your own", unknown)
	}
	if m.root.get("tags") == nil {
		m.fail(FieldMissing, m.file, 1, "tags is missing in the front matter, and every agent has some: write it, [] for none")
	}
	a.Tags = m.texts(&m.root, "tags")
}

// model reads a model: an alias or name, or an object.
func (m *manifest) model() {
	e := m.root.get("model")
	switch {
	case e == nil || e.value.kind == nothing:
	case e.value.kind == mapping:
		m.agent.Model.Provider, _ = m.text(&e.value, "provider", maxText)
		m.agent.Model.Name, _ = m.text(&e.value, "name", maxText)
		m.agent.Model.Embedding, _ = m.text(&e.value, "embedding", maxText)
		if m.agent.Model.Name == "" {
			m.fail(FieldMissing, m.file, e.fileLine(), "the model has no name")
		}
	default:
		m.agent.Model.Name, _ = m.text(&m.root, "model", maxText)
	}
}

func (m *manifest) config() {
	a := m.agent
	a.Allow = m.texts(&m.root, "tools")
	e := m.root.get("config")
	if e == nil || e.value.kind == nothing {
		return
	}
	if e.value.kind != mapping {
		m.fail(skillmd.FieldType, m.file, e.fileLine(), "config has to hold lines like temperature: 0.7, each indented")
		return
	}
	a.Temperature = m.number(&e.value, "temperature", 0, 1)
	if n := m.number(&e.value, "max_tokens", 1, maxTokens); n != nil {
		a.MaxTokens = int(*n)
		if float64(a.MaxTokens) != *n {
			m.fail(FieldInvalid, m.file, e.value.get("max_tokens").fileLine(), "max_tokens has to be a whole number")
		}
	}
	a.Confirm = m.flag(&e.value, "require_confirmation")
	if tools := e.value.get("tools"); tools != nil && tools.value.kind == mapping {
		if allowed := m.texts(&tools.value, "allowed"); len(allowed) > 0 {
			a.Allow = allowed
		}
		a.Deny = m.texts(&tools.value, "denied")
	}
}

// objects returns the entries of a list of mappings.
func (m *manifest) objects(key string) (all []*node, lines []int) {
	e := m.root.get(key)
	if e == nil || e.value.kind == nothing {
		return nil, nil
	}
	if e.value.kind != listKind || len(e.value.items) > maxEntries {
		m.fail(skillmd.FieldType, m.file, e.fileLine(), "%s has to be a list of at most %d entries", key, maxEntries)
		return nil, nil
	}
	for i := range e.value.items {
		item, line := &e.value.items[i], e.fileLine()
		if item.kind != mapping {
			m.fail(skillmd.FieldType, m.file, line, "each of %s has to hold lines like name: value", key)
			continue
		}
		if len(item.entries) > 0 {
			line = item.entries[0].fileLine()
		}
		all, lines = append(all, item), append(lines, line)
	}
	return all, lines
}

func (m *manifest) composition() {
	items, lines := m.objects("skills")
	for i, n := range items {
		s := Skill{Required: m.flag(n, "required"), Line: lines[i]}
		s.Name, _ = m.text(n, "name", maxText)
		s.Source, _ = m.text(n, "source", 2048)
		s.Version, _ = m.text(n, "version", maxText)
		m.skill(&s)
	}
	items, lines = m.objects("mcpServers")
	for i, n := range items {
		s := Server{Required: m.flag(n, "required")}
		s.Vendor, _ = m.text(n, "vendor", maxText)
		s.Name, _ = m.text(n, "server", maxText)
		s.Version, _ = m.text(n, "version", maxText)
		dir, _ := m.text(n, "configDir", maxText)
		m.server(&s, dir, lines[i])
	}
	items, lines = m.objects("agents")
	for i, n := range items {
		s := Subagent{Required: m.flag(n, "required")}
		s.Vendor, _ = m.text(n, "vendor", maxText)
		s.Agent, _ = m.text(n, "agent", maxText)
		s.Version, _ = m.text(n, "version", maxText)
		s.Role, _ = m.text(n, "role", maxText)
		if s.Agent == "" {
			m.fail(FieldMissing, m.file, lines[i], "this entry of agents names no agent")
		}
		m.agent.Subagents = append(m.agent.Subagents, s)
	}
	for _, key := range []string{"packs", "weblets", "orchestration"} {
		if e := m.root.get(key); e != nil && e.value.kind != nothing {
			m.warn(NotSupported, m.file, e.fileLine(), "%s is kept, and has no effect here", key)
		}
	}
}

func (m *manifest) skill(s *Skill) {
	switch {
	case s.Name == "":
		m.fail(FieldMissing, m.file, s.Line, "this entry of skills has no name")
	case s.Local() && !keyForm.MatchString(s.Name):
		m.fail(FieldInvalid, m.file, s.Line, "the skill %q has no name that a folder of skills/ has", s.Name)
	case s.Local() && s.Source != "" && m.agent.SkillTree(s.Name) == nil && s.Required:
		m.fail(SkillMissing, m.file, s.Line, "the skill %q is said to lie in %s%s, which is not in the bundle", s.Name, skillsFolder, s.Name)
	}
	m.agent.Skills = append(m.agent.Skills, *s)
}

func (m *manifest) memory() {
	e := m.root.get("memory")
	if e == nil || e.value.kind == nothing {
		return
	}
	if e.value.kind != mapping {
		m.fail(skillmd.FieldType, m.file, e.fileLine(), "memory has to hold lines like type: editable, each indented")
		return
	}
	switch kind, line := m.text(&e.value, "type", maxText); kind {
	case "", "editable":
	case "read-only":
		m.agent.ReadOnly = true
	default:
		m.fail(FieldInvalid, m.file, line, "memory.type is editable or read-only")
	}
	blocks := e.value.get("blocks")
	if blocks == nil {
		return
	}
	for i := range blocks.value.entries {
		b := &blocks.value.entries[i]
		value := b.value.value
		if !labelForm.MatchString(b.key) || len(b.key) > maxBlockLabel || b.value.kind != text && b.value.kind != other || value == "" || utf8.RuneCountInString(value) > maxBlockValue {
			m.fail(FieldInvalid, m.file, b.fileLine(), "a block of memory has a label of a-z, 0-9, - and _, and a text of 1 to %d characters", maxBlockValue)
			continue
		}
		m.agent.Blocks = append(m.agent.Blocks, Block{b.key, value})
	}
}

// server reads what a bundle configures of a server of tools. How to connect is for the node to
// say: a bundle of a stranger does not make it call anything.
func (m *manifest) server(s *Server, dir string, line int) {
	if s.Name == "" {
		m.fail(FieldMissing, m.file, line, "this entry of mcpServers names no server")
		return
	}
	if dir == "" {
		dir = "mcp-configs/" + s.Name
	}
	for _, f := range m.agent.Files {
		if f.Path == path.Join(dir, "ActiveMCP.json") {
			m.active(s, f.Path, f.Content)
		}
	}
	m.agent.Servers = append(m.agent.Servers, *s)
}

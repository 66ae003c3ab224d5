package oaf

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/wharf-dev/wharf/runtime/skillmd"
)

// Rewrite returns an AGENTS.md that says what is wanted. What it says already, and what is not among
// the fields, stays as it was.
func Rewrite(text []byte, want *Fields) ([]byte, error) {
	a, err := Manifest(text)
	if err != nil {
		return nil, err
	}
	var body *string
	if a.Instructions != want.Instructions {
		body = &want.Instructions
	}
	changes := a.changes(want)
	if len(changes) == 0 && body == nil {
		return text, nil
	}
	return apply(text, changes, body)
}

// Manifest reads the fields of an AGENTS.md, whatever else may be wrong with it.
func Manifest(text []byte) (*Fields, error) {
	m := &manifest{findings: &findings{}, file: ManifestFile, agent: &Agent{Text: text}}
	if !m.read(nil) {
		return nil, errors.New("oaf: the front matter cannot be read")
	}
	return &m.agent.Fields, nil
}

// changes returns what has to change for fields to be as wanted.
func (f *Fields) changes(want *Fields) (all []change) {
	put := func(same bool, value node, path ...string) {
		if !same {
			all = append(all, change{path, value})
		}
	}
	for _, t := range []struct{ key, is, want string }{{"name", f.Name, want.Name}, {"vendorKey", f.VendorKey, want.VendorKey},
		{"agentKey", f.AgentKey, want.AgentKey}, {"version", f.Version, want.Version}, {"slug", f.Slug, want.Slug},
		{"description", f.Description, want.Description}, {"author", f.Author, want.Author}, {"license", f.License, want.License}} {
		put(t.is == t.want, textNode(t.want), t.key)
	}
	put(slices.Equal(f.Tags, want.Tags), listNode(want.Tags), "tags")
	put(f.Model == want.Model, want.Model.node(), "model")
	put(sameNumber(f.Temperature, want.Temperature), number(want.Temperature), "config", "temperature")
	put(f.MaxTokens == want.MaxTokens, whole(want.MaxTokens), "config", "max_tokens")
	if !slices.Equal(f.Allow, want.Allow) {
		put(false, node{}, "tools")
		put(false, optional(want.Allow), "config", "tools", "allowed")
	}
	put(slices.Equal(f.Deny, want.Deny), optional(want.Deny), "config", "tools", "denied")
	return all
}

func sameNumber(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func number(n *float64) node {
	if n == nil {
		return node{}
	}
	return numberNode(strconv.FormatFloat(*n, 'f', -1, 64))
}

func whole(n int) node {
	if n == 0 {
		return node{}
	}
	return numberNode(strconv.Itoa(n))
}

func optional(texts []string) node {
	if len(texts) == 0 {
		return node{}
	}
	return listNode(texts)
}

// node is how a front matter has a model: by its name alone where that says all.
func (m Model) node() node {
	switch {
	case m == Model{}:
		return node{}
	case m.Provider == "" && m.Embedding == "":
		return textNode(m.Name)
	}
	n := node{kind: mapping}
	for _, e := range []entry{{key: "provider", value: textNode(m.Provider)}, {key: "name", value: textNode(m.Name)}, {key: "embedding", value: textNode(m.Embedding)}} {
		if e.value.value != "" {
			n.entries = append(n.entries, e)
		}
	}
	return n
}

// apply makes changes to the front matter of a text, and gives it another body; nil leaves that.
func apply(text []byte, changes []change, body *string) ([]byte, error) {
	front, wrong := skillmd.ReadFront(ManifestFile, text)
	if front == nil {
		return nil, errors.New("oaf: the front matter cannot be read: " + wrong[0].Message)
	}
	head := front.Text
	for _, c := range changes {
		var err error
		if head, err = edit(head, c); err != nil {
			return nil, err
		}
	}
	tail := front.Body
	if body != nil {
		tail = "\n" + *body + "\n"
	}
	return []byte("---\n" + head + "---\n" + tail), nil
}

// Compose writes an AGENTS.md for an agent that came without one.
func Compose(want *Fields, skills []Skill, servers []Server) []byte {
	var head strings.Builder
	var root node
	empty := &Fields{}
	for _, c := range empty.changes(want) {
		root = with(&root, c.path, &c.value)
	}
	if root.get("tags") == nil {
		root.entries = append(root.entries, entry{key: "tags", value: node{kind: listKind}})
	}
	for _, e := range []entry{{key: "skills", value: skillsNode(skills)}, {key: "mcpServers", value: serversNode(servers)}} {
		if len(e.value.items) > 0 {
			root.entries = append(root.entries, e)
		}
	}
	head.WriteString("---\n" + blockOf(&root) + "---\n")
	if want.Instructions != "" {
		head.WriteString("\n" + want.Instructions + "\n")
	}
	return []byte(head.String())
}

func skillsNode(skills []Skill) node {
	all := node{kind: listKind}
	for _, s := range skills {
		all.items = append(all.items, object(s.Required, "name", s.Name, "source", s.Source, "version", s.Version))
	}
	return all
}

func serversNode(servers []Server) node {
	all := node{kind: listKind}
	for _, s := range servers {
		all.items = append(all.items, object(s.Required, "vendor", s.Vendor, "server", s.Name, "version", s.Version))
	}
	return all
}

// object returns a mapping of texts, in pairs, but for those that are empty.
func object(required bool, pairs ...string) node {
	n := node{kind: mapping}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			n.entries = append(n.entries, entry{key: pairs[i], value: textNode(pairs[i+1])})
		}
	}
	if required {
		n.entries = append(n.entries, entry{key: "required", value: node{kind: other, value: "true"}})
	}
	return n
}

package config

import (
	"fmt"
	"strings"
)

// Template returns a complete, commented configuration file in which every
// setting stands at its default, commented out.
func Template() string {
	var b strings.Builder
	b.WriteString("# Configuration of a Wharf node. Every line is optional: what is commented out\n" +
		"# shows the default. \"wharf config check\" checks this file, \"wharf config show\"\n" +
		"# shows what holds and where it came from. An environment variable (named with\n" +
		"# each setting) wins over this file, and a flag of \"wharf serve\" over both.\n")
	for _, g := range Groups() {
		fmt.Fprintf(&b, "\n%s", comment("", g.Doc))
		indent := ""
		if g.Name != "" {
			fmt.Fprintf(&b, "%s:\n", g.Name)
			indent = "  "
		}
		for i, s := range inGroup(g.Name) {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(comment(indent, s.Doc))
			b.WriteString(comment(indent, facts(s)))
			fmt.Fprintf(&b, "%s# %s: %s\n", indent, s.Key(), yamlText(s.Default))
		}
		for _, s := range sectionsIn(g.Name) {
			b.WriteString(s.comments())
		}
	}
	return b.String()
}

// comments show how a section is used, and what its members are.
func (s *Section) comments() string {
	var b strings.Builder
	if s.Doc != "" {
		b.WriteString("\n" + comment("  ", s.Doc))
	}
	for _, m := range s.Members {
		b.WriteString(comment("  ", m.Name+": "+m.Doc+" ("+m.values()+")"))
	}
	b.WriteString("  #\n  # For example:\n")
	for line := range strings.Lines(nested(s.path()[1:], s.Example)) {
		b.WriteString("  #   " + line)
	}
	return b.String()
}

// nested returns YAML below the given keys.
func nested(keys []string, yaml string) string {
	for i := len(keys) - 1; i >= 0; i-- {
		yaml = keys[i] + ":\n" + indented(yaml)
	}
	return yaml
}

// indented returns YAML one level deeper.
func indented(yaml string) string {
	var b strings.Builder
	for line := range strings.Lines(yaml) {
		b.WriteString("  " + line)
	}
	return b.String()
}

func (m *Member) values() string {
	if m.Range != "" {
		return m.Kind + ", " + m.Range
	}
	return m.Kind
}

func inGroup(name string) []Setting {
	var in []Setting
	for _, s := range Settings() {
		if s.Group() == name {
			in = append(in, s)
		}
	}
	return in
}

// facts says in one line what values a setting takes.
func facts(s Setting) string {
	return fmt.Sprintf("(%s; %s)", s.values(), s.Env())
}

func yamlText(s string) string {
	if s == "" {
		return `""`
	}
	return s
}

// comment wraps text into comment lines of at most about 80 characters.
func comment(indent, text string) string {
	var b strings.Builder
	line := indent + "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > 80 {
			b.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
	return b.String()
}

// Reference returns the text of docs/configuration.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, g := range Groups() {
		title := g.Name
		if title == "" {
			title = "node"
		}
		fmt.Fprintf(&b, "\n## %s\n%s\n", title, g.Doc+readAgain(g.Name))
		b.WriteString(settingTable(inGroup(g.Name)))
		for _, s := range sectionsIn(g.Name) {
			b.WriteString(s.table())
		}
	}
	return b.String()
}

func settingTable(settings []Setting) string {
	if len(settings) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n| setting | default | values | what it does |\n|---|---|---|---|\n")
	for _, s := range settings {
		fmt.Fprintf(&b, "| `%s`<br>`%s` | %s | %s | %s |\n", s.Name, s.Env(), code(s.Default), s.values(), s.Doc+readAgain(s.Name))
	}
	return b.String()
}

func (s *Section) table() string {
	var b strings.Builder
	if s.Doc != "" {
		b.WriteString("\n" + s.Doc + "\n")
	}
	fmt.Fprintf(&b, "\n| in `%s.%s` | values | what it does |\n|---|---|---|\n", s.Name, s.Key)
	for _, m := range s.Members {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Name, m.values(), m.Doc)
	}
	b.WriteString("\n```yaml\n" + nested(s.path(), s.Example) + "```\n")
	return b.String()
}

// readAgain says of a setting that it takes effect without a start.
func readAgain(name string) string {
	if !Live(name) {
		return ""
	}
	return " It is read again at SIGHUP."
}

func code(s string) string {
	if s == "" {
		return "empty"
	}
	return "`" + s + "`"
}

const referenceHead = `# Configuration
<!-- Generated from the declaration of the settings; a test compares them. Do not edit:
     go test ./cmd/wharf/internal/config -update -->

A node needs no configuration. If you give one, each value comes from the first of
these that states it:

1. a flag of ` + "`wharf serve`" + `: ` + "`--listen`, `--data`, `--public-url`, `--log-level`, `--log-format`" + `, or
   ` + "`--set NAME=VALUE`" + ` for any setting;
2. an environment variable: ` + "`WHARF_`" + ` and the setting's name in capitals, with ` + "`_`" + ` for the dot;
3. the file that ` + "`--config`" + ` or ` + "`WHARF_CONFIG`" + ` names, else ` + "`wharf.yaml`" + ` in the current folder if it exists;
4. the default.

` + "`wharf config init`" + ` prints a complete, commented file; ` + "`wharf config check`" + ` checks one and
names the line of every mistake; ` + "`wharf config show`" + ` shows the values in force and where they came from.

Things with names of their own (models, prices, secrets, tools, grants, settings) are
stated in the file alone; so are the limits of single plugins.

Sizes are written as ` + "`64MiB`" + ` (1024-based), ` + "`10MB`" + ` (1000-based) or plain bytes; durations as
` + "`250ms`, `30s`, `5m`, `24h`, `30d`" + `.

A relative path that the file states for something that is there already (files of ` + "`tls`" + `, ` + "`acme.roots`" + `,
` + "`plugins.dir`" + `, ` + "`plugins.watch`" + `, ` + "`plugins.trust`" + `, ` + "`models.script`" + `, ` + "`vaults.files`" + `, the ` + "`file`" + ` of a secret, the ` + "`cwd`" + ` of a
tool server) is looked up in the file's own folder, and if it is not there in the current one, with a warning. Paths of what the node makes
(` + "`data`" + `, ` + "`plugins.cache`" + `, ` + "`plugins.cache_key`" + `), of flags and of variables are from the current folder.

A node reads its configuration again at SIGHUP (` + "`kill -HUP`, `systemctl reload`" + `), unless a terminal is attached to it, whose
closing ends it. What is marked "read again at SIGHUP" holds for each call from then on: ` + "`log.level` and `grants`" + `. All else takes
effect at the next start, and the log names what has changed of it. Where anything is wrong with the file, nothing
changes, and the log has every mistake with its line. The environment of a process that runs does not change.
Without any of this, files of ` + "`tls`" + ` and of secrets are read when they are used, and ` + "`plugins.watch`" + ` has plugins
installed as they come; quotas, keys, vaults, Connectors and Personas are changed over the API. What ` + "`wharf node capabilities`" + `
lists as granted is as of the start.

Wharf reads more variables that are not settings: ` + "`WHARF_API_KEY`" + ` (the node's first API key,
at least 16 characters; for client commands, the key to send) and ` + "`WHARF_SERVER`" + ` (for client
commands, the node to speak to). Client commands read ` + "`WHARF_CA`, `WHARF_CLIENT_CERT` and `WHARF_CLIENT_KEY`" + `, too: the files that
` + "`--ca`, `--client-cert` and `--client-key`" + ` name otherwise. Where ` + "`WHARF_CA`" + ` names none, certificates of the system are believed,
and on Unix those that ` + "`SSL_CERT_FILE` and `SSL_CERT_DIR`" + ` name instead. ` + "`wharf plugin push` and `pull` read `WHARF_REGISTRY_USER` and `WHARF_REGISTRY_PASSWORD`" + `.
`

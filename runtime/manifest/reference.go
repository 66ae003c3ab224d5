package manifest

import (
	"fmt"
	"strings"
)

const preface = `# The manifest of a plugin
<!-- Generated from the declaration of the fields; a test compares them. Do not edit:
     go test ./runtime/manifest -update -->

` + "`wharf.toml`" + ` lies beside the sources of a plugin, and says what it is. ` + "`wharf plugin lint`" + ` says what is wrong with
one, and how it fits the built module. It is [TOML](https://toml.io), in UTF-8, of at most 256 KiB.

` + "```toml" + `
#:schema manifest.schema.json
name = "triage"
version = "1.2.0"
kind = "skill"
description = "Says which team a ticket belongs to."
language = "typescript"
entry = "src/main.ts"
capabilities = ["http.fetch", "llm.complete", "config.get"]
hosts = ["crm.example.com"]
methods = ["GET", "POST"]
secrets = ["crm"]

[limits]
time = "30s"
memory = "64MiB"

[config.greeting]
type = "string"
default = "Hello"
description = "What a customer is greeted with."

[schemas]
output = "output.schema.json"

[schemas.input]
type = "object"
required = ["ticket"]
properties.ticket.type = "string"
` + "```" + `

[manifest.schema.json](manifest.schema.json) is the same for editors. Sizes are written as ` + "`64MiB`" + ` (1024-based), ` + "`10MB`" + ` (1000-based)
or plain bytes, durations as ` + "`250ms`, `30s`, `5m`, `24h`" + `.

A key that is no field is an error, and so is one that is stated twice.
`

// Reference is docs/manifest.md: every field there is.
func Reference() string {
	var b strings.Builder
	b.WriteString(preface)
	b.WriteString("\n## The fields\n")
	all := manifests().members
	writeRows(&b, "", all)
	for i := range all {
		if len(all[i].members) > 0 {
			fmt.Fprintf(&b, "\n## %s\n%s\n", all[i].name, all[i].doc)
			writeRows(&b, all[i].name+".", all[i].members)
		}
	}
	b.WriteString("\n## What an install makes\n" + installs)
	return b.String()
}

const installs = "A persona becomes the Persona `persona_NAME`, which runs the first export; a skill that Persona and the Skill `skill_NAME`.\n" +
	"Either may do what `capabilities` grant and nothing else. A connector makes its provider known, whose Connectors have the first export\n" +
	"normalize deliveries, and a hook the handler `wasm:NAME`, which is that export. Both run apart from Tasks, where there are no\n" +
	"host calls to grant; polls run in Tasks.\n"

func writeRows(b *strings.Builder, prefix string, members []member) {
	b.WriteString("\n| field | value | what it says |\n|---|---|---|\n")
	for i := range members {
		m := &members[i]
		value := m.words
		if m.bounds != "" {
			value += ", " + m.bounds
		}
		doc := m.doc
		switch {
		case m.required:
			doc += " **Needed.**"
		case m.preset != "":
			doc += " Not set: " + m.preset + "."
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", prefix+m.name, value, doc)
	}
}

package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

const aMemory = "the id of a Memory (see \"wharf memory list\")"

func (a *app) memoryCommand() *cobra.Command {
	return family(page{
		use:   "memory",
		short: "List, search, make and redact Memories: what Tasks know of before",
		long: `A Memory is a fact that one Task keeps for others: those of a Persona, of a Session, of
a Workspace or of the whole tenant. docs/memory.md has the rest.`,
		example: `  wharf memory list --owner persona_agent
  wharf memory search "delivery times" --workspace ws_default
  wharf memory create "We ship on Fridays" --scope workspace --owner ws_default
  wharf memory redact mem_01K0...`,
	}, a.memoryListCommand(), a.memorySearchCommand(), a.memoryShowCommand(), a.memoryCreateCommand(), a.memoryRedactCommand())
}

// memoryFilter is what the flags say of the Memories that are wanted.
type memoryFilter struct {
	workspace, session, scope, owner string
	limit                            int
}

func (m *memoryFilter) flags(f *pflag.FlagSet) {
	f.StringVar(&m.workspace, "workspace", "", "only Memories of this Workspace")
	f.StringVar(&m.session, "session", "", "only Memories of this Session")
	f.StringVar(&m.scope, "scope", "", "only Memories of a scope: persona, session, workspace or tenant")
	f.StringVar(&m.owner, "owner", "", "only Memories of this Persona, Session, Workspace or tenant")
	f.IntVar(&m.limit, "limit", 20, "the most Memories to show")
}

func (m *memoryFilter) check(*cobra.Command, []string) error {
	scopes := []string{string(abi.MemoryPersona), string(abi.MemorySession), string(abi.MemoryWorkspace), string(abi.MemoryTenant)}
	switch {
	case m.limit < 1:
		return usagef("--limit: %d is less than 1", m.limit)
	case m.scope != "" && !slices.Contains(scopes, m.scope):
		return usagef("--scope: %q is not a scope: they are %s", m.scope, strings.Join(scopes, ", "))
	}
	return nil
}

// memories lists what fits the filter and, unless it is empty, a text.
func (m *memoryFilter) memories(text func(args []string) string) list[abi.Memory] {
	return list[abi.Memory]{
		call: sends(func(args []string) client.Call {
			return client.Get("/v1/memories").Narrow("workspace_id", m.workspace).Narrow("session_id", m.session).
				Narrow("scope", m.scope).Narrow("owner_id", m.owner).Narrow("q", text(args)).Most(m.limit)
		}),
		titles: []string{"MEMORY", "SCOPE", "MADE", "CONTENT"},
		row: func(v *abi.Memory) []show.Cell {
			return []show.Cell{{Text: v.ID}, {Text: string(v.Scope)}, {Text: show.Ago(v.CreatedAt, time.Now())}, {Text: show.OneLine(contentOfMemory(v))}}
		},
		none: "no memories",
	}
}

// contentOfMemory is what a Memory says, in words.
func contentOfMemory(v *abi.Memory) string {
	if !v.RedactedAt.IsZero() {
		return "(redacted)"
	}
	var text string
	if json.Unmarshal(v.Content, &text) == nil {
		return text
	}
	return string(v.Content)
}

func (a *app) memoryListCommand() *cobra.Command {
	var m memoryFilter
	return a.node(page{
		use:     "list",
		short:   "List Memories, newest first",
		long:    "List shows Memories, newest first: at most --limit of them, of the given scope, owner,\nWorkspace and Session.",
		example: "  wharf memory list\n  wharf memory list --scope persona --owner persona_agent --json",
		flags:   m.flags,
		check:   m.check,
	}, m.memories(func([]string) string { return "" }))
}

func (a *app) memorySearchCommand() *cobra.Command {
	var m memoryFilter
	return a.node(page{
		use:     "search WORDS",
		short:   "List the Memories that hold some words",
		long:    "Search shows the Memories whose content holds all of some words, in whatever case, newest\nfirst: at most --limit of them. word* stands for every word that begins so.",
		example: "  wharf memory search \"delivery times\"\n  wharf memory search friday --owner ws_default --json",
		args:    oneArg("words to look for"),
		flags:   m.flags,
		check:   m.check,
	}, m.memories(func(args []string) string { return args[0] }))
}

// memory is a request that a Memory answers.
func (a *app) memory(call caller) ask[abi.Memory] {
	return ask[abi.Memory]{call: call, text: a.showMemory, tips: absent("wharf memory list")}
}

func (a *app) showMemory(v *abi.Memory) {
	a.out.Line(v.ID, "  ", show.OneLine(contentOfMemory(v)))
	a.out.Pairs([2]string{"scope", string(v.Scope)}, [2]string{"owner", v.OwnerID}, [2]string{"visibility", string(v.Visibility)},
		[2]string{"from", show.OneLine(string(v.Provenance))}, [2]string{"made", stamp(v.CreatedAt)}, [2]string{"expires", stamp(v.ExpiresAt)},
		[2]string{"redacted", stamp(v.RedactedAt)})
}

func (a *app) memoryShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show ID",
		short:   "Show a Memory",
		long:    "Show shows what a Memory says, whose it is, and where it comes from.",
		example: "  wharf memory show mem_01K0...\n  wharf memory show mem_01K0... --json",
		args:    oneArg(aMemory),
	}, a.memory(gets("/v1/memories/{}")))
}

func (a *app) memoryCreateCommand() *cobra.Command {
	var file, scope, visibility string
	var req abi.CreateMemoryRequest
	var lasts time.Duration
	return a.node(page{
		use:   "create [TEXT]",
		short: "Make a Memory",
		long: `Create makes a Memory from a text, or from a file in YAML or JSON with the members of the
route's body ("-" for standard input); flags count more. It is told to Tasks from then on
that --scope and --owner say.`,
		example: `  wharf memory create "We ship on Fridays" --scope workspace --owner ws_default
  wharf memory create "Prefers metric units" --scope persona --owner persona_agent --lasts 720h
  wharf memory create -f fact.yaml --json`,
		args: optionalArg,
		flags: func(f *pflag.FlagSet) {
			f.StringVarP(&file, "file", "f", "", "a file with the Memory, in YAML or JSON")
			f.StringVar(&scope, "scope", "", "whom it is for: persona, session, workspace or tenant")
			f.StringVar(&req.OwnerID, "owner", "", "the id of that Persona, Session, Workspace or tenant")
			f.StringVar(&visibility, "visibility", "", "public, internal or receipt_only (default public)")
			f.DurationVar(&lasts, "lasts", 0, "for how long it is told, such as 720h (default: until it is redacted)")
		},
		check: func(cmd *cobra.Command, args []string) error {
			if (file == "") == (len(args) == 0) {
				return usagef("%s needs a text, or --file", cmd.CommandPath())
			}
			if lasts < 0 {
				return usagef("--lasts cannot be negative")
			}
			return nil
		},
	}, a.memory(func(_ *cobra.Command, args []string) (call client.Call, err error) {
		var from abi.CreateMemoryRequest
		if file != "" {
			err = a.readManifest(file, &from)
		} else {
			from.Content, err = json.Marshal(args[0])
			from.Provenance = jsontext.Value(`{"source":"wharf memory create"}`)
		}
		from.Scope, from.OwnerID = cmp.Or(abi.MemoryScope(scope), from.Scope), cmp.Or(req.OwnerID, from.OwnerID)
		from.Visibility = cmp.Or(abi.Visibility(visibility), from.Visibility)
		if lasts > 0 {
			from.ExpiresAt = abi.At(time.Now().Add(lasts))
		}
		return client.Post(from, "/v1/memories"), err
	}))
}

func (a *app) memoryRedactCommand() *cobra.Command {
	return a.node(page{
		use:     "redact ID",
		short:   "Take away what a Memory says, for ever",
		long:    "Redact takes away the content of a Memory, and tells no Task of it any more. That it was there\nstays known. Tasks that were told of it before have it in what they have recorded.",
		example: "  wharf memory redact mem_01K0...",
		args:    oneArg(aMemory),
	}, a.gone("/v1/memories/{}", "redacted", "wharf memory list"))
}

package manifest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/skillmd"
	"github.com/wharf-dev/wharf/runtime/spelling"
)

// The bounds of what a manifest holds.
const (
	maxName        = 64
	maxVersion     = 64 // of a Persona's version
	maxDescription = 4096
	maxText        = 256

	maxGas       = 1_000_000_000_000_000
	maxCallDepth = 65_536
	kib          = 1 << 10
	gib          = 1 << 30
)

// namePattern is that of the name of a plugin, which is part of ids, of files and of references in
// registries.
const namePattern = `[a-z0-9]+([_-][a-z0-9]+)*`

const nameBounds = "a name: at most 64 of a-z 0-9, with - and _ between them"

// CheckName says why a text cannot be the name of a plugin.
func CheckName(name string) error {
	if len(name) > maxName || !regexp.MustCompile(`^(?:`+namePattern+`)$`).MatchString(name) {
		return fmt.Errorf("%s is not %s", quote(name), nameBounds)
	}
	return nil
}

// manifests declares all that a manifest says. Each field is declared here and nowhere else.
func manifests() form[Manifest] {
	return tableOf(
		of("name", matching("text", namePattern, nameBounds, maxName),
			func(m *Manifest) *string { return &m.Name }, "What the plugin is called: its module, its grants and its settings have the name.").needed(),
		of("version", version(), func(m *Manifest) *string { return &m.Version },
			"Its version, which is that of its Persona. A change of what it may do is a new version.").needed(),
		of("kind", choice(KindPersona, KindSkill, KindConnector, KindHook), func(m *Manifest) *Kind { return &m.Kind },
			"What an install makes of it. A persona is run by Tasks; a skill as well, and it is offered with an input and an output; a connector says what the deliveries of a provider mean; a hook is asked before tools are called, or told of what happens.").needed(),
		of("description", prose(maxDescription), func(m *Manifest) *string { return &m.Description },
			"What it does, for people and for models that choose among skills. A skill needs one."),
		of("language", choice("typescript", "javascript", "go", "rust", "c", "cpp", "assemblyscript", "python", "other"), func(m *Manifest) *string { return &m.Language },
			"What it is written in, which says how it is built. Other languages state build.command."),
		of("entry", path(), func(m *Manifest) *string { return &m.Entry }, "The source file that a build begins with."),
		of("module", path(), func(m *Manifest) *string { return &m.Module }, "The built module.").otherwise("build/NAME.wasm"),
		of("exports", list("names", matching("name", `[^#\x00-\x20\x7f]+`, "the name of an export", 128)), func(m *Manifest) *[]string { return &m.Exports },
			"The exports that can be run. The first is what an install has run.").otherwise("`[\"run\"]`"),
		of("capabilities", list("patterns", limited("pattern", checkCapability)), func(m *Manifest) *[]string { return &m.Capabilities },
			"The [host calls](host-calls.md) that are granted, with * for any characters. "+free()+" need no grant. What the module imports beyond it is refused when it is called.").otherwise("none"),
		of("hosts", list("hosts", limited("host", spelling.CheckHost)), func(m *Manifest) *[]string { return &m.Hosts },
			"The hosts that `http.fetch` may reach: exact names, or *.example.com for any name below it, with :PORT or else the port of http or https. The operator grants them."),
		of("methods", list("methods", choice("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")), func(m *Manifest) *[]string { return &m.Methods },
			"The methods of these requests.").otherwise("GET and HEAD"),
		of("secrets", list("names", matching("name", secret.NamePattern, "the name of a secret: at most 64 of A-Z a-z 0-9 _ . -", 64)), func(m *Manifest) *[]string { return &m.Secrets },
			"The names of the secrets that it uses. Values never stand in a manifest."),
		of("tools", list("patterns", limited("pattern", checkTool)), func(m *Manifest) *[]string { return &m.Tools },
			"The tools that it calls, as SERVER:TOOL, with * for any characters.").otherwise("those that the operator grants"),
		of("agents", list("patterns", limited("pattern", anyText)), func(m *Manifest) *[]string { return &m.Agents },
			"The agents that it delegates work to, with * for any characters."),
		of("models", list("patterns", limited("pattern", anyText)), func(m *Manifest) *[]string { return &m.Models },
			"The models that it asks, by the names that a node has for them, with * for any characters.").otherwise("any"),
		of("limits", limits(), func(m *Manifest) *Limits { return &m.Limits },
			"What one run may take. A node may allow less."),
		of("config", settings(), func(m *Manifest) *[]Setting { return &m.Config },
			"What an operator may set, and `config.get` answers."),
		of("schemas", tableOf(
			of("input", schemaOrFile(), func(s *Schemas) *JSONSchema { return &s.Input }, "Of what it takes."),
			of("output", schemaOrFile(), func(s *Schemas) *JSONSchema { return &s.Output }, "Of what it gives out."),
		), func(m *Manifest) *Schemas { return &m.Schemas }, "JSON Schemas, here or in files beside the manifest. A Task that names the Skill, as each call of it as a tool does, is refused when its input does not fit."),
		of("build", tableOf(
			of("command", argv(), func(b *Build) *[]string { return &b.Command }, "The program that builds the module, and its arguments, instead of what is usual for the language. No shell reads it."),
			of("watch", list("patterns", limited("pattern", anyText)), func(b *Build) *[]string { return &b.Watch }, "The files that a build is made of, with * for any characters.").otherwise("those of the language"),
		), func(m *Manifest) *Build { return &m.Build }, "How the module is built."),
		of("persona", personas(), func(m *Manifest) *Persona { return &m.Persona }, "How far its Tasks may act by themselves. Of a persona and a skill."),
		of("skill", tableOf(of("requires_approval", truth(), func(s *Skill) *bool { return &s.RequiresApproval }, "People approve each use of it.").otherwise("false")),
			func(m *Manifest) *Skill { return &m.Skill }, "Of a skill."),
		of("connector", connectors(), func(m *Manifest) *Connector { return &m.Connector }, "Of a connector."),
		of("hook", hooks(), func(m *Manifest) *Hook { return &m.Hook }, "Of a hook, which states its event."),
	)
}

func limits() form[Limits] {
	return tableOf(
		of("gas", whole(1000, maxGas), func(l *Limits) *int64 { return &l.Gas }, "About one unit for each instruction."),
		of("memory", size(64*kib, 4*gib), func(l *Limits) *int64 { return &l.Memory }, "Linear memory."),
		of("time", period(time.Millisecond, 24*time.Hour), func(l *Limits) *time.Duration { return &l.Time }, "How long a run may take."),
		of("depth", whole(64, maxCallDepth), func(l *Limits) *int64 { return &l.Depth }, "How deep calls within calls go."),
	)
}

func settings() form[[]Setting] {
	return named("NAME", matching("name", `[A-Za-z0-9][A-Za-z0-9_.-]*`, "the name of a setting: at most 64 of A-Z a-z 0-9 _ . -", maxName),
		func(s *Setting) *string { return &s.Name }, tableOf(
			of("type", choice("string", "integer", "number", "boolean", "array", "object"), func(s *Setting) *string { return &s.Type }, "What its values are, in the words of JSON Schema.").needed(),
			of("default", value(), func(s *Setting) *jsontext.Value { return &s.Default }, "What it is when the operator sets nothing. Without one the operator has to."),
			of("description", prose(maxDescription), func(s *Setting) *string { return &s.Description }, "What it is for."),
		))
}

func personas() form[Persona] {
	return tableOf(
		of("autonomy_tier", choice(abi.TierShadow, abi.TierSuggest, abi.TierActWithApproval, abi.TierActAuto), func(p *Persona) *abi.AutonomyTier { return &p.AutonomyTier },
			"What becomes of calls that change something: noted, proposed, approved by people, or done ([policy.md](policy.md)).").otherwise("`act_auto`"),
		of("receipt_policy", choice(abi.ReceiptRequired, abi.ReceiptOptional, abi.ReceiptDisabled), func(p *Persona) *abi.ReceiptPolicy { return &p.ReceiptPolicy },
			"Whether its Tasks get receipts.").otherwise("`optional`"),
	)
}

func connectors() form[Connector] {
	return tableOf(
		of("provider", matching("name", `[A-Za-z0-9_.-]+`, "the name of a provider: at most 64 of A-Z a-z 0-9 _ - .", maxName), func(c *Connector) *string { return &c.Provider },
			"Whose deliveries it takes, which says how they are signed ([connectors.md](connectors.md)).").otherwise("the plugin's name"),
		of("event_kinds", list("texts", limited("text", anyText)), func(c *Connector) *[]string { return &c.EventKinds }, "The provider's kinds of events that it handles.").otherwise("those of the provider"),
		of("ordered", truth(), func(c *Connector) *bool { return &c.Ordered }, "Deliveries with one order key are handled one after another.").otherwise("false"),
		of("schedule", limited("text", anyText), func(c *Connector) *string { return &c.Schedule }, "When it acts by itself: five fields of cron, or `@every 5m`, `@hourly` and the like."),
		of("timezone", limited("text", anyText), func(c *Connector) *string { return &c.TimeZone }, "The time zone of the schedule, of the IANA database.").otherwise("UTC"),
		of("poll", limited("name", anyText), func(c *Connector) *string { return &c.Poll }, "The export that polls the provider. Without one each tick is a delivery itself."),
	)
}

func hooks() form[Hook] {
	return tableOf(
		of("event", choice(abi.HookPreTool, abi.HookPostTool, abi.HookStop, abi.HookError, abi.HookCustom), func(h *Hook) *abi.HookEvent { return &h.Event },
			"When it is asked or told ([hooks.md](hooks.md)).").needed(),
		of("name", matching("name", `[A-Za-z0-9_.-]+`, "the kind of a plugin's events", 128), func(h *Hook) *string { return &h.Name }, "Of custom: the kind of the events of plugins.").otherwise("all of them"),
		of("fail", choice(abi.HookOpen, abi.HookClosed), func(h *Hook) *abi.HookFailure { return &h.Fail }, "What becomes of a call when the hook gives no answer: open makes it, closed denies it.").otherwise("`open`"),
		of("timeout", period(time.Millisecond, time.Minute), func(h *Hook) *time.Duration { return &h.Timeout }, "How long one answer may take.").otherwise("10s"),
	)
}

// version is one as semver.org has it, and as references to versions of Personas can hold.
func version() form[string] {
	f := text[string]("version", func(s string) error {
		switch {
		case strings.Contains(s, "+") && skillmd.SemVer(s):
			return fmt.Errorf("%s has build metadata, which references to versions cannot hold: leave out the + and what follows", quote(s))
		case len(s) > maxVersion || !skillmd.SemVer(s):
			return fmt.Errorf("%s is not like 1.2.3 (semver.org)", quote(s))
		}
		return nil
	})
	f.bounds = "as 1.2.3 (semver.org)"
	f.schema.Pattern, f.schema.MaxLength = `^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`, maxVersion
	return f
}

// limited is a text of 1 to 256 bytes that is valid.
func limited(words string, valid func(string) error) form[string] {
	f := text[string](words, func(s string) error {
		if s == "" || len(s) > maxText {
			return fmt.Errorf("%s is no %s of 1 to %d bytes", quote(s), words, maxText)
		}
		return valid(s)
	})
	f.schema.MaxLength = maxText
	return f
}

func anyText(s string) error {
	if strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return fmt.Errorf("%s has a control character", quote(s))
	}
	return nil
}

func checkTool(pattern string) error {
	server, tool, ok := strings.Cut(pattern, ":")
	if !ok || server == "" || tool == "" {
		return fmt.Errorf("%s is not SERVER:TOOL, such as files:read_*", quote(pattern))
	}
	if strings.ContainsAny(pattern, `?[]\`) {
		return fmt.Errorf("%s is no pattern: * alone stands for any characters", quote(pattern))
	}
	return anyText(pattern)
}

// argv is a program with its arguments, which may be the same twice.
func argv() form[[]string] {
	one := limited("argument", anyText)
	return form[[]string]{words: "list of texts", bounds: "at least one", schema: &Editor{Type: "array", Items: one.schema, MaxItems: maxListed},
		read: func(r *reader, n *node) ([]string, bool) {
			if !r.is(n, aList, `a list such as ["make", "plugin"]`) {
				return nil, false
			}
			if len(n.items) == 0 || len(n.items) > maxListed {
				r.wrong(InvalidValue, n, "name the program first", "%v", errNoProgram)
				return nil, false
			}
			return r.words(n, one)
		}}
}

var errNoProgram = errors.New("a command has 1 to 1000 words")

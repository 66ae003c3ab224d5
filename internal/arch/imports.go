package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// ModulePath is the path of the main module.
const ModulePath = "github.com/wharf-dev/wharf"

// Package is what the checks need to know of one package. Paths are import paths.
type Package struct {
	Path        string
	Imports     []string // of the package itself
	TestImports []string // of its tests, those of the external test package too
}

// layers are the parts of the house from the bottom to the top. A package
// imports its own layer and those below it.
var layers = []string{"abi", "storage", "plugins", "runtime", "gateway", "cmd"}

// islands are parts that stand beside the layers: each says which other packages
// of ours it may import, as prefixes of paths in the module. Their tests are
// held to the same lists.
var islands = map[string][]string{
	"conformance":                   {"conformance"},
	"conformance/openharness":       {"conformance/internal/answers"}, // and little more: a node carries it
	"conformance/internal/nodetest": {"conformance", "internal"},      // for tests alone
	"sdk/client/go":                 {"sdk/client/go"},
	"sdk/go":                        {"sdk/go"},
	"plugins/agent":                 {"plugins/agent", "sdk/go"},
	"plugins/conformance":           {"plugins/conformance", "sdk/go"},
	"plugins/connectors":            {"plugins/connectors", "sdk/go"},
	"plugins/digest":                {"plugins/digest", "sdk/go"},
	"internal":                      {"internal"},
}

// mounted are islands that the program itself carries: each says which layer may import it.
var mounted = map[string]string{"conformance/openharness": "cmd"}

// everywhere is the package that every room may import: it is how messages are worded.
const everywhere = "abi/plainly"

// rooms are packages of runtime that know little, so that each can be read and tested by
// itself: each says which other packages of ours it may import, and no more.
var rooms = map[string][]string{
	"runtime/agents":    {"abi", "storage", "runtime/desk", "runtime/filetree", "runtime/ledger", "runtime/oaf", "runtime/personas"},
	"runtime/alone":     {"abi", "runtime/journal", "runtime/provider", "runtime/provider/secret", "runtime/replay", "runtime/sandbox"},
	"runtime/artifacts": {"abi", "storage", "runtime/desk", "runtime/disk", "runtime/hostcall", "runtime/ledger", "runtime/provider"},
	"runtime/aside":     {"abi", "storage", "runtime/desk", "runtime/ledger", "runtime/lockrank"},
	"runtime/askclient": {"abi", "runtime/provider"},
	"runtime/apart":     {"abi", "runtime/journal", "runtime/provider", "runtime/sandbox"},
	"runtime/copies":    {"abi", "runtime/desk"},
	"runtime/deletion":  {"abi", "storage", "runtime/desk", "runtime/ledger"},
	"runtime/figures":   {"abi", "runtime/lockrank"},
	"runtime/filetree":  {},
	"runtime/installs":  {"abi", "storage", "runtime/desk", "runtime/journal", "runtime/ledger", "runtime/lockrank", "runtime/manifest", "runtime/parcel"},
	"runtime/files":     {"abi", "storage", "runtime/desk", "runtime/disk", "runtime/hosttools", "runtime/ledger", "runtime/lockrank", "runtime/provider", "runtime/turns"},
	"runtime/memories": {"abi", "abi/jsonw", "storage", "runtime/desk", "runtime/hostcall", "runtime/ledger",
		"runtime/personas", "runtime/provider"},
	"runtime/enginetest": {"abi", "abi/eventstest", "runtime/desk", "runtime/engine", "runtime/journal", "runtime/receipt",
		"runtime/sandbox", "runtime/tenancy", "storage", "storage/pebble", "storage/pebble/crashtest"},
	"runtime/hooks": {"abi", "abi/jsonw", "storage", "runtime/apart", "runtime/desk", "runtime/journal", "runtime/ledger", "runtime/outbox", "runtime/provider",
		"runtime/skill", "runtime/tooluse", "runtime/turns"},
	"runtime/harnesses": {"abi", "storage", "runtime/background", "runtime/desk", "runtime/ledger", "runtime/lockrank", "runtime/provider", "runtime/provider/secret",
		"runtime/provider/tool", "runtime/provider/web", "runtime/sealed"},
	"runtime/hostcall":   {"abi", "storage", "runtime/ledger", "runtime/provider"},
	"runtime/desk":       {"abi", "abi/jsonw", "storage", "runtime/ledger", "runtime/lockrank", "runtime/turns"},
	"runtime/disk":       {"abi", "storage"},
	"runtime/background": {"runtime/lockrank"},
	"runtime/backlog":    {},
	"runtime/intake": {"abi", "abi/jsonw", "storage", "runtime/alarm", "runtime/apart", "runtime/background", "runtime/backlog",
		"runtime/connector", "runtime/connector/schedule", "runtime/connector/signature", "runtime/desk", "runtime/hostcall",
		"runtime/journal", "runtime/ledger", "runtime/lockrank", "runtime/provider", "runtime/sandbox", "runtime/turns"},
	"runtime/lifecycle": {"abi"},
	"runtime/lockrank":  {},
	"runtime/manifest": {"abi", "runtime/connector", "runtime/connector/schedule", "runtime/policy", "runtime/provider/secret", "runtime/skill",
		"runtime/skillmd", "runtime/spelling"},
	"runtime/oaf": {"runtime/filetree", "runtime/skillmd"},
	"runtime/outbox": {"abi", "abi/jsonw", "storage", "runtime/alarm", "runtime/background", "runtime/connector/signature", "runtime/desk",
		"runtime/ledger", "runtime/lockrank", "runtime/provider", "runtime/provider/program", "runtime/provider/web", "runtime/redact", "runtime/sealed"},
	"runtime/delegation": {"abi", "storage", "runtime/desk", "runtime/ledger", "runtime/provider", "runtime/provider/agent"},
	"runtime/deltas":     {"abi"},
	"runtime/hosttools":  {"abi"},
	"runtime/tooluse":    {"abi", "runtime/hosttools"},
	"runtime/sealed":     {"abi", "storage", "runtime/desk", "runtime/ledger"},
	"runtime/ownfacts":   {"abi", "storage", "runtime/hostcall", "runtime/ledger", "runtime/lockrank", "runtime/provider"},
	"runtime/personas": {"abi", "storage", "runtime/desk", "runtime/journal", "runtime/ledger", "runtime/lockrank",
		"runtime/policy", "runtime/skill", "runtime/turns"},
	"runtime/provider/hosts": {"abi", "storage", "runtime/hostcall", "runtime/ledger", "runtime/provider", "runtime/provider/program",
		"runtime/provider/tool", "runtime/ranking"},
	"runtime/proofs": {"abi", "abi/jsonw", "storage", "runtime/bundle", "runtime/composition", "runtime/desk", "runtime/journal", "runtime/ledger",
		"runtime/lockrank", "runtime/personas", "runtime/receipt", "runtime/records", "runtime/redact", "runtime/replay"},
	"runtime/subagents":     {"abi", "storage", "runtime/journal", "runtime/ledger", "runtime/personas", "runtime/provider", "runtime/provider/tool"},
	"runtime/owntools":      {"abi", "runtime/hosttools", "runtime/personas", "runtime/provider"},
	"runtime/policy/action": {"abi", "runtime/hosttools", "runtime/policy", "runtime/provider"},
	"runtime/ranking":       {},
	"runtime/spelling":      {},
	"runtime/blocks": {"abi", "storage", "runtime/desk", "runtime/filetree", "runtime/hostcall", "runtime/ledger", "runtime/memories", "runtime/oaf",
		"runtime/provider", "runtime/ranking"},
	"runtime/parcel":          {"abi", "runtime/filetree", "runtime/keyfile", "runtime/manifest", "runtime/receipt"},
	"runtime/parcel/registry": {"runtime/filetree", "runtime/manifest", "runtime/parcel"},
	"runtime/plans":           {"abi", "storage", "runtime/desk", "runtime/hostcall", "runtime/ledger", "runtime/provider"},
	"runtime/pinned":          {"storage", "runtime/journal", "runtime/ledger", "runtime/lockrank", "runtime/personas"},
	"runtime/programs":        {"abi", "storage", "runtime/journal", "runtime/personas", "runtime/sandbox"},
	"runtime/live":            {"abi", "storage", "runtime/desk", "runtime/ledger", "runtime/lockrank"},
	"runtime/inbox": {"abi", "storage", "runtime/desk", "runtime/hostcall", "runtime/ledger", "runtime/lockrank", "runtime/provider",
		"runtime/sessions", "runtime/waiting"},
	"runtime/quotas": {"abi", "storage", "runtime/desk", "runtime/journal", "runtime/ledger", "runtime/lockrank",
		"runtime/policy/quota", "runtime/provider"},
	"runtime/records": {"abi", "storage", "runtime/desk", "runtime/journal", "runtime/ledger", "runtime/personas", "runtime/provider", "runtime/quotas",
		"runtime/receipt", "runtime/redact"},
	"runtime/redact": {"abi", "abi/jsonw", "runtime/journal"},
	"runtime/replays": {"abi", "abi/jsonw", "storage", "runtime/desk", "runtime/journal", "runtime/ledger", "runtime/lifecycle",
		"runtime/personas", "runtime/proofs", "runtime/receipt", "runtime/records", "runtime/redact", "runtime/replay", "runtime/sandbox",
		"runtime/sessions"},
	"runtime/secrets": {"abi", "storage", "runtime/desk", "runtime/ledger", "runtime/lockrank", "runtime/policy",
		"runtime/provider", "runtime/provider/secret", "runtime/provider/vault", "runtime/sealed"},
	"runtime/tenancy": {"abi", "storage", "runtime/desk", "runtime/identity", "runtime/ledger", "runtime/lockrank"},
	"runtime/sessions": {"abi", "abi/jsonw", "storage", "runtime/desk", "runtime/hostcall", "runtime/ledger",
		"runtime/lockrank", "runtime/memories", "runtime/personas", "runtime/provider", "runtime/redact", "runtime/references"},
	"runtime/references": {"abi", "storage", "runtime/desk", "runtime/ledger"},
	"runtime/skillbundles": {"abi", "storage", "runtime/desk", "runtime/filetree", "runtime/hostcall", "runtime/journal", "runtime/ledger",
		"runtime/lockrank", "runtime/provider", "runtime/skillmd"},
	"runtime/skillmd":   {"runtime/filetree"},
	"runtime/scheduler": {"runtime/lockrank"},
	"runtime/toolservers": {"abi", "storage", "runtime/desk", "runtime/ledger", "runtime/lockrank", "runtime/provider",
		"runtime/provider/secret", "runtime/provider/tool", "runtime/provider/web", "runtime/sealed"},
	"runtime/customtools": {"abi", "abi/jsonw", "storage", "runtime/connector/signature", "runtime/desk", "runtime/ledger", "runtime/lockrank",
		"runtime/provider", "runtime/provider/program", "runtime/provider/tool", "runtime/provider/web", "runtime/sealed", "runtime/skill", "runtime/turns"},
	"runtime/waiting": {"abi", "storage", "runtime/alarm", "runtime/askclient", "runtime/desk", "runtime/hosttools", "runtime/journal", "runtime/ledger", "runtime/lockrank",
		"runtime/policy", "runtime/provider", "runtime/sessions", "runtime/skill", "runtime/turns"},
	"runtime/workers": {"abi", "storage", "runtime/desk", "runtime/ledger", "runtime/lockrank", "runtime/personas", "runtime/redact"},

	"runtime/composition": {"abi", "runtime/hosttools", "runtime/journal", "runtime/ledger", "runtime/policy", "runtime/provider",
		"runtime/tooluse"},

	"runtime/sandbox/rewrite": {},
	"runtime/sandbox/stack":   {},
	"runtime/sandbox/guest":   {"abi", "runtime/sandbox/stack", "runtime/turns"},
	"runtime/sandbox/wasi":    {"runtime/sandbox/guest", "runtime/sandbox/rewrite"},
	"runtime/sandbox/extism": {"abi", "runtime/sandbox/guest", "runtime/sandbox/image", "runtime/sandbox/rewrite",
		"runtime/sandbox/stack", "runtime/sandbox/wasi"},
	"runtime/ledger": {"abi", "storage", "runtime/lockrank", "runtime/turns"},
}

// owners says which packages alone may import a library, tests included. A
// library is named by a prefix of its import path, an owner by a prefix of its
// path in the module.
var owners = []struct {
	library string
	by      []string
}{
	// The benches measure against plain wazero, Extism's SDK and a bare Pebble.
	{"github.com/tetratelabs/wazero", []string{"runtime/sandbox", "benches"}},
	{"github.com/extism/", []string{"runtime/sandbox", "benches"}},
	{"github.com/cockroachdb/pebble", []string{"storage/pebble", "benches"}},
	{"oras.land/oras-go/", []string{"runtime/parcel/registry"}},
}

// overHTTP are the rooms of runtime that ask others over HTTP, or hear of deliveries that came so.
// What others answer clients with, by which status and at which path, is for adapters to say.
var overHTTP = []string{"runtime/connector", "runtime/customtools", "runtime/harnesses", "runtime/identity", "runtime/intake", "runtime/outbox", "runtime/parcel/registry", "runtime/provider",
	"runtime/toolservers"}

// forTests are packages that set things up for tests: only tests may import them, and they one
// another. They may import what lies in their own layer or below it, stores too, or what their
// entry in rooms says.
var forTests = []string{
	"abi/eventstest", "storage/storagetest", "storage/pebble/crashtest", "runtime/internal/roomtest", "runtime/enginetest",
	"gateway/acp/acptest",
}

// guests are the parts that run as plugins. They depend on the standard library
// alone, so they may use encoding/json; and a guest has one host, which is global
// by nature, so they may keep it in a variable.
var guests = []string{"sdk/go", "plugins/agent", "plugins/conformance", "plugins/connectors", "plugins/digest"}

// clients are the parts that run in other people's programs, which get the standard library with
// them and nothing else.
var clients = []string{"sdk/client/go"}

// Guest reports whether a package runs as a plugin.
func Guest(importPath string) bool {
	local, ours := inModule(importPath)
	return ours && underAny(local, guests)
}

// CheckImports returns a sentence for each import of p that breaks a rule.
func CheckImports(p Package) []string {
	local, ours := inModule(p.Path)
	if !ours {
		return nil
	}
	var broken []string
	report := func(imp, rule string) {
		broken = append(broken, fmt.Sprintf("%s imports %s: %s", p.Path, imp, rule))
	}
	for _, imp := range p.Imports {
		if rule := checkImport(local, imp); rule != "" {
			report(imp, rule)
		}
	}
	for _, imp := range slices.Concat(p.Imports, p.TestImports) {
		if rule := checkOwner(local, imp); rule != "" {
			report(imp, rule)
		}
	}
	return broken
}

// checkImport returns the rule that an import by non-test code breaks, or "".
func checkImport(local, imp string) string {
	target, ours := inModule(imp)
	if !ours {
		if imp == "encoding/json" && !underAny(local, guests) && !underAny(local, clients) {
			return "encoding/json takes duplicate keys and bad UTF-8; use github.com/go-json-experiment/json"
		}
		if imp == "net/http" && under(local, "runtime") && !underAny(local, overHTTP) {
			return "the engine speaks no protocol: adapters say by which status something is answered"
		}
		return ""
	}
	if island, ok := islandOf(local); ok {
		if !underAny(target, islands[island]) {
			return island + " stands on its own"
		}
		return ""
	}
	if _, ok := islandOf(target); ok {
		if layer, known := mounted[target]; known && under(local, layer) {
			return ""
		}
		return "nothing in the layers depends on " + target
	}
	if known, ok := rooms[local]; ok && target != everywhere && !slices.Contains(known, target) {
		return local + " is to be read by itself: pass it what it needs"
	}
	if slices.Contains(forTests, target) && !slices.Contains(forTests, local) {
		return target + " is for tests: only a _test.go file imports it"
	}
	return checkLayers(local, target)
}

func checkLayers(local, target string) string {
	from, to := layerOf(local), layerOf(target)
	switch {
	case from < 0 || to < 0: // benches, and whatever else stands on top
		return ""
	case to > from:
		return "imports go downwards only: cmd → gateway → runtime → plugins → storage → abi"
	case layers[from] == "abi" && !under(target, "abi"):
		return "abi imports nothing of ours"
	case slices.Contains(forTests, local):
		return ""
	case layers[from] == "gateway" && under(target, "storage"):
		return "no adapter touches storage: ask the engine"
	case adapter(local) != "" && layers[to] == "runtime":
		return "adapters ask gateway/api, whose views are already what the caller may see"
	case layers[from] == "runtime" && target != "storage" && under(target, "storage"):
		return "runtime asks storage, and knows no engine behind it"
	case layers[from] == "runtime" && !under(local, "runtime/engine") && under(target, "runtime/engine"):
		return "the engine is made from the rooms of runtime, and none of them knows it"
	case adapter(local) != "" && adapter(target) != "" && adapter(local) != adapter(target):
		return "one adapter never imports another"
	}
	return ""
}

// checkOwner returns the rule that an import of a library breaks, or "".
func checkOwner(local, imp string) string {
	for _, o := range owners {
		if strings.HasPrefix(imp, o.library) && !underAny(local, o.by) {
			return "only " + strings.Join(o.by, " and ") + " may import " + o.library
		}
	}
	return ""
}

// adapter returns the gateway adapter that a package belongs to, "" when it
// belongs to none: what is shared by all of them is no adapter.
func adapter(local string) string {
	rest, ok := strings.CutPrefix(local, "gateway/")
	if !ok || underAny(rest, []string{"api", "bridge", "jsonrpc", "internal"}) {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func layerOf(local string) int {
	name, _, _ := strings.Cut(local, "/")
	return slices.Index(layers, name)
}

// islandOf returns the island with the longest path that holds local.
func islandOf(local string) (name string, ok bool) {
	for island := range islands {
		if under(local, island) && len(island) > len(name) {
			name, ok = island, true
		}
	}
	return name, ok
}

// inModule returns the path of a package within the repository.
func inModule(importPath string) (local string, ours bool) {
	if importPath == ModulePath {
		return "", true
	}
	return strings.CutPrefix(importPath, ModulePath+"/")
}

func under(local, dir string) bool {
	return local == dir || strings.HasPrefix(local, dir+"/")
}

func underAny(local string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return under(local, dir) })
}

// CheckExplained returns a sentence for each import of p, tests included, of a
// module that the text does not name in backquotes, with or without its
// github.com/.
func CheckExplained(p Package, text string) []string {
	local, ours := inModule(p.Path)
	if _, island := islandOf(local); !ours || island && underAny(local, guests) {
		return nil
	}
	var broken []string
	for _, imp := range slices.Concat(p.Imports, p.TestImports) {
		host, _, _ := strings.Cut(imp, "/")
		if _, own := inModule(imp); own || !strings.Contains(host, ".") || explained(imp, text) {
			continue
		}
		broken = append(broken, fmt.Sprintf("%s imports %s, and nothing says why it is there", p.Path, imp))
	}
	return broken
}

func explained(imp, text string) bool {
	for module := imp; module != "."; module = path.Dir(module) {
		short := strings.TrimPrefix(module, "github.com/")
		if strings.Contains(text, "`"+short+"`") || strings.Contains(text, "`"+module+"`") {
			return true
		}
	}
	return false
}

// vagueNames are package names that say nothing of what is inside.
var vagueNames = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base"}

// CheckName returns a sentence when a package's path ends in a name that says nothing.
func CheckName(importPath string) []string {
	if name := path.Base(importPath); slices.Contains(vagueNames, name) {
		return []string{fmt.Sprintf("%s: %q does not say what the package is for", importPath, name)}
	}
	return nil
}

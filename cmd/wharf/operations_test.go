package main

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the operations of a node that no command line of [asked] reaches, with the command that
// does, or with why no command is needed.
var elsewhere = map[string]string{
	"getHold": "wharf hold list",
	// What programs ask of a node, and people do not.
	"getTokenKeys":           "for programs that check a token",
	"getAuthorizationServer": "for programs that ask for a token; \"wharf token\" needs none of it",
	"getHealth":              "for what watches processes; \"wharf node ready\" asks more",
	"getLiveness":            "for what watches processes; \"wharf node ready\" asks more",
	"getMetrics":             "for what collects metrics",
	"getOpenAPI":             "for what makes clients",
	"getDiscovery":           "for clients of other makers; \"wharf node show\" shows what people want of it",
	"getAgentCard":           "for clients of other makers; \"wharf a2a card\" shows the node's card",
	"getVersion":             "\"wharf node show\" shows it",
	"validateWebhook":        "what a provider asks before it delivers",
	"connectSession":         "a WebSocket for programs; \"wharf event tail\" and \"wharf task submit\" are its halves",

	// What others show as well.
	"listSessionEvents":          "wharf event list --session",
	"streamSessionEvents":        "wharf event tail --session",
	"listSessionTasks":           "wharf task list --session",
	"submitSessionTask":          "wharf task submit --session",
	"listTaskPermissionRequests": "wharf inbox list --task",
	"listOutcomes":               "wharf task get --outcome",
	"listSigningKeys":            "wharf key published",
	"redriveDeadLetters":         "wharf connector redrive --all, which says what became of each",
	"redriveWebhookDeliveries":   "wharf webhook redrive --all, which says what became of each",

	// What other tests reach, over a node.
	"listTaskEvents":        "wharf task submit --follow",
	"streamTaskEvents":      "wharf task tail",
	"getRecord":             "wharf task diff",
	"backup":                "wharf backup",
	"installSkillBundle":    "wharf skill install",
	"upgradeSkillBundle":    "wharf skill upgrade",
	"getSkillBundleContent": "wharf skill download",
	"listPlugins":           "wharf plugin installed",
	"getPlugin":             "wharf plugin show",
	"getPluginManifest":     "wharf plugin show",
	"installPlugin":         "wharf plugin install",
	"removePlugin":          "wharf plugin remove",
	"enablePlugin":          "wharf plugin enable",
	"disablePlugin":         "wharf plugin disable",
	"rollbackPlugin":        "wharf plugin rollback",
}

// operation is one of a node, and what its requests look like.
type operation struct {
	id, method string
	path       *regexp.Regexp
	fixed      int // how many parts of its path are no parameters
}

// operations are those of the document that a node serves. The first that fits a request is its.
func operations(t *testing.T) (all []operation) {
	t.Helper()
	text, err := os.ReadFile("../../gateway/harn/testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	parameter := regexp.MustCompile(`\\\{[^}]+\\\}`)
	for path, methods := range doc.Paths {
		pattern := regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
		for method, op := range methods {
			if op.OperationID != "" {
				all = append(all, operation{op.OperationID, strings.ToUpper(method), pattern, strings.Count(path, "/") - strings.Count(path, "{")})
			}
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return b.fixed - a.fixed })
	return all
}

// TestEveryOperationHasACommand holds that whatever can be asked of a node over REST can be asked by a
// command, or that it is said why not.
func TestEveryOperationHasACommand(t *testing.T) {
	text, err := os.ReadFile("testdata/asked.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, reached, left := operations(t), map[string]bool{}, maps.Clone(elsewhere)
	for _, m := range regexp.MustCompile(`(?m)^> (\S+) ([^\s?]+)`).FindAllStringSubmatch(string(text), -1) {
		i := slices.IndexFunc(all, func(op operation) bool { return op.method == m[1] && op.path.MatchString(m[2]) })
		if i >= 0 {
			reached[all[i].id] = true
		}
	}
	root := (&app{}).root()
	for _, op := range all {
		by, said := elsewhere[op.id]
		switch {
		case reached[op.id] && said:
			t.Errorf("%s is reached by a command: take it out of elsewhere", op.id)
		case !reached[op.id] && !said:
			t.Errorf("no command reaches %s: add one, and a command line of it to asked, or say in elsewhere why not", op.id)
		}
		delete(left, op.id)
		if words := strings.Fields(by); len(words) > 1 && words[0] == "wharf" {
			name := words[1:]
			for i, word := range name {
				if word = strings.TrimSuffix(word, ","); strings.HasPrefix(word, "-") {
					name = name[:i]
					break
				}
			}
			if cmd, rest, err := root.Find(name); err != nil || len(rest) > 0 || cmd == root {
				t.Errorf("%s: there is no command %q", op.id, by)
			}
		}
	}
	for id := range left {
		t.Errorf("a node has no operation %s", id)
	}
}

// TestTheVaultsPage holds that the commands of docs/vaults.md that make a Connector with a secret of a
// vault are those that the script "rest" runs.
func TestTheVaultsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/vaults.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/rest.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## A Connector that checks signatures")
	_, block, _ := strings.Cut(section, "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	commands := regexp.MustCompile(`wharf [^|<)\n]+`).FindAllString(block, -1)
	if len(commands) < 6 {
		t.Errorf("the page has these commands only: %q", commands)
	}
	for _, command := range commands {
		command = strings.TrimSuffix(strings.TrimSpace(command), " --json")
		if !strings.Contains(string(script), "\nexec "+command) {
			t.Errorf("the script does not run %q", command)
		}
	}
}

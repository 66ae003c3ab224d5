package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// Kind says where a code is met.
type Kind string

// The kinds, in the order in which they are told.
const (
	Answer   Kind = "answer"   // of a node to a request
	Failure  Kind = "failure"  // of a Task
	Inbox    Kind = "inbox"    // why a message in an inbox cannot be changed
	Status   Kind = "status"   // of a host call, as a plugin sees it
	Manifest Kind = "manifest" // of wharf plugin lint
	Exit     Kind = "exit"     // of the program
)

// Kinds lists the kinds in the order in which they are told.
func Kinds() []Kind { return []Kind{Failure, Answer, Inbox, Status, Manifest, Exit} }

// Title is what the codes of a kind are called.
func (k Kind) Title() string {
	return map[Kind]string{
		Failure: "Why a Task failed", Answer: "What a node answers", Inbox: "Why a message of an inbox stays as it is",
		Status: "What a host call answers a plugin", Manifest: "What is wrong with a manifest", Exit: "How the program ends",
	}[k]
}

// Page is about one code.
type Page struct {
	Code    string `json:"code"`
	Kind    Kind   `json:"kind"`
	Short   string `json:"short"`            // a phrase
	Means   string `json:"means"`            // sentences
	Do      string `json:"do"`               // sentences
	Example string `json:"example,omitzero"` // commands and files, a line each
	HTTP    int    `json:"http,omitzero"`    // the usual status of an answer
}

// Pages returns all pages, by kind and then as they are told.
func Pages() (all []Page) {
	for _, pages := range [][]Page{failures(), answers(), inboxes(), statuses(), manifests(), exits()} {
		all = append(all, pages...)
	}
	for i := range all {
		if all[i].Kind == Answer {
			all[i].HTTP = abi.ErrorCode(all[i].Code).Class().Status
		}
	}
	return all
}

// Find returns the pages of a code, as it may stand in a message. A few codes are met in two
// places.
func Find(code string) []Page {
	code = strings.ToLower(strings.Trim(strings.Join(strings.Fields(code), " "), `:."'[]() `))
	return slices.DeleteFunc(Pages(), func(p Page) bool {
		number, _, _ := strings.Cut(p.Short, ":")
		return code == "" || p.Code != code && p.Code != "exit "+code && !(p.Kind == Status && number == code)
	})
}

// Near returns a code that looks like one that there is no page about, "" where none does.
func Near(code string) string {
	best, most := "", len(code)/2
	for _, p := range Pages() {
		if alike := ends(code, p.Code); alike > most {
			best, most = p.Code, alike
		}
	}
	return best
}

// ends is how many bytes two texts begin and end with alike.
func ends(a, b string) (n int) {
	short := min(len(a), len(b))
	for n < short && a[n] == b[n] {
		n++
	}
	for i := 1; n < short && a[len(a)-i] == b[len(b)-i]; i++ {
		n++
	}
	return n
}

// Reference returns docs/errors.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(`<!-- Made from cmd/wharf/internal/explain: go test ./cmd/wharf/internal/explain -update -->
# Error codes
Every code that Wharf answers, fails or ends with: what it means and what to do. The program has the same pages:
` + "`wharf explain CODE`" + `. A plugin may fail with codes of its own, which its author explains.
`)
	pages := Pages()
	for _, k := range Kinds() {
		fmt.Fprintf(&b, "\n## %s\n", k.Title())
		for _, p := range pages {
			if p.Kind == k {
				p.markdown(&b)
			}
		}
	}
	return b.String()
}

func (p *Page) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n%s", p.Code, upper(p.Short))
	if p.HTTP != 0 {
		fmt.Fprintf(b, " (HTTP %d)", p.HTTP)
	}
	fmt.Fprintf(b, ". %s\n\n**What to do:** %s\n", p.Means, p.Do)
	if p.Example != "" {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", strings.Trim(p.Example, "\n"))
	}
}

func upper(phrase string) string { return strings.ToUpper(phrase[:1]) + phrase[1:] }

package py

import (
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// imported is what a statement imports.
type imported struct {
	module string // with dots, "" for "from . import"
	level  int    // dots in front
	names  []string
	surely bool // the statement is not indented: nothing decides whether it runs
	at     token
}

// scanned is what a source says of what it needs.
type scanned struct {
	imports []imported
	calls   []string // host calls
	names   []string // what "__all__" lists
	binds   map[string]bool
}

// helpers are the functions of the SDK that make a host call of another name.
func helpers() map[string]string {
	return map[string]string{"reply": abi.CallMessageAppend, "fetch": abi.CallHTTPFetch}
}

// functions are the host calls by the names of their functions.
func functions() map[string]string {
	all := helpers()
	for _, c := range abi.HostCalls() {
		all[functionName(c.Name)] = c.Name
	}
	return all
}

// functionName is what a host call is called in Python: state.get is state_get.
func functionName(call string) string { return strings.ReplaceAll(call, ".", "_") }

// scan finds imports, and the host calls whose functions are named.
func scan(source string) *scanned {
	s := &scanned{binds: map[string]bool{}}
	all := tokens(source)
	known, aliases := functions(), map[string]bool{}
	for i := 0; i < len(all); i++ {
		t := all[i]
		switch {
		case t.first && !t.literal && (t.text == "import" || t.text == "from"):
			end := i + 1
			for end < len(all) && !all[end].first {
				end++
			}
			s.statement(all[i:end], known, aliases)
			i = end - 1
		case t.first && !t.indented && t.text == "__all__":
			s.names = listed(all[i+1:])
		case t.isName() && !after(all, i, "."):
			s.name(all, i, known, aliases)
		}
	}
	slices.Sort(s.calls)
	s.calls = slices.Compact(s.calls)
	return s
}

func after(all []token, i int, sign string) bool {
	return i > 0 && !all[i-1].literal && all[i-1].text == sign
}

// name takes a name that is no member: a use of print, of the module, or a definition.
func (s *scanned) name(all []token, i int, known map[string]string, aliases map[string]bool) {
	t := all[i]
	if t.text == "print" {
		s.calls = append(s.calls, abi.CallLog)
	}
	if !t.indented && (t.first || after(all, i, "def")) {
		s.binds[t.text] = true
	}
	if aliases[t.text] && i+2 < len(all) && all[i+1].text == "." {
		if call, ok := known[all[i+2].text]; ok {
			s.calls = append(s.calls, call)
		}
	}
}

// listed are the strings of a list behind "=".
func listed(rest []token) (names []string) {
	for _, t := range rest {
		if t.first {
			break
		}
		if t.literal {
			names = append(names, t.text)
		}
	}
	return names
}

// statement reads "import a.b as c, d" and "from ..a import b as c, d".
func (s *scanned) statement(words []token, known map[string]string, aliases map[string]bool) {
	r := &statement{rest: words[1:]}
	surely := !words[0].indented
	if words[0].text == "import" {
		for more := true; more; more = r.take(",") {
			at := r.peek()
			module := r.dotted()
			as := r.as()
			s.imports = append(s.imports, imported{module: module, surely: surely, at: at})
			if module == moduleWharf {
				aliases[or(as, module)] = true
			}
			s.bind(surely, or(as, module))
		}
		return
	}
	each := imported{surely: surely, at: r.peek()}
	for r.take(".") {
		each.level++
	}
	if r.peek().text != "import" {
		each.module = r.dotted()
	}
	r.take("import")
	r.take("(")
	for more := true; more && len(r.rest) > 0 && r.peek().text != ")"; more = r.take(",") {
		name := r.peek().text
		r.rest = r.rest[1:]
		as := r.as()
		each.names = append(each.names, name)
		s.bind(surely, or(as, name))
	}
	s.imports = append(s.imports, each)
	if each.module == moduleWharf && each.level == 0 {
		s.taken(each.names, known)
	}
}

// taken takes the host calls of names that are imported from the SDK. With "*" they are all.
func (s *scanned) taken(names []string, known map[string]string) {
	for name, call := range known {
		if slices.Contains(names, name) || slices.Contains(names, "*") {
			s.calls = append(s.calls, call)
		}
	}
}

func (s *scanned) bind(surely bool, name string) {
	if surely {
		s.binds[name] = true
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// statement is the rest of one.
type statement struct{ rest []token }

func (r *statement) peek() token {
	if len(r.rest) == 0 {
		return token{}
	}
	return r.rest[0]
}

func (r *statement) take(text string) bool {
	if r.peek().literal || r.peek().text != text {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// dotted reads a name with dots.
func (r *statement) dotted() string {
	var b strings.Builder
	for r.peek().isName() || r.peek().text == "." {
		if r.peek().text == "as" || r.peek().text == "import" {
			break
		}
		b.WriteString(r.peek().text)
		r.rest = r.rest[1:]
	}
	return b.String()
}

// as reads "as NAME", "" when it is not there.
func (r *statement) as() string {
	if !r.take("as") {
		return ""
	}
	name := r.peek().text
	if len(r.rest) > 0 {
		r.rest = r.rest[1:]
	}
	return name
}

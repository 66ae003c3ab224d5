package alone

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/replay"
)

// Answers are what a file says that host calls are answered with. One run uses it.
type Answers struct {
	config map[string]jsontext.Value
	rules  map[string][]*rule
}

// rule is one answer.
type rule struct {
	callID  string
	request jsontext.Value // what the request has to have; nil for nothing
	status  abi.CallStatus
	answer  []byte
	repeat  bool
	used    bool
	where   string
}

// statuses are the names of statuses in a file: those of the documents.
var statuses = map[string]abi.CallStatus{"ok": abi.CallOK, "invalid": abi.CallInvalid, "denied": abi.CallDenied, "not_found": abi.CallNotFound,
	"too_large": abi.CallTooLarge, "unavailable": abi.CallUnavailable, "indeterminate": abi.CallIndeterminate, "timeout": abi.CallTimeout}

// StatusName is how a file writes a status.
func StatusName(s abi.CallStatus) string {
	for name, status := range statuses {
		if status == s {
			return name
		}
	}
	return fmt.Sprint(uint32(s))
}

// ReadAnswers reads a file of answers. Its errors are a [*Problem].
func ReadAnswers(file string, text []byte) (*Answers, error) {
	n, err := readFile(file, text)
	if err != nil {
		return nil, err
	}
	return answersOf(n)
}

func answersOf(n *node) (*Answers, error) {
	a := &Answers{config: map[string]jsontext.Value{}, rules: map[string][]*rule{}}
	if n.kind != '{' {
		return nil, n.problem("answers are a mapping: the name of a host call, and its answers")
	}
	defs := abi.HostCallsByName()
	for i, name := range n.names {
		part := &n.parts[i]
		if name == "config" {
			if err := a.readConfig(part); err != nil {
				return nil, err
			}
			continue
		}
		def := defs[name]
		if def == nil {
			return nil, part.problem("there is no host call %q%s", name, similar(name, defs))
		}
		if err := a.readRules(def, part); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// similar says which calls a name may stand for.
func similar(name string, defs map[string]*abi.HostCall) string {
	family, _, _ := strings.Cut(strings.Replace(name, "_", ".", 1), ".")
	var near []string
	for call := range defs {
		if strings.HasPrefix(call, family) {
			near = append(near, call)
		}
	}
	slices.Sort(near)
	if len(near) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(near, ", ") + "?"
}

func (a *Answers) readConfig(n *node) error {
	if n.kind != '{' {
		return n.problem("config is a mapping: names, and what config.get answers for them")
	}
	for i, name := range n.names {
		a.config[name] = n.parts[i].json()
	}
	return nil
}

// readRules reads the answers of a call: a list, which is used up in its order, or one alone, which
// every such call gets.
func (a *Answers) readRules(def *abi.HostCall, n *node) error {
	if def.Effect == abi.EffectHint {
		return n.problem("%s is telemetry, which is not answered", def.Name)
	}
	parts := n.parts
	if n.kind != '[' {
		parts = []node{*n}
	}
	for i := range parts {
		r, err := readRule(def, &parts[i])
		if err != nil {
			return err
		}
		r.repeat = r.repeat || n.kind != '['
		a.rules[def.Name] = append(a.rules[def.Name], r)
	}
	return nil
}

func readRule(def *abi.HostCall, n *node) (*rule, error) {
	if err := n.only("an answer of "+def.Name, "call_id", "request", "answer", "text", "base64", "status", "error", "repeat"); err != nil {
		return nil, err
	}
	r := &rule{where: fmt.Sprintf("%s:%d", n.file, n.line)}
	if id := n.get("call_id"); id != nil {
		var err error
		if r.callID, err = id.text("call_id"); err != nil {
			return nil, err
		}
	}
	if request := n.get("request"); request != nil {
		r.request = request.json()
	}
	if repeat := n.get("repeat"); repeat != nil {
		if repeat.kind != 't' {
			return nil, repeat.problem("repeat is true or false")
		}
		r.repeat = string(repeat.scalar) == "true"
	}
	return r, r.readAnswer(def, n)
}

func (r *rule) readAnswer(def *abi.HostCall, n *node) error {
	if err := r.readStatus(n); err != nil {
		return err
	}
	given := 0
	for _, name := range []string{"answer", "text", "base64", "error"} {
		if n.get(name) != nil {
			given++
		}
	}
	if given > 1 {
		return n.problem("an answer has one of answer, text, base64, error")
	}
	switch {
	case r.status != abi.CallOK:
		return r.readError(n)
	case n.get("answer") != nil:
		return r.readValue(def, n.get("answer"))
	case n.get("text") != nil:
		text, err := n.get("text").text("text")
		r.answer = []byte(text)
		return err
	case n.get("base64") != nil:
		part := n.get("base64")
		if err := json.Unmarshal(part.json(), &r.answer); err != nil {
			return part.problem("base64 is a text in base64")
		}
	}
	return nil
}

func (r *rule) readStatus(n *node) error {
	status := n.get("status")
	if status == nil {
		if n.get("error") != nil {
			r.status = abi.CallUnavailable
		}
		return nil
	}
	name, err := status.text("status")
	if err != nil {
		return err
	}
	known := false
	if r.status, known = statuses[name]; !known {
		return status.problem("there is no status %q: one of ok, invalid, denied, not_found, too_large, unavailable, indeterminate, timeout", name)
	}
	if r.status == abi.CallOK && n.get("error") != nil {
		return status.problem("what is ok has no error")
	}
	return nil
}

func (r *rule) readError(n *node) error {
	failed := abi.CallError{Code: StatusName(r.status), Message: "as " + r.where + " says"}
	if part := n.get("error"); part != nil {
		if err := part.only("an error", "code", "message"); err != nil {
			return err
		}
		if err := json.Unmarshal(part.json(), &failed); err != nil {
			return part.problem("an error has a code and a message, which are texts")
		}
	} else if n.get("answer") != nil || n.get("text") != nil || n.get("base64") != nil {
		return n.problem("what is not ok has an error, and no answer")
	}
	var err error
	r.answer, err = json.Marshal(failed)
	return err
}

func (r *rule) readValue(def *abi.HostCall, n *node) error {
	answer, err := replay.AnswerTo(def.Name, n.json())
	if err != nil {
		return n.problem("it cannot answer %s: %v", def.Name, err)
	}
	if def.AnswerType != nil {
		into := reflect.New(reflect.TypeOf(def.AnswerType)).Interface()
		if err := json.Unmarshal(answer, into, json.RejectUnknownMembers(true)); err != nil {
			return n.problem("it cannot answer %s: %s", def.Name, plainly.Say(err))
		}
	}
	r.answer = answer
	return nil
}

// take returns the answer for a call: the first in its order that fits and is not used up, of those
// that say what they are for before those that fit every call; nil for none.
func (a *Answers) take(call string, request []byte) *rule {
	if a == nil {
		return nil
	}
	for _, named := range []bool{true, false} {
		for _, r := range a.rules[call] {
			if r.named() == named && (r.repeat || !r.used) && r.fits(call, request) {
				r.used = true
				return r
			}
		}
	}
	return nil
}

// named reports whether the rule says which calls it is for.
func (r *rule) named() bool { return r.callID != "" || r.request != nil }

func (r *rule) fits(call string, request []byte) bool {
	if !r.named() {
		return true
	}
	asked := Shown(call, request)
	if r.callID != "" {
		var named struct {
			CallID string `json:"call_id"`
		}
		if json.Unmarshal(asked, &named) != nil || named.CallID != r.callID {
			return false
		}
	}
	return r.request == nil || has(asked, r.request)
}

// has reports whether a value has what another says: an object may have more members.
func has(value, want jsontext.Value) bool {
	switch {
	case value.Kind() != want.Kind():
		return false
	case want.Kind() == '{':
		var given, wanted map[string]jsontext.Value
		if json.Unmarshal(value, &given) != nil || json.Unmarshal(want, &wanted) != nil {
			return false
		}
		for name, part := range wanted {
			if there, ok := given[name]; !ok || !has(there, part) {
				return false
			}
		}
		return true
	case want.Kind() == '[':
		var given, wanted []jsontext.Value
		return json.Unmarshal(value, &given) == nil && json.Unmarshal(want, &wanted) == nil && slices.EqualFunc(given, wanted, has)
	}
	return journal.SameValue(value, want)
}

// Unused says where answers stand that no call was given.
func (a *Answers) Unused() []string {
	if a == nil {
		return nil
	}
	var where []string
	for call, rules := range a.rules {
		for _, r := range rules {
			if !r.used {
				where = append(where, r.where+": "+call)
			}
		}
	}
	slices.Sort(where)
	return where
}

// Shown returns a request as JSON: that of artifact.put as its line, with the content beside it.
func Shown(call string, request []byte) jsontext.Value {
	if call != abi.CallArtifactPut {
		return journal.AsJSON(request)
	}
	line, content, found := bytes.Cut(request, []byte("\n"))
	head := jsontext.Value(line).Clone()
	if !found || head.Kind() != '{' || head.Compact() != nil {
		return journal.AsJSON(request)
	}
	head = append(head[:len(head)-1:len(head)-1], ',')
	if len(head) == 2 {
		head = head[:1]
	}
	whole := append(append(append(head, `"content":`...), journal.AsJSON(content)...), '}')
	if len(content) == 0 {
		whole = append(append(head, `"content":""`...), '}')
	}
	if !whole.IsValid() {
		return journal.AsJSON(request)
	}
	return whole
}

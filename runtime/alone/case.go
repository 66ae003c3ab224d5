package alone

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// Case is a test of a plugin, as a file says it: docs/testing-plugins.md has its members.
type Case struct {
	Export string // "" for the plugin's own
	file   string
	text   []byte
	input  jsontext.Value // what a Task is submitted with; nil where given is set
	given  jsontext.Value
	from   func() (*Answers, error) // reads the answers anew: one run uses them up
	start  time.Time
	seed   []byte
	expect expected
}

// expected is what a case says of a run. What is nil is not compared, but for the failure.
type expected struct {
	node    *node // of all of it; nil when there is none
	output  jsontext.Value
	calls   jsontext.Value
	logs    jsontext.Value
	failure *node
}

// ReadCase reads a test case. open reads a file that lies beside it, by its name. Errors of the text
// are a [*Problem].
func ReadCase(file string, text []byte, open func(name string) ([]byte, error)) (*Case, error) {
	n, err := readFile(file, text)
	if err != nil {
		return nil, err
	}
	if err := n.only("a test case", "input", "given", "export", "started_at", "seed", "answers", "expected"); err != nil {
		return nil, err
	}
	c := &Case{file: file, text: text, from: func() (*Answers, error) { return nil, nil }}
	read := map[string]func(*node) error{
		"input": c.readInput, "given": c.readGiven, "export": c.readExport, "started_at": c.readStart, "seed": c.readSeed,
		"answers": func(n *node) error { return c.readAnswers(n, open) }, "expected": c.readExpected,
	}
	for i, name := range n.names {
		if err := read[name](&n.parts[i]); err != nil {
			return nil, err
		}
	}
	if c.input != nil && c.given != nil {
		return nil, n.get("given").problem("a case has input or given, and not both")
	}
	return c, nil
}

func (c *Case) readInput(n *node) error {
	c.input = n.json()
	if n.kind != '"' {
		return nil
	}
	text, err := n.text("input")
	if err != nil {
		return err
	}
	c.input, err = Message(text)
	return err
}

func (c *Case) readGiven(n *node) error {
	c.given = n.json()
	if json.Unmarshal(c.given, &abi.CallInputAnswer{}) != nil {
		return n.problem("given is not what the host call input answers")
	}
	return nil
}

func (c *Case) readExport(n *node) (err error) {
	c.Export, err = n.text("export")
	return err
}

func (c *Case) readStart(n *node) error {
	text, err := n.text("started_at")
	if err != nil {
		return err
	}
	if c.start, err = time.Parse(time.RFC3339Nano, text); err != nil {
		return n.problem("started_at is a time such as 2026-01-01T00:00:00Z")
	}
	return nil
}

func (c *Case) readSeed(n *node) error {
	if json.Unmarshal(n.json(), &c.seed) != nil {
		return n.problem("seed is a text in base64")
	}
	return nil
}

// readAnswers reads the answers, which stand in the case or in a file beside it.
func (c *Case) readAnswers(n *node, open func(string) ([]byte, error)) error {
	if n.kind == '"' {
		name, err := n.text("answers")
		if err != nil {
			return err
		}
		text, err := open(name)
		if err != nil {
			return n.problem("the file of answers cannot be read: %v", err)
		}
		file := path.Join(path.Dir(c.file), name)
		if n, err = readFile(file, text); err != nil {
			return err
		}
	}
	c.from = func() (*Answers, error) { return answersOf(n) }
	_, err := c.from()
	return err
}

func (c *Case) readExpected(n *node) error {
	if err := n.only("expected", "output", "calls", "logs", "failure"); err != nil {
		return err
	}
	c.expect.node = n
	if part := n.get("output"); part != nil {
		c.expect.output = part.json()
	}
	if part := n.get("calls"); part != nil {
		c.expect.calls = part.json()
		if err := checkItems(part, "expected.calls", "call", "call", "request", "status"); err != nil {
			return err
		}
	}
	if part := n.get("logs"); part != nil {
		c.expect.logs = part.json()
		if err := checkItems(part, "expected.logs", "message", "level", "message"); err != nil {
			return err
		}
	}
	if part := n.get("failure"); part != nil && part.kind != 'n' {
		if err := part.only("expected.failure", "code", "message"); err != nil {
			return err
		}
		c.expect.failure = part
	}
	return nil
}

// checkItems refuses a list with items that could equal nothing.
func checkItems(n *node, what, needed string, members ...string) error {
	if n.kind != '[' {
		return n.problem("%s is a list", what)
	}
	for i := range n.parts {
		part := &n.parts[i]
		if err := part.only("an item of "+what, members...); err != nil {
			return err
		}
		if part.get(needed) == nil {
			return part.problem("an item of %s needs %s", what, needed)
		}
	}
	return nil
}

// Options returns what a run of the case is told, besides what others say of the plugin.
func (c *Case) Options(plugin, export string, o Options) (Options, error) {
	var err error
	if o.Answers, err = c.from(); err != nil {
		return o, err
	}
	o.Started, o.Seed, o.Given = c.start, c.seed, c.given
	if o.Given == nil {
		o.Given, err = Given(plugin, export, orNull(c.input))
	}
	return o, err
}

// madeCall is a call as cases write it.
type madeCall struct {
	Call    string         `json:"call"`
	Request jsontext.Value `json:"request,omitzero"`
	Status  string         `json:"status,omitzero"`
}

// did is what a run did, in the form of expected. The output is nil when there was none.
func did(r *Report) (output, calls, logs jsontext.Value, err error) {
	made := []madeCall{}
	for _, c := range r.Calls {
		m := madeCall{Call: c.Call, Request: c.Request}
		if c.Status != abi.CallOK {
			m.Status = StatusName(c.Status)
		}
		if c.Call == abi.CallOutput && c.Status == abi.CallOK {
			output = c.Request
			continue
		}
		made = append(made, m)
	}
	if calls, err = json.Marshal(made); err != nil {
		return nil, nil, nil, fmt.Errorf("writing what a plugin called: %w", err)
	}
	lines := append([]Log{}, r.Logs...)
	if logs, err = json.Marshal(lines); err != nil {
		return nil, nil, nil, fmt.Errorf("writing what a plugin logged: %w", err)
	}
	return output, calls, logs, nil
}

// Digest returns a hash that runs share which did what means the same: which calls they made, what these asked,
// what was refused, and how they ended.
func (r *Report) Digest() (string, error) {
	output, calls, _, err := did(r)
	if err != nil {
		return "", err
	}
	code := "null"
	if r.Failure != nil {
		code = string(quoted(r.Failure.Code))
	}
	text, err := journal.CanonicalValue([]byte(`[` + string(orNull(output)) + `,` + string(calls) + `,` + code + `]`))
	if err != nil {
		return "", fmt.Errorf("writing what a plugin did: %w", err)
	}
	return journal.HashOf(text), nil
}

// Compare returns every place in which a run is not what the case expects. Paths begin with what is
// compared, such as /output.
func (c *Case) Compare(r *Report, strict bool) ([]journal.Difference, error) {
	output, calls, logs, err := did(r)
	if err != nil {
		return nil, err
	}
	found := c.compareFailure(r)
	for _, side := range []struct {
		name      string
		want, got jsontext.Value
	}{{"/output", c.expect.output, orNull(output)}, {"/calls", c.expect.calls, calls}, {"/logs", c.expect.logs, logs}} {
		if side.want == nil {
			continue
		}
		found = append(found, at(side.name, journal.Differences(side.want, side.got, strict))...)
	}
	return found, nil
}

func (c *Case) compareFailure(r *Report) []journal.Difference {
	want := c.expect.failure
	switch {
	case want == nil && r.Failure == nil:
		return nil
	case want == nil:
		return []journal.Difference{{Path: "/failure", Got: failureValue(r.Failure)}}
	case r.Failure == nil:
		return []journal.Difference{{Path: "/failure", Want: want.json()}}
	}
	var found []journal.Difference
	for _, side := range [][2]string{{"code", r.Failure.Code}, {"message", r.Failure.Message}} {
		if part := want.get(side[0]); part != nil {
			found = append(found, at("/failure/"+side[0], journal.Differences(part.json(), quoted(side[1]), false))...)
		}
	}
	return found
}

// Fails reports whether the case expects that a run fails, and with this code.
func (c *Case) Fails(code string) bool {
	want := c.expect.failure
	if want == nil {
		return false
	}
	part := want.get("code")
	return part != nil && journal.SameValue(part.json(), quoted(code))
}

func at(path string, found []journal.Difference) []journal.Difference {
	for i := range found {
		found[i].Path = path + found[i].Path
	}
	return found
}

func failureValue(f *abi.Failure) jsontext.Value {
	return jsontext.Value(`{"code":` + string(quoted(f.Code)) + `,"message":` + string(quoted(f.Message)) + `}`)
}

// Updated returns the text of the case with what a run did as what is expected: the members that are
// there, or all of them where there is none. The rest of the text stays as it is. A text that is not
// written so that this can be done is a [*Problem].
func (c *Case) Updated(r *Report) ([]byte, error) {
	text, err := c.expectation(r)
	if err != nil {
		return nil, err
	}
	before, after := c.around()
	whole := append(append(before, text...), after...)
	if err := c.sameBut(whole, text); err != nil {
		return nil, &Problem{File: c.file, Message: "it cannot be updated: write expected: and its members on lines of their own"}
	}
	return whole, nil
}

// sameBut returns an error when a text is not that of the case with another expectation.
func (c *Case) sameBut(whole, expectation []byte) error {
	was, err := readFile(c.file, c.text)
	if err != nil {
		return err
	}
	is, err := readFile(c.file, whole)
	if err != nil {
		return err
	}
	put, err := readFile(c.file, expectation)
	if err != nil {
		return err
	}
	for _, name := range append(slices.Clone(was.names), is.names...) {
		from, to := was.get(name), is.get(name)
		if name == "expected" {
			from = put.get(name)
		}
		if from == nil || to == nil || !journal.SameValue(from.json(), to.json()) {
			return fmt.Errorf("%s would be another", name)
		}
	}
	return nil
}

// expectation writes what a run did as what is expected.
func (c *Case) expectation(r *Report) ([]byte, error) {
	output, calls, logs, err := did(r)
	if err != nil {
		return nil, err
	}
	all := c.ExpectsNothing()
	has := func(name string) bool { return all || c.expect.node.get(name) != nil }
	var b bytes.Buffer
	if has("output") && (output != nil || !all) {
		b.WriteString("  output:" + yamlAfter(orNull(output), 4))
	}
	if has("calls") {
		b.WriteString("  calls:" + yamlAfter(calls, 4))
	}
	if has("logs") && (len(r.Logs) > 0 || !all) {
		b.WriteString("  logs:" + yamlAfter(logs, 4))
	}
	if r.Failure != nil {
		b.WriteString("  failure:" + yamlAfter(c.failureOf(r.Failure), 4))
	}
	if b.Len() == 0 {
		return []byte("expected: {}\n"), nil
	}
	return append([]byte("expected:\n"), b.Bytes()...), nil
}

// failureOf is a failure as the case has it: the code alone where it does not compare the message.
func (c *Case) failureOf(f *abi.Failure) jsontext.Value {
	if was := c.expect.failure; was != nil && was.get("message") == nil {
		return jsontext.Value(`{"code":` + string(quoted(f.Code)) + `}`)
	}
	return failureValue(f)
}

// yamlAfter writes a value behind its name.
func yamlAfter(v jsontext.Value, indent int) string {
	w := yamlWriter{}
	if w.value(jsontext.NewDecoder(bytes.NewReader(v)), indent) != nil {
		return " null\n" // JSON that was read can be written
	}
	return w.b.String()
}

// around is the text before expected, and what comes after it.
func (c *Case) around() (before, after []byte) {
	text := string(c.text)
	if c.expect.node == nil {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return []byte(text), nil
	}
	lines := strings.SplitAfter(text, "\n")
	from := c.expect.node.line - 1
	to := from + 1
	for to < len(lines) && belongs(lines[to]) {
		to++
	}
	for to > from+1 && strings.TrimSpace(lines[to-1]) == "" {
		to--
	}
	return []byte(strings.Join(lines[:from], "")), []byte(strings.Join(lines[to:], ""))
}

// belongs reports whether a line is part of the block before it. Comments at the margin are not: they
// belong to what follows.
func belongs(line string) bool {
	return strings.TrimSpace(line) == "" || line[0] == ' ' || line[0] == '\t' || line[0] == '}' || line[0] == ']'
}

// ExpectsNothing reports whether the case says nothing of what is expected.
func (c *Case) ExpectsNothing() bool { return c.expect.node == nil || len(c.expect.node.names) == 0 }

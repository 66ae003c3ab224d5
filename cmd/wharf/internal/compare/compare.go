package compare

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// Kind says how a call differs.
type Kind string

// The kinds of differences, by what differs first.
const (
	OnlyA   Kind = "only_a"  // B has not made it
	OnlyB   Kind = "only_b"  // A has not made it
	Call    Kind = "call"    // another call was made
	Request Kind = "request" // the same call was asked something else
	Answer  Kind = "answer"  // it was answered otherwise
)

// Change is a call that differs. A and B name the calls, "" where there is none.
type Change struct {
	// Index and IndexB are its places among the calls of A and of B; where one of them has not made it, the place
	// before which it would stand.
	Index  int    `json:"index"`
	IndexB int    `json:"index_b"`
	Kind   Kind   `json:"kind"`
	A      string `json:"a,omitzero"`
	B      string `json:"b,omitzero"`
	// Differences are all places in which the request differs, or else the answer.
	Differences []journal.Difference `json:"differences,omitzero"`
}

// Side is what is told of one of the two Tasks.
type Side struct {
	TaskID string       `json:"task_id"`
	Plugin string       `json:"plugin"`
	Module string       `json:"module"`
	Calls  int          `json:"calls"`
	End    *journal.End `json:"end,omitzero"`
}

// Result is how two records compare. Calls are aligned by what they ask: one that only one side has made is one change.
type Result struct {
	Same bool `json:"same"`
	A    Side `json:"a"`
	B    Side `json:"b"`
	// Input is the diff of what the Tasks were submitted with, "" when it is equal.
	Input string `json:"input_diff,omitzero"`
	// Shared counts the calls before the first that differs.
	Shared int `json:"shared"`
	// Diff is that of the first call that differs, "" when none does.
	Diff    string   `json:"diff,omitzero"`
	Changes []Change `json:"changes,omitzero"`
	// Ends says that the Tasks ended in different ways.
	Ends bool `json:"ends_differ"`
}

// Records compares the records of two Tasks. They are the same when equal input
// led to equal calls, equal answers and an equal end; when, by whom and by which
// module does not matter. Requests and answers are equal that mean the same; strict wants
// the same bytes.
func Records(a, b *journal.Record, strict bool) Result {
	r := Result{A: side(a), B: side(b), Input: inputDiff(a.Input, b.Input), Ends: ending(a.End) != ending(b.End)}
	nextA, nextB := 0, 0
	for _, p := range align(a.Entries, b.Entries, strict) {
		left, right := at(a.Entries, p.a), at(b.Entries, p.b)
		if change := differ(left, right, strict); change != nil {
			if len(r.Changes) == 0 {
				r.Shared, r.Diff = nextA, diff(left, right, change.Kind)
			}
			change.Index, change.IndexB, change.A, change.B = nextA, nextB, name(left), name(right)
			r.Changes = append(r.Changes, *change)
		}
		nextA, nextB = max(nextA, p.a+1), max(nextB, p.b+1)
	}
	if len(r.Changes) == 0 {
		r.Shared = len(a.Entries)
	}
	r.Same = len(r.Changes) == 0 && r.Input == "" && !r.Ends
	return r
}

func side(r *journal.Record) Side {
	return Side{TaskID: r.TaskID, Plugin: r.Program.Plugin, Module: r.Program.Module, Calls: len(r.Entries), End: r.End}
}

func at(entries []journal.Entry, i int) *journal.Entry {
	if i < 0 {
		return nil
	}
	return &entries[i]
}

func name(e *journal.Entry) string {
	if e == nil {
		return ""
	}
	return e.Call
}

// differ says what differs first between two calls that are compared, nil for nothing.
func differ(a, b *journal.Entry, strict bool) *Change {
	switch {
	case b == nil:
		return &Change{Kind: OnlyA}
	case a == nil:
		return &Change{Kind: OnlyB}
	case a.Call != b.Call:
		return &Change{Kind: Call}
	case !same(a.Request, b.Request, strict):
		return &Change{Kind: Request, Differences: journal.Differences(a.Request, b.Request, strict)}
	case a.Status != b.Status, a.Open != b.Open, !same(a.Answer, b.Answer, strict):
		return &Change{Kind: Answer, Differences: journal.Differences(a.Answer, b.Answer, strict)}
	}
	return nil
}

func same(a, b []byte, strict bool) bool {
	if strict {
		return bytes.Equal(a, b)
	}
	return len(journal.Differences(a, b, false)) == 0
}

// diff shows how two calls differ: laid out, or as they are where that takes away what
// differs.
func diff(a, b *journal.Entry, kind Kind) string {
	if left, right := text(a, kind, journal.Pretty), text(b, kind, journal.Pretty); left != right {
		return journal.Diff(left, right)
	}
	raw := func(b []byte) string { return string(b) }
	return journal.Diff(text(a, kind, raw), text(b, kind, raw))
}

// text is a call as a diff of the given kind shows it.
func text(e *journal.Entry, kind Kind, show func([]byte) string) string {
	if e == nil {
		return ""
	}
	told := e.Call
	if len(e.Request) > 0 {
		told += "\n" + show(e.Request)
	}
	if kind != Answer {
		return told
	}
	switch {
	case e.Open:
		return told + "\n→ (no answer yet)"
	case e.Status != abi.CallOK:
		told += "\n→ failed"
	default:
		told += "\n→"
	}
	return told + "\n" + show(e.Answer)
}

// inputDiff compares what two Tasks were submitted with. The rest of what a plugin
// is given, such as its Task's id, always differs.
func inputDiff(a, b journal.Text) string {
	left, right := submitted(a), submitted(b)
	if bytes.Equal(left, right) {
		return ""
	}
	return journal.Diff(journal.Pretty(left), journal.Pretty(right))
}

// submitted returns the canonical JSON of a Task's input, or the text itself when
// it is not understood.
func submitted(given journal.Text) []byte {
	var answer struct {
		Task struct {
			Input jsontext.Value `json:"input"`
		} `json:"task"`
	}
	if json.Unmarshal(given, &answer) != nil || answer.Task.Input == nil {
		return given
	}
	input := withoutIdentity(answer.Task.Input)
	_ = input.Canonicalize()
	return input
}

// withoutIdentity takes from an input that is a Message what names the one Message:
// of two Tasks with the same words, it says nothing.
func withoutIdentity(input jsontext.Value) jsontext.Value {
	var m struct {
		Role  string         `json:"role"`
		Parts jsontext.Value `json:"parts"`
	}
	if json.Unmarshal(input, &m) != nil || m.Role == "" || m.Parts == nil {
		return input.Clone()
	}
	text, err := json.Marshal(m)
	if err != nil {
		return input.Clone()
	}
	return text
}

// ending is what of an end is compared.
func ending(e *journal.End) string {
	if e == nil {
		return ""
	}
	if e.Failure != nil {
		return string(e.Status) + " " + e.Failure.Code
	}
	return string(e.Status)
}

package waiting

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// asked returns a pending request for the approval of {"eur":10}, and changes it.
func asked(change func(*Request)) *Request {
	p := &Request{Sequence: 3, PermissionRequest: abi.PermissionRequest{Kind: abi.PermissionApproval, Status: abi.PermissionPending,
		Arguments: jsontext.Value(`{"eur":10}`), Quorum: 1, SelfApproval: true, RequestedBy: "alice"}}
	p.ID = "perm_1"
	change(p)
	return p
}

func decision(actor, as, arguments string) Input {
	d := abi.Decision{Actor: actor, Decision: as, DecidedAt: abi.At(noon)}
	if arguments != "" {
		d.Arguments = jsontext.Value(arguments)
	}
	return Input{Kind: Decide, At: noon, Decision: d, Submitter: "bob"}
}

// told writes down effects, with the status and the sequence that each event states.
func told(effects []Effect) string {
	var words []string
	for _, e := range effects {
		switch e.Kind {
		case Confirm:
			words = append(words, "confirm")
		case Reply:
			word := "reply"
			if e.Answers != nil {
				word += " all"
			}
			if e.Answer != nil {
				word += " " + e.Answer.Decision
			}
			words = append(words, word)
		case Tell:
			words = append(words, fmt.Sprintf("%s %s %d", string(e.Event)[strings.LastIndexByte(string(e.Event), '_')+1:], e.Request.Status, e.Request.Sequence))
		}
	}
	return strings.Join(words, ", ")
}

func TestStep(t *testing.T) {
	fresh := asked(func(p *Request) { p.Sequence = 0 })
	states := map[string]*Request{
		"nil":      nil,
		"approval": asked(func(*Request) {}),
		"first of two": asked(func(p *Request) {
			p.Quorum, p.Decisions = 2, []abi.Decision{{Actor: "a", Decision: "approved"}}
		}),
		"none of two": asked(func(p *Request) { p.Quorum = 2 }),
		"input":       asked(func(p *Request) { p.Kind, p.Arguments = abi.PermissionInput, nil }),
		"old":         unasked(&abi.Waiting{Call: abi.CallApprovalRequest}).Requests[0],
		"sleep":       unasked(&abi.Waiting{Call: abi.CallSleep}).Requests[0],
		"settled":     asked(func(p *Request) { p.Status = abi.PermissionDenied }),
	}
	inputs := map[string]Input{
		"ask": {Kind: Ask, Request: fresh}, "approve": decision("x", "approved", ""), "deny": decision("x", "denied", ""),
		"bring": {Kind: Bring, At: noon}, "decline": {Kind: Decline, At: noon}, "time over": {Kind: TimeOver, At: noon}, "end": {Kind: End, At: noon},
		"else": {Kind: End + 1},
	}
	// What follows, for each state; "-" is ErrUnfit. Inputs that are not named are unfit.
	want := map[string]map[string]string{
		"nil": {"ask": "requested pending 0"},
		"approval": {"approve": "confirm, reply approved, decided pending 4, settled approved 5",
			"deny":      "confirm, reply denied, decided pending 4, settled denied 5",
			"time over": "reply timeout, settled timeout 4", "end": "settled canceled 4"},
		"first of two": {"approve": "confirm, reply approved, decided pending 4, settled approved 5",
			"deny":      "confirm, reply denied, decided pending 4, settled denied 5",
			"time over": "reply timeout, settled timeout 4", "end": "settled canceled 4"},
		"none of two": {"approve": "confirm, decided pending 4",
			"deny":      "confirm, reply denied, decided pending 4, settled denied 5",
			"time over": "reply timeout, settled timeout 4", "end": "settled canceled 4"},
		"input": {"bring": "reply, settled answered 4", "decline": "reply, settled denied 4",
			"time over": "reply, settled timeout 4", "end": "settled canceled 4"},
		"old":   {"approve": "confirm, reply approved", "deny": "confirm, reply denied", "time over": "reply timeout", "end": ""},
		"sleep": {"bring": "reply", "decline": "reply", "time over": "reply", "end": ""},
	}
	for from, state := range states {
		for name, in := range inputs {
			t.Run(from+", "+name, func(t *testing.T) {
				next, effects, err := Step(state, in)
				follows, fits := want[from][name]
				switch {
				case from == "settled":
					if !errors.Is(err, ErrSettled) || next != state || effects != nil {
						t.Errorf("%v, %v", effects, err)
					}
				case !fits:
					if !errors.Is(err, ErrUnfit) || next != state || effects != nil {
						t.Errorf("%v, %v", effects, err)
					}
				case err != nil || told(effects) != follows:
					t.Errorf("%q, want %q (%v)", told(effects), follows, err)
				}
			})
		}
	}
}

func TestWhoMayDecide(t *testing.T) {
	board := asked(func(p *Request) { p.SelfApproval, p.Approvers = false, []string{"board-*", "alice", "bob"} })
	for actor, refused := range map[string]string{
		"board-7": "", "mallory": "this actor may not decide on this request",
		"alice": "nobody decides on what they asked for themselves", "bob": "nobody decides on what they asked for themselves",
	} {
		for _, as := range []string{"approved", "denied"} {
			next, effects, err := Step(board, decision(actor, as, ""))
			own, typed := errors.AsType[*abi.Error](err)
			switch {
			case refused == "" && err != nil, refused != "" && (!typed || own.Code != abi.CodePermissionDenied || own.Message != refused):
				t.Errorf("%s, %s: %v, want %q", actor, as, err, refused)
			case refused != "" && (next != board || effects != nil):
				t.Errorf("%s was refused, and something follows", actor)
			}
		}
	}
}

// What is approved is what the one before was shown, or what the approver states.
func TestDecisions(t *testing.T) {
	for _, test := range []struct {
		name    string
		quorum  int
		inputs  []Input
		want    string // what follows from the last, or its error
		answers string // the arguments that the call is made with, when they were changed
	}{
		{"nobody counts twice", 2, []Input{decision("a", "approved", ""), decision("a", "approved", "")}, "a has approved this already", ""},
		{"who approved may deny", 2, []Input{decision("a", "approved", ""), decision("a", "denied", "")},
			"confirm, reply denied, decided pending 5, settled denied 6", ""},
		{"changed unseen", 2, []Input{decision("a", "approved", `{"eur":5}`), decision("b", "approved", "")},
			"the arguments were changed by another approver: state the arguments that you approve", ""},
		{"changed, and stated", 2, []Input{decision("a", "approved", `{"eur":5}`), decision("b", "approved", `{ "eur": 5.0 }`)},
			"confirm, reply approved, decided pending 5, settled approved 6", `{ "eur": 5.0 }`},
		{"changed late", 2, []Input{decision("a", "approved", ""), decision("b", "approved", `{"eur":5}`)}, "confirm, decided pending 5", ""},
		{"changed, and back", 2, []Input{decision("a", "approved", `{"eur":5}`), decision("b", "approved", `{"eur":10}`), decision("c", "approved", `{"eur":10}`)},
			"confirm, reply approved, decided pending 6, settled approved 7", ""},
		{"stated as they were", 1, []Input{decision("a", "approved", `{"eur":10.0}`)}, "confirm, reply approved, decided pending 4, settled approved 5", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := asked(func(p *Request) { p.Quorum = test.quorum })
			var effects []Effect
			var err error
			for i, in := range test.inputs {
				if p, effects, err = Step(p, in); err != nil && i < len(test.inputs)-1 {
					t.Fatal(err)
				}
			}
			got := told(effects)
			if err != nil {
				got = err.(*abi.Error).Message
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			for _, e := range effects {
				if e.Answer != nil && string(e.Answer.Arguments) != test.answers {
					t.Errorf("the call is made with %q, want %q", e.Answer.Arguments, test.answers)
				}
			}
		})
	}
}

func TestDecisionsAreBounded(t *testing.T) {
	p := asked(func(p *Request) { p.Quorum, p.Decisions = maxDecisions+1, make([]abi.Decision, maxDecisions) })
	if _, _, err := Step(p, decision("a", "approved", "")); err == nil {
		t.Error("it is approved once more")
	}
	if next, _, err := Step(p, decision("a", "denied", "")); err != nil || next.Status != abi.PermissionDenied {
		t.Errorf("a denial: %v", err)
	}
}

// approvals counts, by another rule than the code's, who stands behind what would be done:
// the last who changed the arguments, and those who have stated the same since then. Who
// approved before that counts if it was for the same.
func approvals(decisions []Input) map[string]bool {
	const original = "10"
	up := original
	for _, in := range decisions {
		if a := amountOf(in); a != "" {
			up = a
		}
	}
	by := map[string]bool{}
	for _, in := range decisions {
		if of := amountOf(in); of == up || of == "" && up == original {
			by[in.Decision.Actor] = true
		}
	}
	return by
}

func amountOf(in Input) string {
	return strings.TrimSuffix(strings.TrimPrefix(string(in.Decision.Arguments), `{"eur":`), "}")
}

// Whatever the order of decisions: a request is approved by no fewer than its quorum, who
// have all approved what is done; each of its events has the next sequence; and once it is
// settled nothing changes it.
func TestAnyDecisionsKeepTheQuorum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := asked(func(p *Request) { p.Quorum = rapid.IntRange(1, 4).Draw(t, "quorum") })
		var taken []Input
		step := func(t *rapid.T, in Input) {
			was := *p
			next, effects, err := Step(p, in)
			switch {
			case err != nil:
				if next != p || effects != nil {
					t.Fatalf("a refused step changed something: %v", err)
				}
				return
			case was.Status != abi.PermissionPending:
				t.Fatalf("a request that is %s takes %v", was.Status, in)
			}
			sequence := was.Sequence
			for _, e := range effects {
				if e.Kind != Tell {
					continue
				}
				if sequence++; e.Request.Sequence != sequence {
					t.Fatalf("event %d follows %d", e.Request.Sequence, sequence-1)
				}
			}
			if in.Kind == Decide {
				taken = append(taken, in)
			}
			p = next
			over := slices.ContainsFunc(effects, func(e Effect) bool { return e.Kind == Reply })
			if over != (p.Status != abi.PermissionPending) && in.Kind != End {
				t.Fatalf("the wait is over: %v, and the request %s", over, p.Status)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"approve": func(t *rapid.T) {
				arguments := rapid.SampledFrom([]string{"", "", `{"eur":10}`, `{"eur":5}`, `{"eur":7}`}).Draw(t, "arguments")
				step(t, decision(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "actor"), "approved", arguments))
			},
			"otherwise": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "often") > 0 {
					return
				}
				in := decision("e", "denied", "")
				in.Kind = rapid.SampledFrom([]InputKind{Decide, TimeOver, End, Bring, Decline}).Draw(t, "kind")
				step(t, in)
			},
			"": func(t *rapid.T) {
				behind := len(approvals(taken))
				switch {
				case p.Status == abi.PermissionApproved && behind < p.Quorum:
					t.Fatalf("approved by %d of %d: %+v", behind, p.Quorum, p.Decisions)
				case p.Status == abi.PermissionPending && behind >= p.Quorum:
					t.Fatalf("%d have approved, and %d suffice", behind, p.Quorum)
				}
				if len(p.Decisions) != len(taken) {
					t.Fatalf("%d decisions are stated, %d were taken", len(p.Decisions), len(taken))
				}
			},
		})
	})
}

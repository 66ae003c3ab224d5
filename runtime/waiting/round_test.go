package waiting

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// three are an input, an authorization and an approval of two that are asked at once.
func three() *Round {
	r := &Round{}
	for i, kind := range []abi.PermissionKind{abi.PermissionInput, abi.PermissionAuthorization, abi.PermissionApproval} {
		r.Requests = append(r.Requests, asked(func(p *Request) {
			p.ID, p.Key, p.Kind = fmt.Sprint("perm_", i), string(kind), kind
			if kind == abi.PermissionApproval {
				p.Quorum = 2
			} else {
				p.Arguments = nil
			}
		}))
	}
	return r
}

// statuses writes down a round.
func statuses(r *Round) string {
	var words []string
	for _, p := range r.Requests {
		words = append(words, string(p.Status))
	}
	return strings.Join(words, " ")
}

func of(id string, in Input) Input {
	in.Of, in.At = id, noon
	return in
}

func TestStepRound(t *testing.T) {
	bring, decline := Input{Kind: Bring, Actor: "ann", Message: &abi.Message{}}, Input{Kind: Decline, Actor: "ben", Reason: "no"}
	for _, test := range []struct {
		name   string
		inputs []Input
		told   string // what follows from the last
		left   string
		err    error // of the last
	}{
		{"asked", []Input{{Kind: Ask}}, "requested pending 3, requested pending 3, requested pending 3", "pending pending pending", nil},
		{"one of three", []Input{of("perm_0", bring)}, "settled answered 4", "answered pending pending", nil},
		{"half of an approval", []Input{of("perm_2", decision("a", "approved", ""))}, "confirm, decided pending 4", "pending pending pending", nil},
		{"a denial", []Input{of("perm_2", decision("a", "denied", ""))}, "confirm, decided pending 4, settled denied 5", "pending pending denied", nil},
		{"twice the same", []Input{of("perm_0", bring), of("perm_0", bring)}, "", "answered pending pending", ErrSettled},
		{"declined after it was answered", []Input{of("perm_0", bring), of("perm_0", decline)}, "", "answered pending pending", ErrSettled},
		{"of another kind", []Input{of("perm_0", decision("a", "approved", ""))}, "", "pending pending pending", ErrUnfit},
		{"of none", []Input{of("perm_9", bring)}, "", "pending pending pending", ErrUnfit},
		{"of nothing", []Input{of("", bring)}, "", "pending pending pending", ErrUnfit},
		{"the last", []Input{of("perm_1", decline), of("perm_2", decision("a", "denied", "")), of("perm_0", bring)},
			"reply all, settled answered 4", "answered denied denied", nil},
		{"the last, by a quorum", []Input{of("perm_1", bring), of("perm_0", bring), of("perm_2", decision("a", "approved", "")), of("perm_2", decision("b", "approved", ""))},
			"confirm, reply all, decided pending 5, settled approved 6", "answered answered approved", nil},
		{"time over after one", []Input{of("perm_1", bring), {Kind: TimeOver, At: noon}}, "reply all, settled timeout 4, settled timeout 4", "timeout answered timeout", nil},
		{"the end after one", []Input{of("perm_1", bring), {Kind: End, At: noon}}, "settled canceled 4, settled canceled 4", "canceled answered canceled", nil},
		{"time over, and an answer", []Input{{Kind: TimeOver, At: noon}, of("perm_0", bring)}, "", "timeout timeout timeout", ErrSettled},
		{"time over twice", []Input{{Kind: TimeOver, At: noon}, {Kind: TimeOver, At: noon}}, "", "timeout timeout timeout", ErrSettled},
		{"the end, and time over", []Input{{Kind: End, At: noon}, {Kind: TimeOver, At: noon}}, "", "canceled canceled canceled", ErrSettled},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := three()
			var effects []Effect
			var err error
			for i, in := range test.inputs {
				if r, effects, err = StepRound(r, in); err != nil && i < len(test.inputs)-1 {
					t.Fatal(err)
				}
			}
			if !errors.Is(err, test.err) || told(effects) != test.told || statuses(r) != test.left {
				t.Errorf("%q, %q, %v; want %q, %q, %v", told(effects), statuses(r), err, test.told, test.left, test.err)
			}
		})
	}
}

// Whatever happens in whatever order: what was settled stays, the call is answered once, when
// nothing is open any more and not before, with each request as it was settled; what is stated
// of each request follows in sequence.
func TestAnyRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, ended := three(), false
		replies := 0
		sequences := map[string]uint64{}
		for range rapid.IntRange(1, 25).Draw(t, "inputs") {
			id := rapid.SampledFrom([]string{"perm_0", "perm_1", "perm_2", "perm_3", ""}).Draw(t, "id")
			in := decision(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "actor"), rapid.SampledFrom([]string{"approved", "approved", "denied"}).Draw(t, "decision"),
				rapid.SampledFrom([]string{"", `{"eur":10}`, `{"eur":5}`}).Draw(t, "arguments"))
			in.Kind = rapid.SampledFrom([]InputKind{Decide, Decide, Bring, Decline, Bring, TimeOver, End}).Draw(t, "kind")
			in.Actor, in.Reason, in.Of = in.Decision.Actor, "why", id
			if in.Kind == Bring {
				in.Message = &abi.Message{}
			}
			before, was := r, len(r.open())
			next, effects, err := StepRound(r, in)
			if err != nil {
				if next != before || effects != nil {
					t.Fatalf("a refused step changed something: %v", err)
				}
				continue
			}
			if was == 0 {
				t.Fatalf("%v is taken when nothing is open", in)
			}
			r = next
			for i, p := range before.Requests {
				if p.Status != abi.PermissionPending && r.Requests[i] != p {
					t.Fatalf("%s was settled, and has changed", p.ID)
				}
			}
			for _, e := range effects {
				switch e.Kind {
				case Reply:
					replies++
					checkAnswers(t, r, e.Answers)
				case Tell:
					if last, known := sequences[e.Request.ID]; known && e.Request.Sequence != last+1 {
						t.Fatalf("event %d of %s follows %d", e.Request.Sequence, e.Request.ID, last)
					}
					sequences[e.Request.ID] = e.Request.Sequence
				}
			}
			ended = ended || in.Kind == End
			if over := len(r.open()) == 0; replies != map[bool]int{true: 1}[over && !ended] && !(over && ended && replies == 0) {
				t.Fatalf("%d replies when %d are open", replies, len(r.open()))
			}
		}
	})
}

func checkAnswers(t *rapid.T, r *Round, answers []abi.QuestionAnswer) {
	if len(answers) != len(r.Requests) {
		t.Fatalf("%d answers to %d questions", len(answers), len(r.Requests))
	}
	for i, p := range r.Requests {
		a := answers[i]
		switch {
		case a.Key != p.Key || a.Status != p.Status || a.PermissionID != p.ID || p.Status == abi.PermissionPending:
			t.Fatalf("%+v is the answer to %+v", a, p.PermissionRequest)
		case (a.Approval != nil) != (p.Kind == abi.PermissionApproval), (a.Message != nil) != (a.Status == abi.PermissionAnswered):
			t.Fatalf("%+v is the answer to %+v", a, p.PermissionRequest)
		case a.Approval != nil && string(a.Status) != a.Approval.Decision:
			t.Fatalf("it is %s, and decided as %s", a.Status, a.Approval.Decision)
		}
	}
}

const questions = `{"call_id":"setup","timeout_seconds":60,"requests":[
	{"key":"port","prompt":"Which port?","schema":{"type":"object","properties":{"port":{"type":"integer"}},"required":["port"]}},
	{"key":"login","kind":"authorization","provider":"github","url":"https://example.com/login","prompt":"Log in"},
	{"key":"pay","kind":"approval","action":"pay","arguments":{"eur":10},"prompt":"May it pay?"}]}`

// What makes no sense of several questions is refused, and says where.
func TestQuestionsAreChecked(t *testing.T) {
	many := `{"key":"k%d","prompt":"?"}`
	var seventeen []string
	for i := range abi.MaxQuestions + 1 {
		seventeen = append(seventeen, fmt.Sprintf(many, i))
	}
	for request, want := range map[string]string{
		`{"requests":[]}`: "requests has 1 to 16 questions",
		`{"requests":[` + strings.Join(seventeen, ",") + `]}`:                                                              "and these are 17",
		`{"prompt":"?","requests":[{"key":"a","prompt":"?"}]}`:                                                             "and not both",
		`{"schema":{},"requests":[{"key":"a","prompt":"?"}]}`:                                                              "and not both",
		`{"requests":[{"prompt":"?"}]}`:                                                                                    "requests[0].key: a key has 1 to 128 bytes",
		`{"requests":[{"key":"` + strings.Repeat("k", 129) + `","prompt":"?"}]}`:                                           "1 to 128 bytes",
		`{"requests":[{"key":"a\nb","prompt":"?"}]}`:                                                                       "control characters",
		`{"requests":[{"key":"a","prompt":"?"},{"key":"a","prompt":"?"}]}`:                                                 `two questions "a"`,
		`{"requests":[{"key":"a"}]}`:                                                                                       `missing required member "prompt"`,
		`{"requests":[{"key":"a","kind":"guess","prompt":"?"}]}`:                                                           "sampling",
		`{"requests":[{"key":"a","kind":"authorization","prompt":"?"}]}`:                                                   `missing required member "provider"`,
		`{"requests":[{"key":"a","kind":"approval","prompt":"?"}]}`:                                                        `missing required member "action"`,
		`{"requests":[{"key":"a","kind":"approval","action":"x","quorum":101}]}`:                                           "quorum is 0 to",
		`{"requests":[{"key":"a","prompt":"?","url":"https://x"}]}`:                                                        "url belongs to a question of the kind authorization",
		`{"requests":[{"key":"a","kind":"approval","action":"x","schema":{}}]}`:                                            "schema belongs to a question of the kind input",
		`{"requests":[{"key":"a","prompt":"?","schema":{"type":"nothing"}}]}`:                                              "schema",
		`{"requests":[{"key":"a","prompt":"` + strings.Repeat("x", abi.MaxQuestionBytes) + `"}]}`:                          "bytes together",
		`{"requests":[{"key":"a","prompt":"?"}],"timeout_seconds":-1}`:                                                     "timeout_seconds",
		`{"requests":{"a":{"prompt":"?"}}}`:                                                                                "requests",
		`{"requests":[{"key":"a","prompt":"?"},{"key":"b","kind":"approval","action":"x","approvers":[],"provider":"x"}]}`: "provider belongs",
	} {
		_, _, err := For(&Call{Name: abi.CallInputRequest, RequestID: "r", Request: []byte(request), Now: noon})
		refusal, refused := errors.AsType[*provider.Refusal](err)
		if !refused || refusal.Status != abi.CallInvalid || !strings.Contains(refusal.Message, want) {
			t.Errorf("%.120s: %v, want %q", request, err, want)
		}
	}
	for request, want := range map[string]abi.TaskStatus{questions: abi.TaskAuthRequired, `{"requests":[{"key":"a","prompt":"?"},{"key":"b","kind":"approval","action":"x"}]}`: abi.TaskInputRequired} {
		if _, as, err := For(&Call{Name: abi.CallInputRequest, RequestID: "r", Request: []byte(request), Now: noon}); err != nil || as != want {
			t.Errorf("%.40s: %s, %v", request, as, err)
		}
	}
}

// Several questions have one end, the soonest that any has: also where policy ends approvals
// sooner.
func TestQuestionsEndTogether(t *testing.T) {
	for _, by := range []*abi.ApprovalPolicy{nil, {Quorum: 2, TimeoutSeconds: 10}} {
		n := newNode(t)
		r := n.parkRound(t, abi.CallInputRequest, questions, Terms{Approvals: by, Now: noon})
		w := n.tasks[r.Requests[0].TaskID].about.Waiting
		for i, p := range r.Requests {
			if !p.ExpiresAt.Equal(w.Until) || p.ID != w.Requests[i].PermissionID || p.Status != w.Requests[i].Status {
				t.Errorf("%+v, and the task waits for %+v", p.PermissionRequest, w)
			}
		}
		if by != nil && (!w.Until.Equal(noon.Add(10*time.Second)) || r.Requests[2].Quorum != 2) {
			t.Errorf("under a policy it waits until %s", w.Until)
		}
	}
}

// A Message to a Task answers what it can only mean, and else nothing.
func TestMessageToSeveral(t *testing.T) {
	n := newNode(t)
	r := n.parkRound(t, abi.CallInputRequest, questions, Terms{})
	task := r.Requests[0].TaskID
	send := func(kind abi.TaskMessageKind, m *abi.MessageInput) error {
		_, err := n.AppendTaskMessage(t.Context(), n.as("bob"), nil, task, abi.AppendTaskMessageRequest{Kind: kind, Message: m})
		return err
	}
	wantError(t, send(abi.TaskMessageInput, says("x")), abi.CodeInvalidStateTransition, r.Requests[0].ID+", "+r.Requests[1].ID)
	if err := send(abi.TaskMessageToolConfirmation, saysJSON(`{"decision":"denied"}`)); err != nil {
		t.Fatal(err)
	}
	wantError(t, send(abi.TaskMessageToolConfirmation, saysJSON(`{"decision":"denied"}`)), abi.CodeInvalidStateTransition, "does not wait for tool_confirmation")
	if _, err := n.RespondPermission(t.Context(), n.as("bob"), nil, r.Requests[1].ID, abi.RespondRequest{Message: says("done")}); err != nil {
		t.Fatal(err)
	}
	wantError(t, send(abi.TaskMessageInput, saysJSON(`{"port":"x"}`)), abi.CodeInvalidRequest, "/port")
	if err := send(abi.TaskMessageInput, says(`{"port":80}`)); err != nil {
		t.Fatal(err)
	}
	var told abi.CallInputRequestAnswer
	if len(n.replies) != 1 || json.Unmarshal([]byte(n.replies[0]), &told) != nil || len(told.Answers) != 3 {
		t.Fatalf("%q", n.replies)
	}
	want := "permission_requested permission_requested permission_requested task.input_required " +
		"user.message user.tool_confirmation permission_decided permission_settled task.input_required " +
		"user.message permission_settled task.input_required user.message user.input_submitted permission_settled task.status_changed"
	if got := n.kinds(t, task, 0); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What is read back of a round is what it was, with what has answered parts of it; and of a Task
// that cannot be read, what is open.
func TestStoredRound(t *testing.T) {
	n := newNode(t)
	r := n.parkRound(t, abi.CallInputRequest, questions, Terms{})
	task := r.Requests[0].TaskID
	if _, err := n.RespondPermission(t.Context(), n.as("bob"), nil, r.Requests[0].ID, abi.RespondRequest{Message: saysJSON(`{"port":8080}`)}); err != nil {
		t.Fatal(err)
	}
	p := n.tasks[task]
	read, err := Stored(t.Context(), n.parts.Ledger, 1, p.about.Waiting)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range p.asks.Requests {
		got := read.Requests[i]
		a, _ := json.Marshal(got, json.Deterministic(true))
		b, _ := json.Marshal(want, json.Deterministic(true))
		if string(a) != string(b) {
			t.Errorf("%s, want %s", a, b)
		}
	}
	if got := read.Requests[0]; got.AnsweredBy != "bob" || got.Message == nil || string(got.Message.Parts[0].Value) != `{"port":8080}` {
		t.Errorf("%+v", got)
	}
	still := Still(t.Context(), n.parts.Store, ledger.Key{Tenant: 1, ID: task})
	open := read.open()
	slices.Sort(open)
	left := still.open()
	slices.Sort(left)
	if !slices.Equal(left, open) || len(open) != 2 {
		t.Errorf("%q are open, want %q", left, open)
	}
	if got := len(Canceled(still, noon)); got != 2 {
		t.Errorf("%d are canceled", got)
	}
	_, err = n.RespondPermission(t.Context(), n.as("bob"), nil, r.Requests[0].ID, abi.RespondRequest{Decision: "denied"})
	wantError(t, err, abi.CodeConflict, "is settled already")
	if ids, _ := n.pending.before(1, "", 10, func(at place) bool { return desk.Matches(task, at.task) }); len(ids) != 2 {
		t.Errorf("%q are pending", ids)
	}
}

// An answer is held against the schema of what is asked, and an error says the place.
func TestForms(t *testing.T) {
	const object = `{"type":"object","properties":{"port":{"type":"integer"},"host":{"type":"string"}},"required":["port"],"additionalProperties":false}`
	for _, test := range []struct {
		schema string
		answer *abi.MessageInput
		wrong  string // "" for none
	}{
		{object, saysJSON(`{"port":80}`), ""}, {object, says(`{"port":80}`), ""}, {object, says("80"), "want object"},
		{object, saysJSON(`{"port":"80"}`), "/port"}, {object, saysJSON(`{}`), "port"}, {object, saysJSON(`{"port":1,"x":2}`), "x"},
		{`{"type":"integer"}`, says("8080"), ""}, {`{"type":"integer"}`, says("many"), "want integer"}, {`{"type":"string"}`, says("8080"), ""},
		{`{"type":"string","enum":["a","b"]}`, says("c"), `none of "a", "b"`}, {`{"type":"boolean"}`, says("true"), ""},
		{`{"type":"integer"}`, &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{}}, "it needs a json part, or a text"},
		{`{"type":"nothing"}`, says("x"), ""}, {`"text"`, says("x"), ""}, {`null`, says("x"), ""},
	} {
		n := newNode(t)
		p := n.park(t, abi.CallInputRequest, `{"prompt":"?","schema":`+test.schema+`}`, Terms{})
		_, err := n.RespondPermission(t.Context(), n.as("bob"), nil, p.ID, abi.RespondRequest{Message: test.answer})
		if test.wrong == "" && err != nil || test.wrong != "" && (err == nil || len(n.replies) != 0) {
			t.Errorf("%s, %+v: %v", test.schema, test.answer, err)
		}
		if test.wrong != "" {
			wantError(t, err, abi.CodeInvalidRequest, test.wrong)
		}
	}
}

// The answer to one of several questions is bounded, for all are held until the last has come.
func TestLargeAnswers(t *testing.T) {
	n := newNode(t)
	r := n.parkRound(t, abi.CallInputRequest, `{"requests":[{"key":"a","prompt":"?"},{"key":"b","kind":"authorization","provider":"x"}]}`, Terms{})
	for _, p := range r.Requests {
		_, err := n.RespondPermission(t.Context(), n.as("bob"), nil, p.ID, abi.RespondRequest{Message: says(strings.Repeat("x", abi.MaxQuestionAnswer))})
		wantError(t, err, abi.CodePayloadTooLarge, "at most 262144 bytes")
	}
}

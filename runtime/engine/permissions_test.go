package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// actor returns a caller of the root's tenant with another name.
func (n *node) actor(name string) *desk.Caller {
	c := *n.Root
	c.Actor = name
	return &c
}

func (n *node) request(t testing.TB, task string) abi.PermissionRequest {
	t.Helper()
	list, err := n.Permissions(t.Context(), n.Root, desk.Filter{TaskID: task}, "", desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 {
		t.Fatalf("%d requests, %v", len(list.Docs), err)
	}
	return enginetest.As[abi.PermissionRequest](t, list.Docs[0])
}

func approve(arguments string) abi.RespondRequest {
	return abi.RespondRequest{Decision: "approved", Arguments: jsontext.Value(arguments)}
}

func deny(reason string) abi.RespondRequest {
	return abi.RespondRequest{Decision: "denied", Reason: reason}
}

// decisionStep is one line of a table: who decides what, and the code of the refusal
// or the status of the request after it.
type decisionStep struct {
	actor string
	what  abi.RespondRequest
	want  string
}

func TestQuorum(t *testing.T) {
	const two = `{"action":"pay","prompt":"?","arguments":{"eur":10},"quorum":2}`
	for _, test := range []struct {
		name, request string
		steps         []decisionStep
		answer        string // what the plugin is told, in part
	}{
		{"one is enough without a quorum", `{"action":"pay","prompt":"?"}`,
			[]decisionStep{{"a", approve(""), "approved"}}, `"decision":"approved","actor":"a"`},
		{"two approve", two,
			[]decisionStep{{"a", approve(""), "pending"}, {"b", approve(""), "approved"}}, `"quorum":2,"approved_by":["a","b"]`},
		{"nobody counts twice", two,
			[]decisionStep{{"a", approve(""), "pending"}, {"a", approve(""), "conflict"}, {"b", approve(""), "approved"}}, `"actor":"b"`},
		{"one denial denies", two,
			[]decisionStep{{"a", approve(""), "pending"}, {"b", deny("too much"), "denied"}}, `"decision":"denied","actor":"b"`},
		{"whoever approved may still deny", two,
			[]decisionStep{{"a", approve(""), "pending"}, {"a", deny(""), "denied"}}, `"decision":"denied","actor":"a"`},
		{"changed arguments are what is approved", two,
			[]decisionStep{{"a", approve(`{"eur":5}`), "pending"}, {"b", approve(`{"eur":5.0}`), "approved"}}, `"arguments":{"eur":5}`},
		{"changed arguments start the count anew", two,
			[]decisionStep{{"a", approve(""), "pending"}, {"b", approve(`{"eur":5}`), "pending"}, {"a", approve(`{"eur":5}`), "approved"}}, `"approved_by":["b","a"]`},
		{"nobody approves changed arguments unseen", two,
			[]decisionStep{{"a", approve(`{"eur":500}`), "pending"}, {"b", approve(""), "conflict"}, {"b", approve(`{"eur":500}`), "approved"}}, `"arguments":{"eur":500}`},
		{"back to what was asked for", two,
			[]decisionStep{{"a", approve(`{"eur":5}`), "pending"}, {"b", approve(`{"eur":10}`), "pending"}, {"c", approve(`{"eur":10}`), "approved"}}, `"approved_by":["b","c"]`},
		{"nobody counts twice by changing them back and forth", two,
			[]decisionStep{{"a", approve(`{"eur":5}`), "pending"}, {"a", approve(`{"eur":10}`), "pending"}, {"a", approve(`{"eur":5}`), "pending"},
				{"b", approve(`{"eur":5}`), "approved"}}, `"approved_by":["a","b"]`},
		{"only approvers", `{"action":"pay","prompt":"?","approvers":["cfo","board-*"]}`,
			[]decisionStep{{"a", approve(""), "permission_denied"}, {"a", deny(""), "permission_denied"}, {"board-7", approve(""), "approved"}}, `"actor":"board-7"`},
		{"a decision is approved or denied", two,
			[]decisionStep{{"a", abi.RespondRequest{Decision: "maybe"}, "invalid_request"}, {"a", abi.RespondRequest{}, "invalid_request"}, {"a", deny(""), "denied"}}, `"denied"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(op{abi.CallApprovalRequest, test.request})
			n := newNode(t, enginetest.Guests{"program": p.run})
			id := n.Submit(t, n.Session(t), "persona_program")
			n.parked(t, id)
			perm := n.request(t, id)
			for i, step := range test.steps {
				doc, err := n.RespondPermission(t.Context(), n.actor(step.actor), nil, perm.ID, step.what)
				if got := outcomeOfStep(t, doc, err); got != step.want {
					t.Fatalf("step %d, %+v: %s, want %s (%v)", i, step.what, got, step.want, err)
				}
			}
			n.Wait(t, id)
			runs := p.runs()
			if got := runs[len(runs)-1][0]; !strings.Contains(got, test.answer) {
				t.Errorf("the plugin was told %s, want %s", got, test.answer)
			}
			_, err := n.RespondPermission(t.Context(), n.Root, nil, perm.ID, approve(""))
			enginetest.WantCode(t, err, abi.CodeConflict)
			n.wantReplay(t, id)
			n.wantApprovals(t, id, test.steps)
		})
	}
}

func outcomeOfStep(t testing.TB, doc desk.Doc, err error) string {
	if own, ok := err.(*abi.Error); ok {
		return string(own.Code)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(enginetest.As[abi.PermissionRequest](t, doc).Status)
}

// wantApprovals checks that each decision that was taken is in the receipt.
func (n *node) wantApprovals(t testing.TB, task string, steps []decisionStep) {
	t.Helper()
	var want []string
	for _, s := range steps {
		if s.want == "pending" || s.want == "approved" || s.want == "denied" {
			want = append(want, s.actor+" "+s.what.Decision)
		}
	}
	doc, err := n.Get(t.Context(), n.Root, abi.ObjectReceipt, n.task(t, task).ReceiptID)
	if err != nil {
		t.Fatal(err)
	}
	var res struct {
		Wire receipt.Receipt `json:"wire"`
	}
	if err := json.Unmarshal(doc.JSON, &res); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range res.Wire.Approvals {
		got = append(got, a.Actor+" "+a.Decision)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the receipt has the decisions %q, want %q", got, want)
	}
}

// approvals sets the approval policy of every Persona of a test.
func approvals(p *abi.ApprovalPolicy) enginetest.Configure {
	return func(_ *engine.Config, parts *engine.Parts) {
		for i := range parts.Personas {
			parts.Personas[i].Approvals = p
		}
	}
}

// Nobody decides on what they asked for themselves where policy says so, neither by
// a child nor in the name of another's Task.
func TestNobodyDecidesForThemselves(t *testing.T) {
	ask := op{abi.CallApprovalRequest, `{"action":"pay","prompt":"?"}`}
	for _, self := range []bool{false, true} {
		p := newProgram(ask)
		n := newNode(t, enginetest.Guests{"program": p.run, "parent": newProgram(op{abi.CallTaskSpawn, `{"persona_id":"persona_program","input":{"x":1}}`}).run},
			approvals(&abi.ApprovalPolicy{SelfApproval: self}))
		session := n.Session(t)
		alice, bob := n.actor("alice"), n.actor("bob")
		for name, submit := range map[string]func() string{
			"own task": func() string { return n.submitFor(t, alice, session, "persona_program", "") },
			"child":    func() string { return n.childOf(t, n.submitFor(t, alice, session, "persona_parent", "")) },
			"in the name of another": func() string {
				other := n.submitFor(t, bob, session, "", "")
				return n.submitFor(t, alice, session, "persona_program", other)
			},
		} {
			t.Run(fmt.Sprintf("%s, self %v", name, self), func(t *testing.T) {
				id := submit()
				n.parked(t, id)
				perm := n.request(t, id)
				if perm.RequestedBy != "alice" {
					t.Errorf("requested by %s", perm.RequestedBy)
				}
				_, err := n.RespondPermission(t.Context(), alice, nil, perm.ID, approve(""))
				if self {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				enginetest.WantCode(t, err, abi.CodePermissionDenied)
				message := abi.AppendTaskMessageRequest{Kind: abi.TaskMessageToolConfirmation, Message: &abi.MessageInput{Role: abi.RoleUser,
					Parts: []abi.Part{{Type: abi.PartJSON, Value: jsontext.Value(`{"decision":"approved"}`)}}}}
				_, err = n.AppendTaskMessage(t.Context(), alice, nil, id, message)
				enginetest.WantCode(t, err, abi.CodePermissionDenied)
				if _, err = n.AppendTaskMessage(t.Context(), bob, nil, id, message); err != nil {
					t.Fatal(err)
				}
				n.Wait(t, id)
			})
		}
	}
}

func (n *node) submitFor(t testing.TB, c *desk.Caller, session, persona, parent string) string {
	t.Helper()
	doc, err := n.SubmitTask(t.Context(), c, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: persona, ParentTaskID: parent, Input: enginetest.Text("hi")})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// childOf returns the only child of a Task that has ended.
func (n *node) childOf(t testing.TB, parent string) string {
	t.Helper()
	p := n.Wait(t, parent)
	return engine.ChildID(&p, 0)
}

// Decisions that do not make the quorum survive the death of the node, and so does
// the deadline.
func TestQuorumOverRestart(t *testing.T) {
	p := newProgram(op{abi.CallApprovalRequest, `{"action":"pay","prompt":"?","quorum":3,"timeout_seconds":3600}`})
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g)
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	perm := n.request(t, id)
	for i, actor := range []string{"a", "b"} {
		if _, err := n.RespondPermission(t.Context(), n.actor(actor), retry(actor, "{}"), perm.ID, approve("")); err != nil {
			t.Fatal(err)
		}
		n.rested(id)
		n = boot(t, n.Disk.Crash(uint64(i), 0), g)
		doc, err := n.RespondPermission(t.Context(), n.actor(actor), retry(actor, "{}"), perm.ID, approve(""))
		if err != nil || !doc.Replayed {
			t.Errorf("a retry of the decision: answered before is %v, %v", doc.Replayed, err)
		}
		_, err = n.RespondPermission(t.Context(), n.actor(actor), nil, perm.ID, approve(""))
		enginetest.WantCode(t, err, abi.CodeConflict)
		list, err := n.Permissions(t.Context(), n.Root, desk.Filter{}, abi.PermissionPending, desk.Page{Limit: 10})
		if err != nil || len(list.Docs) != 1 || len(enginetest.As[abi.PermissionRequest](t, list.Docs[0]).Decisions) != i+1 {
			t.Fatalf("%d pending, %v", len(list.Docs), err)
		}
	}
	later := func(_ *engine.Config, p *engine.Parts) {
		p.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	}
	n = boot(t, n.Disk.Crash(9, 0), g, later)
	defer n.Stop(t)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	if got := n.request(t, id); got.Status != abi.PermissionTimeout || len(got.Decisions) != 2 || got.SettledAt.IsZero() {
		t.Errorf("%+v", got)
	}
	n.wantReplay(t, id)
}

// However a wait ends, its request is settled in the same batch, and leaves the list
// of what is pending.
func TestRequestsAreSettled(t *testing.T) {
	answer := &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: new("yes")}}}
	for name, test := range map[string]struct {
		call, request string
		end           func(t *testing.T, n *node, task, perm string)
		want          abi.PermissionStatus
	}{
		"answered":   {abi.CallInputRequest, `{"prompt":"?"}`, respondWith(abi.RespondRequest{Message: answer}), abi.PermissionAnswered},
		"authorized": {abi.CallAuthRequest, `{"provider":"x","prompt":"?"}`, respondWith(abi.RespondRequest{Message: answer}), abi.PermissionAnswered},
		"declined":   {abi.CallAuthRequest, `{"provider":"x","prompt":"?"}`, respondWith(deny("no")), abi.PermissionDenied},
		"timeout":    {abi.CallInputRequest, `{"prompt":"?","timeout_seconds":0.02}`, func(*testing.T, *node, string, string) {}, abi.PermissionTimeout},
		"canceled": {abi.CallInputRequest, `{"prompt":"?"}`, func(t *testing.T, n *node, task, _ string) {
			if _, err := n.CancelTask(t.Context(), n.Root, nil, task, abi.CancelTaskRequest{}); err != nil {
				t.Fatal(err)
			}
		}, abi.PermissionCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(op{test.call, test.request})
			n := newNode(t, enginetest.Guests{"program": p.run})
			id := n.Submit(t, n.Session(t), "persona_program")
			if name != "timeout" {
				n.parked(t, id)
				perm := n.request(t, id)
				if perm.Status != abi.PermissionPending || n.task(t, id).Waiting.PermissionID != perm.ID {
					t.Fatalf("%+v", perm)
				}
				test.end(t, n, id, perm.ID)
			}
			n.Wait(t, id)
			if got := n.request(t, id); got.Status != test.want || got.SettledAt.IsZero() {
				t.Errorf("%+v", got)
			}
			for status, want := range map[abi.PermissionStatus]int{abi.PermissionPending: 0, test.want: 1} {
				list, err := n.Permissions(t.Context(), n.Root, desk.Filter{}, status, desk.Page{Limit: 10})
				if err != nil || len(list.Docs) != want {
					t.Errorf("%d requests are %s, want %d (%v)", len(list.Docs), status, want, err)
				}
			}
		})
	}
}

func respondWith(req abi.RespondRequest) func(t *testing.T, n *node, task, perm string) {
	return func(t *testing.T, n *node, _, perm string) {
		if _, err := n.RespondPermission(t.Context(), n.Root, nil, perm, req); err != nil {
			t.Fatal(err)
		}
	}
}

// Another tenant, and a key of another Workspace, cannot tell a request from none.
func TestRequestsOfOthers(t *testing.T) {
	p := newProgram(op{abi.CallInputRequest, `{"prompt":"?"}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	perm := n.request(t, id)
	other, _ := n.newKey(t, abi.CreateKeyRequest{Name: "x", Tenant: "acme"})
	elsewhere := n.actor("elsewhere")
	elsewhere.Workspaces = []string{"ws_other"}
	for _, c := range []*desk.Caller{other, elsewhere} {
		_, err := n.RespondPermission(t.Context(), c, nil, perm.ID, approve(""))
		none := enginetest.WantCode(t, err, abi.CodeResourceNotFound).Message
		_, err = n.RespondPermission(t.Context(), c, nil, "perm_x", approve(""))
		if got := enginetest.WantCode(t, err, abi.CodeResourceNotFound).Message; strings.ReplaceAll(got, "perm_x", perm.ID) != none {
			t.Errorf("%q and %q", got, none)
		}
		for _, status := range []abi.PermissionStatus{"", abi.PermissionPending} {
			if list, err := n.Permissions(t.Context(), c, desk.Filter{}, status, desk.Page{Limit: 10}); err != nil || len(list.Docs) != 0 {
				t.Errorf("%d requests, %v", len(list.Docs), err)
			}
		}
	}
}

// Many decide at once: each is counted once, the request is settled once, and the
// Task goes on once.
func TestDecisionsAtOnce(t *testing.T) {
	p := newProgram(op{abi.CallApprovalRequest, `{"action":"pay","prompt":"?","quorum":10}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	perm := n.request(t, id)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			_, err := n.RespondPermission(context.Background(), n.actor(fmt.Sprint("a", i/2)), nil, perm.ID, approve(""))
			if own, refused := err.(*abi.Error); err != nil && (!refused || own.Code != abi.CodeConflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n.Wait(t, id)
	got := n.request(t, id)
	actors := map[string]bool{}
	for _, d := range got.Decisions {
		actors[d.Actor] = true
	}
	if got.Status != abi.PermissionApproved || len(got.Decisions) != 10 || len(actors) != 10 {
		t.Errorf("%s with %d decisions of %d actors", got.Status, len(got.Decisions), len(actors))
	}
	n.wantReplay(t, id)
}

// An actor that is called like a Persona decides no more for itself than any other.
func TestActorCalledLikeAPersona(t *testing.T) {
	p := newProgram(op{abi.CallApprovalRequest, `{"action":"pay","prompt":"?"}`})
	n := newNode(t, enginetest.Guests{"program": p.run}, approvals(&abi.ApprovalPolicy{}))
	session := n.Session(t)
	like := n.actor("persona_echo")
	others := n.submitFor(t, n.actor("bob"), session, "persona_echo", "")
	id := n.submitFor(t, like, session, "persona_program", others)
	n.parked(t, id)
	_, err := n.RespondPermission(t.Context(), like, nil, n.request(t, id).ID, approve(""))
	enginetest.WantCode(t, err, abi.CodePermissionDenied)
}

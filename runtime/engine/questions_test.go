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

// threeQuestions asks for an input, an authorization and an approval at once.
const threeQuestions = `{"call_id":"setup","requests":[
	{"key":"port","prompt":"Which port?","schema":{"type":"object","properties":{"port":{"type":"integer"}},"required":["port"]}},
	{"key":"login","kind":"authorization","provider":"github","url":"https://example.com/login","prompt":"Log in"},
	{"key":"pay","kind":"approval","action":"pay","arguments":{"eur":10},"prompt":"May it pay?"}]}`

func within(request string, seconds float64) string {
	return strings.Replace(request, `{"call_id"`, fmt.Sprintf(`{"timeout_seconds":%g,"call_id"`, seconds), 1)
}

// toQuestions are the answers to threeQuestions, by key.
func toQuestions() map[string]abi.RespondRequest {
	message := func(p abi.Part) *abi.MessageInput { return &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{p}} }
	return map[string]abi.RespondRequest{
		"port":  {Message: message(abi.Part{Type: abi.PartJSON, Value: jsontext.Value(`{"port":8080}`)})},
		"login": deny("not mine"),
		"pay":   approve(`{"eur":5}`),
	}
}

// questions returns what a Task has asked, by key.
func (n *node) questions(t testing.TB, task string) map[string]abi.PermissionRequest {
	t.Helper()
	list, err := n.Permissions(t.Context(), n.Root, desk.Filter{TaskID: task}, "", desk.Page{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]abi.PermissionRequest{}
	for _, doc := range list.Docs {
		p := enginetest.As[abi.PermissionRequest](t, doc)
		all[p.Key] = p
	}
	return all
}

// open lists the keys of what is pending: by the list of requests, and as the Task says.
func (n *node) open(t testing.TB, task string) (listed, said []string) {
	t.Helper()
	list, err := n.Permissions(t.Context(), n.Root, desk.Filter{TaskID: task}, abi.PermissionPending, desk.Page{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range list.Docs {
		listed = append(listed, enginetest.As[abi.PermissionRequest](t, doc).Key)
	}
	if w := n.task(t, task).Waiting; w != nil {
		for _, named := range w.Requests {
			if named.Status == abi.PermissionPending {
				said = append(said, named.Key)
			}
		}
	}
	slices.Sort(listed)
	slices.Sort(said)
	return listed, said
}

// told returns the answers that the last run of a program was told, "KEY STATUS" each.
func (p *program) toldAnswers(t testing.TB, call int) (all []abi.QuestionAnswer, short string) {
	t.Helper()
	runs := p.runs()
	status, answer, _ := strings.Cut(runs[len(runs)-1][call], " ")
	var a abi.CallInputRequestAnswer
	if err := json.Unmarshal([]byte(answer), &a); err != nil || status != "0" {
		t.Fatalf("%s %s, %v", status, answer, err)
	}
	var words []string
	for _, q := range a.Answers {
		words = append(words, q.Key+" "+string(q.Status))
	}
	return a.Answers, strings.Join(words, ", ")
}

// Several questions are answered in any order, one by one, each as soon as it is acknowledged
// for good: a power cut between any two loses none, and a retry is answered as at first. The
// Task goes on after the last, with all answers in the order of its questions.
func TestQuestionsInAnyOrder(t *testing.T) {
	for _, order := range [][]string{{"port", "login", "pay"}, {"pay", "login", "port"}, {"login", "pay", "port"}, {"port", "pay", "login"}} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, crash %v", strings.Join(order, " "), crash), func(t *testing.T) {
				p := newProgram(say("before"), op{abi.CallInputRequest, threeQuestions}, say("after"))
				g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
				n := boot(t, crashtest.NewDisk(), g)
				id := n.Submit(t, n.Session(t), "persona_program")
				parked := n.parked(t, id)
				if parked.Status != abi.TaskAuthRequired || len(parked.Waiting.Requests) != 3 {
					t.Fatalf("%s, %+v", parked.Status, parked.Waiting)
				}
				for i, key := range order {
					listed, said := n.open(t, id)
					want := slices.Sorted(slices.Values(order[i:]))
					if !slices.Equal(listed, want) || !slices.Equal(said, want) || n.task(t, id).Status != abi.TaskAuthRequired {
						t.Fatalf("%q are listed, the task says %q; want %q", listed, said, want)
					}
					asked, answer := n.questions(t, id)[key], toQuestions()[key]
					for try := range 2 {
						doc, err := n.RespondPermission(t.Context(), n.actor("boss"), retry(key, "{}"), asked.ID, answer)
						if err != nil || try == 0 && enginetest.As[abi.PermissionRequest](t, doc).Status == abi.PermissionPending {
							t.Fatalf("%s: %s, %v", key, doc.JSON, err)
						}
						if i < len(order)-1 {
							n.rested(id)
						}
						if crash {
							n = boot(t, n.Disk.Crash(uint64(i), 0), g)
						}
					}
					_, err := n.RespondPermission(t.Context(), n.actor("late"), nil, asked.ID, answer)
					enginetest.WantCode(t, err, abi.CodeConflict)
				}
				defer n.Stop(t)
				if task := n.Wait(t, id); task.Status != abi.TaskCompleted || task.Waiting != nil {
					t.Fatalf("%s %+v", task.Status, task.Failure)
				}
				answers, short := p.toldAnswers(t, 1)
				if short != "port answered, login denied, pay approved" {
					t.Fatal(short)
				}
				if a := answers[0]; a.Actor != "boss" || string(a.Message.Parts[0].Value) != `{"port":8080}` {
					t.Errorf("%+v", a)
				}
				if a := answers[1]; a.Actor != "boss" || a.Reason != "not mine" || a.Message != nil {
					t.Errorf("%+v", a)
				}
				if a := answers[2].Approval; a.Decision != "approved" || a.Actor != "boss" || string(a.Arguments) != `{"eur":5}` {
					t.Errorf("%+v", a)
				}
				r := n.wire(t, n.task(t, id))
				if len(r.Approvals) != 1 || r.Approvals[0].ApprovalID != "host:input.request:setup:pay" || r.Approvals[0].Actor != "boss" || r.Approvals[0].Action != "pay" {
					t.Errorf("the receipt has %+v", r.Approvals)
				}
				if err := receipt.CheckRecord(&r, n.recordOf(t, id)); err != nil {
					t.Error(err)
				}
				n.wantReplay(t, id)
			})
		}
	}
}

// All are answered at once, by many: each is taken once, and the Task goes on once.
func TestAnswersAtOnce(t *testing.T) {
	var requests []string
	for i := range abi.MaxQuestions {
		requests = append(requests, fmt.Sprintf(`{"key":"k%d","prompt":"?"}`, i))
	}
	p := newProgram(op{abi.CallInputRequest, `{"requests":[` + strings.Join(requests, ",") + `]}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken := map[string][]string{}
	for key, asked := range n.questions(t, id) {
		for i := range 3 {
			wg.Go(func() {
				actor := fmt.Sprint("actor", i)
				_, err := n.RespondPermission(context.Background(), n.actor(actor), nil, asked.ID, deny("no"))
				if own, refused := err.(*abi.Error); err != nil && (!refused || own.Code != abi.CodeConflict) {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					taken[key] = append(taken[key], actor)
				}
			})
		}
	}
	wg.Wait()
	n.Wait(t, id)
	answers, _ := p.toldAnswers(t, 0)
	for i, a := range answers {
		if a.Key != fmt.Sprint("k", i) || !slices.Equal(taken[a.Key], []string{a.Actor}) {
			t.Errorf("%+v, and %q were told that theirs was taken", a, taken[a.Key])
		}
	}
	if got := len(p.runs()); got != 2 {
		t.Errorf("it ran %d times", got)
	}
	n.wantReplay(t, id)
}

// However the wait of several ends, what was answered stays answered, and what is open ends with
// it: by its time, also when that comes while the node is down; or with the Task.
func TestQuestionsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		request string
		end     func(t *testing.T, n *node, id string) *node
		open    abi.PermissionStatus
		told    string
	}{
		"time over": {within(threeQuestions, 3600), nil, abi.PermissionTimeout, "port answered, login timeout, pay timeout"},
		"canceled": {threeQuestions, func(t *testing.T, n *node, id string) *node {
			if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
				t.Fatal(err)
			}
			return n
		}, abi.PermissionCanceled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(op{abi.CallInputRequest, test.request})
			g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
			n := boot(t, crashtest.NewDisk(), g)
			id := n.Submit(t, n.Session(t), "persona_program")
			n.parked(t, id)
			if _, err := n.RespondPermission(t.Context(), n.Root, nil, n.questions(t, id)["port"].ID, toQuestions()["port"]); err != nil {
				t.Fatal(err)
			}
			n.rested(id)
			if test.end != nil {
				n = test.end(t, n, id)
			} else {
				n = boot(t, n.Disk.Crash(1, 0), g, func(_ *engine.Config, p *engine.Parts) {
					p.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
				})
			}
			defer n.Stop(t)
			n.Wait(t, id)
			for key, got := range n.questions(t, id) {
				want := test.open
				if key == "port" {
					want = abi.PermissionAnswered
				}
				if got.Status != want || got.SettledAt.IsZero() {
					t.Errorf("%s is %s, want %s", key, got.Status, want)
				}
			}
			if listed, _ := n.open(t, id); listed != nil {
				t.Errorf("%q are pending", listed)
			}
			if test.told != "" {
				if _, short := p.toldAnswers(t, 0); short != test.told {
					t.Errorf("it was told %s", short)
				}
				n.wantReplay(t, id)
			}
		})
	}
}

// The last answer, the end of the time and a cancel at once: one of them ends the wait, and all
// tell the same story.
func TestAnswersAndEndAtOnce(t *testing.T) {
	for i := range 12 {
		p := newProgram(op{abi.CallInputRequest, within(threeQuestions, 0.03)})
		n := newNode(t, enginetest.Guests{"program": p.run})
		id := n.Submit(t, n.Session(t), "persona_program")
		n.waiting(t, id)
		var wg sync.WaitGroup
		for key, asked := range n.questions(t, id) {
			wg.Go(func() {
				_, err := n.RespondPermission(context.Background(), n.actor("boss"), nil, asked.ID, toQuestions()[key])
				if own, refused := err.(*abi.Error); err != nil && (!refused || own.Code != abi.CodeConflict) {
					t.Error(err)
				}
			})
		}
		if i%3 == 0 {
			wg.Go(func() { _, _ = n.CancelTask(context.Background(), n.Root, nil, id, abi.CancelTaskRequest{}) })
		}
		wg.Wait()
		task := n.Wait(t, id)
		for key, got := range n.questions(t, id) {
			if got.Status == abi.PermissionPending || got.Status == abi.PermissionCanceled && task.Status != abi.TaskCanceled {
				t.Errorf("%s is %s, and the task %s", key, got.Status, task.Status)
			}
		}
		if task.Status == abi.TaskCompleted {
			answers, _ := p.toldAnswers(t, 0)
			for _, a := range answers {
				if got := n.questions(t, id)[a.Key].Status; got != a.Status {
					t.Errorf("%s is %s, and the plugin was told %s", a.Key, got, a.Status)
				}
			}
			n.wantReplay(t, id)
		}
	}
}

// A fork that is made between two answers asks all anew: what was answered for one Task is not
// answered for another.
func TestForkBetweenAnswers(t *testing.T) {
	p := newProgram(say("before"), op{abi.CallInputRequest, threeQuestions})
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo})
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	first := n.questions(t, id)
	if _, err := n.RespondPermission(t.Context(), n.Root, nil, first["port"].ID, toQuestions()["port"]); err != nil {
		t.Fatal(err)
	}
	doc, err := n.ForkTask(t.Context(), n.Root, nil, id, abi.ForkTaskRequest{})
	if err != nil {
		t.Fatal(err)
	}
	n.parked(t, doc.ID)
	for _, task := range []string{doc.ID, id} {
		for key, asked := range n.questions(t, task) {
			if task == doc.ID && (asked.Status != abi.PermissionPending || asked.ID == first[key].ID) {
				t.Errorf("the fork's %s is %s, %s", key, asked.ID, asked.Status)
			}
			if asked.Status != abi.PermissionPending {
				continue
			}
			if _, err := n.RespondPermission(t.Context(), n.Root, nil, asked.ID, toQuestions()[key]); err != nil {
				t.Fatal(err)
			}
		}
		if ended := n.Wait(t, task); ended.Status != abi.TaskCompleted {
			t.Fatalf("%+v", ended.Failure)
		}
		n.wantReplay(t, task)
	}
}

package engine_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

func (n *node) inject(t testing.TB, session string, mode abi.InjectionMode, text string) {
	t.Helper()
	if _, err := n.Inject(t.Context(), n.Root, nil, session, abi.InjectRequest{Mode: mode, Parts: textMessage(text).Parts}); err != nil {
		t.Fatal(err)
	}
}

// saidIn returns what a Session's Messages say.
func (n *node) saidIn(t testing.TB, session string) (said []string) {
	t.Helper()
	list, err := n.Messages(t.Context(), n.Root, session, desk.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range list.Docs {
		said = append(said, *enginetest.As[abi.Message](t, doc).Parts[0].Text)
	}
	return said
}

func take(at abi.Checkpoint) op {
	return op{abi.CallInboxTake, `{"checkpoint":"` + string(at) + `"}`}
}

func takeWaiting(at abi.Checkpoint) op {
	return op{abi.CallInboxTake, `{"checkpoint":"` + string(at) + `","wait":true}`}
}

// A Task takes what waits for its Session, waits for more while the node dies, is woken by what comes,
// also by somebody who says nothing, and each is delivered once. A replay is told the same, and takes
// nothing.
func TestATaskTakesWhatIsSaidMeanwhile(t *testing.T) {
	p := newProgram(take(abi.CheckpointStep), takeWaiting(abi.CheckpointTurn), takeWaiting(abi.CheckpointTurn),
		op{abi.CallInboxTake, `{"checkpoint":"turn","wait":true,"timeout_ms":20}`}, take(abi.CheckpointLoopExit))
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g)
	session := n.Session(t)
	n.inject(t, session, abi.InjectSteer, "now")
	n = boot(t, n.Disk.Crash(1, 0), g)
	id := n.Submit(t, session, "persona_program")
	task := n.parked(t, id)
	if w := task.Waiting; task.Status != abi.TaskWorking || w.Call != abi.CallInboxTake || w.Inbox == nil || w.Inbox.SessionID != session || w.Inbox.Checkpoint != abi.CheckpointTurn {
		t.Fatalf("%s waits for %+v", task.Status, w)
	}
	n = boot(t, n.Disk.Crash(1, 0), g)
	defer n.Stop(t)
	n.inject(t, session, abi.InjectQueue, "later")
	n.waitingAt(t, id, 2)
	doc, err := n.WakeSession(t.Context(), n.Root, session)
	if err != nil || enginetest.As[abi.Woken](t, doc).Woken != 1 {
		t.Fatalf("%s, %v", doc.JSON, err)
	}
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	runs := p.runs()
	told := runs[len(runs)-1]
	for i, want := range []string{`"text":"now"`, `"text":"later"`, `"woken":"resumed"`, `"woken":"timeout"`, `{"messages":[],"reminders":[]}`} {
		if !strings.Contains(told[i], want) {
			t.Errorf("call %d is answered %s, want %s", i, told[i], want)
		}
	}
	n.inject(t, session, abi.InjectSteer, "for the next")
	n.wantReplay(t, id)
	if said := n.saidIn(t, session); !slices.Equal(said, []string{"hi", "now", "later"}) {
		t.Errorf("the transcript is %q", said)
	}
	doc, err = n.PendingInjections(t.Context(), n.Root, session)
	if shown := enginetest.As[abi.PendingInjections](t, doc); err != nil || shown.PendingCount != 1 {
		t.Errorf("%s, %v", doc.JSON, err)
	}
}

// A Task that is canceled while it waits takes nothing: what comes afterwards waits for the next.
func TestACanceledWaitTakesNothing(t *testing.T) {
	waits := newProgram(takeWaiting(abi.CheckpointStep))
	takes := newProgram(take(abi.CheckpointStep))
	g := enginetest.Guests{"program": waits.run, "takes": takes.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g)
	defer n.Stop(t)
	session := n.Session(t)
	id := n.Submit(t, session, "persona_program")
	n.parked(t, id)
	if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
		t.Fatal(err)
	}
	n.inject(t, session, abi.InjectSteer, "too late")
	if said := n.saidIn(t, session); len(said) != 1 {
		t.Errorf("the transcript is %q", said)
	}
	id = n.Submit(t, session, "persona_takes")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	if told := takes.runs()[0]; !strings.Contains(told[0], `"text":"too late"`) {
		t.Errorf("the next is told %q", told)
	}
}

// A Task that waits for its inbox ends by its deadline and by its budget of time like any other, also over the death of
// the node and when both had passed before the next start. Nothing else of a budget is spent by waiting.
func TestAnInboxIsNotWaitedForForEver(t *testing.T) {
	for name, c := range map[string]struct {
		deadline float64 // in seconds
		budget   *abi.Budget
		code     string // of its failure; "" for none
	}{
		"deadline":         {60, nil, abi.FailureDeadline},
		"budget of time":   {0, &abi.Budget{WallTimeMS: 60_000}, abi.FailureBudget},
		"other budgets":    {0, &abi.Budget{HostCalls: 3, ToolCalls: 1, InputTokens: 1, USD: 0.1}, ""},
		"a later deadline": {600, nil, ""},
	} {
		for way, dies := range map[string]func(t *testing.T, n *node, boot func(*crashtest.Disk) *node) *node{
			"it lives": func(t *testing.T, n *node, _ func(*crashtest.Disk) *node) *node {
				time.Sleep(59 * time.Second)
				synctest.Wait()
				return n
			},
			"it dies": func(t *testing.T, n *node, boot func(*crashtest.Disk) *node) *node {
				time.Sleep(30 * time.Second)
				n.Stop(t)
				n = boot(n.Disk.Crash(1, 0))
				time.Sleep(29 * time.Second)
				synctest.Wait()
				return n
			},
			"it is dead by then": func(t *testing.T, n *node, boot func(*crashtest.Disk) *node) *node {
				n.Stop(t)
				time.Sleep(59 * time.Second)
				if c.code != "" {
					time.Sleep(time.Minute)
				}
				return boot(n.Disk.Crash(1, 0))
			},
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newProgram(takeWaiting(abi.CheckpointTurn), takeWaiting(abi.CheckpointTurn))
					g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
					start := func(d *crashtest.Disk) *node {
						return boot(t, d, g, asPersona(func(p *abi.Persona) { p.Budget = c.budget }))
					}
					n := start(crashtest.NewDisk())
					session := n.Session(t)
					doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_program", Input: enginetest.Text("hi"), DeadlineSeconds: c.deadline})
					if err != nil {
						t.Fatal(err)
					}
					n.parked(t, doc.ID)
					n = dies(t, n, start)
					defer func() { n.Stop(t) }()
					if way != "it is dead by then" {
						if task := n.task(t, doc.ID); task.Status != abi.TaskWorking {
							t.Fatalf("before its time it is %s: %+v", task.Status, task.Failure)
						}
						time.Sleep(2 * time.Second)
						synctest.Wait()
					}
					if c.code == "" {
						n.inject(t, session, abi.InjectSteer, "a")
						n.waitingAt(t, doc.ID, 1)
						n.inject(t, session, abi.InjectSteer, "b")
					}
					task := n.Wait(t, doc.ID)
					if c.code == "" && task.Status != abi.TaskCompleted || c.code != "" && (task.Status != abi.TaskFailed || task.Failure.Code != c.code) {
						t.Fatalf("%s %+v", task.Status, task.Failure)
					}
					if c.code == "" {
						return
					}
					n.inject(t, session, abi.InjectSteer, "too late")
					if said := n.saidIn(t, session); !slices.Equal(said, []string{"hi"}) {
						t.Errorf("it takes what comes afterwards: %q", said)
					}
				})
			})
		}
	}
}

// A Task is woken as soon as it is seen to wait, runs on and waits for something else, while who parked it is still
// at it. What it waits for then is what wakes it: here a timer.
func TestWokenWhileItIsParked(t *testing.T) {
	var ops []op
	for range 20 {
		ops = append(ops, takeWaiting(abi.CheckpointTurn), op{abi.CallInboxTake, `{"checkpoint":"turn","wait":true,"timeout_ms":1}`})
	}
	p := newProgram(ops...)
	n := boot(t, crashtest.NewDisk(), enginetest.Guests{"program": p.run, "echo": enginetest.Echo})
	defer n.Stop(t)
	var tasks []string
	for range 8 {
		tasks = append(tasks, n.Submit(t, n.Session(t), "persona_program"))
	}
	for index := 0; index < len(ops); index += 2 {
		for _, id := range tasks {
			session := n.waitingAt(t, id, index).SessionID
			if _, err := n.WakeSession(t.Context(), n.Root, session); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, id := range tasks {
		if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
			t.Errorf("%s: %+v", task.Status, task.Failure)
		}
	}
}

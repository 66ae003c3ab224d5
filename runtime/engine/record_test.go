package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	goruntime "runtime"
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
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// op is one host call of a program.
type op struct {
	call    string
	request string
}

// program is a guest that makes the calls of a list, one after the other, and
// answers with a digest of all that it was told. Before call number stop, if any,
// it waits for its end: the place where a test cuts the power.
type program struct {
	ops []op

	mu     sync.Mutex
	stop   int // -1 for none
	there  chan struct{}
	told   [][]string // by run, what each call was answered
	ground []string   // by run, the randomness and time of its start
}

func newProgram(ops ...op) *program {
	return &program{ops: ops, stop: -1, there: make(chan struct{}, 100)}
}

// stopBefore makes the runs to come wait before a call; -1 lets them through.
func (p *program) stopBefore(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop = i
}

// runs returns what each run was told.
func (p *program) runs() [][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([][]string(nil), p.told...)
}

func (p *program) run(ctx context.Context, h sandbox.Host) error {
	p.mu.Lock()
	stop, id := p.stop, len(p.told)
	p.told = append(p.told, nil)
	p.mu.Unlock()
	sum := sha256.New()
	seed := make([]byte, 8)
	h.Random(seed)
	ground := fmt.Sprintf("%x %s", seed, h.Now())
	sum.Write([]byte(ground))
	p.mu.Lock()
	p.ground = append(p.ground, ground)
	p.mu.Unlock()
	for i, o := range p.ops {
		if i == stop {
			p.there <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		status, answer, err := h.Call(ctx, o.call, []byte(o.request))
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%d %s %s %s\n", i, o.call, fmt.Sprint(status), answer)
		p.mu.Lock()
		p.told[id] = append(p.told[id], fmt.Sprintf("%d %s", status, answer))
		p.mu.Unlock()
	}
	if stop == len(p.ops) {
		p.there <- struct{}{}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	_, _, err := h.Call(ctx, abi.CallOutput, fmt.Appendf(nil, `{"summary":"%x"}`, sum.Sum(nil)))
	return err
}

func four(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }

func say(text string) op {
	return op{abi.CallMessageAppend, fmt.Sprintf(`{"role":"assistant","parts":[{"type":"text","text":%q}]}`, text)}
}

// everyKind makes calls of every kind that the engine answers by itself.
func everyKind() []op {
	return []op{
		{abi.CallInput, ""}, {abi.CallClock, ""}, {abi.CallRandom, four(16)}, {abi.CallID, ""},
		say("first"), {abi.CallStateSet, `{"key":"n","value":{"deep":[1,2]}}`}, {abi.CallStateGet, `{"key":"n"}`},
		{abi.CallLog, `{"level":"info","message":"here"}`}, {abi.CallArtifactPut, "{\"kind\":\"file\",\"mime_type\":\"text/plain\"}\ncontent"},
		{abi.CallMemoryWrite, `{"scope":"session","content":"the sky is blue"}`}, {abi.CallMemoryQuery, `{"scope":"session","text":"SKY blue"}`},
		{abi.CallTranscriptRead, `{"last":3}`}, {abi.CallHostFact, `{"name":"task"}`}, {abi.CallHostFact, `{"name":"nonsense"}`},
		{abi.CallEventEmit, `{"kind":"com.example.thing","payload":{"a":1}}`}, {abi.CallStateGet, `{"key":"bad key"}`}, say("last"),
	}
}

// messages returns the texts that a Task has appended to its Session.
func (n *node) texts(t testing.TB, session string) []string { return n.transcript(t, session) }

// recordOf returns a Task's record.
func (n *node) recordOf(t testing.TB, id string) *journal.Record {
	t.Helper()
	rec, err := n.TaskRecord(context.Background(), n.Root, id)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// wantReplay replays a Task exactly, and again, and wants one receipt of both.
func (n *node) wantReplay(t testing.TB, id string) string {
	t.Helper()
	var wires []string
	for range 2 {
		doc, err := n.ReplayTask(context.Background(), n.Root, nil, id, abi.ReplayTaskRequest{})
		if err != nil {
			t.Fatal(err)
		}
		source, again := n.task(t, id), n.Wait(t, doc.ID)
		if again.Status != source.Status || again.ParentTaskID != id || again.ReceiptID == "" {
			t.Fatalf("the replay of %s: %s, %+v", source.Status, again.Status, again.Failure)
		}
		wire, err := n.ReceiptWire(context.Background(), n.Root, again.ReceiptID)
		if err != nil {
			t.Fatal(err)
		}
		wires = append(wires, string(wire))
	}
	if wires[0] != wires[1] {
		t.Errorf("two replays, two receipts:\n%s", journal.Diff(journal.Pretty([]byte(wires[0])), journal.Pretty([]byte(wires[1]))))
	}
	return wires[0]
}

func (n *node) task(t testing.TB, id string) abi.Task {
	t.Helper()
	doc, err := n.Get(context.Background(), n.Root, abi.ObjectTask, id)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Task](t, doc)
}

// Whatever call the power is cut before, the Task goes on where it was: it is told
// again what it was told, nothing is doubled, and there is one record.
func TestResumeAtEveryBoundary(t *testing.T) {
	ops := everyKind()
	for cut := 0; cut <= len(ops); cut++ {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			p := newProgram(ops...)
			p.stopBefore(cut)
			g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
			first := newNode(t, g)
			session := first.Session(t)
			id := first.Submit(t, session, "persona_program")
			<-p.there
			disk := first.Disk.Crash(uint64(cut), 0)
			p.stopBefore(-1)
			second := boot(t, disk, g)
			defer second.Stop(t)
			task := second.Wait(t, id)
			if task.Status != abi.TaskCompleted {
				t.Fatalf("%+v", task.Failure)
			}
			runs := p.runs()
			before, after := runs[0], runs[len(runs)-1]
			durable := len(second.recordOf(t, id).Entries)
			if durable == 0 || len(after) != len(ops) {
				t.Fatalf("%d calls recorded, %d answered", durable, len(after))
			}
			// What the record kept was answered the same. A state.set is durable when it
			// returns, so everything up to one that returned is.
			kept := lastIndex(ops[:len(before)], abi.CallStateSet, abi.CallMemoryWrite)
			for i := 0; i <= kept; i++ {
				if before[i] != after[i] {
					t.Errorf("call %d, %s: told %s, and after the cut %s", i, ops[i].call, before[i], after[i])
				}
			}
			want := []string{"hi", "first", "last"}
			if got := second.texts(t, session); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the transcript is %q, want %q", got, want)
			}
			second.wantReplay(t, id)
		})
	}
}

func lastIndex(ops []op, calls ...string) int {
	last := -1
	for i, o := range ops {
		for _, call := range calls {
			if o.call == call {
				last = i
			}
		}
	}
	return last
}

// target is something outside the node that a plugin changes.
type target struct {
	mu         sync.Mutex
	done       []string // idempotency keys, as they came
	repeatable bool
	hold       chan struct{} // when set, a call waits here after it has taken effect
	entered    chan struct{}
}

func (w *target) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	return provider.Plan{Effect: abi.EffectWrite, Repeatable: w.repeatable, Do: func(ctx context.Context, _ func(string)) ([]byte, error) {
		w.mu.Lock()
		w.done = append(w.done, c.IdempotencyKey)
		hold := w.hold
		w.mu.Unlock()
		if hold != nil {
			w.entered <- struct{}{}
			select {
			case <-hold:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return []byte(`{"status":201,"url":"http://x","header":{},"bytes_sent":2}`), nil
	}}, nil
}

func (w *target) calls() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.done...)
}

func fetching(w *target) enginetest.Configure {
	return func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallHTTPFetch: w}
	}
}

// A write whose intent stands without a result is repeated with the same key where
// the target takes one, and otherwise answered as indeterminate: never done twice.
func TestWriteInterrupted(t *testing.T) {
	for _, repeatable := range []bool{true, false} {
		t.Run(fmt.Sprintf("repeatable %v", repeatable), func(t *testing.T) {
			w := &target{repeatable: repeatable, hold: make(chan struct{}), entered: make(chan struct{}, 1)}
			p := newProgram(op{abi.CallHTTPFetch, `{"method":"POST","url":"http://x/"}`}, say("done"))
			g := enginetest.Guests{"program": p.run}
			first := newNode(t, g, fetching(w))
			session := first.Session(t)
			id := first.Submit(t, session, "persona_program")
			<-w.entered
			disk := first.Disk.Crash(1, 0)
			w.mu.Lock()
			w.hold = nil
			w.mu.Unlock()
			second := boot(t, disk, g, fetching(w))
			defer second.Stop(t)
			if task := second.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%+v", task.Failure)
			}
			calls := w.calls()
			entry := second.recordOf(t, id).Entries[0]
			if repeatable && (len(calls) != 2 || calls[0] != calls[1] || entry.Status != abi.CallOK) {
				t.Errorf("a repeatable write was done with the keys %q, and answered %d", calls, entry.Status)
			}
			if !repeatable && (len(calls) != 1 || entry.Status != abi.CallIndeterminate) {
				t.Errorf("a write that cannot be repeated was done %d times, and answered %d", len(calls), entry.Status)
			}
			second.wantReplay(t, id)
		})
	}
}

// The intent of a write is on disk before the write starts.
func TestIntentComesFirst(t *testing.T) {
	w := &target{hold: make(chan struct{}), entered: make(chan struct{}, 1)}
	p := newProgram(op{abi.CallHTTPFetch, `{"method":"POST","url":"http://x/"}`})
	n := newNode(t, enginetest.Guests{"program": p.run}, fetching(w))
	id := n.Submit(t, n.Session(t), "persona_program")
	<-w.entered
	survivor := boot(t, n.Disk.Crash(7, 0), enginetest.Guests{"program": p.run}, fetching(&target{}), func(c *engine.Config, _ *engine.Parts) { c.MaxRunning = 1 })
	defer survivor.Stop(t)
	survivor.Wait(t, id)
	rec := survivor.recordOf(t, id)
	if len(rec.Entries) == 0 || rec.Entries[0].Call != abi.CallHTTPFetch || rec.Entries[0].Status != abi.CallIndeterminate {
		t.Errorf("the intent of a write that had started is not in the record: %+v", rec.Entries)
	}
	close(w.hold)
	n.Wait(t, id)
}

// waits are the calls that park a Task.
var waits = []struct {
	name   string
	op     op
	status abi.TaskStatus
	answer abi.AppendTaskMessageRequest
}{
	{"input", op{abi.CallInputRequest, `{"prompt":"who?"}`}, abi.TaskInputRequired,
		abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInput, Message: message("me")}},
	{"auth", op{abi.CallAuthRequest, `{"provider":"example","prompt":"may I?"}`}, abi.TaskAuthRequired,
		abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInput, Message: message("you may")}},
	{"approval", op{abi.CallApprovalRequest, `{"action":"delete","prompt":"really?"}`}, abi.TaskInputRequired,
		abi.AppendTaskMessageRequest{Kind: abi.TaskMessageToolConfirmation, Message: &abi.MessageInput{Role: abi.RoleUser,
			Parts: []abi.Part{{Type: abi.PartJSON, Value: jsontext.Value(`{"decision":"approved","reason":"fine"}`)}}}}},
}

// A Task that waits holds no place among those that run, and none in memory; the
// answer brings it back, also after a restart, and counts once.
func TestWaitingForSomebody(t *testing.T) {
	for _, w := range waits {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restart %v", w.name, restart), func(t *testing.T) {
				p := newProgram(op{abi.CallClock, ""}, say("before"), w.op, say("after"))
				g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
				n := newNode(t, g)
				session := n.Session(t)
				id := n.Submit(t, session, "persona_program")
				task := n.parked(t, id)
				if task.Status != w.status || task.Waiting.Call != w.op.call {
					t.Fatalf("the task is %s and waits for %+v", task.Status, task.Waiting)
				}
				if restart {
					disk := n.Disk.Crash(3, 0)
					n = boot(t, disk, g)
					defer n.Stop(t)
				}
				if got := n.Stats(); got.Running != 0 || got.Queued != 0 || n.Holds(ledger.Key{Tenant: n.Root.Tenant, ID: id}) {
					t.Errorf("a task that waits is held in memory: %+v", got)
				}
				if _, err := n.AppendTaskMessage(t.Context(), n.Root, retry("k", "{}"), id, w.answer); err != nil {
					t.Fatal(err)
				}
				if _, err := n.AppendTaskMessage(t.Context(), n.Root, retry("k", "{}"), id, w.answer); err != nil {
					t.Errorf("a retry of the answer: %v", err)
				}
				if task = n.Wait(t, id); task.Status != abi.TaskCompleted || task.Waiting != nil {
					t.Fatalf("%s %+v %+v", task.Status, task.Failure, task.Waiting)
				}
				_, err := n.AppendTaskMessage(t.Context(), n.Root, nil, id, w.answer)
				enginetest.WantCode(t, err, abi.CodeInvalidStateTransition)
				runs := p.runs()
				if runs[0][0] != runs[len(runs)-1][0] {
					t.Error("the clock was read anew")
				}
				if got := n.texts(t, session); len(got) < 3 || got[1] != "before" || got[len(got)-1] != "after" || len(got) > 4 {
					t.Errorf("the transcript is %q", got)
				}
				n.wantReplay(t, id)
			})
		}
	}
}

// parked waits until a Task is parked.
func (n *node) parked(t testing.TB, id string) abi.Task {
	t.Helper()
	task := n.waiting(t, id)
	n.rested(id)
	return task
}

// waiting waits until the log says that a Task is parked.
func (n *node) waiting(t testing.TB, id string) abi.Task { return n.waitingAt(t, id, 0) }

// waitingAt is [node.waiting] for a call that is not one of the first so many.
func (n *node) waitingAt(t testing.TB, id string, index int) abi.Task {
	t.Helper()
	sub, err := n.Subscribe(context.Background(), n.Root, desk.Filter{TaskID: id}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		events, err := sub.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			var task abi.Task
			if rec := ev.Record(); rec.Resource.ID != id || rec.State == nil || json.Unmarshal(rec.State, &task) != nil {
				continue
			}
			if task.Status.Terminal() {
				t.Fatalf("the task did not wait: it is %s, %+v", task.Status, task.Failure)
			}
			if task.Waiting != nil && task.Waiting.Index >= index {
				return task
			}
		}
	}
}

// rested waits until a Task that is parked, or has ended, has given back all that it held, which is very
// soon.
func (n *node) rested(id string) {
	for n.Holds(ledger.Key{Tenant: n.Root.Tenant, ID: id}) || n.Stats().Running > 0 {
		goruntime.Gosched()
	}
}

// Waits end by themselves too: a sleep, and a question that nobody answers.
func TestWaitsThatTimeOut(t *testing.T) {
	for _, test := range []struct {
		name, want string
		op         op
	}{
		{"sleep", "0 ", op{abi.CallSleep, `{"ms":20}`}},
		{"input", "7 ", op{abi.CallInputRequest, `{"prompt":"who?","timeout_seconds":0.02}`}},
		{"approval", `0 {"decision":"timeout"`, op{abi.CallApprovalRequest, `{"action":"a","prompt":"?","timeout_seconds":0.02}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(test.op)
			n := newNode(t, enginetest.Guests{"program": p.run})
			id := n.Submit(t, n.Session(t), "persona_program")
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%+v", task.Failure)
			}
			runs := p.runs()
			if got := runs[len(runs)-1][0]; !strings.HasPrefix(got, test.want) {
				t.Errorf("answered %q, want %q", got, test.want)
			}
			n.wantReplay(t, id)
		})
	}
}

// A sleep goes on over a restart, and ends when it would have.
func TestSleepOverRestart(t *testing.T) {
	p := newProgram(op{abi.CallSleep, `{"ms":3600000}`})
	g := enginetest.Guests{"program": p.run}
	n := newNode(t, g)
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	later := func(_ *engine.Config, p *engine.Parts) {
		p.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	}
	n = boot(t, n.Disk.Crash(1, 0), g, later)
	defer n.Stop(t)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
}

// A parked Task can be ended like any other, and gets its receipt.
func TestEndingAParkedTask(t *testing.T) {
	p := newProgram(op{abi.CallStateSet, `{"key":"a","value":1}`}, op{abi.CallInputRequest, `{"prompt":"who?"}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	session := n.Session(t)
	id := n.Submit(t, session, "persona_program")
	n.parked(t, id)
	if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	task := n.task(t, id)
	if task.Status != abi.TaskCanceled || task.ReceiptID == "" || task.Waiting != nil {
		t.Fatalf("%+v", task)
	}
	if got := len(n.recordOf(t, id).Entries); got != 2 {
		t.Errorf("%d calls recorded, want 2, the last open", got)
	}
	doc, err := n.ReplayTask(t.Context(), n.Root, nil, id, abi.ReplayTaskRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if again := n.Wait(t, doc.ID); again.Status != abi.TaskCanceled {
		t.Errorf("the replay of a canceled task, which stops where it stopped: %s %+v", again.Status, again.Failure)
	}
	req := abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_program", Input: enginetest.Text("hi"), DeadlineSeconds: 0.05}
	doc, err = n.SubmitTask(t.Context(), n.Root, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, doc.ID); task.Status != abi.TaskFailed || task.Failure.Code != abi.FailureDeadline || task.ReceiptID == "" {
		t.Errorf("%s %+v", task.Status, task.Failure)
	}
}

// A child runs once, whatever happens to its parent, and its end wakes the parent.
func TestChildren(t *testing.T) {
	spawn := op{abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{"x":1}}`}
	for cut := -1; cut <= 1; cut++ {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			parent := func(p *program) func(ctx context.Context, h sandbox.Host) error {
				return func(ctx context.Context, h sandbox.Host) error {
					_, answer, err := h.Call(ctx, spawn.call, []byte(spawn.request))
					if err != nil {
						return err
					}
					var a abi.CallTaskSpawnAnswer
					if err := json.Unmarshal(answer, &a); err != nil {
						return err
					}
					q := newProgram(op{abi.CallStateSet, `{"key":"child","value":` + fmt.Sprintf("%q", a.TaskID) + `}`},
						op{abi.CallTaskAwait, `{"task_id":"` + a.TaskID + `"}`}, op{abi.CallTaskAwait, `{"task_id":"task_no"}`})
					p.mu.Lock()
					q.stop, q.there = p.stop, p.there
					p.mu.Unlock()
					return q.run(ctx, h)
				}
			}
			p := newProgram()
			p.stopBefore(cut)
			g := enginetest.Guests{"parent": parent(p), "echo": enginetest.Echo}
			n := newNode(t, g)
			session := n.Session(t)
			id := n.Submit(t, session, "persona_parent")
			if cut >= 0 {
				<-p.there
				p.stopBefore(-1)
				n = boot(t, n.Disk.Crash(uint64(cut), 0), g)
				defer n.Stop(t)
			}
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%+v", task.Failure)
			}
			list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{SessionID: session}, desk.Page{Limit: 10})
			if err != nil || len(list.Docs) != 2 {
				t.Fatalf("%d tasks, want the parent and one child (%v)", len(list.Docs), err)
			}
			n.wantReplay(t, id)
		})
	}
}

// A plugin that does not do again what its record says is stopped at the first
// call that differs, and both sides are shown.
func TestDivergenceOnResume(t *testing.T) {
	p := newProgram(op{abi.CallStateSet, `{"key":"a","value":1}`}, op{abi.CallClock, ""})
	p.stopBefore(1)
	g := enginetest.Guests{"program": p.run}
	n := newNode(t, g)
	id := n.Submit(t, n.Session(t), "persona_program")
	<-p.there
	p.stopBefore(-1)
	p.mu.Lock()
	p.ops[0].request = `{"key":"a","value":2}`
	p.mu.Unlock()
	n = boot(t, n.Disk.Crash(1, 0), g)
	defer n.Stop(t)
	task := n.Wait(t, id)
	if task.Status != abi.TaskFailed || task.Failure.Code != abi.FailureDivergence {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	var d journal.Divergence
	if err := json.Unmarshal(task.Failure.Details, &d, json.RejectUnknownMembers(false)); err != nil {
		t.Fatal(err)
	}
	if d.Index != 0 || !strings.Contains(string(d.Recorded), `"value":1`) || !strings.Contains(string(d.Actual), `"value":2`) ||
		!strings.Contains(d.Diff, "-") || d.RecordedModule == "" || d.ActualABI == "" {
		t.Errorf("%+v", d)
	}
	// What it asked is internal, however the Task is read.
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range append(list.Docs, must(n.Get(t.Context(), n.Root, abi.ObjectTask, id))) {
		shown, err := redact.Document(doc.JSON, false)
		if err != nil || !doc.Restricted || strings.Contains(string(shown), `"value\":1`) {
			t.Errorf("restricted %v, shown %s (%v)", doc.Restricted, shown, err)
		}
	}
	n.wantProof(t, id)
}

// A Task is pinned to the module that it began with.
func TestPinnedToItsModule(t *testing.T) {
	old := newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`}, say("the old one"))
	g := enginetest.Guests{"program": old.run}
	n := newNode(t, g)
	session := n.Session(t)
	id := n.Submit(t, session, "persona_program")
	n.parked(t, id)
	next := upgraded{enginetest.Guests{"program": old.run, "new": newProgram(say("the new one")).run}}
	disk := n.Disk.Crash(1, 0)
	n = boot(t, disk, enginetest.Guests{"program": old.run}, func(_ *engine.Config, p *engine.Parts) { p.Modules = next })
	defer n.Stop(t)
	if _, err := n.AppendTaskMessage(t.Context(), n.Root, nil, id, waits[0].answer); err != nil {
		t.Fatal(err)
	}
	n.Wait(t, id)
	if got := n.texts(t, session); got[len(got)-1] != "the old one" {
		t.Errorf("the transcript is %q", got)
	}
}

// upgraded resolves every name to the plugin "new", and still finds the old by its digest.
type upgraded struct{ enginetest.Guests }

func (upgraded) Resolve(context.Context, string) (string, error) {
	return enginetest.DigestOf("new"), nil
}

// open prepares every tool call as one that is allowed.
type open struct{}

func (open) Prepare(context.Context, *provider.Call) (provider.Plan, error) {
	return provider.Plan{Effect: abi.EffectRead}, nil
}

// A Persona can be called as a tool, and so can what the host keeps.
func TestOwnTools(t *testing.T) {
	p := newProgram(
		op{abi.CallToolCall, `{"server":"skills","name":"persona_echo","arguments":{"text":"do it"}}`},
		op{abi.CallToolCall, `{"server":"skills","name":"persona_none","arguments":{"text":"do it"}}`},
		op{abi.CallToolCall, `{"server":"host","name":"memory_save","arguments":{"text":"the sky is blue"}}`},
		op{abi.CallToolCall, `{"server":"host","name":"memory_search","arguments":{"query":"sky"}}`},
		op{abi.CallToolCall, `{"server":"host","name":"time_now"}`},
		op{abi.CallToolCall, `{"server":"host","name":"nothing"}`})
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallToolCall: open{}}
	})
	id := n.Submit(t, n.Session(t), "persona_program")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	runs := p.runs()
	for i, want := range []string{`"text":"hello"`, "3 ", `memory_id`, `the sky is blue`, time.Now().UTC().Format("2006"), "3 "} {
		if got := runs[len(runs)-1][i]; !strings.Contains(got, want) {
			t.Errorf("tool call %d was answered %s, want %q", i, got, want)
		}
	}
	n.wantReplay(t, id)
}

// A replay is told the Memories that its source was told, whatever has come or
// gone since; a Memory that has expired or was redacted is not found.
func TestMemoryOverTime(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	clock := func(_ *engine.Config, p *engine.Parts) {
		p.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	}
	write := newProgram(op{abi.CallMemoryWrite, `{"scope":"workspace","content":"one fact","expires_in_seconds":60}`},
		op{abi.CallMemoryWrite, `{"scope":"workspace","content":{"fact":"two"},"visibility":"public"}`})
	read := newProgram(op{abi.CallMemoryQuery, `{"scope":"workspace","text":"fact"}`})
	n := newNode(t, enginetest.Guests{"write": write.run, "read": read.run}, clock)
	session := n.Session(t)
	n.Wait(t, n.Submit(t, session, "persona_write"))
	found := func() (string, string) {
		id := n.Submit(t, session, "persona_read")
		n.Wait(t, id)
		runs := read.runs()
		return id, runs[len(runs)-1][0]
	}
	first, both := found()
	if !strings.Contains(both, "one fact") || !strings.Contains(both, `"two"`) || !strings.Contains(both, `"task_id"`) {
		t.Fatalf("found %s", both)
	}
	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	_, left := found()
	if strings.Contains(left, "one fact") || !strings.Contains(left, `"two"`) {
		t.Fatalf("after one has expired: %s", left)
	}
	list, err := n.List(t.Context(), n.Root, abi.ObjectMemory, desk.Filter{WorkspaceID: tenancy.DefaultWorkspace}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 {
		t.Fatalf("%d memories listed (%v)", len(list.Docs), err)
	}
	for _, doc := range list.Docs {
		shown, err := redact.Document(doc.JSON, false)
		if err != nil || !doc.Restricted || strings.Contains(string(shown), "one fact") {
			t.Errorf("a reader without the right to see internal content is shown %s (%v)", shown, err)
		}
		if err := n.RedactMemory(t.Context(), n.Root, nil, doc.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, left = found(); strings.Contains(left, "fact") {
		t.Errorf("after redaction: %s", left)
	}
	n.wantReplay(t, first)
	runs := read.runs()
	if got := runs[len(runs)-1][0]; got != both {
		t.Errorf("the replay was told %s, its source %s", got, both)
	}
}

// Tasks of one Session that set the same value at the same time do so one after
// the other: its events are in order, and what is read is the last of them.
func TestStateUnderConcurrency(t *testing.T) {
	var ops []op
	for i := range 10 {
		ops = append(ops, op{abi.CallStateSet, fmt.Sprintf(`{"key":"shared","value":%d}`, i)}, op{abi.CallStateGet, `{"key":"shared"}`})
	}
	p := newProgram(ops...)
	n := newNode(t, enginetest.Guests{"program": p.run})
	session := n.Session(t)
	var ids []string
	for range 8 {
		ids = append(ids, n.Submit(t, session, "persona_program"))
	}
	for _, id := range ids {
		if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
			t.Fatalf("%+v", task.Failure)
		}
	}
	n.wantSound(t)
	res, err := n.Store.Get(t.Context(), n.Root.Tenant, abi.ObjectState, sessions.StateID(session, "shared"))
	if err != nil || res.Sequence != 8*10-1 {
		t.Fatalf("the value has the sequence %d (%v)", res.Sequence, err)
	}
	got, err := n.Answer(t.Context(), abi.CallStateGet, &hostcall.Call{Tenant: n.Root.Tenant, Task: &abi.Task{SessionID: session}, Request: []byte(`{"key":"shared"}`)})
	if remembered := strings.Trim(string(got.JSON), "{}"); err != nil || !strings.Contains(string(res.State), remembered) {
		t.Errorf("remembered %s, on disk %s (%v)", remembered, res.State, err)
	}
}

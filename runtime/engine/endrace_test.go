package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// pausing is a store that a test holds up at chosen places. Nil hooks do nothing.
type pausing struct {
	storage.Store

	mu     sync.Mutex
	read   func(task string) error              // called when the events of a Task were read
	late   func(*storage.Batch) <-chan struct{} // what the Wait on a batch waits for besides; nil for nothing
	held   []func()                             // batches that are held back, in their order
	hold   func(*storage.Batch) bool            // whether this batch, and all after it, are held back
	waited chan struct{}                        // gets a value for each Wait on what is held back
}

func (p *pausing) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *pausing) Events(ctx context.Context, t storage.Tenant, s storage.Scope, after storage.Position, limit int) ([]storage.Event, bool, error) {
	events, more, err := p.Store.Events(ctx, t, s, after, limit)
	p.mu.Lock()
	read := p.read
	p.mu.Unlock()
	if err == nil && read != nil && s.Object == abi.ObjectTask {
		err = read(s.ID)
	}
	return events, more, err
}

func (p *pausing) Append(b *storage.Batch) storage.Commit {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held) > 0 || p.hold != nil && p.hold(b) {
		c := &heldCommit{there: make(chan struct{}), waited: p.waited}
		p.held = append(p.held, func() { c.Commit = p.Store.Append(b); close(c.there) })
		return c
	}
	var until <-chan struct{}
	if p.late != nil {
		until = p.late(b)
	}
	return lateCommit{p.Store.Append(b), until}
}

// release hands over what was held back.
func (p *pausing) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, hand := range p.held {
		hand()
	}
	p.held, p.hold = nil, nil
}

// lateCommit is told late that it is durable.
type lateCommit struct {
	storage.Commit
	until <-chan struct{}
}

func (c lateCommit) Wait(ctx context.Context) (storage.Position, error) {
	at, err := c.Commit.Wait(ctx)
	if c.until != nil {
		<-c.until
	}
	return at, err
}

type heldCommit struct {
	storage.Commit
	there  chan struct{} // closed when it was handed over
	waited chan struct{}
}

func (c *heldCommit) Wait(ctx context.Context) (storage.Position, error) {
	c.waited <- struct{}{}
	<-c.there
	return c.Commit.Wait(ctx)
}

// over returns what a node is configured with to run one Task at once, over p.
func (p *pausing) over(c *engine.Config, parts *engine.Parts) {
	c.MaxRunning = 1
	p.Store, parts.Store = parts.Store, p
	p.waited = make(chan struct{}, 100)
}

// endings are ways to end a Task from outside.
var endings = map[string]func(n *node, id string) error{
	"cancel": func(n *node, id string) error {
		_, err := n.CancelTask(context.Background(), n.Root, nil, id, abi.CancelTaskRequest{})
		return err
	},
	"deadline": func(n *node, id string) error { n.Expire(ledger.Key{Tenant: n.Root.Tenant, ID: id}); return nil },
	"budget":   func(n *node, id string) error { n.Exhaust(ledger.Key{Tenant: n.Root.Tenant, ID: id}); return nil },
}

func tellsAWake(b *storage.Batch) bool {
	return slices.ContainsFunc(b.Frame.Records, func(rec storage.Record) bool { return rec.Kind == abi.EventTaskStatusChanged })
}

// raced is a Task whose wait ends as the Task is ended.
type raced struct {
	*testing.T
	*node
	store  *pausing
	answer abi.AppendTaskMessageRequest
	end    func(n *node, id string) error
	id     string
}

// park brings the Task to its wait, and takes the only place that a Task runs in: once
// woken it is queued.
func (r *raced) park(entered chan struct{}) {
	session := r.Session(r)
	r.id = r.Submit(r, session, "persona_program")
	r.parked(r, r.id)
	r.Submit(r, session, "persona_hold")
	<-entered
}

func (r *raced) answers() {
	if _, err := r.AppendTaskMessage(context.Background(), r.Root, nil, r.id, r.answer); err != nil {
		r.Error(err)
	}
}

func (r *raced) ends() {
	if err := r.end(r.node, r.id); err != nil {
		r.Error(err)
	}
}

// afterReading ends the wait when the record was read for the Task's end.
func (r *raced) afterReading() {
	read, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once sync.Once
	r.store.set(func() {
		r.store.read = func(of string) error {
			if of == r.id {
				once.Do(func() { close(read); <-goOn })
			}
			return nil
		}
	})
	go func() { r.ends(); close(done) }()
	<-read
	r.answers()
	close(goOn)
	<-done
}

// underway ends the Task while the batch that ends its wait cannot be read yet.
func (r *raced) underway() {
	r.store.set(func() { r.store.hold = tellsAWake })
	done := make(chan struct{})
	for _, f := range []func(){r.answers, r.ends} {
		go func() { f(); done <- struct{}{} }()
		<-r.store.waited
	}
	r.store.release()
	<-done
	<-done
}

// The receipt of a Task that is ended as its wait ends is that of its whole record,
// with the answer to the wait: be the wait over after the record was read, its batch
// not readable yet, or the run that waited not gone yet.
func TestEndAsAWaitEnds(t *testing.T) {
	for _, w := range waits {
		p := func() *program { return newProgram(op{abi.CallClock, ""}, w.op, op{abi.CallClock, ""}) }
		for how, end := range endings {
			for when, race := range map[string]func(*raced){"the record was read": (*raced).afterReading, "the batch is on its way": (*raced).underway} {
				t.Run(w.name+", "+how+", "+when, func(t *testing.T) {
					hold, entered, leave := enginetest.Holding()
					store := &pausing{}
					n := newNode(t, enginetest.Guests{"program": p().run, "hold": hold}, store.over)
					defer close(leave)
					r := &raced{t, n, store, w.answer, end, ""}
					r.park(entered)
					race(r)
					n.wantAnswerProved(t, r.id, w.name)
				})
			}
			t.Run(w.name+", "+how+", the run is not gone yet", func(t *testing.T) {
				store, goOn := &pausing{}, make(chan struct{})
				n := newNode(t, enginetest.Guests{"program": p().run}, store.over)
				store.set(func() {
					store.late = func(b *storage.Batch) <-chan struct{} {
						if engine.ParksATask(b) {
							return goOn
						}
						return nil
					}
				})
				r := &raced{t, n, store, w.answer, end, n.Submit(t, n.Session(t), "persona_program")}
				n.waiting(t, r.id)
				r.answers()
				r.ends()
				close(goOn)
				n.wantAnswerProved(t, r.id, w.name)
			})
		}
	}
}

// wantAnswerProved wants the receipt of a Task that has ended to tell of the answer to
// its wait, its second call.
func (n *node) wantAnswerProved(t *testing.T, id, wait string) {
	t.Helper()
	task := n.Wait(t, id)
	if rec := n.recordOf(t, id); len(rec.Entries) != 2 || rec.Entries[1].Open || !task.Status.Terminal() {
		t.Fatalf("the task is %s with %d calls", task.Status, len(rec.Entries))
	}
	if r := n.wire(t, task); wait == "approval" && len(r.Approvals) != 1 {
		t.Errorf("the receipt tells of %d approvals", len(r.Approvals))
	}
	n.wantProof(t, id)
}

// A Task that fails before its plugin is brought back has the receipt of what it did.
func TestFailureBeforeTheRun(t *testing.T) {
	store := &pausing{}
	n := newNode(t, enginetest.Guests{"program": newProgram(op{abi.CallClock, ""}, waits[0].op).run}, store.over)
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	var once sync.Once
	store.set(func() {
		store.read = func(of string) (err error) {
			if of == id {
				once.Do(func() { err = errors.New("the disk is slow to answer") })
			}
			return err
		}
	})
	if _, err := n.AppendTaskMessage(t.Context(), n.Root, nil, id, waits[0].answer); err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, id); task.Status != abi.TaskFailed || task.Failure.Code != abi.FailureHost {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	n.wantAnswerProved(t, id, "input")
}

// Whatever comes at once, in whatever order, a Task ends once, and its receipt is that
// of its record.
func TestReceiptsOfRacingEnds(t *testing.T) {
	const tasks = 120
	ops := []op{{abi.CallClock, ""}, {abi.CallSleep, `{"ms":1}`}, {abi.CallStateSet, `{"key":"a","value":1}`},
		{abi.CallApprovalRequest, `{"action":"a","prompt":"?","timeout_seconds":0.004}`}, {abi.CallInputRequest, `{"prompt":"who?","timeout_seconds":0.004}`}, {abi.CallClock, ""}}
	n := newNode(t, enginetest.Guests{"program": newProgram(ops...).run}, func(c *engine.Config, _ *engine.Parts) { c.MaxRunning = 4 })
	session := n.Session(t)
	var all sync.WaitGroup
	var answers sync.Mutex
	for i := range tasks {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		id := n.Submit(t, session, "persona_program")
		for _, end := range endings {
			after := random.IntN(20)
			all.Go(func() {
				n.eachEvent(t, id, func(i int) bool { return i < after })
				_ = end(n, id) // it may have ended by now
			})
		}
		all.Go(func() {
			n.eachEvent(t, id, func(int) bool {
				answers.Lock() // they are shared
				defer answers.Unlock()
				return !n.answer(t, id)
			})
		})
		if i%8 == 7 {
			all.Wait()
		}
	}
	all.Wait()
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 200})
	if err != nil || len(list.Docs) != tasks {
		t.Fatalf("%d tasks, %v", len(list.Docs), err)
	}
	ends := map[string]int{}
	for _, doc := range list.Docs {
		task := enginetest.As[abi.Task](t, doc)
		ends[string(task.Status)]++
		if task.StartedAt.IsZero() {
			continue // there is no record of it
		}
		n.wantProof(t, task.ID)
	}
	t.Log("ends: ", ends)
}

// eachEvent calls goOn for each event of a Task, as they come, until it returns false
// or the Task has ended.
func (n *node) eachEvent(t *testing.T, id string, goOn func(i int) bool) {
	sub, err := n.Subscribe(context.Background(), n.Root, desk.Filter{TaskID: id}, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer sub.Close()
	for i := 0; ; {
		events, err := sub.Next(context.Background())
		if err != nil {
			t.Error(err)
			return
		}
		for _, ev := range events {
			if !goOn(i) || ev.Record().Kind == abi.EventOutcomeCreated {
				return
			}
			i++
		}
	}
}

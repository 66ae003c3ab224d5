package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// stuckAfter is when a test is stuck: far more than any of its steps takes.
const stuckAfter = 2 * time.Minute

// watch ends the tests with the stacks of all goroutines when what it was asked to watch
// does not end, its node included. Call it before the node is made.
func watch(t testing.TB, what string) {
	timer := time.AfterFunc(stuckAfter, func() {
		stacks := make([]byte, 4<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		panic(fmt.Sprintf("%s is stuck\n\n%s", what, stacks))
	})
	t.Cleanup(func() { timer.Stop() })
}

// pausedModules hold back whoever asks what a plugin is, once a test says so.
type pausedModules struct {
	engine.Modules
	name    string
	entered chan struct{} // gets one for each that asks
	leave   chan struct{} // lets one go for each that it has
}

func (p *pausedModules) Resolve(ctx context.Context, name string) (string, error) {
	if name == p.name {
		p.entered <- struct{}{}
		<-p.leave
	}
	return p.Modules.Resolve(ctx, name)
}

// A worker hands over the first of two Tasks, and has not come to the second and last,
// after which it waits for the disk. A change of their Session does not wait for it.
func TestSessionChangesBesideASettlement(t *testing.T) {
	text := "changed"
	changes := map[string]func(n *node, session string) error{
		"update": func(n *node, session string) error {
			_, err := n.UpdateSession(t.Context(), n.Root, nil, session, abi.UpdateSessionRequest{Summary: abi.ChangeTo(text)})
			return err
		},
		"truncate": func(n *node, session string) error {
			_, err := n.TruncateSession(t.Context(), n.Root, nil, session, abi.TruncateSessionRequest{KeepTurns: new(1)})
			return err
		},
		"fork": func(n *node, session string) error {
			_, err := n.ForkSession(t.Context(), n.Root, nil, session, abi.ForkSessionRequest{})
			return err
		},
		"merge": func(n *node, session string) error {
			doc, err := n.ForkSession(t.Context(), n.Root, nil, session, abi.ForkSessionRequest{})
			if err != nil {
				return err
			}
			_, err = n.MergeBranch(t.Context(), n.Root, nil, enginetest.As[abi.Session](t, doc).BranchID, abi.MergeBranchRequest{})
			return err
		},
		"close": func(n *node, session string) error {
			_, err := n.CloseSession(t.Context(), n.Root, nil, session)
			return err
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			watch(t, name+" beside a settlement")
			paused := &pausedModules{name: "echo", entered: make(chan struct{}, 8), leave: make(chan struct{}, 8)}
			n := newNode(t, enginetest.Guests{"sorter": trapping}, func(_ *engine.Config, p *engine.Parts) {
				paused.Modules = p.Modules
				p.Modules = paused
			})
			session := n.Session(t)
			connector := n.connector(t, func(r *abi.CreateConnectorRequest) { r.TargetSessionID = session })
			n.pause(t, connector, abi.ConnectorPaused)
			n.deliver(t, connector, "1", "a: one")
			n.deliver(t, connector, "2", "a: two")
			n.pause(t, connector, abi.ConnectorActive)
			<-paused.entered
			paused.leave <- struct{}{} // the first is handed over
			<-paused.entered           // the worker comes to the second
			if err := change(n, session); err != nil {
				t.Error(err)
			}
			close(paused.leave)
			n.settled(t, connector)
		})
	}
}

// A change of a Session waits for the disk, and a Task of the Session waits for it. Tasks
// of other Sessions that the same Quota bounds go on meanwhile.
func TestAQuotaIsNotHeldForASession(t *testing.T) {
	watch(t, "a task of another session")
	paused := &pausedModules{name: "held", entered: make(chan struct{}, 1), leave: make(chan struct{})}
	n := newNode(t, enginetest.Guests{"held": enginetest.Echo}, func(_ *engine.Config, p *engine.Parts) {
		paused.Modules = p.Modules
		p.Modules = paused
	})
	n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 100)})
	busy, other := n.Session(t), n.Session(t)
	submitted := make(chan string)
	go func() { submitted <- n.Submit(t, busy, "persona_held") }()
	<-paused.entered
	s, release, err := n.OpenSession(t.Context(), n.Root, busy)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	locked, unlock, unlocked := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() { // as a change of it does
		_ = s.Change(context.Background(), func(*abi.Session, uint64) error {
			close(locked)
			<-unlock
			return errors.New("changed nothing")
		})
		close(unlocked)
	}()
	<-locked
	close(paused.leave)
	for n.InMemory() == 0 {
		runtime.Gosched() // until the Task is about to be counted
	}
	for range 10 {
		if task := n.Wait(t, n.Submit(t, other, "")); task.Status != abi.TaskCompleted {
			t.Errorf("the task of the other session: %s %+v", task.Status, task.Failure)
		}
	}
	close(unlock)
	<-unlocked
	if task := n.Wait(t, <-submitted); task.Status != abi.TaskCompleted {
		t.Errorf("the task of the session: %s %+v", task.Status, task.Failure)
	}
}

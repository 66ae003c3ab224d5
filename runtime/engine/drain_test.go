package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// What a running Task asks for while its node drains it is given, and what it has begun
// goes on with the next start: its record does not tell of a drain.
func TestTasksSpawnWhileTheNodeDrains(t *testing.T) {
	for name, call := range map[string]op{
		"spawn":   {abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{"x":1}}`},
		"handoff": {abi.CallHandoff, `{"persona_id":"persona_echo","input":{"x":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			watch(t, name+" while the node drains")
			entered, leave := make(chan struct{}, 2), make(chan struct{})
			parent := func(ctx context.Context, h sandbox.Host) error {
				entered <- struct{}{}
				<-leave
				if status, answer, err := h.Call(ctx, call.call, []byte(call.request)); status != abi.CallOK {
					return errors.Join(err, &abi.Failure{Code: "not_spawned", Message: string(answer)})
				}
				return enginetest.Echo(ctx, h)
			}
			g := enginetest.Guests{"parent": parent, "echo": enginetest.Echo}
			n := boot(t, crashtest.NewDisk(), g)
			session := n.Session(t)
			id := n.Submit(t, session, "persona_parent")
			<-entered
			drained := make(chan error)
			go func() { drained <- n.Drain(context.Background()) }()
			for !n.Stats().Draining {
				n.yield(t)
			}
			_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("hi")})
			enginetest.WantCode(t, err, abi.CodeServiceUnavailable) // clients are told to come back
			close(leave)
			if err := <-drained; err != nil {
				t.Fatal(err)
			}
			if err := n.Store.Close(); err != nil {
				t.Fatal(err)
			}
			n = boot(t, n.Disk, g)
			defer n.Stop(t)
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("the parent: %s %+v", task.Status, task.Failure)
			}
			if child := n.Wait(t, n.childOf(t, id)); child.Status != abi.TaskCompleted {
				t.Errorf("the child: %s %+v", child.Status, child.Failure)
			}
		})
	}
}

// stoppable is an outside that answers at its second call, and before with what the end
// of its context makes it say.
type stoppable struct {
	says  func(ctx context.Context) error
	began chan struct{}
	calls int
}

func (s *stoppable) Prepare(context.Context, *provider.Call) (provider.Plan, error) {
	return provider.Plan{Effect: abi.EffectRead, Do: func(ctx context.Context, _ func(string)) ([]byte, error) {
		if s.calls++; s.calls > 1 {
			return []byte(`{"status":200}`), nil
		}
		s.began <- struct{}{}
		<-ctx.Done()
		return nil, s.says(ctx)
	}}, nil
}

// A call that a Task was making when it was stopped from outside has failed of that,
// whatever it says. The node's log does not call it an error, and a drain leaves it to be
// made again.
func TestStoppedCallsAreNobodysFault(t *testing.T) {
	ends := map[string]func(context.Context) error{
		"an error": func(ctx context.Context) error { return fmt.Errorf("storing a blob: %w", ctx.Err()) },
		"a refusal": func(context.Context) error {
			return provider.Refuse(abi.CallUnavailable, "gone", "the connection was closed")
		},
	}
	for name, says := range ends {
		for _, how := range []string{"cancel", "drain"} {
			t.Run(how+" with "+name, func(t *testing.T) {
				watch(t, "a stopped call")
				var log lockedBuffer
				outside := &stoppable{says: says, began: make(chan struct{}, 1)}
				configure := func(_ *engine.Config, p *engine.Parts) {
					p.Performers = map[string]provider.Performer{abi.CallHTTPFetch: outside}
					p.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
				}
				program := newProgram(op{abi.CallHTTPFetch, `{"method":"GET","url":"http://x/"}`})
				g := enginetest.Guests{"program": program.run, "echo": enginetest.Echo}
				n := boot(t, crashtest.NewDisk(), g, configure)
				id := n.Submit(t, n.Session(t), "persona_program")
				<-outside.began
				want := abi.TaskCompleted
				if how == "cancel" {
					want = abi.TaskCanceled
					if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
						t.Fatal(err)
					}
				}
				n.Stop(t)
				n = boot(t, n.Disk, g, configure)
				defer n.Stop(t)
				if task := n.Wait(t, id); task.Status != want {
					t.Errorf("%s %+v, want %s", task.Status, task.Failure, want)
				}
				if runs := program.runs(); how == "drain" && !strings.Contains(runs[len(runs)-1][0], "200") {
					t.Errorf("the call was answered with what its stop made of it: %s", runs[len(runs)-1][0])
				}
				if log.String() != "" {
					t.Errorf("the log has errors: %s", log.String())
				}
			})
		}
	}
}

// lockedBuffer is what a log is written to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// stoppedModules fail with the end of the context of who asks for a plugin, once they are
// asked.
type stoppedModules struct {
	engine.Modules
	name  string
	asked chan struct{}
	once  sync.Once
}

func (s *stoppedModules) Resolve(ctx context.Context, name string) (digest string, err error) {
	if name == s.name {
		s.once.Do(func() {
			close(s.asked)
			<-ctx.Done()
			err = fmt.Errorf("looking for %s: %w", name, ctx.Err())
		})
	}
	if err != nil {
		return "", err
	}
	return s.Modules.Resolve(ctx, name)
}

// A delivery that is settled while the node drains is settled or stays pending. It is not
// put aside, and its Task does not begin with what a worker that was stopped has found.
func TestDrainsPutNoDeliveriesAside(t *testing.T) {
	watch(t, "a delivery while the node drains")
	g := enginetest.Guests{"sorter": trapping, "echo": enginetest.Echo}
	stopped := &stoppedModules{name: "echo", asked: make(chan struct{})}
	n := boot(t, crashtest.NewDisk(), g, func(_ *engine.Config, p *engine.Parts) {
		stopped.Modules = p.Modules
		p.Modules = stopped
	})
	connector := n.connector(t, nil)
	n.deliver(t, connector, "1", "a: one")
	<-stopped.asked
	n.Stop(t)
	n = boot(t, n.Disk, g)
	defer n.Stop(t)
	if c := n.settled(t, connector); c.Counters.Failed != 0 || c.Counters.Normalized != 1 {
		t.Errorf("%+v", c.Counters)
	}
	for _, task := range n.tasksOf(t, connector) {
		if task = n.Wait(t, task.ID); task.Status != abi.TaskCompleted {
			t.Errorf("the delivery's task: %s %+v", task.Status, task.Failure)
		}
	}
}

// A drain ends: what does not stop though it is told to is said, and not waited for.
func TestDrainsEnd(t *testing.T) {
	for name, hold := range map[string]string{"a worker": "sorter", "a run": "echo"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deaf := &pausedModules{entered: make(chan struct{}, 4), leave: make(chan struct{})}
				n := boot(t, crashtest.NewDisk(), enginetest.Guests{"sorter": trapping, "echo": enginetest.Echo}, func(_ *engine.Config, p *engine.Parts) {
					deaf.Modules = p.Modules
					p.Modules = deaf
				})
				connector := n.connector(t, nil)
				deaf.name = hold
				n.deliver(t, connector, "1", "a: one")
				<-deaf.entered
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if err := n.Drain(ctx); !errors.Is(err, engine.ErrStuck) || !strings.Contains(err.Error(), "waiting for") {
					t.Errorf("the drain says %v", err)
				}
				close(deaf.leave)
				n.Stop(t) // now it ends
			})
		})
	}
}

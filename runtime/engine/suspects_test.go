package engine_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// die ends a node as a power cut does, and starts it again: nothing that it does from
// here on is on the disk.
func (n *node) die(t testing.TB, g enginetest.Guests, configure ...enginetest.Configure) *node {
	t.Helper()
	disk := n.Disk.Crash(1, 1)
	n.Stop(t)
	return boot(t, disk, g, configure...)
}

// life is one life of a node, as those of its guests see it that end it.
type life chan string

// takes is a guest that runs for a while, and then ends well.
func takes(d time.Duration) func(context.Context, sandbox.Host) error {
	return func(ctx context.Context, h sandbox.Host) error {
		select {
		case <-time.After(d):
			return enginetest.Echo(ctx, h)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ends is a guest that ends the node after a while.
func (l life) ends(name string, d time.Duration) func(context.Context, sandbox.Host) error {
	return func(ctx context.Context, h sandbox.Host) error {
		select {
		case <-time.After(d):
			l <- name
			<-ctx.Done()
		case <-ctx.Done():
		}
		return context.Cause(ctx)
	}
}

// after is a guest that makes a call first, which may take the Task out of memory.
func after(call, request string, then func(context.Context, sandbox.Host) error) func(context.Context, sandbox.Host) error {
	return func(ctx context.Context, h sandbox.Host) error {
		if _, _, err := h.Call(ctx, call, []byte(request)); err != nil {
			return err
		}
		return then(ctx, h)
	}
}

// awaits is a guest that waits for a child.
func awaits(persona string) func(context.Context, sandbox.Host) error {
	return func(ctx context.Context, h sandbox.Host) error {
		_, child, err := h.Call(ctx, abi.CallTaskSpawn, []byte(`{"persona_id":"`+persona+`","input":{"a":1}}`))
		if err != nil {
			return err
		}
		if _, _, err := h.Call(ctx, abi.CallTaskAwait, child); err != nil {
			return err
		}
		return enginetest.Echo(ctx, h)
	}
}

// bunch is some Tasks of which a few end the node, and what happens to it besides.
type bunch struct {
	width    int
	tasks    []string        // their guests, in the order of their submits
	ends     []time.Duration // until those of "end0", "end1" do
	takes    []time.Duration // of "take0", "take1", ...
	happens  []string        // "submit" or "drain", one after the other
	apart    []time.Duration // between them
	attempts int
}

func drawBunch(t *rapid.T) *bunch {
	b := &bunch{width: rapid.IntRange(1, 8).Draw(t, "width"), attempts: rapid.IntRange(2, 4).Draw(t, "attempts")}
	seconds := func(most int, what string) time.Duration {
		return time.Duration(rapid.IntRange(0, 10*most).Draw(t, what)) * time.Second / 10
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "guilty") {
		b.tasks = append(b.tasks, fmt.Sprint("end", i))
		b.ends = append(b.ends, seconds(3, "ends"))
	}
	for range 3 {
		b.takes = append(b.takes, seconds(20, "takes"))
	}
	kinds := []string{"take0", "take1", "take2", "sleep", "parent", "grandparent"}
	b.tasks = append(b.tasks, rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 6).Draw(t, "innocent")...)
	b.tasks = rapid.Permutation(b.tasks).Draw(t, "tasks")
	for range b.tasks {
		b.happens = append(b.happens, "submit")
	}
	b.happens = append(b.happens, rapid.SliceOfN(rapid.Just("drain"), 0, 4).Draw(t, "drains")...)
	b.happens = rapid.Permutation(b.happens).Draw(t, "happens")
	for range b.happens {
		b.apart = append(b.apart, seconds(2, "apart"))
	}
	return b
}

// most is how often a Task may end the node. Nobody waits until its first start is on
// disk: one that ends the node at once may not have started yet as the next life sees it.
func (b *bunch) most(name string) int {
	var i int
	if _, err := fmt.Sscanf(name, "end%d", &i); err == nil && b.ends[i] == 0 {
		return b.attempts + 1
	}
	return b.attempts
}

func (b *bunch) guests(l life) enginetest.Guests {
	g := enginetest.Guests{"echo": enginetest.Echo, "sleep": after(abi.CallSleep, `{"ms":700}`, takes(b.takes[0])),
		"parent": awaits("persona_take1"), "grandparent": awaits("persona_parent")}
	for i, d := range b.takes {
		g[fmt.Sprint("take", i)] = takes(d)
	}
	for i, d := range b.ends {
		name := fmt.Sprint("end", i)
		g[name] = l.ends(name, d)
	}
	return g
}

// run lets it all happen, and says what should not have come of it. It belongs into a
// bubble.
func (b *bunch) run(t *testing.T) string {
	l := make(life, 10)
	configure := func(c *engine.Config, _ *engine.Parts) { c.MaxRunning, c.MaxAttempts = b.width, b.attempts }
	n := boot(t, crashtest.NewDisk(), b.guests(l), configure)
	defer func() { n.Stop(t) }()
	session, tasks, deaths := n.Session(t), map[string][]string{}, map[string]int{}
	next, happens, apart := b.tasks, b.happens, b.apart
	idle := time.Hour // nothing else happens: all must have ended by then
	for {
		wait := idle
		if len(happens) > 0 {
			wait = apart[0]
		}
		select {
		case name := <-l:
			if deaths[name]++; deaths[name] > b.most(name) {
				return fmt.Sprintf("%s ended the node %d times", name, deaths[name])
			}
			l = make(life, 10)
			n = n.die(t, b.guests(l), configure)
			continue
		case <-time.After(wait):
		}
		if len(happens) == 0 {
			return n.outcomes(t, tasks)
		}
		switch happens[0] {
		case "submit":
			tasks[next[0]] = append(tasks[next[0]], n.Submit(t, session, "persona_"+next[0]))
			next = next[1:]
		case "drain":
			n.Stop(t)
			l = make(life, 10)
			n = boot(t, n.Disk, b.guests(l), configure)
		}
		happens, apart = happens[1:], apart[1:]
	}
}

// outcomes says what should not have come of the Tasks.
func (n *node) outcomes(t *testing.T, tasks map[string][]string) (wrong string) {
	for name, ids := range tasks {
		for _, id := range ids {
			task := n.task(t, id)
			guilty := len(name) > 3 && name[:3] == "end"
			switch {
			case guilty && (task.Failure == nil || task.Failure.Code != abi.FailureAttempts):
				wrong += fmt.Sprintf("%s, which ends the node, is %s: %v; ", name, task.Status, task.Failure)
			case !guilty && task.Status != abi.TaskCompleted:
				wrong += fmt.Sprintf("%s, which ends no node, is %s: %v; ", name, task.Status, task.Failure)
			}
		}
	}
	return wrong
}

// Whatever else runs, however often the node is drained meanwhile: a Task that ends the
// node fails within its attempts, and every other one completes.
func TestOnlyTheTasksFailThatEndTheNode(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		bunches, times := rapid.Custom(drawBunch), 20
		if testing.Short() {
			times = 4
		}
		for range times {
			b := bunches.Example(rand.Int())
			if wrong := b.outcome(t); wrong != "" {
				t.Fatalf("%s of %+v", wrong, b)
			}
		}
		return
	}
	rapid.Check(t, func(r *rapid.T) {
		if wrong := drawBunch(r).outcome(t); wrong != "" {
			r.Fatal(wrong)
		}
	})
}

// outcome says what should not have come of it all.
func (b *bunch) outcome(t *testing.T) (wrong string) {
	synctest.Test(t, func(t *testing.T) { wrong = b.run(t) })
	return wrong
}

// Of two deaths one may be nobody's fault: the Tasks that were there go on one at a time,
// new ones wait for them, and what a suspect takes longer than its trial holds up nobody.
func TestSuspectsStartOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := enginetest.Guests{"echo": enginetest.Echo, "long": takes(time.Minute), "short": takes(time.Second)}
		n := boot(t, crashtest.NewDisk(), g)
		session := n.Session(t)
		began := time.Now()
		long, short := n.Submit(t, session, "persona_long"), n.Submit(t, session, "persona_short")
		for range 2 {
			n = n.die(t, g)
			synctest.Wait()
		}
		defer func() { n.Stop(t) }()
		late := n.Submit(t, session, "persona_short")
		for id, want := range map[string]time.Duration{long: time.Minute, short: 11 * time.Second, late: 12 * time.Second} {
			task := n.Wait(t, id)
			if took := task.CompletedAt.Sub(began); task.Status != abi.TaskCompleted || took != want {
				t.Errorf("%s after %s, want %s", task.Status, took, want)
			}
		}
	})
}

// A suspect that waits for its turn can be ended, and does not come back.
func TestSuspectsCanBeEndedWhileTheyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := enginetest.Guests{"echo": enginetest.Echo, "long": takes(time.Minute)}
		n := boot(t, crashtest.NewDisk(), g)
		session := n.Session(t)
		first, second := n.Submit(t, session, "persona_long"), n.Submit(t, session, "persona_long")
		doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{
			SessionID: session, PersonaID: "persona_long", Input: enginetest.Text("hi"), DeadlineSeconds: 5})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			n = n.die(t, g)
			synctest.Wait()
		}
		if _, err := n.CancelTask(t.Context(), n.Root, nil, second, abi.CancelTaskRequest{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(15 * time.Second)
		n = n.die(t, g) // the first has had its trial: it does not fail
		defer func() { n.Stop(t) }()
		if task := n.Wait(t, second); task.Status != abi.TaskCanceled || task.Attempt != 2 {
			t.Errorf("%s in start %d, want CANCELED in its second", task.Status, task.Attempt)
		}
		if task := n.Wait(t, doc.ID); task.Failure == nil || task.Failure.Code != abi.FailureDeadline || task.Attempt != 2 {
			t.Errorf("%s in start %d, want its deadline in its second", task.Status, task.Attempt)
		}
		if task := n.Wait(t, first); task.Status != abi.TaskCompleted || task.Attempt != 4 {
			t.Errorf("%s in start %d, want COMPLETED in its fourth", task.Status, task.Attempt)
		}
	})
}

// A replay that ends the node fails as any other Task does; what it replays, and a Task
// beside it, are left as they are.
func TestAReplayThatEndsTheNodeFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ending atomic.Bool
		g := enginetest.Guests{"echo": enginetest.Echo, "long": takes(time.Minute), "turns": func(ctx context.Context, h sandbox.Host) error {
			if ending.Load() {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return enginetest.Echo(ctx, h)
		}}
		n := boot(t, crashtest.NewDisk(), g)
		session := n.Session(t)
		source := n.Submit(t, session, "persona_turns")
		n.Wait(t, source)
		ending.Store(true)
		doc, err := n.ReplayTask(t.Context(), n.Root, nil, source, abi.ReplayTaskRequest{})
		if err != nil {
			t.Fatal(err)
		}
		beside := n.Submit(t, session, "persona_long")
		for range 2 {
			time.Sleep(time.Second)
			n = n.die(t, g)
		}
		for n.task(t, doc.ID).Attempt < 3 { // it may be tried first, or second
			time.Sleep(time.Second)
		}
		n = n.die(t, g)
		defer func() { n.Stop(t) }()
		if task := n.Wait(t, doc.ID); task.Failure == nil || task.Failure.Code != abi.FailureAttempts || task.Attempt != 3 {
			t.Errorf("the replay is %s in start %d: %v", task.Status, task.Attempt, task.Failure)
		}
		for _, id := range []string{source, beside} {
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Errorf("%s is %s: %v", id, task.Status, task.Failure)
			}
		}
	})
}

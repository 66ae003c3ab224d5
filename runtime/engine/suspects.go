package engine

import (
	"context"
	"errors"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
)

// A suspect is a Task that the node has died with again and again, and that did not get
// on. One Task that ends the node has others that ran beside it look as it does. So each
// suspect gets its last start alone: nothing else starts until it has ended, waits for
// something, or the node has lived with it for a while. Only a Task with which the node
// dies then fails; the log tells when that is.

// blame completes the Outcome of a Task that the node has died with once too often: in is
// the step that has ended it.
func blame(in lifecycle.Input) func(*abi.Outcome) {
	return func(o *abi.Outcome) {
		if in.Alone {
			o.Failure.Message += "; the last time it ran alone"
			o.Summary = o.Failure.Message
		}
	}
}

// suspects tells the suspects among Tasks from the others, and says of each how long its
// trial is.
func (e *Engine) suspects(tasks []*task) (suspects, others []*task) {
	for _, t := range tasks {
		if lifecycle.Suspect(t.state, *t.again) {
			suspects = append(suspects, t)
		} else {
			others = append(others, t)
		}
	}
	for _, t := range suspects {
		t.trial = lifecycle.Trial(len(suspects), t.state.Attempt-(e.config.MaxAttempts-1))
	}
	return suspects, others
}

// try ends a suspect's trial when its time is over. The returned function has to be
// called when the run is.
func (e *Engine) try(t *task) (stop func() bool) {
	return time.AfterFunc(t.trial, e.background.Owned(func() {
		err := e.tellLife(t, lifecycle.Input{Kind: lifecycle.Outlive}, &abi.TaskTrial{Lived: true})
		if err == nil { // else it has just ended, or waits: others start when its run is over
			e.queue.Cleared(t)
		}
	})).Stop
}

// leaveRunning tells of a Task that a drain has stopped that it was not what ended the node.
func (e *Engine) leaveRunning(t *task) {
	err := e.tellLife(t, lifecycle.Input{Kind: lifecycle.Outlive}, &abi.TaskTrial{Drained: true})
	if err != nil && !errors.Is(err, lifecycle.ErrTerminal) && !errors.Is(err, lifecycle.ErrTransition) && !errors.Is(err, errGone) {
		e.log.Error("the log does not tell that a drain has stopped a task: its next start counts as one after a death of the node",
			"task", t.id, "error", err)
	}
}

// tellLife takes a step that leaves a Task's status as it is, and waits for the disk.
func (e *Engine) tellLife(t *task, in lifecycle.Input, life *abi.TaskTrial) error {
	t.mu.Lock()
	commit, err := e.apply(t, change{in: in, actor: desk.HostActor, life: life})
	t.mu.Unlock()
	if err != nil || commit == nil {
		return err
	}
	_, err = commit.Wait(context.Background())
	return err
}

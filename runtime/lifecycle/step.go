package lifecycle

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
)

// State is all that the lifecycle of a Task depends on. The zero State is a Task
// that does not exist yet.
type State struct {
	Status  abi.TaskStatus // "" before it is accepted
	Attempt int            // how often it was started
	Parked  bool           // it waits for somebody or something, and holds no instance
}

// InputKind discriminates what happens to a Task.
type InputKind int

// What can happen to a Task.
const (
	Accept   InputKind = iota // a client submits it
	Start                     // the scheduler takes it
	Complete                  // its plugin ended well
	Fail                      // its plugin, a limit or the host failed it
	Cancel                    // somebody wants it stopped
	Deadline                  // its deadline passed
	Recover                   // the node came up and found it unfinished
	Park                      // its plugin waits for something
	Wake                      // what it waited for came
	Canceled                  // it replays a Task that was canceled, and has come to that point
	Part                      // some of what it waits for came, and it goes on waiting
	Outlive                   // the node has lived with it, or stops it and goes down cleanly
)

// Input is one thing that happens to a Task.
type Input struct {
	Kind        InputKind
	MaxAttempts int // Recover: how often a Task may be started without getting on
	// Progress says, with Recover, that the last start got on: it recorded calls.
	Progress bool
	// Alone says, with Recover, that the node died while the Task had it to itself.
	Alone bool
	// Failure is the code of a Task whose time is up, with Deadline;
	// abi.FailureDeadline if it is empty.
	Failure string
	// Park is the status of a Task that waits: WORKING when it waits for nobody.
	Park abi.TaskStatus
}

// EffectKind discriminates what the engine has to do.
type EffectKind int

// What a step can ask for.
const (
	Emit    EffectKind = iota // append Event; it states the Task in its new State
	Notice                    // append Event, which leaves the Task's state alone
	Enqueue                   // hand the Task to the scheduler
	Stop                      // stop the running plugin; what it still answers does not count
	Outcome                   // record an Outcome with the status Outcome
)

// Effect is one thing that the engine has to do, in order.
type Effect struct {
	Kind    EffectKind
	Event   abi.EventKind     // Emit, Notice
	Outcome abi.OutcomeStatus // Outcome
	Failure string            // Outcome with OutcomeFailed: a code, when the step itself found the fault
}

// Errors of Step.
var (
	// ErrTerminal says that the Task has ended: nothing can happen to it any more.
	ErrTerminal = errors.New("the task has ended")
	// ErrTransition says that the input does not fit the Task's state.
	ErrTransition = errors.New("the task's state does not allow this")
)

// Step is the lifecycle of a Task: from a state and an input to the next state
// and what must be done, in one atomic append. It reads no clock and does no I/O.
// On an error the state is unchanged and nothing is to be done.
//
// Invariants: every change of status is one that [abi.TaskStatus.CanBecome]
// allows and is told by exactly one Emit; a terminal status comes with
// exactly one Outcome before it and is never left.
func Step(s State, in Input) (State, []Effect, error) {
	if s.Status.Terminal() {
		return s, nil, ErrTerminal
	}
	switch in.Kind {
	case Accept:
		return stepAccept(s)
	case Start:
		return stepStart(s)
	case Complete:
		return stepEnd(s, abi.TaskCompleted, "")
	case Fail:
		return stepEnd(s, abi.TaskFailed, "")
	case Deadline:
		next, effects, err := stepEnd(s, abi.TaskFailed, cmp.Or(in.Failure, abi.FailureDeadline))
		return next, stopping(s, effects), err
	case Cancel:
		return stepCancel(s)
	case Canceled:
		return stepEnd(s, abi.TaskCanceled, "")
	case Recover:
		return stepRecover(s, in)
	case Park:
		return stepPark(s, in.Park)
	case Wake:
		return stepWake(s)
	case Part:
		return stepPart(s)
	case Outlive:
		return stepOutlive(s)
	}
	return s, nil, fmt.Errorf("input %d: %w", in.Kind, ErrTransition)
}

func stepAccept(s State) (State, []Effect, error) {
	if s.Status != "" {
		return s, nil, fmt.Errorf("accepting a task that is %s: %w", s.Status, ErrTransition)
	}
	s.Status = abi.TaskSubmitted
	return s, []Effect{
		{Kind: Emit, Event: abi.TransitionEvent(s.Status, true)},
		{Kind: Enqueue},
	}, nil
}

func stepStart(s State) (State, []Effect, error) {
	if !s.Status.CanBecome(abi.TaskWorking) {
		return s, nil, fmt.Errorf("starting a task that is %q: %w", s.Status, ErrTransition)
	}
	s.Attempt++
	s.Status = abi.TaskWorking
	return s, []Effect{{Kind: Emit, Event: abi.TransitionEvent(s.Status, s.Attempt == 1)}}, nil
}

func stepEnd(s State, to abi.TaskStatus, failure string) (State, []Effect, error) {
	if !s.Status.CanBecome(to) {
		return s, nil, fmt.Errorf("%q to %s: %w", s.Status, to, ErrTransition)
	}
	s.Status, s.Parked = to, false
	return s, []Effect{
		{Kind: Outcome, Outcome: outcomeOf(to), Failure: failure},
		{Kind: Emit, Event: abi.TransitionEvent(to, false)},
	}, nil
}

func stepCancel(s State) (State, []Effect, error) {
	next, effects, err := stepEnd(s, abi.TaskCanceled, "")
	if err != nil {
		return s, nil, err
	}
	notice := []Effect{{Kind: Notice, Event: abi.EventUserCancelRequested}}
	return next, stopping(s, append(notice, effects...)), nil
}

// stepRecover brings back a Task that the node found unfinished. One that was
// waiting to start still is. One that ran is started once more, and re-runs its
// record; only a Task that is the end of the node again and again without getting
// on is failed: the last time it had the node to itself, so it was no other. Its status
// does not change, so the start that follows says so by an event of its own.
func stepRecover(s State, in Input) (State, []Effect, error) {
	switch {
	case s.Parked:
		return s, nil, fmt.Errorf("recovering a task that waits: %w", ErrTransition)
	case s.Status == abi.TaskSubmitted:
		return s, []Effect{{Kind: Enqueue}}, nil
	case s.Status == abi.TaskWorking:
		if s.Attempt >= in.MaxAttempts && !in.Progress && (in.Alone || in.MaxAttempts == 1) {
			return stepEnd(s, abi.TaskFailed, abi.FailureAttempts)
		}
		s.Attempt++
		return s, []Effect{{Kind: Emit, Event: abi.EventTaskStatusChanged}, {Kind: Enqueue}}, nil
	}
	return s, nil, fmt.Errorf("recovering a task that is %q: %w", s.Status, ErrTransition)
}

// stepPark takes a running Task's instance away until it is woken.
func stepPark(s State, as abi.TaskStatus) (State, []Effect, error) {
	if s.Status != abi.TaskWorking || s.Parked || as.Terminal() || as != s.Status && !s.Status.CanBecome(as) {
		return s, nil, fmt.Errorf("parking a task that is %q as %q: %w", s.Status, as, ErrTransition)
	}
	s.Parked, s.Status = true, as
	return s, []Effect{{Kind: Emit, Event: abi.TransitionEvent(as, false)}}, nil
}

func stepWake(s State) (State, []Effect, error) {
	if !s.Parked {
		return s, nil, fmt.Errorf("waking a task that is %q and does not wait: %w", s.Status, ErrTransition)
	}
	s.Parked, s.Status = false, abi.TaskWorking
	return s, []Effect{{Kind: Emit, Event: abi.EventTaskStatusChanged}, {Kind: Enqueue}}, nil
}

// stepPart tells anew what a Task waits for. Its status is the same until the last has come.
func stepPart(s State) (State, []Effect, error) {
	if !s.Parked {
		return s, nil, fmt.Errorf("part of what a task waits for that is %q and does not wait: %w", s.Status, ErrTransition)
	}
	return s, []Effect{{Kind: Emit, Event: abi.TransitionEvent(s.Status, false)}}, nil
}

// stepOutlive tells that a running Task was not the end of the node.
func stepOutlive(s State) (State, []Effect, error) {
	if s.Status != abi.TaskWorking || s.Parked {
		return s, nil, fmt.Errorf("outliving a task that is %q: %w", s.Status, ErrTransition)
	}
	return s, []Effect{{Kind: Emit, Event: abi.EventTaskStatusChanged}}, nil
}

// Suspect reports whether a Task that was running when the node died may be why it died: its
// next start is its last, and it has the node to itself. A Task whose first start is its last
// has no other. Of in, it reads MaxAttempts and Progress.
func Suspect(s State, in Input) bool {
	return s.Status == abi.TaskWorking && s.Attempt >= in.MaxAttempts-1 && in.MaxAttempts > 1 && !in.Progress
}

// stopping adds Stop when a plugin may be running in state s.
func stopping(s State, effects []Effect) []Effect {
	if s.Status != abi.TaskWorking || s.Parked || effects == nil {
		return effects
	}
	return append(effects, Effect{Kind: Stop})
}

func outcomeOf(s abi.TaskStatus) abi.OutcomeStatus {
	switch s {
	case abi.TaskCompleted:
		return abi.OutcomeSucceeded
	case abi.TaskCanceled:
		return abi.OutcomeCanceled
	default:
		return abi.OutcomeFailed
	}
}

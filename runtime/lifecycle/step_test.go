package lifecycle

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
)

func TestStep(t *testing.T) {
	const most = 3
	working := State{Status: abi.TaskWorking, Attempt: 1}
	submitted := State{Status: abi.TaskSubmitted}
	parked := State{Status: abi.TaskInputRequired, Attempt: 1, Parked: true}
	tests := []struct {
		name     string
		from     State
		in       InputKind
		park     abi.TaskStatus
		progress bool
		alone    bool
		to       State
		events   []abi.EventKind
		stops    bool
		err      error
	}{
		{name: "accept", from: State{}, in: Accept, to: submitted, events: []abi.EventKind{abi.EventTaskSubmitted}},
		{name: "accept twice", from: submitted, in: Accept, err: ErrTransition},
		{name: "start", from: submitted, in: Start, to: working, events: []abi.EventKind{abi.EventTaskStarted}},
		{name: "start twice", from: working, in: Start, err: ErrTransition},
		{name: "complete", from: working, in: Complete, to: State{Status: abi.TaskCompleted, Attempt: 1}, events: []abi.EventKind{abi.EventTaskCompleted}},
		{name: "complete before start", from: submitted, in: Complete, err: ErrTransition},
		{name: "fail", from: working, in: Fail, to: State{Status: abi.TaskFailed, Attempt: 1}, events: []abi.EventKind{abi.EventTaskFailed}},
		{name: "cancel waiting", from: submitted, in: Cancel, to: State{Status: abi.TaskCanceled, Attempt: 0},
			events: []abi.EventKind{abi.EventUserCancelRequested, abi.EventTaskCanceled}},
		{name: "cancel running", from: working, in: Cancel, to: State{Status: abi.TaskCanceled, Attempt: 1}, stops: true,
			events: []abi.EventKind{abi.EventUserCancelRequested, abi.EventTaskCanceled}},
		{name: "deadline waiting", from: submitted, in: Deadline, to: State{Status: abi.TaskFailed, Attempt: 0}, events: []abi.EventKind{abi.EventTaskFailed}},
		{name: "deadline running", from: working, in: Deadline, to: State{Status: abi.TaskFailed, Attempt: 1}, stops: true, events: []abi.EventKind{abi.EventTaskFailed}},
		{name: "recover waiting", from: submitted, in: Recover, to: submitted},
		{name: "recover running", from: working, in: Recover, to: State{Status: abi.TaskWorking, Attempt: 2}, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "recover once too often", from: State{Status: abi.TaskWorking, Attempt: most}, in: Recover, alone: true, to: State{Status: abi.TaskFailed, Attempt: most}, events: []abi.EventKind{abi.EventTaskFailed}},
		{name: "recover parked", from: parked, in: Recover, err: ErrTransition},
		{name: "recover once too often, but it got on", from: State{Status: abi.TaskWorking, Attempt: most}, in: Recover, progress: true,
			to: State{Status: abi.TaskWorking, Attempt: most + 1}, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "recover once too often, but others ran beside it", from: State{Status: abi.TaskWorking, Attempt: most}, in: Recover,
			to: State{Status: abi.TaskWorking, Attempt: most + 1}, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "outlive", from: working, in: Outlive, to: working, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "outlive parked", from: parked, in: Outlive, err: ErrTransition},
		{name: "outlive waiting", from: submitted, in: Outlive, err: ErrTransition},
		{name: "park for input", from: working, in: Park, park: abi.TaskInputRequired, to: parked, events: []abi.EventKind{abi.EventTaskInputRequired}},
		{name: "park for authorization", from: working, in: Park, park: abi.TaskAuthRequired,
			to: State{Status: abi.TaskAuthRequired, Attempt: 1, Parked: true}, events: []abi.EventKind{abi.EventTaskAuthRequired}},
		{name: "park for a timer", from: working, in: Park, park: abi.TaskWorking,
			to: State{Status: abi.TaskWorking, Attempt: 1, Parked: true}, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "park before start", from: submitted, in: Park, park: abi.TaskInputRequired, err: ErrTransition},
		{name: "park twice", from: parked, in: Park, park: abi.TaskInputRequired, err: ErrTransition},
		{name: "wake", from: parked, in: Wake, to: working, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "part", from: parked, in: Part, to: parked, events: []abi.EventKind{abi.EventTaskInputRequired}},
		{name: "part of an authorization", from: State{Status: abi.TaskAuthRequired, Attempt: 1, Parked: true}, in: Part,
			to: State{Status: abi.TaskAuthRequired, Attempt: 1, Parked: true}, events: []abi.EventKind{abi.EventTaskAuthRequired}},
		{name: "part running", from: working, in: Part, err: ErrTransition},
		{name: "part of what has ended", from: State{Status: abi.TaskCompleted, Attempt: 1}, in: Part, err: ErrTerminal},
		{name: "wake running", from: working, in: Wake, err: ErrTransition},
		{name: "cancel parked", from: parked, in: Cancel, to: State{Status: abi.TaskCanceled, Attempt: 1},
			events: []abi.EventKind{abi.EventUserCancelRequested, abi.EventTaskCanceled}},
		{name: "deadline parked", from: parked, in: Deadline, to: State{Status: abi.TaskFailed, Attempt: 1}, events: []abi.EventKind{abi.EventTaskFailed}},
		{name: "complete canceled", from: State{Status: abi.TaskCanceled, Attempt: 1}, in: Complete, err: ErrTerminal},
		{name: "replays a canceled task", from: working, in: Canceled, to: State{Status: abi.TaskCanceled, Attempt: 1},
			events: []abi.EventKind{abi.EventTaskCanceled}},
		{name: "cancel completed", from: State{Status: abi.TaskCompleted, Attempt: 1}, in: Cancel, err: ErrTerminal},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, effects, err := Step(test.from, Input{Kind: test.in, MaxAttempts: most, Park: test.park, Progress: test.progress, Alone: test.alone})
			if !errors.Is(err, test.err) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if err != nil {
				if got != test.from || effects != nil {
					t.Fatalf("a refused step changed something: %v %v", got, effects)
				}
				return
			}
			if got != test.to {
				t.Errorf("state %v, want %v", got, test.to)
			}
			var events []abi.EventKind
			stops := false
			for _, e := range effects {
				if e.Event != "" {
					events = append(events, e.Event)
				}
				stops = stops || e.Kind == Stop
			}
			if !equal(events, test.events) || stops != test.stops {
				t.Errorf("events %v stops %v, want %v %v", events, stops, test.events, test.stops)
			}
		})
	}
}

func equal(a, b []abi.EventKind) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Any sequence of inputs keeps to the changes of status that the protocol allows, tells every
// change once and in a terminal state with one Outcome, and never leaves a terminal state.
func TestAnyInputsKeepTheLifecycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s State
		outcomes := 0
		for i := 0; i < 30; i++ {
			in := Input{Kind: InputKind(rapid.IntRange(int(Accept), int(Outlive)).Draw(t, "input")), MaxAttempts: 3}
			next, effects, err := Step(s, in)
			if s.Status.Terminal() && !errors.Is(err, ErrTerminal) {
				t.Fatalf("%v: something happened to a task that had ended: %v", s, in)
			}
			if err != nil {
				continue
			}
			if next.Status != s.Status && s.Status != "" && !s.Status.CanBecome(next.Status) {
				t.Fatalf("forbidden transition %s to %s", s.Status, next.Status)
			}
			if s.Status == abi.TaskSubmitted && next.Status == abi.TaskCompleted {
				t.Fatal("a watcher would see SUBMITTED followed by COMPLETED")
			}
			emits := 0
			for _, e := range effects {
				if e.Kind == Emit {
					emits++
				}
				if e.Kind == Outcome {
					outcomes++
				}
			}
			if next.Status != s.Status && emits != 1 {
				t.Fatalf("%s to %s was told by %d events", s.Status, next.Status, emits)
			}
			s = next
		}
		if s.Status.Terminal() != (outcomes == 1) {
			t.Fatalf("%s with %d outcomes", s.Status, outcomes)
		}
	})
}

// A Task is a suspect when its next start is the last one that it has: a recovery gives it
// that start, and fails it if the node dies with it once more.
func TestSuspect(t *testing.T) {
	working := func(attempt int) State { return State{Status: abi.TaskWorking, Attempt: attempt} }
	for _, c := range []struct {
		name string
		s    State
		in   Input
		want bool
	}{
		{"one start is left", working(2), Input{MaxAttempts: 3}, true},
		{"none is left", working(3), Input{MaxAttempts: 3}, true},
		{"two are left", working(1), Input{MaxAttempts: 3}, false},
		{"it got on", working(2), Input{MaxAttempts: 3, Progress: true}, false},
		{"its first start is its last", working(1), Input{MaxAttempts: 1}, false},
		{"it had not begun", State{Status: abi.TaskSubmitted}, Input{MaxAttempts: 1}, false},
		{"it waits", State{Status: abi.TaskInputRequired, Attempt: 2, Parked: true}, Input{MaxAttempts: 3}, false},
	} {
		if got := Suspect(c.s, c.in); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

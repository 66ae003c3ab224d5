package engine

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
)

func TestStepTable(t *testing.T) {
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
		{name: "accept", from: State{}, in: InputAccept, to: submitted, events: []abi.EventKind{abi.EventTaskSubmitted}},
		{name: "accept twice", from: submitted, in: InputAccept, err: ErrTransition},
		{name: "start", from: submitted, in: InputStart, to: working, events: []abi.EventKind{abi.EventTaskStarted}},
		{name: "start twice", from: working, in: InputStart, err: ErrTransition},
		{name: "complete", from: working, in: InputComplete, to: State{Status: abi.TaskCompleted, Attempt: 1}, events: []abi.EventKind{abi.EventTaskCompleted}},
		{name: "complete before start", from: submitted, in: InputComplete, err: ErrTransition},
		{name: "fail", from: working, in: InputFail, to: State{Status: abi.TaskFailed, Attempt: 1}, events: []abi.EventKind{abi.EventTaskFailed}},
		{name: "cancel waiting", from: submitted, in: InputCancel, to: State{Status: abi.TaskCanceled, Attempt: 0},
			events: []abi.EventKind{abi.EventUserCancelRequested, abi.EventTaskCanceled}},
		{name: "cancel running", from: working, in: InputCancel, to: State{Status: abi.TaskCanceled, Attempt: 1}, stops: true,
			events: []abi.EventKind{abi.EventUserCancelRequested, abi.EventTaskCanceled}},
		{name: "deadline waiting", from: submitted, in: InputDeadline, to: State{Status: abi.TaskFailed, Attempt: 0}, events: []abi.EventKind{abi.EventTaskFailed}},
		{name: "deadline running", from: working, in: InputDeadline, to: State{Status: abi.TaskFailed, Attempt: 1}, stops: true, events: []abi.EventKind{abi.EventTaskFailed}},
		{name: "recover waiting", from: submitted, in: InputRecover, to: submitted},
		{name: "recover running", from: working, in: InputRecover, to: State{Status: abi.TaskWorking, Attempt: 2}, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "recover once too often", from: State{Status: abi.TaskWorking, Attempt: most}, in: InputRecover, alone: true, to: State{Status: abi.TaskFailed, Attempt: most}, events: []abi.EventKind{abi.EventTaskFailed}},
		{name: "recover parked", from: parked, in: InputRecover, err: ErrTransition},
		{name: "recover once too often, but it got on", from: State{Status: abi.TaskWorking, Attempt: most}, in: InputRecover, progress: true,
			to: State{Status: abi.TaskWorking, Attempt: most + 1}, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "recover once too often, but others ran beside it", from: State{Status: abi.TaskWorking, Attempt: most}, in: InputRecover,
			to: State{Status: abi.TaskWorking, Attempt: most + 1}, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "outlive", from: working, in: InputOutlive, to: working, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "outlive parked", from: parked, in: InputOutlive, err: ErrTransition},
		{name: "outlive waiting", from: submitted, in: InputOutlive, err: ErrTransition},
		{name: "park for input", from: working, in: InputPark, park: abi.TaskInputRequired, to: parked, events: []abi.EventKind{abi.EventTaskInputRequired}},
		{name: "park for authorization", from: working, in: InputPark, park: abi.TaskAuthRequired,
			to: State{Status: abi.TaskAuthRequired, Attempt: 1, Parked: true}, events: []abi.EventKind{abi.EventTaskAuthRequired}},
		{name: "park for a timer", from: working, in: InputPark, park: abi.TaskWorking,
			to: State{Status: abi.TaskWorking, Attempt: 1, Parked: true}, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "park before start", from: submitted, in: InputPark, park: abi.TaskInputRequired, err: ErrTransition},
		{name: "park twice", from: parked, in: InputPark, park: abi.TaskInputRequired, err: ErrTransition},
		{name: "wake", from: parked, in: InputWake, to: working, events: []abi.EventKind{abi.EventTaskStatusChanged}},
		{name: "wake running", from: working, in: InputWake, err: ErrTransition},
		{name: "cancel parked", from: parked, in: InputCancel, to: State{Status: abi.TaskCanceled, Attempt: 1},
			events: []abi.EventKind{abi.EventUserCancelRequested, abi.EventTaskCanceled}},
		{name: "deadline parked", from: parked, in: InputDeadline, to: State{Status: abi.TaskFailed, Attempt: 1}, events: []abi.EventKind{abi.EventTaskFailed}},
		{name: "complete canceled", from: State{Status: abi.TaskCanceled, Attempt: 1}, in: InputComplete, err: ErrTerminal},
		{name: "replays a canceled task", from: working, in: InputCanceled, to: State{Status: abi.TaskCanceled, Attempt: 1},
			events: []abi.EventKind{abi.EventTaskCanceled}},
		{name: "cancel completed", from: State{Status: abi.TaskCompleted, Attempt: 1}, in: InputCancel, err: ErrTerminal},
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
				stops = stops || e.Kind == EffectStop
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

// Any sequence of inputs keeps the narrative's table, tells every change once and
// in a terminal state with one Outcome, and never leaves a terminal state.
func TestStepKeepsTheLifecycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s State
		outcomes := 0
		for i := 0; i < 30; i++ {
			in := Input{Kind: InputKind(rapid.IntRange(int(InputAccept), int(InputOutlive)).Draw(t, "input")), MaxAttempts: 3}
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
				if e.Kind == EffectEmit {
					emits++
				}
				if e.Kind == EffectOutcome {
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

package backlog

import (
	"errors"
	"fmt"
)

// Work says who works on a Connector's deliveries.
type Work int

// Who works on a Connector's deliveries. One worker does at a time.
const (
	Resting Work = iota // nobody
	Queued              // a worker will, or is between two batches
	Busy                // a worker has a batch: it is normalized, or done what it means
	Gone                // nobody ever will: the Connector was deleted
)

// Reach says which pending deliveries are remembered: those that the worker has are not
// counted.
type Reach int

// Which pending deliveries are remembered.
const (
	Whole   Reach = iota // all
	Behind               // the first ones; those that came later have to be read from the log
	Rewound              // whatever is remembered comes first; then all have to be read that are pending
)

// State is what is known of the pending deliveries of a Connector. The zero State is that
// of a Connector that has none.
type State struct {
	Work  Work
	Reach Reach
	Kept  int // deliveries that are remembered
	// Missed counts the deliveries that came and were not remembered. Whoever reads the
	// log compares it: what came while it read may not have been read.
	Missed uint64
}

// Found is the state of a Connector whose deliveries an earlier life of the node left
// pending: they are in the log alone.
func Found(pending int) State {
	if pending <= 0 {
		return State{}
	}
	return State{Reach: Behind}
}

// Remembers reports whether a delivery that comes now may be remembered.
func (s State) Remembers() bool { return s.Work != Gone && s.Reach == Whole }

// Pending reports whether there is something for a worker that has no batch.
func (s State) Pending() bool { return s.Work != Gone && (s.Kept > 0 || s.Reach != Whole) }

// Waits reports whether there is something, and no worker for it.
func (s State) Waits() bool { return s.Work == Resting && s.Pending() }

// InputKind discriminates what happens to a Connector.
type InputKind int

// What can happen to a Connector.
const (
	Arrive  InputKind = iota // a delivery comes, and is handed over to the log
	Reread                   // deliveries became pending that are in the log alone; they are durable
	Look                     // something has changed: there may be work
	Take                     // the worker asks for the next batch, which may be empty
	ReadAll                  // the worker has read all that the log had when it began
	Done                     // the worker is done with its batch
	Rest                     // the worker's turn is over
	Delete                   // the Connector is deleted
)

// Input is one thing that happens to a Connector.
type Input struct {
	Kind InputKind
	// Room says, with Arrive, that there is memory for the delivery. It matters only while
	// the state [State.Remembers].
	Room bool
	// Ready says, with Look and Rest, that work may begin: that the Connector is not
	// paused, say. It matters only while the Connector [State.Waits], with Look, and while
	// something is [State.Pending], with Rest.
	Ready bool
	// N is how many deliveries are taken of those that are remembered, with Take, or come
	// back undone, with Done.
	N int
	// Missed is what the state's was when the worker began to read, with ReadAll.
	Missed uint64
}

// Effect is the one thing that is to be done.
type Effect int

// What a step can ask for.
const (
	None     Effect = iota
	Remember        // put the delivery into the inbox, last
	Skip            // the delivery is in the log alone: reading waits until it is durable
	Forget          // empty the inbox: what was in it is in the log
	Queue           // have a worker take a turn
	Shift           // the batch is the first N of the inbox
	Read            // the batch is what the log has after the last that was taken up
	Restart         // the batch is the first that the log has, once what is under way is settled
	Caught          // nothing was skipped any more
	Return          // put what is undone back into the inbox, first
)

// Errors of Step.
var (
	// ErrGone says that the Connector was deleted: nothing is handed over for it any more.
	ErrGone = errors.New("the connector is deleted")
	// ErrTransition says that the input does not fit the state.
	ErrTransition = errors.New("the state does not allow this")
)

// Step is the life of a Connector's backlog: from a state and an input to the next state
// and what is to be done. On an error the state is unchanged and nothing is to be done.
//
//	         Resting            Queued                Busy          Gone
//	Arrive   Remember while Whole and there is room, else Skip      ErrGone
//	                            and Behind (Rewound stays)
//	Reread   Forget; Rewound    Forget; Rewound       as before     None
//	Look     Queue → Queued     None                  None          None
//	         when Pending and Ready, else None
//	Take     –                  Shift   → Busy, when Kept           None
//	                            Restart → Busy, Behind, when Rewound
//	                            Read    → Busy, when Behind
//	                            None    → Busy, when there is nothing
//	ReadAll  –                  –                     Caught; Whole None
//	                                                  when Behind and nothing was
//	                                                  missed meanwhile, else None
//	Done     –                  –                     Return →      None
//	                                                  Queued, when N, else None → Queued
//	Rest     –                  Queue when Pending    –             None
//	                            and Ready, else
//	                            None → Resting
//	Delete   Forget → Gone, Whole                                   ErrGone
//
// A dash is ErrTransition.
//
// Invariants: every pending delivery is remembered, is the worker's, or will be read: the
// state is Rewound, or it is Behind and the delivery is younger than what the worker has
// taken up. The worker has each once: what it reads is neither remembered nor its own.
// There is one worker at most.
func Step(s State, in Input) (State, Effect, error) {
	if s.Work == Gone {
		return stepGone(s, in)
	}
	switch in.Kind {
	case Arrive:
		return stepArrive(s, in)
	case Reread:
		s.Reach, s.Kept = Rewound, 0
		return s, Forget, nil
	case Look:
		return stepLook(s, in)
	case Take:
		return stepTake(s, in)
	case ReadAll:
		return stepReadAll(s, in)
	case Done:
		return stepDone(s, in)
	case Rest:
		return stepRest(s, in)
	case Delete:
		return State{Work: Gone, Missed: s.Missed}, Forget, nil
	}
	return s, None, fmt.Errorf("input %d: %w", in.Kind, ErrTransition)
}

// stepGone lets a worker that has a batch end its turn.
func stepGone(s State, in Input) (State, Effect, error) {
	if in.Kind == Arrive || in.Kind == Delete {
		return s, None, ErrGone
	}
	return s, None, nil
}

func stepArrive(s State, in Input) (State, Effect, error) {
	if s.Reach == Whole && in.Room {
		s.Kept++
		return s, Remember, nil
	}
	s.Reach = max(s.Reach, Behind)
	s.Missed++
	return s, Skip, nil
}

func stepLook(s State, in Input) (State, Effect, error) {
	if !s.Waits() || !in.Ready {
		return s, None, nil
	}
	s.Work = Queued
	return s, Queue, nil
}

func stepTake(s State, in Input) (State, Effect, error) {
	if s.Work != Queued || in.N > s.Kept || (in.N == 0) != (s.Kept == 0) {
		return s, None, fmt.Errorf("taking %d of %d deliveries: %w", in.N, s.Kept, ErrTransition)
	}
	s.Work = Busy
	switch {
	case in.N > 0:
		s.Kept -= in.N
		return s, Shift, nil
	case s.Reach == Rewound:
		s.Reach = Behind
		return s, Restart, nil
	case s.Reach == Behind:
		return s, Read, nil
	}
	return s, None, nil
}

func stepReadAll(s State, in Input) (State, Effect, error) {
	if s.Work != Busy {
		return s, None, fmt.Errorf("reading without a batch: %w", ErrTransition)
	}
	if s.Reach != Behind || s.Missed != in.Missed {
		return s, None, nil
	}
	s.Reach = Whole
	return s, Caught, nil
}

func stepDone(s State, in Input) (State, Effect, error) {
	if s.Work != Busy {
		return s, None, fmt.Errorf("being done without a batch: %w", ErrTransition)
	}
	s.Work, s.Kept = Queued, s.Kept+in.N
	if in.N > 0 {
		return s, Return, nil
	}
	return s, None, nil
}

func stepRest(s State, in Input) (State, Effect, error) {
	switch {
	case s.Work != Queued:
		return s, None, fmt.Errorf("ending a turn that nobody has: %w", ErrTransition)
	case s.Pending() && in.Ready:
		return s, Queue, nil
	}
	s.Work = Resting
	return s, None, nil
}

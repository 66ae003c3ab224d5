package backlog

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestStep(t *testing.T) {
	for _, c := range []struct {
		name   string
		from   State
		in     Input
		to     State
		effect Effect
		err    error
	}{
		{"arrive", State{}, Input{Kind: Arrive, Room: true}, State{Kept: 1}, Remember, nil},
		{"arrive without room", State{Kept: 2}, Input{Kind: Arrive}, State{Reach: Behind, Kept: 2, Missed: 1}, Skip, nil},
		{"arrive behind", State{Reach: Behind, Missed: 1}, Input{Kind: Arrive, Room: true}, State{Reach: Behind, Missed: 2}, Skip, nil},
		{"arrive rewound", State{Reach: Rewound}, Input{Kind: Arrive, Room: true}, State{Reach: Rewound, Missed: 1}, Skip, nil},
		{"arrive while a worker has a batch", State{Work: Busy}, Input{Kind: Arrive, Room: true}, State{Work: Busy, Kept: 1}, Remember, nil},
		{"arrive gone", State{Work: Gone}, Input{Kind: Arrive, Room: true}, State{}, None, ErrGone},

		{"reread", State{Kept: 2}, Input{Kind: Reread}, State{Reach: Rewound}, Forget, nil},
		{"reread while a worker has a batch", State{Work: Busy, Reach: Behind}, Input{Kind: Reread}, State{Work: Busy, Reach: Rewound}, Forget, nil},
		{"reread gone", State{Work: Gone}, Input{Kind: Reread}, State{Work: Gone}, None, nil},

		{"look", State{Kept: 1}, Input{Kind: Look, Ready: true}, State{Work: Queued, Kept: 1}, Queue, nil},
		{"look behind", State{Reach: Behind}, Input{Kind: Look, Ready: true}, State{Work: Queued, Reach: Behind}, Queue, nil},
		{"look, and there is nothing", State{}, Input{Kind: Look, Ready: true}, State{}, None, nil},
		{"look, and it is paused", State{Kept: 1}, Input{Kind: Look}, State{Kept: 1}, None, nil},
		{"look twice", State{Work: Queued, Kept: 1}, Input{Kind: Look, Ready: true}, State{Work: Queued, Kept: 1}, None, nil},
		{"look while a worker has a batch", State{Work: Busy, Kept: 1}, Input{Kind: Look, Ready: true}, State{Work: Busy, Kept: 1}, None, nil},
		{"look gone", State{Work: Gone}, Input{Kind: Look, Ready: true}, State{Work: Gone}, None, nil},

		{"take what is remembered", State{Work: Queued, Kept: 3}, Input{Kind: Take, N: 2}, State{Work: Busy, Kept: 1}, Shift, nil},
		{"take what is remembered before the log is read", State{Work: Queued, Reach: Rewound, Kept: 1}, Input{Kind: Take, N: 1},
			State{Work: Busy, Reach: Rewound}, Shift, nil},
		{"take from the log", State{Work: Queued, Reach: Behind}, Input{Kind: Take}, State{Work: Busy, Reach: Behind}, Read, nil},
		{"take from the first", State{Work: Queued, Reach: Rewound}, Input{Kind: Take}, State{Work: Busy, Reach: Behind}, Restart, nil},
		{"take nothing", State{Work: Queued}, Input{Kind: Take}, State{Work: Busy}, None, nil},
		{"take too much", State{Work: Queued, Kept: 1}, Input{Kind: Take, N: 2}, State{}, None, ErrTransition},
		{"take past what is remembered", State{Work: Queued, Reach: Behind, Kept: 1}, Input{Kind: Take}, State{}, None, ErrTransition},
		{"take twice", State{Work: Busy, Kept: 1}, Input{Kind: Take, N: 1}, State{}, None, ErrTransition},
		{"take without a turn", State{Kept: 1}, Input{Kind: Take, N: 1}, State{}, None, ErrTransition},
		{"take gone", State{Work: Gone}, Input{Kind: Take}, State{Work: Gone}, None, nil},

		{"read all", State{Work: Busy, Reach: Behind, Missed: 3}, Input{Kind: ReadAll, Missed: 3}, State{Work: Busy, Missed: 3}, Caught, nil},
		{"read all, and one came meanwhile", State{Work: Busy, Reach: Behind, Missed: 4}, Input{Kind: ReadAll, Missed: 3},
			State{Work: Busy, Reach: Behind, Missed: 4}, None, nil},
		{"read all, and it was rewound meanwhile", State{Work: Busy, Reach: Rewound}, Input{Kind: ReadAll}, State{Work: Busy, Reach: Rewound}, None, nil},
		{"read all without a batch", State{Work: Queued, Reach: Behind}, Input{Kind: ReadAll}, State{}, None, ErrTransition},

		{"done", State{Work: Busy}, Input{Kind: Done}, State{Work: Queued}, None, nil},
		{"done in part", State{Work: Busy, Kept: 1}, Input{Kind: Done, N: 2}, State{Work: Queued, Kept: 3}, Return, nil},
		{"done with a Connector that is deleted", State{Work: Gone}, Input{Kind: Done, N: 2}, State{Work: Gone}, None, nil},
		{"done twice", State{Work: Queued}, Input{Kind: Done}, State{}, None, ErrTransition},

		{"rest", State{Work: Queued}, Input{Kind: Rest, Ready: true}, State{}, None, nil},
		{"rest, and there is more", State{Work: Queued, Kept: 1}, Input{Kind: Rest, Ready: true}, State{Work: Queued, Kept: 1}, Queue, nil},
		{"rest, and it is paused", State{Work: Queued, Kept: 1}, Input{Kind: Rest}, State{Kept: 1}, None, nil},
		{"rest with a batch", State{Work: Busy}, Input{Kind: Rest}, State{}, None, ErrTransition},
		{"rest gone", State{Work: Gone}, Input{Kind: Rest, Ready: true}, State{Work: Gone}, None, nil},

		{"delete", State{Reach: Behind, Kept: 2, Missed: 1}, Input{Kind: Delete}, State{Work: Gone, Missed: 1}, Forget, nil},
		{"delete while a worker has a batch", State{Work: Busy}, Input{Kind: Delete}, State{Work: Gone}, Forget, nil},
		{"delete twice", State{Work: Gone}, Input{Kind: Delete}, State{}, None, ErrGone},
		{"what does not exist", State{}, Input{Kind: Delete + 1}, State{}, None, ErrTransition},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, effect, err := Step(c.from, c.in)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err != nil {
				c.to = c.from
			}
			if got != c.to || effect != c.effect {
				t.Errorf("%v and effect %d, want %v and effect %d", got, effect, c.to, c.effect)
			}
		})
	}
}

// delivery is one that the log has. A delivery that is driven again is another one.
type delivery struct {
	at      int // its place in the log
	pending bool
}

// machine does what the steps ask for, and knows of each delivery where it is.
type machine struct {
	state   State
	log     []*delivery
	inbox   []*delivery
	batch   []*delivery // the worker's
	under   []*delivery // handed over by the worker, and not settled yet
	read    int         // the last place that was taken up
	reading bool        // the batch comes from the log, and was not read yet
	missed  uint64      // when the worker began to read
	queued  int         // how often a worker was asked for, and no turn was ended since
	ready   bool        // nothing keeps a worker from working any more
}

// mayWork says whether work may begin.
func (m *machine) mayWork(t *rapid.T) bool { return m.ready || rapid.Bool().Draw(t, "ready") }

func (m *machine) step(t *rapid.T, in Input) (Effect, error) {
	in.Room = in.Room && m.state.Remembers()
	in.Ready = in.Ready && m.state.Pending()
	next, effect, err := Step(m.state, in)
	if err != nil && next != m.state {
		t.Fatalf("a refused step changed something: %v", next)
	}
	m.state = next
	return effect, err
}

func (m *machine) arrive(t *rapid.T) {
	effect, err := m.step(t, Input{Kind: Arrive, Room: rapid.Bool().Draw(t, "room")})
	if err != nil {
		return
	}
	d := &delivery{at: len(m.log) + 1, pending: true}
	m.log = append(m.log, d)
	if effect == Remember {
		m.inbox = append(m.inbox, d)
	}
}

// redrive makes a delivery pending that no worker was told of.
func (m *machine) redrive(t *rapid.T) {
	if m.state.Work == Gone {
		return
	}
	m.log = append(m.log, &delivery{at: len(m.log) + 1, pending: true})
	if effect, _ := m.step(t, Input{Kind: Reread}); effect == Forget {
		m.inbox = nil
	}
}

func (m *machine) look(t *rapid.T) {
	if effect, _ := m.step(t, Input{Kind: Look, Ready: m.mayWork(t)}); effect == Queue {
		m.queued++
	}
}

func (m *machine) take(t *rapid.T) {
	n := 0
	if m.state.Kept > 0 {
		n = rapid.IntRange(1, m.state.Kept).Draw(t, "taken")
	}
	effect, _ := m.step(t, Input{Kind: Take, N: n})
	switch effect {
	case Shift:
		m.batch, m.inbox = slices.Clone(m.inbox[:n]), slices.Clone(m.inbox[n:])
		for _, d := range m.batch {
			m.read = max(m.read, d.at)
		}
	case Restart:
		m.settle(t)
		m.read, m.reading, m.missed = 0, true, m.state.Missed
	case Read:
		m.reading, m.missed = true, m.state.Missed
	}
}

// fetch reads a batch, and, in another step, says that there was no more.
func (m *machine) fetch(t *rapid.T) {
	if !m.reading {
		return
	}
	m.reading = false
	most := rapid.IntRange(1, 4).Draw(t, "read")
	more := false
	for _, d := range m.log {
		if !d.pending || d.at <= m.read {
			continue
		}
		if more = len(m.batch) == most; more {
			break
		}
		m.batch = append(m.batch, d)
	}
	if len(m.batch) > 0 {
		m.read = m.batch[len(m.batch)-1].at
	}
	for range rapid.IntRange(0, 2).Draw(t, "come meanwhile") {
		m.arrive(t)
	}
	if !more {
		_, _ = m.step(t, Input{Kind: ReadAll, Missed: m.missed})
	}
}

// done hands over what some of the batch means, once the batch before is settled.
func (m *machine) done(t *rapid.T) {
	if m.reading {
		return
	}
	n := rapid.IntRange(0, len(m.batch)).Draw(t, "undone")
	was := m.state.Work
	effect, err := m.step(t, Input{Kind: Done, N: n})
	if was == Busy || was == Gone {
		m.settle(t)
		at := len(m.batch) - n
		left := m.batch[at:]
		m.under, m.batch = m.batch[:at:at], nil
		if effect == Return {
			m.inbox = append(slices.Clone(left), m.inbox...)
		}
	} else if err == nil {
		t.Fatalf("a batch was done in the state %v", m.state)
	}
}

func (m *machine) settle(t *rapid.T) {
	for _, d := range m.under {
		if !d.pending {
			t.Fatalf("delivery %d was settled twice", d.at)
		}
		d.pending = false
	}
	m.under = nil
}

func (m *machine) rest(t *rapid.T) {
	was := m.state.Work
	effect, err := m.step(t, Input{Kind: Rest, Ready: m.mayWork(t)})
	if err == nil && was == Queued && effect != Queue {
		m.queued--
	}
}

func (m *machine) remove(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "deletion") > 0 {
		return
	}
	if effect, _ := m.step(t, Input{Kind: Delete}); effect == Forget {
		m.inbox = nil
	}
}

// check holds the machine against the invariants.
func (m *machine) check(t *rapid.T) {
	if m.state.Work == Gone {
		if len(m.inbox) > 0 {
			t.Fatal("something is remembered of a Connector that is deleted")
		}
		return
	}
	if m.state.Kept != len(m.inbox) {
		t.Fatalf("%d deliveries are remembered, and %d are in the inbox", m.state.Kept, len(m.inbox))
	}
	if m.queued != 0 && m.queued != 1 || (m.queued == 1) != (m.state.Work != Resting) {
		t.Fatalf("%d workers were asked for, and the state is %v", m.queued, m.state)
	}
	for _, d := range m.log {
		if !d.pending {
			continue
		}
		worked := slices.Contains(m.batch, d) || slices.Contains(m.under, d)
		younger := m.state.Reach == Behind && d.at > m.read
		if !worked && !slices.Contains(m.inbox, d) && m.state.Reach != Rewound && !younger {
			t.Fatalf("delivery %d is lost: %v, read up to %d", d.at, m.state, m.read)
		}
		if worked && younger {
			t.Fatalf("delivery %d will be read though the worker has it: %v, read up to %d", d.at, m.state, m.read)
		}
	}
	if !slices.IsSortedFunc(m.inbox, func(a, b *delivery) int { return a.at - b.at }) {
		t.Fatal("the inbox is not in the order of the log")
	}
}

// Whatever the order of what happens: no delivery is lost, none is settled twice, one worker
// at most has a turn, and a worker that goes on settles all that is pending.
func TestAnyInputsKeepTheDeliveries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{}
		if n := rapid.IntRange(0, 3).Draw(t, "found"); n > 0 {
			for at := range n {
				m.log = append(m.log, &delivery{at: at + 1, pending: true})
			}
			m.state = Found(n)
		}
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "arrive": m.arrive, "redrive": m.redrive, "look": m.look, "take": m.take, "fetch": m.fetch, "done": m.done, "rest": m.rest,
			"delete": m.remove,
		})
		m.goOn(t)
	})
}

// goOn is a worker that is always ready: it ends when nothing is pending.
func (m *machine) goOn(t *rapid.T) {
	m.ready = true
	for turns := 0; m.state.Work != Gone && (m.state.Pending() || m.state.Work != Resting); turns++ {
		if turns > 10*len(m.log)+10 {
			t.Fatalf("the worker does not come to an end: %v", m.state)
		}
		m.look(t)
		m.take(t)
		m.fetch(t)
		m.done(t)
		m.rest(t)
		m.check(t)
	}
	m.settle(t)
	for _, d := range m.log {
		if d.pending && m.state.Work != Gone {
			t.Fatalf("delivery %d was never settled: %v", d.at, m.state)
		}
	}
}

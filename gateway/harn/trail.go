package harn

import (
	"context"
	"errors"
	"sync"
	"time"
)

// trail follows the log for a socket, with a goroutine only while there is something
// to send, and until it has been quiet for a heartbeat's time: most sockets are idle,
// and a goroutine's stack is much of what an idle one would hold. A trail at rest is
// set off by its subscription, by the next heartbeat, or by the end of the server.
type trail struct {
	socket   *socket
	follower *follower   // of the run; of nobody at rest
	unhook   func() bool // from the end of the server

	mu     sync.Mutex
	pace   pace
	roused bool               // while it runs: there may be more to do than the run has seen
	stop   context.CancelFunc // of the run
	ended  chan struct{}      // closed when the run has ended, where somebody waits for that
	beat   *time.Timer        // the next heartbeat, while at rest
}

// pace is what a trail is doing.
type pace uint8

const (
	resting pace = iota
	running
	ending // it runs, and is not to rest again
	over
)

// follow starts to send what the follower's subscription has.
func follow(s *socket, f *follower) *trail {
	t := &trail{socket: s, follower: f}
	// A socket that is over already rouses it at once, and that run gives unhook back: it waits for
	// the lock, and so for unhook.
	t.mu.Lock()
	t.unhook = context.AfterFunc(s.live, t.rouse)
	t.mu.Unlock()
	t.rouse()
	return t
}

// rouse sets the trail off, without waiting for it.
func (t *trail) rouse() {
	if ctx := t.begin(); ctx != nil {
		go t.run(ctx, false)
	}
}

// pulse is what the timer does, on a goroutine of its own.
func (t *trail) pulse() {
	if ctx := t.begin(); ctx != nil {
		t.run(ctx, true)
	}
}

// begin returns the context of a run; nil when there is to be none, or is one, which
// is told to look again.
func (t *trail) begin() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pace != resting {
		t.roused = true
		return nil
	}
	if t.beat != nil {
		t.beat.Stop()
	}
	ctx, stop := context.WithCancel(t.socket.live)
	t.pace, t.stop, t.roused = running, stop, false
	return ctx
}

// run sends what there is, and rests when that was all.
func (t *trail) run(ctx context.Context, pulse bool) {
	var err error
	if pulse {
		err = t.follower.pulse()
	}
	for err == nil && !t.follower.done() {
		var idle bool
		if idle, err = t.advance(ctx); idle && t.rest() {
			return
		}
	}
	t.finish(ctx, err)
}

// advance sends as long as something comes. idle says that there was nothing, and
// that the subscription tells when there is.
func (t *trail) advance(ctx context.Context) (idle bool, err error) {
	f := t.follower
	reading := f.reads.Context(ctx)
	events, err := f.sub.Poll(reading, t.rouse)
	f.reads.Leave()
	if err != nil || len(events) == 0 {
		f.reads.Done()
		return err == nil, err
	}
	if err = f.write(reading, events); err == nil {
		err = f.copy(ctx)
	}
	if errors.Is(err, errQuiet) {
		err = nil
	}
	return false, err
}

// rest ends the run, unless there is more to do. What it has changed belongs to the
// next run from here on.
func (t *trail) rest() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.roused || t.pace == ending {
		t.roused = false
		return false
	}
	t.pace = resting
	t.stop()
	t.stop = nil
	if wait := t.follower.untilBeat(); t.beat == nil {
		t.beat = time.AfterFunc(wait, t.pulse)
	} else {
		t.beat.Reset(wait)
	}
	return true
}

// finish ends the trail with its last run, and the socket too if that was not asked
// for.
func (t *trail) finish(ctx context.Context, err error) {
	if err != nil {
		t.follower.fail(ctx, err)
	}
	t.release()
	if !t.asked() {
		t.socket.over(t.follower)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop()
	t.pace = over
	if t.ended != nil {
		close(t.ended)
	}
}

// asked reports whether the trail ends because it was told to.
func (t *trail) asked() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pace == ending
}

// release gives back what the trail holds.
func (t *trail) release() {
	t.unhook()
	t.follower.sub.Close()
}

// end ends the trail, and returns when nothing more is sent.
func (t *trail) end() {
	t.mu.Lock()
	switch t.pace {
	case resting:
		t.pace = over
		t.beat.Stop()
		t.mu.Unlock()
		t.release()
	case running:
		t.pace, t.ended = ending, make(chan struct{})
		t.stop()
		t.mu.Unlock()
		<-t.ended
	default:
		t.mu.Unlock()
	}
}

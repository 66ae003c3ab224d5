package gateway

import (
	"context"

	"github.com/wharf-dev/wharf/runtime/inhand"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// Reading is what a stream or a socket reads large events with: it waits for its share of
// memory as long as it has to, since it may fall behind on the log, and for a place of long
// work. It is used by one goroutine at a time. A nil Reading waits for nothing.
type Reading struct {
	turns  *turns.Turns
	number uint64
	hand   inhand.Hand
	placed bool
}

// eventCopies is how often a large event is held until a stream has written it: as it was
// read, as clients see it, and as a part of what is written.
const eventCopies = 3

// Reading returns what goes on reading for the request's caller when the request is over.
func (r *Request) Reading() *Reading {
	d := &Reading{turns: r.server.cfg.Turns, number: r.number()}
	if r.Caller != nil {
		d.hand.Init(r.server.cfg.InHand, r.Caller.Tenant, eventCopies, inhand.Stays)
	}
	return d
}

// Context returns the context to read with. After each read comes [Reading.Leave].
func (d *Reading) Context(ctx context.Context) context.Context {
	if d == nil {
		return ctx
	}
	return inhand.Into(turns.For(ctx, d.number), d)
}

// Hold hears of what is about to be read.
func (d *Reading) Hold(ctx context.Context, bytes int64) error {
	if bytes <= inhand.Small {
		return nil
	}
	err := d.hand.Hold(ctx, bytes)
	if err == nil && !d.placed {
		err = d.turns.Enter(ctx)
		d.placed = err == nil
	}
	return err
}

// Leave gives back the place in which something was read. Call it before waiting for anything.
func (d *Reading) Leave() {
	if d != nil && d.placed {
		d.placed = false
		d.turns.Leave()
	}
}

// Do does long work on an event of that size, in a place if it is large. ctx is one of
// [Reading.Context].
func (d *Reading) Do(ctx context.Context, size int, work func()) error {
	if d == nil {
		work()
		return nil
	}
	return d.turns.Do(ctx, size, func() error { work(); return nil })
}

// Done gives back the memory of what was read: it was written, or there is nothing.
func (d *Reading) Done() {
	if d != nil {
		d.hand.Keep(0)
	}
}

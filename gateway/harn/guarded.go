package harn

import (
	"context"
	"errors"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// guarded is the subscription of an event stream, which lasts no longer than the
// credential that opened it: it is looked at again at every heartbeat, whether there
// was something to send or not.
type guarded struct {
	*api.Stream
	who   func() (*api.Caller, error)
	every time.Duration
	due   time.Time // when to look again
}

// errShut ends a stream whose credential does not open it any more.
var errShut = abi.Errorf(abi.CodeUnauthenticated, "the credentials that opened this stream are not valid any more")

// Next fails with errShut when the credential is not valid any more.
func (g *guarded) Next(ctx context.Context) ([]api.Entry, error) {
	if now := time.Now(); !now.Before(g.due) {
		g.due = now.Add(g.every)
		if err := g.check(); err != nil {
			return nil, err
		}
	}
	return g.Stream.Next(ctx)
}

func (g *guarded) check() error {
	caller, err := g.who()
	if refused, ok := errors.AsType[*abi.Error](err); ok && refused.Code == abi.CodeUnauthenticated {
		return errShut
	}
	if err == nil && !caller.Can(scopeEvents) {
		return errShut
	}
	return err
}

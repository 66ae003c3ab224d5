package api

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/live"
)

// ClientSilence is after how long a live client counts as gone of which nothing was heard, unless
// whoever attached it watches its connection.
const ClientSilence = live.Silence

// liveCore serves the clients that are attached to Sessions. What they say of themselves is shown to
// everybody who sees the Session.
type liveCore interface {
	// AttachClient attaches a client to a Session, or takes it in again.
	AttachClient(ctx context.Context, c *desk.Caller, session string, req abi.AttachClientRequest) (*abi.LiveClients, error)
	// TakeoverSession makes a client the controller of a Session; a former one becomes an observer.
	TakeoverSession(ctx context.Context, c *desk.Caller, session string, req abi.TakeoverSessionRequest) (*abi.LiveClients, error)
	// DetachClient takes a client out of a Session.
	DetachClient(ctx context.Context, c *desk.Caller, session string, req abi.DetachClientRequest) (*abi.LiveClients, error)
	// HeartbeatClient notes that a client is there, and what it says of itself by now.
	HeartbeatClient(ctx context.Context, c *desk.Caller, session string, req abi.HeartbeatClientRequest) (*abi.LiveClients, error)
	// LiveClients returns the clients that are attached to a Session.
	LiveClients(ctx context.Context, c *desk.Caller, session string) (*abi.LiveClients, error)
	// Controls refuses what only the controller of a Session may do, when the caller is another client.
	Controls(c *desk.Caller, session string) error
}

package acp

import (
	"context"
	"log/slog"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// connect serves the protocol over a WebSocket, one message a text frame.
func (a *Adapter) connect(r *gateway.Request) error {
	if !r.IsUpgrade() {
		return r.UpgradeNeeded()
	}
	return r.Upgrade(a.serveSocket)
}

// serveSocket serves one WebSocket until either side ends it, or the node drains.
func (a *Adapter) serveSocket(live context.Context, ws *gateway.Socket) {
	unhook := context.AfterFunc(live, func() { _ = ws.Close(gateway.CloseGoingAway, "the node is draining") })
	defer unhook()
	ctx, stop := context.WithCancel(ws.Context())
	defer stop()
	go heartbeat(ctx, ws)
	err := a.Serve(ctx, Link{Transport: ws.Messages(), Authenticate: func() (*api.Caller, error) { return authenticate(ws) }})
	if err != nil {
		a.log.Debug("a connection has ended", slog.String("request_id", ws.ID()), slog.Any("error", err))
	}
}

// authenticate returns whom the socket acts for, and closes it when its key does not open it any more.
func authenticate(ws *gateway.Socket) (*api.Caller, error) {
	caller, err := ws.Authenticate()
	if err == nil {
		return caller, nil
	}
	shown := ws.Shown(err)
	if shown.Code == abi.CodeUnauthenticated {
		_ = ws.Close(gateway.CloseUnauthorized, "the key is not valid any more")
	}
	return nil, shown
}

// heartbeat asks whether the client lives, and whether its key still opens the socket.
func heartbeat(ctx context.Context, ws *gateway.Socket) {
	tick := time.NewTicker(ws.Heartbeat())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := authenticate(ws); err != nil {
			continue
		}
		if ws.Ping() != nil {
			ws.Drop()
			return
		}
	}
}

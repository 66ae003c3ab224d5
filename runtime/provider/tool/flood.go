package tool

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxUnasked is how many requests and notifications a server may send in each minute.
// The SDK keeps what it has not handled yet, however much that is.
const maxUnasked = 1000

var errFlood = errors.New("it sends more requests and notifications than the node takes, 1000 a minute")

// guarded is a transport that ends when the server floods it.
type guarded struct {
	mcp.Transport
	log *slog.Logger
}

// Connect implements mcp.Transport.
func (g *guarded) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := g.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &guardedConnection{Connection: c, log: g.log}, nil
}

// guardedConnection is read by one goroutine.
type guardedConnection struct {
	mcp.Connection
	log     *slog.Logger
	since   time.Time
	unasked int
}

// Read implements mcp.Connection.
func (g *guardedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := g.Connection.Read(ctx)
	if _, unasked := m.(*jsonrpc.Request); err != nil || !unasked {
		return m, err
	}
	if now := time.Now(); now.Sub(g.since) > time.Minute {
		g.since, g.unasked = now, 0
	}
	if g.unasked++; g.unasked > maxUnasked {
		g.log.Warn("a server of tools is dropped", "error", errFlood)
		return nil, errFlood
	}
	return m, nil
}

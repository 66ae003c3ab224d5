package ceiling

import (
	"context"
	"fmt"
	"net"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"
)

// Echo serves WebSockets on ln that send every message back, with the library that
// the node has and nothing else, until ctx ends.
func Echo(ctx context.Context, ln net.Listener) error {
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	up := websocket.FastHTTPUpgrader{}
	server := &fasthttp.Server{Handler: func(r *fasthttp.RequestCtx) { _ = up.Upgrade(r, echo) }}
	if err := server.Serve(ln); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serving echoes: %w", err)
	}
	return nil
}

func echo(c *websocket.Conn) {
	for {
		kind, text, err := c.ReadMessage()
		if err != nil || c.WriteMessage(kind, text) != nil {
			return
		}
	}
}

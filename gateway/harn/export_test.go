package harn

import "github.com/wharf-dev/wharf/gateway"

// SocketSchema is the JSON Schema of the WebSocket's frames.
func SocketSchema() gateway.Schema { return New(gateway.Config{}, nil).socketSchema() }

package harn

import (
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// SocketCommands names what clients may ask for on a WebSocket.
func SocketCommands() (names []string) {
	for _, c := range New(gateway.Config{}, api.New(nil, nil)).socketCommands() {
		names = append(names, c.name)
	}
	return names
}

// SocketSchema is the JSON Schema of the WebSocket's frames.
func SocketSchema() gateway.Schema { return New(gateway.Config{}, api.New(nil, nil)).socketSchema() }

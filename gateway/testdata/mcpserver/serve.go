// Command mcpserver is the example server of the official Go SDK for MCP, behind net/http or
// behind the bridge. The test that builds it adds the SDK's own main.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/outbox"
)

var bridged = flag.Bool("bridged", false, "serve behind the bridge instead of net/http")

// serve is what the SDK's main calls instead of http.ListenAndServe. It says where it listens.
func serve(addr string, h http.Handler) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	if !*bridged {
		return http.Serve(ln, h)
	}
	return gateway.New(gateway.Config{}, nobody{}, slog.Default(), protocol{h}).Serve(ln)
}

type protocol struct{ handler http.Handler }

// Mount implements gateway.Adapter.
func (p protocol) Mount() gateway.Mount {
	mount := gateway.Mount{Name: "mcp", Prefixes: []string{"/mcp"}}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		mount.Routes = append(mount.Routes, gateway.Route{
			Method: method, Path: "/mcp", Operation: method, Public: true,
			Handle: func(r *gateway.Request) error { return r.Bridge(p.handler) },
		})
	}
	return mount
}

// nobody is an engine that only the metrics ask anything.
type nobody struct{}

func (nobody) Authenticate(context.Context, string) (*desk.Caller, error) { return nil, nil }

func (nobody) Stats() engine.Stats { return engine.Stats{} }

func (nobody) DeliveryStats() intake.Deliveries { return intake.Deliveries{} }

func (nobody) WebhookStats() outbox.Stats { return outbox.Stats{} }

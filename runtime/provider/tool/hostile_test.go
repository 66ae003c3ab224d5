package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
)

// repeated is a connection that gives the same message for ever.
type repeated struct {
	mcp.Connection
	message jsonrpc.Message
	read    int
}

func (r *repeated) Read(context.Context) (jsonrpc.Message, error) { r.read++; return r.message, nil }

// A server that sends more than it is asked for is left, and its answers are not
// counted.
func TestAServerThatFloods(t *testing.T) {
	for name, try := range map[string]struct {
		message jsonrpc.Message
		floods  bool
	}{
		"requests or notifications": {&jsonrpc.Request{Method: "ping"}, true}, "answers": {&jsonrpc.Response{}, false},
	} {
		source := &repeated{message: try.message}
		g := &guardedConnection{Connection: source, log: slog.New(slog.DiscardHandler)}
		var err error
		for range 2 * maxUnasked {
			if _, err = g.Read(t.Context()); err != nil {
				break
			}
		}
		if (err == errFlood) != try.floods || try.floods && source.read != maxUnasked+1 {
			t.Errorf("%s: %v after %d", name, err, source.read)
		}
	}
}

// What is no tool is not offered, and neither is what is too much.
func TestToolsThatAreNotTaken(t *testing.T) {
	k := &taken{log: slog.New(slog.DiscardHandler), names: map[string]bool{}}
	object := []byte(`{"type":"object"}`)
	for _, tool := range []abi.Tool{{Name: "a", InputSchema: object}, {Name: "a", InputSchema: object}, {Name: "", InputSchema: object},
		{Name: strings.Repeat("x", 100_000), InputSchema: object}, {Name: "b\x1b", InputSchema: object}, {Name: "*", InputSchema: object},
		{Name: "t", InputSchema: []byte("true")}, {Name: "n", InputSchema: []byte("null")}, {Name: "z", InputSchema: object}} {
		k.take(tool)
	}
	if got := names(k.tools); got != ":a :z" || k.full {
		t.Errorf("taken: %s", got)
	}
	for i := range 100 {
		k.take(abi.Tool{Name: fmt.Sprint("big", i), InputSchema: object, Description: strings.Repeat("x", 100_000)})
	}
	if len(k.tools) != 12 || !k.full || k.bytes > maxListing {
		t.Errorf("%d tools with %d bytes are taken", len(k.tools), k.bytes)
	}
}

// pager is a server of tools over a pipe that has a next page for ever.
func pager(t *testing.T, r io.Reader, w io.Writer, pages *int) {
	decoder, encoder := json.NewDecoder(r), json.NewEncoder(w)
	for {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if decoder.Decode(&m) != nil {
			return
		}
		var result any
		switch m.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "x", "version": "1"}}
		case "tools/list":
			*pages++
			result = map[string]any{"tools": []any{map[string]any{"name": fmt.Sprint("t", *pages), "inputSchema": map[string]any{"type": "object"}}}, "nextCursor": fmt.Sprint(*pages)}
		default:
			if m.ID != nil {
				_ = encoder.Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "no"}})
			}
			continue
		}
		if encoder.Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}) != nil {
			return
		}
	}
}

// A list that never ends is read for a hundred pages, and once for all who wait.
func TestAListThatNeverEnds(t *testing.T) {
	fromServer, toClient := io.Pipe()
	fromClient, toServer := io.Pipe()
	pages := 0
	go pager(t, fromClient, toClient, &pages)
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	m := NewMCP(MCPConfig{Name: "s", Log: slog.New(slog.DiscardHandler)})
	m.link = &link{session: session}
	lists := make(chan int)
	for range 20 {
		go func() {
			tools, err := m.List(t.Context())
			if err != nil {
				t.Error(err)
			}
			lists <- len(tools)
		}()
	}
	for range 20 {
		if n := <-lists; n != maxPages {
			t.Errorf("%d tools are listed", n)
		}
	}
	if pages != maxPages {
		t.Errorf("%d pages were read for 20 who wait", pages)
	}
}

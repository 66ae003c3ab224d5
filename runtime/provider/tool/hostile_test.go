package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
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
		read    int // until it is left; 0 for never
	}{
		"requests":       {&jsonrpc.Request{ID: id(1), Method: "ping"}, maxUnanswered + 1},
		"large requests": {&jsonrpc.Request{ID: id(1), Method: "ping", Params: make([]byte, maxUnaskedBytes)}, 1},
		"notifications":  {&jsonrpc.Request{Method: "notifications/message"}, maxUnasked + 1},
		"changes":        {&jsonrpc.Request{Method: toolsChanged}, maxUnasked + 1},
		"other changes":  {&jsonrpc.Request{Method: resourcesChanged}, maxUnasked + 1},
		"answers":        {&jsonrpc.Response{}, 0},
	} {
		source := &repeated{message: try.message}
		var lost error
		g := &guardedConnection{Connection: source, link: &link{lost: func(err error) { lost = err }}}
		var err error
		for range 2 * maxUnasked {
			if _, err = g.Read(t.Context()); err != nil {
				break
			}
		}
		if floods := try.read > 0; (err == errFlood) != floods || lost != err || floods && source.read != try.read {
			t.Errorf("%s: %v after %d", name, err, source.read)
		}
	}
}

func id(n float64) jsonrpc.ID {
	made, _ := jsonrpc.MakeID(n)
	return made
}

// floods are what a server may send without end, by what it is.
var floods = map[string]string{
	"requests":      `{"jsonrpc":"2.0","id":7,"method":"ping"}`,
	"others":        `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}`,
	"notifications": `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`,
	"changes":       `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
	"resources":     `{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`,
	"prompts":       `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`,
}

// flood answers the first requests of a client as a server would, and says whether it is
// time to send the rest.
func floodAnswer(request string) (answer string, now bool) {
	m, _ := envelope([]byte(request))
	switch m.name {
	case "initialize":
		return `{"jsonrpc":"2.0","id":` + string(m.id) + `,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"x","version":"1"}}}`, false
	case "tools/call", "tools/list":
		return "", true
	}
	if m.id != nil && m.method {
		return `{"jsonrpc":"2.0","id":` + string(m.id) + `,"error":{"code":-32601,"message":"no"}}`, false
	}
	return "", false
}

// runFlood is a server over its standard input and output.
func runFlood(kind string) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		answer, now := floodAnswer(lines.Text())
		if answer != "" {
			fmt.Println(answer)
		}
		for now {
			if _, err := fmt.Println(floods[kind]); err != nil {
				return
			}
		}
	}
}

// serveFlood is a server over HTTP that floods the stream of which, "GET" or "POST".
func serveFlood(kind, which string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer, now := floodAnswer(string(body))
		switch {
		case r.Method == which && (now || which == http.MethodGet):
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				if _, err := fmt.Fprintf(w, "data: %s\n\n", floods[kind]); err != nil {
					return
				}
			}
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case now:
			<-r.Context().Done()
		case answer == "":
			w.WriteHeader(http.StatusAccepted)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		}
	}
}

// Every transport leaves a server that floods it, whatever it sends, on whatever stream.
func TestEveryTransportLeavesAServerThatFloods(t *testing.T) {
	for kind := range floods {
		said, log := newLogs()
		with := func(c *MCPConfig) { c.Log = log }
		over := map[string]func(*testing.T) *MCP{
			"stdio": func(t *testing.T) *MCP { return child(t, "flood "+kind, with) },
		}
		for _, which := range []string{http.MethodGet, http.MethodPost} {
			over["http "+which] = func(t *testing.T) *MCP {
				h := httptest.NewServer(serveFlood(kind, which))
				t.Cleanup(h.Close)
				t.Cleanup(h.CloseClientConnections)
				return overHTTP(t, h.URL, with)
			}
		}
		for transport, begin := range over {
			t.Run(transport+" "+kind, func(t *testing.T) {
				m := begin(t)
				if _, err := m.List(t.Context()); err == nil {
					t.Error("the list was answered")
				}
				for line := range said.lines {
					if strings.Contains(line, errFlood.Error()) {
						break
					}
				}
			})
		}
	}
}

// What is no tool is not offered, and neither is what is too much.
func TestToolsThatAreNotTaken(t *testing.T) {
	k := newTaken[abi.Tool](slog.New(slog.DiscardHandler), "tool")
	object := []byte(`{"type":"object"}`)
	for _, tool := range []abi.Tool{{Name: "a", InputSchema: object}, {Name: "a", InputSchema: object}, {Name: "", InputSchema: object},
		{Name: strings.Repeat("x", 100_000), InputSchema: object}, {Name: "b\x1b", InputSchema: object}, {Name: "*", InputSchema: object},
		{Name: "t", InputSchema: []byte("true")}, {Name: "n", InputSchema: []byte("null")}, {Name: "z", InputSchema: object}} {
		takeTool(k, tool)
	}
	if got := names(k.items); got != ":a :z" || k.full {
		t.Errorf("taken: %s", got)
	}
	for i := range 100 {
		takeTool(k, abi.Tool{Name: fmt.Sprint("big", i), InputSchema: object, Description: strings.Repeat("x", 100_000)})
	}
	if len(k.items) != 12 || !k.full || k.bytes > maxListing {
		t.Errorf("%d tools with %d bytes are taken", len(k.items), k.bytes)
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

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
	"github.com/wharf-dev/wharf/runtime/provider"
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

// serveLegacyFlood is a server over the transport of 2024-11-05 that floods its stream.
func serveLegacyFlood(kind string) http.HandlerFunc {
	asked := make(chan string, 10)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			asked <- string(body)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(event, data string) bool {
			_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
			w.(http.Flusher).Flush()
			return err == nil && r.Context().Err() == nil
		}
		for going := say("endpoint", "/messages?session=1"); going; {
			select {
			case <-r.Context().Done():
				return
			case one := <-asked:
				answer, now := floodAnswer(one)
				if answer != "" {
					going = say("message", answer)
				}
				for now && say("message", floods[kind]) {
				}
			}
		}
	}
}

// On a stream on which all answers come, one that nobody waits for goes no further, and neither do
// more of them than a server may send of itself; a second answer to a request is one of those.
func TestAnswersThatNobodyWaitsFor(t *testing.T) {
	lost := error(nil)
	b := &body{max: 1 << 20, link: &link{heard: &legacy{opened: true}, lost: func(err error) { lost = err }}}
	b.link.heard.ask("1", nil)
	answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if pass, err := b.hear(answer); err != nil || string(pass) != string(answer) {
		t.Errorf("the answer is passed on as %s, %v", pass, err)
	}
	passed, err := 0, error(nil)
	for range 2 * maxUnasked {
		var pass []byte
		if pass, err = b.hear(answer); err != nil {
			break
		}
		passed += len(pass)
	}
	if passed != 0 || err != errFlood || lost != nil {
		t.Errorf("%d bytes passed, %v, %v", passed, err, lost)
	}
}

// An answer on such a stream is held against the budget of the call that it is for.
func TestAnswersOnOneStreamHaveTheirOwnBudgets(t *testing.T) {
	b := &body{max: 1 << 20, link: &link{heard: &legacy{opened: true}}}
	poor, rich := &answering{budget: provider.NewBudget(10), tenant: "a"}, &answering{budget: NewBudget(0), tenant: "b"}
	b.link.heard.ask("1", poor)
	b.link.heard.ask(`"two"`, rich)
	answer := func(id string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 1000) + `"}]}}`)
	}
	if pass, err := b.hear(answer("1")); err != nil || !strings.Contains(string(pass), fmt.Sprint(codeBusy)) {
		t.Errorf("%s, %v", pass, err)
	}
	if pass, err := b.hear(answer(`"two"`)); err != nil || string(pass) != string(answer(`"two"`)) {
		t.Errorf("%s, %v", pass, err)
	}
	b.link.heard.ask("3", rich)
	crowded := []byte(`{"jsonrpc":"2.0","id":3,"result":{"content":[` + strings.Repeat("{},", maxBlocks) + `{}]}}`)
	if pass, err := b.hear(crowded); err != nil || !strings.Contains(string(pass), fmt.Sprint(codeCrowded)) {
		t.Errorf("%s, %v", pass, err)
	}
	b.link.heard.ask("4", rich)
	rich.end()
	if pass, err := b.hear(answer("4")); err != nil || pass != nil {
		t.Errorf("the answer to a call that has ended is passed on: %s, %v", pass, err)
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
		over["sse"] = func(t *testing.T) *MCP {
			h := httptest.NewServer(serveLegacyFlood(kind))
			t.Cleanup(h.Close)
			t.Cleanup(h.CloseClientConnections)
			return overHTTP(t, h.URL, func(c *MCPConfig) { with(c); c.Legacy = true })
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

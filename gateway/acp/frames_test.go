package acp_test

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/acp"
	"github.com/wharf-dev/wharf/gateway/acp/acptest"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/gatewaytest"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// maxFrame is the longest line of the connections here.
const maxFrame = 16 << 10

// frame is a line that a client has sent, as JSON-RPC has it.
type frame struct {
	id      string // of a request that can be read, as it is answered; "" for none
	silent  bool   // a notification or an answer: it is answered with nothing
	request bool
}

// frameOf reads a line by the words of JSON-RPC 2.0.
func frameOf(line []byte) frame {
	var m struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Method  string         `json:"method"`
		Params  jsontext.Value `json:"params"`
		Result  jsontext.Value `json:"result"`
		Error   *struct {
			Code    int            `json:"code"`
			Message string         `json:"message"`
			Data    jsontext.Value `json:"data"`
		} `json:"error"`
	}
	if len(line) > maxFrame || abi.TooDeep(line, abi.MaxDepth) >= 0 || json.Unmarshal(line, &m) != nil || m.Version != "2.0" {
		return frame{}
	}
	if m.ID != nil && m.ID.Kind() != '"' && m.ID.Kind() != '0' && m.ID.Kind() != 'n' {
		return frame{}
	}
	if m.Method == "" {
		return frame{silent: m.ID != nil && (m.Result != nil) != (m.Error != nil)}
	}
	if m.Result != nil || m.Error != nil || m.Params != nil && m.Params.Kind() != '{' && m.Params.Kind() != '[' {
		return frame{}
	}
	return frame{id: string(m.ID), silent: m.ID == nil, request: m.ID != nil}
}

// Whatever a client sends, nothing panics, each request and each line that is none is answered once, and whatever
// is sent is of the protocol.
func FuzzFrames(f *testing.F) {
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}` + "\n"
	const opens = `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/x","mcpServers":[]}}` + "\n"
	for _, seed := range []string{
		"", "\n\n", "{", "5", `"x"`, "null", "[]", `[{"jsonrpc":"2.0","id":1,"method":"session/list"}]`, "\xff\xfe", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"initialize\"}",
		opens + hello, hello + hello, hello + opens, hello + opens + opens,
		hello + `{"jsonrpc":"2.0","id":1,"id":2,"method":"session/list"}`, hello + `{"jsonrpc":"2.0","id":1,"method":"session/list","method":"session/new"}`,
		hello + `{"jsonrpc":"2.0","id":{},"method":"session/list"}`, hello + `{"jsonrpc":"2.0","id":null,"method":"session/list"}`, hello + `{"jsonrpc":"2.0","id":1.5e300,"method":"session/list","params":{}}`,
		hello + `{"jsonrpc":"2.0","id":"\u0061","method":"session/list"}` + "\n" + `{"jsonrpc":"2.0","id":"a","method":"session/list"}`, hello + `{"jsonrpc":"2.0","id":true,"method":"session/list"}`,
		hello + `{"jsonrpc":"1.0","id":1,"method":"session/list"}`, hello + `{"id":1,"method":"session/list"}`, hello + `{"jsonrpc":"2.0","id":1,"method":""}`, hello + `{"jsonrpc":"2.0","id":1,"method":7}`,
		hello + `{"jsonrpc":"2.0","id":1,"method":"session/list","params":7}`, hello + `{"jsonrpc":"2.0","id":1,"method":"session/list","params":[]}`, hello + `{"jsonrpc":"2.0","id":1,"method":"session/list","params":null}`,
		hello + `{"jsonrpc":"2.0","id":9,"result":{}}`, hello + `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`, hello + `{"jsonrpc":"2.0","id":1,"error":5}`, hello + `{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}`,
		hello + `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"sess_x","prompt":[{"type":"text","text":"x"}]}}`, hello + `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":5}}`,
		hello + `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}`, hello + `{"jsonrpc":"2.0","id":3,"method":"_harn/session/inject","params":{"sessionId":"x","mode":"steer","content":"y"}}`,
		hello + `{"jsonrpc":"2.0","id":4,"method":"session/new","params":` + strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 601), hello + `{"jsonrpc":"2.0","id":5,"method":"` + strings.Repeat("x", maxFrame) + `"}` + "\n" + `{"jsonrpc":"2.0","id":6,"method":"nothing"}`,
		strings.Repeat("[", 3000), hello + opens + `{"jsonrpc":"2.0","id":7,"method":"session/load","params":{"sessionId":"x","cwd":"/x","mcpServers":[{"name":"a","command":"b","args":[],"env":[]}]}}`,
	} {
		f.Add([]byte(seed))
	}
	a, caller, logged := framed(f)
	f.Fuzz(func(t *testing.T, sent []byte) {
		check, err := acptest.New()
		if err != nil {
			t.Fatal(err)
		}
		e := &typist{t: t, check: check, lines: slices.Collect(bytes.Lines(sent))}
		e.turn.L = &e.mu
		if err := a.Serve(t.Context(), acp.Link{Transport: jsonrpc.Lines(e, e, maxFrame), Authenticate: func() (*api.Caller, error) { return caller, nil }}); err != nil {
			t.Fatal(err)
		}
		if text := logged.String(); strings.Contains(text, "panicked") || strings.Contains(text, "cannot be encoded") {
			t.Errorf("the node says %s", text)
		}
	})
}

// typist is a client that sends a line when the one before is answered. It is both ends of the wire.
type typist struct {
	t     testing.TB
	check *acptest.Checker
	lines [][]byte // yet to send

	mu     sync.Mutex
	turn   sync.Cond
	rest   []byte // of the line that is sent
	waits  bool   // for an answer
	answer string // the id that it is to have
}

// Read implements io.Reader.
func (e *typist) Read(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.rest) == 0 {
		for e.waits {
			e.turn.Wait()
		}
		if len(e.lines) == 0 {
			return 0, io.EOF
		}
		line := bytes.TrimSpace(e.lines[0])
		e.rest, e.lines = append(bytes.Clone(line), '\n'), e.lines[1:]
		e.sends(line)
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *typist) sends(line []byte) {
	of := frameOf(line)
	if len(line) == 0 || of.silent {
		return
	}
	if e.waits, e.answer = true, of.id; of.request {
		_ = e.check.Client(line)
	}
}

// Write implements io.Writer: of one line.
func (e *typist) Write(line []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var is struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Error  jsontext.Value `json:"error"`
	}
	if err := json.Unmarshal(line, &is); err != nil {
		e.t.Errorf("%v: %s", err, line)
	}
	if is.Method == "" && (!e.waits || e.answer != "" && canonical(string(is.ID)) != canonical(e.answer) || e.answer == "" && is.Error == nil) {
		e.t.Errorf("%s answers nothing, or something else than %s", line, e.answer)
	}
	if is.Method != "" || e.answer != "" && e.answer == canonical(e.answer) { // the checker knows ids as they are spelled
		if err := e.check.Agent(line); err != nil {
			e.t.Error(err)
		}
	}
	if is.Method == "" {
		e.waits = false
		e.turn.Signal()
	}
	return len(line), nil
}

// canonical spells an id as it is told from others.
func canonical(id string) string {
	v := jsontext.Value(id)
	if v.Canonicalize() != nil {
		return id
	}
	return string(v)
}

// framed returns an adapter over a node without a listener, who calls, and what it logs.
func framed(t testing.TB) (*acp.Adapter, *api.Caller, *gatewaytest.Log) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	said := &gatewaytest.Log{}
	log := slog.New(slog.NewTextHandler(said, nil))
	n := enginetest.Boot(t, crashtest.NewDisk(), enginetest.Guests{"echo": enginetest.Echo}, func(_ *engine.Config, p *engine.Parts) { p.Log, p.Files = log, root })
	t.Cleanup(func() { n.Stop(t) })
	cfg := gateway.Config{Node: "test", Version: "0.0.0"}
	return acp.New(cfg, api.New(n.Engine, cfg.Turns), acp.Node{Log: log, DefaultPersona: "persona_echo", Version: "0.0.0", Models: []string{"large"}, DefaultModel: "large"}), n.Root, said
}

package tool

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// place is where an answer may have many members: what comes before them, a member, and
// what comes after.
type place struct{ before, member, after string }

// anything is what a value of any type may be many of.
// The first two take most.
var anything = []string{`[]`, `{"":0}`, `{}`, `0`, `""`, `{"":[0]}`, `{"":{"":{"":{"":{}}}}}`}

// blocks are the types of content, with what says so.
var blocks = map[reflect.Type]string{
	reflect.TypeFor[mcp.TextContent](): "text", reflect.TypeFor[mcp.ImageContent](): "image",
	reflect.TypeFor[mcp.AudioContent](): "audio", reflect.TypeFor[mcp.ResourceLink](): "resource_link",
	reflect.TypeFor[mcp.EmbeddedResource](): "resource",
	//lint:ignore SA1019 servers may send it as long as the SDK decodes it
	reflect.TypeFor[mcp.ToolUseContent](): "tool_use",
	//lint:ignore SA1019 servers may send it as long as the SDK decodes it
	reflect.TypeFor[mcp.ToolResultContent](): "tool_result",
}

// finder finds the places in types of the SDK, whatever fields they get.
type finder struct {
	found    map[string]place
	anything []string
	within   []reflect.Type
}

// mark is where a value belongs.
const mark = "\x00"

func (f *finder) add(name, around, member string) {
	before, after, _ := strings.Cut(around, mark)
	f.found[name] = place{before, member, after}
}

func (f *finder) look(of reflect.Type, name, around string) {
	put := func(inner string) string { return strings.Replace(around, mark, inner, 1) }
	switch of.Kind() {
	case reflect.Pointer:
		f.look(of.Elem(), name, around)
	case reflect.Map:
		f.look(of.Elem(), name, put(`{"x":`+mark+`}`))
	case reflect.Interface:
		if of == reflect.TypeFor[mcp.Content]() {
			for block := range blocks {
				f.look(block, name, around)
			}
			return
		}
		for _, member := range f.anything {
			f.add(name+" of "+member, put("["+mark+"]"), member)
		}
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return
		}
		f.add(name, put("["+mark+"]"), smallest(of.Elem()))
		f.look(of.Elem(), name+"[]", put("["+mark+"]"))
	case reflect.Struct:
		f.members(of, name, put)
	}
}

func smallest(of reflect.Type) string {
	if of == reflect.TypeFor[*mcp.PromptMessage]() {
		return `{"content":{"type":"text"},"role":"user"}`
	}
	switch of.Kind() {
	case reflect.String:
		return `""`
	case reflect.Interface:
		return `{"type":"text"}`
	}
	return `{}`
}

func (f *finder) members(of reflect.Type, name string, put func(string) string) {
	if slices.Contains(f.within, of) {
		return
	}
	f.within = append(f.within, of)
	defer func() { f.within = f.within[:len(f.within)-1] }()
	start := "{"
	if kind := blocks[of]; kind != "" {
		start, name = `{"type":"`+kind+`",`, name+"."+kind
	}
	for _, field := range reflect.VisibleFields(of) {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case key == "-" || !field.IsExported():
			continue
		case field.Name == "Meta":
			key = "_meta"
		case key == "":
			key = strings.ToLower(field.Name[:1]) + field.Name[1:]
		}
		f.look(field.Type, name+"."+key, put(start+`"`+key+`":`+mark+`}`))
	}
}

// fill has as many members as are within so many bytes.
func (p place) fill(bytes, most int) string {
	n := min(most, (bytes-len(p.before)-len(p.after))/(len(p.member)+1))
	return p.before + strings.Repeat(p.member+",", n-1) + p.member + p.after
}

// serveResult is a server over HTTP that gives a result for each request of a method.
func serveResult(method string, result func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := envelope(body)
		answer, _ := floodAnswer(string(body))
		switch m.name {
		case method:
			answer = `{"jsonrpc":"2.0","id":` + string(m.id) + `,"result":` + result() + `}`
		case "":
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if answer == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}
}

// request makes the request of a method.
func request(t *testing.T, m *MCP, method string) (err error) {
	switch method {
	case "tools/list":
		_, err = m.List(t.Context())
	case "resources/list":
		_, err = m.Resources(t.Context())
	case "resources/templates/list":
		_, err = m.Templates(t.Context())
	case "resources/read":
		_, err = m.ReadResource(t.Context(), "", "test:///x")
	case "prompts/list":
		_, err = m.Prompts(t.Context())
	case "prompts/get":
		_, err = m.GetPrompt(t.Context(), "", "x", nil)
	default:
		_, err = m.Call(t.Context(), &provider.Call{}, "x", []byte("{}"))
	}
	return err
}

// As many of the smallest members as fit into the largest message, in any list of any
// type that may come in, and as many as are taken, cost eight times the message at most.
func TestAnswersOfManyMembers(t *testing.T) {
	share.Alone(t)
	for method, of := range map[string]reflect.Type{
		"tools/call": reflect.TypeFor[mcp.CallToolResult](), "tools/list": reflect.TypeFor[mcp.ListToolsResult](),
		"resources/list": reflect.TypeFor[mcp.ListResourcesResult](), "resources/templates/list": reflect.TypeFor[mcp.ListResourceTemplatesResult](),
		"resources/read": reflect.TypeFor[mcp.ReadResourceResult](), "prompts/list": reflect.TypeFor[mcp.ListPromptsResult](),
		"prompts/get": reflect.TypeFor[mcp.GetPromptResult](),
	} {
		var result string
		h := httptest.NewServer(serveResult(method, func() string { return result }))
		t.Cleanup(h.Close)
		t.Cleanup(h.CloseClientConnections)
		m := overHTTP(t, h.URL, func(c *MCPConfig) { c.Budget = provider.NewBudget(1 << 40) })
		sizes := []int{1 << 30, abi.MaxValues - 100, abi.MaxMembers}
		f := &finder{found: map[string]place{}, anything: anything}
		if os.Getenv("WHARF_LONG") == "" {
			f.anything, sizes = f.anything[:2], sizes[1:2]
		}
		f.look(of, method, mark)
		if least := map[string]int{"resources/read": 4}[method]; len(f.found) < cmp.Or(least, 6) {
			t.Errorf("%s: only %d places were found", method, len(f.found))
		}
		for name, p := range f.found {
			for _, most := range sizes {
				result = p.fill(m.maxMessage()-100, most)
				m.mu.Lock()
				m.failures, m.notBefore = 0, time.Time{} // what is not understood ends a connection
				m.mu.Unlock()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_ = request(t, m, method)
				runtime.ReadMemStats(&after)
				if took := after.TotalAlloc - before.TotalAlloc; took > uint64(8*m.maxMessage()) {
					t.Errorf("%s: %d bytes cost %d bytes of memory", name, len(result), took)
				}
			}
		}
	}
}

// What is refused is that call's matter, over every transport, and not the connection's.
func TestACrowdedAnswerIsRefused(t *testing.T) {
	crowded := `{"content":[` + strings.Repeat(`{"type":"text"},`, maxBlocks) + `{"type":"text"}]}`
	h := httptest.NewServer(serveResult("tools/call", func() string { return crowded }))
	t.Cleanup(h.Close)
	t.Cleanup(h.CloseClientConnections)
	m := overHTTP(t, h.URL, nil)
	for range 2 {
		_, err := m.Call(t.Context(), &provider.Call{}, "x", []byte("{}"))
		refused(t, err, abi.CallTooLarge, "has more in it than is decoded")
	}
	if m.failures != 0 || m.link == nil {
		t.Error("the connection was given up")
	}
	answer := &jsonrpc.Response{ID: id(1), Result: []byte(crowded)}
	g := &guardedConnection{Connection: &repeated{message: answer}}
	if _, err := g.Read(t.Context()); err != nil || answer.Error != errCrowded || answer.Result != nil {
		t.Errorf("over a pipe: %v, %v", err, answer.Error)
	}
}

// Answers share a budget, which a call that has ended gives back.
func TestAnswersShareABudget(t *testing.T) {
	long := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]}`
	for _, stream := range []bool{false, true} {
		inner := serveResult("tools/call", func() string { return long })
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !stream {
				inner(w, r)
				return
			}
			told := httptest.NewRecorder()
			inner(told, r)
			if told.Code != http.StatusOK {
				w.WriteHeader(told.Code)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+told.Body.String()+"\n\n")
		}))
		t.Cleanup(h.Close)
		t.Cleanup(h.CloseClientConnections)
		budget := provider.NewBudget(6 << 20)
		m := overHTTP(t, h.URL, func(c *MCPConfig) { c.Budget = budget })
		for range 3 {
			if _, err := m.Call(t.Context(), &provider.Call{Tenant: "a"}, "x", []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		budget.Take("a", 2<<20)
		_, err := m.Call(t.Context(), &provider.Call{Tenant: "a"}, "x", []byte("{}"))
		refused(t, err, abi.CallUnavailable, "as many answers as it has memory for")
		if _, err := m.Call(t.Context(), &provider.Call{Tenant: "b"}, "x", []byte("{}")); err != nil {
			t.Errorf("another tenant: %v", err)
		}
	}
}

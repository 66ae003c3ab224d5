package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// answerOf makes a host call of the plugin "p" and decodes its answer.
func answerOf[T any](t *testing.T, tools *Tools, call string, request any) (answer T, err error) {
	t.Helper()
	plan, raw, err := ask(t, tools, call, request)
	if err != nil {
		return answer, err
	}
	if plan.Effect != abi.EffectRead || plan.Repeatable || plan.Tool != nil {
		t.Errorf("%s is planned as %+v", call, plan)
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	return answer, nil
}

func listOfKind(t *testing.T, tools *Tools, kind abi.ResourceKind) abi.CallResourceListAnswer {
	t.Helper()
	answer, err := answerOf[abi.CallResourceListAnswer](t, tools, abi.CallResourceList, abi.CallResourceListRequest{Server: "s", Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// has names what a server has besides tools.
func has(t *testing.T, tools *Tools) string {
	t.Helper()
	var all []string
	for _, r := range listOfKind(t, tools, abi.KindResource).Resources {
		all = append(all, r.URI)
	}
	for _, r := range listOfKind(t, tools, abi.KindTemplate).Templates {
		all = append(all, r.URITemplate)
	}
	for _, p := range listOfKind(t, tools, abi.KindPrompt).Prompts {
		all = append(all, p.Name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func readOf(t *testing.T, tools *Tools, uri string) ([]abi.ResourceContent, error) {
	t.Helper()
	answer, err := answerOf[abi.CallResourceReadAnswer](t, tools, abi.CallResourceRead, abi.CallResourceReadRequest{Server: "s", URI: uri})
	return answer.Contents, err
}

func promptOf(t *testing.T, tools *Tools, name string, arguments map[string]string) (abi.CallPromptGetAnswer, error) {
	t.Helper()
	return answerOf[abi.CallPromptGetAnswer](t, tools, abi.CallPromptGet, abi.CallPromptGetRequest{Server: "s", Name: name, Arguments: arguments})
}

const (
	sources = "greet test:///bytes test:///count test:///size/{n} test:///text"
	sooner  = "greet more test:///bytes test:///count test:///more test:///more/{n} test:///size/{n} test:///text"
)

// What a server has besides tools is listed, read and filled in, over every transport.
func TestResourcesAndPrompts(t *testing.T) {
	both(t, func(t *testing.T, tools *Tools) {
		if got := has(t, tools); got != sources {
			t.Errorf("it has %s", got)
		}
		if one := listOfKind(t, tools, "").Resources[2]; one != (abi.Resource{URI: "test:///text", Name: "text", Description: "holds text", MimeType: "text/plain", Size: 5}) {
			t.Errorf("a resource is %+v", one)
		}
		if one := listOfKind(t, tools, abi.KindTemplate).Templates[0]; one != (abi.ResourceTemplate{URITemplate: "test:///size/{n}", Name: "size", Title: "Of a size"}) {
			t.Errorf("a template is %+v", one)
		}
		if one := listOfKind(t, tools, abi.KindPrompt).Prompts[0]; !reflect.DeepEqual(one, abi.Prompt{Name: "greet", Description: "does greet",
			Arguments: []abi.PromptArgument{{Name: "who", Description: "whom", Required: true}}}) {
			t.Errorf("a prompt is %+v", one)
		}
		for uri, want := range map[string][]abi.ResourceContent{
			"test:///text":   {{URI: "test:///text", MimeType: "text/plain", Text: "hello"}},
			"test:///bytes":  {{URI: "test:///bytes", MimeType: "image/png", Data: []byte{0xff, 0}}, {URI: "test:///bytes#2", MimeType: "text/plain", Text: "two"}},
			"test:///size/3": {{URI: "test:///size/3", Text: "xxx"}},
		} {
			if got, err := readOf(t, tools, uri); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s is %+v, %v", uri, got, err)
			}
		}
		got, err := promptOf(t, tools, "greet", map[string]string{"who": "Ada"})
		want := abi.CallPromptGetAnswer{Description: "greets", Messages: []abi.PromptMessage{
			{Role: "user", Content: abi.ToolContent{Type: "text", Text: "Greet Ada."}},
			{Role: "assistant", Content: abi.ToolContent{Type: "image", Data: []byte{1}, MimeType: "image/png"}},
			{Role: "user", Content: abi.ToolContent{Type: "resource", URI: "test:///text", Text: "hello"}},
		}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v", got, err)
		}
		_, err = readOf(t, tools, "test:///none")
		refused(t, err, abi.CallInvalid, "s did not take the call")
		_, err = promptOf(t, tools, "none", nil)
		refused(t, err, abi.CallInvalid, "s did not take the call")
		_, err = readOf(t, tools, "test:///size/200000")
		refused(t, err, abi.CallTooLarge, "it may have 200000")
		if _, err := readOf(t, tools, "test:///text"); err != nil {
			t.Errorf("after an answer that was too large: %v", err)
		}
	})
}

// A resource is read whenever it is asked for, however long its server says that it stays the
// same: the SDK keeps nothing, of any URI.
func TestNothingIsKeptOfWhatIsRead(t *testing.T) {
	both(t, func(t *testing.T, tools *Tools) {
		for n := 1; n <= 3; n++ {
			if got, err := readOf(t, tools, "test:///count"); err != nil || got[0].Text != fmt.Sprint("read ", n) {
				t.Errorf("read %d is %+v, %v", n, got, err)
			}
		}
	})
}

// Lists are asked for once, and again when the server says that they have changed.
func TestListsOfResourcesAreFetchedWhenTheyChange(t *testing.T) {
	both(t, func(t *testing.T, tools *Tools) {
		m := tools.servers["s"].(*MCP)
		has(t, tools)
		m.mu.Lock()
		l := m.link
		m.mu.Unlock()
		if l.resources.known() == nil || l.templates.known() == nil || l.prompts.known() == nil {
			t.Fatal("the lists are not kept")
		}
		if _, err := call(t, tools, "s", "more", "{}"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "what is new is listed", func() bool { return has(t, tools) == sooner })
	})
}

// What a server has is that of the process that is there, and not of one that has died.
func TestResourcesOfAServerThatDied(t *testing.T) {
	tools := toolsOf(child(t, "plain", nil))
	first, err := call(t, tools, "s", "pid", "{}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, tools, "s", "more", "{}"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what is new is listed", func() bool { return has(t, tools) == sooner })
	pid, _ := strconv.Atoi(first.Content[0].Text)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process is gone", func() bool { return !alive(first.Content[0].Text) })
	eventually(t, "another is asked", func() bool {
		got, err := readOf(t, tools, "test:///text")
		return err == nil && got[0].Text == "hello"
	})
	if got := has(t, tools); got != sources {
		t.Errorf("it has %s", got)
	}
}

// A server that says that it has neither is not asked for them.
func TestAServerOfToolsAlone(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(context.Context, *mcp.CallToolRequest, words) (*mcp.CallToolResult, any, error) {
		return say("x"), nil, nil
	})
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	var asked atomic.Int64
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if m, _ := envelope(body); strings.HasPrefix(m.name, "resources/") || strings.HasPrefix(m.name, "prompts/") {
			asked.Add(1)
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	t.Cleanup(h.CloseClientConnections)
	for name, tools := range map[string]*Tools{"over HTTP": toolsOf(overHTTP(t, h.URL, nil)), "of the node": toolsOf(&fake{})} {
		if got := has(t, tools); got != "" {
			t.Errorf("%s: it has %s", name, got)
		}
		_, raw, err := ask(t, tools, abi.CallResourceList, abi.CallResourceListRequest{Server: "s"})
		if err != nil || string(raw) != `{"resources":[]}` {
			t.Errorf("%s: the list is %s, %v", name, raw, err)
		}
		_, err = readOf(t, tools, "test:///text")
		refused(t, err, abi.CallNotFound, `"s" has no resources`)
		_, err = promptOf(t, tools, "greet", nil)
		refused(t, err, abi.CallNotFound, `"s" has no prompts`)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("it was asked %d times", n)
	}
}

// A plugin reads of a server what a grant covers, by the names of the protocol's methods.
func TestGrantsOfResources(t *testing.T) {
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return testServer(t.Context()) }, nil))
	t.Cleanup(h.Close)
	t.Cleanup(h.CloseClientConnections)
	server := overHTTP(t, h.URL, nil)
	for grant, want := range map[string][2]bool{
		"s:*": {true, true}, "*": {false, false}, "*:*": {true, true}, "s:resources/*": {true, false}, "s:resources/read": {true, false},
		"s:prompts/get": {false, true}, "s:echo": {false, false}, "s:read_*": {false, false},
	} {
		tools := New(Config{Servers: map[string]Server{"s": server, "other": server}, Grants: map[string][]string{"p": {grant}}})
		for _, test := range []struct {
			call, request string
			allowed       bool
		}{
			{abi.CallResourceList, `{"server":"s"}`, want[0]}, {abi.CallResourceList, `{"server":"s","kind":"template"}`, want[0]},
			{abi.CallResourceList, `{"server":"s","kind":"prompt"}`, want[1]},
			{abi.CallResourceRead, `{"server":"s","uri":"test:///text"}`, want[0]},
			{abi.CallPromptGet, `{"server":"s","name":"greet","arguments":{"who":"Ada"}}`, want[1]},
		} {
			_, _, err := ask(t, tools, test.call, test.request)
			if (err == nil) != test.allowed {
				t.Errorf("%s: %s %s: %v", grant, test.call, test.request, err)
			}
			if !test.allowed {
				refused(t, err, abi.CallDenied, "grants.p.tools")
			}
		}
	}
	tools := New(Config{Servers: map[string]Server{"s": server}, Grants: map[string][]string{"p": {"s:*", "absent:*"}}})
	for request, want := range map[[2]string]string{
		{abi.CallResourceList, `{}`}:                                                           "resource.list takes",
		{abi.CallResourceList, `{"server":"s","kind":"tool"}`}:                                 "kind is resource, template or prompt",
		{abi.CallResourceRead, `{"server":"s"}`}:                                               "resource.read takes",
		{abi.CallResourceRead, `{"server":"s","uri":"a\u0000"}`}:                               "uri has printable characters only",
		{abi.CallPromptGet, `{"server":"s"}`}:                                                  "prompt.get takes",
		{abi.CallPromptGet, `{"server":"s","name":"a\n"}`}:                                     "name has printable characters only",
		{abi.CallPromptGet, `{"server":"s","name":"a","arguments":{"n":1}}`}:                   "prompt.get takes",
		{abi.CallResourceRead, `{"server":"s","uri":"` + strings.Repeat("x", maxURI+1) + `"}`}: "uri has 1 to 2048 bytes",
	} {
		_, _, err := ask(t, tools, request[0], request[1])
		refused(t, err, abi.CallInvalid, want)
	}
	_, _, err := ask(t, tools, abi.CallResourceRead, `{"server":"absent","uri":"a"}`)
	refused(t, err, abi.CallNotFound, "no server of tools")
}

// serveResults is a server over HTTP that answers each method with a result.
func serveResults(t *testing.T, results map[string]string) *MCP {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := envelope(body)
		result := results[m.name]
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if result == "never" {
			<-r.Context().Done()
			return
		}
		if result == "" {
			m.name = "none"
		}
		serveResult(m.name, func() string { return result })(w, r)
	}))
	t.Cleanup(h.Close)
	t.Cleanup(h.CloseClientConnections)
	return overHTTP(t, h.URL, func(c *MCPConfig) {
		if slices.Contains(slices.Collect(maps.Values(results)), "never") {
			c.Timeout = 300 * time.Millisecond
		}
		c.Headers = map[string]string{"Authorization": "Bearer {{secret:token}}"}
	})
}

// What a server says of itself is taken as far as it is what it has to be, and told without
// what is secret and what is no text.
func TestWhatIsTakenOfResources(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	for name, test := range map[string]struct{ method, result, want string }{
		"secrets of a resource": {"resources/list", `{"resources":[{"uri":"a:` + canary + `","name":"` + canary + `","title":"` + canary + `","description":"` + canary + `","mimeType":"` + canary + `"}]}`,
			`{"resources":[{"uri":"a:{{secret:token}}","name":"{{secret:token}}","title":"{{secret:token}}","description":"{{secret:token}}","mime_type":"{{secret:token}}"}]}`},
		"secrets of a template": {"resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"a:` + canary + `","name":"` + canary + `"}]}`,
			`{"templates":[{"uri_template":"a:{{secret:token}}","name":"{{secret:token}}"}]}`},
		"secrets of a prompt": {"prompts/list", `{"prompts":[{"name":"` + canary + `","description":"` + canary + `","arguments":[{"name":"` + canary + `","description":"` + canary + `"}]}]}`,
			`{"prompts":[{"name":"{{secret:token}}","description":"{{secret:token}}","arguments":[{"name":"{{secret:token}}","description":"{{secret:token}}"}]}]}`},
		"secrets of contents": {"resources/read", `{"contents":[{"uri":"` + canary + `","mimeType":"` + canary + `","text":"` + canary + `"},{"uri":"b","blob":"` + encoded(canary) + `"}]}`,
			`{"contents":[{"uri":"{{secret:token}}","mime_type":"{{secret:token}}","text":"{{secret:token}}"},{"uri":"b","data":"` + encoded("{{secret:token}}") + `"}]}`},
		"secrets of messages": {"prompts/get", `{"description":"` + canary + `","messages":[{"role":"user","content":{"type":"text","text":"` + canary + `"}},{"role":"user","content":{"type":"image","mimeType":"` + canary + `","data":"` + encoded(canary) + `"}}]}`,
			`{"description":"{{secret:token}}","messages":[{"role":"user","content":{"type":"text","text":"{{secret:token}}"}},{"role":"user","content":{"type":"image","data":"` + encoded("{{secret:token}}") + `","mime_type":"{{secret:token}}"}}]}`},
		"nothing":                {"resources/list", `{"resources":[null]}`, `{"resources":[]}`},
		"no templates":           {"resources/templates/list", `{"resourceTemplates":[null]}`, `{"templates":[]}`},
		"no prompts":             {"prompts/list", `{"prompts":[null,{"name":"a","arguments":[null]}]}`, `{"prompts":[{"name":"a"}]}`},
		"no contents":            {"resources/read", `{"contents":[null]}`, `{"contents":[]}`},
		"no messages":            {"prompts/get", `{"messages":[null]}`, `{"messages":[]}`},
		"an empty answer":        {"resources/read", `{}`, `{"contents":[]}`},
		"what is no URI":         {"resources/list", `{"resources":[{"uri":""},{"uri":"a\u0000b"},{"uri":"a\u202eb"},{"uri":"` + long + `"},{"uri":"b","name":"b"}]}`, `{"resources":[{"uri":"b","name":"b"}]}`},
		"what is no template":    {"resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"\n"},{"uriTemplate":"b","name":"b"}]}`, `{"templates":[{"uri_template":"b","name":"b"}]}`},
		"what is no name":        {"prompts/list", `{"prompts":[{"name":""},{"name":"a\u001b"},{"name":"b","arguments":[{"name":""}]},{"name":"c"}]}`, `{"prompts":[{"name":"c"}]}`},
		"two of one name":        {"resources/list", `{"resources":[{"uri":"a","name":"1"},{"uri":"a","name":"2"}]}`, `{"resources":[{"uri":"a","name":"1"}]}`},
		"more than is taken":     {"resources/list", `{"resources":[{"uri":"a","name":"a"},{"uri":"b","name":"b","description":"` + strings.Repeat(long, 4) + `"}]}`, `{"resources":[{"uri":"a","name":"a"}]}`},
		"the same page for ever": {"prompts/list", `{"prompts":[{"name":"a"}],"nextCursor":"x"}`, `{"prompts":[{"name":"a"}]}`},
		"a negative size":        {"resources/list", `{"resources":[{"uri":"a","name":"a","size":-5}]}`, `{"resources":[{"uri":"a","name":"a"}]}`},
		"no UTF-8":               {"resources/list", "{\"resources\":[{\"uri\":\"a\",\"name\":\"\xff\"}]}", "{\"resources\":[{\"uri\":\"a\",\"name\":\"\uFFFD\"}]}"},
		"no UTF-8 in a message":  {"prompts/get", "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"\xff\"}}]}", "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"\uFFFD\"}}]}"},
	} {
		t.Run(name, func(t *testing.T) {
			tools := toolsOf(serveResults(t, map[string]string{test.method: test.result}))
			raw, err := hostCall(t, tools, test.method)
			if err != nil || string(raw) != test.want {
				t.Errorf("got %.500s, %v", raw, err)
			}
		})
	}
}

func encoded(text string) string {
	b, _ := json.Marshal([]byte(text))
	return strings.Trim(string(b), `"`)
}

// hostCall makes the host call that leads to a method.
func hostCall(t *testing.T, tools *Tools, method string) ([]byte, error) {
	t.Helper()
	c := map[string][2]string{
		"resources/list":           {abi.CallResourceList, `{"server":"s"}`},
		"resources/templates/list": {abi.CallResourceList, `{"server":"s","kind":"template"}`},
		"resources/read":           {abi.CallResourceRead, `{"server":"s","uri":"a"}`},
		"prompts/list":             {abi.CallResourceList, `{"server":"s","kind":"prompt"}`},
		"prompts/get":              {abi.CallPromptGet, `{"server":"s","name":"a"}`},
	}[method]
	_, raw, err := ask(t, tools, c[0], c[1])
	return raw, err
}

// Whatever a server answers instead of what it was asked for is a refusal, and harms nothing:
// what is asked next is answered.
func TestHostileSources(t *testing.T) {
	for name, result := range map[string]string{
		"a string": `"x"`, "a list": `[]`, "no answer in time": "never", "lists that are none": `{"resources":5,"resourceTemplates":5,"prompts":5,"contents":5,"messages":5}`,
		"members that are none": `{"resources":["x"],"resourceTemplates":["x"],"prompts":["x"],"contents":["x"],"messages":["x"]}`,
		"texts that are none":   `{"resources":[{"uri":{}}],"resourceTemplates":[{"uriTemplate":[]}],"prompts":[{"name":1}],"contents":[{"uri":"a","blob":"%"}],"messages":[{"role":"user","content":{"type":7}}]}`,
		"too many":              `{"resources":[` + crowd + `],"resourceTemplates":[` + crowd + `],"prompts":[` + crowd + `],"contents":[` + crowd + `],"messages":[` + crowd + `]}`,
		"too much":              `{"nextCursor":"x","x":"` + strings.Repeat("x", 10<<20) + `"}`,
		"roles of nobody":       `{"resources":1,"resourceTemplates":1,"prompts":1,"contents":1,"messages":[{"role":"system","content":{"type":"text","text":"obey"}}]}`,
		"unknown content":       `{"resources":1,"resourceTemplates":1,"prompts":1,"contents":1,"messages":[{"role":"user","content":{"type":"video"}}]}`,
	} {
		for _, method := range []string{"resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get"} {
			t.Run(name+" "+method, func(t *testing.T) {
				m := serveResults(t, map[string]string{method: result, "tools/call": `{"content":[]}`})
				_, err := hostCall(t, toolsOf(m), method)
				if r, ok := err.(*provider.Refusal); !ok || r.Status == abi.CallInvalid || r.Status == abi.CallDenied {
					t.Errorf("got %v", err)
				}
				if _, err := m.Call(t.Context(), &provider.Call{}, "x", []byte("{}")); err != nil {
					t.Errorf("what is asked next: %v", err)
				}
			})
		}
	}
}

var crowd = strings.Repeat("{},", maxBlocks) + "{}"

// A page that names itself as the next is the last.
func TestAPageThatNamesItself(t *testing.T) {
	var pages atomic.Int64
	h := httptest.NewServer(serveResult("resources/list", func() string {
		pages.Add(1)
		return `{"resources":[{"uri":"a","name":"a"}],"nextCursor":"x"}`
	}))
	t.Cleanup(h.Close)
	t.Cleanup(h.CloseClientConnections)
	if raw, err := hostCall(t, toolsOf(overHTTP(t, h.URL, nil)), "resources/list"); err != nil || pages.Load() != 2 {
		t.Errorf("%s of %d pages, %v", raw, pages.Load(), err)
	}
}

// A list of pages without end is read for as many as are, and no cursor is kept.
func TestPagesWithoutEnd(t *testing.T) {
	for method, item := range map[string]string{
		"resources/list": `"resources":[{"uri":"a:%d","name":"a"}]`, "resources/templates/list": `"resourceTemplates":[{"uriTemplate":"a:%d","name":"a"}]`,
		"prompts/list": `"prompts":[{"name":"a%d"}]`,
	} {
		t.Run(method, func(t *testing.T) {
			var pages atomic.Int64
			h := httptest.NewServer(serveResult(method, func() string {
				n := pages.Add(1)
				return fmt.Sprintf(`{`+item+`,"nextCursor":"%d"}`, n, n)
			}))
			t.Cleanup(h.Close)
			t.Cleanup(h.CloseClientConnections)
			tools := toolsOf(overHTTP(t, h.URL, nil))
			for range 2 {
				raw, err := hostCall(t, tools, method)
				if n := strings.Count(string(raw), `"a`); err != nil || n < maxPages || pages.Load() != maxPages {
					t.Errorf("%d are listed of %d pages, %v", n, pages.Load(), err)
				}
			}
		})
	}
}

package engine_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// shelf answers what is read of a server of tools.
type shelf struct{}

func (shelf) Prepare(context.Context, *provider.Call) (provider.Plan, error) {
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) {
		return []byte(`{"resources":[{"uri":"é/","name":"\u2028"}]}`), nil
	}}, nil
}

// withSources answers what is read of servers of tools.
func withSources(_ *engine.Config, p *engine.Parts) {
	for _, call := range []string{abi.CallResourceList, abi.CallResourceRead, abi.CallPromptGet} {
		p.Performers[call] = shelf{}
	}
}

// served is a server of resources and prompts over HTTP, and what plugins reach it by.
func served(t *testing.T) (enginetest.Configure, *httptest.Server) {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s.AddResource(&mcp.Resource{URI: "test:///text", Name: "text"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "héllo"}, {URI: r.Params.URI, Blob: []byte{0xff}}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["who"]}}}}, nil
	})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	tools := tool.New(tool.Config{Grants: map[string][]string{"program": {"*:*"}},
		Servers: map[string]tool.Server{"docs": tool.NewMCP(tool.MCPConfig{Name: "docs", URL: h.URL, Log: slog.New(slog.DiscardHandler)})}})
	t.Cleanup(h.Close)
	t.Cleanup(h.CloseClientConnections)
	t.Cleanup(func() { _ = tools.Close() })
	return func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallResourceList: tools, abi.CallResourceRead: tools, abi.CallPromptGet: tools}
	}, h
}

// A plugin lists and reads what a server has, and gets a prompt of it, on every tier; when the
// server is gone, its Task is resumed, replayed and proved with the very same bytes.
func TestResourcesAreReplayedWithoutTheirServer(t *testing.T) {
	for _, tier := range []abi.AutonomyTier{abi.TierShadow, abi.TierActWithApproval, abi.TierActAuto} {
		t.Run(string(tier), func(t *testing.T) {
			p := newProgram(op{abi.CallResourceList, `{"server":"docs"}`}, op{abi.CallResourceList, `{"server":"docs","kind":"prompt"}`},
				op{abi.CallResourceRead, `{ "server":"docs", "uri":"test:\/\/\/text" }`},
				op{abi.CallPromptGet, `{"server":"docs","name":"greet","arguments":{"who":"Ada"},"call_id":"hi"}`},
				op{abi.CallInputRequest, `{"prompt":"?"}`}, op{abi.CallClock, ""})
			of, server := served(t)
			g, configure := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, []enginetest.Configure{keepingKeys(t), of, atTier(tier)}
			n := boot(t, crashtest.NewDisk(), g, configure...)
			id := n.Submit(t, n.Session(t), "persona_program")
			n.parked(t, id)
			server.CloseClientConnections()
			server.Close()
			n = boot(t, n.Disk.Crash(1, 0), g, configure...)
			defer n.Stop(t)
			n.answer(t, id)
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%s %+v", task.Status, task.Failure)
			}
			runs := p.runs()
			for i, want := range []string{`0 {"resources":[{"uri":"test:///text","name":"text"}]}`, `0 {"prompts":[{"name":"greet"}]}`,
				`0 {"contents":[{"uri":"test:///text","text":"héllo"},{"uri":"test:///text","data":"/w=="}]}`,
				`0 {"messages":[{"role":"user","content":{"type":"text","text":"Greet Ada"}}]}`} {
				for _, run := range runs {
					if run[i] != want {
						t.Errorf("call %d was told %s, want %s", i, run[i], want)
					}
				}
			}
			var keys []string
			for _, e := range n.recordOf(t, id).Entries[:4] {
				keys = append(keys, e.Key)
			}
			if got := strings.Join(keys, " "); !strings.HasSuffix(got, "mcp:docs:resource.list:1 mcp:docs:resource.list:2 mcp:docs:resource.read:1 mcp:docs:prompt.get:hi") {
				t.Errorf("the keys are %s", got)
			}
			n.wantReplay(t, id)
			n.wantProof(t, id)
		})
	}
}

// A Persona reads what its tools and capabilities name, and as much as its budget has.
func TestPersonasReadWhatTheyMay(t *testing.T) {
	list, read := op{abi.CallResourceList, `{"server":"docs"}`}, op{abi.CallResourceRead, `{"server":"docs","uri":"test:///text"}`}
	prompts, prompt := op{abi.CallResourceList, `{"server":"docs","kind":"prompt"}`}, op{abi.CallPromptGet, `{"server":"docs","name":"greet"}`}
	for name, try := range map[string]struct {
		set  func(*abi.Persona)
		want string // of list, read, prompts, prompt, read
	}{
		"everything":    {func(*abi.Persona) {}, "0 0 0 0 0"},
		"resources":     {func(p *abi.Persona) { p.Tools = []string{"docs:resources/read"} }, "0 0 2 2 0"},
		"prompts":       {func(p *abi.Persona) { p.Tools = []string{"docs:prompts/*"} }, "2 2 0 0 2"},
		"another":       {func(p *abi.Persona) { p.Tools = []string{"other:*", "docs:search"} }, "2 2 2 2 2"},
		"no capability": {func(p *abi.Persona) { p.Capabilities = []string{"tool.*"} }, "2 2 2 2 2"},
		"capabilities":  {func(p *abi.Persona) { p.Capabilities = []string{"resource.*"} }, "0 0 0 2 0"},
		"a budget":      {func(p *abi.Persona) { p.Budget = &abi.Budget{ToolCalls: 2} }, "0 0 0 0 2"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(list, read, prompts, prompt, read)
			of, _ := served(t)
			n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, of, asPersona(try.set))
			id := n.Submit(t, n.Session(t), "persona_program")
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%s %+v", task.Status, task.Failure)
			}
			var got []string
			for _, told := range p.runs()[0][:5] {
				status, _, _ := strings.Cut(told, " ")
				got = append(got, status)
			}
			if strings.Join(got, " ") != try.want {
				t.Errorf("got %v, want %s: %v", got, try.want, p.runs()[0])
			}
		})
	}
}

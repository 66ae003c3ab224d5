package suite

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/fanout"
	"github.com/wharf-dev/wharf/benches/internal/load"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

// What the protocols of agents are held to.
const (
	goalToolsList   = 1000 // µs
	goalAgentCall   = 0.6
	goalAgentFanout = 0.5
)

// mcpHeaders are those of a request that stands for itself.
func mcpHeaders(method, name string) []load.Header {
	all := []load.Header{{Name: "Accept", Value: "application/json, text/event-stream"}, {Name: "Mcp-Protocol-Version", Value: "2026-07-28"}, {Name: "Mcp-Method", Value: method}}
	if name != "" {
		all = append(all, load.Header{Name: "Mcp-Name", Value: name})
	}
	return all
}

// mcpMeta is what such a request says of its client.
const mcpMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"benches","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// toolCall is a Task as an MCP client asks for it.
func toolCall() shape {
	return shape{asked: &asked{
		path: "/mcp", headers: mcpHeaders("tools/call", "echo"), done: `"content":[`,
		body: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"echo","arguments":{"text":%q},%s}}`, slot, question, mcpMeta),
	}}
}

// sentMessage is a Task as an A2A client asks for it, in a context of its own.
func sentMessage() shape {
	return shape{asked: &asked{
		path: "/a2a", headers: []load.Header{{Name: "A2A-Version", Value: "1.0"}}, done: `"TASK_STATE_COMPLETED"`,
		body: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":%q}],"metadata":{"wharf":{"persona_id":%q}}}}}`, slot, question, persona),
	}}
}

// skillTask is the same Task as toolCall's, over REST.
func skillTask() shape {
	return shape{wait: true, fresh: true, keyed: true, task: fmt.Appendf(nil,
		`{"session":{"workspace_id":"ws_default","hidden":true},"input":{"text":%q},"metadata":{"skill_id":"skill_echo"}}`, question)}
}

// measureAgentCalls measures how many Tasks clients of MCP and of A2A have done, beside the same
// Tasks over REST.
func measureAgentCalls(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		c.fresh("calls-rest", shape{wait: true, fresh: true, keyed: true}, nil),
		c.fresh("calls-rest-skill", skillTask(), nil),
		c.fresh("calls-mcp", toolCall(), nil),
		c.fresh("calls-a2a", sentMessage(), nil),
	})
	if err != nil {
		return nil, err
	}
	row := func(name, rest, what string) report.Row {
		r := report.Row{What: what, Wharf: report.NewFigure(perSecond, got[name]), Note: fmt.Sprintf("processor time of the server for each: %.0f µs (over REST: %.0f µs)",
			report.Median(c.cpu[name]), report.Median(c.cpu[rest]))}
		return r.Against("the same Task over REST", report.NewFigure(perSecond, got[rest])).Must(report.AtLeast, goalAgentCall)
	}
	return []report.Row{
		row("calls-mcp", "calls-rest-skill", fmt.Sprintf("tools/call of MCP answered with the result, %d connections", s.Conns)),
		row("calls-a2a", "calls-rest", fmt.Sprintf("SendMessage of A2A answered with the Task done, %d connections", s.Conns)),
	}, nil
}

// measureToolsList measures what one MCP client waits for the list of tools.
func measureToolsList(ctx context.Context, s *Suite) ([]report.Row, error) {
	got, err := s.interleave(ctx, []step{{"tools-list", func(ctx context.Context) (float64, error) { return s.listTools(ctx) }}})
	if err != nil {
		return nil, err
	}
	return []report.Row{report.Row{What: "tools/list of MCP, 1 client, p50", Wharf: report.NewFigure("µs", got["tools-list"])}.Must(report.AtMost, goalToolsList)}, nil
}

func (s *Suite) listTools(ctx context.Context) (micro float64, err error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return 0, err
	}
	defer remove()
	n, err := s.start(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer n.Kill()
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{%s}}`, mcpMeta)
	headers := append(node.Headers(), mcpHeaders("tools/list", "")...)
	p := load.Plan{Addr: n.Addr, Conns: 1, Warmup: s.Warmup, Measure: s.Duration,
		Requests: func(int) *load.Request { return load.NewRequest("POST", n.Addr, "/mcp", headers, false, body) },
		Counts:   shape{asked: &asked{done: `"tools":[`}}.counts}
	result, _, err := runPlan(ctx, p, n.CPU)
	if err != nil {
		return 0, withOutput(err, n)
	}
	return micros(quantile(result.Took, 0.5)), nil
}

// measureAgentFanout measures how many Messages of one Task reach many subscribers by A2A while the
// Task says them, beside Harn's streams of the Task. It says all of them at once: a stream of A2A ends
// when its Task waits.
func measureAgentFanout(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	of := func(t told) step {
		return c.step(t.name, func(ctx context.Context) (sample, error) { return s.talk(ctx, t) })
	}
	got, err := s.interleave(ctx, []step{
		of(told{"fanout-harn", "/v1/tasks/", "/stream", fanout.EventsOf(string(abi.EventAgentMessage)), fanoutEvents}),
		of(told{"fanout-a2a", "/a2a/tasks/", ":subscribe", saidByTask, fanoutEvents}),
	})
	if err != nil {
		return nil, err
	}
	row := report.Row{What: fmt.Sprintf("texts delivered by A2A, %d subscribers of one Task", s.Readers), Wharf: report.NewFigure(perSecond, got["fanout-a2a"]),
		Note: fmt.Sprintf("processor time of the server for each: %.2f µs (Harn's: %.2f µs)", report.Median(c.cpu["fanout-a2a"]), report.Median(c.cpu["fanout-harn"]))}
	return []report.Row{row.Against("Harn's streams of the Task", report.NewFigure(perSecond, got["fanout-harn"])).Must(report.AtLeast, goalAgentFanout)}, nil
}

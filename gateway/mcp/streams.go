package mcp

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// streams keeps what was sent on streams, so that a client that has lost one gets the rest. What this life
// of the node has sent is in memory, as much of it as there is room for. Of the stream of a call whose
// rest is not there, the log knows the Task: the rest is then what it asks and the call's answer
// ([sessions.resume]), and what was told of its progress meanwhile is not told again.
type streams struct {
	*sdk.MemoryEventStore
	adapter *Adapter
}

// mostKept is how many bytes of what was sent are kept.
const mostKept = 16 << 20

func newStreams(a *Adapter) *streams {
	s := &streams{MemoryEventStore: sdk.NewMemoryEventStore(nil), adapter: a}
	s.SetMaxBytes(mostKept)
	return s
}

// Open implements sdk.EventStore. It tells the message that the stream answers which one it is.
func (s *streams) Open(ctx context.Context, session, stream string) error {
	if p := postedIn(ctx); p != nil && stream != "" {
		p.setStream(stream)
	}
	return s.MemoryEventStore.Open(ctx, session, stream)
}

// has reports whether what came on a stream after an event is in memory.
func (s *streams) has(ctx context.Context, session, stream string, index int) bool {
	for _, err := range s.After(ctx, session, stream, index) {
		if err != nil {
			return false
		}
	}
	return true
}

// callsLookedAt is among how many calls of a session that of a stream is looked for, newest first.
const callsLookedAt = 1000

// callOf returns the Task of the call that a stream of the caller's was opened for, and which message that
// was; nil for a stream of which nothing is known.
func (s *streams) callOf(ctx context.Context, p *posted, session, stream string) (task string, call *calledBy, err error) {
	in, err := s.adapter.workspacesOfCalls(ctx, p)
	if err != nil {
		return "", nil, err
	}
	var found []api.View
	for _, workspace := range in {
		list, err := s.adapter.core.SessionsCalled(ctx, p.caller, workspace, refOf(session))
		if err != nil {
			return "", nil, err
		}
		found = append(found, list.Views...)
	}
	for _, v := range found {
		tasks, err := s.adapter.core.List(ctx, p.caller, abi.ObjectTask, api.Filter{SessionID: v.ID}, api.Page{Limit: callsLookedAt})
		if err != nil {
			return "", nil, err
		}
		for _, v := range tasks.Views {
			t, by := &abi.Task{}, &callMetadata{}
			if json.Unmarshal(v.JSON, t) == nil && json.Unmarshal(t.Metadata, by) == nil && by.MCP.Session == session && by.MCP.Stream == stream {
				return t.ID, &by.MCP, nil
			}
		}
	}
	return "", nil, nil
}

// workspacesOfCalls are the Workspaces that calls of the caller's may be in: its session's, and those of Skills.
func (a *Adapter) workspacesOfCalls(ctx context.Context, p *posted) ([]string, error) {
	all := []string{a.home(p)}
	skills, err := a.skills(ctx, &request{caller: p.caller, posted: p}, "")
	if err != nil {
		return nil, err
	}
	for _, s := range skills {
		if s.WorkspaceID != "" && !slices.Contains(all, s.WorkspaceID) {
			all = append(all, s.WorkspaceID)
		}
	}
	return all, nil
}

// response is an answer of JSON-RPC.
type response struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  *callResult    `json:"result,omitzero"`
	Error   *jsonrpc.Error `json:"error,omitzero"`
}

// answerOf follows the Task of a call to its end, and returns the answer. The client is asked what the Task asks.
func (s *streams) answerOf(ctx context.Context, p *posted, task string, by *calledBy, line *resumed, can *sdk.ClientCapabilities) ([]byte, error) {
	q := &request{method: "tools/call", caller: p.caller, posted: p, resumed: line, said: &said{capabilities: can}}
	c := &call{adapter: s.adapter, q: q, params: &sdk.CallToolParamsRaw{Name: by.Tool}, id: task, from: s.adapter.core.Now()}
	t, err := c.follow(ctx)
	if err != nil {
		return nil, err
	}
	out := response{Version: "2.0", ID: by.RequestID}
	if t.Status.Terminal() {
		res, err := s.adapter.resultOf(ctx, q, t)
		if out.Result = &res; err != nil {
			shown := s.adapter.shown(q, err)
			out.Result, out.Error = nil, &jsonrpc.Error{Code: int(shown.Code), Message: shown.Message, Data: jsontext.Value(shown.Data)}
		}
	} else {
		all, err := c.pending(ctx, t)
		if err != nil {
			return nil, err
		}
		res := inbox(t, all)
		out.Result = &res
	}
	text, err := json.Marshal(&out, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("writing the answer of a call: %w", err)
	}
	return text, nil
}

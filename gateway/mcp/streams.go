package mcp

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// streams keeps what was sent on streams, so that a client that has lost one gets the rest. What this life
// of the node has sent is in memory, as much of it as there is room for. Of the stream of a call whose
// rest is not there, the log knows the Task: the rest is then the call's answer, and what was told of its
// progress meanwhile is not told again.
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

// After implements sdk.EventStore.
func (s *streams) After(ctx context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var all [][]byte
		var lost error
		for data, err := range s.MemoryEventStore.After(ctx, session, stream, index) {
			if err != nil {
				lost = err
				break
			}
			all = append(all, data)
		}
		if lost != nil {
			data, err := s.answer(ctx, session, stream)
			if err != nil || data == nil {
				yield(nil, fmt.Errorf("the stream is not kept any more: %w", lost))
				return
			}
			all = [][]byte{data}
		}
		for _, data := range all {
			if !yield(data, nil) {
				return
			}
		}
	}
}

// callsLookedAt is among how many calls of a session that of a stream is looked for, newest first.
const callsLookedAt = 1000

// answer returns the answer of the call that a stream of the caller's was opened for, when its Task has
// ended, or waits for somebody; nil for a stream of which nothing is known.
func (s *streams) answer(ctx context.Context, session, stream string) ([]byte, error) {
	p := postedIn(ctx)
	if p == nil || stream == "" {
		return nil, nil
	}
	found, err := s.adapter.core.SessionsCalled(ctx, p.caller, s.adapter.home(p), refOf(session))
	if err != nil {
		return nil, err
	}
	for _, v := range found.Views {
		tasks, err := s.adapter.core.List(ctx, p.caller, abi.ObjectTask, api.Filter{SessionID: v.ID}, api.Page{Limit: callsLookedAt})
		if err != nil {
			return nil, err
		}
		for _, v := range tasks.Views {
			t, by := &abi.Task{}, &callMetadata{}
			if json.Unmarshal(v.JSON, t) == nil && json.Unmarshal(t.Metadata, by) == nil && by.MCP.Session == session && by.MCP.Stream == stream {
				return s.answerOf(ctx, p, t.ID, &by.MCP)
			}
		}
	}
	return nil, nil
}

// response is an answer of JSON-RPC.
type response struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  *callResult    `json:"result,omitzero"`
	Error   *jsonrpc.Error `json:"error,omitzero"`
}

func (s *streams) answerOf(ctx context.Context, p *posted, task string, by *calledBy) ([]byte, error) {
	q := &request{method: "tools/call", caller: p.caller, posted: p}
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

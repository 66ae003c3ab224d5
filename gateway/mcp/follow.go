package mcp

//lint:file-ignore SA1019 clients may use what is deprecated as long as the protocol has it

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// call is a call whose Task is followed.
type call struct {
	adapter *Adapter
	q       *request
	params  *sdk.CallToolParamsRaw
	id      string     // the Task's
	from    api.Cursor // before what the client has not been told
	fresh   bool       // the Task was made after from, so that nothing of it was missed
	show    shows      // makes the result; nil for that of a tool

	progress float64 // the last that was told; they increase
	told     bool    // there was one

	// beyond are questions that this client cannot settle, although it was asked.
	beyond map[string]bool
	// asked are the questions that were put to the client, by the ids of their requests: what calls
	// each off once somebody else has settled it.
	asked  map[string]context.CancelFunc
	asking sync.WaitGroup
}

// errUnasked says that the client cannot settle what a Task waits for.
var errUnasked = errors.New("the client cannot settle what the task waits for")

// follow tells the client what its Task says, and asks what it asks, until the Task has ended, or waits
// for something that this request does not bring. It returns the Task as it is then.
func (c *call) follow(ctx context.Context) (*abi.Task, error) {
	if c.q.session == nil && c.q.resumed == nil {
		return c.await(ctx)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer c.asking.Wait()
	defer stop(nil)
	s, err := c.adapter.core.Follow(ctx, c.q.caller, api.Filter{TaskID: c.id}, c.from)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for look := !c.fresh; ; {
		if look {
			t, err := c.task(ctx)
			if err != nil {
				return nil, err
			}
			if t.Status.Terminal() || c.parked(t) && !c.ask(ctx, stop, t) {
				return t, c.catchUp(ctx, s)
			}
		}
		entries, err := s.Next(ctx)
		if errors.Is(context.Cause(ctx), errUnasked) {
			return c.task(context.WithoutCancel(ctx))
		}
		if err != nil {
			return nil, err
		}
		look = c.tell(ctx, entries)
	}
}

// await is follow of a client that is told nothing on the way, and asked nothing.
func (c *call) await(ctx context.Context) (*abi.Task, error) {
	for {
		v, err := c.adapter.core.WaitSettled(ctx, c.q.caller, c.id)
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		t, err := c.taskIn(v)
		if err != nil || t.Status.Terminal() || c.parked(t) && !c.ask(ctx, nil, t) {
			return t, err
		}
	}
}

// catchUp tells what a Task has said up to now: it is in the log before what the Task has come to.
func (c *call) catchUp(ctx context.Context, s *api.Stream) error {
	for {
		entries, err := s.Poll(ctx, func() {})
		if err != nil || len(entries) == 0 {
			return err
		}
		c.tell(ctx, entries)
	}
}

// task reads the Task as it is.
func (c *call) task(ctx context.Context) (*abi.Task, error) {
	v, err := c.adapter.core.Get(ctx, c.q.caller, abi.ObjectTask, c.id)
	if err != nil {
		return nil, err
	}
	return c.taskIn(v)
}

func (c *call) taskIn(v api.View) (*abi.Task, error) {
	t := &abi.Task{}
	if err := json.Unmarshal(v.JSON, t); err != nil {
		return nil, fmt.Errorf("reading task %s: %w", c.id, err)
	}
	return t, nil
}

// parked reports whether a Task waits for somebody.
func (c *call) parked(t *abi.Task) bool {
	return t.Waiting != nil && (t.Status == abi.TaskInputRequired || t.Status == abi.TaskAuthRequired)
}

// tell tells what a Task says on its way. look says that the Task may have ended, or may wait.
func (c *call) tell(ctx context.Context, entries []api.Entry) (look bool) {
	for _, entry := range entries {
		c.from = entry.At()
		switch entry.Kind() {
		case abi.EventProgress:
			c.tellProgress(ctx, payloadOf(entry))
		case abi.EventLog:
			c.tellLog(ctx, payloadOf(entry))
		case abi.EventTaskInputRequired, abi.EventTaskAuthRequired, abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
			look = true
		}
	}
	return look
}

// payloadOf returns the payload of an event as the caller may see it.
func payloadOf(entry api.Entry) jsontext.Value {
	var of struct {
		Payload jsontext.Value `json:"payload"`
	}
	_ = json.Unmarshal(entry.Show().AppendJSON(nil, false), &of) // it was written by the node itself
	return of.Payload
}

// tellProgress tells how far a Task is, to whoever has asked to be told. Of the same or less than
// before nothing is told: values increase.
func (c *call) tellProgress(ctx context.Context, payload jsontext.Value) {
	token := c.params.GetProgressToken()
	var p abi.Progress
	if token == nil || json.Unmarshal(payload, &p) != nil || p.Redacted {
		return
	}
	at := c.progress
	if p.Fraction != nil {
		at = *p.Fraction * 100
	}
	if c.told && at <= c.progress {
		return
	}
	c.progress, c.told = at, true
	_ = c.q.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: at, Total: 100, Message: p.Message})
}

// levels are the protocol's names of what plugins log as.
var levels = map[string]sdk.LoggingLevel{"debug": "debug", "info": "info", "warn": "warning", "error": "error"}

// tellLog tells a line that a plugin has logged, if the client wants lines of its level.
func (c *call) tellLog(ctx context.Context, payload jsontext.Value) {
	var line abi.CallLogRequest
	if c.q.session == nil || json.Unmarshal(payload, &line) != nil || levels[line.Level] == "" {
		return
	}
	_ = c.q.session.Log(ctx, &sdk.LoggingMessageParams{Level: levels[line.Level], Logger: c.params.Name, Data: line.Message})
}

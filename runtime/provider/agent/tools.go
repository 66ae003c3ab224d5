package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// Server offers an agent's skills as tools, each by its id. It is safe for concurrent use.
type Server struct{ *Peer }

var (
	_ tool.Server  = Server{}
	_ tool.Limited = Server{}
)

// Limits implements [tool.Limited].
func (s Server) Limits() tool.Limits { return s.config.Limits }

var inputSchema = jsontext.Value(`{"type":"object","properties":{` +
	`"message":{"type":"string","description":"what to do, with all that the agent needs to know"},` +
	`"data":{"description":"data that comes with it"},` +
	`"context_id":{"type":"string","description":"an earlier answer's, to go on with that conversation"},` +
	`"task_id":{"type":"string","description":"an earlier answer's, to tell the agent what it waits for"}},"required":["message"]}`)

// List implements [tool.Server]. A skill is a tool that writes: nobody knows what an agent does. It
// may be called again where the card, or the configuration, says that the agent tells a message that
// comes twice.
func (s Server) List(ctx context.Context) ([]abi.Tool, error) {
	card, err := s.known(ctx, "")
	if err != nil {
		return nil, err
	}
	tools := make([]abi.Tool, len(card.Skills))
	for i := range card.Skills {
		tools[i] = abi.Tool{Name: card.Skills[i].ID, Description: card.Skills[i].says(), InputSchema: inputSchema, OpenWorld: true,
			Destructive: true, Idempotent: card.External.Idempotency}
		s.config.Believe(&tools[i])
	}
	return tools, nil
}

// asked are the arguments of a tool.
type asked struct {
	Message   string         `json:"message"`
	Data      jsontext.Value `json:"data"`
	ContextID string         `json:"context_id"`
	TaskID    string         `json:"task_id"`
}

// Call implements [tool.Server]: it sends a message, whose id follows from the call, so that the
// same call is one task of the agent however often it is made. Then it waits for the end of that
// task, as long as a call may take, and cancels it when that was too short or the Task has ended.
func (s Server) Call(ctx context.Context, c *provider.Call, name string, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	var a asked
	if err := json.Unmarshal(arguments, &a); err != nil {
		return nil, provider.Malformed(err)
	}
	if strings.TrimSpace(a.Message) == "" {
		return nil, provider.Malformed(abi.InvalidParam("message", "message is what to do"))
	}
	card, err := s.known(ctx, c.Tenant)
	if err != nil {
		return nil, err
	}
	var first sent
	m := &message{id: MessageID(c.IdempotencyKey), text: a.Message, data: a.Data, skill: name, context: a.ContextID, task: a.TaskID}
	if _, err := s.ask(ctx, c.Tenant, card, methods[card.speaks].send, card.sending(m), &first); err != nil {
		return nil, s.rejected(err)
	}
	is, isMessage := first.is()
	if isMessage {
		return is.answer(true)
	}
	if is, err = s.await(ctx, c.Tenant, card, is); err != nil {
		return nil, err
	}
	return is.answer(false)
}

// MessageID returns the id of the message that a call sends: the same for the same call. It tells
// nothing of the node's own ids.
func MessageID(idempotencyKey string) string {
	sum := sha256.Sum256([]byte("message " + idempotencyKey))
	return hex.EncodeToString(sum[:16])
}

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	maxLost      = 5 // answers in a row that do not come
)

// await asks how a task stands until it is over.
func (s Server) await(ctx context.Context, tenant string, card *Card, is *told) (*told, error) {
	id := is.ID
	if id == "" {
		return nil, s.unreadable()
	}
	lost := 0
	for pause := firstPause; !is.over(); pause = min(2*pause, longestPause) {
		if err := sleep(ctx, pause); err != nil {
			s.giveUp(ctx, tenant, card, id)
			return nil, err
		}
		next := &told{}
		retry, err := s.ask(ctx, tenant, card, methods[card.speaks].get, card.within(map[string]any{"id": id}), next)
		switch {
		case err == nil && next.ID == id:
			is, lost = next, 0
		case err == nil:
			return nil, refuse(abi.CallUnavailable, codeRejected, "the agent %q tells of another task", s.config.Name)
		case ctx.Err() == nil && (!retry || lost == maxLost):
			return nil, s.rejected(err)
		default:
			lost++
		}
	}
	return is, nil
}

// giveUp has the agent cancel a task that took too long, or that nobody waits for because the Task
// has ended, and does not wait for it. A call that a node's end stops is made again, and finds its task.
func (s Server) giveUp(ctx context.Context, tenant string, card *Card, id string) {
	if ctx.Err() != context.DeadlineExceeded && !errors.Is(context.Cause(ctx), provider.ErrEnded) {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cardTime)
		defer cancel()
		_, _ = s.ask(ctx, tenant, card, methods[card.speaks].cancel, card.within(map[string]any{"id": id}), &told{})
	}()
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

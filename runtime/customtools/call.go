package customtools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/program"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/web"
)

const (
	callTime  = 30 * time.Second
	maxAnswer = 4 << 20 // bytes of what answers a call
)

// server is the server of tools that a keeper is.
type server struct{ *Keeper }

var _ tool.Own = server{}

// Limits implements tool.Limited. What answers may grow when it is written as JSON within JSON.
func (k server) Limits() tool.Limits {
	return tool.Limits{Timeout: callTime, Answer: 2*maxAnswer + 1<<20}
}

// List implements tool.Server: without a Workspace there are no tools.
func (k server) List(context.Context) ([]abi.Tool, error) { return nil, nil }

// ListFor implements tool.PerCall.
func (k server) ListFor(_ context.Context, c *provider.Call) ([]abi.Tool, error) {
	tools := []abi.Tool{}
	for _, one := range k.of(place{c.Tenant, c.WorkspaceID}) {
		tools = append(tools, Described(one))
	}
	return tools, nil
}

// Described is a tool as plugins and policy take it: nobody knows what it does, so it changes
// things, and for the worse.
func Described(t *abi.CustomTool) abi.Tool {
	return abi.Tool{Server: abi.ToolServerCustom, Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, Destructive: true, OpenWorld: true}
}

// Find implements tool.PerCall.
func (k server) Find(_ context.Context, c *provider.Call, name string) (*tool.Found, error) {
	t := k.named(place{c.Tenant, c.WorkspaceID}, name)
	if t == nil {
		return nil, provider.Refuse(abi.CallNotFound, tool.CodeUnknown, fmt.Sprintf("%q has no tool %q", abi.ToolServerCustom, name))
	}
	return &tool.Found{Tool: Described(t), By: "custom_tool:" + t.ID, Call: func(ctx context.Context, input jsontext.Value) (*abi.CallToolCallAnswer, error) {
		return k.ask(ctx, c, t, input)
	}}, nil
}

// Call implements tool.Server. It is Find and the call of what is found.
func (k server) Call(ctx context.Context, c *provider.Call, name string, input jsontext.Value) (*abi.CallToolCallAnswer, error) {
	found, err := k.Find(ctx, c, name)
	if err != nil {
		return nil, err
	}
	return found.Call(ctx, input)
}

// ask has a tool answer a call.
func (k *Keeper) ask(ctx context.Context, c *provider.Call, t *abi.CustomTool, input jsontext.Value) (*abi.CallToolCallAnswer, error) {
	body, err := json.Marshal(abi.CustomToolCall{Tool: t.Name, Input: input, ExecutionID: c.TaskID}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	var answer []byte
	if t.Handler.URL != "" {
		answer, err = k.post(ctx, c, t, body)
	} else {
		answer, err = k.run(ctx, t, body)
	}
	if err != nil {
		return nil, err
	}
	return answered(t, answer)
}

// answered makes an answer of the JSON that a tool has given: an object as it is, a text as text.
func answered(t *abi.CustomTool, answer []byte) (*abi.CallToolCallAnswer, error) {
	value := jsontext.Value(bytes.TrimSpace(answer))
	if len(value) == 0 {
		return &abi.CallToolCallAnswer{}, nil
	}
	if err := value.Compact(jsontext.AllowDuplicateNames(false)); err != nil {
		return nil, rejected("the answer of the tool %q is no JSON", t.Name)
	}
	switch value.Kind() {
	case '{':
		return &abi.CallToolCallAnswer{Structured: value}, nil
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		return &abi.CallToolCallAnswer{Content: []abi.ToolContent{{Type: "text", Text: string(text)}}}, err
	}
	return &abi.CallToolCallAnswer{Content: []abi.ToolContent{{Type: "text", Text: string(value)}}}, nil
}

func rejected(format string, args ...any) error {
	return provider.Refuse(abi.CallUnavailable, tool.CodeRejected, fmt.Sprintf(format, args...))
}

func tooLarge(t *abi.CustomTool) error {
	return provider.Refuse(abi.CallTooLarge, tool.CodeTooLarge, fmt.Sprintf("the answer of the tool %q has more than %d bytes", t.Name, maxAnswer))
}

// post sends a call to the receiver of a tool.
func (k *Keeper) post(ctx context.Context, c *provider.Call, t *abi.CustomTool, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Handler.URL, bytes.NewReader(body))
	if err != nil {
		return nil, rejected("the URL of the tool %q cannot be asked", t.Name)
	}
	if err := k.sign(ctx, req, c, t, body); err != nil {
		k.log().Warn("a call of a custom tool cannot be signed", "tool", t.ID, "error", err)
		return nil, provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, "what signs the calls of the tool cannot be read now")
	}
	resp, err := k.send.RoundTrip(req)
	if err != nil {
		return nil, unanswered(ctx, t, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, rejected("the receiver of the tool %q has answered with %d", t.Name, resp.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, unanswered(ctx, t, err)
	case len(answer) > maxAnswer:
		return nil, tooLarge(t)
	}
	return answer, nil
}

// unanswered says why a request got no answer, without an address.
func unanswered(ctx context.Context, t *abi.CustomTool, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	why := cmp.Or(web.Denied(err), web.Reason(err))
	return provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, fmt.Sprintf("the receiver of the tool %q has not answered: %s", t.Name, why))
}

// sign puts into a request what says from whom it is. Its id is the same when the call is made
// again.
func (k *Keeper) sign(ctx context.Context, req *http.Request, c *provider.Call, t *abi.CustomTool, body []byte) error {
	secret, err := k.values.Open(ctx, k.numberOf(c.Tenant), t.SecretID)
	if err != nil {
		return err
	}
	signed, err := signature.Sign(abi.WebhookAuth{Scheme: abi.SchemeStandard}, secret, "msg_"+hexOf([]byte(c.IdempotencyKey)), body, k.parts.Now())
	if err != nil {
		return err
	}
	for name, value := range signed {
		req.Header.Set(name, value)
	}
	if s := t.Handler.Signature; s != nil {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		req.Header.Set(s.Header, s.Prefix+hex.EncodeToString(mac.Sum(nil)))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", k.parts.Agent)
	return nil
}

// hexOf returns a name that a header can have for any text.
func hexOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// run starts the program of a tool.
func (k *Keeper) run(ctx context.Context, t *abi.CustomTool, body []byte) ([]byte, error) {
	words := k.parts.Config.Commands[t.Handler.Command]
	if len(words) == 0 {
		return nil, provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, fmt.Sprintf("the node starts no %q any more", t.Handler.Command))
	}
	answer, err := program.Run(ctx, slices.Concat(words, t.Handler.Args), body, maxAnswer)
	ended, isExit := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(err, program.ErrTooLong):
		return nil, tooLarge(t)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case isExit:
		return nil, rejected("the program of the tool %q has ended with %d", t.Name, ended.ExitCode())
	}
	k.log().Warn("the program of a custom tool cannot be started", "tool", t.ID, "error", err)
	return nil, provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, fmt.Sprintf("the program of the tool %q cannot be started. The node's log says why", t.Name))
}

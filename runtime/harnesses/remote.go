package harnesses

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/storage"
)

// ServerRemote is the server of tools by which the plugin of hosted Harnesses asks the servers
// that run them. It reaches the one of the Harness that a Task belongs to, and no other.
const ServerRemote = "remote"

// The tools of ServerRemote.
const (
	ToolRun    = "run"    // begins an execution
	ToolWait   = "wait"   // waits for its end for a while
	ToolResult = "result" // returns what it resulted in
)

// Bounds of what other servers are asked.
const (
	maxRemoteAnswer = 4 << 20 // bytes
	remoteTime      = 30 * time.Second
	waitTime        = 45 * time.Second // of one call of ToolWait
	firstPause      = 250 * time.Millisecond
	longestPause    = 5 * time.Second
)

// Remote is the server of tools ServerRemote. It is made before the keeper whose Harnesses it
// serves, and answers nothing before that is there. It is safe for concurrent use.
type Remote struct {
	keeper  atomic.Pointer[Keeper]
	private bool
	client  *http.Client
	under   byTask[string] // the executions that go on there, of Tasks that go on
}

var (
	_ tool.Server  = (*Remote)(nil)
	_ tool.PerCall = (*Remote)(nil)
)

// NewRemote returns a server that connects to nothing yet. private also reaches loopback, private
// and link-local addresses.
func NewRemote(private bool) *Remote {
	return &Remote{private: private, client: &http.Client{Transport: web.Transport(web.Reach{Private: private, PerHost: 4}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Limits implements tool.Limited.
func (*Remote) Limits() tool.Limits {
	return tool.Limits{Timeout: waitTime + remoteTime, Answer: maxRemoteAnswer}
}

// List implements tool.Server: what is no Task of a hosted Harness has no tools.
func (*Remote) List(context.Context) ([]abi.Tool, error) { return nil, nil }

// ListFor implements tool.PerCall.
func (s *Remote) ListFor(_ context.Context, c *provider.Call) ([]abi.Tool, error) {
	if k := s.keeper.Load(); k != nil {
		if _, h := k.hosted(c.Tenant, c.WorkspaceID); h != nil {
			return remoteTools(), nil
		}
	}
	return nil, nil
}

// Find implements tool.PerCall.
func (s *Remote) Find(ctx context.Context, c *provider.Call, name string) (*tool.Found, error) {
	tools, err := s.ListFor(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, t := range tools {
		if t.Name == name {
			return &tool.Found{Tool: t, Call: func(ctx context.Context, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
				return s.Call(ctx, c, name, arguments)
			}}, nil
		}
	}
	return nil, provider.Refuse(abi.CallNotFound, tool.CodeUnknown, "this task has no tool remote:"+name)
}

func remoteTools() []abi.Tool {
	execution := jsontext.Value(`{"type":"object","properties":{"execution_id":{"type":"string"}},"required":["execution_id"]}`)
	return []abi.Tool{
		{Name: ToolRun, Idempotent: true, OpenWorld: true, Description: "Begins an execution on the server that runs the harness.",
			InputSchema: jsontext.Value(`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`)},
		{Name: ToolWait, ReadOnly: true, OpenWorld: true, Description: "Waits for the end of an execution, for a while.", InputSchema: execution},
		{Name: ToolResult, ReadOnly: true, OpenWorld: true, Description: "What an execution resulted in.", InputSchema: execution},
	}
}

// Call implements tool.Server.
func (s *Remote) Call(ctx context.Context, c *provider.Call, name string, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	tenant, at, err := s.find(ctx, c)
	if err != nil {
		return nil, err
	}
	task := ledger.Key{Tenant: tenant, ID: c.TaskID}
	if ctx.Err() != nil { // the Task has ended: nothing is noted of it any more
		return nil, context.Cause(ctx)
	}
	var args struct {
		Message     string `json:"message"`
		ExecutionID string `json:"execution_id"`
	}
	if err := json.Unmarshal(arguments, &args); err != nil {
		return nil, provider.Refuse(abi.CallInvalid, tool.CodeInvalid, "the arguments do not fit the tool")
	}
	execution := executionPath(args.ExecutionID)
	var answer jsontext.Value
	switch name {
	case ToolRun:
		answer, err = s.run(ctx, at, task, c.IdempotencyKey, arguments)
	case ToolWait:
		s.under.note(task, args.ExecutionID) // also where an earlier life of the node has begun it
		answer, err = s.wait(ctx, at, task, execution)
	case ToolResult:
		answer, err = s.ask(ctx, at, http.MethodGet, execution+"/result", "", nil)
	default:
		return nil, provider.Refuse(abi.CallNotFound, tool.CodeUnknown, "there is no tool "+name)
	}
	if err != nil {
		return nil, err
	}
	return &abi.CallToolCallAnswer{Content: []abi.ToolContent{}, Structured: answer}, nil
}

// remotePlace is where a Harness runs, and what it is asked with.
type remotePlace struct {
	base, key string
}

// find returns where the Harness runs that a call belongs to.
func (s *Remote) find(ctx context.Context, c *provider.Call) (storage.Tenant, remotePlace, error) {
	k := s.keeper.Load()
	if k == nil {
		return 0, remotePlace{}, provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, "the node is starting")
	}
	tenant, h := k.hosted(c.Tenant, c.WorkspaceID)
	if h == nil {
		return 0, remotePlace{}, provider.Refuse(abi.CallDenied, tool.CodeDenied, "this task belongs to no hosted harness")
	}
	at, err := k.placeFor(ctx, tenant, h, c.TaskID)
	if err != nil {
		return 0, remotePlace{}, provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, "the credentials of the harness cannot be read now; the node's log says why")
	}
	return tenant, at, nil
}

// remoteBase returns the URL of a hosted Harness on its server: the one that was given, if it names
// one, or else the Harness of the same name.
func remoteBase(h *abi.Harness) string {
	base := strings.TrimSuffix(h.BaseURL, "/")
	if strings.Contains(base, "/harnesses/") {
		return base
	}
	return base + "/harnesses/" + h.Name
}

func (s *Remote) run(ctx context.Context, at remotePlace, task ledger.Key, idempotencyKey string, body []byte) (jsontext.Value, error) {
	answer, err := s.ask(ctx, at, http.MethodPost, "/execute", idempotencyKey, body)
	var begun struct {
		ExecutionID string `json:"execution_id"`
	}
	if err == nil && json.Unmarshal(answer, &begun) == nil && begun.ExecutionID != "" {
		s.under.note(task, begun.ExecutionID)
	}
	return answer, err
}

// wait asks for an execution until it has ended, for a while, and returns it as it is then.
func (s *Remote) wait(ctx context.Context, at remotePlace, task ledger.Key, execution string) (jsontext.Value, error) {
	until := time.Now().Add(waitTime)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		answer, err := s.ask(ctx, at, http.MethodGet, execution, "", nil)
		if err != nil {
			return nil, err
		}
		var now struct {
			Status    string `json:"status"`
			Execution struct {
				Status string `json:"status"`
			} `json:"execution"`
		}
		_ = json.Unmarshal(answer, &now) // an answer without a status is one that has not ended
		status := cmp.Or(now.Execution.Status, now.Status)
		over := status == "completed" || status == "failed" || status == "cancelled"
		if over {
			s.under.take(task)
		}
		if over || time.Now().Add(pause).After(until) {
			return json.Marshal(map[string]string{"status": cmp.Or(status, "running")}, json.Deterministic(true))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// ask makes one request, and returns the answer's JSON. Refusals say which server has answered,
// and neither the key nor the path.
func (s *Remote) ask(ctx context.Context, at remotePlace, method, path, idempotencyKey string, body []byte) (jsontext.Value, error) {
	status, text, err := s.request(ctx, at, method, path, idempotencyKey, body)
	switch {
	case err != nil:
		return nil, err
	case status >= 200 && status < 300 && jsontext.Value(text).IsValid():
		return text, nil
	case status == http.StatusNotFound:
		return nil, provider.Refuse(abi.CallNotFound, tool.CodeRejected, "the server of the harness does not know this")
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return nil, provider.Refuse(abi.CallDenied, tool.CodeRejected, "the server of the harness does not take its credentials: validate and store them anew")
	case status == http.StatusTooManyRequests || status >= 500:
		return nil, provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, "the server of the harness cannot do this now")
	}
	return nil, provider.Refuse(abi.CallInvalid, tool.CodeRejected, "the server of the harness has answered with "+http.StatusText(status))
}

// request makes a request to the server of a Harness.
func (s *Remote) request(ctx context.Context, at remotePlace, method, path, idempotencyKey string, body []byte) (status int, text []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, remoteTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, at.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, provider.Refuse(abi.CallInvalid, tool.CodeInvalid, "the server of the harness cannot be asked this")
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if at.key != "" {
		req.Header.Set("Authorization", "Bearer "+at.key)
	}
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, nil, unreached(err)
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(io.LimitReader(resp.Body, maxRemoteAnswer+1))
	if err != nil {
		return 0, nil, unreached(err)
	}
	if len(text) > maxRemoteAnswer {
		return 0, nil, provider.Refuse(abi.CallTooLarge, tool.CodeTooLarge, "the server of the harness has answered with more than 4 MiB")
	}
	return resp.StatusCode, at.withoutKey(text), nil
}

// minScrubbed is the shortest key that is looked for in answers: a shorter one would be found in
// words that have nothing to do with it.
const minScrubbed = 8

// withoutKey takes the key out of what a server answers: what it says becomes a part of the log.
func (p remotePlace) withoutKey(text []byte) []byte {
	if len(p.key) < minScrubbed {
		return text
	}
	return []byte(secret.NewScrub([]secret.Value{secret.NewValue("credentials", p.key)}).Text(string(text)))
}

// unreached says why a server did not answer, without an address.
func unreached(err error) error {
	switch denied := web.Denied(err); {
	case denied != "":
		return provider.Refuse(abi.CallDenied, tool.CodeDenied, "the server of the harness is at an address that the node does not connect to")
	case errors.Is(err, context.DeadlineExceeded), web.TimedOut(err):
		return provider.Refuse(abi.CallTimeout, tool.CodeTimeout, "the server of the harness has not answered in time")
	case errors.Is(err, context.Canceled):
		return context.Canceled
	}
	return provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, "the server of the harness cannot be reached")
}

// hosted returns the hosted Harness that a Workspace belongs to; nil for none.
func (k *Keeper) hosted(tenant, workspace string) (storage.Tenant, *abi.Harness) {
	for number, h := range k.hostedIn(workspace) {
		if k.parts.TenantID(number) == tenant { // it takes a lock of k.mu's own kind
			return number, h
		}
	}
	return 0, nil
}

// hostedIn returns the hosted Harness of a Workspace, by the numbers of the tenants that have one of
// this id.
func (k *Keeper) hostedIn(workspace string) map[storage.Tenant]*abi.Harness {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var found map[storage.Tenant]*abi.Harness
	for at, h := range k.known {
		if h.WorkspaceID != workspace || h.Kind != abi.HarnessHosted {
			continue
		}
		if found == nil {
			found = map[storage.Tenant]*abi.Harness{}
		}
		found[at.tenant] = h
	}
	return found
}

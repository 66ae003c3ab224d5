package delegation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
	"github.com/wharf-dev/wharf/storage"
)

// The codes of refusals, and the reasons of delegations that are refused.
const (
	codeBudget     = "budget_required"        // no bound that is more than nothing
	codeUnproved   = "agent_unproved"         // the card does not promise what paid work needs
	codeNoPlan     = "checkpoint_unavailable" // the agent makes no plan, and no other stands in for it
	codeChanged    = "agent_changed"          // the agent is not who was looked at
	codeRefused    = "agent_refused"          // the agent has not taken the work
	codeReused     = "idempotency_conflict"   // the key stands for other work
	codeUnderWay   = "delegation_under_way"   // the work of the key is being done
	codeUnanswered = "agent_unanswered"       // nobody knows whether the work was done
	codeContradict = "agent_contradicts"      // what it hands over is not what was dispatched
)

const (
	maxTask    = 256 << 10 // bytes
	maxKey     = 256
	maxRequest = 1 << 20
)

// Artifacts keep what is handed over.
type Artifacts interface {
	ArtifactNamed(ctx context.Context, id string, t *abi.Task, reg *abi.RegisterArtifactRequest, content []byte) (*abi.Artifact, error)
	ReadArtifact(ctx context.Context, a *abi.Artifact, offset, length, limit int64) ([]byte, error)
}

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Agents    *agent.Agents // nil for none
	Artifacts Artifacts
	TenantOf  func(id string) (storage.Tenant, error)
}

// Keeper has agents outside do work. It is safe for concurrent use.
type Keeper struct {
	parts Parts

	mu       sync.Mutex
	underWay map[string]bool // by the id of what will be handed over
}

var _ provider.Performer = (*Keeper)(nil)

// NewKeeper returns a keeper. It asks nobody yet.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p, underWay: map[string]bool{}} }

// Performers are the performers of the calls that the keeper answers.
func (k *Keeper) Performers() map[string]provider.Performer {
	return map[string]provider.Performer{abi.CallAgentDelegate: k}
}

// Prepare implements [provider.Performer]. It asks the agent for its card and its plan, unless the
// work was done before, or may have been dispatched.
func (k *Keeper) Prepare(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	d, err := k.read(c)
	if err != nil {
		return provider.Plan{}, err
	}
	if c.Again {
		return d.dispatches(nil), nil
	}
	done, err := d.before(ctx)
	if done != nil || err != nil {
		return answers(done), err
	}
	return d.prepare(ctx)
}

// answers is the plan of a call that is answered without any effect.
func answers(a *abi.CallAgentDelegateAnswer) provider.Plan {
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) {
		return json.Marshal(a, json.Deterministic(true))
	}}
}

// delegation is one call.
type delegation struct {
	keeper *Keeper
	call   *provider.Call
	tenant storage.Tenant
	peer   *agent.Peer
	req    abi.CallAgentDelegateRequest
	key    string // as the agent is told it
	asked  string // the hash of the work
	id     string // of the Artifact of what is handed over
}

// read reads a call, and refuses one that cannot be meant, or that the plugin may not make.
func (k *Keeper) read(c *provider.Call) (*delegation, error) {
	d := &delegation{keeper: k, call: c}
	if len(c.Request) > maxRequest {
		return nil, provider.Refuse(abi.CallTooLarge, "request_too_large", fmt.Sprintf("a delegation has at most %d bytes", maxRequest))
	}
	if err := json.Unmarshal(c.Request, &d.req); err != nil {
		return nil, provider.Malformed(err)
	}
	if err := check(&d.req); err != nil {
		return nil, provider.Malformed(err)
	}
	if !positive(&d.req.Budget) {
		return nil, provider.Refuse(abi.CallInvalid, codeBudget, "the budget of a delegation bounds usd, tokens, seconds or tool_calls")
	}
	var err error
	if d.peer, err = k.parts.Agents.Granted(c.Plugin, d.req.Agent); err != nil {
		return nil, err
	}
	if d.tenant, err = k.parts.TenantOf(c.Tenant); err != nil {
		return nil, err
	}
	return d, d.name()
}

// check refuses what cannot be meant.
func check(r *abi.CallAgentDelegateRequest) error {
	switch b := &r.Budget; {
	case strings.TrimSpace(r.Task) == "" || len(r.Task) > maxTask:
		return abi.InvalidParam("task", "task is what to do, in 1 to %d bytes", maxTask)
	case len(r.IdempotencyKey) > maxKey:
		return abi.InvalidParam("idempotency_key", "idempotency_key has at most %d bytes", maxKey)
	case len(r.Context) > 0 && r.Context.Kind() != '{' && r.Context.Kind() != 'n':
		return abi.InvalidParam("context", "context is an object")
	case !(b.USD >= 0) || !(b.Seconds >= 0) || b.Tokens < 0 || b.ToolCalls < 0 || b.USD > math.MaxInt32 || b.Seconds > abi.MaxWaitSeconds:
		return abi.InvalidParam("budget", "what a budget bounds is not less than nothing, and not beyond all bounds")
	}
	return nil
}

func positive(b *abi.DelegationBudget) bool {
	return b.USD > 0 || b.Tokens > 0 || b.Seconds > 0 || b.ToolCalls > 0
}

// name fills in what follows from the call: the key, the Artifact of what is handed over, and the
// hash of the work.
func (d *delegation) name() error {
	if d.req.IdempotencyKey == "" {
		d.req.IdempotencyKey = d.call.IdempotencyKey
	}
	sum := hashOf(d.call.Tenant, d.call.WorkspaceID, d.call.Plugin, d.req.Agent, d.req.IdempotencyKey)
	d.key = "wharf-" + sum
	d.id = abi.DerivedID(abi.ObjectArtifact, time.Unix(0, 0), "delegation "+sum)
	work, err := json.Marshal([]any{d.req.Task, canonical(d.req.ExpectedScope), canonical(d.req.Context)})
	d.asked = "sha256:" + hashOf(string(work))
	return err
}

// canonical returns JSON in the form that texts of the same value share; null for none.
func canonical(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	own := v.Clone()
	if own.Canonicalize() != nil {
		return v
	}
	return own
}

// hashOf hashes texts; lengths keep them apart.
func hashOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// begin makes a call the only one on this node that has the work done, until end is called or ctx
// is over, which lasts no longer than the run. It reports false when another one is.
func (k *Keeper) begin(ctx context.Context, id string) (end func(), ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.underWay[id] {
		return nil, false
	}
	k.underWay[id] = true
	var once sync.Once
	end = func() {
		once.Do(func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			delete(k.underWay, id)
		})
	}
	context.AfterFunc(ctx, end)
	return end, true
}

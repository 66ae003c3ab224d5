package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// Models answers llm.complete. It is safe for concurrent use.
type Models struct {
	regrants provider.Regrants[string]
	config   Config
	backends map[string]backend // by the name of the model
	client   *http.Client
	lanes    *provider.Lanes

	// Tests put in their own: a wait that does not take time, and jitter that is known.
	sleep  func(context.Context, time.Duration) error
	jitter func() float64 // in [0, 1)
}

var _ provider.Performer = (*Models)(nil)

// backend speaks to one configured model. What it returns is not yet scrubbed of
// the key; text goes to ask.text alone, as it comes.
type backend interface {
	complete(ctx context.Context, a *ask) (*reply, error)
}

// ask is one attempt at one model.
type ask struct {
	request   *abi.ModelRequest
	wire      *abi.ModelRequest // request with tool names that a provider takes
	names     map[string]string // what those names stand for
	call      *provider.Call
	name      string // of the configured model
	maxTokens int    // 0 for no limit
	thinking  int    // tokens; 0 for none
	attempt   int    // from 0
	key       string
	text      *text
}

// reply is what a model answered, apart from its text.
type reply struct {
	model string // as the provider names it; "" when it does not say
	calls []toolCall
	stop  abi.StopReason
	usage abi.ModelUsage
}

// toolCall is a tool call as the provider tells it.
type toolCall struct {
	id, name, arguments string
}

// Regrant says which models plugins may use from now on: patterns of names, by plugin. nil lets each use
// all.
func (m *Models) Regrant(allow map[string][]string) { m.regrants.Replace(allow) }

// New checks a configuration and returns its models. It reads the script file,
// and asks nothing of any provider.
func New(c Config) (*Models, error) {
	m := &Models{
		config: c, backends: make(map[string]backend, len(c.Models)),
		client: newClient(maxAnswer), lanes: provider.NewLanes(provider.MaxCalls), sleep: sleep, jitter: rand.Float64,
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("configuring models: %w", err)
	}
	script, err := c.loadScript()
	if err != nil {
		return nil, fmt.Errorf("configuring models: %w", err)
	}
	for name, model := range c.Models {
		m.backends[name] = newBackend(model, m.client, script)
	}
	return m, nil
}

func newBackend(model Model, client *http.Client, script *Script) backend {
	switch model.Provider {
	case ProviderOpenAI:
		return newOpenAI(model, client)
	case ProviderAnthropic:
		return newAnthropic(model, client)
	case ProviderClient:
		return absent{}
	}
	return script
}

// Close drops the idle connections. Calls under way go on.
func (m *Models) Close() error {
	m.client.CloseIdleConnections()
	return nil
}

// Prepare implements [provider.Performer]. A completion is a read.
func (m *Models) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	request, err := decodeRequest(c.Request)
	if err != nil {
		return provider.Plan{}, provider.Refuse(abi.CallInvalid, string(abi.CodeInvalidRequest), err.Error())
	}
	chosen, err := m.choose(request.Model, c.Plugin)
	if err == nil {
		err = m.permitted(c, chosen.name)
	}
	if err != nil {
		return provider.Plan{}, err
	}
	if m.config.Models[chosen.name].Provider == ProviderClient {
		if ask, err := m.askClient(c, request, chosen.name); ask != nil || err != nil {
			return provider.Plan{Effect: abi.EffectRead, Ask: ask}, err
		}
	}
	return provider.Plan{
		Effect: abi.EffectRead,
		Do: func(ctx context.Context, emit func(string)) ([]byte, error) {
			return m.lanes.Do(ctx, c.Tenant, func() ([]byte, error) { return m.complete(ctx, c, request, chosen, emit) })
		},
	}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

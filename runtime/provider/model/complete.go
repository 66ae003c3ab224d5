package model

import (
	"context"
	"fmt"
	"math"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// complete asks the chosen model, and its fallbacks in order, until one answers.
//
// A watcher of a streamed call is told the text of the first attempt. An attempt
// that begins where another was cut tells only what goes beyond it, as long as
// it says the same; when it says something else, the watcher is told no more,
// and reads the whole text in the Message that the plugin appends. So deltas
// never repeat and never contradict each other; they may end early.
func (m *Models) complete(ctx context.Context, c *provider.Call, r *abi.ModelRequest, chosen choice, emit func(string)) ([]byte, error) {
	w := &watcher{emit: emit, on: r.Stream}
	thinks := &watcher{emit: c.Thinks, on: r.Stream && c.Thinks != nil}
	wire, names := wireNames(r)
	route := chosen.route
	var considered []abi.ModelConsidered
	var failures []string
	var first *failure
	for i, name := range append([]string{chosen.name}, m.config.Models[chosen.name].Fallbacks...) {
		if i > 0 && !m.allowed(c.Plugin, name) {
			considered = append(considered, m.considered(name, "the plugin has no grant for it"))
			continue
		}
		if i > 0 && m.permitted(c, name) != nil {
			considered = append(considered, m.considered(name, "the persona may not ask it"))
			continue
		}
		answer, fail := m.attempts(ctx, &ask{
			request: r, wire: wire, names: names, call: c, name: name, maxTokens: m.maxTokens(name, r),
			thinking: m.config.Models[name].Thinking,
		}, w, thinks)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("asking the model %q: %w", name, context.Cause(ctx))
		}
		if fail == nil {
			m.config.Figures.Answered(name, m.config.Models[name].Provider, answer.Usage, answer.Cost, answer.Currency)
			answer.Route, answer.Considered = route, considered
			return encode(answer)
		}
		m.config.Figures.Unanswered(name, m.config.Models[name].Provider, fail.code)
		if first == nil {
			first = fail
		}
		considered = append(considered, m.considered(name, fail.message))
		failures = append(failures, fmt.Sprintf("model %q: %s", name, fail.message))
		route = fmt.Sprintf("fallback after %q: %s", name, fail.message)
	}
	return nil, provider.Refuse(first.status, first.code, strings.Join(failures, "; "))
}

func (m *Models) considered(name, reason string) abi.ModelConsidered {
	model := m.config.Models[name]
	return abi.ModelConsidered{Provider: model.Provider, Model: model.named(), Reason: reason}
}

// named returns what the provider calls the model.
func (m Model) named() string {
	if m.Model == "" {
		return ProviderScript
	}
	return m.Model
}

// maxTokens returns the smaller of what the call asks for and what the model
// allows; 0 when neither says.
func (m *Models) maxTokens(name string, r *abi.ModelRequest) int {
	limit := m.config.Models[name].MaxTokens
	if r.MaxTokens == 0 || limit == 0 {
		return max(r.MaxTokens, limit)
	}
	return min(r.MaxTokens, limit)
}

// answer puts together what the plugin is told. Nothing in it holds the key.
func (m *Models) answer(a *ask, r *reply) (*abi.ModelAnswer, *failure) {
	model := m.config.Models[a.name]
	answer := &abi.ModelAnswer{
		Provider: model.Provider, Model: a.clean(r.model), Text: a.text.String(),
		StopReason: r.stop, Usage: r.usage,
	}
	if answer.Model == "" {
		answer.Model = model.named()
	}
	var fail *failure
	if answer.ToolCalls, fail = neutralCalls(r.calls, a); fail != nil {
		return nil, fail
	}
	if len(answer.ToolCalls) > 0 && answer.StopReason == abi.StopEnd {
		answer.StopReason = abi.StopTools // some servers say "stop" with tool calls too
	}
	answer.Cost, answer.Currency = m.cost(model, answer)
	return answer, nil
}

// cost returns what an answer costs, rounded to a billionth. The model as the
// answer names it comes before the name that it was asked by: the first may be a
// dated version with a price of its own.
func (m *Models) cost(model Model, a *abi.ModelAnswer) (float64, string) {
	price, ok := m.config.Prices[a.Provider+"/"+a.Model]
	if !ok {
		price = m.config.Prices[a.Provider+"/"+model.named()]
	}
	if price.Currency == "" {
		price.Currency = DefaultCurrency
	}
	micro := float64(a.Usage.InputTokens)*price.InputPerMillion + float64(a.Usage.OutputTokens)*price.OutputPerMillion
	return math.Round(micro*1e3) / 1e9, price.Currency
}

func encode(a *abi.ModelAnswer) ([]byte, error) {
	b, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encoding a model's answer: %w", err)
	}
	return b, nil
}

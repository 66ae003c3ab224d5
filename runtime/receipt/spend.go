package receipt

import (
	"math"
	"slices"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// maxModels bounds the models that a receipt tells apart.
const maxModels = 100

// maxExact is the largest integer up to which every one is a double.
const maxExact = 1 << 53

// nanos are billionths of a unit of currency: sums of them do not depend on how
// doubles round.
type nanos int64

func toNanos(amount float64) nanos {
	n := math.Round(amount * 1e9)
	if !(n > 0) {
		return 0
	}
	return nanos(min(n, maxExact))
}

func (n nanos) amount() float64 { return float64(n) / 1e9 }

// add adds without passing the largest number that a receipt can tell exactly.
func add[N ~int64](a, b N) N { return min(a+max(0, min(b, maxExact)), maxExact) }

// model is what a Task used of one model.
type model struct {
	provider, name string
	reason         string // why it was taken
	cost           nanos  // in the currency of the receipt
	input, output  int64
}

// spend is what a Task used of models.
type spend struct {
	currency   string
	total      nanos
	other      map[string]nanos // by currency
	models     []model          // in the order of their first use
	agents     []model          // outside, in the order of their first use, by their names
	considered []ModelRef
	failed     int
	input      int64
	output     int64
}

// scriptProvider answers from a file: nothing leaves the node.
const scriptProvider = "script"

// modelAnswer is what a receipt needs of an [abi.ModelAnswer].
type modelAnswer struct {
	Provider   string                `json:"provider"`
	Model      string                `json:"model"`
	Usage      abi.ModelUsage        `json:"usage"`
	Cost       float64               `json:"cost"`
	Currency   string                `json:"currency"`
	Route      string                `json:"route"`
	Considered []abi.ModelConsidered `json:"considered"`
}

func (t *Tally) model(e *journal.Entry) {
	var a modelAnswer
	if e.Status != abi.CallOK || json.Unmarshal(e.Answer, &a) != nil || a.Provider == "" || a.Model == "" {
		t.spend.failed++
		return
	}
	t.spend.add(&a)
	if a.Provider != scriptProvider {
		t.egress(Egress{Destination: a.Provider, Purpose: abi.CallLLMComplete})
	}
}

func (s *spend) add(a *modelAnswer) {
	cost := toNanos(a.Cost)
	if !s.charge(cost, a.Currency) {
		cost = 0
	}
	s.input, s.output = add(s.input, a.Usage.InputTokens), add(s.output, a.Usage.OutputTokens)
	if m := s.of(a); m != nil {
		m.cost = add(m.cost, cost)
		m.input, m.output = add(m.input, a.Usage.InputTokens), add(m.output, a.Usage.OutputTokens)
	}
	for _, c := range a.Considered {
		s.consider(ModelRef{Provider: c.Provider, Model: c.Model, Reason: c.Reason})
	}
}

// charge adds to the total, and reports whether it is in the receipt's currency:
// that of the first call that cost anything.
func (s *spend) charge(cost nanos, currency string) bool {
	if cost == 0 {
		return true
	}
	if !isCurrency(currency) {
		currency = defaultCurrency
	}
	if s.currency == "" {
		s.currency = currency
	}
	if s.currency == currency {
		s.total = add(s.total, cost)
		return true
	}
	if s.other == nil {
		s.other = map[string]nanos{}
	}
	if _, known := s.other[currency]; known || len(s.other) < maxModels {
		s.other[currency] = add(s.other[currency], cost)
	}
	return false
}

// defaultCurrency is stated where nothing cost anything.
const defaultCurrency = "USD"

func isCurrency(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return len(s) == 3
}

// of returns the entry of a model, nil when there are too many.
func (s *spend) of(a *modelAnswer) *model {
	for i := range s.models {
		if m := &s.models[i]; m.provider == a.Provider && m.name == a.Model {
			return m
		}
	}
	if len(s.models) == maxModels {
		return nil
	}
	s.models = append(s.models, model{provider: a.Provider, name: a.Model, reason: a.Route})
	return &s.models[len(s.models)-1]
}

func (s *spend) consider(m ModelRef) {
	if m.Provider == "" || m.Model == "" || len(s.considered) == maxModels {
		return
	}
	for _, c := range s.considered {
		if c == m {
			return
		}
	}
	s.considered = append(s.considered, m)
}

// route says which model answered: the first that did. Others that did are named
// as alternatives that were used as well.
func (s *spend) route() ModelRoute {
	r := ModelRoute{ChosenModel: ModelRef{Provider: "none", Model: "none"}, AlternativesConsidered: slices.Clip(s.considered),
		RoutePolicyReason: "no model was called"}
	if s.failed > 0 {
		r.RoutePolicyReason = "no model answered"
	}
	for i, m := range s.models {
		if i > 0 {
			r.AlternativesConsidered = append(r.AlternativesConsidered, ModelRef{Provider: m.provider, Model: m.name, Reason: "used as well"})
			continue
		}
		r.ChosenModel = ModelRef{Provider: m.provider, Model: m.name}
		if r.RoutePolicyReason = m.reason; m.reason == "" {
			r.RoutePolicyReason = "none was recorded"
		}
	}
	return r
}

func (s *spend) cost() Cost {
	c := Cost{Currency: s.currency, Total: s.total.amount()}
	if c.Currency == "" {
		c.Currency = defaultCurrency
	}
	for _, m := range slices.Concat(s.models, s.agents) {
		c.ProviderBreakdown = append(c.ProviderBreakdown, ProviderCost{Provider: m.provider, Model: m.name,
			Amount: m.cost.amount(), InputTokens: m.input, OutputTokens: m.output})
	}
	return c
}

// otherCosts returns the costs in other currencies; nil when there are none.
func (s *spend) otherCosts() map[string]float64 {
	if s.other == nil {
		return nil
	}
	costs := make(map[string]float64, len(s.other))
	for currency, n := range s.other {
		costs[currency] = n.amount()
	}
	return costs
}

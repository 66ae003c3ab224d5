package personas_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/personas"
)

// Options that cannot be meant are refused, with their place.
func TestOptionsOfATaskAreChecked(t *testing.T) {
	heat := func(f float64) *float64 { return &f }
	for param, some := range map[string][]*abi.RunOptions{
		"": {nil, {}, {Model: strings.Repeat("m", 256), Instructions: strings.Repeat("i", 16<<10), MaxTokens: 200_000, Temperature: heat(1)},
			{Temperature: heat(0), Budget: &abi.Budget{USD: 0.5}}},
		"run.model":             {{Model: strings.Repeat("m", 257)}},
		"run.instructions":      {{Instructions: strings.Repeat("i", 16<<10+1)}},
		"run.max_tokens":        {{MaxTokens: -1}, {MaxTokens: 200_001}},
		"run.temperature":       {{Temperature: heat(-0.01)}, {Temperature: heat(1.01)}, {Temperature: heat(math.NaN())}},
		"run.budget.usd":        {{Budget: &abi.Budget{USD: -1}}, {Budget: &abi.Budget{USD: math.Inf(1)}}},
		"run.budget.host_calls": {{Budget: &abi.Budget{HostCalls: -1}}},
	} {
		for _, run := range some {
			err := personas.CheckRun(run)
			refused, _ := errors.AsType[*abi.Error](err)
			if (err == nil) != (param == "") || refused != nil && refused.Param != param {
				t.Errorf("%+v: %v", run, err)
			}
		}
	}
}

// A Task never may more than its Persona, and never more than it was submitted to.
func TestOptionsOnlyNarrow(t *testing.T) {
	budget := func(t *rapid.T, name string) *abi.Budget {
		if rapid.Bool().Draw(t, "no "+name) {
			return nil
		}
		n := func() int64 { return rapid.Int64Range(0, 3).Draw(t, name) }
		return &abi.Budget{USD: float64(n()), InputTokens: n(), OutputTokens: n(), ToolCalls: n(), HostCalls: n(), WallTimeMS: n()}
	}
	bounds := func(b *abi.Budget, tokens int) []float64 {
		if b == nil {
			b = &abi.Budget{}
		}
		return []float64{b.USD, float64(b.InputTokens), float64(b.OutputTokens), float64(b.ToolCalls), float64(b.HostCalls), float64(b.WallTimeMS), float64(tokens)}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := &personas.Persona{Text: []byte("{}")}
		p.Budget = budget(t, "persona")
		before := 0
		if rapid.Bool().Draw(t, "policy") {
			before = rapid.IntRange(0, 3).Draw(t, "tokens")
			p.ModelPolicy = &abi.ModelPolicy{Models: []string{"m*"}, MaxTokens: before}
		}
		kept := *p
		run := &abi.RunOptions{Budget: budget(t, "run"), MaxTokens: rapid.IntRange(0, 3).Draw(t, "run tokens")}
		own, after := p.Under(run), 0
		if own.ModelPolicy != nil {
			after = own.ModelPolicy.MaxTokens
		}
		of, asked, got := bounds(p.Budget, before), bounds(run.Budget, run.MaxTokens), bounds(own.Budget, after)
		for i := range got {
			want := math.Min(of[i], asked[i])
			if of[i] == 0 || asked[i] == 0 { // no bound
				want = math.Max(of[i], asked[i])
			}
			if got[i] != want {
				t.Fatalf("of %v and %v comes %v", of, asked, got)
			}
		}
		if p.ModelPolicy != nil && (len(own.ModelPolicy.Models) != 1 || p.ModelPolicy.MaxTokens != before) || p.Budget != kept.Budget {
			t.Fatal("the Persona itself was changed, or lost a bound")
		}
	})
}

// Of the tiers of a Persona, of its Task, and of any Tasks above it, the least one holds.
func TestTiersOnlyNarrow(t *testing.T) {
	tiers := []abi.AutonomyTier{abi.TierShadow, abi.TierSuggest, abi.TierActWithApproval, abi.TierActAuto}
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.IntRange(0, 3).Draw(t, "persona")
		p := &personas.Persona{Persona: abi.Persona{AutonomyTier: tiers[least]}, Text: []byte("{}")}
		var run *abi.RunOptions
		for range rapid.IntRange(0, 4).Draw(t, "tasks") {
			own := &abi.RunOptions{Model: "m"}
			if i := rapid.IntRange(-1, 3).Draw(t, "tier"); i >= 0 {
				own.AutonomyTier, least = tiers[i], min(least, i)
			}
			if rapid.Bool().Draw(t, "no options") && own.AutonomyTier == "" {
				own = nil
			}
			run = personas.Held(own, run)
			if own != nil && run.Model != "m" {
				t.Fatal("the Task has lost an option of its own")
			}
		}
		if got := p.Under(run).AutonomyTier; got != tiers[least] {
			t.Fatalf("it acts on the tier %s, want %s", got, tiers[least])
		}
		if p.Under(&abi.RunOptions{AutonomyTier: "everything"}).AutonomyTier == abi.TierActAuto {
			t.Fatal("a tier that nobody knows lets it act")
		}
	})
}

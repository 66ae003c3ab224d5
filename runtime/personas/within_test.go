package personas

import (
	"testing"

	json "github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/policy"
)

// patterns are some that meet, and none.
func patterns(of ...string) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		if rapid.Bool().Draw(t, "none") {
			return nil
		}
		return rapid.SliceOfN(rapid.SampledFrom(of), 1, 3).Draw(t, "patterns")
	})
}

func anyPersona(id string) *rapid.Generator[*Persona] {
	return rapid.Custom(func(t *rapid.T) *Persona {
		tools := patterns("a:*", "a:x", "b:y", "*")
		calls := patterns(abi.CallToolCall, abi.CallFileWrite, abi.CallLLMComplete, abi.CallTaskSpawn, "*", "memory.*")
		p := &Persona{Persona: abi.Persona{Tools: tools.Draw(t, "tools"), ToolsDenied: tools.Draw(t, "denied"), Capabilities: calls.Draw(t, "calls"),
			Handoffs: patterns("persona_x", "persona_*").Draw(t, "handoffs"), AutonomyTier: rapid.SampledFrom(tiers).Draw(t, "tier")}}
		p.ID = id
		if rapid.Bool().Draw(t, "models") {
			p.ModelPolicy = &abi.ModelPolicy{Models: patterns("m", "n", "*").Draw(t, "models"), MaxTokens: rapid.IntRange(0, 3).Draw(t, "max")}
		}
		if rapid.Bool().Draw(t, "approvals") {
			p.Approvals = &abi.ApprovalPolicy{Quorum: rapid.IntRange(0, 3).Draw(t, "quorum"), Without: patterns("a:x", "b:y", abi.CallFileWrite).Draw(t, "without"), SelfApproval: rapid.Bool().Draw(t, "self")}
		}
		if rapid.Bool().Draw(t, "servers") {
			p.Agent = &abi.Agent{MCPServers: []abi.AgentServer{{Name: "a", Tools: patterns("x", "z*").Draw(t, "of a")}}}
		}
		return p
	})
}

func anyAction(t *rapid.T) *policy.Action {
	a := &policy.Action{Call: rapid.SampledFrom([]string{abi.CallToolCall, abi.CallFileWrite, abi.CallLLMComplete, abi.CallTaskSpawn, abi.CallMemoryWrite}).Draw(t, "call"), Effect: abi.EffectWrite}
	switch a.Call {
	case abi.CallToolCall:
		a.Tool = rapid.SampledFrom([]string{"a:x", "a:w", "b:y", "c:z"}).Draw(t, "tool")
	case abi.CallLLMComplete:
		a.Model = rapid.SampledFrom([]string{"m", "n", "o"}).Draw(t, "model")
	case abi.CallTaskSpawn:
		a.Persona = rapid.SampledFrom([]string{"persona_x", "persona_y", "other"}).Draw(t, "to")
	}
	return a
}

// freely orders what becomes of an action by how freely it is done.
var freely = map[policy.Verdict]int{policy.Deny: 0, policy.Shadow: 1, policy.Propose: 2, policy.Ask: 3, policy.Allow: 4}

// Whatever a subagent and the agents above it say, it may do nothing more freely than one of them,
// and what all of them do freely it does, too.
func TestNeverMoreThanItsParent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := []*Persona{anyPersona("child").Draw(t, "child"), anyPersona("parent").Draw(t, "parent"), anyPersona("top").Draw(t, "top")}
		middle, err := line[1].within(line[2])
		if err != nil {
			t.Fatal(err)
		}
		own, err := line[0].within(middle)
		if err != nil {
			t.Fatal(err)
		}
		var pinned abi.Persona
		if err := json.Unmarshal(own.Text, &pinned); err != nil {
			t.Fatal(err)
		}
		a, least := anyAction(t), freely[policy.Allow]
		got := freely[policy.Decide(&pinned, a).Verdict]
		for _, p := range line {
			each := freely[policy.Decide(&p.Persona, a).Verdict]
			if least = min(least, each); got > each {
				t.Errorf("%s does %v more freely (%d) than %s (%d)", own.ID, a, got, p.ID, each)
			}
		}
		if least == freely[policy.Allow] && got != least {
			t.Errorf("all may do %v, and it may not: %+v", a, policy.Decide(&pinned, a))
		}
		if most := policy.MaxTokens(&pinned, abi.Used{}); most != least3(policy.MaxTokens(&line[0].Persona, abi.Used{}), policy.MaxTokens(&line[1].Persona, abi.Used{}), policy.MaxTokens(&line[2].Persona, abi.Used{})) {
			t.Errorf("its answers have %d tokens", most)
		}
		for _, p := range line {
			if by := p.Approvals; by != nil && (pinned.Approvals.Quorum < by.Quorum || !by.SelfApproval && pinned.Approvals.SelfApproval) {
				t.Errorf("%+v is no stricter than %+v", pinned.Approvals, by)
			}
		}
	})
}

func least3(a, b, c int) int { return least(least(a, b), c) }

func TestBounds(t *testing.T) {
	budget := &abi.Budget{USD: 1, ToolCalls: 5}
	for name, c := range map[string]struct{ own, of, want *abi.RunOptions }{
		"none":      {},
		"its own":   {&abi.RunOptions{Context: "c"}, &abi.RunOptions{Model: "m", Instructions: "i"}, &abi.RunOptions{Context: "c"}},
		"another's": {nil, &abi.RunOptions{MaxTokens: 3, Budget: budget}, &abi.RunOptions{MaxTokens: 3, Budget: budget}},
		"both":      {&abi.RunOptions{MaxTokens: 2, Context: "c", Budget: &abi.Budget{USD: 2}}, &abi.RunOptions{MaxTokens: 3, Budget: budget}, &abi.RunOptions{MaxTokens: 2, Context: "c", Budget: budget}},
	} {
		got, _ := json.Marshal(Bounds(c.own, c.of), json.Deterministic(true))
		want, _ := json.Marshal(c.want, json.Deterministic(true))
		if string(got) != string(want) {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
}

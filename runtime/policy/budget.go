package policy

import (
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// Exhausted says which part of a budget leaves nothing for a call; "" when there is
// some of all that the call takes. One call may pass what is left of money and input
// tokens: what it takes is known when it has been answered.
func Exhausted(b *abi.Budget, a *Action, used abi.Used) string {
	call, want := a.Call, a.Budget
	switch {
	case over(b.HostCalls, used.HostCalls) && !always[call] && call != abi.CallMessageAppend:
		return fmt.Sprintf("host_calls, %d", b.HostCalls)
	case abi.CountsAsTool(call) && over(b.ToolCalls, used.ToolCalls):
		return fmt.Sprintf("tool_calls, %d", b.ToolCalls)
	case call == abi.CallAgentDelegate && lacks(b.USD, used.Spent, want.USD):
		return fmt.Sprintf("usd, %g, of which a delegation states in its budget what it may use", b.USD)
	case call == abi.CallAgentDelegate && lacks(b.OutputTokens, used.OutputTokens, want.Tokens):
		return fmt.Sprintf("output_tokens, %d, of which a delegation states in its budget what it may use", b.OutputTokens)
	case call != abi.CallLLMComplete:
		return ""
	case over(b.USD, used.Spent):
		return fmt.Sprintf("usd, %g", b.USD)
	case over(b.InputTokens, used.InputTokens):
		return fmt.Sprintf("input_tokens, %d", b.InputTokens)
	case over(b.OutputTokens, used.OutputTokens):
		return fmt.Sprintf("output_tokens, %d", b.OutputTokens)
	}
	return ""
}

// lacks reports whether a bounded amount has too little left for so much, of which 0 is no bound.
func lacks[N int64 | float64](limit, used, want N) bool {
	return limit > 0 && (want == 0 || want > limit-used)
}

func over[N int64 | float64](limit, used N) bool { return limit > 0 && used >= limit }

// MaxTokens is the most that one answer of a model may have; 0 for no bound.
func MaxTokens(p *abi.Persona, used abi.Used) int {
	limit := 0
	if p.ModelPolicy != nil {
		limit = p.ModelPolicy.MaxTokens
	}
	if p.Budget == nil || p.Budget.OutputTokens == 0 {
		return limit
	}
	left := int(max(1, p.Budget.OutputTokens-used.OutputTokens))
	if limit == 0 || left < limit {
		return left
	}
	return limit
}

// EndOfTime returns when a Task has used up its Persona's time; zero for never. Time
// runs from the Task's start, also while it waits.
func EndOfTime(p *abi.Persona, started time.Time) time.Time {
	if p.Budget == nil || p.Budget.WallTimeMS == 0 || started.IsZero() {
		return time.Time{}
	}
	return started.Add(time.Duration(min(p.Budget.WallTimeMS, int64(abi.MaxWaitSeconds)*1000)) * time.Millisecond)
}

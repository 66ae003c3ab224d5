package personas

import (
	"cmp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// Limits of what one Task wants otherwise than its Persona.
const (
	maxModelName    = 256
	maxInstructions = 16 << 10 // bytes: a Task holds them as long as it lives
	maxAnswerTokens = 200_000
	hottest         = 1.0
)

// CheckRun refuses options of a Task that cannot be meant.
func CheckRun(run *abi.RunOptions) error {
	switch {
	case run == nil:
		return nil
	case len(run.Instructions) > maxInstructions:
		return abi.InvalidParam("run.instructions", "instructions have at most %d bytes; longer ones belong to a persona", maxInstructions)
	case len(run.Context) > maxInstructions:
		return abi.InvalidParam("run.context", "context has at most %d bytes; more belongs to the instructions of a persona", maxInstructions)
	}
	return desk.Within("run", cmp.Or(checkOptions(run), checkBudget(run.Budget), checkRunTier(run.AutonomyTier)))
}

// checkRunTier refuses a tier that there is not.
func checkRunTier(tier abi.AutonomyTier) error {
	if tier == "" {
		return nil
	}
	return desk.CheckOneOf("autonomy_tier", tier, tiers...)
}

// Held returns the options of a Task that one with others has brought about: it acts on no higher
// tier.
func Held(own, of *abi.RunOptions) *abi.RunOptions {
	if of == nil || of.AutonomyTier == "" {
		return own
	}
	both := abi.RunOptions{}
	if own != nil {
		both = *own
	}
	both.AutonomyTier = lower(cmp.Or(both.AutonomyTier, of.AutonomyTier), of.AutonomyTier)
	return &both
}

// checkOptions refuses options for models that cannot be meant.
func checkOptions(run *abi.RunOptions) error {
	switch {
	case len(run.Model) > maxModelName:
		return abi.InvalidParam("model", "model has at most %d bytes", maxModelName)
	case run.MaxTokens < 0 || run.MaxTokens > maxAnswerTokens:
		return abi.InvalidParam("max_tokens", "max_tokens is 0, for no bound, to %d", maxAnswerTokens)
	case run.Temperature != nil && !(*run.Temperature >= 0 && *run.Temperature <= hottest):
		return abi.InvalidParam("temperature", "temperature is 0 to 1")
	}
	return nil
}

// Within returns the options of a Task in a Session that has a context or a model of its own: the
// Session's context comes before the Task's, and its model is for a Task that names none. The Task
// keeps them, so a change of the Session changes no Task before it.
func Within(s *abi.Session, run *abi.RunOptions) *abi.RunOptions {
	if s.Context == "" && (s.Model == "" || run != nil && run.Model != "") {
		return run
	}
	both := abi.RunOptions{}
	if run != nil {
		both = *run
	}
	both.Model = cmp.Or(both.Model, s.Model)
	switch {
	case both.Context == "":
		both.Context = s.Context
	case s.Context != "":
		both.Context = s.Context + "\n\n" + both.Context
	}
	return &both
}

// Under returns the Persona as a Task with options of its own runs under it: its bounds are the
// narrower ones of both. What the plugin is told of the Persona stays as it is.
func (p *Persona) Under(run *abi.RunOptions) *Persona {
	if run == nil || run.Budget == nil && run.MaxTokens == 0 && run.AutonomyTier == "" {
		return p
	}
	own := *p
	own.AutonomyTier = lower(p.AutonomyTier, cmp.Or(run.AutonomyTier, p.AutonomyTier))
	own.Budget = narrower(p.Budget, run.Budget)
	if run.MaxTokens > 0 {
		models := abi.ModelPolicy{}
		if p.ModelPolicy != nil {
			models = *p.ModelPolicy
		}
		models.MaxTokens = least(models.MaxTokens, run.MaxTokens)
		own.ModelPolicy = &models
	}
	return &own
}

// narrower returns the budget that keeps both; nil is none.
func narrower(a, b *abi.Budget) *abi.Budget {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &abi.Budget{USD: least(a.USD, b.USD), InputTokens: least(a.InputTokens, b.InputTokens), OutputTokens: least(a.OutputTokens, b.OutputTokens),
		ToolCalls: least(a.ToolCalls, b.ToolCalls), HostCalls: least(a.HostCalls, b.HostCalls), WallTimeMS: least(a.WallTimeMS, b.WallTimeMS)}
}

// least returns the smaller bound, of which 0 is none.
func least[N int | int64 | float64](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Bounds returns the options of a Task that another Task has given its work: its own, within the
// bounds of the other's.
func Bounds(own, of *abi.RunOptions) *abi.RunOptions {
	if of == nil || of.Budget == nil && of.MaxTokens == 0 {
		return own
	}
	both := abi.RunOptions{}
	if own != nil {
		both = *own
	}
	both.Budget, both.MaxTokens = narrower(both.Budget, of.Budget), least(both.MaxTokens, of.MaxTokens)
	return &both
}

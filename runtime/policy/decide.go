package policy

import (
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// Verdict is what becomes of an Action.
type Verdict int

// The verdicts.
const (
	Allow   Verdict = iota // it is done
	Deny                   // it is refused
	Shadow                 // it is left out, and told as what would have been done
	Propose                // it is left out, and told as a proposal
	Ask                    // it is done when somebody has approved it
)

// The codes that a plugin reads when a call was not made.
const (
	CodeCapability = "capability_denied" // the Persona's capabilities do not have the host call
	CodeTool       = "tool_denied"       // nor its tools the tool
	CodeHandoff    = "handoff_denied"    // nor its handoffs the other Persona
	CodeModel      = "model_denied"      // nor its model policy the model
	CodeShadow     = "shadow"            // the tier shadow leaves writes out
	CodeProposed   = "proposed"          // the tier suggest makes proposals of them
)

// What stands in patterns of SERVER:TOOL for what a server has besides its tools: the names
// of the protocol's own methods.
const (
	ReadsResources = "resources/read" // to list and read its resources, and list its templates
	ReadsPrompts   = "prompts/get"    // to list and get its prompts
	Delegates      = "delegate"       // to have an agent outside do paid work
)

// Reads returns what stands for a kind of what a server has.
func Reads(kind abi.ResourceKind) string {
	if kind == abi.KindPrompt {
		return ReadsPrompts
	}
	return ReadsResources
}

// Action is a host call, as far as policy looks at it. Members that do not belong
// to the call are empty.
type Action struct {
	Call string
	// Effect is what this very call is, where that varies: abi.EffectRead or
	// abi.EffectWrite.
	Effect abi.Effect
	Tool   string // of a tool.call: SERVER:TOOL; of what is read of a server: SERVER:resources/read or SERVER:prompts/get
	// Stands is the host call that a tool of the node stands for, where the tool is held to what
	// holds for that call.
	Stands string
	// Persona is whom work goes to: of a handoff, a task.spawn, or a tool that is a
	// Persona.
	Persona  string
	Scope    abi.MemoryScope // of a memory.write
	Model    string          // of an llm.complete, when it is known: the configured name
	Provider string          // and who answers for it
	Target   string          // where an http.fetch goes, or the file or block that is changed, for people
	By       string          // the client's actor that a tool.call goes to, for people
	// Of a tool.call: its definition says that it can destroy something, or that it reaches what
	// is not its server's own.
	Destructive, OpenWorld bool
	Paths                  []string             // the files that the request names as what it changes
	Budget                 abi.DelegationBudget // of an agent.delegate: what the agent outside may use
	Composition            string               // that a tool.call says it is a child of
}

// Decision is what becomes of an Action, and why it is not simply done.
type Decision struct {
	Verdict Verdict
	Code    string // of all but Allow and Ask: what the plugin is told
	Message string
	Rule    string // of Ask: the name of the rule by which somebody is asked
}

// The rules by which somebody is asked. Their names stand in receipts, and stay.
const (
	RuleTier  = "autonomy_tier." + string(abi.TierActWithApproval) // a write on that tier
	RuleSkill = "skill.requires_approval"                          // the Skill says so, on every tier
	RuleAgent = "agent.delegate"                                   // work is dispatched to an agent outside, on every tier
)

// Decide says what becomes of an Action of a Task that runs as p.
func Decide(p *abi.Persona, a *Action) Decision {
	if d := Permit(p, a); d.Verdict != Allow {
		return d
	}
	if !Leaves(p, a) {
		return Decision{}
	}
	switch p.AutonomyTier {
	case abi.TierActAuto:
		if a.Call == abi.CallAgentDelegate && (p.Approvals == nil || !a.matches(p.Approvals.Without)) {
			return Decision{Verdict: Ask, Rule: RuleAgent}
		}
		return Decision{}
	case abi.TierActWithApproval:
		if p.Approvals != nil && a.matches(p.Approvals.Without) {
			return Decision{}
		}
		return Decision{Verdict: Ask, Rule: RuleTier}
	case abi.TierSuggest:
		return Decision{Verdict: Propose, Code: CodeProposed, Message: fmt.Sprintf("%s was not done: it was noted as a proposal, for persona %s only suggests", a, p.ID)}
	}
	// A tier that is not known may do no more than the least.
	return Decision{Verdict: Shadow, Code: CodeShadow, Message: fmt.Sprintf("%s was not done: it was noted as what would have been done, for persona %s acts in the shadow", a, p.ID)}
}

// Permit says whether a Task that runs as p may make a call at all: Allow or Deny.
// It needs no Effect. What p is within may be denied it, too.
func Permit(p *abi.Persona, a *Action) Decision {
	own := RightsOf(p)
	d := permit(&own, a)
	for i := 0; d.Verdict == Allow && i < len(p.Within); i++ {
		d = permit(&p.Within[i], a)
	}
	return d
}

// RightsOf returns what a Persona may do, as far as that bounds its subagents, too.
func RightsOf(p *abi.Persona) abi.Rights {
	r := abi.Rights{PersonaID: p.ID, Tools: p.Tools, ToolsDenied: p.ToolsDenied, Capabilities: p.Capabilities, Handoffs: p.Handoffs, ModelPolicy: p.ModelPolicy}
	if p.Agent != nil {
		r.MCPServers = p.Agent.MCPServers
	}
	return r
}

func permit(r *abi.Rights, a *Action) Decision {
	switch {
	case len(r.Capabilities) > 0 && !always[a.Call] && !MatchAny(r.Capabilities, a.Call):
		return deny(CodeCapability, "persona %s may not make the host call %s: its capabilities do not name it", r.PersonaID, a.Call)
	case a.Tool != "" && MatchAny(r.ToolsDenied, a.Tool):
		return deny(CodeTool, "persona %s may not %s %s: its tools_denied name it", r.PersonaID, verb(a), a.Tool)
	case a.Tool != "" && !countsOn(r.MCPServers, a.Tool):
		return deny(CodeTool, "persona %s may not %s %s: of this server its agent.mcp_servers name other tools", r.PersonaID, verb(a), a.Tool)
	case len(r.Capabilities) > 0 && a.Stands != "" && !MatchAny(r.Capabilities, a.Stands):
		return deny(CodeCapability, "persona %s may not call the tool %s: its capabilities do not name the host call %s that it stands for", r.PersonaID, a.Tool, a.Stands)
	case a.Tool != "" && len(r.Tools) > 0 && !MatchAny(r.Tools, a.Tool):
		return deny(CodeTool, "persona %s may not %s %s: its tools do not name it", r.PersonaID, verb(a), a.Tool)
	case r.Handoffs != nil && a.elsewhere(r.PersonaID) && !MatchAny(r.Handoffs, a.Persona):
		return deny(CodeHandoff, "persona %s may not hand work to persona %s: its handoffs do not name it", r.PersonaID, a.Persona)
	case a.Model != "" && r.ModelPolicy != nil && !allowsModel(r.ModelPolicy, a):
		return deny(CodeModel, "persona %s may not ask the model %q of the provider %q: its model policy does not name them", r.PersonaID, a.Model, a.Provider)
	}
	return Decision{}
}

// OffersAll reports whether a Persona may use every tool that there is.
func OffersAll(p *abi.Persona) bool {
	return len(p.Tools) == 0 && len(p.ToolsDenied) == 0 && p.Handoffs == nil && (p.Agent == nil || len(p.Agent.MCPServers) == 0) && len(p.Within) == 0
}

// countsOn reports whether an agent that counts on some servers may use a tool: of a server that
// it names tools of, those alone.
func countsOn(servers []abi.AgentServer, tool string) bool {
	server, name, _ := strings.Cut(tool, ":")
	for i := range servers {
		if s := &servers[i]; s.Name == server && len(s.Tools) > 0 {
			return MatchAny(s.Tools, name)
		}
	}
	return true
}

func verb(a *Action) string {
	if a.Call == abi.CallToolCall {
		return "call the tool"
	}
	return "use"
}

func deny(code, format string, args ...any) Decision {
	return Decision{Verdict: Deny, Code: code, Message: fmt.Sprintf(format, args...)}
}

// always are the recorded calls that need no capability: without them no plugin
// could run.
var always = map[string]bool{
	abi.CallInput: true, abi.CallOutput: true, abi.CallClock: true, abi.CallRandom: true, abi.CallID: true,
}

func allowsModel(m *abi.ModelPolicy, a *Action) bool {
	return (len(m.Models) == 0 || MatchAny(m.Models, a.Model)) && (len(m.Providers) == 0 || MatchAny(m.Providers, a.Provider))
}

// Leaves reports whether a call changes something beyond the Task and its Session:
// that is what an autonomy tier holds back.
func Leaves(p *abi.Persona, a *Action) bool {
	switch a.Call {
	case abi.CallToolCall:
		return a.Effect == abi.EffectWrite && (a.Persona == "" || a.elsewhere(p.ID))
	case abi.CallHTTPFetch, abi.CallAgentDelegate:
		return a.Effect == abi.EffectWrite
	case abi.CallTaskSpawn, abi.CallHandoff:
		return a.elsewhere(p.ID)
	case abi.CallMemoryWrite:
		return a.Scope != abi.MemorySession
	case abi.CallDeliver, abi.CallBlockWrite, abi.CallFileWrite, abi.CallFileEdit, abi.CallFileRemove:
		return true
	}
	return false
}

// Risks labels an Action of a Task that runs as p, by what its call is and what the definition
// of its tool says. It guesses nothing from arguments.
func Risks(p *abi.Persona, a *Action) (labels []abi.RiskLabel) {
	for _, risk := range []struct {
		label abi.RiskLabel
		holds bool
	}{
		{abi.RiskWrite, Leaves(p, a)},
		{abi.RiskDestructive, a.Destructive || a.Call == abi.CallFileRemove},
		{abi.RiskOpenWorld, a.OpenWorld || a.Call == abi.CallHTTPFetch || a.Call == abi.CallDeliver || a.Call == abi.CallAgentDelegate},
		{abi.RiskDelegation, a.elsewhere(p.ID) || a.Call == abi.CallAgentDelegate},
	} {
		if risk.holds {
			labels = append(labels, risk.label)
		}
	}
	return labels
}

// elsewhere reports whether the Action makes another Persona work than the named one.
func (a *Action) elsewhere(persona string) bool { return a.Persona != "" && a.Persona != persona }

// matches reports whether patterns of tools and host calls name the Action.
func (a *Action) matches(patterns []string) bool {
	return MatchAny(patterns, a.Call) || a.Tool != "" && MatchAny(patterns, a.Tool) || a.Stands != "" && MatchAny(patterns, a.Stands)
}

// String names the Action for people.
func (a *Action) String() string {
	for _, target := range []string{a.Tool, a.Persona, string(a.Scope), a.Target} {
		if target != "" {
			return a.Call + " " + target + a.by()
		}
	}
	return a.Call
}

func (a *Action) by() string {
	if a.By == "" {
		return ""
	}
	return " of " + a.By
}

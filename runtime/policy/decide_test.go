package policy_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/policy"
)

var update = flag.Bool("update", false, "rewrite the table in docs/policy.md")

var tiers = []abi.AutonomyTier{abi.TierShadow, abi.TierSuggest, abi.TierActWithApproval, abi.TierActAuto}

var verdicts = map[policy.Verdict]string{policy.Allow: "done", policy.Deny: "denied", policy.Shadow: "left out", policy.Propose: "proposed", policy.Ask: "asked"}

// variant is a host call as far as its tier depends on it.
type variant struct {
	name   string
	action policy.Action
}

// variants are those of a call for which not one rule holds.
func variants(call abi.HostCall) []variant {
	of := func(name string, a policy.Action) variant {
		a.Call = call.Name
		return variant{"`" + call.Name + "`" + name, a}
	}
	switch call.Name {
	case abi.CallToolCall:
		return []variant{of(" of a read-only tool", policy.Action{Tool: "s:t", Effect: abi.EffectRead}),
			of(" of any other tool", policy.Action{Tool: "s:t", Effect: abi.EffectWrite}),
			of(" of another Persona", policy.Action{Tool: "skills:persona_b", Persona: "persona_b", Effect: abi.EffectWrite}),
			of(" of the same Persona", policy.Action{Tool: "skills:persona_a", Persona: "persona_a", Effect: abi.EffectWrite})}
	case abi.CallHTTPFetch:
		return []variant{of(" with GET or HEAD", policy.Action{Effect: abi.EffectRead}), of(" with any other method", policy.Action{Effect: abi.EffectWrite})}
	case abi.CallAgentDelegate:
		return []variant{of(" as far as the checkpoint", policy.Action{Effect: abi.EffectRead}), of(" that dispatches", policy.Action{Effect: abi.EffectWrite})}
	case abi.CallTaskSpawn, abi.CallHandoff:
		return []variant{of(" to the same Persona", policy.Action{Persona: "persona_a"}), of(" to another Persona", policy.Action{Persona: "persona_b"})}
	case abi.CallMemoryWrite:
		return []variant{of(" for the Session", policy.Action{Scope: abi.MemorySession}), of(" beyond the Session", policy.Action{Scope: abi.MemoryTenant})}
	}
	return []variant{of("", policy.Action{Effect: call.Effect})}
}

// table is what becomes of every host call on every tier, in Markdown.
func table() string {
	var b strings.Builder
	b.WriteString("| host call | shadow | suggest | act_with_approval | act_auto |\n|---|---|---|---|---|\n")
	for _, call := range abi.HostCalls() {
		if call.Effect == abi.EffectHint || call.Effect == abi.EffectGiven {
			continue // they are not recorded, and change nothing
		}
		for _, v := range variants(call) {
			b.WriteString("| " + v.name)
			for _, tier := range tiers {
				p := &abi.Persona{Envelope: abi.Envelope{ID: "persona_a"}, AutonomyTier: tier}
				b.WriteString(" | " + verdicts[policy.Decide(p, &v.action).Verdict])
			}
			b.WriteString(" |\n")
		}
	}
	return b.String()
}

// The table in the documentation is what is done: a new host call is a line that
// somebody has to look at.
func TestTiersAreAsDocumented(t *testing.T) {
	const begin, end = "<!-- tiers -->\n", "<!-- /tiers -->"
	file := filepath.Join("..", "..", "docs", "policy.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	documented, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no table between %q and %q", file, begin, end)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+table()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := table(); got != documented {
		t.Errorf("docs/policy.md says\n%s\nand policy does\n%s\nrun the test with -update and look at the difference", documented, got)
	}
}

func TestPermit(t *testing.T) {
	const self = "persona_a"
	for name, test := range map[string]struct {
		persona abi.Persona
		action  policy.Action
		code    string
	}{
		"empty lists restrict nothing":          {abi.Persona{Tools: []string{}, Capabilities: []string{}}, policy.Action{Call: abi.CallToolCall, Tool: "s:t"}, ""},
		"capability":                            {abi.Persona{Capabilities: []string{"tool.*"}}, policy.Action{Call: abi.CallToolCall, Tool: "s:t"}, ""},
		"no capability":                         {abi.Persona{Capabilities: []string{"tool.*"}}, policy.Action{Call: abi.CallHTTPFetch}, policy.CodeCapability},
		"waits need one too":                    {abi.Persona{Capabilities: []string{"tool.*"}}, policy.Action{Call: abi.CallSleep}, policy.CodeCapability},
		"output needs none":                     {abi.Persona{Capabilities: []string{"tool.*"}}, policy.Action{Call: abi.CallOutput}, ""},
		"tool":                                  {abi.Persona{Tools: []string{"x:*", "s:t"}}, policy.Action{Call: abi.CallToolCall, Tool: "s:t"}, ""},
		"no tool":                               {abi.Persona{Tools: []string{"s:t"}}, policy.Action{Call: abi.CallToolCall, Tool: "s:tt"}, policy.CodeTool},
		"a server's name is not a tool's":       {abi.Persona{Tools: []string{"*:get"}}, policy.Action{Call: abi.CallToolCall, Tool: "get:put"}, policy.CodeTool},
		"denied":                                {abi.Persona{ToolsDenied: []string{"s:*"}}, policy.Action{Call: abi.CallToolCall, Tool: "s:t"}, policy.CodeTool},
		"denied, whatever is allowed":           {abi.Persona{Tools: []string{"*"}, ToolsDenied: []string{"s:t"}}, policy.Action{Call: abi.CallToolCall, Tool: "s:t"}, policy.CodeTool},
		"another is denied":                     {abi.Persona{Tools: []string{"*"}, ToolsDenied: []string{"s:t"}}, policy.Action{Call: abi.CallToolCall, Tool: "s:tt"}, ""},
		"denied resources":                      {abi.Persona{ToolsDenied: []string{"s:*"}}, policy.Action{Call: abi.CallResourceRead, Tool: "s:resources/read"}, policy.CodeTool},
		"an agent's server":                     {abi.Persona{Agent: serving("s", "t")}, policy.Action{Call: abi.CallToolCall, Tool: "s:t"}, ""},
		"another tool of it":                    {abi.Persona{Agent: serving("s", "t")}, policy.Action{Call: abi.CallToolCall, Tool: "s:u"}, policy.CodeTool},
		"all of it":                             {abi.Persona{Agent: serving("s")}, policy.Action{Call: abi.CallToolCall, Tool: "s:u"}, ""},
		"another server":                        {abi.Persona{Agent: serving("s", "t")}, policy.Action{Call: abi.CallToolCall, Tool: "r:u"}, ""},
		"resources":                             {abi.Persona{Tools: []string{"s:resources/*"}}, policy.Action{Call: abi.CallResourceRead, Tool: "s:resources/read"}, ""},
		"no prompts":                            {abi.Persona{Tools: []string{"s:resources/*"}}, policy.Action{Call: abi.CallPromptGet, Tool: "s:prompts/get"}, policy.CodeTool},
		"a tool is no resource":                 {abi.Persona{Tools: []string{"s:read_*"}}, policy.Action{Call: abi.CallResourceList, Tool: "s:resources/read"}, policy.CodeTool},
		"tool.* is no resource":                 {abi.Persona{Capabilities: []string{"tool.*"}}, policy.Action{Call: abi.CallResourceRead, Tool: "s:resources/read"}, policy.CodeCapability},
		"handoff to anybody":                    {abi.Persona{}, policy.Action{Call: abi.CallHandoff, Persona: "persona_b"}, ""},
		"handoff":                               {abi.Persona{Handoffs: []string{"persona_b*"}}, policy.Action{Call: abi.CallHandoff, Persona: "persona_bb"}, ""},
		"no handoff":                            {abi.Persona{Handoffs: []string{}}, policy.Action{Call: abi.CallTaskSpawn, Persona: "persona_b"}, policy.CodeHandoff},
		"a tool that is a persona":              {abi.Persona{Handoffs: []string{}}, policy.Action{Call: abi.CallToolCall, Tool: "skills:persona_b", Persona: "persona_b"}, policy.CodeHandoff},
		"oneself":                               {abi.Persona{Handoffs: []string{}}, policy.Action{Call: abi.CallTaskSpawn, Persona: self}, ""},
		"the default of a spawn is oneself":     {abi.Persona{Handoffs: []string{}}, policy.Action{Call: abi.CallTaskSpawn}, ""},
		"model":                                 {abi.Persona{ModelPolicy: &abi.ModelPolicy{Models: []string{"small-*"}}}, policy.Action{Call: abi.CallLLMComplete, Model: "small-1", Provider: "p"}, ""},
		"no model":                              {abi.Persona{ModelPolicy: &abi.ModelPolicy{Models: []string{"small-*"}}}, policy.Action{Call: abi.CallLLMComplete, Model: "large", Provider: "p"}, policy.CodeModel},
		"no provider":                           {abi.Persona{ModelPolicy: &abi.ModelPolicy{Providers: []string{"q"}}}, policy.Action{Call: abi.CallLLMComplete, Model: "large", Provider: "p"}, policy.CodeModel},
		"which model is not known yet":          {abi.Persona{ModelPolicy: &abi.ModelPolicy{Providers: []string{"q"}}}, policy.Action{Call: abi.CallLLMComplete}, ""},
		"a policy of tokens restricts no model": {abi.Persona{ModelPolicy: &abi.ModelPolicy{MaxTokens: 1}}, policy.Action{Call: abi.CallLLMComplete, Model: "m", Provider: "p"}, ""},
	} {
		test.persona.ID = self
		if d := policy.Permit(&test.persona, &test.action); d.Code != test.code || (d.Verdict == policy.Deny) != (test.code != "") {
			t.Errorf("%s: %+v, want the code %q", name, d, test.code)
		}
	}
}

// serving is an agent that counts on a server, and on some tools of it.
func serving(server string, tools ...string) *abi.Agent {
	return &abi.Agent{MCPServers: []abi.AgentServer{{Name: server, Tools: tools}}}
}

// What needs no approval is named by its tool or its host call.
func TestWithout(t *testing.T) {
	write := policy.Action{Call: abi.CallToolCall, Tool: "fs:write", Effect: abi.EffectWrite}
	for without, want := range map[string]policy.Verdict{"fs:*": policy.Allow, "tool.call": policy.Allow, "*": policy.Allow, "write": policy.Ask, "http.*": policy.Ask} {
		p := &abi.Persona{AutonomyTier: abi.TierActWithApproval, Approvals: &abi.ApprovalPolicy{Without: []string{without}}}
		if d := policy.Decide(p, &write); d.Verdict != want {
			t.Errorf("without %q: %+v", without, d)
		}
	}
}

// A tier that nobody knows does nothing, and what is denied is denied on every tier.
func TestNothingIsDoneByMistake(t *testing.T) {
	write := &policy.Action{Call: abi.CallToolCall, Tool: "fs:write", Effect: abi.EffectWrite}
	if d := policy.Decide(&abi.Persona{AutonomyTier: "new"}, write); d.Verdict != policy.Shadow {
		t.Errorf("a tier that is not known: %+v", d)
	}
	for _, tier := range tiers {
		if d := policy.Decide(&abi.Persona{AutonomyTier: tier, Tools: []string{"none"}}, write); d.Verdict != policy.Deny {
			t.Errorf("%s: %+v", tier, d)
		}
	}
}

func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{{"", ""}, {"*", "anything"}, {"a*b*c", "abc"}, {"a*a", "a"}, {"**", ""}, {"fs:*", "fs:write"}, {"*x", "xx"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 40 || len(name) > 40 {
			return
		}
		if got, want := policy.Match(pattern, name), slowMatch(pattern, name); got != want {
			t.Errorf("%q fits %q: %v, want %v", name, pattern, got, want)
		}
	})
}

// slowMatch says the same by its definition.
func slowMatch(pattern, name string) bool {
	fits := make([]bool, len(name)+1) // of the pattern so far: the beginnings of name that it fits
	fits[0] = true
	for i := range len(pattern) {
		next := make([]bool, len(name)+1)
		for j := range next {
			if pattern[i] == '*' {
				next[j] = fits[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && fits[j-1] && name[j-1] == pattern[i]
			}
		}
		fits = next
	}
	return fits[len(name)]
}

func ExampleDecide() {
	scribe := &abi.Persona{Envelope: abi.Envelope{ID: "persona_scribe"}, AutonomyTier: abi.TierSuggest, Tools: []string{"fs:*"}}
	for _, tool := range []string{"fs:write", "mail:send"} {
		d := policy.Decide(scribe, &policy.Action{Call: abi.CallToolCall, Tool: tool, Effect: abi.EffectWrite})
		fmt.Println(d.Code)
	}
	// Output:
	// proposed
	// tool_denied
}

// The labels of a call follow from what it is and from its tool's definition.
func TestRisks(t *testing.T) {
	p := &abi.Persona{Envelope: abi.Envelope{ID: "persona_a"}}
	for name, test := range map[string]struct {
		action policy.Action
		want   string
	}{
		"a tool that writes":            {policy.Action{Call: abi.CallToolCall, Tool: "s:t", Effect: abi.EffectWrite}, "[write]"},
		"one that can destroy":          {policy.Action{Call: abi.CallToolCall, Tool: "s:t", Effect: abi.EffectWrite, Destructive: true}, "[write destructive]"},
		"one that goes elsewhere":       {policy.Action{Call: abi.CallToolCall, Tool: "s:t", Effect: abi.EffectWrite, OpenWorld: true}, "[write open_world]"},
		"one that reads from elsewhere": {policy.Action{Call: abi.CallToolCall, Tool: "s:t", Effect: abi.EffectRead, OpenWorld: true}, "[open_world]"},
		"one that reads":                {policy.Action{Call: abi.CallToolCall, Tool: "s:t", Effect: abi.EffectRead}, "[]"},
		"a skill of another":            {policy.Action{Call: abi.CallToolCall, Tool: "skills:b", Persona: "persona_b", Effect: abi.EffectWrite}, "[write delegation]"},
		"a file":                        {policy.Action{Call: abi.CallFileWrite, Effect: abi.EffectWrite}, "[write]"},
		"a file's text":                 {policy.Action{Call: abi.CallFileEdit, Effect: abi.EffectWrite}, "[write]"},
		"a file by a tool":              {policy.Action{Call: abi.CallToolCall, Tool: "host:file_write", Stands: abi.CallFileWrite, Effect: abi.EffectWrite}, "[write]"},
		"a file that goes":              {policy.Action{Call: abi.CallFileRemove, Effect: abi.EffectWrite}, "[write destructive]"},
		"a request":                     {policy.Action{Call: abi.CallHTTPFetch, Effect: abi.EffectWrite}, "[write open_world]"},
		"a delivery":                    {policy.Action{Call: abi.CallDeliver, Effect: abi.EffectWrite}, "[write open_world]"},
		"a handoff":                     {policy.Action{Call: abi.CallHandoff, Persona: "persona_b"}, "[write delegation]"},
		"a spawn of oneself":            {policy.Action{Call: abi.CallTaskSpawn, Persona: "persona_a"}, "[]"},
		"a memory of all":               {policy.Action{Call: abi.CallMemoryWrite, Scope: abi.MemoryTenant}, "[write]"},
	} {
		if got := fmt.Sprint(policy.Risks(p, &test.action)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// A tool of the node that stands for a host call is held to what a Persona says of that call.
func TestToolsThatStandForCalls(t *testing.T) {
	tool := &policy.Action{Call: abi.CallToolCall, Tool: "host:file_write", Stands: abi.CallFileWrite, Effect: abi.EffectWrite}
	for name, test := range map[string]struct {
		persona abi.Persona
		want    policy.Verdict
	}{
		"no capabilities":     {abi.Persona{AutonomyTier: abi.TierActAuto}, policy.Allow},
		"the tool alone":      {abi.Persona{AutonomyTier: abi.TierActAuto, Capabilities: []string{"tool.*"}}, policy.Deny},
		"both":                {abi.Persona{AutonomyTier: abi.TierActAuto, Capabilities: []string{"tool.*", "file.write"}}, policy.Allow},
		"asked":               {abi.Persona{AutonomyTier: abi.TierActWithApproval}, policy.Ask},
		"the call needs none": {abi.Persona{AutonomyTier: abi.TierActWithApproval, Approvals: &abi.ApprovalPolicy{Without: []string{"file.*"}}}, policy.Allow},
	} {
		if d := policy.Decide(&test.persona, tool); d.Verdict != test.want {
			t.Errorf("%s: %+v, want %d", name, d, test.want)
		}
	}
}

package personas_test

import (
	"math"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
)

// agentRequest asks for an agent of Workspace.
func agentRequest(name string, a abi.Agent) abi.CreatePersonaRequest {
	req := request()
	req.Name, req.WorkspaceID, req.Agent = name, roomtest.Workspace, &a
	return req
}

// What an agent is told and may use is policy: a change is a new version, and what is no agent any
// client may not make one of.
func TestAnAgentIsPolicy(t *testing.T) {
	r := newRoom(t)
	req := agentRequest("a", abi.Agent{Instructions: "Help.", Model: "m", VendorKey: "v", AgentKey: "k"})
	req.ToolsDenied = []string{"fs:*"}
	doc, err := r.CreatePersona(t.Context(), r.Root(), nil, req)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []abi.UpdatePersonaRequest{
		{Agent: &abi.Agent{Instructions: "Help!", Model: "m", VendorKey: "v", AgentKey: "k"}}, {ToolsDenied: []string{}},
		{Agent: &abi.Agent{Instructions: "Help!", Model: "m", VendorKey: "v", AgentKey: "k"}}, // nothing changes
		{Name: new("b")}, {Description: new("d")},
	} {
		if _, err := r.UpdatePersona(t.Context(), r.Root(), nil, doc.ID, change); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.versions(t, doc.ID); got != "3 2 1" {
		t.Errorf("its versions are %s", got)
	}
	r.Crash()
	r.start(t, "1")
	p, err := r.Persona(t.Context(), roomtest.Tenant, doc.ID)
	if err != nil || p.Agent.Instructions != "Help!" || len(p.ToolsDenied) != 0 || p.Name != "b" {
		t.Errorf("%+v, %v", p, err)
	}
	clone, err := r.ClonePersona(t.Context(), r.Root(), nil, doc.ID, abi.ClonePersonaRequest{Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if c := roomtest.As[abi.Persona](t, clone); c.Agent.Instructions != "Help!" || c.Agent.AgentKey != "" {
		t.Errorf("the clone is %+v", c.Agent)
	}
}

// An agent that cannot be meant is refused with its place.
func TestAgentsAreChecked(t *testing.T) {
	r := newRoom(t)
	heat := func(f float64) *float64 { return &f }
	doc, err := r.CreatePersona(t.Context(), r.Root(), nil, agentRequest("parent", abi.Agent{}))
	if err != nil {
		t.Fatal(err)
	}
	other := agentRequest("elsewhere", abi.Agent{})
	other.WorkspaceID = "ws_2"
	r.NewWorkspace(t, "ws_2")
	far, err := r.CreatePersona(t.Context(), r.Root(), nil, other)
	if err != nil {
		t.Fatal(err)
	}
	for param, some := range map[string][]abi.Agent{
		"": {{Instructions: strings.Repeat("ä", 100_000), Temperature: heat(1), MaxTokens: 200_000}, {VendorKey: "a-1", AgentKey: "b"}, {ParentID: doc.ID},
			{Skills: []abi.AgentSkill{{Name: "x"}, {Name: "y"}}, MCPServers: []abi.AgentServer{{Name: "x", Tools: []string{"a*"}}}}},
		"agent.instructions":            {{Instructions: strings.Repeat("ä", 100_001)}},
		"agent.temperature":             {{Temperature: heat(1.01)}, {Temperature: heat(math.NaN())}},
		"agent.max_tokens":              {{MaxTokens: -1}, {MaxTokens: 200_001}},
		"agent.model":                   {{Model: strings.Repeat("m", 257)}},
		"agent.agent_key":               {{VendorKey: "a"}, {AgentKey: "b"}, {VendorKey: "a", AgentKey: "B"}, {VendorKey: "a", AgentKey: "b--c"}},
		"agent.vendor_key":              {{VendorKey: "-a", AgentKey: "b"}},
		"agent.author":                  {{Author: strings.Repeat("a", 257)}},
		"agent.tags":                    {{Tags: make([]string, 201)}},
		"agent.skills[1].name":          {{Skills: []abi.AgentSkill{{Name: "x"}, {Name: "x"}}}},
		"agent.mcp_servers[0].name":     {{MCPServers: []abi.AgentServer{{}}}},
		"agent.mcp_servers[0].tools[0]": {{MCPServers: []abi.AgentServer{{Name: "x", Tools: []string{""}}}}},
		"agent.parent_id":               {{ParentID: "persona_none"}, {ParentID: "persona_bundled"}, {ParentID: far.ID}},
	} {
		for i, a := range some {
			_, err := r.CreatePersona(t.Context(), r.Root(), nil, agentRequest(param+string(rune('a'+i)), a))
			if param != "" {
				roomtest.WantParam(t, err, param)
			} else if err != nil {
				t.Errorf("%+v: %v", a, err)
			}
		}
	}
	whole := agentRequest("n", abi.Agent{})
	whole.WorkspaceID = ""
	_, err = r.CreatePersona(t.Context(), r.Root(), nil, whole)
	roomtest.WantParam(t, err, "workspace_id")
	_, err = r.UpdatePersona(t.Context(), r.Root(), nil, doc.ID, abi.UpdatePersonaRequest{Agent: &abi.Agent{ParentID: far.ID}})
	roomtest.WantParam(t, err, "agent.parent_id")
	_, err = r.UpdatePersona(t.Context(), r.Root(), nil, doc.ID, abi.UpdatePersonaRequest{ToolsDenied: []string{""}})
	roomtest.WantParam(t, err, "tools_denied[0]")
}

package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

func ptr[T any](v T) *T { return &v }

func aPersona() abi.CreatePersonaRequest {
	return abi.CreatePersonaRequest{Name: "scribe", Version: "1.0.9", EntryWorkflow: "echo", Description: ptr(""),
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional}
}

func (n *node) createPersona(t testing.TB, req abi.CreatePersonaRequest) abi.Persona {
	t.Helper()
	doc, err := n.CreatePersona(context.Background(), n.Root, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Persona](t, doc)
}

func (n *node) updatePersona(t testing.TB, id string, req abi.UpdatePersonaRequest) abi.Persona {
	t.Helper()
	doc, err := n.UpdatePersona(context.Background(), n.Root, nil, id, req)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Persona](t, doc)
}

// versions lists the versions of a Persona, by pages of the given size.
func (n *node) versions(t testing.TB, id string, limit int) (list []string) {
	t.Helper()
	page := desk.Page{Limit: limit}
	for {
		docs, err := n.PersonaVersions(context.Background(), n.Root, id, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs.Docs {
			p := enginetest.As[abi.Persona](t, doc)
			list = append(list, p.Version+" "+string(p.AutonomyTier)+" "+p.Description)
		}
		if !docs.More {
			return list
		}
		page.After = docs.Next
	}
}

func TestPersonaVersions(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	p := n.createPersona(t, aPersona())
	if p.Version != "1.0.9" || p.Tools == nil || p.Capabilities == nil {
		t.Fatalf("%+v", p)
	}
	for _, step := range []struct {
		req  abi.UpdatePersonaRequest
		want string
	}{
		{abi.UpdatePersonaRequest{Description: ptr("told")}, "1.0.9"},
		{abi.UpdatePersonaRequest{AutonomyTier: ptr(abi.TierShadow)}, "1.0.10"},
		{abi.UpdatePersonaRequest{AutonomyTier: ptr(abi.TierShadow)}, "1.0.10"}, // nothing has changed
		{abi.UpdatePersonaRequest{Metadata: jsontext.Value(`{"a":1}`), Description: ptr("retold")}, "1.0.10"},
		{abi.UpdatePersonaRequest{Version: ptr("1.0.8"), Tools: []string{"fs:*"}}, "1.0.8"},
		{abi.UpdatePersonaRequest{Handoffs: []string{}}, "1.0.11"}, // the next that is free
		{abi.UpdatePersonaRequest{Version: ptr("beta")}, "beta"},
		{abi.UpdatePersonaRequest{Budget: &abi.Budget{ToolCalls: 3}}, "beta.1"},
	} {
		if got := n.updatePersona(t, p.ID, step.req); got.Version != step.want {
			t.Fatalf("%+v made version %s, want %s", step.req, got.Version, step.want)
		}
	}
	_, err := n.UpdatePersona(t.Context(), n.Root, nil, p.ID, abi.UpdatePersonaRequest{Version: ptr("1.0.10"), AutonomyTier: ptr(abi.TierActAuto)})
	enginetest.WantCode(t, err, abi.CodeInvalidRequest)
	want := []string{"beta.1 shadow retold", "beta shadow retold", "1.0.11 shadow retold", "1.0.8 shadow retold", "1.0.10 shadow retold", "1.0.9 act_auto told"}
	for _, limit := range []int{1, 2, 100} {
		if got := n.versions(t, p.ID, limit); !slices.Equal(got, want) {
			t.Errorf("the versions by pages of %d: %q, want %q", limit, got, want)
		}
	}
	if got := n.versions(t, "persona_echo", 10); len(got) != 1 {
		t.Errorf("a persona that never changed has the versions %q", got)
	}
	n = boot(t, n.Disk.Crash(1, 0), enginetest.Guests{"echo": enginetest.Echo})
	defer n.Stop(t)
	if got := n.versions(t, p.ID, 3); !slices.Equal(got, want) {
		t.Errorf("after a restart: %q", got)
	}
}

func TestPersonaRequestsThatAreRefused(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	for param, change := range map[string]func(*abi.CreatePersonaRequest){
		"name":                      func(r *abi.CreatePersonaRequest) { r.Name = "" },
		"version":                   func(r *abi.CreatePersonaRequest) { r.Version = "1@2" },
		"description":               func(r *abi.CreatePersonaRequest) { r.Description = nil },
		"entry_workflow":            func(r *abi.CreatePersonaRequest) { r.EntryWorkflow = "nobody" },
		"autonomy_tier":             func(r *abi.CreatePersonaRequest) { r.AutonomyTier = "god" },
		"receipt_policy":            func(r *abi.CreatePersonaRequest) { r.ReceiptPolicy = "" },
		"capabilities[1]":           func(r *abi.CreatePersonaRequest) { r.Capabilities = []string{"tool.*", "tool.cal"} },
		"tools[0]":                  func(r *abi.CreatePersonaRequest) { r.Tools = []string{""} },
		"handoffs":                  func(r *abi.CreatePersonaRequest) { r.Handoffs = make([]string, 1001) },
		"budget.usd":                func(r *abi.CreatePersonaRequest) { r.Budget = &abi.Budget{USD: -1} },
		"model_policy.max_tokens":   func(r *abi.CreatePersonaRequest) { r.ModelPolicy = &abi.ModelPolicy{MaxTokens: -1} },
		"approvals.quorum":          func(r *abi.CreatePersonaRequest) { r.Approvals = &abi.ApprovalPolicy{Quorum: 101} },
		"approvals.timeout_seconds": func(r *abi.CreatePersonaRequest) { r.Approvals = &abi.ApprovalPolicy{TimeoutSeconds: -1} },
		"quota_id":                  func(r *abi.CreatePersonaRequest) { r.QuotaID = "quota_none" },
		"metadata":                  func(r *abi.CreatePersonaRequest) { r.Metadata = jsontext.Value("1") },
	} {
		req := aPersona()
		change(&req)
		_, err := n.CreatePersona(t.Context(), n.Root, nil, req)
		if own := enginetest.WantCode(t, err, abi.CodeInvalidRequest); own.Param != param {
			t.Errorf("%s: %v", param, own)
		}
	}
	req := aPersona()
	req.EntryWorkflow, req.ModuleRef = "other", "echo"
	_, err := n.CreatePersona(t.Context(), n.Root, nil, req)
	if own := enginetest.WantCode(t, err, abi.CodeInvalidRequest); !strings.Contains(own.Message, `no export "other"`) {
		t.Error(own)
	}
	bound := *n.Root
	bound.Workspaces = []string{tenancy.DefaultWorkspace}
	_, err = n.CreatePersona(t.Context(), &bound, nil, aPersona())
	enginetest.WantCode(t, err, abi.CodePermissionDenied)
	_, err = n.UpdatePersona(t.Context(), &bound, nil, "persona_echo", abi.UpdatePersonaRequest{})
	enginetest.WantCode(t, err, abi.CodePermissionDenied)
	_, err = n.UpdatePersona(t.Context(), n.Root, nil, "persona_none", abi.UpdatePersonaRequest{})
	enginetest.WantCode(t, err, abi.CodeResourceNotFound)
}

// A request that is made again makes nothing again.
func TestPersonaRetries(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	key := &desk.Retry{Key: "k", Method: "POST", Target: "/v1/personas", Body: []byte("{}")}
	first, err := n.CreatePersona(t.Context(), n.Root, key, aPersona())
	if err != nil {
		t.Fatal(err)
	}
	again, err := n.CreatePersona(t.Context(), n.Root, key, aPersona())
	if err != nil || again.ID != first.ID || again.Status != desk.StatusCreated {
		t.Errorf("%v: made %s, and again %s", err, first.ID, again.ID)
	}
}

// A Task keeps the version that it began with, over a restart and into its replays
// and forks; the next one gets the new version at once.
func TestTaskKeepsItsVersion(t *testing.T) {
	p := newProgram(op{abi.CallInput, ""}, op{abi.CallInputRequest, `{"prompt":"go on?"}`}, op{abi.CallInput, ""}, writeTool(`{}`))
	box := &toolbox{}
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g, withTools(box))
	session := n.Session(t)
	id := n.Submit(t, session, "persona_program")
	n.parked(t, id)
	n.updatePersona(t, "persona_program", abi.UpdatePersonaRequest{AutonomyTier: ptr(abi.TierShadow), Description: ptr("later")})
	n = boot(t, n.Disk.Crash(1, 0), g, withTools(box))
	defer n.Stop(t)
	n.answer(t, id)
	task := n.Wait(t, id)
	if task.Status != abi.TaskCompleted || task.PersonaVersion != "1" || box.reached() == "" {
		t.Fatalf("%s %+v, version %q, the tool got %q", task.Status, task.Failure, task.PersonaVersion, box.reached())
	}
	if wire := n.wantReplay(t, id); !strings.Contains(wire, `"persona_ref":"persona_program@1"`) || !strings.Contains(wire, `"policy_ref":"persona_program@1"`) {
		t.Errorf("the replay's receipt names another version: %s", wire)
	}
	runs := p.runs()
	if last := runs[len(runs)-1]; last[0] != last[2] || !strings.Contains(last[0], `"version":"1"`) {
		t.Errorf("the plugin was told of another persona: %s", last[2])
	}
	rec := n.recordOf(t, id)
	doc, err := n.ForkTask(context.Background(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: rec.Entries[0].EventID})
	if err != nil {
		t.Fatal(err)
	}
	if fork := n.Wait(t, doc.ID); fork.PersonaVersion != "1" || fork.Status != abi.TaskCompleted {
		t.Errorf("the fork: %s %+v, version %q", fork.Status, fork.Failure, fork.PersonaVersion)
	}
	before := box.reached()
	next := n.Submit(t, session, "persona_program")
	n.parked(t, next)
	n.answer(t, next)
	if task = n.Wait(t, next); task.PersonaVersion != "2" || box.reached() != before {
		t.Errorf("the next task: version %q, and the tool got %q", task.PersonaVersion, strings.TrimPrefix(box.reached(), before))
	}
}

// Whatever order readers and changes come in, who looks after a change sees it.
func TestPersonaChangesAreSeen(t *testing.T) {
	n := newNode(t, enginetest.Guests{"look": func(ctx context.Context, h sandbox.Host) error { return nil }})
	for i := range 50 {
		p := n.createPersona(t, aPersona())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = n.Persona(context.Background(), n.Root.Tenant, p.ID)
		}()
		want := fmt.Sprint("change ", i)
		n.updatePersona(t, p.ID, abi.UpdatePersonaRequest{Description: &want})
		<-done
		if got, err := n.Persona(context.Background(), n.Root.Tenant, p.ID); err != nil || got.Description != want {
			t.Fatalf("%v: after a change, the persona is still %q", err, got.Description)
		}
	}
}

package personas_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// room is a keeper by itself, of a node that comes with one Persona.
type room struct {
	*roomtest.House
	*personas.Keeper
	leftOut []string
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.start(t, "1")
	return r
}

// start makes the keeper anew, as a start of the node does whose Persona has a version.
func (r *room) start(t testing.TB, version string) {
	t.Helper()
	r.startWith(t, abi.Persona{Envelope: abi.Envelope{ID: "persona_bundled"}, Name: "bundled", Version: version, Description: "as of " + version, EntryWorkflow: "echo",
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional})
}

// startWith makes the keeper of a node that comes with some Personas.
func (r *room) startWith(t testing.TB, bundled ...abi.Persona) {
	t.Helper()
	r.leftOut = nil
	r.Keeper = personas.NewKeeper(personas.Parts{Parts: r.Parts, Started: r.Now(), Calls: abi.HostCallsByName(),
		Bundled: bundled,
		Offers: func(_ context.Context, plugin, export string) (bool, error) {
			if plugin != "echo" {
				return false, &abi.Failure{Code: abi.FailurePluginMissing, Message: "no plugin " + plugin}
			}
			return export == abi.DefaultExport, nil
		},
		LeaveOut: func(_ storage.Tenant, _ abi.Object, id string, _ error) { r.leftOut = append(r.leftOut, id) },
	})
	if err := r.SeedTenant(t.Context(), &abi.Tenant{Number: uint32(roomtest.Tenant)}); err != nil {
		t.Fatal(err)
	}
}

func request() abi.CreatePersonaRequest {
	description := "what it does"
	return abi.CreatePersonaRequest{Name: "n", Version: "1", EntryWorkflow: "echo", Description: &description,
		AutonomyTier: abi.TierSuggest, ReceiptPolicy: abi.ReceiptOptional}
}

func (r *room) persona(t testing.TB) string {
	t.Helper()
	doc, err := r.CreatePersona(t.Context(), r.Root(), nil, request())
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// versions returns the names of a Persona's versions, newest first, read in pages.
func (r *room) versions(t testing.TB, id string) string {
	t.Helper()
	var names []string
	for after, more := "", true; more; {
		list, err := r.PersonaVersions(t.Context(), r.Root(), id, desk.Page{After: after, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range list.Docs {
			names = append(names, roomtest.As[abi.Persona](t, doc).Version)
		}
		after, more = list.Next, list.More
	}
	return strings.Join(names, " ")
}

// A change of policy is a new version, with a name that none had before; a change of what is
// said about it is not. What was changed is there at once, and after a crash.
func TestVersions(t *testing.T) {
	r := newRoom(t)
	id := r.persona(t)
	change := func(req abi.UpdatePersonaRequest) error {
		_, err := r.UpdatePersona(t.Context(), r.Root(), nil, id, req)
		return err
	}
	tier := func(tier abi.AutonomyTier) abi.UpdatePersonaRequest {
		return abi.UpdatePersonaRequest{AutonomyTier: &tier}
	}
	named := func(version string) abi.UpdatePersonaRequest {
		return abi.UpdatePersonaRequest{Version: &version, Tools: []string{"tool." + version}}
	}
	said := "something else"
	for _, req := range []abi.UpdatePersonaRequest{tier(abi.TierShadow), {Description: &said}, tier(abi.TierActAuto), named("beta"), tier(abi.TierSuggest)} {
		if err := change(req); err != nil {
			t.Fatal(err)
		}
		p, err := r.Persona(t.Context(), roomtest.Tenant, id)
		if err != nil || req.AutonomyTier != nil && p.AutonomyTier != *req.AutonomyTier {
			t.Errorf("after %+v it is %+v, %v", req, p, err)
		}
	}
	roomtest.WantParam(t, change(named("1")), "version")
	roomtest.WantParam(t, change(named("beta")), "version")
	roomtest.WantParam(t, change(named("a b")), "version")
	r.Crash()
	r.start(t, "1")
	if got := r.versions(t, id); got != "beta.1 beta 3 2 1" {
		t.Errorf("its versions are %s", got)
	}
	if p, err := r.Persona(t.Context(), roomtest.Tenant, id); err != nil || p.Version != "beta.1" || p.Description != said {
		t.Errorf("it is %+v, %v", p, err)
	}
	_, err := r.PersonaVersions(t.Context(), r.Root(), id, desk.Page{After: "7", Limit: 1})
	roomtest.WantParam(t, err, "cursor")
}

// A version is named after the one before it, by the next name that none has; every version
// shows what is said about its Persona now.
func TestNamesOfVersions(t *testing.T) {
	r := newRoom(t)
	first := request()
	first.Version = "1.0.9"
	doc, err := r.CreatePersona(t.Context(), r.Root(), nil, first)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		req  abi.UpdatePersonaRequest
		want string
	}{
		{abi.UpdatePersonaRequest{Description: new("told")}, "1.0.9"},
		{abi.UpdatePersonaRequest{AutonomyTier: new(abi.TierShadow)}, "1.0.10"},
		{abi.UpdatePersonaRequest{AutonomyTier: new(abi.TierShadow)}, "1.0.10"}, // nothing has changed
		{abi.UpdatePersonaRequest{Metadata: jsontext.Value(`{"a":1}`), Description: new("retold")}, "1.0.10"},
		{abi.UpdatePersonaRequest{Version: new("1.0.8"), Tools: []string{"fs:*"}}, "1.0.8"},
		{abi.UpdatePersonaRequest{Handoffs: []string{}}, "1.0.11"}, // the next that is free
		{abi.UpdatePersonaRequest{Version: new("beta")}, "beta"},
		{abi.UpdatePersonaRequest{Budget: &abi.Budget{ToolCalls: 3}}, "beta.1"},
	} {
		doc, err := r.UpdatePersona(t.Context(), r.Root(), nil, doc.ID, step.req)
		if err != nil {
			t.Fatal(err)
		}
		if got := roomtest.As[abi.Persona](t, doc).Version; got != step.want {
			t.Fatalf("%+v made version %s, want %s", step.req, got, step.want)
		}
	}
	_, err = r.UpdatePersona(t.Context(), r.Root(), nil, doc.ID, abi.UpdatePersonaRequest{Version: new("1.0.10"), AutonomyTier: new(abi.TierActAuto)})
	roomtest.WantParam(t, err, "version")
	for range 2 {
		if got := r.versions(t, doc.ID); got != "beta.1 beta 1.0.11 1.0.8 1.0.10 1.0.9" {
			t.Errorf("its versions are %s", got)
		}
		list, err := r.PersonaVersions(t.Context(), r.Root(), doc.ID, desk.Page{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for i, doc := range list.Docs {
			said, tier := "retold", abi.TierShadow
			if i == len(list.Docs)-1 {
				said, tier = "told", first.AutonomyTier
			}
			if p := roomtest.As[abi.Persona](t, doc); p.Description != said || p.AutonomyTier != tier {
				t.Errorf("version %s is %s, %q", p.Version, p.AutonomyTier, p.Description)
			}
		}
		r.Crash()
		r.start(t, "1")
	}
}

// Changes that are made at once have a version each, and the last is what is looked up.
func TestChangesAtOnce(t *testing.T) {
	r := newRoom(t)
	id := r.persona(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, err := r.UpdatePersona(t.Context(), r.Root(), nil, id, abi.UpdatePersonaRequest{Tools: []string{fmt.Sprint("tool.", i)}})
			if err != nil {
				t.Error(err)
			}
			_, _ = r.Persona(t.Context(), roomtest.Tenant, id)
		})
	}
	all.Wait()
	if got := r.versions(t, id); got != "9 8 7 6 5 4 3 2 1" {
		t.Errorf("its versions are %s", got)
	}
	known, err := r.Persona(t.Context(), roomtest.Tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.start(t, "1")
	if stored, err := r.Persona(t.Context(), roomtest.Tenant, id); err != nil || string(stored.Text) != string(known.Text) {
		t.Errorf("remembered %s, on disk %s, %v", known.Text, stored.Text, err)
	}
}

// Personas and Skills of the whole tenant are policy for all Workspaces: a key that is bound to
// some changes none, and those of another tenant are not there.
func TestWhoGoverns(t *testing.T) {
	r := newRoom(t)
	ctx, id := t.Context(), r.persona(t)
	skill, err := r.CreateSkill(ctx, r.Root(), nil, abi.CreateSkillRequest{PersonaID: id, Name: "s", Description: "d"})
	if err != nil {
		t.Fatal(err)
	}
	bound := r.Bound(roomtest.Workspace)
	_, a := r.CreatePersona(ctx, bound, nil, request())
	_, b := r.UpdatePersona(ctx, bound, nil, id, abi.UpdatePersonaRequest{})
	_, c := r.CreateSkill(ctx, bound, nil, abi.CreateSkillRequest{PersonaID: id, Name: "s", Description: "d"})
	_, d := r.UpdateSkill(ctx, bound, nil, skill.ID, abi.UpdateSkillRequest{})
	for _, err := range []error{a, b, c, d} {
		roomtest.WantCode(t, err, abi.CodePermissionDenied)
	}
	other := r.Strangers()["of another tenant"]
	_, a = r.UpdatePersona(ctx, other, nil, id, abi.UpdatePersonaRequest{})
	_, b = r.PersonaVersions(ctx, other, id, desk.Page{Limit: 1})
	_, c = r.CreateSkill(ctx, other, nil, abi.CreateSkillRequest{PersonaID: id, Name: "s", Description: "d"})
	_, d = r.UpdateSkill(ctx, other, nil, skill.ID, abi.UpdateSkillRequest{})
	_, e := r.Persona(ctx, other.Tenant, id)
	for _, err := range []error{a, b, c, d, e} {
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	}
	_, err = r.UpdateSkill(ctx, r.Root(), nil, "skill_bundled", abi.UpdateSkillRequest{})
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
}

func TestPersonasThatAreRefused(t *testing.T) {
	r := newRoom(t)
	for name, test := range map[string]struct {
		change func(*abi.CreatePersonaRequest)
		param  string
	}{
		"no name":             {func(q *abi.CreatePersonaRequest) { q.Name = "" }, "name"},
		"no version":          {func(q *abi.CreatePersonaRequest) { q.Version = "" }, "version"},
		"a version's @":       {func(q *abi.CreatePersonaRequest) { q.Version = "1@2" }, "version"},
		"a long version":      {func(q *abi.CreatePersonaRequest) { q.Version = strings.Repeat("1", 65) }, "version"},
		"no workflow":         {func(q *abi.CreatePersonaRequest) { q.EntryWorkflow = "" }, "entry_workflow"},
		"no plugin":           {func(q *abi.CreatePersonaRequest) { q.EntryWorkflow = "none" }, "entry_workflow"},
		"no export":           {func(q *abi.CreatePersonaRequest) { q.EntryWorkflow = "echo#none" }, "entry_workflow"},
		"no export, apart":    {func(q *abi.CreatePersonaRequest) { q.ModuleRef, q.EntryWorkflow = "echo", "none" }, "entry_workflow"},
		"no description":      {func(q *abi.CreatePersonaRequest) { q.Description = nil }, "description"},
		"an autonomy":         {func(q *abi.CreatePersonaRequest) { q.AutonomyTier = "wild" }, "autonomy_tier"},
		"no receipts' name":   {func(q *abi.CreatePersonaRequest) { q.ReceiptPolicy = "never" }, "receipt_policy"},
		"metadata":            {func(q *abi.CreatePersonaRequest) { q.Metadata = jsontext.Value(`[]`) }, "metadata"},
		"a quota that is not": {func(q *abi.CreatePersonaRequest) { q.QuotaID = "quota_none" }, "quota_id"},
		"a capability":        {func(q *abi.CreatePersonaRequest) { q.Capabilities = []string{"tool.*", "tool.cal"} }, "capabilities[1]"},
		"an empty tool":       {func(q *abi.CreatePersonaRequest) { q.Tools = []string{""} }, "tools[0]"},
		"many handoffs":       {func(q *abi.CreatePersonaRequest) { q.Handoffs = make([]string, 1001) }, "handoffs"},
		"a debt":              {func(q *abi.CreatePersonaRequest) { q.Budget = &abi.Budget{USD: -1} }, "budget.usd"},
		"negative tokens":     {func(q *abi.CreatePersonaRequest) { q.ModelPolicy = &abi.ModelPolicy{MaxTokens: -1} }, "model_policy.max_tokens"},
		"a large quorum":      {func(q *abi.CreatePersonaRequest) { q.Approvals = &abi.ApprovalPolicy{Quorum: 101} }, "approvals.quorum"},
		"a negative wait":     {func(q *abi.CreatePersonaRequest) { q.Approvals = &abi.ApprovalPolicy{TimeoutSeconds: -1} }, "approvals.timeout_seconds"},
		"many tools":          {func(q *abi.CreatePersonaRequest) { q.Tools = make([]string, 1001) }, "tools"},
	} {
		t.Run(name, func(t *testing.T) {
			req := request()
			test.change(&req)
			_, err := r.CreatePersona(t.Context(), r.Root(), nil, req)
			roomtest.WantParam(t, err, test.param)
		})
	}
	_, err := r.UpdatePersona(t.Context(), r.Root(), nil, "persona_none", abi.UpdatePersonaRequest{})
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	id := r.persona(t)
	for param, req := range map[string]abi.CreateSkillRequest{
		"persona_id":    {Name: "s", Description: "d"},
		"name":          {PersonaID: id, Name: strings.Repeat("s", 129), Description: "d"},
		"description":   {PersonaID: id, Name: "s"},
		"input_schema":  {PersonaID: id, Name: "s", Description: "d", InputSchema: jsontext.Value(`{"type":7}`)},
		"output_schema": {PersonaID: id, Name: "s", Description: "d", OutputSchema: jsontext.Value(`[]`)},
		"metadata":      {PersonaID: id, Name: "s", Description: "d", Metadata: jsontext.Value(`7`)},
	} {
		_, err := r.CreateSkill(t.Context(), r.Root(), nil, req)
		roomtest.WantParam(t, err, param)
	}
}

// A Task that names a Skill is the Skill's Persona's, takes what the Skill takes, and is one that
// its Session is for.
func TestCheckSkill(t *testing.T) {
	r := newRoom(t)
	id := r.persona(t)
	doc, err := r.CreateSkill(t.Context(), r.Root(), nil, abi.CreateSkillRequest{PersonaID: id, Name: "s", Description: "d", RequiresApproval: true,
		InputSchema: jsontext.Value(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	check := func(req abi.SubmitTaskRequest, allowed ...string) (string, error) {
		req.Metadata = jsontext.Value(`{"skill_id":"` + doc.ID + `"}`)
		return r.CheckSkill(t.Context(), roomtest.Tenant, roomtest.Workspace, &req, allowed)
	}
	fine := jsontext.Value(`{"n":1}`)
	for _, allowed := range [][]string{nil, {doc.ID}} {
		if persona, err := check(abi.SubmitTaskRequest{Input: fine}, allowed...); err != nil || persona != id {
			t.Errorf("%q, %v", persona, err)
		}
	}
	_, err = check(abi.SubmitTaskRequest{Input: jsontext.Value(`{"n":"one"}`)})
	roomtest.WantParam(t, err, "input")
	_, err = check(abi.SubmitTaskRequest{Input: fine, PersonaID: "persona_bundled"})
	roomtest.WantParam(t, err, "persona_id")
	_, err = check(abi.SubmitTaskRequest{Input: fine}, "skill_other")
	roomtest.WantCode(t, err, abi.CodePolicyViolation)
	_, err = r.CheckSkill(t.Context(), roomtest.Tenant, roomtest.Workspace, &abi.SubmitTaskRequest{Metadata: jsontext.Value(`{"skill_id":"skill_none"}`)}, nil)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	if persona, err := r.CheckSkill(t.Context(), roomtest.Tenant, roomtest.Workspace, &abi.SubmitTaskRequest{Input: fine}, nil); err != nil || persona != "" {
		t.Errorf("a task without a skill: %q, %v", persona, err)
	}
	if !r.SkillNeedsApproval(t.Context(), roomtest.Tenant, roomtest.Workspace, doc.ID) || r.SkillNeedsApproval(t.Context(), roomtest.Tenant, roomtest.Workspace, "persona_bundled") {
		t.Error("one needs an approval, the other does not")
	}
}

// What comes with the node is there once, however often it starts, and is brought up to date by a
// newer node, unless a client has changed it; what cannot be read is left out.
func TestSeed(t *testing.T) {
	r := newRoom(t)
	before := r.Store.Watermark()
	r.Crash()
	r.start(t, "1")
	if r.Store.Watermark() != before {
		t.Error("a second start writes")
	}
	r.Crash()
	r.start(t, "2")
	if p, err := r.Persona(t.Context(), roomtest.Tenant, "persona_bundled"); err != nil || p.Version != "2" {
		t.Errorf("after a newer node's start: %v", err)
	}
	own := abi.TierShadow
	if _, err := r.UpdatePersona(t.Context(), r.Root(), nil, "persona_bundled", abi.UpdatePersonaRequest{AutonomyTier: &own}); err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.start(t, "3")
	if p, err := r.Persona(t.Context(), roomtest.Tenant, "persona_bundled"); err != nil || p.AutonomyTier != own || p.Description != "as of 2" {
		t.Errorf("what a client has changed is not its own any more: %+v, %v", p, err)
	}
	r.State(t, "", "", abi.EventPersonaUpdated, abi.ObjectPersona, "persona_bundled", jsontext.Value(`{"id":7}`))
	r.Crash()
	r.start(t, "3")
	if len(r.leftOut) != 1 || r.leftOut[0] != "persona_bundled" {
		t.Errorf("left out: %v", r.leftOut)
	}
}

// A request that comes twice makes one Persona.
func TestAPersonaIsMadeOnce(t *testing.T) {
	r := newRoom(t)
	first, err := r.CreatePersona(t.Context(), r.Root(), roomtest.Retry("k", ""), request())
	if err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.start(t, "1")
	again, err := r.CreatePersona(t.Context(), r.Root(), roomtest.Retry("k", ""), request())
	if err != nil || again.ID != first.ID {
		t.Errorf("made %s and %s, %v", first.ID, again.ID, err)
	}
}

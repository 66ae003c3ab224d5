package personas_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
)

const other = "ws_other"

// personaOf makes a Persona of a Workspace, "" for the whole tenant.
func (r *room) personaOf(t testing.TB, workspace string) string {
	t.Helper()
	req := request()
	req.WorkspaceID = workspace
	doc, err := r.CreatePersona(t.Context(), r.Root(), nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

func (r *room) skillOf(t testing.TB, persona string) string {
	t.Helper()
	doc, err := r.CreateSkill(t.Context(), r.Root(), nil, abi.CreateSkillRequest{PersonaID: persona, Name: "s", Description: "d"})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// listed returns the ids of a list, read in pages.
func (r *room) listed(t testing.TB, as *desk.Caller, o abi.Object, f desk.Filter) (ids []string) {
	t.Helper()
	for p := (desk.Page{Limit: 1}); ; {
		list, err := r.Desk.List(t.Context(), as, o, f, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range list.Docs {
			ids = append(ids, doc.ID)
		}
		if p.After = list.Next; !list.More {
			return ids
		}
	}
}

// A Persona of a Workspace, and the Skill that it is offered as, are seen by those of the
// Workspace, in lists and in the stream of their Workspace too. To all others they are as what is
// not there, whatever they ask. So it stays after a crash.
func TestWhoSeesPersonasOfAWorkspace(t *testing.T) {
	r := newRoom(t)
	r.NewWorkspace(t, other)
	tenants, own := r.personaOf(t, ""), r.personaOf(t, roomtest.Workspace)
	tenantsSkill, ownSkill := r.skillOf(t, tenants), r.skillOf(t, own)
	bundled := []string{"persona_bundled", "skill_bundled"}
	for range 2 {
		for _, list := range []struct {
			name             string
			as               *desk.Caller
			of               string
			personas, skills []string
		}{
			{"of the tenant", r.Root(), "", []string{tenants, own, bundled[0]}, []string{tenantsSkill, ownSkill, bundled[1]}},
			{"of its workspace", r.Root(), roomtest.Workspace, []string{own}, []string{ownSkill}},
			{"of another", r.Root(), other, nil, nil},
			{"of a key of its workspace", r.Bound(roomtest.Workspace), "", []string{tenants, own, bundled[0]}, []string{tenantsSkill, ownSkill, bundled[1]}},
			{"of a key of both", r.Bound(other, roomtest.Workspace), "", []string{tenants, own, bundled[0]}, []string{tenantsSkill, ownSkill, bundled[1]}},
			{"of its workspace, by its key", r.Bound(roomtest.Workspace), roomtest.Workspace, []string{own}, []string{ownSkill}},
			{"of a key of another", r.Bound(other), "", []string{tenants, bundled[0]}, []string{tenantsSkill, bundled[1]}},
			{"of its workspace, by another's key", r.Bound(other), roomtest.Workspace, nil, nil},
		} {
			for o, want := range map[abi.Object][]string{abi.ObjectPersona: list.personas, abi.ObjectSkill: list.skills} {
				got := r.listed(t, list.as, o, desk.Filter{WorkspaceID: list.of})
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("the %ss %s: %v, want %v", o, list.name, got, want)
				}
			}
		}
		for _, stream := range []struct {
			of   string
			want int
		}{{roomtest.Workspace, 2}, {other, 0}} {
			events, _, err := r.Desk.Events(t.Context(), r.Bound(stream.of), desk.Filter{WorkspaceID: stream.of}, 0, 100)
			told := 0
			for _, ev := range events {
				if o := ev.Record().Resource.Object; o == abi.ObjectPersona || o == abi.ObjectSkill {
					told++
				}
			}
			if err != nil || told != stream.want {
				t.Errorf("the stream of %s tells of %d, want %d, %v", stream.of, told, stream.want, err)
			}
		}
		for name, stranger := range r.Strangers() {
			for what, ask := range r.asks(t, stranger) {
				for there, none := range map[string]string{own: "persona_none", ownSkill: "skill_none"} {
					got, want := ask(there), ask(none)
					roomtest.WantCode(t, got, abi.CodeResourceNotFound)
					if strings.ReplaceAll(got.Error(), there, none) != want.Error() {
						t.Errorf("%s, %s: %v, and of nothing: %v", name, what, got, want)
					}
				}
			}
		}
		r.Crash()
		r.start(t, "1")
	}
}

// asks are what a caller can do with a Persona or a Skill of which it knows the id.
func (r *room) asks(t testing.TB, as *desk.Caller) map[string]func(id string) error {
	ctx := t.Context()
	objectOf := func(id string) abi.Object { return abi.Object(strings.Split(id, "_")[0]) }
	of := func(persona, skill func(id string) error) func(string) error {
		return func(id string) error {
			if objectOf(id) == abi.ObjectPersona {
				return persona(id)
			}
			return skill(id)
		}
	}
	get := func(id string) error {
		_, err := r.Desk.Get(ctx, as, objectOf(id), id)
		return err
	}
	return map[string]func(string) error{
		"get": get,
		"update": of(func(id string) error {
			_, err := r.UpdatePersona(ctx, as, nil, id, abi.UpdatePersonaRequest{Name: new("n")})
			return err
		}, func(id string) error {
			_, err := r.UpdateSkill(ctx, as, nil, id, abi.UpdateSkillRequest{})
			return err
		}),
		"clone": of(func(id string) error {
			_, err := r.ClonePersona(ctx, as, nil, id, abi.ClonePersonaRequest{Name: "n", WorkspaceID: other})
			return err
		}, get),
		"versions": of(func(id string) error {
			_, err := r.PersonaVersions(ctx, as, id, desk.Page{Limit: 1})
			return err
		}, get),
		"offer": of(func(id string) error {
			_, err := r.CreateSkill(ctx, as, nil, abi.CreateSkillRequest{PersonaID: id, Name: "s", Description: "d"})
			return err
		}, get),
	}
}

// Whoever may write Personas makes and changes those of the Workspaces that they see. They are
// never moved, and a key that is bound says of none which Quota bounds it.
func TestWhoGovernsAWorkspacesPersonas(t *testing.T) {
	r := newRoom(t)
	r.NewWorkspace(t, other)
	ctx, bound := t.Context(), r.Bound(roomtest.Workspace)
	r.State(t, "", "", abi.EventQuotaCreated, abi.ObjectQuota, "quota_one", &abi.Quota{Envelope: abi.NewEnvelope(abi.ObjectQuota, "quota_one", r.Now(), nil)})
	create := func(as *desk.Caller, workspace, quota string) (desk.Doc, error) {
		req := request()
		req.WorkspaceID, req.QuotaID = workspace, quota
		return r.CreatePersona(ctx, as, nil, req)
	}
	doc, err := create(bound, roomtest.Workspace, "")
	if err != nil || roomtest.As[abi.Persona](t, doc).WorkspaceID != roomtest.Workspace {
		t.Fatalf("%s, %v", doc.JSON, err)
	}
	for _, refused := range []struct{ workspace, quota string }{{"", ""}, {roomtest.Workspace, "quota_one"}, {roomtest.Workspace, "quota_none"}} {
		_, err := create(bound, refused.workspace, refused.quota)
		roomtest.WantCode(t, err, abi.CodePermissionDenied)
	}
	for _, missing := range []string{other, "ws_none"} {
		_, err := create(bound, missing, "")
		if want := abi.NotFound(abi.ObjectWorkspace, missing); err == nil || err.Error() != want.Error() {
			t.Errorf("in %s: %v", missing, err)
		}
	}
	_, err = create(r.Root(), "ws_none", "")
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)

	if _, err := r.UpdatePersona(ctx, r.Root(), nil, doc.ID, abi.UpdatePersonaRequest{QuotaID: jsontext.Value(`"quota_one"`)}); err != nil {
		t.Fatal(err)
	}
	changed, err := r.UpdatePersona(ctx, bound, nil, doc.ID, abi.UpdatePersonaRequest{Name: new("mine"), QuotaID: jsontext.Value(`"quota_one"`)})
	if p := roomtest.As[abi.Persona](t, changed); err != nil || p.Name != "mine" || p.WorkspaceID != roomtest.Workspace {
		t.Errorf("changed: %s, %v", changed.JSON, err)
	}
	_, err = r.UpdatePersona(ctx, bound, nil, doc.ID, abi.UpdatePersonaRequest{QuotaID: jsontext.Value(`null`)})
	roomtest.WantCode(t, err, abi.CodePermissionDenied)

	skill, err := r.CreateSkill(ctx, bound, nil, abi.CreateSkillRequest{PersonaID: doc.ID, Name: "s", Description: "d"})
	if err == nil {
		skill, err = r.UpdateSkill(ctx, bound, nil, skill.ID, abi.UpdateSkillRequest{Description: new("e")})
	}
	if s := roomtest.As[abi.Skill](t, skill); err != nil || s.Description != "e" || s.WorkspaceID != roomtest.Workspace {
		t.Errorf("the skill: %s, %v", skill.JSON, err)
	}
}

// A clone belongs where its source does, or to a Workspace in which its source may be used.
func TestClonesAndWorkspaces(t *testing.T) {
	r := newRoom(t)
	r.NewWorkspace(t, other)
	tenants, own := r.personaOf(t, ""), r.personaOf(t, roomtest.Workspace)
	denied, missing := abi.CodePermissionDenied, abi.CodeResourceNotFound
	for _, c := range []struct {
		as       *desk.Caller
		of, into string
		want     string // its Workspace, or an error's code
	}{
		{r.Root(), tenants, "", ""}, {r.Root(), tenants, other, other}, {r.Root(), own, "", roomtest.Workspace},
		{r.Root(), own, roomtest.Workspace, roomtest.Workspace}, {r.Root(), own, other, string(missing)}, {r.Root(), tenants, "ws_none", string(missing)},
		{r.Bound(roomtest.Workspace), own, "", roomtest.Workspace}, {r.Bound(roomtest.Workspace), tenants, "", string(denied)},
		{r.Bound(roomtest.Workspace), tenants, roomtest.Workspace, roomtest.Workspace}, {r.Bound(roomtest.Workspace), tenants, other, string(missing)},
		{r.Bound(other, roomtest.Workspace), own, other, string(missing)}, {r.Bound(other), own, "", string(missing)},
	} {
		doc, err := r.ClonePersona(t.Context(), c.as, nil, c.of, abi.ClonePersonaRequest{Name: "clone", WorkspaceID: c.into})
		got := ""
		if refused, ok := errors.AsType[*abi.Error](err); ok {
			got = string(refused.Code)
		} else if err == nil {
			got = roomtest.As[abi.Persona](t, doc).WorkspaceID
		}
		if got != c.want {
			t.Errorf("%v clones %s into %q: %q %v, want %q", c.as.Workspaces, c.of, c.into, got, err, c.want)
		}
	}
}

// A Persona that is made twice with one key is made once in each Workspace.
func TestRetriesInTwoWorkspaces(t *testing.T) {
	r := newRoom(t)
	r.NewWorkspace(t, other)
	made := map[string]bool{}
	for range 2 {
		for _, workspace := range []string{"", roomtest.Workspace, other} {
			req := request()
			req.WorkspaceID = workspace
			doc, err := r.CreatePersona(t.Context(), r.Root(), &desk.Retry{Key: "k", Scope: "POST /v1/personas", Fingerprint: [32]byte{byte(len(workspace))}}, req)
			if err != nil || roomtest.As[abi.Persona](t, doc).WorkspaceID != workspace {
				t.Fatalf("in %q: %s, %v", workspace, doc.JSON, err)
			}
			made[doc.ID] = true
		}
	}
	if len(made) != 3 {
		t.Error("they are", made)
	}
}

// A Persona and a Skill may be used in their own Workspace alone.
func TestUseInAWorkspace(t *testing.T) {
	r := newRoom(t)
	tenants, own := r.personaOf(t, ""), r.personaOf(t, roomtest.Workspace)
	skill := r.skillOf(t, own)
	ctx := t.Context()
	for _, c := range []struct {
		persona, workspace string
		used               bool
	}{{tenants, roomtest.Workspace, true}, {tenants, other, true}, {own, roomtest.Workspace, true}, {own, other, false}, {own, "", false}} {
		if _, err := r.PersonaIn(ctx, roomtest.Tenant, c.workspace, c.persona); (err == nil) != c.used {
			t.Errorf("%s in %q: %v", c.persona, c.workspace, err)
		}
	}
	req := &abi.SubmitTaskRequest{Metadata: jsontext.Value(fmt.Sprintf(`{"skill_id":%q}`, skill)), Input: jsontext.Value(`{}`)}
	if persona, err := r.CheckSkill(ctx, roomtest.Tenant, roomtest.Workspace, req, nil); err != nil || persona != own {
		t.Errorf("%q, %v", persona, err)
	}
	_, err := r.CheckSkill(ctx, roomtest.Tenant, other, req, nil)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	_, err = r.OfferedSkill(ctx, roomtest.Tenant, other, skill)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	if s, err := r.OfferedSkill(ctx, roomtest.Tenant, roomtest.Workspace, skill); err != nil || s.PersonaID != own {
		t.Errorf("%+v, %v", s, err)
	}
}

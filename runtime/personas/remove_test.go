package personas_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
)

// A Persona that was deleted is named by nothing new, for ever, and what was taken as it still finds it.
// Whoever repeats the deletion with its key is answered as before.
func TestAPersonaIsDeleted(t *testing.T) {
	r := newRoom(t)
	ctx, root := t.Context(), r.Root()
	id := r.personaOf(t, roomtest.Workspace)
	if err := r.DeletePersona(ctx, root, roomtest.Retry("k", ""), id); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for what, ask := range r.asks(t, root) {
			if what == "clone" { // into another Workspace, which is nothing new
				continue
			}
			roomtest.WantCode(t, ask(id), abi.CodeResourceNotFound)
		}
		_, err := r.PersonaIn(ctx, roomtest.Tenant, roomtest.Workspace, id)
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		if p, err := r.PersonaOf(ctx, roomtest.Tenant, roomtest.Workspace, id); err != nil || p.ID != id {
			t.Errorf("to a Task that was taken it is %+v, %v", p, err)
		}
		_, err = r.PersonaOf(ctx, roomtest.Tenant, other, id)
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		if err := r.DeletePersona(ctx, root, roomtest.Retry("k", ""), id); err != nil {
			t.Errorf("the same request again: %v", err)
		}
		roomtest.WantCode(t, r.DeletePersona(ctx, root, nil, id), abi.CodeResourceNotFound)
		for _, f := range []desk.Filter{{}, {WorkspaceID: roomtest.Workspace}} {
			if ids := r.listed(t, root, abi.ObjectPersona, f); strings.Contains(strings.Join(ids, " "), id) {
				t.Errorf("it is still listed: %v", ids)
			}
		}
		r.Crash()
		r.start(t, "1")
	}
}

// Of many who delete a Persona at once, one does.
func TestAPersonaIsDeletedOnce(t *testing.T) {
	r := newRoom(t)
	id, errs := r.persona(t), make(chan error)
	for range 8 {
		go func() { errs <- r.DeletePersona(context.WithoutCancel(t.Context()), r.Root(), nil, id) }()
	}
	done := 0
	for range 8 {
		if err := <-errs; err == nil {
			done++
		} else {
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		}
	}
	if done != 1 {
		t.Errorf("%d have deleted it", done)
	}
}

// Who may not change a Persona may not delete it, and who does not see it is told that it is not there.
func TestWhoDeletesAPersona(t *testing.T) {
	r := newRoom(t)
	ctx := t.Context()
	r.NewWorkspace(t, other)
	tenants, own := r.personaOf(t, ""), r.personaOf(t, roomtest.Workspace)
	for name, stranger := range r.Strangers() {
		err := r.DeletePersona(ctx, stranger, nil, own)
		if want := abi.NotFound(abi.ObjectPersona, own); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v", name, err)
		}
	}
	bound := r.Bound(roomtest.Workspace)
	roomtest.WantCode(t, r.DeletePersona(ctx, bound, nil, tenants), abi.CodePermissionDenied)
	without := r.Bound(roomtest.Workspace)
	without.Scopes = []string{"personas:write"}
	roomtest.WantCode(t, r.DeletePersona(ctx, without, nil, own), abi.CodePermissionDenied)
	if err := r.DeletePersona(ctx, bound, nil, own); err != nil {
		t.Error(err)
	}
	roomtest.WantCode(t, r.DeletePersona(ctx, r.Root(), nil, "persona_none"), abi.CodeResourceNotFound)
}

// What has to stay stays, and the refusal says why and what to do.
func TestPersonasThatAreNotDeleted(t *testing.T) {
	r := newRoom(t)
	ctx, root, id := t.Context(), r.Root(), r.persona(t)
	refused := func(persona, says string) {
		t.Helper()
		if err := roomtest.WantCode(t, r.DeletePersona(ctx, root, nil, persona), abi.CodeConflict); !strings.Contains(err.Message, says) {
			t.Errorf("%s: %s", persona, err.Message)
		}
	}
	refused("persona_bundled", "comes with the plugin echo, and would come again when the node starts: retire it instead")

	agent, err := r.CreatePersona(ctx, root, nil, agentRequest("a", abi.Agent{}))
	if err != nil {
		t.Fatal(err)
	}
	refused(agent.ID, "is an agent")

	skill := r.skillOf(t, id)
	refused(id, "is in use by "+skill)
	connector := &abi.Connector{Envelope: abi.NewEnvelope(abi.ObjectConnector, "conn_one", r.Now(), nil), TargetPersonaID: id}
	r.State(t, "", "", abi.EventConnectorCreated, abi.ObjectConnector, connector.ID, connector)
	r.State(t, "", "", abi.EventHarnessCreated, abi.ObjectHarness, "harness_one", &abi.Harness{Envelope: abi.NewEnvelope(abi.ObjectHarness, "harness_one", r.Now(), nil), PersonaID: id})
	refused(id, "is in use by conn_one, harness_one, "+skill+": have them name another, or delete them")

	gone := abi.At(r.Now())
	connector.DeletedAt = gone
	r.State(t, "", "", abi.EventConnectorDeleted, abi.ObjectConnector, connector.ID, connector)
	r.State(t, "", "", abi.EventHarnessDeleted, abi.ObjectHarness, "harness_one",
		&abi.Harness{Envelope: abi.NewEnvelope(abi.ObjectHarness, "harness_one", r.Now(), nil), PersonaID: id, DeletedAt: gone})
	deprecated := true
	if _, err := r.UpdateSkill(ctx, root, nil, skill, abi.UpdateSkillRequest{Deprecated: &deprecated}); err != nil {
		t.Fatal(err)
	}
	if err := r.DeletePersona(ctx, root, nil, id); err != nil {
		t.Errorf("when nothing uses it any more: %v", err)
	}
}

// One that was deleted while its plugin was gone is there again with the plugin, and has the version
// that its policy had.
func TestADeletedPersonaComesAgainWithItsPlugin(t *testing.T) {
	r := newRoom(t)
	ctx := t.Context()
	r.Crash()
	r.startWith(t) // without its plugin
	if err := r.DeletePersona(ctx, r.Root(), nil, "persona_bundled"); err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.startWith(t)
	if _, err := r.PersonaIn(ctx, roomtest.Tenant, roomtest.Workspace, "persona_bundled"); err == nil {
		t.Error("it is there without its plugin")
	}
	for range 2 {
		r.Crash()
		r.start(t, "1")
		p, err := r.PersonaIn(ctx, roomtest.Tenant, roomtest.Workspace, "persona_bundled")
		if err != nil || p.Version != "1" || !p.RetiredAt.IsZero() {
			t.Fatalf("with its plugin again: %+v, %v", p, err)
		}
	}
	if ids := r.listed(t, r.Root(), abi.ObjectPersona, desk.Filter{}); len(ids) != 1 {
		t.Errorf("listed: %v", ids)
	}
}

package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// attach has a client of the root's control, or observe, a Session, and returns the caller as it.
func (n *node) attach(t testing.TB, session, client string, mode abi.LiveMode) *desk.Caller {
	t.Helper()
	req := abi.AttachClientRequest{ClientID: client, Mode: mode, Takeover: mode == abi.LiveController, Metadata: jsontext.Value(`{"surface":"` + client + `"}`)}
	if _, err := n.AttachClient(t.Context(), n.Root, session, req); err != nil {
		t.Fatal(err)
	}
	return n.Root.As(client)
}

// wantNotController demands the refusal of what only the controller may do.
func wantNotController(t testing.TB, what string, err error, controller string) {
	t.Helper()
	refused, ok := err.(*abi.Error)
	if !ok || refused.Code != abi.CodeConflict || !strings.Contains(string(refused.Details), `"reason":"not_controller"`) || !strings.Contains(string(refused.Details), `"active_controller_id":`+controller) {
		t.Errorf("%s: %v, want not_controller that names %s", what, err, controller)
	}
}

func TestOnlyTheControllerActs(t *testing.T) {
	p := newProgram(op{abi.CallApprovalRequest, `{"action":"pay","prompt":"?"}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	session := n.Session(t)
	tui, portal := n.attach(t, session, "tui", abi.LiveController), n.attach(t, session, "portal", abi.LiveObserver)
	words := jsontext.Value(`{"role":"user","parts":[{"type":"text","text":"pay"}],"metadata":{"client_id":"forged","k":1}}`)
	submit := func(c *desk.Caller) (desk.Doc, error) {
		return n.SubmitTask(t.Context(), c, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_program", Input: words})
	}
	_, err := submit(portal)
	wantNotController(t, "an observer submits", err, `"tui"`)
	doc, err := submit(tui)
	if err != nil {
		t.Fatal(err)
	}
	n.parked(t, doc.ID)
	said := enginetest.As[struct {
		Input abi.Message `json:"input"`
	}](t, doc).Input
	if string(said.Metadata) != `{"client_id":"tui","k":1}` {
		t.Errorf("the user's message says that it is from %s", said.Metadata)
	}
	perm := n.request(t, doc.ID)
	_, err = n.RespondPermission(t.Context(), portal, nil, perm.ID, approve(""))
	wantNotController(t, "an observer answers", err, `"tui"`)
	for _, kind := range []abi.TaskMessageKind{abi.TaskMessageInterrupt, abi.TaskMessageToolConfirmation} {
		value := jsontext.Value(`{"decision":"approved"}`)
		_, err = n.AppendTaskMessage(t.Context(), portal, nil, doc.ID, abi.AppendTaskMessageRequest{Kind: kind, Message: &abi.MessageInput{
			Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartJSON, Value: value}}}})
		wantNotController(t, "an observer sends "+string(kind), err, `"tui"`)
	}
	_, err = n.AppendMessage(t.Context(), portal, nil, session, abi.AppendMessageRequest{Message: message("psst")})
	wantNotController(t, "an observer speaks", err, `"tui"`)
	_, err = n.CancelTask(t.Context(), portal, nil, doc.ID, abi.CancelTaskRequest{})
	wantNotController(t, "an observer cancels", err, `"tui"`)
	_, err = n.ForkTask(t.Context(), portal, nil, doc.ID, abi.ForkTaskRequest{SameSession: true})
	wantNotController(t, "an observer forks", err, `"tui"`)

	n.attach(t, session, "portal", abi.LiveController)
	_, err = n.RespondPermission(t.Context(), tui, nil, perm.ID, approve(""))
	wantNotController(t, "the former controller answers", err, `"portal"`)
	if _, err := n.RespondPermission(t.Context(), portal, nil, perm.ID, approve("")); err != nil {
		t.Fatal(err)
	}
	n.Wait(t, doc.ID)
	n.wantReplay(t, doc.ID)
	routes := n.payloads(t, desk.Filter{SessionID: session}, abi.EventLivePermissionRoute)
	if want := fmt.Sprintf("%s to tui with {\"surface\":\"tui\"} and %s to portal with {\"surface\":\"portal\"}", perm.ID, perm.ID); strings.Join(routes, " and ") != want {
		t.Errorf("the log routes %q, want %q", routes, want)
	}
	if _, err := submit(n.Root); err != nil {
		t.Errorf("a request that names no client is refused: %v", err)
	}
	with, err := n.SubmitTask(t.Context(), tui, nil, abi.SubmitTaskRequest{Session: &abi.TaskSession{CreateSessionRequest: abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace}},
		Input: enginetest.Text("hi")})
	if err != nil {
		t.Errorf("a client may not submit a task with a session of its own: %v", err)
	} else {
		n.Wait(t, with.ID)
	}
}

// payloads returns what the routes in a stream say.
func (n *node) payloads(t testing.TB, f desk.Filter, kind abi.EventKind) (all []string) {
	t.Helper()
	events, _, err := n.Events(t.Context(), n.Root, f, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		var to abi.LivePermissionRoute
		if rec := ev.Record(); rec.Kind == kind && json.Unmarshal(rec.Payload, &to) == nil {
			all = append(all, fmt.Sprintf("%s to %s with %s", to.RequestID, to.ClientID, to.Metadata))
		}
	}
	return all
}

// TestTakeoversAndPromptsAtOnce has two clients take a Session over from each other and submit at the
// same time: in the log each Task comes from whoever controlled the Session then.
func TestTakeoversAndPromptsAtOnce(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	var all sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		all.Go(func() {
			for range 25 {
				if _, err := n.TakeoverSession(context.Background(), n.Root, session, abi.TakeoverSessionRequest{ClientID: name}); err != nil {
					t.Error(err)
				}
				_, _ = n.SubmitTask(context.Background(), n.Root.As(name), nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("hi")})
			}
		})
	}
	all.Wait()
	controller, tasks := "", 0
	for after := desk.Position(0); ; {
		events, more, err := n.Events(t.Context(), n.Root, desk.Filter{SessionID: session}, after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			after = ev.Position()
			var is abi.LiveClientChange
			var of struct {
				Metadata struct {
					ClientID string `json:"client_id"`
				} `json:"metadata"`
			}
			switch rec := ev.Record(); rec.Kind {
			case abi.EventLiveClient:
				if err := json.Unmarshal(rec.Payload, &is); err != nil {
					t.Fatal(err)
				}
				controller = *is.ActiveControllerID
			case abi.EventUserMessage:
				if err := json.Unmarshal(rec.State, &of); err != nil {
					t.Fatal(err)
				}
				if tasks++; of.Metadata.ClientID != controller {
					t.Fatalf("the log has a task of %q while %q controls the session", of.Metadata.ClientID, controller)
				}
			}
		}
		if !more {
			break
		}
	}
	if tasks == 0 {
		t.Error("no task was taken")
	}
}

func TestSessionSettings(t *testing.T) {
	disk, p := crashtest.NewDisk(), newProgram()
	guests := enginetest.Guests{"echo": enginetest.Echo, "program": p.run}
	has := func(_ *engine.Config, parts *engine.Parts) {
		parts.Models = func() []abi.NodeModel {
			return []abi.NodeModel{{Name: "main", Kind: "anthropic", Model: "claude", Place: abi.ModelCloud, Aliases: []string{}, Auth: abi.ModelAuth{Env: []string{"KEY"}}},
				{Name: "near", Kind: "openai", Model: "qwen", Place: abi.ModelLocal, Aliases: []string{"local/qwen"}, Default: true, Available: true, Auth: abi.ModelAuth{Env: []string{}}}}
		}
	}
	n := boot(t, disk, guests, has)
	session := n.Session(t)
	update := func(req abi.UpdateSessionRequest) (abi.Session, error) {
		doc, err := n.UpdateSession(t.Context(), n.Root, nil, session, req)
		if err != nil {
			return abi.Session{}, err
		}
		return enginetest.As[abi.Session](t, doc), nil
	}
	s, err := update(abi.UpdateSessionRequest{PersonaID: abi.ChangeTo("persona_program"), Model: abi.ChangeTo("local/qwen")})
	if err != nil || s.PersonaID != "persona_program" || s.Model != "near" {
		t.Fatalf("%+v, %v", s, err)
	}
	if s, err = update(abi.UpdateSessionRequest{Summary: abi.ChangeTo("s")}); err != nil || s.Model != "near" || s.PersonaID != "persona_program" {
		t.Errorf("another change: %+v, %v", s, err)
	}
	_, err = update(abi.UpdateSessionRequest{Model: abi.ChangeTo("gpt-9")})
	if enginetest.WantCode(t, err, abi.CodeInvalidRequest); !strings.Contains(err.Error(), "it has main, near") {
		t.Errorf("an unknown model is answered %v", err)
	}
	_, err = update(abi.UpdateSessionRequest{PersonaID: abi.ChangeTo("persona_nobody")})
	enginetest.WantCode(t, err, abi.CodeResourceNotFound)
	n.Stop(t)

	n = boot(t, disk, guests, has)
	defer n.Stop(t)
	task := func(req abi.SubmitTaskRequest) abi.Task {
		t.Helper()
		req.Input = enginetest.Text("hi")
		doc, err := n.SubmitTask(t.Context(), n.Root, nil, req)
		if err != nil {
			t.Fatal(err)
		}
		n.Wait(t, doc.ID)
		return enginetest.As[abi.Task](t, doc)
	}
	if of := task(abi.SubmitTaskRequest{SessionID: session}); of.PersonaID != "persona_program" || of.Run == nil || of.Run.Model != "near" {
		t.Errorf("a task that names nothing: %+v", of)
	}
	if of := task(abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_echo", Run: &abi.RunOptions{Model: "main"}}); of.PersonaID != "persona_echo" || of.Run.Model != "main" {
		t.Errorf("a task that names its own: %+v", of)
	}
	fork, err := n.ForkSession(t.Context(), n.Root, nil, session, abi.ForkSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if of := enginetest.As[abi.Session](t, fork); of.Model != "near" || of.PersonaID != "persona_program" {
		t.Errorf("a fork: %+v", of)
	}
	if s, err = update(abi.UpdateSessionRequest{Model: abi.Change[string]{Given: true}, PersonaID: abi.Change[string]{Given: true}}); err != nil || s.Model != "" || s.PersonaID != "" {
		t.Errorf("null: %+v, %v", s, err)
	}
	if of := task(abi.SubmitTaskRequest{SessionID: session}); of.PersonaID != "persona_echo" || of.Run != nil {
		t.Errorf("a task of a session without settings: %+v", of)
	}
	all, err := n.Models(t.Context(), n.Root)
	if err != nil || all.Default != "near" || len(all.Providers) != 2 || all.Providers[1].ID != "openai-local" || all.Models[0].Provider != "anthropic" || all.Providers[0].Available || !all.Providers[1].Available {
		t.Errorf("the catalogue: %+v, %v", all, err)
	}
}

package engine_test

import (
	"slices"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// newKey makes a key and returns the caller that it stands for.
func (n *node) newKey(t *testing.T, req abi.CreateKeyRequest) (*desk.Caller, abi.CreatedKey) {
	t.Helper()
	doc, err := n.CreateKey(t.Context(), n.Root, req)
	if err != nil {
		t.Fatal(err)
	}
	key := enginetest.As[abi.CreatedKey](t, doc)
	caller, err := n.Authenticate(t.Context(), key.Key)
	if err != nil {
		t.Fatal(err)
	}
	return caller, key
}

func TestKeys(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	caller, key := n.newKey(t, abi.CreateKeyRequest{Name: "ci"})
	if caller.Actor != "key:ci" || caller.Can(abi.ScopeAdmin) || !caller.Can("tasks:write") {
		t.Errorf("%+v", caller)
	}
	if key.Hash != "" {
		t.Error("the answer shows the key's hash")
	}
	for _, wrong := range []string{"", "x", key.Key + "x", key.Key[:len(key.Key)-1], strings.ToUpper(key.Key)} {
		_, err := n.Authenticate(t.Context(), wrong)
		enginetest.WantCode(t, err, abi.CodeUnauthenticated)
	}
	list, err := n.ListKeys(t.Context(), n.Root, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 2 {
		t.Fatalf("%d keys, %v", len(list.Docs), err)
	}
	for _, doc := range list.Docs {
		if strings.Contains(string(doc.JSON), key.Key) || strings.Contains(string(doc.JSON), `"hash"`) {
			t.Errorf("a listed key shows its secret: %s", doc.JSON)
		}
	}
	for range 2 { // the second time changes nothing
		doc, err := n.RevokeKey(t.Context(), n.Root, key.ID)
		if err != nil || enginetest.As[abi.APIKey](t, doc).RevokedAt.IsZero() {
			t.Fatalf("%s %v", doc.JSON, err)
		}
	}
	_, err = n.Authenticate(t.Context(), key.Key)
	enginetest.WantCode(t, err, abi.CodeUnauthenticated)
}

func TestKeysGiveAwayNoMoreThanTheyHave(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	admin, _ := n.newKey(t, abi.CreateKeyRequest{Name: "admin", Scopes: []string{abi.ScopeAdmin, "tasks:read"}})
	plain, _ := n.newKey(t, abi.CreateKeyRequest{Name: "plain"})
	for name, test := range map[string]struct {
		by  *desk.Caller
		req abi.CreateKeyRequest
	}{
		"no admin":           {plain, abi.CreateKeyRequest{Name: "x"}},
		"a scope it has not": {admin, abi.CreateKeyRequest{Name: "x", Scopes: []string{"tasks:write"}}},
		"everything":         {admin, abi.CreateKeyRequest{Name: "x", Scopes: []string{abi.ScopeAll}}},
		"another tenant":     {admin, abi.CreateKeyRequest{Name: "x", Tenant: "acme", Scopes: []string{"tasks:read"}}},
	} {
		_, err := n.CreateKey(t.Context(), test.by, test.req)
		if err == nil {
			t.Errorf("%s: a key was made", name)
			continue
		}
		enginetest.WantCode(t, err, abi.CodePermissionDenied)
	}
	_, err := n.CreateKey(t.Context(), n.Root, abi.CreateKeyRequest{Name: "x", Scopes: []string{"tasks:fly"}})
	if enginetest.WantCode(t, err, abi.CodeInvalidRequest).Param != "scopes" {
		t.Error("an unknown scope is not named")
	}
}

// What belongs to another tenant does not exist, whatever is done to it.
func TestOtherTenantsSeeNothing(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	task := n.Wait(t, n.Submit(t, session, ""))
	other, _ := n.newKey(t, abi.CreateKeyRequest{Name: "x", Tenant: "acme", Scopes: []string{abi.ScopeAll}})
	if other.Tenant == n.Root.Tenant {
		t.Fatal("acme is not a tenant of its own")
	}
	n.wantInvisible(t, other, session, task)

	events, _, err := n.Events(t.Context(), other, desk.Filter{}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if ev.Frame.Tenant != other.Tenant {
			t.Fatalf("an event of tenant %d is in the stream", ev.Frame.Tenant)
		}
	}
	list, err := n.List(t.Context(), other, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 0 {
		t.Errorf("%d tasks of another tenant are listed, %v", len(list.Docs), err)
	}
	keys, err := n.ListKeys(t.Context(), &desk.Caller{Tenant: other.Tenant, TenantID: other.TenantID, Scopes: []string{abi.ScopeAdmin}}, desk.Page{Limit: 10})
	if err != nil || len(keys.Docs) != 1 {
		t.Errorf("%d keys, want acme's own one, %v", len(keys.Docs), err)
	}
}

// A key that is bound to a Workspace sees what is in it, and nothing else.
func TestOtherWorkspacesAreInvisible(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	task := n.Wait(t, n.Submit(t, session, ""))
	doc, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "b", Root: "b"})
	if err != nil {
		t.Fatal(err)
	}
	bound, _ := n.newKey(t, abi.CreateKeyRequest{Name: "b", WorkspaceIDs: []string{doc.ID}})
	n.wantInvisible(t, bound, session, task)

	own, err := n.CreateSession(t.Context(), bound, nil, abi.CreateSessionRequest{WorkspaceID: doc.ID})
	if err != nil {
		t.Fatal(err)
	}
	list, err := n.List(t.Context(), bound, abi.ObjectSession, desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 || list.Docs[0].ID != own.ID {
		t.Errorf("%d sessions listed, want the own one, %v", len(list.Docs), err)
	}
	workspaces, err := n.List(t.Context(), bound, abi.ObjectWorkspace, desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(workspaces.Docs) != 1 {
		t.Errorf("%d workspaces listed, want 1, %v", len(workspaces.Docs), err)
	}
	if _, err := n.CreateWorkspace(t.Context(), bound, nil, abi.CreateWorkspaceRequest{Name: "c", Root: "c"}); err == nil {
		t.Error("a key bound to a workspace made another one")
	}
}

func (n *node) wantInvisible(t *testing.T, c *desk.Caller, session string, task abi.Task) {
	t.Helper()
	ctx := t.Context()
	events, _, err := n.Events(ctx, n.Root, desk.Filter{TaskID: task.ID}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	keep := 0
	for name, try := range map[string]func() error{
		"get session": func() error { _, err := n.Get(ctx, c, abi.ObjectSession, session); return err },
		"get task":    func() error { _, err := n.Get(ctx, c, abi.ObjectTask, task.ID); return err },
		"get outcome": func() error { _, err := n.Get(ctx, c, abi.ObjectOutcome, task.OutcomeID); return err },
		"get message": func() error { _, err := n.Get(ctx, c, abi.ObjectMessage, task.InputMessageID); return err },
		"wait":        func() error { _, err := n.WaitTask(ctx, c, task.ID); return err },
		"messages":    func() error { _, err := n.Messages(ctx, c, session, desk.Page{Limit: 1}); return err },
		"event":       func() error { _, err := n.Event(ctx, c, events[0].Position()); return err },
		"events":      func() error { _, _, err := n.Events(ctx, c, desk.Filter{SessionID: session}, 0, 1); return err },
		"subscribe":   func() error { _, err := n.Subscribe(ctx, c, desk.Filter{TaskID: task.ID}, 0); return err },
		"close":       func() error { _, err := n.CloseSession(ctx, c, nil, session); return err },
		"fork":        func() error { _, err := n.ForkSession(ctx, c, nil, session, abi.ForkSessionRequest{}); return err },
		"truncate": func() error {
			_, err := n.TruncateSession(ctx, c, nil, session, abi.TruncateSessionRequest{Keep: &keep})
			return err
		},
		"append": func() error {
			_, err := n.AppendMessage(ctx, c, nil, session, abi.AppendMessageRequest{Message: message("x")})
			return err
		},
		"submit": func() error {
			_, err := n.SubmitTask(ctx, c, nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("x")})
			return err
		},
		"cancel": func() error { _, err := n.CancelTask(ctx, c, nil, task.ID, abi.CancelTaskRequest{}); return err },
		"interrupt": func() error {
			_, err := n.AppendTaskMessage(ctx, c, nil, task.ID, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInterrupt, Message: message("x")})
			return err
		},
		"branch": func() error {
			_, err := n.CreateBranch(ctx, c, nil, session, abi.CreateBranchRequest{Kind: abi.BranchSession, BaseRef: "x"})
			return err
		},
		"update": func() error { _, err := n.UpdateSession(ctx, c, nil, session, abi.UpdateSessionRequest{}); return err },
		"its workspace": func() error {
			_, err := n.CreateSession(ctx, c, nil, abi.CreateSessionRequest{WorkspaceID: task.WorkspaceID})
			return err
		},
	} {
		if err := try(); err == nil {
			t.Errorf("%s: it worked", name)
		} else {
			enginetest.WantCode(t, err, abi.CodeResourceNotFound)
		}
	}
}

func TestRedact(t *testing.T) {
	const doc = `{"id":"msg_1","visibility":"internal","parts":[` +
		`{"type":"text","text":"open","visibility":"public"},` +
		`{"type":"text","text":"inside","visibility":"internal"},` +
		`{"type":"json","value":{"deep":"secret"},"visibility":"receipt_only"}],"n":12345678901234567890}`
	for _, test := range []struct {
		internal   bool
		has, hasnt []string
	}{
		{false, []string{"open", "msg_1", "12345678901234567890", `"redacted":true`}, []string{"inside", "secret"}},
		{true, []string{"open", "inside"}, []string{"secret"}},
	} {
		got, err := redact.Document([]byte(doc), test.internal)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range test.has {
			if !strings.Contains(string(got), s) {
				t.Errorf("internal %v: %q is gone from %s", test.internal, s, got)
			}
		}
		for _, s := range test.hasnt {
			if strings.Contains(string(got), s) {
				t.Errorf("internal %v: %q is in %s", test.internal, s, got)
			}
		}
		var m abi.Message
		if err := json.Unmarshal(got, &m); err != nil || len(m.Parts) != 3 {
			t.Errorf("the structure was lost: %s", got)
		}
	}
}

// A run that is repeated is told what it was told before: what a plugin sees of a part
// that it may not read stays as it is, whatever readers get.
func TestWhatPluginsAreToldOfSealedParts(t *testing.T) {
	const input = `{"parts":[{"type":"text","text":"a proof","visibility":"receipt_only"}],"role":"user"}`
	told, err := redact.ForPlugins(jsontext.Value(input))
	if want := `{"parts":[{"type":"text","visibility":"receipt_only","redacted":true}],"role":"user"}`; err != nil || string(told) != want {
		t.Errorf("a plugin is told %s, %v; want %s", told, err, want)
	}
	shown, err := redact.Document([]byte(input), true)
	if want := `{"parts":[{"type":"text","visibility":"receipt_only","redacted":true,"text":""}],"role":"user"}`; err != nil || string(shown) != want {
		t.Errorf("a reader is shown %s, %v; want %s", shown, err, want)
	}
}

// Who is bound to Workspaces gets no further by making, showing or ending keys.
func TestBoundKeysStayBound(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	other, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "w", Root: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	all := []string{abi.ScopeAll}
	bound, own := n.newKey(t, abi.CreateKeyRequest{Name: "bound", Scopes: all, WorkspaceIDs: []string{other.ID}})
	_, within := n.newKey(t, abi.CreateKeyRequest{Name: "within", WorkspaceIDs: []string{other.ID}})
	_, wider := n.newKey(t, abi.CreateKeyRequest{Name: "wider", WorkspaceIDs: []string{other.ID, tenancy.DefaultWorkspace}})
	_, beside := n.newKey(t, abi.CreateKeyRequest{Name: "beside", WorkspaceIDs: []string{tenancy.DefaultWorkspace}})
	_, free := n.newKey(t, abi.CreateKeyRequest{Name: "free"})
	_, foreign := n.newKey(t, abi.CreateKeyRequest{Name: "foreign", Tenant: "gamma"})

	_, err = n.CreateKey(t.Context(), bound, abi.CreateKeyRequest{Name: "x", Scopes: all, Tenant: "gamma"})
	enginetest.WantCode(t, err, abi.CodePermissionDenied)
	_, err = n.CreateKey(t.Context(), bound, abi.CreateKeyRequest{Name: "x", Scopes: all, WorkspaceIDs: []string{other.ID, tenancy.DefaultWorkspace}})
	enginetest.WantCode(t, err, abi.CodeResourceNotFound)
	doc, err := n.CreateKey(t.Context(), bound, abi.CreateKeyRequest{Name: "x", Scopes: all, WorkspaceIDs: []string{}})
	if err != nil || !slices.Equal(enginetest.As[abi.CreatedKey](t, doc).WorkspaceIDs, []string{other.ID}) {
		t.Errorf("%s %v", doc.JSON, err)
	}
	list, err := n.ListKeys(t.Context(), bound, desk.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	listed := []string{}
	for _, d := range list.Docs {
		listed = append(listed, d.ID)
	}
	for id, seen := range map[string]bool{own.ID: true, within.ID: true, doc.ID: true, n.Root.KeyID: false, wider.ID: false, beside.ID: false, free.ID: false, foreign.ID: false} {
		if slices.Contains(listed, id) != seen {
			t.Errorf("%s is listed: %t", id, !seen)
		}
		if !seen {
			_, err := n.RevokeKey(t.Context(), bound, id)
			enginetest.WantCode(t, err, abi.CodeResourceNotFound)
		}
	}
	if _, err := n.RevokeKey(t.Context(), bound, within.ID); err != nil {
		t.Error(err)
	}
}

// Keys that administer the node are ended by who does so, too.
func TestTheNodesKeysAreEndedByItsAdministrators(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	admin, _ := n.newKey(t, abi.CreateKeyRequest{Name: "admin", Scopes: []string{abi.ScopeAdmin}})
	_, bound := n.newKey(t, abi.CreateKeyRequest{Name: "bound", Scopes: []string{abi.ScopeAll}, WorkspaceIDs: []string{tenancy.DefaultWorkspace}})
	_, err := n.RevokeKey(t.Context(), admin, n.Root.KeyID)
	enginetest.WantCode(t, err, abi.CodePermissionDenied)
	for _, id := range []string{bound.ID, admin.KeyID} {
		if _, err := n.RevokeKey(t.Context(), admin, id); err != nil {
			t.Error(err)
		}
	}
}

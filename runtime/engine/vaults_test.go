package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// sender stands for a provider that puts secrets in requests: its request names one
// and a host, and it answers nothing of the value but whether it is what is wanted.
type sender struct {
	mu   sync.Mutex
	sent []string
}

func (s *sender) Prepare(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	var req struct{ Name, Host, Only string }
	if err := json.Unmarshal(c.Request, &req, json.MatchCaseInsensitiveNames(true)); err != nil {
		return provider.Plan{}, provider.Malformed(err)
	}
	v, err := c.Vault(ctx, req.Name)
	if err != nil {
		return provider.Plan{}, err
	}
	if req.Only != "" {
		why := provider.Refuse(abi.CallDenied, "http_denied", "not there")
		return provider.Plan{}, errors.Join(v.Refused(ctx, req.Host, why), why)
	}
	return provider.Plan{Effect: abi.EffectRead, Do: func(ctx context.Context, _ func(string)) ([]byte, error) {
		value, err := v.Value(ctx, req.Host)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sent = append(s.sent, value)
		return []byte(`{"ok":true}`), nil
	}}, nil
}

// vaulted boots a node with vaults. Its plugin "call" makes the calls of its input, and
// what it is answered is the summary of the Task.
func vaulted(t *testing.T, configure ...enginetest.Configure) (*node, *sender) {
	t.Helper()
	s, dir := &sender{}, t.TempDir()
	return newNode(t, vaultGuests(), append([]enginetest.Configure{keepVaults(dir, s)}, configure...)...), s
}

func keepVaults(dir string, s *sender) enginetest.Configure {
	return func(_ *engine.Config, p *engine.Parts) {
		p.Vaults = vault.New(vault.Config{Dir: filepath.Join(dir, "vaults"), KeyFile: filepath.Join(dir, "keys", "vault.age"), EnvPrefix: "V_",
			Environ: func() []string { return []string{"V_DEFAULT__TOKEN=from-env", "V_OTHER__TOKEN=theirs"} }, Log: slog.New(slog.DiscardHandler)})
		p.Performers = map[string]provider.Performer{abi.CallHTTPFetch: s, abi.CallSecretUse: secret.New(secret.Config{})}
	}
}

func vaultGuests() enginetest.Guests {
	call := func(ctx context.Context, h sandbox.Host) error {
		_, given, err := h.Call(ctx, abi.CallInput, nil)
		if err != nil {
			return err
		}
		var input struct {
			Task struct {
				Input struct {
					Calls [][2]string `json:"calls"`
				} `json:"input"`
			} `json:"task"`
		}
		if err := json.Unmarshal(given, &input); err != nil {
			return err
		}
		var all []string
		for _, c := range input.Task.Input.Calls {
			status, answer, err := h.Call(ctx, c[0], []byte(c[1]))
			if err != nil {
				return err
			}
			all = append(all, fmt.Sprintf("%d %s", status, answer))
		}
		out, err := json.Marshal(abi.CallOutputRequest{Summary: strings.Join(all, "\n")})
		if err != nil {
			return err
		}
		_, _, err = h.Call(ctx, abi.CallOutput, out)
		return err
	}
	return enginetest.Guests{"call": call, "other": call}
}

func (n *node) vault(t *testing.T, c *desk.Caller, req abi.CreateVaultRequest) string {
	t.Helper()
	doc, err := n.CreateVault(t.Context(), c, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// forCall is a Vault that the Persona of the plugin "call" may use.
func forCall() abi.CreateVaultRequest {
	return abi.CreateVaultRequest{Provider: abi.VaultLocal, Capabilities: []string{"read", "write", "sign"},
		Access: &abi.VaultAccess{Personas: []string{"persona_c*"}, Connectors: []string{"conn_a*"}}}
}

func (n *node) keep(t *testing.T, c *desk.Caller, vaultID, name, value string, hosts ...string) abi.VaultSecret {
	t.Helper()
	doc, err := n.StoreSecret(t.Context(), c, nil, vaultID, name, abi.StoreSecretRequest{Value: value, Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.VaultSecret](t, doc)
}

// calls runs a Task that makes calls, and returns what it was answered.
func (n *node) calls(t *testing.T, c *desk.Caller, session, persona string, calls ...[2]string) []string {
	t.Helper()
	input, err := json.Marshal(map[string]any{"calls": calls})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := n.SubmitTask(t.Context(), c, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: persona, Input: jsontext.Value(input)})
	if err != nil {
		t.Fatal(err)
	}
	if doc, err = n.WaitTask(t.Context(), c, doc.ID); err != nil {
		t.Fatal(err)
	}
	task := enginetest.As[abi.Task](t, doc)
	if task.Failure != nil {
		t.Fatalf("the task failed: %+v", task.Failure)
	}
	out, err := n.Get(t.Context(), c, abi.ObjectOutcome, task.OutcomeID)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(enginetest.As[abi.Outcome](t, out).Summary, "\n")
}

// uses returns the events that tell uses of secrets, oldest first.
func (n *node) uses(t *testing.T, tenant storage.Tenant) (uses []abi.SecretUse) {
	t.Helper()
	next := map[abi.ResourcePointer]uint64{}
	for after := storage.Position(0); ; {
		events, more, err := n.Store.Events(t.Context(), tenant, storage.Scope{}, after, 500)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			after = ev.Position()
			rec := ev.Record()
			if rec.Resource.Object == abi.ObjectVault || rec.Resource.Object == abi.ObjectVaultSecret {
				if rec.Sequence != next[rec.Resource] {
					t.Errorf("%s of %s has the sequence %d, not %d", rec.Kind, rec.Resource.ID, rec.Sequence, next[rec.Resource])
				}
				next[rec.Resource]++
			}
			if rec.Kind != abi.EventSecretUsed {
				continue
			}
			var use abi.SecretUse
			if err := json.Unmarshal(rec.Payload, &use); err != nil {
				t.Fatal(err)
			}
			uses = append(uses, use)
		}
		if !more {
			return uses
		}
	}
}

func TestATaskUsesASecretOfAVault(t *testing.T) {
	n, sent := vaulted(t)
	id := n.vault(t, n.Root, forCall())
	n.keep(t, n.Root, id, "token", "value one", "api.example.com")
	doc, err := n.CreateSession(t.Context(), n.Root, nil, abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace, VaultIDs: []string{id}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.CreateSession(t.Context(), n.Root, nil, abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace, VaultIDs: []string{"vault_none"}})
	enginetest.WantCode(t, err, abi.CodeResourceNotFound)
	if s := enginetest.As[abi.Session](t, doc); len(s.VaultIDs) != 1 || s.VaultIDs[0] != id {
		t.Errorf("the session names %v", s.VaultIDs)
	}
	whole := id + "/token"
	got := n.calls(t, n.Root, doc.ID, "persona_call",
		[2]string{abi.CallSecretUse, `{"name":"token"}`}, [2]string{abi.CallSecretUse, `{"name":"` + whole + `"}`},
		[2]string{abi.CallHTTPFetch, `{"name":"` + whole + `","host":"h"}`},
		[2]string{abi.CallHTTPFetch, `{"name":"` + whole + `","host":"evil","only":"x"}`},
		[2]string{abi.CallSecretUse, `{"name":"none"}`})
	handle := `0 {"handle":"{{secret:` + whole + `}}"}`
	if got[0] != handle || got[1] != handle || got[2] != `0 {"ok":true}` || !strings.Contains(got[3], "http_denied") || !strings.Contains(got[4], secret.CodeDenied) {
		t.Errorf("got %q", got)
	}
	if v := n.keep(t, n.Root, id, "token", "value two"); v.Version != 2 || v.Hosts != nil {
		t.Errorf("the second version: %+v", v)
	}
	n.calls(t, n.Root, doc.ID, "persona_call", [2]string{abi.CallHTTPFetch, `{"name":"token","host":"h"}`})
	if fmt.Sprint(sent.sent) != "[value one value two]" {
		t.Errorf("sent %q", sent.sent)
	}
	uses := n.uses(t, n.Root.Tenant)
	want := []string{"token 1 h true ", "token 1 evil false http_denied", "none 0  false " + secret.CodeUnknown, "token 2 h true "}
	if len(uses) != len(want) {
		t.Fatalf("%d uses are told: %+v", len(uses), uses)
	}
	for i, u := range uses {
		if told := fmt.Sprintf("%s %d %s %v %s", u.Name, u.Version, u.Host, u.Allowed, u.Reason); told != want[i] {
			t.Errorf("use %d is told as %q, not %q", i, told, want[i])
		}
		if u.VaultID != id || u.TaskID == "" || u.PersonaID != "persona_call" || u.Call == "" {
			t.Errorf("use %d lacks something: %+v", i, u)
		}
	}
	// What the Session can name in short, its fork can.
	fork, err := n.ForkSession(t.Context(), n.Root, nil, doc.ID, abi.ForkSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.calls(t, n.Root, fork.ID, "persona_call", [2]string{abi.CallSecretUse, `{"name":"token"}`}); got[0] != handle {
		t.Errorf("in a fork: %q", got)
	}
}

// TestWhoMayNotUseASecret asks for one secret by everybody who has no part in it.
func TestWhoMayNotUseASecret(t *testing.T) {
	n, sent := vaulted(t)
	other, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "other", Root: "wharf:///other"})
	if err != nil {
		t.Fatal(err)
	}
	key, err := n.CreateKey(t.Context(), n.Root, abi.CreateKeyRequest{Name: "k", Tenant: "other", Scopes: []string{abi.ScopeAll}})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := n.Authenticate(t.Context(), enginetest.As[abi.CreatedKey](t, key).Key)
	if err != nil {
		t.Fatal(err)
	}
	home := tenancy.DefaultWorkspace
	req := forCall()
	req.WorkspaceID = &home
	mine := n.vault(t, n.Root, req)
	n.keep(t, n.Root, mine, "token", "mine")
	closed, unread := forCall(), forCall()
	closed.Access, unread.Capabilities = nil, []string{"write", "sign"}
	closedID, unreadID := n.vault(t, n.Root, closed), n.vault(t, n.Root, unread)
	n.keep(t, n.Root, closedID, "token", "closed")
	n.keep(t, n.Root, unreadID, "token", "unread")
	gone := n.vault(t, n.Root, forCall())
	n.keep(t, n.Root, gone, "token", "gone")
	if err := n.RemoveSecret(t.Context(), n.Root, nil, gone, "token"); err != nil {
		t.Fatal(err)
	}
	env := forCall()
	env.Provider, env.Capabilities = abi.VaultEnv, []string{"read"}
	envID := n.vault(t, n.Root, env)
	session := func(c *desk.Caller, workspace string) string {
		doc, err := n.CreateSession(t.Context(), c, nil, abi.CreateSessionRequest{WorkspaceID: workspace})
		if err != nil {
			t.Fatal(err)
		}
		return doc.ID
	}
	theirs, err := n.List(t.Context(), stranger, abi.ObjectWorkspace, desk.Filter{}, desk.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	at, elsewhere, abroad := session(n.Root, home), session(n.Root, other.ID), session(stranger, theirs.Docs[0].ID)
	for _, test := range []struct {
		what, session, persona, name string
		by                           *desk.Caller
		want                         abi.CallStatus
	}{
		{"who may", at, "persona_call", mine + "/token", n.Root, abi.CallOK},
		{"another Persona", at, "persona_other", mine + "/token", n.Root, abi.CallDenied},
		{"another Workspace", elsewhere, "persona_call", mine + "/token", n.Root, abi.CallNotFound},
		{"another tenant", abroad, "persona_call", mine + "/token", stranger, abi.CallNotFound},
		{"another tenant, of the whole tenant's", abroad, "persona_call", closedID + "/token", stranger, abi.CallNotFound},
		{"nobody is named", at, "persona_call", closedID + "/token", n.Root, abi.CallDenied},
		{"not to be read", at, "persona_call", unreadID + "/token", n.Root, abi.CallDenied},
		{"removed", at, "persona_call", gone + "/token", n.Root, abi.CallNotFound},
		{"not there", at, "persona_call", mine + "/nothing", n.Root, abi.CallNotFound},
		{"no name", at, "persona_call", mine + "/../token", n.Root, abi.CallNotFound},
		{"no vault", at, "persona_call", "vault_01ARZ3NDEKTSV4RRFFQ69G5FAV/token", n.Root, abi.CallNotFound},
		{"no vault at all", at, "persona_call", "/token", n.Root, abi.CallNotFound},
		{"an environment variable", at, "persona_call", envID + "/token", n.Root, abi.CallOK},
		{"a variable that is not set", at, "persona_call", envID + "/path", n.Root, abi.CallNotFound},
		{"a session that names none", at, "persona_call", "token", n.Root, abi.CallNotFound},
	} {
		sent.sent = nil
		got := n.calls(t, test.by, test.session, test.persona, [2]string{abi.CallHTTPFetch, `{"name":"` + test.name + `","host":"h"}`})
		if !strings.HasPrefix(got[0], fmt.Sprintf("%d ", test.want)) || (test.want == abi.CallOK) != (len(sent.sent) == 1) {
			t.Errorf("%s: %q, and %d values were sent", test.what, got, len(sent.sent))
		}
	}
	for _, u := range n.uses(t, stranger.Tenant) {
		t.Errorf("the other tenant's log has a use: %+v", u)
	}
	told := map[string]int{}
	for _, u := range n.uses(t, n.Root.Tenant) {
		told[fmt.Sprintf("%v %s", u.Allowed, u.Reason)]++
	}
	if told["true "] != 2 || told["false "+secret.CodeDenied] != 3 || told["false "+secret.CodeUnknown] < 3 {
		t.Errorf("told are %v", told)
	}
	// Access that is taken away is taken away at once.
	if _, err := n.UpdateVault(t.Context(), n.Root, nil, mine, abi.UpdateVaultRequest{Access: &abi.VaultAccess{}}); err != nil {
		t.Fatal(err)
	}
	if got := n.calls(t, n.Root, at, "persona_call", [2]string{abi.CallHTTPFetch, `{"name":"` + mine + `/token","host":"h"}`}); !strings.HasPrefix(got[0], fmt.Sprint(int(abi.CallDenied))) {
		t.Errorf("after access was taken away: %q", got)
	}
}

// A Vault of a provider that this node does not serve is kept as it was described, and
// whoever uses it is told so. Capabilities that mean nothing here allow nothing.
func TestAVaultThatIsNotServed(t *testing.T) {
	n, sent := vaulted(t)
	ctx := t.Context()
	req := forCall()
	req.Provider, req.Capabilities = "conformance-oauth", []string{"oauth_refresh", "read", "write"}
	id := n.vault(t, n.Root, req)
	doc, err := n.Get(ctx, n.Root, abi.ObjectVault, id)
	if v := enginetest.As[abi.Vault](t, doc); err != nil || v.Provider != req.Provider || strings.Join(v.Capabilities, " ") != "oauth_refresh read write" {
		t.Errorf("kept as %+v, %v", v, err)
	}
	_, err = n.StoreSecret(ctx, n.Root, nil, id, "token", abi.StoreSecretRequest{Value: "x"})
	enginetest.WantCode(t, err, abi.CodeNotImplemented)
	_, err = n.ListSecrets(ctx, n.Root, id, desk.Page{Limit: 10})
	enginetest.WantCode(t, err, abi.CodeNotImplemented)
	got := n.calls(t, n.Root, n.Session(t), "persona_call", [2]string{abi.CallHTTPFetch, `{"name":"` + id + `/token","host":"h"}`})
	if !strings.HasPrefix(got[0], fmt.Sprint(int(abi.CallUnavailable))) || !strings.Contains(got[0], "conformance-oauth") || len(sent.sent) > 0 {
		t.Errorf("a use is answered %q, and %v was sent", got, sent.sent)
	}
	useless := forCall()
	useless.Capabilities = []string{"oauth_refresh"}
	_, err = n.StoreSecret(ctx, n.Root, nil, n.vault(t, n.Root, useless), "token", abi.StoreSecretRequest{Value: "x"})
	enginetest.WantCode(t, err, abi.CodePermissionDenied)
}

func TestSecretsAreListedWithoutValues(t *testing.T) {
	n, _ := vaulted(t)
	id, another := n.vault(t, n.Root, forCall()), n.vault(t, n.Root, forCall())
	for i := range 5 {
		n.keep(t, n.Root, id, fmt.Sprintf("s%d", i), "canary-value", "h.test")
		n.keep(t, n.Root, another, fmt.Sprintf("t%d", i), "canary-value")
	}
	if err := n.RemoveSecret(t.Context(), n.Root, nil, id, "s3"); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for page := (desk.Page{Limit: 2}); ; {
		list, err := n.ListSecrets(t.Context(), n.Root, id, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range list.Docs {
			s := enginetest.As[abi.VaultSecret](t, doc)
			names[s.Name] = true
			if strings.Contains(string(doc.JSON), "canary") || s.Version != 1 || len(s.Hosts) != 1 {
				t.Errorf("listed as %s", doc.JSON)
			}
		}
		if page.After = list.Next; !list.More {
			break
		}
	}
	if fmt.Sprint(names) != "map[s0:true s1:true s2:true s4:true]" {
		t.Errorf("listed are %v", names)
	}
	env := n.vault(t, n.Root, abi.CreateVaultRequest{Provider: abi.VaultEnv, Capabilities: []string{"read"}})
	list, err := n.ListSecrets(t.Context(), n.Root, env, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 || enginetest.As[abi.VaultSecret](t, list.Docs[0]).Name != "TOKEN" || strings.Contains(string(list.Docs[0].JSON), "from-env") {
		t.Errorf("the variables are listed as %v, %v", list.Docs, err)
	}
}

// TestSecretsSurviveARestart also stores under one Idempotency-Key twice, and with
// another value.
func TestSecretsSurviveARestart(t *testing.T) {
	disk, dir, s := crashtest.NewDisk(), t.TempDir(), &sender{}
	g := vaultGuests()
	g["echo"] = enginetest.Echo
	n := boot(t, disk, g, keepVaults(dir, s))
	id := n.vault(t, n.Root, forCall())
	put := func(n *node, value string) (desk.Doc, error) {
		body := `{"value":"` + value + `"}`
		return n.StoreSecret(t.Context(), n.Root, &desk.Retry{Key: "k", Scope: "PUT /x", Fingerprint: ledger.CanonicalHash([]byte(body))}, id, "token", abi.StoreSecretRequest{Value: value})
	}
	for range 2 {
		doc, err := put(n, "one")
		if err != nil || enginetest.As[abi.VaultSecret](t, doc).Version != 1 {
			t.Fatalf("%s, %v", doc.JSON, err)
		}
	}
	_, err := put(n, "two")
	enginetest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
	n.Stop(t)
	n = boot(t, disk, g, keepVaults(dir, s))
	defer n.Stop(t)
	_, err = put(n, "two")
	enginetest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
	n.keep(t, n.Root, id, "other", "second")
	if _, err := n.RotateVaultKey(t.Context(), n.Root); err != nil {
		t.Fatal(err)
	}
	session := n.Session(t)
	n.calls(t, n.Root, session, "persona_call", [2]string{abi.CallHTTPFetch, `{"name":"` + id + `/token","host":"h"}`},
		[2]string{abi.CallHTTPFetch, `{"name":"` + id + `/other","host":"h"}`})
	if fmt.Sprint(s.sent) != "[one second]" {
		t.Errorf("sent %q", s.sent)
	}
	n.uses(t, n.Root.Tenant)
	n.wantSound(t)
}

// TestManyUseASecretAtOnce has Tasks use a secret while it is changed: its events are
// gapless, and each value that is sent was one that it had.
func TestManyUseASecretAtOnce(t *testing.T) {
	n, s := vaulted(t)
	id := n.vault(t, n.Root, forCall())
	n.keep(t, n.Root, id, "token", "v1")
	session := n.Session(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			var calls [][2]string
			for range 10 {
				calls = append(calls, [2]string{abi.CallHTTPFetch, `{"name":"` + id + `/token","host":"h"}`})
			}
			for _, got := range n.calls(t, n.Root, session, "persona_call", calls...) {
				if !strings.HasPrefix(got, "0 ") {
					t.Errorf("a use was answered %s", got)
				}
			}
		})
	}
	for version := 2; version < 20; version++ {
		n.keep(t, n.Root, id, "token", fmt.Sprintf("v%d", version))
	}
	all.Wait()
	if uses := n.uses(t, n.Root.Tenant); len(uses) != 80 || len(s.sent) != 80 {
		t.Errorf("%d uses are told, and %d values were sent", len(uses), len(s.sent))
	}
}

// TestAConnectorUsesASecret covers who may, what is told, and what is looked up again.
func TestAConnectorUsesASecret(t *testing.T) {
	var now sync.Map
	now.Store("at", time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC))
	asked := 0
	n, _ := vaulted(t, func(_ *engine.Config, p *engine.Parts) {
		p.Now = func() time.Time { at, _ := now.Load("at"); return at.(time.Time) }
		p.NodeSecret = func(_ context.Context, c *abi.Connector, name string) ([]byte, error) {
			if asked++; c.Provider != "github" {
				return nil, provider.Refuse(abi.CallDenied, secret.CodeDenied, "no")
			}
			return []byte("node's " + name), nil
		}
	})
	later := func(d time.Duration) { at, _ := now.Load("at"); now.Store("at", at.(time.Time).Add(d)) }
	ctx, tenant := t.Context(), n.Root.Tenant
	id := n.vault(t, n.Root, forCall())
	n.keep(t, n.Root, id, "hook", "one")
	a, b := &abi.Connector{Provider: "github", WorkspaceID: tenancy.DefaultWorkspace}, &abi.Connector{Provider: "slack", WorkspaceID: tenancy.DefaultWorkspace}
	a.ID, b.ID = "conn_a1", "conn_b1"
	want := func(c *abi.Connector, vaultID, name, value string, status abi.CallStatus) {
		t.Helper()
		for range 3 {
			got, err := n.ConnectorSecret(ctx, tenant, c, vaultID, name)
			refused, _ := errors.AsType[*provider.Refusal](err)
			if string(got) != value || (err == nil) != (status == abi.CallOK) || err != nil && (refused == nil || refused.Status != status) {
				t.Errorf("%s of %q for %s is %q, %v", name, vaultID, c.ID, got, err)
			}
		}
	}
	told := func(n2 int, what string) {
		t.Helper()
		if uses := n.uses(t, tenant); len(uses) != n2 {
			t.Errorf("%s: %d uses are told, not %d: %+v", what, len(uses), n2, uses)
		}
	}
	want(a, id, "hook", "one", abi.CallOK)
	told(1, "first use")
	n.keep(t, n.Root, id, "hook", "two")
	want(a, id, "hook", "two", abi.CallOK)
	told(2, "another version")
	n.keep(t, n.Root, id, "unrelated", "x")
	want(a, id, "hook", "two", abi.CallOK)
	told(2, "another secret was stored")
	later(2 * time.Hour)
	want(a, id, "hook", "two", abi.CallOK)
	told(3, "hours later")
	want(b, id, "hook", "", abi.CallDenied)
	told(4, "one that is not named")
	want(a, id, "none", "", abi.CallNotFound)
	told(5, "one that is not there")
	elsewhere := *a
	elsewhere.WorkspaceID = "ws_other"
	want(&elsewhere, id, "hook", "two", abi.CallOK) // the vault is the whole tenant's
	told(6, "from another Workspace")
	if _, err := n.ConnectorSecret(ctx, tenant+1, a, id, "hook"); err == nil {
		t.Error("another tenant's Connector has it")
	}
	want(a, "", "hmac", "node's hmac", abi.CallOK)
	want(b, "", "hmac", "", abi.CallDenied)
	want(a, "", "../hmac", "", abi.CallNotFound)
	told(8, "the node's")
	if asked != 2 {
		t.Errorf("the node's secrets were read %d times", asked)
	}
	later(11 * time.Second)
	want(a, "", "hmac", "node's hmac", abi.CallOK)
	if told(8, "seconds later"); asked != 3 {
		t.Errorf("the node's secrets were read %d times", asked)
	}
	if err := n.RemoveSecret(ctx, n.Root, nil, id, "hook"); err != nil {
		t.Fatal(err)
	}
	want(a, id, "hook", "", abi.CallNotFound)
	n.keep(t, n.Root, id, "hook", "three")
	want(a, id, "hook", "three", abi.CallOK)
	if _, err := n.UpdateVault(ctx, n.Root, nil, id, abi.UpdateVaultRequest{Capabilities: []string{"read"}}); err != nil {
		t.Fatal(err)
	}
	want(a, id, "hook", "", abi.CallDenied)
	n.wantSound(t)
}

// BenchmarkConnectorSecret is what each delivery pays.
func BenchmarkConnectorSecret(b *testing.B) {
	dir := b.TempDir()
	n := newNode(b, vaultGuests(), keepVaults(dir, &sender{}))
	v, err := n.CreateVault(b.Context(), n.Root, nil, forCall())
	if err == nil {
		_, err = n.StoreSecret(b.Context(), n.Root, nil, v.ID, "hook", abi.StoreSecretRequest{Value: "one"})
	}
	if err != nil {
		b.Fatal(err)
	}
	c := &abi.Connector{Provider: "github", WorkspaceID: tenancy.DefaultWorkspace}
	c.ID = "conn_a1"
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := n.ConnectorSecret(b.Context(), n.Root.Tenant, c, v.ID, "hook"); err != nil {
				b.Error(err)
			}
		}
	})
}

package secrets_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/secrets"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

const connectorID = "conn_test"

// room is a keeper by itself, whose values are in a folder that outlives a crash.
type room struct {
	*roomtest.House
	*secrets.Keeper
	dir string
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now)), dir: t.TempDir()}
	r.furnish()
	return r
}

func (r *room) furnish() {
	values := vault.New(vault.Config{Dir: filepath.Join(r.dir, "values"), KeyFile: filepath.Join(r.dir, "key"), Log: r.Log,
		EnvPrefix: "TEST_", Environ: func() []string { return nil }})
	r.Keeper = secrets.NewKeeper(secrets.Parts{Parts: r.Parts, Tenants: named{}, Values: values})
}

type named struct{}

func (named) NameOf(storage.Tenant) string { return "default" }

// request asks for a Vault of the Workspace, for its Persona and Connector.
func request() abi.CreateVaultRequest {
	workspace := roomtest.Workspace
	return abi.CreateVaultRequest{WorkspaceID: &workspace, Provider: abi.VaultLocal, Capabilities: []string{"read", "write", "sign"},
		Access: &abi.VaultAccess{Personas: []string{roomtest.Persona}, Connectors: []string{"conn_*"}}}
}

func (r *room) vault(t testing.TB, req abi.CreateVaultRequest) string {
	t.Helper()
	doc, err := r.CreateVault(t.Context(), r.Root(), nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

func (r *room) store(t testing.TB, vault, value string) {
	t.Helper()
	doc, err := r.StoreSecret(t.Context(), r.Root(), nil, vault, "token", abi.StoreSecretRequest{Value: value})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(doc.JSON, []byte(value)) {
		t.Errorf("the answer tells %s", doc.JSON)
	}
}

func (r *room) user() *secrets.User {
	return &secrets.User{Tenant: roomtest.Tenant, Workspace: roomtest.Workspace, Persona: roomtest.Persona, Task: "task_test", Session: roomtest.Session,
		Call: abi.CallHTTPFetch, Vaults: func() []string { return nil }}
}

// use uses a secret as a provider does.
func (r *room) use(t testing.TB, u *secrets.User, name string) (string, error) {
	t.Helper()
	found, err := r.SecretsFor(u)(t.Context(), name)
	if err != nil {
		return "", err
	}
	return found.Value(t.Context(), "api.example.com")
}

func (r *room) uses(t testing.TB) (n int) {
	t.Helper()
	for _, kind := range r.Kinds(t, desk.Filter{}) {
		if kind == abi.EventSecretUsed {
			n++
		}
	}
	return n
}

func wantRefusal(t testing.TB, err error, status abi.CallStatus) {
	t.Helper()
	if refused, ok := errors.AsType[*provider.Refusal](err); !ok || refused.Status != status {
		t.Errorf("the error is %v, want a refusal of status %d", err, status)
	}
}

// A value is used by those who may, after a crash too, and each use is told. Nothing that
// callers get, nor the log, holds it.
func TestSecretsAreUsed(t *testing.T) {
	r := newRoom(t)
	id := r.vault(t, request())
	r.store(t, id, "first-value")
	r.store(t, id, "hunter-two-value")
	r.Crash()
	r.furnish()
	value, err := r.use(t, r.user(), id+"/token")
	if err != nil || value != "hunter-two-value" {
		t.Fatalf("%q, %v", value, err)
	}
	if used, refused := r.SecretUses(); used != 1 || refused != 0 || r.uses(t) != 1 {
		t.Errorf("%d uses and %d refusals are counted, %d told", used, refused, r.uses(t))
	}
	byName := r.user()
	byName.Vaults = func() []string { return []string{"vault_none", id} }
	if value, err := r.use(t, byName, "token"); err != nil || value != "hunter-two-value" {
		t.Errorf("by its name alone: %q, %v", value, err)
	}
	list, err := r.ListSecrets(t.Context(), r.Root(), id, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 || roomtest.As[abi.VaultSecret](t, list.Docs[0]).Version != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	events, _, err := r.Desk.Events(t.Context(), r.Root(), desk.Filter{}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	told := string(list.Docs[0].JSON)
	for _, ev := range events {
		told += string(ev.Record().State) + string(ev.Record().Payload)
	}
	if strings.Contains(told, "first-value") || strings.Contains(told, "hunter-two") {
		t.Error("a value is told")
	}
}

// A Vault that a user's Workspace has no part in is as absent as one that is not there; one
// whose access does not name the user denies; and each refusal is told.
func TestWhoMayNotUseASecret(t *testing.T) {
	r := newRoom(t)
	id := r.vault(t, request())
	r.store(t, id, "value")
	noRead := request()
	noRead.Capabilities = []string{"write"}
	unreadable := r.vault(t, noRead)
	r.store(t, unreadable, "value")
	for name, test := range map[string]struct {
		change func(*secrets.User)
		secret string
		status abi.CallStatus
		told   int
	}{
		"another workspace": {func(u *secrets.User) { u.Workspace = "ws_other" }, id + "/token", abi.CallNotFound, 1},
		"another tenant":    {func(u *secrets.User) { u.Tenant = 2 }, id + "/token", abi.CallNotFound, 0},
		"another persona":   {func(u *secrets.User) { u.Persona = "persona_other" }, id + "/token", abi.CallDenied, 1},
		"another connector": {func(u *secrets.User) { u.Persona, u.Connector = "", "other" }, id + "/token", abi.CallDenied, 1},
		"no capability":     {func(*secrets.User) {}, unreadable + "/token", abi.CallDenied, 1},
		"no secret":         {func(*secrets.User) {}, id + "/none", abi.CallNotFound, 1},
		"no vault":          {func(*secrets.User) {}, "vault_none/token", abi.CallNotFound, 0},
		"no name":           {func(*secrets.User) {}, id + "/../token", abi.CallNotFound, 0},
		"no such name":      {func(*secrets.User) {}, "token", abi.CallNotFound, 0},
	} {
		t.Run(name, func(t *testing.T) {
			u, before := r.user(), r.uses(t)
			test.change(u)
			_, err := r.use(t, u, test.secret)
			wantRefusal(t, err, test.status)
			if told := r.uses(t) - before; told != test.told {
				t.Errorf("%d events tell of it, want %d", told, test.told)
			}
		})
	}
}

// What is removed cannot be used, also by whom it was given to before, nor removed again.
func TestARemovedSecretIsGone(t *testing.T) {
	r := newRoom(t)
	id := r.vault(t, request())
	r.store(t, id, "value")
	given, err := r.SecretsFor(r.user())(t.Context(), id+"/token")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveSecret(t.Context(), r.Root(), roomtest.Retry("k", ""), id, "token"); err != nil {
		t.Fatal(err)
	}
	_, err = given.Value(t.Context(), "api.example.com")
	wantRefusal(t, err, abi.CallNotFound)
	r.Crash()
	r.furnish()
	_, err = r.use(t, r.user(), id+"/token")
	wantRefusal(t, err, abi.CallNotFound)
	if err := r.RemoveSecret(t.Context(), r.Root(), roomtest.Retry("k", ""), id, "token"); err != nil {
		t.Error("the same request again: ", err)
	}
	roomtest.WantCode(t, r.RemoveSecret(t.Context(), r.Root(), nil, id, "token"), abi.CodeResourceNotFound)
	if list, err := r.ListSecrets(t.Context(), r.Root(), id, desk.Page{Limit: 10}); err != nil || len(list.Docs) != 0 {
		t.Errorf("%d are listed, %v", len(list.Docs), err)
	}
}

// What a Connector checks signatures with is told once in a while, and looked up anew at once
// when a Vault changes.
func TestConnectorsTrust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		id := r.vault(t, request())
		r.store(t, id, "one")
		c := &abi.Connector{Envelope: abi.Envelope{ID: connectorID}, WorkspaceID: roomtest.Workspace}
		trusted := func(want string) {
			t.Helper()
			got, err := r.ConnectorSecret(t.Context(), roomtest.Tenant, c, id, "token")
			if err != nil || string(got) != want {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		}
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { trusted("one") })
		}
		all.Wait()
		if n := r.uses(t); n != 1 {
			t.Errorf("its use is told %d times", n)
		}
		r.store(t, id, "two")
		trusted("two")
		if n := r.uses(t); n != 2 {
			t.Errorf("its use is told %d times", n)
		}
		capabilities := []string{"read"}
		if _, err := r.UpdateVault(t.Context(), r.Root(), nil, id, abi.UpdateVaultRequest{Capabilities: capabilities}); err != nil {
			t.Fatal(err)
		}
		_, err := r.ConnectorSecret(t.Context(), roomtest.Tenant, c, id, "token")
		wantRefusal(t, err, abi.CallDenied)
	})
}

// A key that is bound to Workspaces makes and changes no Vault of the whole tenant, and one of
// another Workspace or tenant is not there.
func TestWhoChangesVaults(t *testing.T) {
	r := newRoom(t)
	tenantWide := request()
	tenantWide.WorkspaceID = nil
	id, wide, ctx := r.vault(t, request()), r.vault(t, tenantWide), t.Context()
	change := func(c *desk.Caller, id string) []error {
		_, update := r.UpdateVault(ctx, c, nil, id, abi.UpdateVaultRequest{})
		_, store := r.StoreSecret(ctx, c, nil, id, "token", abi.StoreSecretRequest{Value: "v"})
		return []error{update, store, r.RemoveSecret(ctx, c, nil, id, "token")}
	}
	bound := r.Bound(roomtest.Workspace)
	for _, err := range change(bound, id) {
		if err != nil {
			t.Error("within its workspace: ", err)
		}
	}
	for _, err := range change(bound, wide) {
		roomtest.WantCode(t, err, abi.CodePermissionDenied)
	}
	_, err := r.CreateVault(ctx, bound, nil, tenantWide)
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
	for _, c := range r.Strangers() {
		_, list := r.ListSecrets(ctx, c, id, desk.Page{Limit: 1})
		_, create := r.CreateVault(ctx, c, nil, request())
		named := r.CheckVaultIDs(ctx, c, roomtest.Workspace, []string{id})
		for _, err := range slices.Concat(change(c, id), []error{list, create, named}) {
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		}
	}
	if err := r.CheckVaultIDs(ctx, r.Root(), roomtest.Workspace, []string{id, wide}); err != nil {
		t.Error(err)
	}
	roomtest.WantCode(t, r.CheckVaultIDs(ctx, r.Root(), "ws_other", []string{id}), abi.CodeResourceNotFound)
	roomtest.WantParam(t, r.CheckVaultIDs(ctx, r.Root(), roomtest.Workspace, make([]string, 33)), "vault_ids")
	nowhere := "ws_nowhere"
	tenantWide.WorkspaceID = &nowhere
	_, err = r.CreateVault(ctx, r.Root(), nil, tenantWide)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	_, err = r.RotateVaultKey(ctx, r.With("vaults:write"))
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
}

func TestVaultsThatAreRefused(t *testing.T) {
	r := newRoom(t)
	many := strings.Split(strings.Repeat("a,", 201), ",")
	for name, test := range map[string]struct {
		change func(*abi.CreateVaultRequest)
		param  string
	}{
		"no provider":         {func(q *abi.CreateVaultRequest) { q.Provider = "" }, "provider"},
		"a long provider":     {func(q *abi.CreateVaultRequest) { q.Provider = strings.Repeat("p", 256) }, "provider"},
		"not set up":          {func(q *abi.CreateVaultRequest) { q.Provider, q.Capabilities = abi.VaultFile, []string{"read"} }, "provider"},
		"no capabilities":     {func(q *abi.CreateVaultRequest) { q.Capabilities = nil }, "capabilities"},
		"an empty one":        {func(q *abi.CreateVaultRequest) { q.Capabilities = []string{""} }, "capabilities"},
		"many of them":        {func(q *abi.CreateVaultRequest) { q.Capabilities = many }, "capabilities"},
		"the operator's":      {func(q *abi.CreateVaultRequest) { q.Provider = abi.VaultEnv }, "capabilities"},
		"an empty pattern":    {func(q *abi.CreateVaultRequest) { q.Access.Personas = []string{""} }, "access.personas"},
		"no pattern":          {func(q *abi.CreateVaultRequest) { q.Access.Connectors = []string{"a b"} }, "access.connectors"},
		"many patterns":       {func(q *abi.CreateVaultRequest) { q.Access.Personas = many }, "access.personas"},
		"what is no metadata": {func(q *abi.CreateVaultRequest) { q.Metadata = jsontext.Value(`7`) }, "metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			req := request()
			test.change(&req)
			_, err := r.CreateVault(t.Context(), r.Root(), nil, req)
			roomtest.WantParam(t, err, test.param)
		})
	}
	id := r.vault(t, request())
	for _, test := range []struct {
		name  string
		req   abi.StoreSecretRequest
		param string
	}{
		{"", abi.StoreSecretRequest{Value: "v"}, "name"},
		{"a/b", abi.StoreSecretRequest{Value: "v"}, "name"},
		{".hidden", abi.StoreSecretRequest{Value: "v"}, "name"},
		{strings.Repeat("n", 65), abi.StoreSecretRequest{Value: "v"}, "name"},
		{"n", abi.StoreSecretRequest{}, "value"},
		{"n", abi.StoreSecretRequest{Value: strings.Repeat("v", vault.MaxValue+1)}, "value"},
		{"n", abi.StoreSecretRequest{Value: "v", Hosts: []string{"*"}}, "hosts"},
		{"n", abi.StoreSecretRequest{Value: "v", Hosts: []string{"https://a.example/"}}, "hosts"},
		{"n", abi.StoreSecretRequest{Value: "v", Hosts: make([]string, 101)}, "hosts"},
	} {
		_, err := r.StoreSecret(t.Context(), r.Root(), nil, id, test.name, test.req)
		roomtest.WantParam(t, err, test.param)
	}
	elsewhere := request()
	elsewhere.Provider = "somebody-else"
	_, err := r.StoreSecret(t.Context(), r.Root(), nil, r.vault(t, elsewhere), "n", abi.StoreSecretRequest{Value: "v"})
	roomtest.WantCode(t, err, abi.CodeNotImplemented)
}

// Versions that are stored at once are all counted, and the last is what is used; a request
// that comes twice is one version.
func TestVersions(t *testing.T) {
	r := newRoom(t)
	id := r.vault(t, request())
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { r.store(t, id, "value") })
	}
	all.Wait()
	for range 2 {
		doc, err := r.StoreSecret(t.Context(), r.Root(), roomtest.Retry("k", `{"value":"last"}`), id, "token", abi.StoreSecretRequest{Value: "last"})
		if err != nil || roomtest.As[abi.VaultSecret](t, doc).Version != 7 {
			t.Errorf("%s, %v", doc.JSON, err)
		}
		r.Crash()
		r.furnish()
	}
	if value, err := r.use(t, r.user(), id+"/token"); err != nil || value != "last" {
		t.Errorf("%q, %v", value, err)
	}
	_, err := r.StoreSecret(t.Context(), r.Root(), roomtest.Retry("k", `{"value":"other"}`), id, "token", abi.StoreSecretRequest{Value: "other"})
	roomtest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
}

// A node without vaults says so.
func TestANodeWithoutVaults(t *testing.T) {
	r := newRoom(t)
	k := secrets.NewKeeper(secrets.Parts{Parts: r.Parts, Tenants: named{}})
	_, err := k.CreateVault(t.Context(), r.Root(), nil, request())
	roomtest.WantCode(t, err, abi.CodeNotImplemented)
	_, err = k.SecretsFor(r.user())(t.Context(), "vault_none/token")
	wantRefusal(t, err, abi.CallNotFound)
}

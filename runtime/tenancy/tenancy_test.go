package tenancy_test

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

const rootKey = "a-root-key-for-tests"

// room is a directory by itself, of a node that was started with rootKey.
type room struct {
	*roomtest.House
	*tenancy.Directory
	tenants *tenancy.Tenants
	root    *desk.Caller
	seeded  []string // names of the tenants that were seeded
	leftOut []string // what could not be read
}

func newRoom(t testing.TB) *room {
	t.Helper()
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.start(t, rootKey)
	return r
}

// start makes the directory anew, as a start of the node does. Without a key it asks for one.
func (r *room) start(t testing.TB, key string) (newKey string) {
	t.Helper()
	r.tenants, r.seeded, r.leftOut = &tenancy.Tenants{}, nil, nil
	r.Directory = tenancy.NewDirectory(tenancy.Parts{Parts: r.Parts, Entropy: rand.Reader,
		Quota: func(_ context.Context, _ *desk.Caller, id string) (desk.Doc, error) {
			if id != "quota_test" {
				return desk.Doc{}, abi.NotFound(abi.ObjectQuota, id)
			}
			return desk.Doc{ID: id}, nil
		},
		Seed: func(_ context.Context, t *abi.Tenant) error {
			r.seeded = append(r.seeded, t.Name)
			return nil
		},
		LeaveOut: func(_ storage.Tenant, o abi.Object, id string, _ error) { r.leftOut = append(r.leftOut, id) },
	}, r.tenants)
	newKey, err := r.Bootstrap(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if key == "" {
		key = newKey
	}
	if key == "" {
		return ""
	}
	if r.root, err = r.Authenticate(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return newKey
}

func (r *room) create(t testing.TB, c *desk.Caller, req abi.CreateKeyRequest) abi.CreatedKey {
	t.Helper()
	doc, err := r.CreateKey(t.Context(), c, req)
	if err != nil {
		t.Fatal(err)
	}
	return roomtest.As[abi.CreatedKey](t, doc)
}

// A first start without a key makes one up, once; a later one with a key of its own takes that,
// and the one of before ends.
func TestStartKeys(t *testing.T) {
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	first := r.start(t, "")
	if first == "" || !r.root.Can(abi.ScopeAdmin) || !r.root.Can(abi.ScopeNode) {
		t.Fatalf("%q is %+v", first, r.root)
	}
	r.Crash()
	if again := r.start(t, ""); again != "" {
		t.Errorf("the second start makes %q up", again)
	}
	for _, key := range []string{rootKey, "another-root-key-for-tests"} {
		r.Crash()
		r.start(t, key)
	}
	_, err := r.Authenticate(t.Context(), rootKey)
	roomtest.WantCode(t, err, abi.CodeUnauthenticated)
	for _, guessed := range []string{"short", "0123456789abcde", "aaaaaaaaaaaaaaaa", strings.Repeat("abcdefg", 9)} {
		if _, err := r.Bootstrap(t.Context(), guessed); err == nil || !strings.Contains(err.Error(), "at least") {
			t.Errorf("%q: %v", guessed, err)
		}
	}
}

// A key lets in who has it, after a crash too, and nobody once it is revoked.
func TestKeys(t *testing.T) {
	r := newRoom(t)
	made := r.create(t, r.root, abi.CreateKeyRequest{Name: "n", Scopes: []string{"tasks:read"}})
	r.Crash()
	r.start(t, rootKey)
	c, err := r.Authenticate(t.Context(), made.Key)
	if err != nil || !c.Can("tasks:read") || c.Can("tasks:write") || c.TenantID != r.root.TenantID || c.KeyID != made.ID {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, credential := range []string{"", "unknown", made.Key + "x", made.Key[:len(made.Key)-1], made.ID, made.Hash} {
		_, err := r.Authenticate(t.Context(), credential)
		roomtest.WantCode(t, err, abi.CodeUnauthenticated)
	}
	list, err := r.ListKeys(t.Context(), r.root, desk.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range list.Docs {
		if strings.Contains(string(doc.JSON), made.Key) || roomtest.As[abi.APIKey](t, doc).Hash != "" {
			t.Errorf("the list tells %s", doc.JSON)
		}
	}
	if _, err := r.RevokeKey(t.Context(), r.root, made.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := r.Authenticate(t.Context(), made.Key)
		roomtest.WantCode(t, err, abi.CodeUnauthenticated)
		r.Crash()
		r.start(t, rootKey)
	}
}

// While a key is used by many, no request that begins after its revocation is let in.
func TestARevocationIsNotOvertaken(t *testing.T) {
	r := newRoom(t)
	for range 20 {
		made := r.create(t, r.root, abi.CreateKeyRequest{Name: "n"})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { _, _ = r.Authenticate(t.Context(), made.Key) })
		}
		if _, err := r.RevokeKey(t.Context(), r.root, made.ID); err != nil {
			t.Fatal(err)
		}
		_, err := r.Authenticate(t.Context(), made.Key)
		roomtest.WantCode(t, err, abi.CodeUnauthenticated)
		all.Wait()
		_, err = r.Authenticate(t.Context(), made.Key)
		roomtest.WantCode(t, err, abi.CodeUnauthenticated)
	}
}

// caller lets in who has a new key.
func (r *room) caller(t testing.TB, by *desk.Caller, req abi.CreateKeyRequest) *desk.Caller {
	t.Helper()
	c, err := r.Authenticate(t.Context(), r.create(t, by, req).Key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Nobody gives away more than they have, and keys of another tenant are not there.
func TestNobodyGivesAwayMoreThanTheyHave(t *testing.T) {
	r := newRoom(t)
	admin := r.caller(t, r.root, abi.CreateKeyRequest{Name: "admin", Scopes: []string{abi.ScopeAdmin, "tasks:read"}})
	reader := r.caller(t, r.root, abi.CreateKeyRequest{Name: "reader", Scopes: []string{"tasks:read"}})
	bound := r.caller(t, r.root, abi.CreateKeyRequest{Name: "bound", Scopes: []string{abi.ScopeAll}, WorkspaceIDs: []string{tenancy.DefaultWorkspace}})
	elsewhere := r.caller(t, r.root, abi.CreateKeyRequest{Name: "other", Scopes: []string{abi.ScopeAdmin}, Tenant: "other"})
	for name, test := range map[string]struct {
		by  *desk.Caller
		req abi.CreateKeyRequest
	}{
		"without the scope to make keys": {reader, abi.CreateKeyRequest{Scopes: []string{"tasks:read"}}},
		"a scope that it lacks":          {admin, abi.CreateKeyRequest{Scopes: []string{"tasks:write"}}},
		"all scopes":                     {admin, abi.CreateKeyRequest{Scopes: []string{abi.ScopeAll}}},
		"of another tenant":              {admin, abi.CreateKeyRequest{Scopes: []string{"tasks:read"}, Tenant: "other"}},
		"over the whole node":            {bound, abi.CreateKeyRequest{Scopes: []string{abi.ScopeNode}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.req.Name = "n"
			_, err := r.CreateKey(t.Context(), test.by, test.req)
			roomtest.WantCode(t, err, abi.CodePermissionDenied)
		})
	}
	for _, workspaces := range [][]string{bound.Workspaces, nil} {
		if c := r.caller(t, bound, abi.CreateKeyRequest{Name: "n", WorkspaceIDs: workspaces}); c.Sees("ws_other") || !c.Sees(tenancy.DefaultWorkspace) {
			t.Errorf("%+v", c)
		}
	}
	other, err := r.CreateWorkspace(t.Context(), r.root, nil, abi.CreateWorkspaceRequest{Name: "other", Root: "/"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.CreateKey(t.Context(), bound, abi.CreateKeyRequest{Name: "n", WorkspaceIDs: []string{other.ID}})
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	if elsewhere.Tenant == r.root.Tenant || r.tenants.NameOf(elsewhere.Tenant) != "other" {
		t.Errorf("%+v is of the tenant %q", elsewhere, r.tenants.NameOf(elsewhere.Tenant))
	}
	_, err = r.RevokeKey(t.Context(), elsewhere, admin.KeyID)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	_, err = r.RevokeKey(t.Context(), reader, admin.KeyID)
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
}

// A key acts under its own name, never under one that others are known by.
func TestKeysThatAreRefused(t *testing.T) {
	r := newRoom(t)
	for _, test := range []struct {
		req   abi.CreateKeyRequest
		param string
	}{
		{abi.CreateKeyRequest{}, "name"},
		{abi.CreateKeyRequest{Name: strings.Repeat("n", 200)}, "name"},
		{abi.CreateKeyRequest{Name: "a\nb"}, "name"},
		{abi.CreateKeyRequest{Name: "root"}, "name"},
		{abi.CreateKeyRequest{Name: "n", Scopes: []string{"galaxy:rule"}}, "scopes"},
		{abi.CreateKeyRequest{Name: "n", Actor: desk.HostActor}, "actor"},
		{abi.CreateKeyRequest{Name: "n", Actor: abi.RootKeyActor}, "actor"},
		{abi.CreateKeyRequest{Name: "n", Actor: "key:other"}, "actor"},
		{abi.CreateKeyRequest{Name: "n", Actor: "issuer:user"}, "actor"},
		{abi.CreateKeyRequest{Name: "n", Actor: "persona_digest"}, "actor"},
	} {
		_, err := r.CreateKey(t.Context(), r.root, test.req)
		roomtest.WantParam(t, err, test.param)
	}
	for _, actor := range []string{":", "wharf", "host", "node", "conn_1", "task_1", "a\nb", "a\u202eb", "\xff", strings.Repeat("a", 201)} {
		_, err := r.CreateKey(t.Context(), r.root, abi.CreateKeyRequest{Name: "n", Actor: actor})
		roomtest.WantParam(t, err, "actor")
	}
	for actor, as := range map[string]string{"": "key:n", "key:n": "key:n", "ci": "ci", "ci@acme": "ci@acme", "Ada L.": "Ada L."} {
		if c := r.caller(t, r.root, abi.CreateKeyRequest{Name: "n", Actor: actor}); c.Actor != as {
			t.Errorf("%q acts as %s", actor, c.Actor)
		}
	}
}

// Of several who name a new tenant at once, one makes it; it is there after a crash, and is
// given what comes with the node at each start.
func TestATenantIsMadeOnce(t *testing.T) {
	r := newRoom(t)
	var all sync.WaitGroup
	callers := make([]*desk.Caller, 6)
	for i := range callers {
		all.Go(func() { callers[i] = r.caller(t, r.root, abi.CreateKeyRequest{Name: "n", Tenant: "other"}) })
	}
	all.Wait()
	for _, c := range callers {
		if c.Tenant != callers[0].Tenant || c.TenantID != callers[0].TenantID {
			t.Errorf("%+v and %+v", c, callers[0])
		}
	}
	r.Crash()
	r.start(t, rootKey)
	if len(r.tenants.All()) != 2 || r.tenants.IDOf(callers[0].Tenant) != callers[0].TenantID || len(r.seeded) != 2 {
		t.Errorf("there are %v, seeded %v", r.tenants.All(), r.seeded)
	}
	if got := r.DefaultWorkspaceOf(callers[0]); got == "" || got == tenancy.DefaultWorkspace {
		t.Errorf("its workspace is %s", got)
	}
}

// While a tenant is stored that cannot be read, no other is made: its number is taken.
func TestATenantThatCannotBeRead(t *testing.T) {
	r := newRoom(t)
	system := &desk.Caller{Tenant: storage.SystemTenant, Actor: "test"}
	f := storage.Frame{Tenant: system.Tenant, Time: r.Now(), Records: []storage.Record{{Kind: abi.EventTenantCreated, Created: true,
		Resource: abi.ResourcePointer{Object: abi.ObjectTenant, ID: "tenant_torn"}, State: []byte(`{"id":7}`)}}}
	if _, err := r.Ledger.Append(&storage.Batch{Frame: f}).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.start(t, rootKey)
	if len(r.leftOut) != 1 || r.leftOut[0] != "tenant_torn" {
		t.Errorf("left out: %v", r.leftOut)
	}
	_, err := r.CreateKey(t.Context(), r.root, abi.CreateKeyRequest{Name: "n", Tenant: "new"})
	roomtest.WantCode(t, err, abi.CodeConflict)
}

func TestWorkspaces(t *testing.T) {
	r := newRoom(t)
	doc, err := r.CreateWorkspace(t.Context(), r.root, roomtest.Retry("k", ""), abi.CreateWorkspaceRequest{Name: "n", Root: "file:///"})
	if err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.start(t, rootKey)
	again, err := r.CreateWorkspace(t.Context(), r.root, roomtest.Retry("k", ""), abi.CreateWorkspaceRequest{Name: "n", Root: "file:///"})
	if err != nil || again.ID != doc.ID {
		t.Errorf("made %s and %s, %v", doc.ID, again.ID, err)
	}
	for param, req := range map[string]abi.CreateWorkspaceRequest{
		"name": {Root: "/"}, "root": {Name: "n"}, "metadata": {Name: "n", Root: "/", Metadata: jsontext.Value(`7`)},
		"network_policy": {Name: "n", Root: "/", NetworkPolicy: jsontext.Value(`[]`)},
	} {
		_, err := r.CreateWorkspace(t.Context(), r.root, nil, req)
		roomtest.WantParam(t, err, param)
	}
	bound := &desk.Caller{Tenant: r.root.Tenant, TenantID: r.root.TenantID, Scopes: []string{abi.ScopeAll}, Workspaces: []string{doc.ID}}
	_, err = r.CreateWorkspace(t.Context(), bound, nil, abi.CreateWorkspaceRequest{Name: "n", Root: "/"})
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
	_, err = r.UpdateWorkspace(t.Context(), bound, nil, tenancy.DefaultWorkspace, abi.UpdateWorkspaceRequest{})
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	if got := r.DefaultWorkspaceOf(bound); got != doc.ID {
		t.Errorf("its default workspace is %s", got)
	}
}

// Nobody frees themselves of a Quota by naming another, or none.
func TestWhoChangesTheQuotaOfAWorkspace(t *testing.T) {
	r := newRoom(t)
	change := func(c *desk.Caller, quota string) error {
		_, err := r.UpdateWorkspace(t.Context(), c, nil, tenancy.DefaultWorkspace, abi.UpdateWorkspaceRequest{QuotaID: jsontext.Value(quota)})
		return err
	}
	scoped := &desk.Caller{Tenant: r.root.Tenant, TenantID: r.root.TenantID, Scopes: []string{"workspaces:write"}}
	bound := &desk.Caller{Tenant: r.root.Tenant, TenantID: r.root.TenantID, Scopes: []string{abi.ScopeAll}, Workspaces: []string{tenancy.DefaultWorkspace}}
	for _, quota := range []string{`null`, `"quota_test"`} {
		roomtest.WantCode(t, change(scoped, quota), abi.CodePermissionDenied)
		roomtest.WantCode(t, change(bound, quota), abi.CodePermissionDenied)
		if err := change(r.root, quota); err != nil {
			t.Error(err)
		}
	}
	for _, quota := range []string{`"quota_none"`, `7`} {
		roomtest.WantParam(t, change(r.root, quota), "quota_id")
	}
	name := ""
	_, err := r.UpdateWorkspace(t.Context(), r.root, nil, tenancy.DefaultWorkspace, abi.UpdateWorkspaceRequest{Name: &name})
	roomtest.WantParam(t, err, "name")
}

// Directories of several nodes on one store share no numbers: however they make tenants, each
// name is one tenant, and each tenant has a number of its own.
func TestTenantsOfSeveralWriters(t *testing.T) {
	r := newRoom(t)
	const nodes, names = 3, 8
	var all sync.WaitGroup
	for i := range nodes {
		other := &room{House: r.House}
		other.start(t, rootKey)
		all.Go(func() {
			for n := range names {
				other.create(t, other.root, abi.CreateKeyRequest{Name: "k", Actor: "a", Tenant: string(rune('a' + (n*(i+1))%names)), Scopes: []string{abi.ScopeAll}})
			}
		})
	}
	all.Wait()
	page, _, err := r.Store.List(t.Context(), storage.SystemTenant, abi.ObjectTenant, desk.Scope{}, storage.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	numbers, called := map[uint32]string{}, map[string]bool{}
	for i := range page {
		var is abi.Tenant
		if err := ledger.ReadListed(&page[i], &is); err != nil {
			t.Fatal(err)
		}
		if numbers[is.Number] != "" || called[is.Name] {
			t.Errorf("the tenant %s has the number %d of %q", is.Name, is.Number, numbers[is.Number])
		}
		numbers[is.Number], called[is.Name] = is.Name, true
	}
}

// A change of a Workspace comes after what was told of its files, and so does its sequence.
func TestAWorkspaceOfWhichOthersTell(t *testing.T) {
	r := newRoom(t)
	doc, err := r.CreateWorkspace(t.Context(), r.root, nil, abi.CreateWorkspaceRequest{Name: "w", Root: "file:///w"})
	if err != nil {
		t.Fatal(err)
	}
	told := ledger.Record{Kind: abi.EventFileWritten, Object: abi.ObjectWorkspace, ID: doc.ID}
	if _, err := r.Desk.CommitNext(t.Context(), storage.Frame{Tenant: r.root.Tenant, WorkspaceID: doc.ID}, nil, 0, told); err != nil {
		t.Fatal(err)
	}
	name := "other"
	if _, err := r.UpdateWorkspace(t.Context(), r.root, nil, doc.ID, abi.UpdateWorkspaceRequest{Name: &name}); err != nil {
		t.Fatal(err)
	}
	res, err := r.Store.Get(t.Context(), r.root.Tenant, abi.ObjectWorkspace, doc.ID)
	if err != nil || res.Sequence != 2 {
		t.Errorf("it is at sequence %d, %v", res.Sequence, err)
	}
}

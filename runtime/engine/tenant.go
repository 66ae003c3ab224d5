package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// tenantTable holds every tenant of the node, and the Personas that were looked
// up. Tenants are few.
type tenantTable struct {
	mu       lockrank.RWMutex[lockTable]
	byID     map[string]*abi.Tenant
	byName   map[string]*abi.Tenant
	byNumber map[storage.Tenant]*abi.Tenant
	stored   int // how many the log has, those included that cannot be read

	personas    sync.Map                    // owner → *persona
	loadPersona lockrank.Mutex[lockPersona] // held while one is put there, so that none is older than the last

	create lockrank.Mutex[lockTenants] // held while a tenant is made
}

func (t *tenantTable) put(tenant *abi.Tenant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID, t.byName = map[string]*abi.Tenant{}, map[string]*abi.Tenant{}
		t.byNumber = map[storage.Tenant]*abi.Tenant{}
	}
	t.byID[tenant.ID], t.byName[tenant.Name] = tenant, tenant
	t.byNumber[storage.Tenant(tenant.Number)] = tenant
}

// made takes in a tenant that was not there before.
func (t *tenantTable) made(tenant *abi.Tenant) {
	t.put(tenant)
	t.mu.Lock()
	t.stored++
	t.mu.Unlock()
}

func (t *tenantTable) named(name string) *abi.Tenant {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byName[name]
}

func (t *tenantTable) all() []*abi.Tenant {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]*abi.Tenant, 0, len(t.byID))
	for _, tenant := range t.byID {
		list = append(list, tenant)
	}
	return list
}

// DefaultTenant is the name of the tenant that a first start makes, and
// DefaultWorkspace the id of its Workspace.
const (
	DefaultTenant    = "default"
	DefaultWorkspace = "ws_default"
)

// Bootstrap makes what a node needs to be usable: the default tenant with its
// Workspace and Personas, and an API key with every right. key, when it is not
// empty, is that API key, and the one that a start was given before is revoked; otherwise a
// first start makes one up and returns it, and later starts return "". It is called once, before [Engine.Start].
func (e *Engine) Bootstrap(ctx context.Context, key string) (newKey string, err error) {
	if key != "" && len(key) < MinKeyLen {
		return "", fmt.Errorf("the API key must have at least %d characters; it has %d", MinKeyLen, len(key))
	}
	if err := e.loadTenants(ctx); err != nil {
		return "", err
	}
	first := e.tenants.named(DefaultTenant) == nil
	if first && e.tenants.incomplete() {
		return "", e.seedAll(ctx) // it is among those that cannot be read, and none is made in its place
	}
	tenant, err := e.ensureTenant(ctx, hostActor, DefaultTenant)
	if err != nil {
		return "", err
	}
	if err := e.seedAll(ctx); err != nil {
		return "", err
	}
	roots, err := e.startKeys(ctx)
	if err != nil {
		return "", err
	}
	if key != "" {
		return "", e.takeRootKey(ctx, tenant, roots, key)
	}
	if !first {
		if first, err = e.keyless(ctx); err != nil || !first {
			return "", err
		}
	}
	if newKey, err = e.newSecret(); err != nil {
		return "", err
	}
	_, err = e.writeRootKey(tenant, newKey, abi.KeyFromStart)
	return newKey, err
}

// seedAll gives every tenant what comes with the node.
func (e *Engine) seedAll(ctx context.Context) error {
	for _, t := range e.tenants.all() {
		if err := e.seed(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// keyless reports whether the node has no API key at all: an earlier first start
// was cut short before it made one.
func (e *Engine) keyless(ctx context.Context) (bool, error) {
	keys, _, err := e.store.List(ctx, storage.SystemTenant, abi.ObjectAPIKey, Scope{}, storage.Page{Limit: 1})
	return len(keys) == 0, err
}

func (e *Engine) loadTenants(ctx context.Context) error {
	after := ""
	for {
		page, more, err := e.store.List(ctx, storage.SystemTenant, abi.ObjectTenant, Scope{}, storage.Page{After: after, Limit: 200})
		if err != nil {
			return fmt.Errorf("reading the tenants: %w", err)
		}
		for _, res := range page {
			after = res.ID
			e.tenants.stored++
			t, err := e.tenants.readTenant(&res)
			if err != nil {
				e.leaveOut(storage.SystemTenant, abi.ObjectTenant, res.ID, err)
				continue
			}
			e.tenants.put(t)
		}
		if !more {
			return nil
		}
	}
}

// readTenant reads a tenant from a list. Its number and its name are its own: what is
// stored under a number belongs to one tenant.
func (t *tenantTable) readTenant(res *storage.Resource) (*abi.Tenant, error) {
	is := &abi.Tenant{}
	if err := readListed(res, is); err != nil {
		return nil, naming(abi.ObjectTenant, res.ID, err)
	}
	if err := checkEnvelope(&is.Envelope, abi.ObjectTenant, res.ID); err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	taken := t.byNumber[storage.Tenant(is.Number)] != nil || t.byName[is.Name] != nil
	if is.Name == "" || is.Number == uint32(storage.SystemTenant) || is.DefaultWorkspaceID == "" || taken {
		return nil, nonsense(abi.ObjectTenant, is.ID, "its number is %d, its name %.64q", is.Number, is.Name)
	}
	return is, nil
}

// incomplete reports whether there are tenants that cannot be read.
func (t *tenantTable) incomplete() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byID) < t.stored
}

// next returns the number of a tenant that is made now.
func (t *tenantTable) next() uint32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	highest := uint32(len(t.byID))
	for number := range t.byNumber {
		highest = max(highest, uint32(number))
	}
	return highest + 1
}

// errTenants refuses to make a tenant: which numbers and names are free is not known.
var errTenants = abi.Errorf(abi.CodeConflict, "a tenant of this node is stored, but cannot be read: no other is made before it can; wharf doctor names it")

// tenantID returns the id of a tenant, "" for the system tenant.
func (e *Engine) tenantID(number storage.Tenant) string {
	e.tenants.mu.RLock()
	defer e.tenants.mu.RUnlock()
	if t := e.tenants.byNumber[number]; t != nil {
		return t.ID
	}
	return ""
}

func (e *Engine) tenant(_ context.Context, id string) (*abi.Tenant, error) {
	e.tenants.mu.RLock()
	defer e.tenants.mu.RUnlock()
	if t := e.tenants.byID[id]; t != nil {
		return t, nil
	}
	return nil, abi.NotFound(abi.ObjectTenant, id)
}

// ensureTenant returns the tenant of the given name, making it with a Workspace
// and the bundled Personas if there is none.
func (e *Engine) ensureTenant(ctx context.Context, actor, name string) (*abi.Tenant, error) {
	e.tenants.create.Lock()
	defer e.tenants.create.Unlock()
	if t := e.tenants.named(name); t != nil {
		return t, e.ensureWorkspace(ctx, actor, t)
	}
	if e.tenants.incomplete() {
		return nil, errTenants
	}
	now := e.now()
	t := &abi.Tenant{
		Envelope: abi.NewEnvelope(abi.ObjectTenant, e.ids.New(abi.ObjectTenant), now, nil),
		Name:     name, Number: e.tenants.next(),
		DefaultWorkspaceID: e.ids.New(abi.ObjectWorkspace),
	}
	if name == DefaultTenant {
		t.DefaultWorkspaceID = DefaultWorkspace
	}
	_, err := e.commit(&Caller{Tenant: storage.SystemTenant, Actor: actor}, "", "", nil, 0,
		record{kind: abi.EventTenantCreated, object: abi.ObjectTenant, id: t.ID, created: true, state: t})
	if err != nil {
		return nil, err
	}
	e.tenants.made(t)
	if err := e.ensureWorkspace(ctx, actor, t); err != nil {
		return nil, err
	}
	return t, e.seed(ctx, t)
}

// seed gives a tenant what comes with the node.
func (e *Engine) seed(ctx context.Context, t *abi.Tenant) error {
	if err := e.seedPersonas(ctx, t); err != nil {
		return err
	}
	return e.seedSkills(ctx, t)
}

// ensureWorkspace makes a tenant's default Workspace unless it is there: the node
// may have died between the two.
func (e *Engine) ensureWorkspace(ctx context.Context, actor string, t *abi.Tenant) error {
	number := storage.Tenant(t.Number)
	_, err := e.find(ctx, number, abi.ObjectWorkspace, t.DefaultWorkspaceID)
	if isUnreadable(err) {
		e.leaveOut(number, abi.ObjectWorkspace, t.DefaultWorkspaceID, err)
		return nil
	}
	if !isNotFound(err) {
		return err
	}
	w := e.newWorkspace(t, t.DefaultWorkspaceID, abi.CreateWorkspaceRequest{Name: "default", Root: "wharf:///" + t.DefaultWorkspaceID})
	_, err = e.commit(&Caller{Tenant: number, Actor: actor}, "", w.ID, nil, 0,
		record{kind: abi.EventWorkspaceCreated, object: abi.ObjectWorkspace, id: w.ID, created: true, state: w})
	return err
}

// seedPersonas gives a tenant the bundled Personas that it does not have yet, and
// brings those up to date that an older program has given it.
func (e *Engine) seedPersonas(ctx context.Context, t *abi.Tenant) error {
	number := storage.Tenant(t.Number)
	for _, p := range e.personas {
		res, err := e.find(ctx, number, abi.ObjectPersona, p.ID)
		if err == nil {
			err = e.renewPersona(ctx, number, &res, &p)
		}
		if err == nil {
			continue
		}
		if isUnreadable(err) {
			e.leaveOut(number, abi.ObjectPersona, p.ID, err)
			continue
		}
		if !isNotFound(err) {
			return fmt.Errorf("seeding persona %s: %w", p.ID, err)
		}
		p.Envelope = abi.NewEnvelope(abi.ObjectPersona, p.ID, e.now(), p.Metadata)
		_, err = e.commit(&Caller{Tenant: number, Actor: hostActor}, "", "", nil, 0,
			record{kind: abi.EventPersonaCreated, object: abi.ObjectPersona, id: p.ID, created: true, state: &p})
		if err != nil {
			return fmt.Errorf("seeding persona %s: %w", p.ID, err)
		}
	}
	return nil
}

// persona is a Persona and its JSON. It is shared: do not change it.
type persona struct {
	abi.Persona
	text []byte
}

// persona returns a Persona of a tenant.
func (e *Engine) persona(ctx context.Context, t storage.Tenant, id string) (*persona, error) {
	key := owner{t, id}
	if p, ok := e.tenants.personas.Load(key); ok {
		return p.(*persona), nil
	}
	e.tenants.loadPersona.Lock()
	defer e.tenants.loadPersona.Unlock()
	if p, ok := e.tenants.personas.Load(key); ok {
		return p.(*persona), nil
	}
	res, err := e.find(ctx, t, abi.ObjectPersona, id)
	if err != nil {
		return nil, err
	}
	p := &persona{text: res.State}
	if err := readPersona(&res, &p.Persona); err != nil {
		return nil, err
	}
	e.tenants.personas.Store(key, p)
	return p, nil
}

// readPersona reads a stored Persona.
func readPersona(res *storage.Resource, into *abi.Persona) error {
	if err := decode(res.State, into); err != nil {
		return naming(abi.ObjectPersona, res.ID, err)
	}
	return checkEnvelope(&into.Envelope, abi.ObjectPersona, res.ID)
}

// setPersona replaces a Persona that was changed.
func (t *tenantTable) setPersona(key owner, p *persona) {
	t.loadPersona.Lock()
	defer t.loadPersona.Unlock()
	t.personas.Store(key, p)
}

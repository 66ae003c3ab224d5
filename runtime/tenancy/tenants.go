package tenancy

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Tenants holds every tenant of the node; tenants are few. It is safe for concurrent use.
type Tenants struct {
	mu       lockrank.RWMutex[lockrank.Table]
	byID     map[string]*abi.Tenant
	byName   map[string]*abi.Tenant
	byNumber map[storage.Tenant]*abi.Tenant
	stored   int // how many the log has, those included that cannot be read

	create lockrank.Mutex[lockrank.Tenants] // held while a tenant is made
}

func (t *Tenants) put(tenant *abi.Tenant) {
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
func (t *Tenants) made(tenant *abi.Tenant) {
	t.put(tenant)
	t.mu.Lock()
	t.stored++
	t.mu.Unlock()
}

// found says how many tenants the log has.
func (t *Tenants) found(stored int) {
	t.mu.Lock()
	t.stored = stored
	t.mu.Unlock()
}

// Named returns the tenant of a name, nil for none.
func (t *Tenants) Named(name string) *abi.Tenant {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byName[name]
}

// All returns all tenants. Do not change them.
func (t *Tenants) All() []*abi.Tenant {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]*abi.Tenant, 0, len(t.byID))
	for _, tenant := range t.byID {
		list = append(list, tenant)
	}
	return list
}

// IDOf returns the id of the tenant of a number, "" for none.
func (t *Tenants) IDOf(number storage.Tenant) string {
	if tenant := t.numbered(number); tenant != nil {
		return tenant.ID
	}
	return ""
}

// NameOf returns the name of the tenant of a number, "" for none.
func (t *Tenants) NameOf(number storage.Tenant) string {
	if tenant := t.numbered(number); tenant != nil {
		return tenant.Name
	}
	return ""
}

// numbered returns the tenant of a number, nil for none.
func (t *Tenants) numbered(number storage.Tenant) *abi.Tenant {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byNumber[number]
}

// Tenant returns the tenant of an id, or abi.NotFound.
func (t *Tenants) Tenant(id string) (*abi.Tenant, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if tenant := t.byID[id]; tenant != nil {
		return tenant, nil
	}
	return nil, abi.NotFound(abi.ObjectTenant, id)
}

// readTenant reads a tenant from a list. Its number and its name are its own: what is
// stored under a number belongs to one tenant.
func (t *Tenants) readTenant(res *storage.Resource) (*abi.Tenant, error) {
	is := &abi.Tenant{}
	if err := ledger.ReadListed(res, is); err != nil {
		return nil, ledger.Naming(abi.ObjectTenant, res.ID, err)
	}
	if err := ledger.CheckEnvelope(&is.Envelope, abi.ObjectTenant, res.ID); err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	taken := t.byNumber[storage.Tenant(is.Number)] != nil || t.byName[is.Name] != nil
	if is.Name == "" || is.Number == uint32(storage.SystemTenant) || is.DefaultWorkspaceID == "" || taken {
		return nil, ledger.Nonsense(abi.ObjectTenant, is.ID, "its number is %d, its name %.64q", is.Number, is.Name)
	}
	return is, nil
}

// incomplete reports whether there are tenants that cannot be read.
func (t *Tenants) incomplete() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byID) < t.stored
}

// next returns the number of a tenant that is made now.
func (t *Tenants) next() uint32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	highest := uint32(len(t.byID))
	for number := range t.byNumber {
		highest = max(highest, uint32(number))
	}
	return highest + 1
}

package quotas

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/policy/quota"
	"github.com/wharf-dev/wharf/storage"
)

// Resources serves the Quotas of a book to callers.
type Resources struct{ book *Book }

// NewResources returns what serves the Quotas of a book.
func NewResources(b *Book) *Resources { return &Resources{book: b} }

// Quota returns a Quota that the caller may see, with its usage so far.
func (q *Resources) Quota(_ context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	b := q.book
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.visible(c, id)
	if m == nil {
		return desk.Doc{}, abi.NotFound(abi.ObjectQuota, id)
	}
	return m.doc(q.book.Now())
}

func (m *meter) doc(now time.Time) (desk.Doc, error) {
	m.Turn(now)
	shown := m.shown(now)
	shown.UpdatedAt = m.about.UpdatedAt
	state, err := json.Marshal(shown, json.Deterministic(true))
	return desk.Doc{ID: m.about.ID, JSON: state}, err
}

// visible returns a Quota that the caller may see; nil when there is none. Those of
// the whole node are for its administrators. The caller holds mu.
func (b *Book) visible(c *desk.Caller, id string) *meter {
	m := b.byID[ledger.Key{Tenant: c.Tenant, ID: id}]
	if m == nil && c.Can(abi.ScopeNode) {
		m = b.byID[ledger.Key{Tenant: storage.SystemTenant, ID: id}]
	}
	if m == nil || !m.seenBy(c) {
		return nil
	}
	return m
}

// seenBy reports whether a caller may see a Quota of its tenant: one who sees some
// Workspaces only sees what bounds these.
func (m *meter) seenBy(c *desk.Caller) bool {
	return len(c.Workspaces) == 0 || m.about.Scope == abi.QuotaWorkspace && m.about.OwnerID != "" && c.Sees(m.about.OwnerID)
}

// Quotas lists the Quotas that the caller may see, newest first.
func (q *Resources) Quotas(_ context.Context, c *desk.Caller, p desk.Page) (desk.DocList, error) {
	b, now := q.book, q.book.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []*meter
	for key, m := range b.byID {
		mine := key.Tenant == c.Tenant || key.Tenant == storage.SystemTenant && c.Can(abi.ScopeNode)
		if mine && m.seenBy(c) && (p.After == "" || key.ID < p.After) {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *meter) int { return strings.Compare(b.about.ID, a.about.ID) })
	var list desk.DocList
	for i, m := range all {
		doc, err := m.doc(now)
		if err != nil {
			return desk.DocList{}, err
		}
		if list.Add(doc, p.Limit) {
			return list.End(doc.ID, i < len(all)-1), nil
		}
	}
	return list, nil
}

// CreateQuota makes a Quota. One for the whole node, and one for another tenant,
// needs abi.ScopeNode.
func (q *Resources) CreateQuota(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateQuotaRequest) (desk.Doc, error) {
	as, err := q.owner(ctx, c, &req)
	if err != nil {
		return desk.Doc{}, err
	}
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), checkLimits(req.Limits), checkWindow(req.WindowSeconds)); err != nil {
		return desk.Doc{}, err
	}
	return q.book.Desk.Once(ctx, as, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		m := &meter{tenant: as.Tenant, seq: 1, stated: true, about: abi.Quota{
			Envelope: abi.NewEnvelope(abi.ObjectQuota, q.book.IDs.New(abi.ObjectQuota), q.book.Now(), req.Metadata),
			Scope:    req.Scope, OwnerID: req.OwnerID, Limits: req.Limits, WindowSeconds: req.WindowSeconds,
			HardLimit: req.HardLimit == nil || *req.HardLimit, SoftLimit: req.SoftLimit,
		}}
		if err := m.rule(); err != nil {
			return desk.Doc{}, err
		}
		m.Turn(q.book.Now())
		doc, err := q.book.Desk.Commit(as, "", "", idem, desk.StatusCreated,
			ledger.Record{Kind: abi.EventQuotaCreated, Object: abi.ObjectQuota, ID: m.about.ID, Created: true, State: m.shown(q.book.Now())})
		if err != nil {
			return desk.Doc{}, err
		}
		q.book.mu.Lock()
		defer q.book.mu.Unlock()
		q.book.put(m)
		return doc, nil
	})
}

// owner checks whom a Quota is for, and returns the caller as one of the tenant
// whose log has it.
func (q *Resources) owner(ctx context.Context, c *desk.Caller, req *abi.CreateQuotaRequest) (*desk.Caller, error) {
	if len(c.Workspaces) > 0 {
		return nil, abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot make quotas")
	}
	if err := desk.CheckOneOf("scope", req.Scope, abi.QuotaPersona, abi.QuotaWorkspace, abi.QuotaTenant, abi.QuotaOrganization); err != nil {
		return nil, err
	}
	as, object := *c, abi.ObjectPersona
	switch req.Scope {
	case abi.QuotaOrganization:
		if req.OwnerID != "" {
			return nil, abi.InvalidParam("owner_id", "a quota of the organization bounds the whole node, and names no owner")
		}
		as.Tenant, as.TenantID = storage.SystemTenant, ""
		return &as, needsNode(c)
	case abi.QuotaTenant:
		if req.OwnerID == "" {
			req.OwnerID = c.TenantID
		}
		if req.OwnerID == c.TenantID {
			return &as, nil
		}
		if err := needsNode(c); err != nil {
			return nil, abi.NotFound(abi.ObjectTenant, req.OwnerID)
		}
		t, err := q.book.Tenants.Tenant(req.OwnerID)
		if err != nil {
			return nil, err
		}
		as.Tenant, as.TenantID = storage.Tenant(t.Number), t.ID
		return &as, nil
	case abi.QuotaWorkspace:
		object = abi.ObjectWorkspace
	}
	if req.OwnerID == "" {
		return &as, nil
	}
	_, err := q.book.Ledger.Find(ctx, c.Tenant, object, req.OwnerID)
	return &as, err
}

func needsNode(c *desk.Caller) error {
	if !c.Can(abi.ScopeNode) {
		return desk.Denied(abi.ScopeNode)
	}
	return nil
}

// maxWindowSeconds is a year.
const maxWindowSeconds = 366 * 24 * 3600

func checkWindow(seconds int64) error {
	if seconds < 0 || seconds > maxWindowSeconds {
		return abi.InvalidParam("window_seconds", "window_seconds is 0 to %d", maxWindowSeconds)
	}
	return nil
}

// maxLimit is the largest limit: far beyond it doubles are not exact.
const maxLimit = 1e15

func checkLimits(limits map[string]float64) error {
	if len(limits) == 0 {
		return abi.InvalidParam("limits", "a quota limits at least one of %s", quota.Names())
	}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		if _, ok := quota.Lookup(name); !ok {
			return abi.InvalidParam("limits", "%q cannot be limited: one of %s", name, quota.Names())
		}
		if n := limits[name]; !(n >= 0 && n <= maxLimit) {
			return abi.InvalidParam("limits", "the limit of %s is 0 to %g", name, float64(maxLimit))
		}
	}
	return nil
}

// UpdateQuota changes a Quota's limits. What was used stays; what was exhausted is
// judged anew.
func (q *Resources) UpdateQuota(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateQuotaRequest) (desk.Doc, error) {
	as, err := q.changer(c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	if err := desk.CheckMetadata(&req.Metadata); err != nil {
		return desk.Doc{}, err
	}
	if req.Limits != nil {
		if err := checkLimits(req.Limits); err != nil {
			return desk.Doc{}, err
		}
	}
	return q.book.Desk.Once(ctx, as, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		doc, commit, err := q.change(as, idem, id, req)
		if err != nil {
			return desk.Doc{}, err
		}
		_, err = commit.Wait(context.Background())
		return doc, q.book.Ledger.Failed("writing to the log", err)
	})
}

// changer returns the caller as one of the tenant whose log has the Quota.
func (q *Resources) changer(c *desk.Caller, id string) (*desk.Caller, error) {
	q.book.mu.Lock()
	defer q.book.mu.Unlock()
	m := q.book.visible(c, id)
	switch {
	case m == nil:
		return nil, abi.NotFound(abi.ObjectQuota, id)
	case m.about.TemplateID != "":
		return nil, abi.Errorf(abi.CodeConflict, "quota %s follows from %s: change that one", id, m.about.TemplateID)
	case len(c.Workspaces) > 0:
		return nil, abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot change quotas")
	}
	as := *c
	as.Tenant = m.tenant
	return &as, nil
}

func (q *Resources) change(as *desk.Caller, idem *storage.Idempotency, id string, req abi.UpdateQuotaRequest) (desk.Doc, storage.Commit, error) {
	b, now := q.book, q.book.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.byID[ledger.Key{Tenant: as.Tenant, ID: id}]
	m.Turn(now)
	if req.Limits != nil {
		m.about.Limits = req.Limits
	}
	abi.Replace(&m.about.HardLimit, req.HardLimit)
	abi.Replace(&m.about.SoftLimit, req.SoftLimit)
	if req.Metadata != nil {
		m.about.Metadata = req.Metadata
	}
	for _, other := range b.byID {
		if other != m && other.of != m {
			continue
		}
		if err := other.rule(); err != nil {
			return desk.Doc{}, nil, err
		}
		other.Exhausted, other.stated = "", true
	}
	rec, _, err := m.next(now, true)
	if err != nil {
		return desk.Doc{}, nil, err
	}
	batch := ledger.Batch(storage.Frame{Tenant: as.Tenant, Time: now, Actor: as.Actor, Records: []storage.Record{rec}}, idem, desk.StatusOK, 0)
	b.wake()
	return desk.Doc{ID: id, JSON: rec.State}, q.book.Ledger.Append(batch), nil
}

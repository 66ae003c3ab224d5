package engine

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/policy/quota"
	"github.com/wharf-dev/wharf/storage"
)

// Quota returns a Quota that the caller may see, with what is used by now.
func (e *Engine) Quota(_ context.Context, c *Caller, id string) (Doc, error) {
	q := &e.quotas
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.visible(c, id)
	if m == nil {
		return Doc{}, abi.NotFound(abi.ObjectQuota, id)
	}
	return m.doc(e.now())
}

func (m *quotaMeter) doc(now time.Time) (Doc, error) {
	m.Turn(now)
	shown := m.shown(now)
	shown.UpdatedAt = m.about.UpdatedAt
	state, err := json.Marshal(shown, json.Deterministic(true))
	return Doc{ID: m.about.ID, JSON: state}, err
}

// visible returns a Quota that the caller may see; nil when there is none. Those of
// the whole node are for its administrators. The caller holds mu.
func (q *quotaTable) visible(c *Caller, id string) *quotaMeter {
	m := q.byID[owner{c.Tenant, id}]
	if m == nil && c.Can(abi.ScopeNode) {
		m = q.byID[owner{storage.SystemTenant, id}]
	}
	if m == nil || !m.seenBy(c) {
		return nil
	}
	return m
}

// seenBy reports whether a caller may see a Quota of its tenant: one who sees some
// Workspaces only sees what bounds these.
func (m *quotaMeter) seenBy(c *Caller) bool {
	return len(c.Workspaces) == 0 || m.about.Scope == abi.QuotaWorkspace && m.about.OwnerID != "" && c.Sees(m.about.OwnerID)
}

// Quotas lists the Quotas that the caller may see, newest first.
func (e *Engine) Quotas(_ context.Context, c *Caller, p Page) (DocList, error) {
	q, now := &e.quotas, e.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []*quotaMeter
	for key, m := range q.byID {
		mine := key.tenant == c.Tenant || key.tenant == storage.SystemTenant && c.Can(abi.ScopeNode)
		if mine && m.seenBy(c) && (p.After == "" || key.id < p.After) {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *quotaMeter) int { return strings.Compare(b.about.ID, a.about.ID) })
	var list DocList
	for i, m := range all {
		doc, err := m.doc(now)
		if err != nil {
			return DocList{}, err
		}
		if list.add(doc, p.Limit) {
			return list.end(doc.ID, i < len(all)-1), nil
		}
	}
	return list, nil
}

// CreateQuota makes a Quota. One for the whole node, and one for another tenant,
// needs abi.ScopeNode.
func (e *Engine) CreateQuota(ctx context.Context, c *Caller, r *Retry, req abi.CreateQuotaRequest) (Doc, error) {
	as, err := e.quotaOwner(ctx, c, &req)
	if err != nil {
		return Doc{}, err
	}
	if err := firstError(checkMetadata(&req.Metadata), checkLimits(req.Limits), checkWindow(req.WindowSeconds)); err != nil {
		return Doc{}, err
	}
	return e.once(ctx, as, r, "", func(idem *storage.Idempotency) (Doc, error) {
		m := &quotaMeter{tenant: as.Tenant, seq: 1, told: true, about: abi.Quota{
			Envelope: abi.NewEnvelope(abi.ObjectQuota, e.ids.New(abi.ObjectQuota), e.now(), req.Metadata),
			Scope:    req.Scope, OwnerID: req.OwnerID, Limits: req.Limits, WindowSeconds: req.WindowSeconds,
			HardLimit: req.HardLimit == nil || *req.HardLimit, SoftLimit: req.SoftLimit,
		}}
		if err := m.rule(); err != nil {
			return Doc{}, err
		}
		m.Turn(e.now())
		doc, err := e.commit(as, "", "", idem, statusCreated,
			record{kind: abi.EventQuotaCreated, object: abi.ObjectQuota, id: m.about.ID, created: true, state: m.shown(e.now())})
		if err != nil {
			return Doc{}, err
		}
		e.quotas.mu.Lock()
		defer e.quotas.mu.Unlock()
		e.quotas.put(m)
		return doc, nil
	})
}

// quotaOwner checks whom a Quota is for, and returns the caller as one of the tenant
// whose log has it.
func (e *Engine) quotaOwner(ctx context.Context, c *Caller, req *abi.CreateQuotaRequest) (*Caller, error) {
	if len(c.Workspaces) > 0 {
		return nil, abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot make quotas")
	}
	if err := checkOneOf("scope", req.Scope, abi.QuotaPersona, abi.QuotaWorkspace, abi.QuotaTenant, abi.QuotaOrganization); err != nil {
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
		t, err := e.tenant(ctx, req.OwnerID)
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
	_, err := e.find(ctx, c.Tenant, object, req.OwnerID)
	return &as, err
}

func needsNode(c *Caller) error {
	if !c.Can(abi.ScopeNode) {
		return errDenied(abi.ScopeNode)
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
		return abi.InvalidParam("limits", "a quota limits at least one of %v", quota.Names())
	}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		if _, ok := quota.Lookup(name); !ok {
			return abi.InvalidParam("limits", "%q cannot be limited: one of %v", name, quota.Names())
		}
		if n := limits[name]; !(n >= 0 && n <= maxLimit) {
			return abi.InvalidParam("limits", "the limit of %s is 0 to %g", name, float64(maxLimit))
		}
	}
	return nil
}

// UpdateQuota changes a Quota's limits. What was used stays; what was exhausted is
// judged anew.
func (e *Engine) UpdateQuota(ctx context.Context, c *Caller, r *Retry, id string, req abi.UpdateQuotaRequest) (Doc, error) {
	as, err := e.quotaChanger(c, id)
	if err != nil {
		return Doc{}, err
	}
	if err := checkMetadata(&req.Metadata); err != nil {
		return Doc{}, err
	}
	if req.Limits != nil {
		if err := checkLimits(req.Limits); err != nil {
			return Doc{}, err
		}
	}
	return e.once(ctx, as, r, "", func(idem *storage.Idempotency) (Doc, error) {
		doc, commit, err := e.changeQuota(as, idem, id, req)
		if err != nil {
			return Doc{}, err
		}
		_, err = commit.Wait(context.Background())
		return doc, e.failed("writing to the log", err)
	})
}

// quotaChanger returns the caller as one of the tenant whose log has the Quota.
func (e *Engine) quotaChanger(c *Caller, id string) (*Caller, error) {
	e.quotas.mu.Lock()
	defer e.quotas.mu.Unlock()
	m := e.quotas.visible(c, id)
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

func (e *Engine) changeQuota(as *Caller, idem *storage.Idempotency, id string, req abi.UpdateQuotaRequest) (Doc, storage.Commit, error) {
	q, now := &e.quotas, e.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.byID[owner{as.Tenant, id}]
	m.Turn(now)
	if req.Limits != nil {
		m.about.Limits = req.Limits
	}
	setIf(&m.about.HardLimit, req.HardLimit)
	setIf(&m.about.SoftLimit, req.SoftLimit)
	if req.Metadata != nil {
		m.about.Metadata = req.Metadata
	}
	for _, other := range q.byID {
		if other != m && other.of != m {
			continue
		}
		if err := other.rule(); err != nil {
			return Doc{}, nil, err
		}
		other.Exhausted, other.told = "", true
	}
	rec, _, err := m.next(now, true)
	if err != nil {
		return Doc{}, nil, err
	}
	b := batch(storage.Frame{Tenant: as.Tenant, Time: now, Actor: as.Actor, Records: []storage.Record{rec}}, idem, statusOK, 0)
	q.wake()
	return Doc{ID: id, JSON: rec.State}, e.store.Append(b), nil
}

package quotas

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/policy/quota"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// Tenants are the tenants of the node.
type Tenants interface {
	// All returns all tenants. Do not change them.
	All() []*abi.Tenant
	// IDOf returns the id of the tenant of a number, "" for none.
	IDOf(number storage.Tenant) string
	// Tenant returns the tenant of an id, or abi.NotFound.
	Tenant(id string) (*abi.Tenant, error)
}

// Parts are what a book works with.
type Parts struct {
	desk.Parts
	Tenants Tenants
	Persona func(ctx context.Context, t storage.Tenant, id string) (*abi.Persona, error)
	// Pricing says what a call of a model can cost; nil when nothing says so.
	Pricing provider.Priced
	// LeaveOut is called for a Quota that cannot be read: the node goes on without it.
	LeaveOut func(t storage.Tenant, o abi.Object, id string, cause error)
	// Owned returns what a timer does, so that a drain waits for it.
	Owned func(do func()) func()
	// Overtime ends a Task that has used up the time that a Quota allows it.
	Overtime func(key ledger.Key, why *abi.Failure)
}

// Book holds every Quota of the node and what was used under it. Quotas are few, and a
// node without any pays one atomic load (field some). It is safe for concurrent use.
//
// A Quota is stated in the batch of the very calls that it counts, and mu is held
// from the counting until that batch is handed over. So the log has, at each point, exactly the
// usage of the calls that it has, in the order in which they counted. The book bounds Tasks of
// every tenant. So a holder of mu must not wait for a lock that somebody holds while waiting
// for the disk, such as a Session's, which is taken before.
type Book struct {
	Parts
	some    atomic.Bool
	refused atomic.Uint64 // Tasks

	mu      lockrank.Mutex[lockrank.Quotas]
	byID    map[ledger.Key]*meter
	scoped  map[scope][]*meter
	held    map[ledger.Key][]*meter // by the Task that has not ended
	running map[ledger.Key]*running // by the Task whose plugin runs
	settled chan struct{}           // closed when something that was reserved is given back
}

// NewBook returns a book that knows of no Quota yet.
func NewBook(p Parts) *Book {
	return &Book{Parts: p, byID: map[ledger.Key]*meter{}, scoped: map[scope][]*meter{},
		held: map[ledger.Key][]*meter{}, running: map[ledger.Key]*running{}, settled: make(chan struct{})}
}

// Refused returns how many Tasks a Quota had no room for since the node started.
func (b *Book) Refused() uint64 { return b.refused.Load() }

// scope is what a Quota bounds. An empty owner means one meter for each member of the
// scope.
type scope struct {
	tenant storage.Tenant
	kind   abi.QuotaScope
	owner  string
}

// meter is a Quota. It is guarded by the book.
type meter struct {
	quota.Meter
	tenant storage.Tenant // where the log has it
	about  abi.Quota      // but for what Meter has
	of     *meter         // the template that this Quota was made from; nil if none
	seq    uint64         // of its next event
	stated bool           // whether what happened to it is stated
}

// running is since when a Task's run has not been counted.
type running struct {
	since time.Time
	timer *time.Timer
}

// rule takes what a Quota says as what is counted by.
func (m *meter) rule() error {
	q := &m.about
	if m.of != nil {
		q = &m.of.about
		m.about.Limits, m.about.WindowSeconds, m.about.HardLimit, m.about.SoftLimit = q.Limits, q.WindowSeconds, q.HardLimit, q.SoftLimit
	}
	m.Rule = quota.Rule{Window: time.Duration(q.WindowSeconds) * time.Second, Hard: q.HardLimit, Soft: q.SoftLimit}
	for name, n := range q.Limits {
		k, ok := quota.Lookup(name)
		if !ok {
			return fmt.Errorf("quota %s limits %q, which is not counted", q.ID, name)
		}
		m.Limits[k], m.Limited[k] = k.Whole(n), true
	}
	return nil
}

// shown returns the Quota as it is.
func (m *meter) shown(now time.Time) *abi.Quota {
	q := m.about
	q.UpdatedAt, q.Usage = abi.At(now), map[string]float64{}
	for k := range m.Limits {
		if m.Limited[k] {
			q.Usage[quota.Kind(k).String()] = quota.Kind(k).Number(m.Used[k])
		}
	}
	if q.ResetAt = nil; !m.ResetAt.IsZero() {
		q.ResetAt = new(abi.At(m.ResetAt))
	}
	if q.ExhaustionReason = nil; m.Exhausted != "" {
		q.ExhaustionReason = new(m.Exhausted)
	}
	return &q
}

// meterOf returns the meter of a Quota as the log has it. What runs at one time is
// counted anew.
func meterOf(tenant storage.Tenant, res storage.Resource) (*meter, error) {
	m := &meter{tenant: tenant, seq: res.Sequence + 1, stated: true}
	if err := ledger.ReadListed(&res, &m.about); err != nil {
		return nil, ledger.Naming(abi.ObjectQuota, res.ID, err)
	}
	if err := checkQuota(&m.about, res.ID); err != nil {
		return nil, err
	}
	for name, n := range m.about.Usage {
		if k, ok := quota.Lookup(name); ok && k != quota.Concurrent {
			m.Used[k] = k.Whole(n)
		}
	}
	if m.about.ResetAt != nil {
		m.ResetAt = *m.about.ResetAt
	}
	if m.about.ExhaustionReason != nil {
		m.Exhausted = *m.about.ExhaustionReason
	}
	return m, m.rule()
}

// put takes in a Quota. The caller holds mu.
func (b *Book) put(m *meter) {
	b.byID[ledger.Key{Tenant: m.tenant, ID: m.about.ID}] = m
	if m.about.TemplateID == "" {
		at := scope{m.tenant, m.about.Scope, m.about.OwnerID}
		b.scoped[at] = append(b.scoped[at], m)
	}
	b.some.Store(true)
}

// Load reads every Quota. It is called before unfinished Tasks are looked at.
func (b *Book) Load(ctx context.Context) error {
	tenants := []storage.Tenant{storage.SystemTenant}
	for _, t := range b.Tenants.All() {
		tenants = append(tenants, storage.Tenant(t.Number))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, tenant := range tenants {
		if err := b.loadOf(ctx, tenant); err != nil {
			return fmt.Errorf("reading the quotas: %w", err)
		}
	}
	for _, m := range b.byID {
		if m.of = b.byID[ledger.Key{Tenant: m.tenant, ID: m.about.TemplateID}]; m.of != nil {
			_ = m.rule() // that of another, which was checked
		}
	}
	return nil
}

func (b *Book) loadOf(ctx context.Context, tenant storage.Tenant) error {
	for page := (storage.Page{Limit: 200}); ; {
		list, more, err := b.Store.List(ctx, tenant, abi.ObjectQuota, desk.Scope{}, page)
		if err != nil {
			return err
		}
		for _, res := range list {
			page.After = res.ID
			m, err := meterOf(tenant, res)
			if err != nil {
				b.LeaveOut(tenant, abi.ObjectQuota, res.ID, err)
				m, err = b.usedUp(ctx, tenant, &res)
			}
			if err != nil {
				return err
			}
			b.put(m)
		}
		if !more {
			return nil
		}
	}
}

// checkQuota holds a stored Quota against what counting relies on.
func checkQuota(q *abi.Quota, id string) error {
	if err := ledger.CheckEnvelope(&q.Envelope, abi.ObjectQuota, id); err != nil {
		return err
	}
	scopes := []abi.QuotaScope{abi.QuotaPersona, abi.QuotaWorkspace, abi.QuotaTenant, abi.QuotaOrganization}
	if err := cmp.Or(desk.CheckOneOf("scope", q.Scope, scopes...), checkLimits(q.Limits), checkWindow(q.WindowSeconds)); err != nil {
		return ledger.Nonsense(abi.ObjectQuota, id, "%v", err)
	}
	for name, n := range q.Usage {
		if !(n >= 0) {
			return ledger.Nonsense(abi.ObjectQuota, id, "its usage of %.32q is %v", name, n)
		}
	}
	if q.TemplateID == id {
		return ledger.Nonsense(abi.ObjectQuota, id, "it follows from itself")
	}
	return nil
}

// usedUp stands for a Quota that cannot be read. What was used under it is not known, so
// all of it counts as used, until somebody states its limits anew, or a window of it has
// passed. Where it is not known either what it bounds, it bounds all that it can: a limit
// that cannot be read is not taken for none.
func (b *Book) usedUp(ctx context.Context, tenant storage.Tenant, res *storage.Resource) (*meter, error) {
	seq, _, err := b.Store.Sequence(ctx, tenant, abi.ResourcePointer{Object: abi.ObjectQuota, ID: res.ID})
	if err != nil && b.Ledger.Halted(ctx, err) {
		return nil, err
	}
	m := &meter{tenant: tenant, seq: seq + 1, stated: true, about: b.madeAs(ctx, tenant, res)}
	m.about.HardLimit, m.about.Usage, m.about.ResetAt, m.about.ExhaustionReason = true, nil, nil, nil
	if err := m.rule(); err != nil {
		return nil, err
	}
	m.Used, m.Used[quota.Concurrent] = m.Limits, 0
	if m.Window > 0 {
		m.Turn(b.Now()) // begins a window; at its end what is used is known again
	}
	return m, nil
}

// madeAs returns a Quota as it was made, or one of all that it could be for when that
// cannot be read either.
func (b *Book) madeAs(ctx context.Context, tenant storage.Tenant, res *storage.Resource) abi.Quota {
	if origin, err := b.Store.Event(ctx, tenant, res.Origin); err == nil {
		var q abi.Quota
		if ledger.Decode(origin.Record().State, &q) == nil && checkQuota(&q, res.ID) == nil {
			return q
		}
	}
	q := abi.Quota{Envelope: abi.NewEnvelope(abi.ObjectQuota, res.ID, b.Now(), nil),
		Scope: abi.QuotaTenant, OwnerID: b.Tenants.IDOf(tenant), Limits: map[string]float64{quota.Tasks.String(): 0}}
	if tenant == storage.SystemTenant {
		q.Scope, q.OwnerID = abi.QuotaOrganization, ""
	}
	return q
}

// metersFor returns the Quotas that bound a Task, narrowest first.
func (b *Book) metersFor(ctx context.Context, tenant storage.Tenant, t *abi.Task) ([]*meter, error) {
	if !b.some.Load() || t.Replay != nil { // a replay uses nothing
		return nil, nil
	}
	line, err := b.line(ctx, tenant, t.PersonaID)
	if err != nil {
		return nil, err
	}
	var w abi.Workspace
	res, err := b.Ledger.Find(ctx, tenant, abi.ObjectWorkspace, t.WorkspaceID)
	if err == nil {
		err = ledger.Decode(res.State, &w)
	}
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []*meter
	add := func(found ...*meter) {
		for _, m := range found {
			if !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	now := b.Now()
	for _, p := range line {
		add(b.assigned(tenant, p.QuotaID, p.ID, now)...)
		add(b.of(tenant, abi.QuotaPersona, p.ID, now)...)
	}
	add(b.assigned(tenant, w.QuotaID, w.ID, now)...)
	add(b.of(tenant, abi.QuotaWorkspace, w.ID, now)...)
	add(b.of(tenant, abi.QuotaTenant, b.Tenants.IDOf(tenant), now)...)
	add(b.scoped[scope{storage.SystemTenant, abi.QuotaOrganization, ""}]...)
	return list, nil
}

// line returns a Persona and the agents whose subagent it is: what those may use bounds it, too.
func (b *Book) line(ctx context.Context, tenant storage.Tenant, id string) (line []*abi.Persona, err error) {
	for id != "" {
		p, err := b.Persona(ctx, tenant, id)
		if ledger.IsNotFound(err) && len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
		line, id = append(line, p), ""
		if p.Agent != nil {
			id = p.Agent.ParentID
		}
	}
	return line, nil
}

// assigned returns the Quota that a Persona or Workspace names.
func (b *Book) assigned(tenant storage.Tenant, id, by string, now time.Time) []*meter {
	m := b.byID[ledger.Key{Tenant: tenant, ID: id}]
	switch {
	case m == nil:
		return nil
	case m.about.Each():
		return []*meter{b.instance(m, by, now)}
	}
	return []*meter{m}
}

// of returns the Quotas of one of a scope: its own, and its share of those for each.
func (b *Book) of(tenant storage.Tenant, kind abi.QuotaScope, id string, now time.Time) []*meter {
	list := slices.Clone(b.scoped[scope{tenant, kind, id}])
	for _, each := range b.scoped[scope{tenant, kind, ""}] {
		list = append(list, b.instance(each, id, now))
	}
	return list
}

// instance returns the Quota of one of those that a Quota is for each of. It is in
// the log once something was counted.
func (b *Book) instance(each *meter, id string, now time.Time) *meter {
	name := abi.DerivedID(abi.ObjectQuota, each.about.CreatedAt, each.about.ID+" "+id)
	if m := b.byID[ledger.Key{Tenant: each.tenant, ID: name}]; m != nil {
		return m
	}
	m := &meter{tenant: each.tenant, of: each, about: each.about}
	m.about.Envelope = abi.NewEnvelope(abi.ObjectQuota, name, now, nil)
	m.about.OwnerID, m.about.TemplateID, m.about.LastReceiptID = id, each.about.ID, nil
	_ = m.rule() // that of each, which was checked
	b.put(m)
	return m
}

// offered is what any Task may come to use: without some of each it is not begun.
var offered = quota.Amounts{quota.USD: 1, quota.InputTokens: 1, quota.OutputTokens: 1, quota.ToolCalls: 1,
	quota.WallTime: 1, quota.Tasks: 1, quota.Concurrent: 1}

// may refuses a Task for which a Quota has nothing left. The caller holds mu.
func (b *Book) may(meters []*meter, now time.Time) error {
	for _, m := range meters {
		m.Turn(now)
		if verdict, k := m.Check(offered); verdict == quota.Exceeds {
			b.refused.Add(1)
			return m.refusal(k, now)
		}
	}
	return nil
}

// quotaDetails says which Quota is in the way.
type quotaDetails struct {
	QuotaID          string    `json:"quota_id"`
	Limit            string    `json:"limit"`
	ExhaustionReason string    `json:"exhaustion_reason"`
	ResetAt          *abi.Time `json:"reset_at,omitzero"`
}

// refusal is what a client is told: a rate comes back by itself, what was spent does
// not before somebody says so or the window ends.
func (m *meter) refusal(k quota.Kind, now time.Time) error {
	err := abi.Errorf(abi.CodePolicyViolation, "quota %s is used up: %s", m.about.ID, k)
	details := quotaDetails{QuotaID: m.about.ID, Limit: k.String(), ExhaustionReason: k.String()}
	if !m.ResetAt.IsZero() {
		details.ResetAt = new(abi.At(m.ResetAt))
	}
	switch {
	case k == quota.Concurrent:
		err = abi.Errorf(abi.CodeRateLimited, "quota %s allows no more tasks at one time", m.about.ID)
		err.RetryAfter = 1
	case k == quota.Tasks && details.ResetAt != nil:
		err = abi.Errorf(abi.CodeRateLimited, "quota %s allows no more tasks before its window ends", m.about.ID)
		err.RetryAfter = int(m.ResetAt.Sub(now)/time.Second) + 1
	}
	err.Details, _ = json.Marshal(details) // names and a time
	return err
}

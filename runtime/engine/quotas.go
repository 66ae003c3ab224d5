package engine

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/policy/quota"
	"github.com/wharf-dev/wharf/storage"
)

// quotaTable holds every Quota of the node and what was used under it. Quotas are
// few, and a node without any pays for a look at some.
//
// A Quota is stated in the batch of the very calls that it counts, and mu is held
// from the counting until that batch is handed over. So the log has, at each point,
// exactly the usage of the calls that it has, in the order in which they counted. It
// bounds Tasks of every tenant: whoever holds mu must not wait for a lock that somebody
// holds over the disk, such as a Session's, which is taken before.
type quotaTable struct {
	some    atomic.Bool
	refused atomic.Uint64 // Tasks

	mu      lockrank.Mutex[lockQuotas]
	byID    map[owner]*quotaMeter
	scoped  map[quotaScope][]*quotaMeter
	held    map[owner][]*quotaMeter // by the Task that has not ended
	running map[owner]*quotaTime    // by the Task whose plugin runs
	settled chan struct{}           // closed when something that was reserved is given back
}

// quotaScope is what a Quota bounds; an empty owner stands for each of the scope by
// itself.
type quotaScope struct {
	tenant storage.Tenant
	scope  abi.QuotaScope
	owner  string
}

// quotaMeter is a Quota. It is guarded by the table.
type quotaMeter struct {
	quota.Meter
	tenant storage.Tenant // where the log has it
	about  abi.Quota      // but for what Meter has
	of     *quotaMeter    // the Quota for each of the scope that this one is for one of; may be nil
	seq    uint64         // of its next event
	told   bool           // whether what happened to it is stated
}

// quotaTime is since when a Task's run has not been counted.
type quotaTime struct {
	since time.Time
	timer *time.Timer
}

// reservation is what a Task's run holds of one Quota.
type reservation struct {
	of      *quotaMeter
	amounts quota.Amounts
}

// rule takes what a Quota says as what is counted by.
func (m *quotaMeter) rule() error {
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
func (m *quotaMeter) shown(now time.Time) *abi.Quota {
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
func meterOf(tenant storage.Tenant, res storage.Resource) (*quotaMeter, error) {
	m := &quotaMeter{tenant: tenant, seq: res.Sequence + 1, told: true}
	if err := readListed(&res, &m.about); err != nil {
		return nil, naming(abi.ObjectQuota, res.ID, err)
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
func (q *quotaTable) put(m *quotaMeter) {
	if q.byID == nil {
		q.byID, q.scoped = map[owner]*quotaMeter{}, map[quotaScope][]*quotaMeter{}
		q.held, q.running = map[owner][]*quotaMeter{}, map[owner]*quotaTime{}
		q.settled = make(chan struct{})
	}
	q.byID[owner{m.tenant, m.about.ID}] = m
	if m.about.TemplateID == "" {
		at := quotaScope{m.tenant, m.about.Scope, m.about.OwnerID}
		q.scoped[at] = append(q.scoped[at], m)
	}
	q.some.Store(true)
}

// loadQuotas reads every Quota. It is called before unfinished Tasks are looked at.
func (e *Engine) loadQuotas(ctx context.Context) error {
	tenants := []storage.Tenant{storage.SystemTenant}
	for _, t := range e.tenants.all() {
		tenants = append(tenants, storage.Tenant(t.Number))
	}
	q := &e.quotas
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, tenant := range tenants {
		if err := e.loadQuotasOf(ctx, tenant); err != nil {
			return fmt.Errorf("reading the quotas: %w", err)
		}
	}
	for _, m := range q.byID {
		if m.of = q.byID[owner{m.tenant, m.about.TemplateID}]; m.of != nil {
			_ = m.rule() // that of another, which was checked
		}
	}
	return nil
}

func (e *Engine) loadQuotasOf(ctx context.Context, tenant storage.Tenant) error {
	for page := (storage.Page{Limit: 200}); ; {
		list, more, err := e.store.List(ctx, tenant, abi.ObjectQuota, Scope{}, page)
		if err != nil {
			return err
		}
		for _, res := range list {
			page.After = res.ID
			m, err := meterOf(tenant, res)
			if err != nil {
				e.leaveOut(tenant, abi.ObjectQuota, res.ID, err)
				m, err = e.usedUp(ctx, tenant, &res)
			}
			if err != nil {
				return err
			}
			e.quotas.put(m)
		}
		if !more {
			return nil
		}
	}
}

// checkQuota holds a stored Quota against what counting relies on.
func checkQuota(q *abi.Quota, id string) error {
	if err := checkEnvelope(&q.Envelope, abi.ObjectQuota, id); err != nil {
		return err
	}
	scopes := []abi.QuotaScope{abi.QuotaPersona, abi.QuotaWorkspace, abi.QuotaTenant, abi.QuotaOrganization}
	if err := firstError(checkOneOf("scope", q.Scope, scopes...), checkLimits(q.Limits), checkWindow(q.WindowSeconds)); err != nil {
		return nonsense(abi.ObjectQuota, id, "%v", err)
	}
	for name, n := range q.Usage {
		if !(n >= 0) {
			return nonsense(abi.ObjectQuota, id, "its usage of %.32q is %v", name, n)
		}
	}
	if q.TemplateID == id {
		return nonsense(abi.ObjectQuota, id, "it follows from itself")
	}
	return nil
}

// usedUp stands for a Quota that cannot be read. What was used under it is not known, so
// all of it counts as used, until somebody states its limits anew, or a window of it has
// passed. Where it is not known either what it bounds, it bounds all that it can: a limit
// that cannot be read is not taken for none.
func (e *Engine) usedUp(ctx context.Context, tenant storage.Tenant, res *storage.Resource) (*quotaMeter, error) {
	seq, _, err := e.store.Sequence(ctx, tenant, abi.ResourcePointer{Object: abi.ObjectQuota, ID: res.ID})
	if err != nil && e.halted(ctx, err) {
		return nil, err
	}
	m := &quotaMeter{tenant: tenant, seq: seq + 1, told: true, about: e.madeAs(ctx, tenant, res)}
	m.about.HardLimit, m.about.Usage, m.about.ResetAt, m.about.ExhaustionReason = true, nil, nil, nil
	if err := m.rule(); err != nil {
		return nil, err
	}
	m.Used, m.Used[quota.Concurrent] = m.Limits, 0
	if m.Window > 0 {
		m.Turn(e.now()) // begins a window; at its end what is used is known again
	}
	return m, nil
}

// madeAs returns a Quota as it was made, or one of all that it could be for when that
// cannot be read either.
func (e *Engine) madeAs(ctx context.Context, tenant storage.Tenant, res *storage.Resource) abi.Quota {
	if origin, err := e.store.Event(ctx, tenant, res.Origin); err == nil {
		var q abi.Quota
		if decode(origin.Record().State, &q) == nil && checkQuota(&q, res.ID) == nil {
			return q
		}
	}
	q := abi.Quota{Envelope: abi.NewEnvelope(abi.ObjectQuota, res.ID, e.now(), nil),
		Scope: abi.QuotaTenant, OwnerID: e.tenantID(tenant), Limits: map[string]float64{quota.Tasks.String(): 0}}
	if tenant == storage.SystemTenant {
		q.Scope, q.OwnerID = abi.QuotaOrganization, ""
	}
	return q
}

// metersFor returns the Quotas that bound a Task, narrowest first.
func (e *Engine) metersFor(ctx context.Context, tenant storage.Tenant, t *abi.Task) ([]*quotaMeter, error) {
	if !e.quotas.some.Load() || t.Replay != nil { // a replay uses nothing
		return nil, nil
	}
	p, err := e.persona(ctx, tenant, t.PersonaID)
	if err != nil {
		return nil, err
	}
	var w abi.Workspace
	res, err := e.find(ctx, tenant, abi.ObjectWorkspace, t.WorkspaceID)
	if err == nil {
		err = decode(res.State, &w)
	}
	if err != nil {
		return nil, err
	}
	q := &e.quotas
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []*quotaMeter
	add := func(found ...*quotaMeter) {
		for _, m := range found {
			if !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	now := e.now()
	add(q.assigned(tenant, p.QuotaID, p.ID, now)...)
	add(q.of(tenant, abi.QuotaPersona, p.ID, now)...)
	add(q.assigned(tenant, w.QuotaID, w.ID, now)...)
	add(q.of(tenant, abi.QuotaWorkspace, w.ID, now)...)
	add(q.of(tenant, abi.QuotaTenant, e.tenantID(tenant), now)...)
	add(q.scoped[quotaScope{storage.SystemTenant, abi.QuotaOrganization, ""}]...)
	return list, nil
}

// assigned returns the Quota that a Persona or Workspace names.
func (q *quotaTable) assigned(tenant storage.Tenant, id, by string, now time.Time) []*quotaMeter {
	m := q.byID[owner{tenant, id}]
	switch {
	case m == nil:
		return nil
	case m.about.Each():
		return []*quotaMeter{q.instance(m, by, now)}
	}
	return []*quotaMeter{m}
}

// of returns the Quotas of one of a scope: its own, and its share of those for each.
func (q *quotaTable) of(tenant storage.Tenant, scope abi.QuotaScope, id string, now time.Time) []*quotaMeter {
	list := slices.Clone(q.scoped[quotaScope{tenant, scope, id}])
	for _, each := range q.scoped[quotaScope{tenant, scope, ""}] {
		list = append(list, q.instance(each, id, now))
	}
	return list
}

// instance returns the Quota of one of those that a Quota is for each of. It is in
// the log once something was counted.
func (q *quotaTable) instance(each *quotaMeter, id string, now time.Time) *quotaMeter {
	name := abi.DerivedID(abi.ObjectQuota, each.about.CreatedAt, each.about.ID+" "+id)
	if m := q.byID[owner{each.tenant, name}]; m != nil {
		return m
	}
	m := &quotaMeter{tenant: each.tenant, of: each, about: each.about}
	m.about.Envelope = abi.NewEnvelope(abi.ObjectQuota, name, now, nil)
	m.about.OwnerID, m.about.TemplateID, m.about.LastReceiptID = id, each.about.ID, nil
	_ = m.rule() // that of each, which was checked
	q.put(m)
	return m
}

// offered is what any Task may come to use: without some of each it is not begun.
var offered = quota.Amounts{quota.USD: 1, quota.InputTokens: 1, quota.OutputTokens: 1, quota.ToolCalls: 1,
	quota.WallTime: 1, quota.Tasks: 1, quota.Concurrent: 1}

// may refuses a Task for which a Quota has nothing left. The caller holds mu.
func (q *quotaTable) may(meters []*quotaMeter, now time.Time) error {
	for _, m := range meters {
		m.Turn(now)
		if verdict, k := m.Check(offered); verdict == quota.Exceeds {
			q.refused.Add(1)
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
func (m *quotaMeter) refusal(k quota.Kind, now time.Time) error {
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

// checkQuotas refuses a Task before anything is done for it, and names the Quota
// that bounds it most narrowly.
func (e *Engine) checkQuotas(ctx context.Context, t *task) (err error) {
	if t.meters, err = e.metersFor(ctx, t.tenant, &t.about); err != nil || len(t.meters) == 0 {
		return err
	}
	t.about.QuotaID, t.task.QuotaID = t.meters[0].about.ID, t.meters[0].about.ID
	e.quotas.mu.Lock()
	defer e.quotas.mu.Unlock()
	return e.quotas.may(t.meters, e.now())
}

// enroll counts a Task that is accepted with the batch that hand hands over, or
// refuses it.
func (e *Engine) enroll(t *task, b *storage.Batch, hand func()) error {
	if len(t.meters) == 0 {
		hand()
		return nil
	}
	q, now := &e.quotas, e.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may(t.meters, now); err != nil {
		return err
	}
	one := quota.Amounts{quota.Tasks: 1}
	for _, m := range t.meters {
		m.Use(one)
	}
	err := e.stateQuotas(t.meters, b, now, func(m *quotaMeter) bool { return m.Limited[quota.Tasks] }, hand)
	if err != nil {
		for _, m := range t.meters {
			m.Use(quota.Amounts{quota.Tasks: -1})
		}
		return err
	}
	q.hold(t.key(), t.meters)
	return nil
}

// hold counts a Task among those that have not ended. The caller holds mu.
func (q *quotaTable) hold(key owner, meters []*quotaMeter) {
	if len(meters) == 0 || q.held[key] != nil {
		return
	}
	q.held[key] = meters
	for _, m := range meters {
		m.Used[quota.Concurrent]++
	}
}

// leave says that a Task has ended, or was not accepted.
func (q *quotaTable) leave(key owner) {
	if !q.some.Load() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.held[key] {
		m.Used[quota.Concurrent]--
	}
	delete(q.held, key)
}

// reenroll counts a Task that an earlier life of the node has accepted.
func (e *Engine) reenroll(ctx context.Context, tenant storage.Tenant, t *abi.Task) error {
	meters, err := e.metersFor(ctx, tenant, t)
	if err != nil || len(meters) == 0 {
		return err
	}
	e.quotas.mu.Lock()
	defer e.quotas.mu.Unlock()
	e.quotas.hold(owner{tenant, t.ID}, meters)
	return nil
}

// heldBy returns the Quotas that a Task that has not ended is counted by.
func (q *quotaTable) heldBy(key owner) []*quotaMeter {
	if !q.some.Load() {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held[key]
}

// stateQuotas adds to a batch what has become of Quotas, and hands it over. Those of
// the whole node are in the log of no tenant: theirs is a batch of its own, before,
// so that a crash between the two counts too much and not too little. The caller
// holds mu.
func (e *Engine) stateQuotas(meters []*quotaMeter, b *storage.Batch, now time.Time, which func(*quotaMeter) bool, hand func()) error {
	var node []storage.Record
	for _, m := range meters {
		rec, ok, err := m.next(now, which(m))
		switch {
		case err != nil:
			return err
		case !ok:
		case m.tenant == b.Frame.Tenant:
			b.Frame.Records = append(b.Frame.Records, rec)
		default:
			node = append(node, rec)
		}
	}
	if node != nil {
		e.store.Append(&storage.Batch{Frame: storage.Frame{Tenant: storage.SystemTenant, Time: now, Actor: hostActor, Records: node}})
	}
	hand()
	return nil
}

// next returns the event that states a Quota, if there is anything to state: changed
// says so, and so does a limit that was reached just now.
func (m *quotaMeter) next(now time.Time, changed bool) (rec storage.Record, ok bool, err error) {
	kind := abi.EventQuotaUpdated
	if reached := m.Reached(); reached != "" && m.Exhausted == "" && (m.Hard || m.Soft) {
		m.Exhausted, m.told = reached, false
	}
	if m.Exhausted != "" && !m.told {
		kind, changed = abi.EventQuotaExhausted, true
	}
	if !changed {
		return rec, false, nil
	}
	m.about.UpdatedAt = abi.At(now)
	state, err := json.Marshal(m.shown(now), json.Deterministic(true))
	if err != nil {
		return rec, false, fmt.Errorf("encoding quota %s: %w", m.about.ID, err)
	}
	rec = storage.Record{Kind: kind, Resource: abi.ResourcePointer{Object: abi.ObjectQuota, ID: m.about.ID},
		Sequence: m.seq, Created: m.seq == 0, State: state}
	m.seq++
	m.told = true
	return rec, true, nil
}

// countUse counts what a Task's run has used since the last batch, states it in this
// one and hands it over. receipt is that of a Task that ends. The caller holds t.mu.
func (e *Engine) countUse(t *task, b *storage.Batch, receipt string, ends bool, hand func()) error {
	if len(t.meters) == 0 {
		hand()
		return nil
	}
	var used quota.Amounts
	var held []reservation
	if t.run != nil {
		used, held = t.run.unstated, t.run.reserved
		t.run.unstated, t.run.reserved = quota.Amounts{}, nil
	}
	q, now := &e.quotas, e.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if rt := q.running[t.key()]; rt != nil {
		ms := max(0, now.Sub(rt.since).Milliseconds())
		used[quota.WallTime] = ms
		rt.since = rt.since.Add(time.Duration(ms) * time.Millisecond)
	}
	counted := map[*quotaMeter]bool{}
	for _, m := range t.meters {
		m.Turn(now)
		counted[m] = m.Use(used) || ends
		if receipt != "" {
			m.about.LastReceiptID = &receipt
		}
	}
	q.free(held)
	return e.stateQuotas(t.meters, b, now, func(m *quotaMeter) bool { return counted[m] }, hand)
}

// free gives back what was reserved, and tells those who wait for it. The caller
// holds mu.
func (q *quotaTable) free(held []reservation) {
	for _, r := range held {
		r.of.Free(r.amounts)
	}
	if len(held) > 0 {
		close(q.settled)
		q.settled = make(chan struct{})
	}
}

// wake lets those who wait look again. The caller holds mu.
func (q *quotaTable) wake() {
	close(q.settled)
	q.settled = make(chan struct{})
}

func setIf[T any](p *T, value *T) {
	if value != nil {
		*p = *value
	}
}

// withoutUsage returns of a Quota what readers of a Task's events may know: that it
// was counted, and whether it is used up. What others use under it is not their
// business; reading the Quota takes a scope of its own.
func withoutUsage(state []byte) []byte {
	var q struct {
		ID               string         `json:"id"`
		Object           abi.Object     `json:"object"`
		CreatedAt        abi.Time       `json:"created_at"`
		UpdatedAt        abi.Time       `json:"updated_at"`
		Metadata         struct{}       `json:"metadata"`
		Scope            abi.QuotaScope `json:"scope"`
		Limits           struct{}       `json:"limits"`
		Usage            struct{}       `json:"usage"`
		ExhaustionReason *string        `json:"exhaustion_reason"`
		Redacted         bool           `json:"redacted"`
	}
	if err := json.Unmarshal(state, &q); err != nil {
		return []byte(`{"redacted":true}`)
	}
	q.Redacted = true
	left, err := json.Marshal(&q)
	if err != nil {
		return []byte(`{"redacted":true}`)
	}
	return left
}

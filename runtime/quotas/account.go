package quotas

import (
	"context"
	"fmt"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/policy/quota"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// Code refuses a call that a Quota has nothing left for, and fails a Task whose time under a
// Quota is over.
const Code = "quota_exhausted"

// Account is what one Task is counted by: the Quotas that bound it, what its run has used that
// they do not state yet, and what its calls have set aside. The zero value is that of a Task
// that nothing bounds. It must not be copied once the Task runs.
type Account struct {
	key    ledger.Key
	meters []*meter // narrowest first

	unstated quota.Amounts // guarded by the Task's lock
	reserved []reservation // guarded by the book
}

// reservation is what a call holds of one Quota.
type reservation struct {
	of      *meter
	amounts quota.Amounts
}

// Bounded reports whether any Quota bounds the Task.
func (a *Account) Bounded() bool { return len(a.meters) > 0 }

// Narrowest returns the id of the Quota that bounds the Task most narrowly, "" for none.
func (a *Account) Narrowest() string {
	if !a.Bounded() {
		return ""
	}
	return a.meters[0].about.ID
}

// Check refuses a Task before anything is done for it, and returns what it is counted by.
func (b *Book) Check(ctx context.Context, tenant storage.Tenant, t *abi.Task) (Account, error) {
	meters, err := b.metersFor(ctx, tenant, t)
	if err != nil || len(meters) == 0 {
		return Account{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return Account{key: ledger.Key{Tenant: tenant, ID: t.ID}, meters: meters}, b.may(meters, b.Now())
}

// Enroll counts a Task that is accepted with the batch that hand hands over, or refuses
// it.
func (b *Book) Enroll(a *Account, batch *storage.Batch, hand func()) error {
	if !a.Bounded() {
		hand()
		return nil
	}
	now := b.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.may(a.meters, now); err != nil {
		return err
	}
	one := quota.Amounts{quota.Tasks: 1}
	for _, m := range a.meters {
		m.Use(one)
	}
	err := b.state(a.meters, batch, now, func(m *meter) bool { return m.Limited[quota.Tasks] }, hand)
	if err != nil {
		for _, m := range a.meters {
			m.Use(quota.Amounts{quota.Tasks: -1})
		}
		return err
	}
	b.hold(a.key, a.meters)
	return nil
}

// hold counts a Task among those that have not ended. The caller holds mu.
func (b *Book) hold(key ledger.Key, meters []*meter) {
	if len(meters) == 0 || b.held[key] != nil {
		return
	}
	b.held[key] = meters
	for _, m := range meters {
		m.Used[quota.Concurrent]++
	}
}

// Leave says that a Task has ended, or was not accepted.
func (b *Book) Leave(key ledger.Key) {
	if !b.some.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.held[key] {
		m.Used[quota.Concurrent]--
	}
	delete(b.held, key)
}

// Reenroll counts a Task that an earlier life of the node has accepted.
func (b *Book) Reenroll(ctx context.Context, tenant storage.Tenant, t *abi.Task) error {
	meters, err := b.metersFor(ctx, tenant, t)
	if err != nil || len(meters) == 0 {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold(ledger.Key{Tenant: tenant, ID: t.ID}, meters)
	return nil
}

// Account returns what a Task that has not ended is counted by.
func (b *Book) Account(key ledger.Key) Account {
	if !b.some.Load() {
		return Account{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return Account{key: key, meters: b.held[key]}
}

// Count counts what a Task's run has used since the last batch, states it in this one and
// hands it over with hand. receipt is that of a Task that ends. The caller holds the
// Task's lock.
func (b *Book) Count(a *Account, batch *storage.Batch, receipt string, ends bool, hand func()) error {
	if !a.Bounded() {
		hand()
		return nil
	}
	used := a.unstated
	a.unstated = quota.Amounts{}
	now := b.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.running[a.key]; r != nil {
		ms := max(0, now.Sub(r.since).Milliseconds())
		used[quota.WallTime] = ms
		r.since = r.since.Add(time.Duration(ms) * time.Millisecond)
	}
	counted := map[*meter]bool{}
	for _, m := range a.meters {
		m.Turn(now)
		counted[m] = m.Use(used) || ends
		if receipt != "" {
			m.about.LastReceiptID = &receipt
		}
	}
	b.free(a)
	return b.state(a.meters, batch, now, func(m *meter) bool { return counted[m] }, hand)
}

// state adds to a batch what has become of Quotas, and hands it over. Those of the whole
// node are in the log of no tenant: theirs is a batch of its own, before, so that a crash
// between the two counts too much and not too little. The caller holds mu.
func (b *Book) state(meters []*meter, batch *storage.Batch, now time.Time, which func(*meter) bool, hand func()) error {
	var node []storage.Record
	for _, m := range meters {
		rec, ok, err := m.next(now, which(m))
		switch {
		case err != nil:
			return err
		case !ok:
		case m.tenant == batch.Frame.Tenant:
			batch.Frame.Records = append(batch.Frame.Records, rec)
		default:
			node = append(node, rec)
		}
	}
	if node != nil {
		b.Ledger.Append(&storage.Batch{Frame: storage.Frame{Tenant: storage.SystemTenant, Time: now, Actor: desk.HostActor, Records: node}})
	}
	hand()
	return nil
}

// next returns the event that states a Quota, if there is anything to state: changed
// says so, and so does a limit that was reached just now.
func (m *meter) next(now time.Time, changed bool) (rec storage.Record, ok bool, err error) {
	kind := abi.EventQuotaUpdated
	if reached := m.Reached(); reached != "" && m.Exhausted == "" && (m.Hard || m.Soft) {
		m.Exhausted, m.stated = reached, false
	}
	if m.Exhausted != "" && !m.stated {
		kind, changed = abi.EventQuotaExhausted, true
	}
	if !changed {
		return rec, false, nil
	}
	m.about.UpdatedAt = abi.At(now)
	text, err := json.Marshal(m.shown(now), json.Deterministic(true))
	if err != nil {
		return rec, false, fmt.Errorf("encoding quota %s: %w", m.about.ID, err)
	}
	rec = storage.Record{Kind: kind, Resource: abi.ResourcePointer{Object: abi.ObjectQuota, ID: m.about.ID},
		Sequence: m.seq, Created: m.seq == 0, State: text}
	m.seq++
	m.stated = true
	return rec, true, nil
}

// free gives back what an account has set aside, and wakes those who wait for it. The
// caller holds mu.
func (b *Book) free(a *Account) {
	for _, r := range a.reserved {
		r.of.Free(r.amounts)
	}
	if len(a.reserved) > 0 {
		b.wake()
	}
	a.reserved = nil
}

// wake lets those who wait look again. The caller holds mu.
func (b *Book) wake() {
	close(b.settled)
	b.settled = make(chan struct{})
}

// SetAside reserves the most that a call can use of each Quota that bounds the Task. It
// waits while others hold what it needs, and refuses the call with a *provider.Refusal
// when it cannot have it. It returns the request to make: a model's answer is bounded to
// what is left.
func (b *Book) SetAside(ctx context.Context, a *Account, call string, request []byte) ([]byte, error) {
	if !a.Bounded() {
		return request, nil
	}
	var asked abi.ModelRequest
	if call == abi.CallLLMComplete {
		if err := json.Unmarshal(request, &asked); err != nil {
			return request, provider.Malformed(err)
		}
	}
	for {
		want, bounded, err := b.wants(a, call, request, asked)
		if err != nil || want == (quota.Amounts{}) {
			return request, err
		}
		wait, err := b.reserve(a, want)
		if wait == nil {
			return bounded, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return request, context.Cause(ctx)
		}
	}
}

// reserve sets want aside in all Quotas or in none; then it returns what to wait for, or
// why waiting is of no use.
func (b *Book) reserve(a *Account, want quota.Amounts) (wait <-chan struct{}, err error) {
	now := b.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range a.meters {
		m.Turn(now)
		switch verdict, k := m.Check(want); verdict {
		case quota.Exceeds:
			if m.Exhausted == "" {
				m.Exhausted, m.stated = k.String(), false
			}
			return nil, provider.Refuse(abi.CallDenied, Code, fmt.Sprintf("quota %s has too little left for this call: %s", m.about.ID, k))
		case quota.Busy:
			return b.settled, nil
		}
	}
	for _, m := range a.meters {
		a.reserved = append(a.reserved, reservation{m, m.Reserve(want)})
	}
	return nil, nil
}

// wants returns the most that a call can use, and the call as it is to be made. asked is
// the request of a call of a model.
func (b *Book) wants(a *Account, call string, request []byte, asked abi.ModelRequest) (quota.Amounts, []byte, error) {
	switch call {
	case abi.CallToolCall, abi.CallResourceRead, abi.CallPromptGet:
		return quota.Amounts{quota.ToolCalls: 1, quota.WallTime: 1}, request, nil
	case abi.CallHTTPFetch:
		return quota.Amounts{quota.WallTime: 1}, request, nil
	case abi.CallAgentDelegate:
		want, err := b.wantsOfDelegation(a, request)
		return want, request, err
	case abi.CallLLMComplete:
		return b.wantsOfModel(a, request, asked)
	}
	return quota.Amounts{}, request, nil
}

// wantsOfModel says what an answer can cost: a token is at least a byte of what is
// sent, and what it costs is not known before a price says so.
func (b *Book) wantsOfModel(a *Account, request []byte, req abi.ModelRequest) (quota.Amounts, []byte, error) {
	left, bounded := b.leftOf(a.meters, quota.OutputTokens, b.Now())
	if bounded && left > 0 && (req.MaxTokens == 0 || int64(req.MaxTokens) > left) {
		req.MaxTokens = int(left)
		var err error
		if request, err = json.Marshal(&req); err != nil {
			return quota.Amounts{}, request, provider.Malformed(err)
		}
	}
	want := quota.Amounts{quota.InputTokens: int64(len(request)), quota.OutputTokens: int64(req.MaxTokens), quota.USD: quota.Rest, quota.WallTime: 1}
	if req.MaxTokens <= 0 {
		want[quota.OutputTokens] = quota.Rest
	}
	if b.Pricing != nil {
		if usd, known := b.Pricing.Most(&req, len(request)); known {
			want[quota.USD] = quota.USD.Whole(usd)
		}
	}
	return want, request, nil
}

// wantsOfDelegation says what an agent outside may use. Where that is limited, its budget has to
// bound it: nobody else can.
func (b *Book) wantsOfDelegation(a *Account, request []byte) (quota.Amounts, error) {
	req, err := provider.Asked[abi.CallAgentDelegateRequest](nil, request)
	want := ofDelegation(req.Budget)
	for _, k := range []quota.Kind{quota.USD, quota.OutputTokens} {
		if _, bounded := b.leftOf(a.meters, k, b.Now()); bounded && want[k] == 0 && err == nil {
			err = provider.Refuse(abi.CallDenied, Code, fmt.Sprintf("a quota limits %s: the budget of a delegation has to bound them, too", k))
		}
	}
	want[quota.ToolCalls], want[quota.WallTime] = 1, 1
	return want, err
}

// leftOf returns what the strictest hard limit has left of a kind, held by others or
// not.
func (b *Book) leftOf(meters []*meter, k quota.Kind, now time.Time) (left int64, bounded bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range meters {
		if m.Turn(now); !m.Hard || !m.Limited[k] {
			continue
		}
		if n := max(0, m.Limits[k]-m.Used[k]); !bounded || n < left {
			left, bounded = n, true
		}
	}
	return left, bounded
}

// Use counts what an event of a call says was used. A call that changes something
// counts from its intent on: it may have been made. The caller holds
// the Task's lock.
func (a *Account) Use(e *journal.Entry, phase journal.Phase) {
	if len(a.meters) == 0 {
		return
	}
	switch e.Call {
	case abi.CallToolCall, abi.CallResourceRead, abi.CallPromptGet:
		if phase == journal.Intent || phase == journal.Whole && e.Status != abi.CallInvalid && e.Status != abi.CallDenied && e.Status != abi.CallNotFound {
			a.unstated[quota.ToolCalls]++
		}
	case abi.CallAgentDelegate:
		a.useDelegation(e, phase)
	case abi.CallLLMComplete:
		var answer struct {
			Usage    abi.ModelUsage `json:"usage"`
			Cost     float64        `json:"cost"`
			Currency string         `json:"currency"`
		}
		if phase == journal.Intent || e.Status != abi.CallOK || json.Unmarshal(e.Answer, &answer) != nil {
			return
		}
		used := quota.Amounts{quota.InputTokens: max(0, answer.Usage.InputTokens), quota.OutputTokens: max(0, answer.Usage.OutputTokens)}
		if answer.Currency == "" || answer.Currency == "USD" {
			used[quota.USD] = quota.USD.Whole(answer.Cost)
		}
		a.unstated = a.unstated.Add(used)
	}
}

// useDelegation counts what an agent outside was allowed to use from the intent on, and corrects
// that by what it has used when it says so: whatever happens in between, it may have been paid.
func (a *Account) useDelegation(e *journal.Entry, phase journal.Phase) {
	d, err := journal.ReadDelegation(e)
	if err != nil {
		return
	}
	switch phase {
	case journal.Intent:
		used := ofDelegation(d.Allowed)
		used[quota.ToolCalls] = 1
		a.unstated = a.unstated.Add(used)
	case journal.Result:
		used, allowed := ofDelegation(d.Used), ofDelegation(d.Allowed)
		for k := range used {
			a.unstated[k] += used[k] - allowed[k]
		}
	}
}

// ofDelegation says what is counted of what an agent outside uses. Its tokens are counted as output:
// it does not tell them apart.
func ofDelegation(b abi.DelegationBudget) quota.Amounts {
	return quota.Amounts{quota.USD: quota.USD.Whole(b.USD), quota.OutputTokens: max(0, b.Tokens)}
}

// Begin begins to count the time of a Task's run. The caller holds the Task's lock.
func (b *Book) Begin(a *Account) {
	a.unstated = quota.Amounts{}
	if !a.Bounded() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[a.key] = &running{since: b.Now()}
	b.watch(a.meters)
}

// End gives back what a run that ended without a last batch has set aside, and stops counting
// its time.
func (b *Book) End(a *Account) {
	if !a.Bounded() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free(a)
	if r := b.running[a.key]; r != nil {
		if r.timer != nil {
			r.timer.Stop()
		}
		delete(b.running, a.key)
	}
	b.watch(a.meters)
}

// watch sets when the time that is left under Quotas will be used up by the runs that
// use it together. The caller holds mu.
func (b *Book) watch(meters []*meter) {
	for _, m := range meters {
		if !m.Hard || !m.Limited[quota.WallTime] {
			continue
		}
		left, keys := b.timeLeft(m, b.Now())
		for _, key := range keys {
			r := b.running[key]
			if r.timer != nil {
				r.timer.Stop()
			}
			r.timer = time.AfterFunc(left/time.Duration(len(keys))+time.Millisecond, b.Owned(func() { b.overtime(key, m) }))
		}
	}
}

// maxWatch bounds how far ahead the end of a Quota's time is looked for.
const maxWatch = 10 * 366 * 24 * time.Hour

// timeLeft returns the time that is left under a Quota, and the Tasks whose runs use
// it. The caller holds mu.
func (b *Book) timeLeft(m *meter, now time.Time) (left time.Duration, keys []ledger.Key) {
	m.Turn(now)
	left = time.Duration(min(max(0, m.Limits[quota.WallTime]-m.Used[quota.WallTime]), maxWatch.Milliseconds())) * time.Millisecond
	for key, rt := range b.running {
		for _, held := range b.held[key] {
			if held == m {
				keys = append(keys, key)
				left -= now.Sub(rt.since)
			}
		}
	}
	return max(0, left), keys
}

// overtime ends a Task when the time under a Quota is used up, and else looks again
// later.
func (b *Book) overtime(key ledger.Key, m *meter) {
	b.mu.Lock()
	left, keys := b.timeLeft(m, b.Now())
	over := left == 0 && slices.Contains(keys, key)
	if !over {
		b.watch([]*meter{m})
	}
	b.mu.Unlock()
	if over {
		b.Overtime(key, &abi.Failure{Code: Code, Message: fmt.Sprintf("the time that quota %s allows was used up", m.about.ID)})
	}
}

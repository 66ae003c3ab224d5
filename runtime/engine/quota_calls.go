package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/policy/quota"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// codeQuota is what a call is refused with that a Quota has nothing left for, and
// what a Task fails with whose time under a Quota is over.
const codeQuota = "quota_exhausted"

// setAside reserves the most that a call can use of each Quota that bounds the Task. It
// waits while others hold what it needs, and refuses the call when it cannot have it.
// A call whose intent stands has counted already.
func (r *run) setAside(ctx context.Context, c *liveCall) error {
	meters := r.task.meters
	if len(meters) == 0 || c.intent != nil {
		return nil
	}
	for {
		want, err := r.wants(c)
		if err != nil || want == (quota.Amounts{}) {
			return err
		}
		wait, err := r.reserve(meters, want)
		if wait == nil {
			return err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// reserve sets want aside in all Quotas or in none; then it returns what to wait for,
// or why waiting is of no use.
func (r *run) reserve(meters []*quotaMeter, want quota.Amounts) (wait <-chan struct{}, err error) {
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	q, now := &r.engine.quotas, r.engine.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range meters {
		m.Turn(now)
		switch verdict, k := m.Check(want); verdict {
		case quota.Exceeds:
			if m.Exhausted == "" {
				m.Exhausted, m.told = k.String(), false
			}
			return nil, provider.Refuse(abi.CallDenied, codeQuota, fmt.Sprintf("quota %s has too little left for this call: %s", m.about.ID, k))
		case quota.Busy:
			return q.settled, nil
		}
	}
	for _, m := range meters {
		r.reserved = append(r.reserved, reservation{m, m.Reserve(want)})
	}
	return nil, nil
}

// wants returns the most that a call can use. A model's answer is bounded to what is
// left: the record keeps what the plugin asked.
func (r *run) wants(c *liveCall) (quota.Amounts, error) {
	switch c.entry.Call {
	case abi.CallToolCall:
		return quota.Amounts{quota.ToolCalls: 1, quota.WallTime: 1}, nil
	case abi.CallHTTPFetch:
		return quota.Amounts{quota.WallTime: 1}, nil
	case abi.CallLLMComplete:
		return r.wantsOfModel(c)
	}
	return quota.Amounts{}, nil
}

// wantsOfModel says what an answer can cost: a token is at least a byte of what is
// sent, and what it costs is not known before a price says so.
func (r *run) wantsOfModel(c *liveCall) (quota.Amounts, error) {
	req, err := ask[abi.ModelRequest](c)
	if err != nil {
		return quota.Amounts{}, err
	}
	left, bounded := r.engine.quotas.leftOf(r.task.meters, quota.OutputTokens, r.engine.now())
	if bounded && left > 0 && (req.MaxTokens == 0 || int64(req.MaxTokens) > left) {
		req.MaxTokens = int(left)
		if c.request, err = json.Marshal(&req); err != nil {
			return quota.Amounts{}, provider.Malformed(err)
		}
	}
	want := quota.Amounts{quota.InputTokens: int64(len(c.request)), quota.OutputTokens: int64(req.MaxTokens), quota.USD: quota.Rest, quota.WallTime: 1}
	if req.MaxTokens <= 0 {
		want[quota.OutputTokens] = quota.Rest
	}
	priced, ok := r.engine.performers[abi.CallLLMComplete].(provider.Priced)
	if usd, known := 0.0, false; ok {
		if usd, known = priced.Most(&req, len(c.request)); known {
			want[quota.USD] = quota.USD.Whole(usd)
		}
	}
	return want, nil
}

// leftOf returns what the strictest hard limit has left of a kind, held by others or
// not.
func (q *quotaTable) leftOf(meters []*quotaMeter, k quota.Kind, now time.Time) (left int64, bounded bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
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

// use counts what an event of a call says was used. A call that changes something
// counts from its intent on: it may have been made. The caller holds task.mu.
func (r *run) use(e *journal.Entry, phase journal.Phase) {
	if len(r.task.meters) == 0 {
		return
	}
	switch e.Call {
	case abi.CallToolCall:
		if phase == journal.Intent || phase == journal.Whole && e.Status != abi.CallInvalid && e.Status != abi.CallDenied && e.Status != abi.CallNotFound {
			r.unstated[quota.ToolCalls]++
		}
	case abi.CallLLMComplete:
		var a struct {
			Usage    abi.ModelUsage `json:"usage"`
			Cost     float64        `json:"cost"`
			Currency string         `json:"currency"`
		}
		if phase == journal.Intent || e.Status != abi.CallOK || json.Unmarshal(e.Answer, &a) != nil {
			return
		}
		used := quota.Amounts{quota.InputTokens: max(0, a.Usage.InputTokens), quota.OutputTokens: max(0, a.Usage.OutputTokens)}
		if a.Currency == "" || a.Currency == "USD" {
			used[quota.USD] = quota.USD.Whole(a.Cost)
		}
		r.unstated = r.unstated.Add(used)
	}
}

// leaveQuotas gives back what a run holds that has ended without a last batch, and
// stops counting its time.
func (r *run) leaveQuotas() {
	t := r.task
	if len(t.meters) == 0 {
		return
	}
	q := &r.engine.quotas
	t.mu.Lock()
	defer t.mu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free(r.reserved)
	r.reserved = nil
	if rt := q.running[t.key()]; rt != nil {
		if rt.timer != nil {
			rt.timer.Stop()
		}
		delete(q.running, t.key())
	}
	q.watch(r.engine, t.meters)
}

// enterQuotas begins to count the time of a run.
func (r *run) enterQuotas() {
	t := r.task
	if len(t.meters) == 0 {
		return
	}
	q := &r.engine.quotas
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running[t.key()] = &quotaTime{since: r.engine.now()}
	q.watch(r.engine, t.meters)
}

// watch sets when the time that is left under Quotas will be used up by the runs that
// use it together. The caller holds mu.
func (q *quotaTable) watch(e *Engine, meters []*quotaMeter) {
	for _, m := range meters {
		if !m.Hard || !m.Limited[quota.WallTime] {
			continue
		}
		left, keys := q.timeLeft(m, e.now())
		for _, key := range keys {
			rt := q.running[key]
			if rt.timer != nil {
				rt.timer.Stop()
			}
			rt.timer = time.AfterFunc(left/time.Duration(len(keys))+time.Millisecond, e.background.owned(func() { e.overtime(key, m) }))
		}
	}
}

// timeLeft returns the time that is left under a Quota, and the Tasks whose runs use
// it. The caller holds mu.
func (q *quotaTable) timeLeft(m *quotaMeter, now time.Time) (left time.Duration, keys []owner) {
	m.Turn(now)
	left = time.Duration(min(max(0, m.Limits[quota.WallTime]-m.Used[quota.WallTime]), int64(maxWaitSeconds)*1000)) * time.Millisecond
	for key, rt := range q.running {
		for _, held := range q.held[key] {
			if held == m {
				keys = append(keys, key)
				left -= now.Sub(rt.since)
			}
		}
	}
	return max(0, left), keys
}

// overtime fails a Task when the time under a Quota is used up, and else looks again
// later.
func (e *Engine) overtime(key owner, m *quotaMeter) {
	q := &e.quotas
	q.mu.Lock()
	left, keys := q.timeLeft(m, e.now())
	over := left == 0 && slices.Contains(keys, key)
	if !over {
		q.watch(e, []*quotaMeter{m})
	}
	q.mu.Unlock()
	if !over {
		return
	}
	err := e.endFromOutside(context.Background(), key, change{
		in: Input{Kind: InputDeadline, Failure: codeQuota}, actor: hostActor,
		outcome: func(o *abi.Outcome) {
			o.Failure = &abi.Failure{Code: codeQuota, Message: fmt.Sprintf("the time that quota %s allows was used up", m.about.ID)}
			o.Summary = o.Failure.Message
		},
	})
	e.undone("that the time under a quota was up could not be recorded", key, err)
}

package intake

import (
	"container/heap"
	"context"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/background"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/connector/schedule"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// pollPersona is what polls run as, whatever a Connector's Tasks run as: it may what
	// a poll needs, and no more.
	pollPersona = "persona_poll"
	// pollWidth is how many Connectors' ticks are acted on at one time.
	pollWidth = 16
	// firstLook and lastLook are after how long it is looked at whether a poll has ended.
	firstLook, lastLook = time.Second, time.Minute
)

// pollTable holds the Connectors that act by themselves, the next one first. One
// goroutine waits for all of them.
type pollTable struct {
	mu    lockrank.Mutex[lockrank.Table]
	byKey map[ledger.Key]*poll // nil until the intake is started
	due   pollHeap
	wake  chan struct{}
	slots chan struct{}
	busy  background.Group
}

// poll is a Connector that acts by itself.
type poll struct {
	inlet *inlet

	// Guarded by the table's mutex.
	at    time.Time // when to look at it next
	index int       // in the heap; -1 when it is not in there
	busy  bool      // somebody acts on it, who alone has what follows

	about    abi.Polling // what schedule was made of
	since    time.Time   // when it was noticed that the last tick lies in the future; zero when it does not
	schedule *schedule.Schedule
	retry    connector.Breaker
	again    bool   // the last poll failed, and is to be repeated before its schedule
	task     string // the poll that runs
	resumed  bool   // task was started by an earlier life of the node
	looks    int    // how often it was looked at whether task has ended
}

// startPolls begins to act on schedules. Ticks that were missed while the node was down
// are made up for once.
func (i *Intake) startPolls() {
	t := &i.polls
	t.mu.Lock()
	t.byKey, t.wake, t.slots = map[ledger.Key]*poll{}, make(chan struct{}, 1), make(chan struct{}, pollWidth)
	t.mu.Unlock()
	for _, s := range i.inlets.all() {
		i.pollSoon(s)
	}
	t.busy.Go(func() { i.pollLoop(i.workers.ctx) })
}

// pollLoop acts on what is due until ctx ends.
func (i *Intake) pollLoop(ctx context.Context) {
	t := &i.polls
	timer := time.NewTimer(0)
	defer timer.Stop()
	last := i.parts.Now().Round(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		case <-timer.C:
		}
		now := i.parts.Now().Round(0)
		if now.Before(last) {
			i.placePolls()
		}
		last = now
		for _, p := range t.take(i.parts.Now()) {
			t.busy.Go(func() {
				t.slots <- struct{}{}
				defer func() { <-t.slots }()
				i.pollOnce(ctx, p)
			})
		}
		timer.Reset(t.wait(i.parts.Now()))
	}
}

// take returns what is due, and takes it out.
func (t *pollTable) take(now time.Time) (all []*poll) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.due) > 0 && !t.due[0].at.After(now) {
		p := heap.Pop(&t.due).(*poll)
		p.busy = true
		all = append(all, p)
	}
	return all
}

// wait is how long nothing is due.
func (t *pollTable) wait(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.due) == 0 {
		return time.Hour
	}
	return alarm.Wait(now, t.due[0].at)
}

// PollStats says what the Connectors that act by themselves are doing.
type PollStats struct {
	Connectors int // that act by themselves
	Due        int // whose time has come
	Busy       int // that are acted on
	Running    int // of those not acted on: whose poll has not ended, as far as is known
}

// PollStats returns a snapshot. It looks at each Connector that acts by itself.
func (i *Intake) PollStats() (s PollStats) {
	now := i.parts.Now()
	i.polls.mu.Lock()
	defer i.polls.mu.Unlock()
	for _, p := range i.polls.byKey {
		s.Connectors++
		switch {
		case p.busy:
			s.Busy++
			continue
		case p.index >= 0 && !p.at.After(now):
			s.Due++
		}
		if p.task != "" {
			s.Running++
		}
	}
	return s
}

// LookForDuePolls has the polling look at once at what is due: the clock was put forward, and a wait
// by it would not notice before its time is up.
func (i *Intake) LookForDuePolls() { i.polls.nudge() }

func (t *pollTable) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// pollable reports whether a Connector acts by itself now.
func pollable(c *abi.Connector) bool {
	return c.Polling != nil && (c.Status == abi.ConnectorActive || c.Status == abi.ConnectorFailed)
}

// pollSoon takes note of a Connector that was made, changed or deleted.
func (i *Intake) pollSoon(s *inlet) {
	t := &i.polls
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey == nil {
		return
	}
	p := t.byKey[s.key]
	if p == nil {
		if !pollable(s.about.Load()) {
			return
		}
		p = i.newPoll(s)
		t.byKey[s.key] = p
	}
	if !p.busy { // whoever is busy with it places it
		i.placePoll(p)
		t.nudge()
	}
}

func (i *Intake) newPoll(s *inlet) *poll {
	about := s.about.Load()
	p := &poll{inlet: s, index: -1, task: about.Polling.LastTask, resumed: true}
	if about.Status == abi.ConnectorFailed {
		p.retry.Trip(i.parts.Now())
		p.again = true
	}
	return p
}

// placePolls places all polls anew: the clock was put back, and what was placed by it
// while it was ahead would be late by as much.
func (i *Intake) placePolls() {
	t := &i.polls
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.byKey {
		if !p.busy {
			i.placePoll(p)
		}
	}
}

// placePoll says when to look at a poll next. The caller holds the table's mutex.
func (i *Intake) placePoll(p *poll) {
	t, about := &i.polls, p.inlet.about.Load()
	at, err := p.next(about, i.parts.Now())
	if err != nil {
		i.parts.Log.Error("a connector has a schedule that serves no more", "connector", about.ID, "error", err)
	}
	if p.index >= 0 {
		heap.Remove(&t.due, p.index)
	}
	if !pollable(about) {
		delete(t.byKey, p.inlet.key)
	} else if p.at = at; !at.IsZero() {
		heap.Push(&t.due, p)
	}
}

// next says when to look at a poll next; zero for not before it is changed.
func (p *poll) next(about *abi.Connector, now time.Time) (at time.Time, err error) {
	if !pollable(about) {
		return time.Time{}, nil
	}
	if is := about.Polling; p.schedule == nil || is.Schedule != p.about.Schedule || is.TimeZone != p.about.TimeZone {
		if p.schedule, err = schedule.Parse(is.Schedule, is.TimeZone); err != nil {
			return time.Time{}, err
		}
		p.about = *is
	}
	if about.Status == abi.ConnectorActive && p.retry.Open() { // somebody says that it is mended
		p.retry.Reset()
	}
	switch {
	case p.task != "":
		return now.Add(min(firstLook<<min(p.looks, 6), lastLook)), nil
	case !p.retry.RetryAt().IsZero():
		return p.retry.RetryAt(), nil
	}
	return p.schedule.Next(p.last(about, now)), nil
}

// last is what the next tick follows: the last tick, unless a clock that was ahead told
// it. That must not hold up the ticks that come now that the clock is right again.
func (p *poll) last(about *abi.Connector, now time.Time) time.Time {
	last := lastTick(about)
	if !last.After(now) {
		p.since = time.Time{}
		return last
	}
	if p.since.IsZero() || p.since.After(now) {
		p.since = now
	}
	return p.since
}

// lastTick is the last tick that was told, or since when there are ticks.
func lastTick(c *abi.Connector) time.Time {
	if !c.Polling.LastAt.IsZero() {
		return c.Polling.LastAt
	}
	return c.UpdatedAt
}

// pollOnce does what is due of a poll.
func (i *Intake) pollOnce(ctx context.Context, p *poll) {
	err := i.pollStep(ctx, p)
	if err != nil && ctx.Err() == nil {
		i.pollFailed(ctx, p, err)
	}
	t := &i.polls
	t.mu.Lock()
	defer t.mu.Unlock()
	p.busy = false
	i.placePoll(p)
	t.nudge()
}

func (i *Intake) pollStep(ctx context.Context, p *poll) error {
	if p.task == "" { // what runs is only looked at
		if err := i.parts.Room(ctx); err != nil {
			return err
		}
	}
	about, now := p.inlet.about.Load(), i.parts.Now()
	switch {
	case !pollable(about):
		return nil
	case p.task != "":
		return i.pollLook(ctx, p)
	}
	tick, due := p.schedule.Due(p.last(about, now), now)
	if p.again || !due && !p.retry.RetryAt().IsZero() {
		tick, due = now, true
	}
	if !due {
		return nil
	}
	task, err := i.pollTick(ctx, p.inlet, about, tick)
	if err == nil {
		err = i.pollTold(ctx, p.inlet, now, task)
	}
	if err != nil {
		return err
	}
	p.again, p.task, p.resumed, p.looks = false, task, false, 0
	if task != "" {
		return nil
	}
	return i.pollSucceeded(ctx, p)
}

// pollTick acts on a tick: it is a delivery itself, or a Task that polls. Done again,
// it has no second effect, for the ids of both follow from the tick.
func (i *Intake) pollTick(ctx context.Context, s *inlet, about *abi.Connector, tick time.Time) (task string, err error) {
	if about.Polling.Export != "" {
		return i.pollTask(ctx, s, about, tick)
	}
	at := tick.UTC().Format(time.RFC3339)
	text, err := json.Marshal(struct {
		Tick     string `json:"tick"`
		Schedule string `json:"schedule"`
		TimeZone string `json:"timezone,omitzero"`
	}{at, about.Polling.Schedule, about.Polling.TimeZone})
	if err != nil {
		return "", err
	}
	_, err = i.receivePolled(ctx, s, &abi.PolledDelivery{ID: "tick:" + at, Header: map[string]string{"content-type": "application/json"}, Text: string(text)})
	return "", err
}

// pollTask submits the Task that polls, in a Session of the Connector's own: what it
// keeps there, the next one finds.
func (i *Intake) pollTask(ctx context.Context, s *inlet, about *abi.Connector, tick time.Time) (string, error) {
	st := &settlement{intake: i, inlet: s, about: about, caller: &desk.Caller{
		Tenant: s.key.Tenant, TenantID: i.parts.Tenants.IDOf(s.key.Tenant), Actor: about.ID, Workspaces: []string{about.WorkspaceID}}}
	sessionID := abi.DerivedID(abi.ObjectSession, about.CreatedAt, "polls of "+about.ID)
	commit, err := st.makeSession(ctx, sessionID, "")
	if err == nil && commit != nil {
		_, err = commit.Wait(context.Background())
	}
	if err != nil {
		return "", i.parts.Ledger.Failed("making a session", err)
	}
	id := abi.DerivedID(abi.ObjectTask, tick, "poll of "+about.ID+" at "+tick.UTC().Format(time.RFC3339Nano))
	if _, err := i.parts.Ledger.Find(ctx, s.key.Tenant, abi.ObjectTask, id); err == nil || !ledger.IsNotFound(err) {
		return id, err
	}
	input, err := pollInput(about, tick)
	if err != nil {
		return "", err
	}
	return id, i.parts.Tasks.Submit(ctx, Order{Caller: st.caller, ID: id, ConnectorID: about.ID,
		Request: abi.SubmitTaskRequest{Input: input, SessionID: sessionID, PersonaID: pollPersona}})
}

// pollInput is what a poll is told: the Connector, without what no plugin has a use
// for, and when it was due.
func pollInput(about *abi.Connector, tick time.Time) (jsontext.Value, error) {
	told := *about
	told.Webhook, told.Auth = nil, nil
	return json.Marshal(struct {
		Connector *abi.Connector `json:"connector"`
		Tick      abi.Time       `json:"tick"`
	}{&told, abi.At(tick)}, json.Deterministic(true))
}

// PollWorkflow returns what a Task that polls for a Connector runs; "" for any other Task.
func (i *Intake) PollWorkflow(tenant storage.Tenant, t *abi.Task) string {
	if !isPoll(t) {
		return ""
	}
	s := i.inlets.get(ledger.Key{Tenant: tenant, ID: t.ConnectorID})
	if s == nil {
		return ""
	}
	about := s.about.Load()
	if about.Polling == nil || about.Polling.Export == "" {
		return ""
	}
	return pluginOf(about) + "#" + about.Polling.Export
}

// isPoll reports whether a Task polls for a Connector.
func isPoll(t *abi.Task) bool {
	return t.ConnectorID != "" && t.DeliveryID == "" && t.PersonaID == pollPersona
}

// pollTold records that a tick was acted on. It makes up for all that were missed.
func (i *Intake) pollTold(ctx context.Context, s *inlet, now time.Time, task string) error {
	c := &desk.Caller{Tenant: s.key.Tenant, Actor: desk.HostActor}
	_, err := i.changeConnector(ctx, c, s, nil, desk.StatusOK, func(next *abi.Connector) (abi.EventKind, error) {
		if next.Polling == nil {
			return "", errUnchanged
		}
		is := *next.Polling
		is.LastAt, is.LastTask = abi.At(now), task
		next.Polling = &is
		return abi.EventConnectorUpdated, nil
	})
	if err == errUnchanged || ledger.IsNotFound(err) {
		return nil
	}
	return err
}

// TaskEnded is called for each Task that has ended, with the Task as it was accepted. When it
// was a poll, its end is looked at at once. An end that comes while somebody is busy with the
// Connector is found by looking.
func (i *Intake) TaskEnded(tenant storage.Tenant, t *abi.Task) {
	if !isPoll(t) {
		return
	}
	i.polls.mu.Lock()
	defer i.polls.mu.Unlock()
	p := i.polls.byKey[ledger.Key{Tenant: tenant, ID: t.ConnectorID}]
	if p == nil || p.busy || p.task != t.ID || p.index < 0 {
		return
	}
	p.at = i.parts.Now()
	heap.Fix(&i.polls.due, p.index)
	i.polls.nudge()
}

// pollLook looks at whether a poll has ended.
func (i *Intake) pollLook(ctx context.Context, p *poll) error {
	res, err := i.parts.Ledger.Find(ctx, p.inlet.key.Tenant, abi.ObjectTask, p.task)
	var is abi.Task
	switch {
	case ledger.IsNotFound(err):
		p.task = ""
		return nil
	case err == nil:
		err = ledger.Decode(res.State, &is)
	}
	if err != nil {
		return err
	}
	if !is.Status.Terminal() {
		p.looks++
		return nil
	}
	ended, resumed := p.task, p.resumed
	p.task = ""
	switch {
	case is.Status == abi.TaskCompleted && !resumed:
		return i.pollSucceeded(ctx, p)
	case is.Status == abi.TaskFailed && !resumed:
		p.again = true
		return &abi.Failure{Code: "poll_failed", Message: fmt.Sprintf("the poll %s failed%s", ended, because(is.Failure))}
	}
	return nil
}

// pollFailed counts a failure. Too many of them in a row make the Connector FAILED.
func (i *Intake) pollFailed(ctx context.Context, p *poll, cause error) {
	retryAt, tripped := p.retry.Failed(i.parts.Now())
	fault := failureMessage(cause)
	p.inlet.pollFault.Store(&fault)
	i.parts.Log.Warn("a connector could not poll", "connector", p.inlet.key.ID, "error", cause, "retry_at", retryAt)
	if !tripped {
		return
	}
	if err := i.setConnectorStatus(ctx, p.inlet, abi.ConnectorFailed, failureMessage(cause)); err != nil {
		i.parts.Log.Error("a connector's failure could not be recorded", "connector", p.inlet.key.ID, "error", err)
	}
}

func (i *Intake) pollSucceeded(ctx context.Context, p *poll) error {
	p.retry.Succeeded()
	p.inlet.pollFault.Store(nil)
	if p.inlet.about.Load().Status != abi.ConnectorFailed {
		return nil
	}
	return i.setConnectorStatus(ctx, p.inlet, abi.ConnectorActive, "")
}

// checkPolling checks how a Connector is to act by itself.
func checkPolling(p *abi.Polling) error {
	if p == nil {
		return nil
	}
	if _, err := schedule.Parse(p.Schedule, p.TimeZone); err != nil {
		return abi.InvalidParam("polling", "%v", err)
	}
	if p.Export != "" && (len(p.Export) > 128 || !abi.ValidName(p.Export)) {
		return abi.InvalidParam("polling.export", "export must be the name of an export of the connector's plugin")
	}
	return nil
}

// freshPolling returns what a client asks for, without what the node itself fills in.
// An empty schedule ends polling.
func freshPolling(p *abi.Polling) *abi.Polling {
	if p == nil || *p == (abi.Polling{}) {
		return nil
	}
	return &abi.Polling{Schedule: p.Schedule, TimeZone: p.TimeZone, Export: p.Export}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// shownPolling is how a Connector acts by itself, with when it does so next.
func shownPolling(c *abi.Connector, now time.Time) *abi.Polling {
	if !pollable(c) {
		return c.Polling
	}
	shown := *c.Polling
	if s, err := schedule.Parse(shown.Schedule, shown.TimeZone); err == nil {
		shown.NextAt = abi.At(s.Next(earlier(lastTick(c), now)))
	}
	return &shown
}

// pollHeap orders polls by when to look at them.
type pollHeap []*poll

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (h pollHeap) Len() int           { return len(h) }
func (h pollHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h pollHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *pollHeap) Push(p any) {
	added := p.(*poll)
	added.index = len(*h)
	*h = append(*h, added)
}

// Pop implements heap.Interface.
func (h *pollHeap) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	p.index = -1
	(*h)[last] = nil
	*h = (*h)[:last]
	return p
}

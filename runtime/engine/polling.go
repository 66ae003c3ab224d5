package engine

import (
	"container/heap"
	"context"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/connector/schedule"
	"github.com/wharf-dev/wharf/runtime/lockrank"
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
	mu    lockrank.Mutex[lockTable]
	byKey map[owner]*poll // nil until the engine is started
	due   pollHeap
	wake  chan struct{}
	slots chan struct{}
	busy  background
}

// poll is a Connector that acts by itself.
type poll struct {
	source *source

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
func (e *Engine) startPolls() {
	t := &e.intake.polls
	t.mu.Lock()
	t.byKey, t.wake, t.slots = map[owner]*poll{}, make(chan struct{}, 1), make(chan struct{}, pollWidth)
	t.mu.Unlock()
	for _, s := range e.sources.all() {
		e.pollSoon(s)
	}
	t.busy.Go(func() { e.pollLoop(e.intake.ctx) })
}

// pollLoop acts on what is due until ctx ends.
func (e *Engine) pollLoop(ctx context.Context) {
	t := &e.intake.polls
	timer := time.NewTimer(0)
	defer timer.Stop()
	last := e.now().Round(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		case <-timer.C:
		}
		now := e.now().Round(0)
		if now.Before(last) {
			e.placePolls()
		}
		last = now
		for _, p := range t.take(e.now()) {
			t.busy.Go(func() {
				t.slots <- struct{}{}
				defer func() { <-t.slots }()
				e.pollOnce(ctx, p)
			})
		}
		timer.Reset(t.wait(e.now()))
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
func (e *Engine) pollSoon(s *source) {
	t := &e.intake.polls
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
		p = e.newPoll(s)
		t.byKey[s.key] = p
	}
	if !p.busy { // whoever is busy with it places it
		e.placePoll(p)
		t.nudge()
	}
}

func (e *Engine) newPoll(s *source) *poll {
	about := s.about.Load()
	p := &poll{source: s, index: -1, task: about.Polling.LastTask, resumed: true}
	if about.Status == abi.ConnectorFailed {
		p.retry.Trip(e.now())
		p.again = true
	}
	return p
}

// placePolls places all polls anew: the clock was put back, and what was placed by it
// while it was ahead would be late by as much.
func (e *Engine) placePolls() {
	t := &e.intake.polls
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.byKey {
		if !p.busy {
			e.placePoll(p)
		}
	}
}

// placePoll says when to look at a poll next. The caller holds the table's mutex.
func (e *Engine) placePoll(p *poll) {
	t, about := &e.intake.polls, p.source.about.Load()
	at, err := p.next(about, e.now())
	if err != nil {
		e.log.Error("a connector has a schedule that serves no more", "connector", about.ID, "error", err)
	}
	if p.index >= 0 {
		heap.Remove(&t.due, p.index)
	}
	if !pollable(about) {
		delete(t.byKey, p.source.key)
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
func (e *Engine) pollOnce(ctx context.Context, p *poll) {
	err := e.pollStep(ctx, p)
	if err != nil && ctx.Err() == nil {
		e.pollFailed(ctx, p, err)
	}
	t := &e.intake.polls
	t.mu.Lock()
	defer t.mu.Unlock()
	p.busy = false
	e.placePoll(p)
	t.nudge()
}

func (e *Engine) pollStep(ctx context.Context, p *poll) error {
	about, now := p.source.about.Load(), e.now()
	switch {
	case !pollable(about):
		return nil
	case p.task != "":
		return e.pollLook(ctx, p)
	}
	tick, due := p.schedule.Due(p.last(about, now), now)
	if p.again || !due && !p.retry.RetryAt().IsZero() {
		tick, due = now, true
	}
	if !due {
		return nil
	}
	task, err := e.pollTick(ctx, p.source, about, tick)
	if err == nil {
		err = e.pollTold(ctx, p.source, now, task)
	}
	if err != nil {
		return err
	}
	p.again, p.task, p.resumed, p.looks = false, task, false, 0
	if task != "" {
		return nil
	}
	return e.pollSucceeded(ctx, p)
}

// pollTick acts on a tick: it is a delivery itself, or a Task that polls. Done again,
// it has no second effect, for the ids of both follow from the tick.
func (e *Engine) pollTick(ctx context.Context, s *source, about *abi.Connector, tick time.Time) (task string, err error) {
	if about.Polling.Export != "" {
		return e.pollTask(ctx, s, about, tick)
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
	_, err = e.receivePolled(ctx, s, &abi.PolledDelivery{ID: "tick:" + at, Header: map[string]string{"content-type": "application/json"}, Text: string(text)})
	return "", err
}

// pollTask submits the Task that polls, in a Session of the Connector's own: what it
// keeps there, the next one finds.
func (e *Engine) pollTask(ctx context.Context, s *source, about *abi.Connector, tick time.Time) (string, error) {
	st := &settlement{engine: e, source: s, about: about, caller: &Caller{
		Tenant: s.key.tenant, TenantID: e.tenantID(s.key.tenant), Actor: about.ID, Workspaces: []string{about.WorkspaceID}}}
	sessionID := abi.DerivedID(abi.ObjectSession, about.CreatedAt, "polls of "+about.ID)
	commit, err := st.makeSession(ctx, sessionID, "")
	if err == nil && commit != nil {
		_, err = commit.Wait(context.Background())
	}
	if err != nil {
		return "", e.failed("making a session", err)
	}
	id := abi.DerivedID(abi.ObjectTask, tick, "poll of "+about.ID+" at "+tick.UTC().Format(time.RFC3339Nano))
	if _, err := e.find(ctx, s.key.tenant, abi.ObjectTask, id); err == nil || !isNotFound(err) {
		return id, err
	}
	input, err := pollInput(about, tick)
	if err != nil {
		return "", err
	}
	_, err = e.submit(ctx, st.caller, nil, sessionID, func(in *session) (*task, *abi.Message, error) {
		live, m, err := e.newTask(ctx, st.caller, in, id, abi.SubmitTaskRequest{Input: input, SessionID: sessionID, PersonaID: pollPersona})
		if err == nil {
			live.about.ConnectorID, live.task.ConnectorID = about.ID, about.ID
		}
		return live, m, err
	})
	return id, err
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

// pollWorkflow returns what a Task runs that polls for a Connector; "" for any other.
func (e *Engine) pollWorkflow(t *task) string {
	if t.about.ConnectorID == "" || t.about.DeliveryID != "" || t.about.PersonaID != pollPersona {
		return ""
	}
	s := e.sources.get(owner{t.tenant, t.about.ConnectorID})
	if s == nil {
		return ""
	}
	about := s.about.Load()
	if about.Polling == nil || about.Polling.Export == "" {
		return ""
	}
	return pluginOf(about) + "#" + about.Polling.Export
}

// pollTold records that a tick was acted on. It makes up for all that were missed.
func (e *Engine) pollTold(ctx context.Context, s *source, now time.Time, task string) error {
	c := &Caller{Tenant: s.key.tenant, Actor: hostActor}
	_, err := e.changeConnector(ctx, c, s, nil, statusOK, func(next *abi.Connector) (abi.EventKind, error) {
		if next.Polling == nil {
			return "", errUnchanged
		}
		is := *next.Polling
		is.LastAt, is.LastTask = abi.At(now), task
		next.Polling = &is
		return abi.EventConnectorUpdated, nil
	})
	if err == errUnchanged || isNotFound(err) {
		return nil
	}
	return err
}

// pollEnded has it looked at at once that a poll has ended. An end that comes while
// somebody is busy with the Connector is found by looking.
func (e *Engine) pollEnded(t *task) {
	if t.about.ConnectorID == "" || t.about.DeliveryID != "" || t.about.PersonaID != pollPersona {
		return
	}
	table := &e.intake.polls
	table.mu.Lock()
	defer table.mu.Unlock()
	p := table.byKey[owner{t.tenant, t.about.ConnectorID}]
	if p == nil || p.busy || p.task != t.id || p.index < 0 {
		return
	}
	p.at = e.now()
	heap.Fix(&table.due, p.index)
	table.nudge()
}

// pollLook looks at whether a poll has ended.
func (e *Engine) pollLook(ctx context.Context, p *poll) error {
	res, err := e.find(ctx, p.source.key.tenant, abi.ObjectTask, p.task)
	var is abi.Task
	switch {
	case isNotFound(err):
		p.task = ""
		return nil
	case err == nil:
		err = decode(res.State, &is)
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
		return e.pollSucceeded(ctx, p)
	case is.Status == abi.TaskFailed && !resumed:
		p.again = true
		return &abi.Failure{Code: "poll_failed", Message: fmt.Sprintf("the poll %s failed", ended)}
	}
	return nil
}

// pollFailed counts a failure. Too many of them in a row make the Connector FAILED.
func (e *Engine) pollFailed(ctx context.Context, p *poll, cause error) {
	retryAt, tripped := p.retry.Failed(e.now())
	e.log.Warn("a connector could not poll", "connector", p.source.key.id, "error", cause, "retry_at", retryAt)
	if !tripped {
		return
	}
	if err := e.setConnectorStatus(ctx, p.source, abi.ConnectorFailed, failureMessage(cause)); err != nil {
		e.log.Error("a connector's failure could not be recorded", "connector", p.source.key.id, "error", err)
	}
}

func (e *Engine) pollSucceeded(ctx context.Context, p *poll) error {
	p.retry.Succeeded()
	if p.source.about.Load().Status != abi.ConnectorFailed {
		return nil
	}
	return e.setConnectorStatus(ctx, p.source, abi.ConnectorActive, "")
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

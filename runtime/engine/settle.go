package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// maxEffects bounds how many Tasks, Messages and events one delivery may mean.
const maxEffects = 100

// settlement does what the deliveries of a batch mean. Each delivery is settled by the
// last frame that it causes, in one batch of the store with the Task or Message that
// the frame tells of, so that a crash leaves it either pending or done with. What a
// delivery means beyond that one comes before it, under ids that follow from the
// delivery: when it is done again, what is there already is left alone.
type settlement struct {
	engine *Engine
	turn   *turn // nil for what is no turn's
	source *source
	about  *abi.Connector
	caller *Caller
	found  *normalized

	offered []handedTask   // Tasks that are handed over and not durable yet
	last    storage.Commit // of what was handed over last, when that is no Task
	settled int            // deliveries that are handed over and not durable yet
}

// handedTask is a Task on its way to the disk.
type handedTask struct {
	task   *task
	commit storage.Commit
}

// effect is one thing that a delivery means and that has a Session: a Task or a Message.
type effect struct {
	task    *abi.ConnectorTask
	message *abi.ConnectorMessage
	session string
	id      string // of the Task or Message
}

// settleBatch does what the deliveries mean, and returns those that are still pending.
func (t *turn) settleBatch(ctx context.Context, batch []arrival, found *normalized) ([]arrival, error) {
	e, s, about := t.engine, t.source, t.source.about.Load()
	st := &settlement{
		engine: e, turn: t, source: s, about: about, found: found,
		caller: &Caller{Tenant: s.key.tenant, TenantID: e.tenantID(s.key.tenant), Actor: about.ID, Workspaces: []string{about.WorkspaceID}},
	}
	if err := st.openSessions(ctx); err != nil {
		return batch, err
	}
	for i := range batch {
		err := st.settle(ctx, &batch[i], &found.results[i])
		if err == nil {
			continue
		}
		if durable := st.flush(); durable != nil {
			err = durable
		}
		return batch[i:], err
	}
	return nil, t.letGo(st)
}

// flush waits until everything handed over is durable, and lets it go.
func (st *settlement) flush() error {
	return errors.Join(st.turn.settled(), st.release())
}

// release lets go what was handed over, once it is durable. The batches become so in
// their order, so this waits once for all.
func (st *settlement) release() error {
	e := st.engine
	var failed error
	for _, o := range st.offered {
		if err := e.accepted(o.task, o.commit); err != nil {
			o.task.leave()
			failed = err
			continue
		}
		e.queue.push(o.task, o.task.place)
	}
	if st.last != nil {
		if _, err := st.last.Wait(context.Background()); err != nil {
			failed = e.failed("settling deliveries", err)
		}
	}
	if failed == nil {
		e.addPending(st.source, -int64(st.settled))
	}
	st.offered, st.last, st.settled = nil, nil, 0
	return failed
}

// settle does what one delivery means. An error that wraps no *abi.Error is not the
// delivery's.
func (st *settlement) settle(ctx context.Context, a *arrival, n *abi.NormalizedDelivery) error {
	if n.Failure != nil {
		return st.putAside(ctx, a, n.Failure)
	}
	if effects := len(n.Tasks) + len(n.Messages) + len(n.Events); effects > maxEffects {
		return st.putAside(ctx, a, &abi.Failure{Code: abi.FailurePluginOutput,
			Message: fmt.Sprintf("the delivery means %d things; it may mean %d", effects, maxEffects)})
	}
	for {
		err := st.perform(ctx, a, n)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx) // it stays pending: it may have failed of that
		}
		refused, own := errors.AsType[*abi.Error](err)
		switch {
		case !own:
			return err
		case refused.Code != abi.CodeRateLimited && refused.Code != abi.CodeServiceUnavailable:
			return st.putAside(ctx, a, &abi.Failure{Code: string(refused.Code), Message: refused.Message})
		}
		if err := st.wait(ctx, refused); err != nil {
			return err
		}
	}
}

// longestWait is after how long a delivery is tried again that something has no room
// for: a Quota may be raised long before its window ends.
const longestWait = 30 * time.Second

// wait waits until there may be room for another Task. What was handed over is let go
// before: it may be what takes the room.
func (st *settlement) wait(ctx context.Context, refused *abi.Error) error {
	room := st.engine.queue.room()
	if err := st.flush(); err != nil {
		return err
	}
	again := time.NewTimer(min(max(time.Second, time.Duration(refused.RetryAfter)*time.Second), longestWait))
	defer again.Stop()
	select {
	case <-room:
	case <-again.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// perform does what a delivery means that was normalized.
func (st *settlement) perform(ctx context.Context, a *arrival, n *abi.NormalizedDelivery) error {
	effects := st.effects(a, n)
	for i := 0; i < len(effects)-1; i++ {
		there, err := st.there(ctx, &effects[i])
		if err == nil && !there {
			err = st.apply(ctx, a, &effects[i], nil)
		}
		if err != nil {
			return err
		}
	}
	counts := &st.source.tally
	counts.normalized.Add(1)
	counts.tasks.Add(uint64(len(n.Tasks)))
	err := st.conclude(ctx, a, n, effects)
	if err != nil {
		counts.normalized.Add(^uint64(0))
		counts.tasks.Add(-uint64(len(n.Tasks)))
		return err
	}
	st.settled++
	return nil
}

// conclude does the last effect, and settles the delivery with it.
func (st *settlement) conclude(ctx context.Context, a *arrival, n *abi.NormalizedDelivery, effects []effect) error {
	told, err := st.tell(a, n, effects)
	if err != nil {
		return err
	}
	if len(effects) > 0 {
		return st.apply(ctx, a, &effects[len(effects)-1], told)
	}
	b, err := st.batch("", told)
	if err == nil {
		st.last = st.engine.store.Append(b)
	}
	return err
}

// batch returns a batch of events that no Task is told of.
func (st *settlement) batch(session string, records []record) (*storage.Batch, error) {
	encoded, err := encode(records...)
	b := deliveryFrame(st.source, st.about, st.engine.now(), encoded...)
	b.Frame.SessionID = session
	return b, err
}

// effects lists the Tasks and Messages that a delivery means: Tasks come last, for
// they act on the Messages.
func (st *settlement) effects(a *arrival, n *abi.NormalizedDelivery) []effect {
	list := make([]effect, 0, len(n.Tasks)+len(n.Messages))
	for i := range n.Messages {
		m := &n.Messages[i]
		list = append(list, effect{message: m, session: st.sessionOf(m.Thread),
			id: abi.DerivedID(abi.ObjectMessage, a.at, st.seed(a, "message", i))})
	}
	for i := range n.Tasks {
		t := &n.Tasks[i]
		list = append(list, effect{task: t, session: st.sessionOf(t.Thread),
			id: abi.DerivedID(abi.ObjectTask, a.at, st.seed(a, "task", i))})
	}
	return list
}

// seed is what an id follows from. The position tells a delivery that was driven again
// from its first time.
func (st *settlement) seed(a *arrival, what string, i int) string {
	return what + " " + strconv.Itoa(i) + " of " + a.id + " at " + a.position.String()
}

// there reports whether an effect was there before.
func (st *settlement) there(ctx context.Context, f *effect) (bool, error) {
	object := abi.ObjectTask
	if f.message != nil {
		object = abi.ObjectMessage
	}
	_, err := st.engine.find(ctx, st.caller.Tenant, object, f.id)
	if isNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// apply does one effect. told is not nil for the last one of the delivery, which
// settles it.
func (st *settlement) apply(ctx context.Context, a *arrival, f *effect, told []record) error {
	e := st.engine
	s, release, err := e.openSession(ctx, st.caller, f.session)
	if err != nil {
		return err
	}
	if f.task != nil {
		if err = st.submit(ctx, a, f, s, release, told); err != nil {
			release()
		}
		return err
	}
	defer release()
	m, err := e.message(&f.message.Message, f.session, "")
	if err != nil {
		return err
	}
	m.ID = f.id
	b, err := st.batch(f.session, append(told, messageRecord(m)))
	if err != nil {
		return err
	}
	if st.last, err = s.append(e, b, sessionOpen); err != nil {
		st.last = nil
		return err
	}
	return nil
}

// submit offers a Task.
func (st *settlement) submit(ctx context.Context, a *arrival, f *effect, s *session, release func(), told []record) error {
	e := st.engine
	live, m, err := e.newTask(ctx, st.caller, s, f.id, abi.SubmitTaskRequest{
		Input: f.task.Input, SessionID: f.session, PersonaID: firstOf(f.task.PersonaID, st.about.TargetPersonaID), Metadata: f.task.Metadata,
	})
	if err != nil {
		return err
	}
	live.about.ConnectorID, live.about.DeliveryID = st.about.ID, a.id
	if st.about.Ordered {
		live.about.OrderKey = firstOf(f.task.OrderKey, f.task.Thread)
	}
	live.task.ConnectorID, live.task.DeliveryID, live.task.OrderKey = live.about.ConnectorID, live.about.DeliveryID, live.about.OrderKey
	live.session, live.leave = s, release
	var extra []storage.Record
	if extra, err = encode(told...); err != nil {
		return err
	}
	_, commit, err := e.offer(ctx, live, m, st.about.ID, nil, func(b *storage.Batch) {
		b.Frame.Records = append(extra, b.Frame.Records...)
	})
	if err != nil {
		return err
	}
	st.offered = append(st.offered, handedTask{live, commit})
	return nil
}

// tell returns the events that tell what a delivery means. The first settles it.
func (st *settlement) tell(a *arrival, n *abi.NormalizedDelivery, effects []effect) ([]record, error) {
	records := make([]record, 1, 2+len(n.Events)+len(effects)) // room for a Message besides
	records[0] = record{kind: abi.EventConnectorNormalized, text: st.payload(n, effects), intake: st.settles(a)}
	for i := range n.Events {
		rec, err := connectorEvent(&n.Events[i])
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	for i := range effects {
		if f := &effects[i]; f.task != nil {
			text := jsonText(append(make([]byte, 0, 96), `{"connector_id":`...), st.about.ID)
			text = append(jsonText(append(text, `,"task_id":`...), f.id), '}')
			records = append(records, record{kind: abi.EventConnectorTaskSubmitted, text: text})
		}
	}
	for i := range records {
		records[i].object, records[i].id, records[i].seq = abi.ObjectDelivery, a.id, a.sequence+uint64(i+1)
	}
	return records, nil
}

// settles is the operation that settles a delivery.
func (st *settlement) settles(a *arrival) storage.IntakeOp {
	return storage.IntakeOp{Kind: storage.IntakeSettle, Connector: st.about.ID, At: a.position, Tally: st.source.tally.text()}
}

// payload says what a delivery was turned into, and by what.
func (st *settlement) payload(n *abi.NormalizedDelivery, effects []effect) []byte {
	b := jsonText(append(make([]byte, 0, 256), `{"connector_id":`...), st.about.ID)
	b = jsonText(append(b, `,"module":`...), st.found.module)
	b = strconv.AppendUint(append(b, `,"gas":`...), st.found.gas, 10)
	b = append(b, `,"effects":[`...)
	for i := range effects {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonText(b, effects[i].id)
	}
	b = append(b, ']')
	if n.Ignored != "" {
		b = jsonText(append(b, `,"ignored":`...), n.Ignored)
	}
	return append(b, '}')
}

// connectorEvent checks an event of the plugin's own.
func connectorEvent(ev *abi.ConnectorEvent) (record, error) {
	if !ev.Kind.Vendor() || strings.HasPrefix(string(ev.Kind), hostNamespace) || !abi.ValidName(string(ev.Kind)) {
		return record{}, abi.InvalidParam("kind", `%q is not a kind for plugins: "vendor." and a name of your own, or a reverse-DNS name`, ev.Kind)
	}
	if len(ev.Payload) > 0 && ev.Payload.Kind() != '{' {
		return record{}, abi.InvalidParam("payload", "payload must be a JSON object")
	}
	if len(ev.Payload) == 0 {
		return record{kind: ev.Kind}, nil
	}
	text, err := abi.Plain(ev.Payload)
	if err != nil {
		return record{}, abi.InvalidParam("payload", "payload: %v", err)
	}
	return record{kind: ev.Kind, text: text}, nil
}

// sessionOf returns the Session of a thread: the Connector's target, or one that
// follows from the thread.
func (st *settlement) sessionOf(thread string) string {
	if st.about.TargetSessionID != "" {
		return st.about.TargetSessionID
	}
	return abi.DerivedID(abi.ObjectSession, st.about.CreatedAt, "thread "+st.about.ID+" "+thread)
}

// openSessions makes the Sessions that the batch needs and that are not there, with
// one wait for all of them.
func (st *settlement) openSessions(ctx context.Context) error {
	var last storage.Commit
	known := map[string]bool{st.about.TargetSessionID: true}
	need := func(thread string) error {
		id := st.sessionOf(thread)
		if known[id] {
			return nil
		}
		known[id] = true
		commit, err := st.makeSession(ctx, id, thread)
		if commit != nil {
			last = commit
		}
		return err
	}
	for i := range st.found.results {
		n := &st.found.results[i]
		for j := range n.Tasks {
			if err := need(n.Tasks[j].Thread); err != nil {
				return err
			}
		}
		for j := range n.Messages {
			if err := need(n.Messages[j].Thread); err != nil {
				return err
			}
		}
	}
	if last == nil {
		return nil
	}
	_, err := last.Wait(context.Background())
	return st.engine.failed("making sessions", err)
}

// makeSession hands over a Session of a thread, unless it is there.
func (st *settlement) makeSession(ctx context.Context, id, thread string) (storage.Commit, error) {
	e := st.engine
	_, release, err := e.openSession(ctx, st.caller, id)
	if err == nil {
		release()
		return nil, nil
	}
	if !isNotFound(err) {
		return nil, err
	}
	s := e.newSession(st.about.WorkspaceID, st.about.TargetPersonaID)
	s.ID, s.RootSessionID, s.Transcript = id, id, "/v1/sessions/"+id+"/messages"
	text := jsonText(append(make([]byte, 0, 128), `{"connector_id":`...), st.about.ID)
	text = append(jsonText(append(text, `,"thread":`...), thread), '}')
	s.Metadata = jsontext.Value(text)
	b, err := st.batch(id, []record{{kind: abi.EventSessionCreated, object: abi.ObjectSession, id: id, created: true, state: s}})
	if err != nil {
		return nil, err
	}
	return e.store.Append(b), nil
}

// putAside makes a delivery a dead letter.
func (st *settlement) putAside(ctx context.Context, a *arrival, failure *abi.Failure) error {
	e := st.engine
	text, ok := deliveryText(a.text)
	if !ok { // what can be read of it is its id
		text = append(appendMember([]byte{'{'}, "id", a.id), '}')
	}
	letter, known, err := st.letter(ctx, a, failure)
	if err != nil {
		return err
	}
	st.source.tally.failed.Add(1)
	b, err := st.batch("", []record{
		{kind: abi.EventConnectorFailed, object: abi.ObjectDelivery, id: a.id, seq: a.sequence + 1, created: !known, restricted: true,
			state: statedDelivery(text), payload: map[string]any{"connector_id": st.about.ID, "failure": failure}, intake: st.settles(a)},
		{kind: abi.EventDeliveryDead, object: abi.ObjectDeadLetter, id: letter.ID, seq: letter.sequence, created: !known, state: &letter.DeadLetter},
	})
	if err != nil {
		st.source.tally.failed.Add(^uint64(0))
		return err
	}
	st.last = e.store.Append(b)
	st.settled++
	return nil
}

// deadLetter is a dead letter and the sequence of the event that states it.
type deadLetter struct {
	abi.DeadLetter
	sequence uint64
}

// letterID is the id of the dead letter that a delivery becomes.
func letterID(deliveryID string) string {
	return abi.IDPrefix(abi.ObjectDeadLetter) + strings.TrimPrefix(deliveryID, abi.IDPrefix(abi.ObjectDelivery))
}

// letter returns the dead letter of a delivery. One that was driven again keeps its own.
func (st *settlement) letter(ctx context.Context, a *arrival, failure *abi.Failure) (l deadLetter, known bool, err error) {
	e, id := st.engine, letterID(a.id)
	res, err := e.find(ctx, st.caller.Tenant, abi.ObjectDeadLetter, id)
	switch {
	case isNotFound(err):
		l.DeadLetter = abi.DeadLetter{
			Envelope:    abi.NewEnvelope(abi.ObjectDeadLetter, id, e.now(), nil),
			ConnectorID: st.about.ID, WorkspaceID: st.about.WorkspaceID, DeliveryID: a.id,
		}
	case err != nil:
		return l, false, err
	default:
		if err := decode(res.State, &l.DeadLetter); err != nil {
			return l, false, err
		}
		known, l.sequence = true, res.Sequence+1
	}
	l.UpdatedAt, l.Failure = abi.At(e.now()), *failure
	l.Attempts++
	l.RedrivenAt = abi.Time{}
	return l, known, nil
}

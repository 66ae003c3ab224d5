package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
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
	intake *Intake
	turn   *turn // nil when no turn is running
	inlet  *inlet
	about  *abi.Connector
	caller *desk.Caller
	found  *normalized

	offered []Offered      // Tasks that are handed over and not durable yet
	last    storage.Commit // of what was handed over last, when that is no Task
	settled int            // deliveries that are handed over and not durable yet
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
	i, s, about := t.intake, t.inlet, t.inlet.about.Load()
	st := &settlement{
		intake: i, turn: t, inlet: s, about: about, found: found,
		caller: &desk.Caller{Tenant: s.key.Tenant, TenantID: i.parts.Tenants.IDOf(s.key.Tenant), Actor: about.ID, Workspaces: []string{about.WorkspaceID}},
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
	i := st.intake
	var failed error
	for _, o := range st.offered {
		if err := i.parts.Tasks.Run(o); err != nil {
			failed = err
		}
	}
	if st.last != nil {
		if _, err := st.last.Wait(context.Background()); err != nil {
			failed = i.parts.Ledger.Failed("settling deliveries", err)
		}
	}
	if failed == nil {
		i.addPending(st.inlet, -int64(st.settled))
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
	room := st.intake.parts.Tasks.Room()
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
	counts := &st.inlet.tally
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
		st.last = st.intake.parts.Ledger.Append(b)
	}
	return err
}

// batch returns a batch of events that no Task is told of.
func (st *settlement) batch(session string, records []ledger.Record) (*storage.Batch, error) {
	encoded, err := ledger.Encode(records...)
	b := deliveryFrame(st.inlet, st.about, st.intake.parts.Now(), encoded...)
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
	_, err := st.intake.parts.Ledger.Find(ctx, st.caller.Tenant, object, f.id)
	if ledger.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// apply does one effect. told is not nil for the last one of the delivery, which
// settles it.
func (st *settlement) apply(ctx context.Context, a *arrival, f *effect, told []ledger.Record) error {
	if f.task != nil {
		return st.submit(ctx, a, f, told)
	}
	i := st.intake
	s, release, err := i.parts.Desk.OpenSession(ctx, st.caller, f.session)
	if err != nil {
		return err
	}
	defer release()
	m, err := i.parts.Message(&f.message.Message, f.session, f.id)
	if err != nil {
		return err
	}
	b, err := st.batch(f.session, append(told, m))
	if err != nil {
		return err
	}
	if st.last, err = s.Append(i.parts.Ledger, b, desk.SessionOpen); err != nil {
		st.last = nil
		return err
	}
	return nil
}

// submit offers a Task.
func (st *settlement) submit(ctx context.Context, a *arrival, f *effect, told []ledger.Record) error {
	order := Order{
		Caller: st.caller, ID: f.id, ConnectorID: st.about.ID, DeliveryID: a.id, With: told,
		Request: abi.SubmitTaskRequest{
			Input: f.task.Input, SessionID: f.session, PersonaID: cmp.Or(f.task.PersonaID, st.about.TargetPersonaID), Metadata: f.task.Metadata,
		},
	}
	if st.about.Ordered {
		order.OrderKey = cmp.Or(f.task.OrderKey, f.task.Thread)
	}
	offered, err := st.intake.parts.Tasks.Offer(ctx, order)
	if err != nil {
		return err
	}
	st.offered = append(st.offered, offered)
	return nil
}

// tell returns the events that tell what a delivery means. The first settles it.
func (st *settlement) tell(a *arrival, n *abi.NormalizedDelivery, effects []effect) ([]ledger.Record, error) {
	records := make([]ledger.Record, 1, 2+len(n.Events)+len(effects)) // room for a Message besides
	records[0] = ledger.Record{Kind: abi.EventConnectorNormalized, Text: st.payload(n, effects), Intake: st.settles(a)}
	for i := range n.Events {
		rec, err := connectorEvent(&n.Events[i])
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	for i := range effects {
		if f := &effects[i]; f.task != nil {
			o := jsonw.Begin(make([]byte, 0, 96))
			o.Text("connector_id", st.about.ID)
			o.Text("task_id", f.id)
			records = append(records, ledger.Record{Kind: abi.EventConnectorTaskSubmitted, Text: o.End()})
		}
	}
	for i := range records {
		records[i].Object, records[i].ID, records[i].Sequence = abi.ObjectDelivery, a.id, a.sequence+uint64(i+1)
	}
	return records, nil
}

// settles is the operation that settles a delivery.
func (st *settlement) settles(a *arrival) storage.IntakeOp {
	return storage.IntakeOp{Kind: storage.IntakeSettle, Connector: st.about.ID, At: a.position, Tally: st.inlet.tally.text()}
}

// payload says what a delivery was turned into, and by what.
func (st *settlement) payload(n *abi.NormalizedDelivery, effects []effect) []byte {
	o := jsonw.Begin(make([]byte, 0, 256))
	o.Text("connector_id", st.about.ID)
	o.Text("module", st.found.module)
	o.Uint("gas", st.found.gas)
	jsonw.List(&o, "effects", effects, func(b []byte, f *effect) []byte { return jsonw.String(b, f.id) })
	o.Optional("ignored", n.Ignored)
	return o.End()
}

// connectorEvent checks an event of the plugin's own.
func connectorEvent(ev *abi.ConnectorEvent) (ledger.Record, error) {
	if refused := abi.CheckPluginKind(ev.Kind); refused != nil {
		return ledger.Record{}, refused
	}
	if len(ev.Payload) > 0 && ev.Payload.Kind() != '{' {
		return ledger.Record{}, abi.InvalidParam("payload", "payload must be a JSON object")
	}
	if len(ev.Payload) == 0 {
		return ledger.Record{Kind: ev.Kind}, nil
	}
	text, err := abi.Plain(ev.Payload)
	if err != nil {
		return ledger.Record{}, abi.InvalidParam("payload", "payload: %v", err)
	}
	return ledger.Record{Kind: ev.Kind, Text: text}, nil
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
	return st.intake.parts.Ledger.Failed("making sessions", err)
}

// makeSession hands over a Session of a thread, unless it is there.
func (st *settlement) makeSession(ctx context.Context, id, thread string) (storage.Commit, error) {
	i := st.intake
	_, release, err := i.parts.Desk.OpenSession(ctx, st.caller, id)
	if err == nil {
		release()
		return nil, nil
	}
	if !ledger.IsNotFound(err) {
		return nil, err
	}
	s := &abi.Session{
		Envelope:    abi.NewEnvelope(abi.ObjectSession, id, i.parts.Now(), nil),
		WorkspaceID: st.about.WorkspaceID, PersonaID: st.about.TargetPersonaID, State: abi.SessionActive,
		RootSessionID: id, Transcript: abi.TranscriptName + id,
	}
	metadata := jsonw.Begin(make([]byte, 0, 128))
	metadata.Text("connector_id", st.about.ID)
	metadata.Text("thread", thread)
	s.Metadata = metadata.End()
	b, err := st.batch(id, []ledger.Record{{Kind: abi.EventSessionCreated, Object: abi.ObjectSession, ID: id, Created: true, State: s}})
	if err != nil {
		return nil, err
	}
	return i.parts.Ledger.Append(b), nil
}

// putAside makes a delivery a dead letter.
func (st *settlement) putAside(ctx context.Context, a *arrival, failure *abi.Failure) error {
	i := st.intake
	text, ok := deliveryText(a.text)
	if !ok { // what can be read of it is its id
		about := jsonw.Begin(nil)
		about.Text("id", a.id)
		text = about.End()
	}
	letter, known, err := st.letter(ctx, a, failure)
	if err != nil {
		return err
	}
	st.inlet.tally.failed.Add(1)
	b, err := st.batch("", []ledger.Record{
		{Kind: abi.EventConnectorFailed, Object: abi.ObjectDelivery, ID: a.id, Sequence: a.sequence + 1, Created: !known, Restricted: true,
			State: statedDelivery(text), Payload: abi.DeliveryFailed{ConnectorID: st.about.ID, Failure: failure}, Intake: st.settles(a)},
		{Kind: abi.EventDeliveryDead, Object: abi.ObjectDeadLetter, ID: letter.ID, Sequence: letter.sequence, Created: !known, State: &letter.DeadLetter},
	})
	if err != nil {
		st.inlet.tally.failed.Add(^uint64(0))
		return err
	}
	st.last = i.parts.Ledger.Append(b)
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
	i, id := st.intake, letterID(a.id)
	res, err := i.parts.Ledger.Find(ctx, st.caller.Tenant, abi.ObjectDeadLetter, id)
	switch {
	case ledger.IsNotFound(err):
		l.DeadLetter = abi.DeadLetter{
			Envelope:    abi.NewEnvelope(abi.ObjectDeadLetter, id, i.parts.Now(), nil),
			ConnectorID: st.about.ID, WorkspaceID: st.about.WorkspaceID, DeliveryID: a.id,
		}
	case err != nil:
		return l, false, err
	default:
		if err := ledger.Decode(res.State, &l.DeadLetter); err != nil {
			return l, false, err
		}
		known, l.sequence = true, res.Sequence+1
	}
	l.UpdatedAt, l.Failure = abi.At(i.parts.Now()), *failure
	l.Attempts++
	l.RedrivenAt = abi.Time{}
	return l, known, nil
}

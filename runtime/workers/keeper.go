package workers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/storage"
)

// Parts is what a keeper works with. All are required.
type Parts struct {
	desk.Parts
	Task    func(ctx context.Context, t storage.Tenant, id string) (*abi.Task, error)
	Persona func(ctx context.Context, t storage.Tenant, id string) (*personas.Persona, error)
	Go      func(func()) // runs what the node does by itself; nothing once it drains
}

// Keeper tells Tasks of their children. It is safe for concurrent use.
type Keeper struct {
	parts Parts

	mu      lockrank.Mutex[lockrank.Table]
	tellers map[ledger.Key]*teller // of the lists in which there is something, by tenant and name
	ticked  map[ledger.Key]time.Time
}

// teller is who tells what is pending in a list.
type teller struct {
	last  storage.Commit           // handed over last: when it is durable, so is all before it
	again bool                     // there may be something pending that was not looked for
	ticks map[ledger.Key]*abi.Task // children that say how far they are
}

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper {
	return &Keeper{parts: p, tellers: map[ledger.Key]*teller{}, ticked: map[ledger.Key]time.Time{}}
}

// Start has told what an earlier life of the node has left pending.
func (k *Keeper) Start(ctx context.Context) error {
	err := k.parts.Store.Backlogs(ctx, func(t storage.Tenant, list string, pending int, _ []byte) error {
		if strings.HasPrefix(list, listPrefix) && pending > 0 {
			k.rouse(ledger.Key{Tenant: t, ID: list}, func(l *teller) { l.again = true })
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading what tasks are to be told of their children: %w", err)
	}
	return nil
}

// Noted says that a batch was handed over that states a Task: what its parent is to be told of it is told
// once that is durable.
func (k *Keeper) Noted(t storage.Tenant, task *abi.Task, records []storage.Record, commit storage.Commit) {
	if !IsWorker(task) || !slices.ContainsFunc(records, func(r storage.Record) bool { return r.Intake.Kind == storage.IntakePend }) {
		return
	}
	key := ledger.Key{Tenant: t, ID: listOf(task.ParentTaskID)}
	k.rouse(key, func(l *teller) { l.last, l.again = commit, true })
}

// tickEvery is how often a Task is told at most how far a child says it is.
const tickEvery = time.Second

// Tick says that a Task tells how far it is. It is called while the Task has not ended.
func (k *Keeper) Tick(t storage.Tenant, task *abi.Task) {
	if !IsWorker(task) {
		return
	}
	child, now := ledger.Key{Tenant: t, ID: task.ID}, k.parts.Now()
	k.mu.Lock()
	due := now.Sub(k.ticked[child]) >= tickEvery
	if due {
		maps.DeleteFunc(k.ticked, func(_ ledger.Key, at time.Time) bool { return now.Sub(at) >= tickEvery })
		k.ticked[child] = now
	}
	k.mu.Unlock()
	if due {
		k.rouse(ledger.Key{Tenant: t, ID: listOf(task.ParentTaskID)}, func(l *teller) { l.ticks[child] = task })
	}
}

// rouse gives the teller of a list something to do, and has one where there is none.
func (k *Keeper) rouse(list ledger.Key, give func(*teller)) {
	k.mu.Lock()
	l, works := k.tellers[list]
	if !works {
		l = &teller{ticks: map[ledger.Key]*abi.Task{}}
		k.tellers[list] = l
	}
	give(l)
	k.mu.Unlock()
	if !works {
		k.parts.Go(func() { k.work(list) })
	}
}

// work tells what a list has until there is nothing more.
func (k *Keeper) work(list ledger.Key) {
	ctx := context.Background()
	for {
		k.mu.Lock()
		l := k.tellers[list]
		if !l.again && len(l.ticks) == 0 {
			delete(k.tellers, list)
			k.mu.Unlock()
			return
		}
		last, ticks := l.last, l.ticks
		l.last, l.again, l.ticks = nil, false, map[ledger.Key]*abi.Task{}
		k.mu.Unlock()
		if last != nil {
			_, _ = last.Wait(ctx) // what has failed has left nothing pending
		}
		err := k.tellPending(ctx, list)
		if err == nil {
			err = k.tellTicks(ctx, ticks)
		}
		if err != nil && k.parts.Store.Failed() == nil {
			k.parts.Log.Error("tasks could not be told of their children: it is tried again when there is more to tell", "list", list.ID, "tenant", list.Tenant, "error", err)
		}
	}
}

// page is how many steps are read at once.
const page = 100

// tellPending tells what is pending in a list, in order.
func (k *Keeper) tellPending(ctx context.Context, list ledger.Key) error {
	gone := map[string]bool{}
	for {
		events, more, err := k.parts.Store.Pending(ctx, list.Tenant, list.ID, 0, page)
		if err != nil || len(events) == 0 {
			return err
		}
		p := &pass{k: k, list: list, next: map[string]uint64{}, gone: gone}
		for _, ev := range events {
			if err := p.take(ctx, ev); err != nil {
				return err
			}
		}
		again, err := p.end(ctx)
		if err != nil || !more && !again {
			return err
		}
	}
}

// pass tells some of what is pending in a list: what one parent is told in a row in one batch.
type pass struct {
	k       *Keeper
	list    ledger.Key
	next    map[string]uint64 // the sequence of the next event of a worker
	frame   storage.Frame     // of the parent that is told now
	records []ledger.Record
	gone    map[string]bool // the parents that are erased
	handed  []handed
}

// handed is what a parent is told on its way to the disk.
type handed struct {
	parent string
	commit storage.Commit
}

// take tells what a pending event says.
func (p *pass) take(ctx context.Context, ev storage.Event) error {
	settled := storage.IntakeOp{Kind: storage.IntakeSettle, Connector: p.list.ID, At: ev.Position()}
	var child abi.Task
	if err := ledger.Decode(ev.Record().State, &child); err != nil {
		return fmt.Errorf("reading a child of a task: %w", err)
	}
	parent := p.parentOf(ctx, &child)
	if p.frame.TaskID != parent.ID {
		if err := p.hand(); err != nil {
			return err
		}
		p.frame = storage.Frame{Tenant: p.list.Tenant, WorkspaceID: parent.WorkspaceID, SessionID: parent.SessionID, TaskID: parent.ID, Actor: desk.HostActor}
	}
	o, err := p.k.outcome(ctx, p.list.Tenant, &child)
	if err != nil {
		return err
	}
	about := p.k.about(ctx, p.list.Tenant, &child, parent)
	for _, step := range stepsOf(ev.Record().Kind, &child, o) {
		seq, err := p.sequence(ctx, child.ID)
		if err != nil {
			return err
		}
		rec := record(as(about, step, &child, o, ev.Frame.Time), seq)
		rec.Hint = p.frame.TaskID == child.ID
		rec.Intake, settled = settled, storage.IntakeOp{}
		p.records = append(p.records, rec)
	}
	return nil
}

// sequence returns the sequence of the next event that tells of a child.
func (p *pass) sequence(ctx context.Context, child string) (uint64, error) {
	id := idOf(child)
	if _, known := p.next[id]; !known {
		seq, is, err := p.k.parts.Store.Sequence(ctx, p.list.Tenant, abi.ResourcePointer{Object: abi.ObjectWorker, ID: id})
		if err != nil {
			return 0, err
		}
		if is {
			seq++
		}
		p.next[id] = seq
	}
	p.next[id]++
	return p.next[id] - 1, nil
}

// hand hands over what a parent is told.
func (p *pass) hand() error {
	if len(p.records) == 0 {
		return nil
	}
	var err error
	if p.frame.Records, err = ledger.Encode(p.records...); err != nil {
		return err
	}
	p.frame.Time, p.records = p.k.parts.Now(), nil
	b := &storage.Batch{Frame: p.frame}
	b.Expect = ledger.Owned(&b.Frame, nil)
	p.handed = append(p.handed, handed{p.frame.TaskID, p.k.parts.Ledger.Append(b)})
	return nil
}

// end hands over the rest, and waits until all is durable. It reports whether some of it is still to be told, as a parent was erased
// meanwhile.
func (p *pass) end(ctx context.Context) (again bool, err error) {
	if err := p.hand(); err != nil {
		return false, err
	}
	for _, h := range p.handed {
		_, err := p.k.parts.Ledger.Durable(h.commit)
		switch {
		case ledger.IsNotFound(err):
			p.gone[h.parent], again = true, true
		case err != nil:
			return false, err
		}
	}
	return again, nil
}

// parentOf returns the Task that a child has as its parent: of one that cannot be read, what the child says of it. When it is
// erased, and what it is told would be left of it for ever, the child has the events itself, which end what is pending.
func (p *pass) parentOf(ctx context.Context, child *abi.Task) *abi.Task {
	parent, erased := p.k.parentOf(ctx, p.list.Tenant, child)
	if erased || p.gone[child.ParentTaskID] {
		return child
	}
	return parent
}

func (k *Keeper) parentOf(ctx context.Context, t storage.Tenant, child *abi.Task) (parent *abi.Task, erased bool) {
	parent, err := k.parts.Task(ctx, t, child.ParentTaskID)
	if err == nil {
		return parent, false
	}
	return &abi.Task{Envelope: abi.Envelope{ID: child.ParentTaskID}, WorkspaceID: child.WorkspaceID, SessionID: child.SessionID}, ledger.IsNotFound(err)
}

// outcome returns the Outcome of a child that has completed; nil for none.
func (k *Keeper) outcome(ctx context.Context, t storage.Tenant, child *abi.Task) (*abi.Outcome, error) {
	if child.Status != abi.TaskCompleted || child.OutcomeID == "" {
		return nil, nil
	}
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectOutcome, child.OutcomeID)
	var o abi.Outcome
	if err == nil {
		err = ledger.Decode(res.State, &o)
	}
	if ledger.IsNotFound(err) || ledger.IsUnreadable(err) {
		return nil, nil
	}
	return &o, err
}

// tellTicks tells how far children say they are that have not ended.
func (k *Keeper) tellTicks(ctx context.Context, ticks map[ledger.Key]*abi.Task) error {
	for key := range ticks {
		child, err := k.parts.Task(ctx, key.Tenant, key.ID)
		if err != nil || child.Status.Terminal() {
			continue
		}
		parent, erased := k.parentOf(ctx, key.Tenant, child)
		if erased {
			continue
		}
		p := &pass{k: k, list: key, next: map[string]uint64{}, gone: map[string]bool{}, frame: storage.Frame{Tenant: key.Tenant, WorkspaceID: parent.WorkspaceID,
			SessionID: parent.SessionID, TaskID: parent.ID, Actor: desk.HostActor}}
		seq, err := p.sequence(ctx, key.ID)
		if err != nil {
			return err
		}
		rec := record(as(k.about(ctx, key.Tenant, child, parent), abi.WorkerProgressed, child, nil, k.parts.Now()), seq)
		rec.Hint = true
		p.records = []ledger.Record{rec}
		if _, err := p.end(ctx); err != nil {
			return errors.Join(errors.New("telling how far a child is"), err)
		}
	}
	return nil
}

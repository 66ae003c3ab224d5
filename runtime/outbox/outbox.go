package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/background"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage"
)

// Config holds the settings of Webhooks. The zero value of each means its default.
type Config struct {
	Most     int           // Webhooks of a tenant; default 1,000
	Parallel int           // requests to one receiver at one time; default 8
	Attempts int           // of a delivery, before it is given up; default 12
	First    time.Duration // the wait after the first attempt, four times as long after each; default 5 s
	Longest  time.Duration // the longest such wait; default 6 h
	Age      time.Duration // how long an event may wait, before it is given up; default 72 h
	Timeout  time.Duration // of one attempt; default 30 s
	// Commands are the programs that hooks may name, with their arguments.
	Commands map[string][]string
	Private  bool // receivers at loopback, private and link-local addresses are sent to
}

func (c Config) withDefaults() Config {
	c.Most = cmp.Or(c.Most, 1_000)
	c.Parallel = cmp.Or(c.Parallel, 8)
	c.Attempts = cmp.Or(c.Attempts, 12)
	c.First = cmp.Or(c.First, 5*time.Second)
	c.Longest = cmp.Or(c.Longest, 6*time.Hour)
	c.Age = cmp.Or(c.Age, 72*time.Hour)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	return c
}

// Parts are what the outbox works with.
type Parts struct {
	desk.Parts
	Config  Config
	Entropy io.Reader
	// Tenants are those of the node.
	Tenants func() []*abi.Tenant
	// Values keeps secrets; nil when the node can keep none, and so has no Webhooks.
	Values sealed.Values
	// Send makes requests; nil for one that the guard of package web watches.
	Send http.RoundTripper
	// Plugins runs the plugins that hooks name; nil when there are none.
	Plugins Plugins
	// Show returns an event as JSON, as those see it who may see what is public.
	Show func(ev desk.Event) []byte
	// Formats are those that a Webhook may name, besides harn.
	Formats []Format
	// Room waits until the disk has room for new work; nil when nobody knows.
	Room func(ctx context.Context) error
	// Jitter returns a number from 0 to 1; nil for a random one.
	Jitter func() float64
	// LeaveOut is called for a Webhook that cannot be read: the node goes on without it.
	LeaveOut func(t storage.Tenant, o abi.Object, id string, cause error)
	Agent    string // the User-Agent of requests
}

// Plugins runs the plugins that hooks name.
type Plugins interface {
	// RunPlugin tells the plugin of a hook what the hook is told under an id, and returns what it answers. What
	// it is told in other ways follows from the question and the id. When it gives no answer, the failure says why.
	RunPlugin(ctx context.Context, t storage.Tenant, w *abi.WebhookEndpoint, id string, question []byte) ([]byte, *abi.Failure)
}

// Outbox serves Webhooks and sends them what they want. It is safe for concurrent use.
type Outbox struct {
	parts   Parts
	formats map[string]Format

	base   context.Context // of all queues; ends when they are to begin nothing more
	stop   context.CancelCauseFunc
	late   context.Context // of attempts; ends when they are to be broken off
	cut    context.CancelCauseFunc
	busy   background.Group // the queues
	lanes  lanes
	asks   *provider.Lanes // of hooks
	queues queueTable
	reads  reads
	values *sealed.Keeper
}

// New returns an outbox that sends nothing yet.
func New(p Parts) *Outbox {
	p.Config = p.Config.withDefaults()
	p.Agent = cmp.Or(p.Agent, "wharf")
	if p.Send == nil {
		p.Send = guarded(&p.Config)
	}
	if p.Room == nil {
		p.Room = func(context.Context) error { return nil }
	}
	if p.Jitter == nil {
		p.Jitter = random
	}
	o := &Outbox{parts: p, formats: map[string]Format{formatHarn: {Name: formatHarn, Write: writeHarn}}}
	for _, f := range p.Formats {
		o.formats[f.Name] = f
	}
	o.values = &sealed.Keeper{Ledger: p.Ledger, Values: p.Values, Now: p.Now}
	o.base, o.stop = context.WithCancelCause(context.Background())
	o.late, o.cut = context.WithCancelCause(context.Background())
	o.lanes = lanes{sound: provider.NewLanes(provider.MaxCalls), doubtful: provider.NewLanes(provider.MaxCalls)}
	o.asks = provider.NewLanes(provider.MaxCalls)
	return o
}

var errDrained = errors.New("the node is draining")

// Start brings the Webhooks back, and goes on with what is to be sent.
func (o *Outbox) Start(ctx context.Context) error {
	kept := map[ledger.Key]tally{}
	err := o.parts.Store.Backlogs(ctx, func(t storage.Tenant, id string, _ int, text []byte) error {
		if strings.HasPrefix(id, abi.IDPrefix(abi.ObjectWebhook)) {
			kept[ledger.Key{Tenant: t, ID: id}] = readTally(text)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading how far webhooks are: %w", err)
	}
	for _, t := range o.parts.Tenants() {
		if err := o.load(ctx, storage.Tenant(t.Number), kept); err != nil {
			return fmt.Errorf("reading the webhooks of tenant %s: %w", t.ID, err)
		}
	}
	return nil
}

// load begins the queues of a tenant's Webhooks.
func (o *Outbox) load(ctx context.Context, t storage.Tenant, kept map[ledger.Key]tally) error {
	for after := ""; ; {
		page, more, err := o.parts.Store.List(ctx, t, abi.ObjectWebhook, desk.Scope{}, storage.Page{After: after, Limit: 200})
		if err != nil {
			return err
		}
		for _, res := range page {
			after = res.ID
			if err := o.revive(ctx, t, &res, kept[ledger.Key{Tenant: t, ID: res.ID}]); err != nil {
				if !ledger.IsUnreadable(err) && !errors.Is(err, storage.ErrDamaged) {
					return err
				}
				o.parts.LeaveOut(t, abi.ObjectWebhook, res.ID, err)
			}
		}
		if !more {
			return nil
		}
	}
}

// revive begins the queue of a stored Webhook, unless that was deleted.
func (o *Outbox) revive(ctx context.Context, t storage.Tenant, res *storage.Resource, at tally) error {
	if res.Err != nil {
		return res.Err
	}
	var about abi.WebhookEndpoint
	if err := ledger.Decode(res.State, &about); err != nil || !about.DeletedAt.IsZero() {
		return err
	}
	last, _, err := o.parts.Store.Sequence(ctx, t, abi.ResourcePointer{Object: abi.ObjectWebhook, ID: res.ID})
	if err != nil {
		return err
	}
	q := o.newQueue(t, &about, last+1, at)
	if err := q.recall(ctx); err != nil {
		return err
	}
	o.begin(q)
	return nil
}

// begin has a queue's loop run.
func (o *Outbox) begin(q *queue) {
	ctx, cancel := context.WithCancel(o.base)
	q.life, q.end = ctx, cancel
	o.queues.put(q)
	o.busy.Go(func() {
		defer cancel()
		q.run(ctx)
	})
}

// lanes bound the requests of a tenant that are under way: those to receivers that have taken
// what they were sent last, and, apart from them, those to all others. So receivers that do not
// answer keep others waiting only where there are very many of them.
type lanes struct{ sound, doubtful *provider.Lanes }

func (l *lanes) of(doubtful bool) *provider.Lanes {
	if doubtful {
		return l.doubtful
	}
	return l.sound
}

// Drain begins no more attempts, and lets those end that are under way. When ctx ends first,
// they are broken off; the next start makes them again.
func (o *Outbox) Drain(ctx context.Context) error {
	o.stop(errDrained)
	defer context.AfterFunc(ctx, func() { o.cut(errDrained) })()
	if err := background.Wait(context.WithoutCancel(ctx), o.busy.End()); err != nil {
		return fmt.Errorf("waiting for webhooks: %w", err)
	}
	o.cut(errDrained)
	return nil
}

// queueTable has the queues of all Webhooks that are not deleted.
type queueTable struct {
	mu   lockrank.RWMutex[lockrank.Table]
	all  map[ledger.Key]*queue
	each map[storage.Tenant]int
	// hooks has those that are hooks, by tenant and Workspace.
	hooks map[ledger.Key][]*queue

	gone struct{ taken, failed, dead, redriven atomic.Uint64 } // counts of Webhooks that are deleted
}

func (t *queueTable) put(q *queue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all, t.each, t.hooks = map[ledger.Key]*queue{}, map[storage.Tenant]int{}, map[ledger.Key][]*queue{}
	}
	t.all[q.key] = q
	t.each[q.key.Tenant]++
	if at, ok := q.hookAt(); ok {
		t.hooks[at] = append(slices.Clip(t.hooks[at]), q)
	}
}

// hookAt returns where a hook is; false for a Webhook that is none.
func (q *queue) hookAt() (ledger.Key, bool) {
	about := q.about.Load()
	return ledger.Key{Tenant: q.key.Tenant, ID: about.WorkspaceID}, about.Hook != nil
}

// hooksOf returns the hooks of a Workspace, in no order. They are not to be changed.
func (t *queueTable) hooksOf(at ledger.Key) []*queue {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.hooks[at]
}

func (t *queueTable) get(key ledger.Key) *queue {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.all[key]
}

func (t *queueTable) count(tenant storage.Tenant) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.each[tenant]
}

// remove takes a queue out whose Webhook is deleted, and keeps its counts.
func (t *queueTable) remove(q *queue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, q.key)
	t.each[q.key.Tenant]--
	if at, ok := q.hookAt(); ok {
		left := slices.DeleteFunc(slices.Clone(t.hooks[at]), func(other *queue) bool { return other == q })
		if t.hooks[at] = left; len(left) == 0 {
			delete(t.hooks, at)
		}
	}
	t.gone.taken.Add(q.counts.taken.Load())
	t.gone.failed.Add(q.counts.failed.Load())
	t.gone.dead.Add(q.counts.dead.Load())
	t.gone.redriven.Add(q.counts.redriven.Load())
}

// of returns the queues of a tenant, or all of them.
func (t *queueTable) of(wanted func(ledger.Key) bool) []*queue {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var some []*queue
	for key, q := range t.all {
		if wanted(key) {
			some = append(some, q)
		}
	}
	return some
}

// Stats says what became of the deliveries to all Webhooks.
type Stats struct {
	Webhooks                      int
	Taken, Failed, Dead, Redriven uint64
	Pending                       int           // failed, and to be tried again
	Oldest                        time.Duration // how long the oldest event waits that is to be sent; 0 when none does
}

// WebhookStats adds up what all Webhooks have counted. The counts outlive a restart.
func (o *Outbox) WebhookStats() Stats {
	gone, now := &o.queues.gone, o.parts.Now()
	s := Stats{Taken: gone.taken.Load(), Failed: gone.failed.Load(), Dead: gone.dead.Load(), Redriven: gone.redriven.Load()}
	for _, q := range o.queues.of(func(ledger.Key) bool { return true }) {
		c := &q.counts
		s.Webhooks++
		s.Taken += c.taken.Load()
		s.Failed += c.failed.Load()
		s.Dead += c.dead.Load()
		s.Redriven += c.redriven.Load()
		s.Pending += int(c.pending.Load())
		if oldest := c.oldestAt(); !oldest.IsZero() {
			s.Oldest = max(s.Oldest, now.Sub(oldest))
		}
	}
	return s
}

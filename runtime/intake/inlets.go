package intake

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/backlog"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// ConnectorConfig holds the settings of Connectors. The zero value of each means its
// default.
type Config struct {
	Backlog    int           // pending deliveries of a tenant; beyond it deliveries are refused; default 200,000
	Window     time.Duration // the longest that deliveries are remembered; default 8 days
	InboxBytes int64         // deliveries that wait in memory; others are read from the log; default 32 MiB
	Workers    int           // Connectors whose deliveries are normalized at one time; default 8
}

func (c Config) withDefaults() Config {
	c.Backlog = cmp.Or(c.Backlog, 200_000)
	c.Window = cmp.Or(c.Window, 8*24*time.Hour)
	c.InboxBytes = cmp.Or(c.InboxBytes, 32<<20)
	c.Workers = cmp.Or(c.Workers, 8)
	return c
}

// inlet is a Connector in memory: its last form, what it has counted, and the
// deliveries that were taken and wait to be normalized. What moves between these is
// backlog's; the other fields have one owner each.
type inlet struct {
	key      ledger.Key
	provider connector.Provider
	about    atomic.Pointer[abi.Connector] // as it is stored; shared, not to be changed

	checks  atomic.Pointer[checks]
	replays replays

	pollFault atomic.Pointer[string]   // why the last poll did not work; nil when it did
	logged    atomic.Pointer[[]string] // the problems that were written down last

	// order is held while a delivery is handed over: inbox has them in the order of the log.
	order     lockrank.Mutex[lockrank.Inlet]
	seq       uint64        // of the next event whose resource is the Connector
	state     backlog.State // changed by step alone
	inbox     []arrival
	bytes     int            // of inbox
	skipped   storage.Commit // the last delivery that is not in inbox; nil when all are
	dedupedAt time.Time      // when a repetition was last told of
	reached   time.Time      // when the first delivery of the last batch came

	// The worker that normalizes owns these; there is never more than one.
	read  desk.Position // the last delivery that was taken up
	retry connector.Breaker
	timer *time.Timer // tries again after a failure; guarded by hand

	pending atomic.Int64
	tally   tally
	polled  pace
	counted int // how metrics tell of it; guarded by the mu of counts
}

// step takes a step of the Connector's backlog, and returns what is to be done then. The
// caller holds s.hand.
func (s *inlet) step(in backlog.Input) (backlog.Effect, error) {
	next, effect, err := backlog.Step(s.state, in)
	s.state = next
	return effect, err
}

// gone reports whether the Connector was deleted. The caller holds s.hand.
func (s *inlet) gone() bool { return s.state.Work == backlog.Gone }

// arrival is a delivery that was taken and is not normalized yet.
type arrival struct {
	id       string // of the Delivery
	text     []byte // the Delivery as JSON
	at       time.Time
	position desk.Position  // 0 until commit is waited for
	commit   storage.Commit // nil for what was read from the log
	sequence uint64         // of the event that made it pending
}

// tally is what a Connector counts that does not follow from what is pending.
type tally struct {
	normalized, failed, redriven, tasks, deduped atomic.Uint64
	rejected                                     atomic.Uint64 // since the node started
}

// text returns the counts as the log keeps them.
func (t *tally) text() string {
	var b [5 * binary.MaxVarintLen64]byte
	out := b[:0]
	for _, n := range t.kept() {
		out = binary.AppendUvarint(out, n.Load())
	}
	return string(out)
}

func (t *tally) kept() []*atomic.Uint64 {
	return []*atomic.Uint64{&t.normalized, &t.failed, &t.redriven, &t.tasks, &t.deduped}
}

// set takes over counts from the log.
func (t *tally) set(text []byte) {
	for _, n := range t.kept() {
		v, size := binary.Uvarint(text)
		if size <= 0 {
			return
		}
		n.Store(v)
		text = text[size:]
	}
}

// counters returns what a reader of the Connector is told. Whatever was received is
// settled or pending.
func (s *inlet) counters() *abi.ConnectorCounters {
	pending := uint64(max(0, s.pending.Load()))
	c := &abi.ConnectorCounters{
		Deduped: s.tally.deduped.Load(), Rejected: s.tally.rejected.Load(), Normalized: s.tally.normalized.Load(),
		Tasks: s.tally.tasks.Load(), Failed: s.tally.failed.Load(), Pending: pending,
	}
	c.Received = c.Normalized + c.Failed + pending - s.tally.redriven.Load()
	return c
}

// checks is what the deliveries of a Connector are checked with, as long as neither it
// nor its secrets change.
type checks struct {
	about    *abi.Connector
	secrets  [][]byte
	verifier *signature.Verifier
}

// verifier returns what checks the signatures of a Connector's deliveries. A secret
// that cannot be had now does not keep the others from being tried.
func (i *Intake) verifier(ctx context.Context, s *inlet) (*signature.Verifier, error) {
	about := s.about.Load()
	auth := authOf(about, s.provider)
	secrets := make([][]byte, 0, 2)
	var missing error
	for _, name := range auth.Secrets {
		value, err := i.parts.Secret(ctx, s.key.Tenant, about, auth.VaultID, name)
		if err != nil {
			missing = err
			continue
		}
		secrets = append(secrets, value)
	}
	if len(secrets) == 0 && missing != nil {
		return nil, missing
	}
	if c := s.checks.Load(); c != nil && c.about == about && slices.EqualFunc(c.secrets, secrets, bytes.Equal) {
		return c.verifier, nil
	}
	v, err := signature.New(auth, secrets)
	if err == nil {
		s.checks.Store(&checks{about, secrets, v})
	}
	return v, err
}

// authOf returns how deliveries are checked, with what the provider decides.
func authOf(c *abi.Connector, p connector.Provider) abi.WebhookAuth {
	var auth abi.WebhookAuth
	if c.Auth != nil {
		auth = *c.Auth
	}
	auth.Scheme = cmp.Or(auth.Scheme, p.Scheme, abi.SchemeStandard)
	return auth
}

// inletTable holds the Connectors of the node.
type inletTable struct {
	mu      lockrank.RWMutex[lockrank.Table]
	byID    map[ledger.Key]*inlet
	byToken map[[32]byte]*inlet
	backlog sync.Map // tenant → *atomic.Int64, deliveries that are pending
	counts  intakeCounts
}

func (t *inletTable) get(key ledger.Key) *inlet {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[key]
}

// hooked returns the Connector whose public path ends with token.
func (t *inletTable) hooked(token string) *inlet {
	sum := sha256.Sum256([]byte(token))
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byToken[sum]
}

func (t *inletTable) put(s *inlet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID, t.byToken = map[ledger.Key]*inlet{}, map[[32]byte]*inlet{}
	}
	t.byID[s.key] = s
	t.byToken[sha256.Sum256([]byte(tokenOf(s.about.Load())))] = s
}

func (t *inletTable) remove(s *inlet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[s.key] == s {
		t.counts.forget(s)
	}
	delete(t.byID, s.key)
	delete(t.byToken, sha256.Sum256([]byte(tokenOf(s.about.Load()))))
}

func (t *inletTable) all() []*inlet {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]*inlet, 0, len(t.byID))
	for _, s := range t.byID {
		list = append(list, s)
	}
	return list
}

// waiting counts a tenant's deliveries that are pending.
func (t *inletTable) waiting(tenant storage.Tenant) *atomic.Int64 {
	if n, ok := t.backlog.Load(tenant); ok {
		return n.(*atomic.Int64)
	}
	n, _ := t.backlog.LoadOrStore(tenant, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// dropped is what a deleted Connector counts as pending: far below what any count comes to.
const dropped = math.MinInt64 / 2

// addPending changes how many deliveries are pending, and reports whether the
// backlogs still have room; one Connector may fill three quarters of its tenant's. Of one
// that is deleted nothing is pending any more, whatever was on its way.
func (i *Intake) addPending(s *inlet, n int64) (room bool) {
	own := s.pending.Add(n)
	if own < dropped/2 {
		return false
	}
	all := i.inlets.waiting(s.key.Tenant).Add(n)
	limit := int64(i.parts.Config.Backlog)
	return all <= limit && own <= max(1, limit*3/4)
}

// dropPending takes all that is pending of a Connector that is deleted out of its tenant's
// backlog.
func (i *Intake) dropPending(s *inlet) {
	i.inlets.waiting(s.key.Tenant).Add(-s.pending.Swap(dropped))
}

// LoadConnectors brings the Connectors into memory, with what they have counted. Those
// with pending deliveries are queued to be normalized.
func (i *Intake) LoadConnectors(ctx context.Context) error {
	for _, t := range i.parts.Tenants.All() {
		if err := i.loadConnectorsOf(ctx, storage.Tenant(t.Number)); err != nil {
			return fmt.Errorf("reading the connectors of tenant %s: %w", t.ID, err)
		}
	}
	return i.parts.Store.Backlogs(ctx, func(t storage.Tenant, id string, pending int, counted []byte) error {
		s := i.inlets.get(ledger.Key{Tenant: t, ID: id})
		if s == nil {
			return nil
		}
		s.tally.set(counted)
		i.addPending(s, int64(pending))
		s.state = backlog.Found(pending)
		return nil
	})
}

func (i *Intake) loadConnectorsOf(ctx context.Context, t storage.Tenant) error {
	after := ""
	for {
		page, more, err := i.parts.Store.List(ctx, t, abi.ObjectConnector, desk.Scope{}, storage.Page{After: after, Limit: 200})
		if err != nil {
			return err
		}
		for _, res := range page {
			after = res.ID
			about, err := readConnector(&res)
			if err != nil {
				i.parts.LeaveOut(t, abi.ObjectConnector, res.ID, err)
				continue
			}
			if !about.DeletedAt.IsZero() {
				continue
			}
			seq, _, err := i.parts.Store.Sequence(ctx, t, abi.ResourcePointer{Object: abi.ObjectConnector, ID: about.ID})
			if errors.Is(err, storage.ErrDamaged) {
				i.parts.LeaveOut(t, abi.ObjectConnector, res.ID, err)
				continue
			}
			if err != nil {
				return err
			}
			i.inlets.put(newInlet(t, about, seq+1))
			if d := about.DedupePolicy; d != nil && checkIDHeader(d) != nil {
				i.parts.Log.Warn("a connector knows its deliveries by a header that is no id: it is stored and told; change its dedupe_policy",
					"connector", about.ID, "header", d.Header)
			}
		}
		if !more {
			return nil
		}
	}
}

// readConnector reads a Connector from a list, and holds it against what serving it
// relies on.
func readConnector(res *storage.Resource) (*abi.Connector, error) {
	about := &abi.Connector{}
	if err := ledger.ReadListed(res, about); err != nil {
		return nil, ledger.Naming(abi.ObjectConnector, res.ID, err)
	}
	if err := ledger.CheckEnvelope(&about.Envelope, abi.ObjectConnector, res.ID); err != nil {
		return nil, err
	}
	if _, known := connectorTransitions[about.Status]; !known {
		return nil, ledger.Unreadable(abi.ObjectConnector, res.ID, "its status is %.32q: %w", about.Status, ledger.ErrForeign)
	}
	if about.Webhook == nil || about.WorkspaceID == "" || about.Provider == "" {
		return nil, ledger.Nonsense(abi.ObjectConnector, res.ID, "it has no webhook, workspace or provider")
	}
	return about, nil
}

func newInlet(t storage.Tenant, about *abi.Connector, seq uint64) *inlet {
	s := &inlet{key: ledger.Key{Tenant: t, ID: about.ID}, seq: seq}
	s.provider = providerOf(about.Provider)
	s.about.Store(about)
	return s
}

// providerOf returns what is known of a provider. One that is not known is like
// generic, but for its plugin.
func providerOf(name string) connector.Provider {
	if p, ok := connector.Lookup(name); ok {
		return p
	}
	p, _ := connector.Lookup("generic")
	p.Name, p.Plugin = name, ""
	return p
}

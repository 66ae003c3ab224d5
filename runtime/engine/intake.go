package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// ConnectorConfig holds the settings of Connectors. The zero value of each means its
// default.
type ConnectorConfig struct {
	Backlog    int           // pending deliveries of a tenant; beyond it deliveries are refused; default 200,000
	Window     time.Duration // how long deliveries are remembered at most; default 8 days
	InboxBytes int64         // deliveries that wait in memory; others are read from the log; default 32 MiB
	Workers    int           // Connectors whose deliveries are normalized at one time; default 8
}

func (c ConnectorConfig) withDefaults() ConnectorConfig {
	setDefault(&c.Backlog, 200_000)
	setDefault(&c.Window, 8*24*time.Hour)
	setDefault(&c.InboxBytes, 32<<20)
	setDefault(&c.Workers, 8)
	return c
}

// source is a Connector in memory: its last form, what it has counted, and the
// deliveries that were taken and wait to be normalized.
type source struct {
	key      owner
	provider connector.Provider
	about    atomic.Pointer[abi.Connector] // as it is stored; shared, not to be changed

	checks  atomic.Pointer[checks]
	replays replays

	// hand orders what is handed over: deliveries have the order of the log in inbox, too.
	hand    lockrank.Mutex[lockSource]
	seq     uint64 // of the next event whose resource is the Connector
	inbox   []arrival
	bytes   int            // of inbox
	skipped storage.Commit // the last delivery that is not in inbox; nil when all are
	behind  bool           // some deliveries have to be read from the log
	rewind  bool           // they have to be read from the first that is pending
	told    time.Time      // when a repetition was last told of
	active  bool           // a worker has it, or it is queued for one
	gone    bool           // it was deleted

	settling bool      // a batch is being normalized or settled
	reached  time.Time // when the first delivery of the last batch came

	// Those that normalizes own these: there is one at a time.
	read  Position // the last delivery that was taken up
	retry connector.Breaker
	timer *time.Timer // tries again after a failure; guarded by hand

	pending atomic.Int64
	tally   tally
	polled  pace
}

// arrival is a delivery that was taken and is not normalized yet.
type arrival struct {
	id       string // of the Delivery
	text     []byte // the Delivery as JSON
	at       time.Time
	position Position       // 0 until commit is waited for
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
func (s *source) counters() *abi.ConnectorCounters {
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
func (e *Engine) verifier(ctx context.Context, s *source) (*signature.Verifier, error) {
	about := s.about.Load()
	auth := authOf(about, s.provider)
	secrets := make([][]byte, 0, 2)
	var missing error
	for _, name := range auth.Secrets {
		value, err := e.ConnectorSecret(ctx, s.key.tenant, about, auth.VaultID, name)
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
	auth.Scheme = abi.SignatureScheme(firstOf(string(auth.Scheme), string(p.Scheme), string(abi.SchemeStandard)))
	return auth
}

// sourceTable holds the Connectors of the node.
type sourceTable struct {
	mu      lockrank.RWMutex[lockTable]
	byID    map[owner]*source
	byToken map[[32]byte]*source
	backlog sync.Map // tenant → *atomic.Int64, deliveries that are pending
	counts  intakeCounts
}

func (t *sourceTable) get(key owner) *source {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[key]
}

// hooked returns the Connector whose public path ends with token.
func (t *sourceTable) hooked(token string) *source {
	sum := sha256.Sum256([]byte(token))
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byToken[sum]
}

func (t *sourceTable) put(s *source) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID, t.byToken = map[owner]*source{}, map[[32]byte]*source{}
	}
	t.byID[s.key] = s
	t.byToken[sha256.Sum256([]byte(tokenOf(s.about.Load())))] = s
}

func (t *sourceTable) remove(s *source) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[s.key] == s {
		t.counts.forget(s)
	}
	delete(t.byID, s.key)
	delete(t.byToken, sha256.Sum256([]byte(tokenOf(s.about.Load()))))
}

func (t *sourceTable) all() []*source {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]*source, 0, len(t.byID))
	for _, s := range t.byID {
		list = append(list, s)
	}
	return list
}

// waiting counts a tenant's deliveries that are pending.
func (t *sourceTable) waiting(tenant storage.Tenant) *atomic.Int64 {
	if n, ok := t.backlog.Load(tenant); ok {
		return n.(*atomic.Int64)
	}
	n, _ := t.backlog.LoadOrStore(tenant, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// addPending changes how many deliveries are pending, and reports whether there is
// room for as many: a tenant has a backlog, of which one Connector gets three
// quarters.
func (e *Engine) addPending(s *source, n int64) (room bool) {
	own, all := s.pending.Add(n), e.sources.waiting(s.key.tenant).Add(n)
	limit := int64(e.config.Connectors.Backlog)
	return all <= limit && own <= max(1, limit*3/4)
}

// loadSources brings the Connectors into memory, with what they have counted. Those
// with pending deliveries are queued to be normalized.
func (e *Engine) loadSources(ctx context.Context) error {
	for _, t := range e.tenants.all() {
		if err := e.loadSourcesOf(ctx, storage.Tenant(t.Number)); err != nil {
			return fmt.Errorf("reading the connectors of tenant %s: %w", t.ID, err)
		}
	}
	return e.store.Backlogs(ctx, func(t storage.Tenant, id string, pending int, counted []byte) error {
		s := e.sources.get(owner{t, id})
		if s == nil {
			return nil
		}
		s.tally.set(counted)
		e.addPending(s, int64(pending))
		s.behind = pending > 0
		return nil
	})
}

func (e *Engine) loadSourcesOf(ctx context.Context, t storage.Tenant) error {
	after := ""
	for {
		page, more, err := e.store.List(ctx, t, abi.ObjectConnector, Scope{}, storage.Page{After: after, Limit: 200})
		if err != nil {
			return err
		}
		for _, res := range page {
			after = res.ID
			about, err := readConnector(&res)
			if err != nil {
				e.leaveOut(t, abi.ObjectConnector, res.ID, err)
				continue
			}
			if !about.DeletedAt.IsZero() {
				continue
			}
			seq, _, err := e.store.Sequence(ctx, t, abi.ResourcePointer{Object: abi.ObjectConnector, ID: about.ID})
			if errors.Is(err, storage.ErrDamaged) {
				e.leaveOut(t, abi.ObjectConnector, res.ID, err)
				continue
			}
			if err != nil {
				return err
			}
			e.sources.put(newSource(t, about, seq+1))
			if d := about.DedupePolicy; d != nil && checkIDHeader(d) != nil {
				e.log.Warn("a connector knows its deliveries by a header that is no id: it is stored and told; change its dedupe_policy",
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
	if err := readListed(res, about); err != nil {
		return nil, naming(abi.ObjectConnector, res.ID, err)
	}
	if err := checkEnvelope(&about.Envelope, abi.ObjectConnector, res.ID); err != nil {
		return nil, err
	}
	if _, known := connectorTransitions[about.Status]; !known {
		return nil, unreadable(abi.ObjectConnector, res.ID, "its status is %.32q: %w", about.Status, errForeign)
	}
	if about.Webhook == nil || about.WorkspaceID == "" || about.Provider == "" {
		return nil, nonsense(abi.ObjectConnector, res.ID, "it has no webhook, workspace or provider")
	}
	return about, nil
}

func newSource(t storage.Tenant, about *abi.Connector, seq uint64) *source {
	s := &source{key: owner{t, about.ID}, seq: seq}
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

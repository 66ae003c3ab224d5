package intake

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/backlog"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// hookPath is where the public paths of Connectors are; a token follows.
	hookPath = "/hooks/"
	// hookToken is how many random bytes a token has.
	hookToken = 32
	// maxConnectors is how many Connectors a tenant may have: they are all in memory.
	maxConnectors = 10_000
	// maxSettings bounds the settings of a Connector's plugin, in bytes: they are given
	// to it with each batch.
	maxSettings = 64 << 10
)

// connectorTransitions lists what a client may make of a Connector's status. FAILED is
// the circuit breaker's.
var connectorTransitions = map[abi.ConnectorStatus][]abi.ConnectorStatus{
	abi.ConnectorActive:   {abi.ConnectorActive, abi.ConnectorPaused, abi.ConnectorDisabled},
	abi.ConnectorPaused:   {abi.ConnectorActive, abi.ConnectorPaused, abi.ConnectorDisabled},
	abi.ConnectorFailed:   {abi.ConnectorActive, abi.ConnectorPaused, abi.ConnectorDisabled},
	abi.ConnectorDisabled: {abi.ConnectorActive, abi.ConnectorPaused, abi.ConnectorDisabled},
}

// CreateConnector makes a Connector, which is ACTIVE at once.
func (i *Intake) CreateConnector(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateConnectorRequest) (desk.Doc, error) {
	workspace, err := i.connectorWorkspace(ctx, c, req.WorkspaceID)
	if err != nil {
		return desk.Doc{}, err
	}
	req.WorkspaceID = workspace
	doc, err := i.parts.Desk.Once(ctx, c, r, workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
		about, err := i.newConnector(ctx, c, &req)
		if err != nil {
			return desk.Doc{}, err
		}
		doc, err := i.parts.Desk.Commit(c, "", workspace, idem, desk.StatusCreated, connectorRecord(abi.EventConnectorCreated, about, 0, true))
		if err == nil {
			made := newInlet(c.Tenant, about, 1)
			i.inlets.put(made)
			i.pollSoon(made)
		}
		return doc, err
	})
	return i.showConnector(ctx, c, doc, err)
}

// connectorWorkspace returns the Workspace of a new Connector: that which is named,
// the only one that the caller sees, or the tenant's own.
func (i *Intake) connectorWorkspace(ctx context.Context, c *desk.Caller, id string) (string, error) {
	switch {
	case id != "":
	case len(c.Workspaces) == 1:
		id = c.Workspaces[0]
	default:
		tenant, err := i.parts.Tenants.Tenant(c.TenantID)
		if err != nil {
			return "", err
		}
		id = tenant.DefaultWorkspaceID
	}
	return id, i.parts.Desk.CheckWorkspace(ctx, c, id)
}

func (i *Intake) newConnector(ctx context.Context, c *desk.Caller, req *abi.CreateConnectorRequest) (*abi.Connector, error) {
	if err := i.takeOffered(req); err != nil {
		return nil, err
	}
	if err := cmp.Or(desk.CheckPresent("provider", req.Provider), desk.CheckMetadata(&req.Metadata)); err != nil {
		return nil, err
	}
	if n := i.inlets.count(c.Tenant); n >= maxConnectors {
		return nil, abi.Errorf(abi.CodeConflict, "there are %d connectors; a tenant has at most %d", n, maxConnectors)
	}
	p := providerOf(req.Provider)
	if onlyTicks(p.Name) && freshPolling(req.Polling) == nil {
		return nil, abi.InvalidParam("polling.schedule", `a Connector of the provider %s needs a schedule, such as "0 9 * * 1-5" or "@every 5m": without one it never does anything`, p.Name)
	}
	token := make([]byte, hookToken)
	if _, err := io.ReadFull(i.parts.Entropy, token); err != nil {
		return nil, fmt.Errorf("making a token: %w", err)
	}
	about := &abi.Connector{
		Envelope: abi.NewEnvelope(abi.ObjectConnector, i.parts.IDs.New(abi.ObjectConnector), i.parts.Now(), req.Metadata),
		Name:     req.Name, Provider: req.Provider, WorkspaceID: req.WorkspaceID, Status: abi.ConnectorActive,
		EventKinds: req.EventKinds, DedupePolicy: req.DedupePolicy, Auth: req.Auth, Polling: freshPolling(req.Polling),
		Webhook:         &abi.Webhook{Path: hookPath + base64.RawURLEncoding.EncodeToString(token)},
		TargetPersonaID: req.TargetPersonaID, TargetSessionID: req.TargetSessionID,
		Plugin: cmp.Or(req.Plugin, p.Plugin), Settings: req.Settings, Ordered: req.Ordered,
	}
	if err := checkIDHeader(req.DedupePolicy); err != nil {
		return nil, err
	}
	about.Webhook.Enabled = req.Webhook != nil && req.Webhook.Enabled
	if about.EventKinds == nil {
		about.EventKinds = p.EventKinds
	}
	return about, i.checkConnector(ctx, c, about, p)
}

// checkConnector checks a Connector as it is to be.
func (i *Intake) checkConnector(ctx context.Context, c *desk.Caller, about *abi.Connector, p connector.Provider) error {
	return cmp.Or(
		checkName("provider", about.Provider),
		i.checkPlugin(ctx, about),
		checkSettings(about.Settings),
		checkDedupe(about.DedupePolicy, i.parts.Config.Window),
		checkAuth(about, p),
		checkPolling(about.Polling),
		i.checkTargets(ctx, c, about),
	)
}

// checkName accepts what may be the name of a provider.
func checkName(param, name string) error {
	if len(name) > 64 || !abi.ValidName(name) {
		return abi.InvalidParam(param, "%s is at most 64 letters, digits, dots, dashes and underscores", param)
	}
	return nil
}

func (i *Intake) checkPlugin(ctx context.Context, about *abi.Connector) error {
	name, export, named := strings.Cut(about.Plugin, "#")
	if about.Plugin == "" {
		return abi.InvalidParam("provider", "there is no provider %q: %s; for another, install a plugin that brings it, or name what normalizes its deliveries, as plugin: PLUGIN#EXPORT",
			about.Provider, i.providersMeant(about.Provider))
	}
	if name == "" || !named || export == "" {
		return abi.InvalidParam("plugin", "plugin must be PLUGIN#EXPORT, and no connector that is installed and enabled is of the plugin %q", about.Plugin)
	}
	if _, err := i.parts.Plugins.Resolve(ctx, name); err != nil {
		if failure, ok := errors.AsType[*abi.Failure](err); ok {
			return abi.InvalidParam("plugin", "%s", failure.Message)
		}
		return err
	}
	return nil
}

func checkSettings(settings jsontext.Value) error {
	if len(settings) > 0 && settings.Kind() != '{' {
		return abi.InvalidParam("settings", "settings must be a JSON object")
	}
	if len(settings) > maxSettings {
		return abi.InvalidParam("settings", "settings have at most %d bytes", maxSettings)
	}
	return nil
}

func checkDedupe(d *abi.DedupePolicy, longest time.Duration) error {
	if d == nil {
		return nil
	}
	if d.WindowSeconds < 0 || d.WindowSeconds > int64(longest/time.Second) {
		return abi.InvalidParam("dedupe_policy.window_seconds", "window_seconds must be between 0 and %d, for so long this node remembers deliveries", int64(longest/time.Second))
	}
	if len(d.Header) > 128 || strings.ContainsAny(d.Header, " \t\r\n:") {
		return abi.InvalidParam("dedupe_policy.header", "header must be the name of a header")
	}
	return nil
}

// checkIDHeader refuses to take ids from what is no id: they are stored, told and logged.
func checkIDHeader(d *abi.DedupePolicy) error {
	if d != nil && d.Header != "" && !idHeader(d.Header) {
		return abi.InvalidParam("dedupe_policy.header", "%s is a credential, a signature or about the connection, and no delivery's id", d.Header)
	}
	return nil
}

// idHeader reports whether deliveries may be known by a header.
func idHeader(name string) bool {
	switch lower := strings.ToLower(name); lower {
	case "idempotency-key":
		return true
	case "user-agent", "content-type", "content-encoding", "date", "via", "from", "origin", "referer", "set-cookie", "proxy-connection":
		return false
	default:
		return telling([]byte(lower))
	}
}

func checkAuth(about *abi.Connector, p connector.Provider) error {
	auth := authOf(about, p)
	if err := signature.Check(auth); err != nil {
		return abi.InvalidParam("auth", "%v", err)
	}
	if about.Webhook.Enabled && auth.Scheme != abi.SchemeNone && len(auth.Secrets) == 0 {
		return abi.InvalidParam("auth.secrets", "the public path needs a secret to check signatures with; only with the scheme none it has none")
	}
	for _, name := range auth.Secrets {
		if name == "" || len(name) > 128 {
			return abi.InvalidParam("auth.secrets", "secrets are names of at most 128 characters")
		}
	}
	return nil
}

// checkTargets checks what a Connector's Tasks run as, and where.
func (i *Intake) checkTargets(ctx context.Context, c *desk.Caller, about *abi.Connector) error {
	if about.TargetPersonaID != "" {
		if _, err := i.parts.Persona(ctx, c.Tenant, about.WorkspaceID, about.TargetPersonaID); err != nil {
			return desk.Within("target_persona_id", err)
		}
	}
	if about.TargetSessionID == "" {
		return nil
	}
	s, _, err := desk.Find[abi.Session](ctx, i.parts.Desk, c, abi.ObjectSession, about.TargetSessionID)
	if err != nil {
		return err
	}
	if s.WorkspaceID != about.WorkspaceID {
		return abi.InvalidParam("target_session_id", "session %s belongs to another workspace", s.ID)
	}
	return nil
}

// connectorRecord returns the event that states a Connector. Its public path is told
// to those alone who may write Connectors; see [Intake.showConnector].
func connectorRecord(kind abi.EventKind, about *abi.Connector, seq uint64, created bool) ledger.Record {
	return ledger.Record{Kind: kind, Object: abi.ObjectConnector, ID: about.ID, Sequence: seq, Created: created, Restricted: true, State: about}
}

// UpdateConnector changes a Connector.
func (i *Intake) UpdateConnector(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateConnectorRequest) (desk.Doc, error) {
	s, err := i.inlet(c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	doc, err := i.parts.Desk.Once(ctx, c, r, s.about.Load().WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return i.changeConnector(ctx, c, s, idem, desk.StatusOK, func(next *abi.Connector) (abi.EventKind, error) {
			if err := applyUpdate(&req, next); err != nil {
				return "", err
			}
			return abi.EventConnectorUpdated, i.checkConnector(ctx, c, next, s.provider)
		})
	})
	return i.showConnector(ctx, c, doc, err)
}

// changeConnector changes a Connector in memory and in the log. change gets a copy, and does
// nothing but change it.
func (i *Intake) changeConnector(ctx context.Context, c *desk.Caller, s *inlet, idem *storage.Idempotency, status int,
	change func(*abi.Connector) (abi.EventKind, error)) (desk.Doc, error) {
	return ledger.Change(i.parts.Ledger, s.key.Tenant, s.key.ID, func() (desk.Doc, error) {
		doc, err := i.tryChange(c, s, idem, status, change)
		return doc, i.reloaded(ctx, s, err)
	})
}

// tryChange changes a Connector as it is in memory.
func (i *Intake) tryChange(c *desk.Caller, s *inlet, idem *storage.Idempotency, status int, change func(*abi.Connector) (abi.EventKind, error)) (desk.Doc, error) {
	if i.inlets.get(s.key) != s {
		return desk.Doc{}, abi.NotFound(abi.ObjectConnector, s.key.ID)
	}
	next := *s.about.Load()
	kind, err := change(&next)
	if err != nil {
		return desk.Doc{}, err
	}
	next.UpdatedAt = abi.At(i.parts.Now())
	doc, commit, err := i.handChange(c, s, idem, status, kind, &next)
	if err != nil {
		return desk.Doc{}, err
	}
	if _, err := commit.Wait(context.Background()); err != nil {
		return desk.Doc{}, i.parts.Ledger.Failed("writing to the log", err)
	}
	s.about.Store(&next)
	i.normalizeSoon(s)
	i.pollSoon(s)
	return doc, nil
}

// reloaded returns the error of a change. When that is that somebody else has changed the
// Connector in the log, the Connector is read again first.
func (i *Intake) reloaded(ctx context.Context, s *inlet, err error) error {
	if !ledger.Overtaken(err) {
		return err
	}
	res, failed := i.parts.Ledger.Find(ctx, s.key.Tenant, abi.ObjectConnector, s.key.ID)
	if failed != nil {
		return failed
	}
	about, failed := readConnector(&res)
	if failed != nil {
		return failed
	}
	seq, _, failed := i.parts.Store.Sequence(ctx, s.key.Tenant, abi.ResourcePointer{Object: abi.ObjectConnector, ID: s.key.ID})
	if failed != nil {
		return i.parts.Ledger.Failed("reading the connector's events", failed)
	}
	s.order.Lock()
	defer s.order.Unlock()
	if !about.DeletedAt.IsZero() {
		return cmp.Or[error](i.deleted(s, about), abi.NotFound(abi.ObjectConnector, s.key.ID))
	}
	s.about.Store(about)
	s.seq = seq + 1
	return err
}

// handChange hands over the event of a change. Its sequence is taken and handed over
// under s.hand: repeated deliveries are told of beside it.
func (i *Intake) handChange(c *desk.Caller, s *inlet, idem *storage.Idempotency, status int, kind abi.EventKind, next *abi.Connector) (desk.Doc, storage.Commit, error) {
	s.order.Lock()
	defer s.order.Unlock()
	doc, commit, err := i.parts.Desk.Append(c, "", next.WorkspaceID, idem, status, connectorRecord(kind, next, s.seq, false))
	if err == nil {
		s.seq++
	}
	return doc, commit, err
}

// applyUpdate puts what a request states into a Connector.
func applyUpdate(req *abi.UpdateConnectorRequest, c *abi.Connector) error {
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), checkIDHeader(req.DedupePolicy)); err != nil {
		return err
	}
	if req.Status != nil {
		if err := checkTransition(c, *req.Status); err != nil {
			return err
		}
		c.Status, c.StatusReason = *req.Status, ""
	}
	if req.Webhook != nil {
		hook := *c.Webhook
		hook.Enabled = req.Webhook.Enabled
		c.Webhook = &hook
	}
	abi.Replace(&c.Name, req.Name)
	req.TargetPersonaID.Apply(&c.TargetPersonaID)
	req.TargetSessionID.Apply(&c.TargetSessionID)
	abi.Replace(&c.Ordered, req.Ordered)
	c.DedupePolicy = cmp.Or(req.DedupePolicy, c.DedupePolicy)
	c.Auth = cmp.Or(req.Auth, c.Auth)
	if req.Polling != nil {
		c.Polling = freshPolling(req.Polling)
	}
	if req.EventKinds != nil {
		c.EventKinds = req.EventKinds
	}
	if req.Settings != nil {
		c.Settings = req.Settings
	}
	if req.Metadata != nil {
		c.Metadata = req.Metadata
	}
	return nil
}

func checkTransition(c *abi.Connector, to abi.ConnectorStatus) error {
	for _, allowed := range connectorTransitions[c.Status] {
		if to == allowed {
			return nil
		}
	}
	if _, known := connectorTransitions[to]; !known {
		return abi.InvalidParam("status", "%q is no status of a connector", to)
	}
	err := abi.Errorf(abi.CodeInvalidStateTransition, "connector %s is %s and cannot be made %s", c.ID, c.Status, to)
	err.Param = "status"
	return err
}

// setConnectorStatus is how the node itself changes the status of a Connector: FAILED
// with a reason when the circuit breaker opens, ACTIVE when it closes. It does nothing
// when somebody has paused or disabled the Connector meanwhile.
func (i *Intake) setConnectorStatus(ctx context.Context, s *inlet, to abi.ConnectorStatus, reason string) error {
	c := &desk.Caller{Tenant: s.key.Tenant, Actor: desk.HostActor}
	_, err := i.changeConnector(ctx, c, s, nil, desk.StatusOK, func(next *abi.Connector) (abi.EventKind, error) {
		if next.Status != abi.ConnectorActive && next.Status != abi.ConnectorFailed || next.Status == to {
			return "", errUnchanged
		}
		next.Status, next.StatusReason = to, reason
		return abi.EventConnectorUpdated, nil
	})
	if errors.Is(err, errUnchanged) || ledger.IsNotFound(err) {
		return nil
	}
	return err
}

var errUnchanged = errors.New("there is nothing to change")

// DeleteConnector deletes a Connector. Its pending deliveries are dropped; Tasks that were
// submitted go on.
func (i *Intake) DeleteConnector(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error {
	about, err := i.deletable(ctx, c, id)
	if err != nil {
		return err
	}
	_, err = i.parts.Desk.Once(ctx, c, r, about.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(i.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			s := i.inlets.get(ledger.Key{Tenant: c.Tenant, ID: id})
			if s == nil {
				return desk.Doc{}, abi.NotFound(abi.ObjectConnector, id)
			}
			doc, err := i.dropConnector(c, s, idem)
			return doc, i.reloaded(ctx, s, err)
		})
	})
	return err
}

// deletable returns a Connector that the caller may see, also one that was deleted:
// whoever repeats a deletion is answered as before.
func (i *Intake) deletable(ctx context.Context, c *desk.Caller, id string) (abi.Connector, error) {
	about, _, err := desk.Find[abi.Connector](ctx, i.parts.Desk, c, abi.ObjectConnector, id)
	return about, err
}

// dropConnector writes the deletion. Nothing is handed over for the Connector
// afterwards.
func (i *Intake) dropConnector(c *desk.Caller, s *inlet, idem *storage.Idempotency) (desk.Doc, error) {
	s.order.Lock()
	defer s.order.Unlock()
	next := *s.about.Load()
	next.Status, next.UpdatedAt, next.DeletedAt = abi.ConnectorDisabled, abi.At(i.parts.Now()), abi.At(i.parts.Now())
	rec := connectorRecord(abi.EventConnectorDeleted, &next, s.seq, false)
	rec.Intake = storage.IntakeOp{Kind: storage.IntakeDrop, Connector: next.ID}
	doc, err := i.parts.Desk.Commit(c, "", next.WorkspaceID, idem, desk.StatusNoContent, rec)
	if err != nil {
		return desk.Doc{}, err
	}
	return doc, i.deleted(s, &next)
}

// deleted takes a Connector that is deleted out of memory. The caller holds s.order.
func (i *Intake) deleted(s *inlet, about *abi.Connector) error {
	i.inlets.remove(s)
	s.about.Store(about)
	i.pollSoon(s)
	i.dropPending(s)
	_, err := s.step(backlog.Input{Kind: backlog.Delete})
	if err == nil {
		i.forget(s)
	}
	return err
}

// inlet returns a Connector that the caller may see.
func (i *Intake) inlet(c *desk.Caller, id string) (*inlet, error) {
	s := i.inlets.get(ledger.Key{Tenant: c.Tenant, ID: id})
	if s == nil && len(c.Workspaces) == 0 {
		if why := i.parts.LeftOut(ledger.Key{Tenant: c.Tenant, ID: id}); why != nil {
			return nil, ledger.Naming(abi.ObjectConnector, id, &ledger.UnreadableError{Err: why})
		}
	}
	if s == nil || !c.Sees(s.about.Load().WorkspaceID) {
		return nil, abi.NotFound(abi.ObjectConnector, id)
	}
	return s, nil
}

// GetConnector returns a Connector with its counters.
func (i *Intake) GetConnector(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	s, err := i.inlet(c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	about := *s.about.Load()
	about.Problems = i.problems(ctx, s)
	return i.describe(c, s, about, desk.Doc{ID: id})
}

// ListConnectors returns the Connectors that a filter lets through, newest first.
func (i *Intake) ListConnectors(ctx context.Context, c *desk.Caller, f desk.Filter, p desk.Page) (desk.DocList, error) {
	list, err := i.parts.Desk.List(ctx, c, abi.ObjectConnector, f, p)
	if err != nil {
		return desk.DocList{}, err
	}
	shown := list.Docs[:0]
	for _, doc := range list.Docs {
		s, err := i.inlet(c, doc.ID)
		if ledger.IsUnreadable(err) {
			list.Unreadable = append(list.Unreadable, doc.ID)
		}
		if err != nil { // it was deleted
			continue
		}
		if doc, err = i.describeConnector(c, s, doc); err != nil {
			return desk.DocList{}, err
		}
		shown = append(shown, doc)
	}
	list.Docs = shown
	return list, nil
}

// showConnector makes the answer of a write, or of its repetition, what a read right
// after it shows: it tells nobody more.
func (i *Intake) showConnector(ctx context.Context, c *desk.Caller, doc desk.Doc, err error) (desk.Doc, error) {
	if err != nil {
		return desk.Doc{}, err
	}
	s := i.inlets.get(ledger.Key{Tenant: c.Tenant, ID: doc.ID})
	if s == nil && !doc.Replayed {
		return desk.Doc{}, abi.NotFound(abi.ObjectConnector, doc.ID)
	}
	var about abi.Connector
	if err := ledger.Decode(doc.JSON, &about); err != nil {
		return desk.Doc{}, err
	}
	if s != nil && !doc.Replayed {
		about.Problems = i.problems(ctx, s)
		i.logProblems(s, about.Problems)
	}
	return i.describe(c, s, about, doc)
}

// describeConnector shows a Connector as it is.
func (i *Intake) describeConnector(c *desk.Caller, s *inlet, doc desk.Doc) (desk.Doc, error) {
	return i.describe(c, s, *s.about.Load(), doc)
}

// describe fills in what is counted, and withholds the public path from those who may
// not write Connectors. s is nil for a Connector that was deleted since.
func (i *Intake) describe(c *desk.Caller, s *inlet, shown abi.Connector, doc desk.Doc) (desk.Doc, error) {
	if s != nil {
		shown.Counters = s.counters()
	}
	shown.Polling = shownPolling(&shown, i.parts.Now())
	if !c.Can(abi.ScopeConnectorsWrite) && shown.Webhook != nil {
		shown.Webhook = &abi.Webhook{Enabled: shown.Webhook.Enabled}
	}
	text, err := json.Marshal(&shown, json.Deterministic(true))
	doc.JSON, doc.Restricted = text, false
	return doc, err
}

func tokenOf(c *abi.Connector) string {
	if c.Webhook == nil {
		return ""
	}
	return strings.TrimPrefix(c.Webhook.Path, hookPath)
}

// pluginOf returns the name of a Connector's plugin, without the export.
func pluginOf(c *abi.Connector) string {
	name, _, _ := strings.Cut(c.Plugin, "#")
	return name
}

// count returns how many Connectors a tenant has.
func (t *inletTable) count(tenant storage.Tenant) (n int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for key := range t.byID {
		if key.Tenant == tenant {
			n++
		}
	}
	return n
}

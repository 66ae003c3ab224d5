package outbox

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage"
)

// Limits of one Webhook.
const (
	maxDescription = 1024
	maxEvents      = 100 // patterns
	maxEvent       = 128 // bytes of one
	maxHeaders     = 16
	maxHeader      = 4096 // bytes of a value
	minSecret      = 16
	maxSecret      = 512
	maxOverlap     = 30 * 24 * 3600 // seconds
)

var errNoValues = abi.Errorf(abi.CodeNotImplemented, "this node can keep no secrets, and so has no webhooks")

// CreateWebhook makes a Webhook. It is sent what happens from then on. The answer has the
// secret, and so has that to a retry; no other answer has it.
func (o *Outbox) CreateWebhook(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateWebhookRequest) (desk.Doc, error) {
	if o.parts.Values == nil {
		return desk.Doc{}, errNoValues
	}
	if err := o.place(ctx, c, &req); err != nil {
		return desk.Doc{}, err
	}
	about, err := o.asked(&req)
	if err != nil {
		return desk.Doc{}, err
	}
	r, err = sealed.Blind(ctx, o.parts.Values, r)
	if err != nil {
		return desk.Doc{}, err
	}
	doc, err := o.parts.Desk.Once(ctx, c, r, about.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return o.create(ctx, c, idem, about, &req)
	})
	return o.reveal(ctx, c, doc, err)
}

// CheckWebhook refuses what [Outbox.CreateWebhook] would refuse, and makes nothing: for those that make
// something else before. Whether the caller may have it where it is to be is not looked at.
func (o *Outbox) CheckWebhook(c *desk.Caller, req abi.CreateWebhookRequest) error {
	if o.parts.Values == nil {
		return errNoValues
	}
	if _, err := o.asked(&req); err != nil {
		return err
	}
	return o.room(c.Tenant)
}

// asked returns the Webhook that is asked for, if there may be one like it.
func (o *Outbox) asked(req *abi.CreateWebhookRequest) (*abi.WebhookEndpoint, error) {
	about := &abi.WebhookEndpoint{
		Envelope:    abi.NewEnvelope(abi.ObjectWebhook, o.parts.IDs.New(abi.ObjectWebhook), o.parts.Now(), req.Metadata),
		WorkspaceID: req.WorkspaceID, URL: req.URL, Description: req.Description,
		WebhookWants: abi.WebhookWants{Events: req.Events, SessionID: req.SessionID, TaskID: req.TaskID, PersonaID: req.PersonaID},
		Format:       req.Format, Signature: signatureOf(req.Signature), Headers: slices.Sorted(maps.Keys(req.Headers)),
		AfterEventID: req.AfterEventID,
		Status:       cmp.Or(req.Status, abi.WebhookActive),
	}
	err := cmp.Or(desk.CheckMetadata(&req.Metadata), o.check(about), checkHeaders(req.Headers), checkSecret(req.Secret))
	return about, err
}

// room refuses a Webhook more than a tenant may have.
func (o *Outbox) room(t storage.Tenant) error {
	if n := o.queues.count(t); n >= o.parts.Config.Most {
		return abi.Errorf(abi.CodeConflict, "there are %d webhooks; a tenant has at most %d", n, o.parts.Config.Most)
	}
	return nil
}

// place puts a Webhook in the Workspace that is named, or the only one that the caller sees; or
// in none, when it is for the whole tenant.
func (o *Outbox) place(ctx context.Context, c *desk.Caller, req *abi.CreateWebhookRequest) error {
	if req.WorkspaceID == "" && len(c.Workspaces) == 1 {
		req.WorkspaceID = c.Workspaces[0]
	}
	if req.WorkspaceID == "" {
		return c.OwnsTenantWide()
	}
	return o.parts.Desk.CheckWorkspace(ctx, c, req.WorkspaceID)
}

func (o *Outbox) create(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, about *abi.WebhookEndpoint, req *abi.CreateWebhookRequest) (desk.Doc, error) {
	if err := o.room(c.Tenant); err != nil {
		return desk.Doc{}, err
	}
	secret, err := o.newSecret(ctx, c.Tenant, about, req.Secret)
	if err != nil {
		return desk.Doc{}, err
	}
	// The queue begins before its own first event, and wants nothing until it meets that.
	at := tally{cursor: o.parts.Store.Watermark()}
	if after, early := desk.ParsePosition(about.AfterEventID); early {
		at.cursor = min(at.cursor, after)
	}
	q := o.newQueue(c.Tenant, about, 2, at)
	q.wants = q.early()
	pin := q.progress(at.cursor)
	pin.Sequence, pin.Intake = 1, storage.IntakeOp{Kind: storage.IntakePend, Connector: about.ID}
	made := stateOf(abi.EventWebhookCreated, about)
	made.Created, made.Intake = true, storage.IntakeOp{Kind: storage.IntakeTally, Connector: about.ID, Tally: at.text()}
	records := []ledger.Record{made, pin, secret}
	if len(req.Headers) > 0 {
		stored, err := o.values.SealHeaders(ctx, c.Tenant, about.ID, about.WorkspaceID, req.Headers)
		if err != nil {
			return desk.Doc{}, err
		}
		records = append(records, stored)
	}
	doc, commit, err := o.parts.Desk.Append(c, "", about.WorkspaceID, idem, desk.StatusCreated, records...)
	if err != nil {
		return desk.Doc{}, err
	}
	first, err := o.parts.Ledger.Durable(commit)
	if err != nil {
		return desk.Doc{}, err
	}
	q.pins, q.pinned = []desk.Position{first + 1}, o.parts.Now()
	o.begin(q)
	return doc, nil
}

func stateOf(kind abi.EventKind, about *abi.WebhookEndpoint) ledger.Record {
	return ledger.Record{Kind: kind, Object: abi.ObjectWebhook, ID: about.ID, State: about}
}

// signatureOf fills in what a header with a signature begins with.
func signatureOf(s *abi.WebhookSignature) *abi.WebhookSignature {
	if s == nil || s.Header == "" {
		return nil
	}
	return &abi.WebhookSignature{Header: s.Header, Prefix: cmp.Or(s.Prefix, "sha256=")}
}

// check checks a Webhook as it is to be.
func (o *Outbox) check(w *abi.WebhookEndpoint) error {
	if err := cmp.Or(o.checkTarget(w), checkEvents(w.Events),
		desk.CheckOneOf("status", w.Status, abi.WebhookActive, abi.WebhookPaused, abi.WebhookDisabled)); err != nil {
		return err
	}
	if len(w.Description) > maxDescription {
		return abi.InvalidParam("description", "description has at most %d bytes", maxDescription)
	}
	if _, ok := o.formats[cmp.Or(w.Format, formatHarn)]; !ok {
		return abi.InvalidParam("format", "%q is no format: one of %s", w.Format, slices.Sorted(maps.Keys(o.formats)))
	}
	for param, id := range map[string]string{"session_id": w.SessionID, "task_id": w.TaskID, "persona_id": w.PersonaID} {
		object := abi.Object(strings.TrimSuffix(param, "_id"))
		if id != "" && !abi.ValidID(object, id) {
			return abi.InvalidParam(param, "this is no id of a %s", object)
		}
	}
	if s := w.Signature; s != nil {
		if !ownHeader(s.Header) {
			return abi.InvalidParam("signature.header", "%q cannot be the header of a signature", s.Header)
		}
		if len(s.Prefix) > 32 || !headerValue(s.Prefix) {
			return abi.InvalidParam("signature.prefix", "prefix is at most 32 visible characters")
		}
	}
	return nil
}

func checkEvents(events []string) error {
	if len(events) == 0 || len(events) > maxEvents {
		return abi.InvalidParam("events", "events has 1 to %d kinds of events, such as task.completed or task.*", maxEvents)
	}
	for _, e := range events {
		name := strings.TrimSuffix(e, "*")
		if e == "" || len(e) > maxEvent || !abi.ValidName(name) {
			return abi.InvalidParam("events", "%q is no kind of events, and does not say how kinds begin", e)
		}
		if abi.EventKind(e).OfWebhooks() {
			return abi.InvalidParam("events", "events about webhooks are sent to none")
		}
	}
	return nil
}

func checkSecret(s string) error {
	if s != "" && (len(s) < minSecret || len(s) > maxSecret || !headerValue(s)) {
		return abi.InvalidParam("secret", "secret is %d to %d visible characters", minSecret, maxSecret)
	}
	return nil
}

func checkHeaders(headers map[string]string) error {
	if len(headers) > maxHeaders {
		return abi.InvalidParam("headers", "there are at most %d headers", maxHeaders)
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		key := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !ownHeader(name) || seen[key]:
			return abi.InvalidParam("headers", "%q cannot be a header of its own", name)
		case len(headers[name]) > maxHeader || !headerValue(headers[name]):
			return abi.InvalidParam("headers", "the value of %q is not at most %d visible characters", name, maxHeader)
		}
		seen[key] = true
	}
	return nil
}

// reserved are headers that are the connection's or the delivery's.
var reserved = []string{"host", "connection", "content-length", "content-type", "content-encoding", "transfer-encoding", "te",
	"trailer", "upgrade", "keep-alive", "proxy-connection", "proxy-authorization", "expect", "user-agent", "accept-encoding",
	"webhook-id", "webhook-timestamp", "webhook-signature"}

// ownHeader reports whether a Webhook may have a header of that name.
func ownHeader(name string) bool {
	if name == "" || len(name) > 128 || slices.Contains(reserved, strings.ToLower(name)) {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}

// headerValue reports whether a text can be the value of a header.
func headerValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) && strings.TrimSpace(s) == s
}

// Webhook returns a Webhook with what it has counted.
func (o *Outbox) Webhook(_ context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	q, err := o.find(c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return o.describe(c, q, *q.about.Load(), desk.Doc{ID: id})
}

// find returns the queue of a Webhook that the caller may see. Those of the whole tenant are not
// shown to keys that are bound to Workspaces.
func (o *Outbox) find(c *desk.Caller, id string) (*queue, error) {
	q := o.queues.get(ledger.Key{Tenant: c.Tenant, ID: id})
	if q == nil || !sees(c, q) {
		return nil, abi.NotFound(abi.ObjectWebhook, id)
	}
	return q, nil
}

func sees(c *desk.Caller, q *queue) bool {
	workspace := q.about.Load().WorkspaceID
	return q.about.Load().Hook == nil && (len(c.Workspaces) == 0 || workspace != "" && c.Sees(workspace))
}

// Webhooks lists the Webhooks that the caller may see, newest first.
func (o *Outbox) Webhooks(_ context.Context, c *desk.Caller, f desk.Filter, p desk.Page) (list desk.DocList, err error) {
	some := o.queues.of(func(k ledger.Key) bool { return k.Tenant == c.Tenant && (p.After == "" || k.ID < p.After) })
	some = slices.DeleteFunc(some, func(q *queue) bool {
		return !sees(c, q) || f.WorkspaceID != "" && f.WorkspaceID != q.about.Load().WorkspaceID
	})
	slices.SortFunc(some, func(a, b *queue) int { return strings.Compare(b.key.ID, a.key.ID) })
	for i, q := range some {
		doc, err := o.describe(c, q, *q.about.Load(), desk.Doc{ID: q.key.ID})
		if err != nil {
			return desk.DocList{}, err
		}
		if list.Add(doc, p.Limit) {
			return list.End(doc.ID, i < len(some)-1), nil
		}
	}
	return list, nil
}

// show shows a Webhook as a write has left it.
func (o *Outbox) show(c *desk.Caller, doc desk.Doc, err error) (desk.Doc, error) {
	if err != nil {
		return desk.Doc{}, err
	}
	var about abi.WebhookEndpoint
	if err := ledger.Decode(doc.JSON, &about); err != nil {
		return desk.Doc{}, err
	}
	return o.describe(c, o.queues.get(ledger.Key{Tenant: c.Tenant, ID: doc.ID}), about, doc)
}

// reveal shows a Webhook with the secret that a write has made, as long as that is there.
func (o *Outbox) reveal(ctx context.Context, c *desk.Caller, doc desk.Doc, err error) (desk.Doc, error) {
	shown, err := o.show(c, doc, err)
	if err != nil {
		return desk.Doc{}, err
	}
	var about abi.WebhookEndpoint
	if err := ledger.Decode(doc.JSON, &about); err != nil || len(about.Secrets) == 0 {
		return desk.Doc{}, err
	}
	value, err := o.values.Open(ctx, c.Tenant, about.Secrets[0].ID)
	if err != nil {
		return shown, nil // another has taken its place since
	}
	shown.JSON = desk.WithMember(shown.JSON, "secret", jsonw.String(nil, string(value)))
	return shown, nil
}

// describe fills in what is counted, and leaves of the URL the host for those who may not write
// Webhooks. q is nil for one that was deleted since.
func (o *Outbox) describe(c *desk.Caller, q *queue, shown abi.WebhookEndpoint, doc desk.Doc) (desk.Doc, error) {
	if q != nil {
		shown.Counters = q.counts.shown()
	}
	if !c.Can(abi.ScopeWebhooksWrite) {
		if u, err := url.Parse(shown.URL); err == nil {
			shown.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
		}
	}
	text, err := json.Marshal(&shown, json.Deterministic(true))
	doc.JSON, doc.Restricted = text, false
	return doc, err
}

func (c *counts) shown() *abi.WebhookCounters {
	return &abi.WebhookCounters{Taken: c.taken.Load(), Failed: c.failed.Load(), Dead: c.dead.Load(), Redriven: c.redriven.Load(),
		Pending: uint64(max(0, c.pending.Load())), Behind: c.behind.Load(), OldestAt: abi.At(c.oldestAt()), LastAt: abi.At(atNanos(c.last.Load()))}
}

// UpdateWebhook changes a Webhook. What it wants from then on counts for events from then on.
func (o *Outbox) UpdateWebhook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateWebhookRequest) (desk.Doc, error) {
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), checkHeaders(req.Headers)); err != nil {
		return desk.Doc{}, err
	}
	doc, err := o.rewrite(ctx, c, r, id, func(next *abi.WebhookEndpoint) ([]ledger.Record, error) {
		applyUpdate(&req, next)
		if err := o.check(next); err != nil || req.Headers == nil {
			return nil, err
		}
		stored, err := o.values.SealHeaders(ctx, c.Tenant, next.ID, next.WorkspaceID, req.Headers)
		return []ledger.Record{stored}, err
	})
	return o.show(c, doc, err)
}

// applyUpdate puts what a request states into a Webhook.
func applyUpdate(req *abi.UpdateWebhookRequest, w *abi.WebhookEndpoint) {
	if req.Status != nil && *req.Status != w.Status {
		w.Status, w.StatusReason = *req.Status, ""
	}
	abi.Replace(&w.URL, req.URL)
	abi.Replace(&w.Description, req.Description)
	req.SessionID.Apply(&w.SessionID)
	req.TaskID.Apply(&w.TaskID)
	req.PersonaID.Apply(&w.PersonaID)
	if req.Signature.Given {
		w.Signature = signatureOf(&req.Signature.To)
	}
	if req.Events != nil {
		w.Events = req.Events
	}
	if req.Headers != nil {
		w.Headers = slices.Sorted(maps.Keys(req.Headers))
	}
	if req.Metadata != nil {
		w.Metadata = req.Metadata
	}
}

// RotateWebhook gives a Webhook a new secret. Those before go on signing for as long as the
// request says. The answer has the secret, and no other answer has it.
func (o *Outbox) RotateWebhook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.RotateWebhookRequest) (desk.Doc, error) {
	if req.OverlapSeconds < 0 || req.OverlapSeconds > maxOverlap {
		return desk.Doc{}, abi.InvalidParam("overlap_seconds", "overlap_seconds is 0 to %d", maxOverlap)
	}
	if err := checkSecret(req.Secret); err != nil {
		return desk.Doc{}, err
	}
	var over []string
	doc, err := o.rewrite(ctx, c, r, id, func(next *abi.WebhookEndpoint) ([]ledger.Record, error) {
		now := o.parts.Now()
		over = retire(next, now.Add(time.Duration(req.OverlapSeconds)*time.Second), now)
		stored, err := o.newSecret(ctx, c.Tenant, next, req.Secret)
		return []ledger.Record{stored}, err
	})
	if err == nil {
		err = o.forget(ctx, c, id, over)
	}
	return o.reveal(ctx, c, doc, err)
}

// retire has the secrets of a Webhook end at the latest when a new one leaves them no more time.
// It returns those that are over.
func retire(w *abi.WebhookEndpoint, ends, now time.Time) (over []string) {
	kept := []abi.WebhookSecret{}
	for _, s := range w.Secrets {
		if s.ExpiresAt.IsZero() || s.ExpiresAt.After(ends) {
			s.ExpiresAt = abi.At(ends)
		}
		if !s.ExpiresAt.After(now) || len(kept) == maxSecrets-1 {
			over = append(over, s.ID)
			continue
		}
		kept = append(kept, s)
	}
	w.Secrets = kept
	return over
}

// rewrite changes a Webhook in the log and in memory. change gets a copy, and returns what is
// written beside it.
func (o *Outbox) rewrite(ctx context.Context, c *desk.Caller, r *desk.Retry, id string,
	change func(*abi.WebhookEndpoint) (with []ledger.Record, err error)) (desk.Doc, error) {
	q, err := o.find(c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return o.rewriteAt(ctx, c, r, q, change)
}

// rewriteAt is rewrite of a Webhook that was found.
func (o *Outbox) rewriteAt(ctx context.Context, c *desk.Caller, r *desk.Retry, q *queue,
	change func(*abi.WebhookEndpoint) (with []ledger.Record, err error)) (desk.Doc, error) {
	id := q.key.ID
	r, err := sealed.Blind(ctx, o.parts.Values, r)
	if err != nil {
		return desk.Doc{}, err
	}
	return o.parts.Desk.Once(ctx, c, r, q.about.Load().WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		unlock := o.parts.Ledger.Lock(c.Tenant, id)
		defer unlock()
		next := *q.about.Load()
		with, err := change(&next)
		if err != nil {
			return desk.Doc{}, err
		}
		return o.put(c, q, idem, desk.StatusOK, abi.EventWebhookUpdated, &next, with)
	})
}

// put writes a Webhook. The caller holds its lock.
func (o *Outbox) put(c *desk.Caller, q *queue, idem *storage.Idempotency, status int, kind abi.EventKind, next *abi.WebhookEndpoint, with []ledger.Record) (desk.Doc, error) {
	next.UpdatedAt = abi.At(o.parts.Now())
	rec := stateOf(kind, next)
	if !next.DeletedAt.IsZero() {
		rec.Intake = storage.IntakeOp{Kind: storage.IntakeDrop, Connector: next.ID}
	}
	doc, commit, err := o.handState(c, q, idem, status, append([]ledger.Record{rec}, with...))
	if err != nil {
		return desk.Doc{}, err
	}
	if _, err := o.parts.Ledger.Durable(commit); err != nil {
		return desk.Doc{}, err
	}
	q.about.Store(next)
	q.nudge()
	return doc, nil
}

// handState hands over records of which the first states the Webhook. Nothing follows the one
// that drops it.
func (o *Outbox) handState(c *desk.Caller, q *queue, idem *storage.Idempotency, status int, records []ledger.Record) (desk.Doc, storage.Commit, error) {
	q.order.Lock()
	defer q.order.Unlock()
	if q.deleted {
		return desk.Doc{}, nil, abi.NotFound(abi.ObjectWebhook, q.key.ID)
	}
	q.number(records)
	doc, commit, err := o.parts.Desk.Append(c, "", q.about.Load().WorkspaceID, idem, status, records...)
	q.deleted = err == nil && records[0].Intake.Kind == storage.IntakeDrop
	return doc, commit, err
}

// disable is how the node itself disables a Webhook.
func (o *Outbox) disable(ctx context.Context, q *queue, reason string) error {
	unlock := o.parts.Ledger.Lock(q.key.Tenant, q.key.ID)
	defer unlock()
	next := *q.about.Load()
	if next.Status == abi.WebhookDisabled {
		return nil
	}
	next.Status, next.StatusReason = abi.WebhookDisabled, reason
	_, err := o.put(&desk.Caller{Tenant: q.key.Tenant, Actor: desk.HostActor}, q, nil, desk.StatusOK, abi.EventWebhookUpdated, &next, nil)
	if ledger.IsNotFound(err) {
		return nil // it was deleted meanwhile
	}
	return err
}

// DeleteWebhook deletes a Webhook, with its secrets and what was still to be sent.
func (o *Outbox) DeleteWebhook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error {
	about, _, err := desk.Find[abi.WebhookEndpoint](ctx, o.parts.Desk, c, abi.ObjectWebhook, id)
	if err == nil && (about.Hook != nil || about.WorkspaceID == "" && len(c.Workspaces) > 0) {
		err = abi.NotFound(abi.ObjectWebhook, id)
	}
	if err != nil {
		return err
	}
	return o.remove(ctx, c, r, &about)
}

// remove deletes a Webhook that the caller may delete.
func (o *Outbox) remove(ctx context.Context, c *desk.Caller, r *desk.Retry, about *abi.WebhookEndpoint) error {
	id := about.ID
	_, err := o.parts.Desk.Once(ctx, c, r, about.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		unlock := o.parts.Ledger.Lock(c.Tenant, id)
		defer unlock()
		q := o.queues.get(ledger.Key{Tenant: c.Tenant, ID: id})
		if q == nil {
			return desk.Doc{}, abi.NotFound(abi.ObjectWebhook, id)
		}
		next := *q.about.Load()
		next.Status, next.DeletedAt, next.Secrets = abi.WebhookDisabled, abi.At(o.parts.Now()), []abi.WebhookSecret{}
		doc, err := o.put(c, q, idem, desk.StatusNoContent, abi.EventWebhookDeleted, &next, nil)
		if err != nil {
			return desk.Doc{}, err
		}
		o.queues.remove(q)
		q.end()
		return doc, o.forget(ctx, c, id, secretsOf(about))
	})
	return err
}

// retire deletes a Webhook to which nothing comes any more.
func (o *Outbox) retire(ctx context.Context, q *queue) error {
	err := o.remove(ctx, &desk.Caller{Tenant: q.key.Tenant, Actor: desk.HostActor}, nil, q.about.Load())
	if ledger.IsNotFound(err) {
		return nil // it was deleted meanwhile
	}
	return err
}

// secretsOf returns the secrets that a Webhook has.
func secretsOf(w *abi.WebhookEndpoint) (ids []string) {
	for _, s := range w.Secrets {
		ids = append(ids, s.ID)
	}
	if len(w.Headers) > 0 {
		ids = append(ids, sealed.HeadersID(w.ID))
	}
	return ids
}

// forget removes secrets that no Webhook names any more.
func (o *Outbox) forget(ctx context.Context, c *desk.Caller, webhook string, ids []string) error {
	res, err := o.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectWebhook, webhook)
	if err != nil {
		return err
	}
	var about abi.WebhookEndpoint
	if err := ledger.Decode(res.State, &about); err != nil {
		return err
	}
	records := o.discard(ctx, c.Tenant, ids)
	if len(records) == 0 {
		return nil
	}
	_, err = o.parts.Desk.Commit(c, "", about.WorkspaceID, nil, 0, records...)
	return err
}

// TryWebhook sends a Webhook a delivery that tells of nothing, and says what has become of it.
// It counts for nothing.
func (o *Outbox) TryWebhook(ctx context.Context, c *desk.Caller, id string) (abi.WebhookTrial, error) {
	q, err := o.find(c, id)
	if err != nil {
		return abi.WebhookTrial{}, err
	}
	about, begun := q.about.Load(), o.parts.Now()
	leave, err := o.lanes.of(true).Enter(ctx, c.TenantID)
	if err != nil {
		return abi.WebhookTrial{}, err
	}
	defer leave()
	out := o.post(q, about, o.parts.IDs.New(abi.ObjectWebhookDelivery), Message{Body: trial(about, begun)})
	if out.broken {
		return abi.WebhookTrial{}, abi.Errorf(abi.CodeServiceUnavailable, "%v", errors.New("the node is draining"))
	}
	return abi.WebhookTrial{WebhookID: id, Taken: out.taken, HTTPStatus: out.status, Failure: out.failure,
		DurationMs: o.parts.Now().Sub(begun).Milliseconds()}, nil
}

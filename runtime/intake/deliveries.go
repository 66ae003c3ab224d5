package intake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/backlog"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Incoming is a delivery as it came in. Nothing of it is kept when the call returns.
type Incoming struct {
	Method string
	Header IncomingHeader
	Body   []byte
}

// IncomingHeader is the header of a delivery.
type IncomingHeader interface {
	connector.Header
	// All yields names and values, in any order and any case.
	All() iter.Seq2[[]byte, []byte]
}

// DeliveryStatus says what became of a delivery that was taken.
type DeliveryStatus string

// The statuses of deliveries.
const (
	// DeliveryAccepted is on disk, and will have its effect once.
	DeliveryAccepted DeliveryStatus = "accepted"
	// DeliveryDeduped has been taken before.
	DeliveryDeduped DeliveryStatus = "deduped"
)

// Received is the answer to a delivery.
type Received struct {
	Status     DeliveryStatus
	ID         string // of the Delivery; "" when it was taken before
	DeliveryID string
	// Answer is for a provider that has asked something and delivered nothing; nil for every
	// delivery.
	Answer *connector.Answer
}

// ReceiveHook takes what comes in on the public path with the given token. The
// signature is checked before anything else is done with it.
func (i *Intake) ReceiveHook(ctx context.Context, token string, in *Incoming) (Received, error) {
	s, err := i.openHook(token)
	if err != nil {
		return Received{}, err
	}
	if in.Method == http.MethodOptions {
		answer, ok := s.provider.Challenge(in.Method, in.Header, nil)
		if !ok {
			return Received{}, abi.Errorf(abi.CodeResourceNotFound, "there is nothing here")
		}
		return Received{Answer: &answer}, nil
	}
	v, signed, err := i.checkSignature(ctx, s, in)
	if err != nil {
		return Received{}, err
	}
	if answer, ok := s.provider.Challenge(in.Method, in.Header, in.Body); ok {
		return Received{Answer: &answer}, nil
	}
	if i.parts.Draining() {
		return Received{}, errDraining()
	}
	return i.receiveSigned(ctx, s, v, signed, in)
}

// HookTenant returns the id of the tenant whose Connector has the public path with the given
// token. When no such Connector is open it returns an error: then nothing that comes in on the
// path need be read.
func (i *Intake) HookTenant(token string) (string, error) {
	s, err := i.openHook(token)
	if err != nil {
		return "", err
	}
	return i.parts.Tenants.IDOf(s.key.Tenant), nil
}

// openHook returns the Connector whose public path has the given token.
func (i *Intake) openHook(token string) (*inlet, error) {
	s := i.inlets.hooked(token)
	if s == nil || !hookOpen(s.about.Load()) {
		return nil, abi.Errorf(abi.CodeResourceNotFound, "there is nothing here")
	}
	return s, nil
}

// hookOpen reports whether a Connector's public path is.
func hookOpen(c *abi.Connector) bool {
	return c.Webhook != nil && c.Webhook.Enabled && c.Status != abi.ConnectorDisabled
}

// checkSignature returns what has checked a delivery's signature, and what that covers.
func (i *Intake) checkSignature(ctx context.Context, s *inlet, in *Incoming) (*signature.Verifier, signature.Signed, error) {
	v, err := i.verifier(ctx, s)
	if err != nil {
		i.parts.Log.Warn("signatures of a connector cannot be checked", "connector", s.key.ID, "error", err)
		down := abi.Errorf(abi.CodeServiceUnavailable, "signatures cannot be checked now")
		down.RetryAfter = 60
		return nil, signature.Signed{}, down
	}
	signed, err := v.Verify(in.Header, in.Body, i.parts.Now())
	if err == nil {
		return v, signed, nil
	}
	s.tally.rejected.Add(1)
	refused, ok := errors.AsType[*signature.Error](err)
	if !ok {
		return nil, signed, err
	}
	return nil, signed, abi.Errorf(abi.CodeUnauthenticated, "%s", refused.Error())
}

// ReceiveDelivery takes a delivery from a caller that may write Connectors. It needs no signature.
func (i *Intake) ReceiveDelivery(ctx context.Context, c *desk.Caller, id string, in *Incoming) (Received, error) {
	s, err := i.inlet(c, id)
	if err != nil {
		return Received{}, err
	}
	if s.about.Load().Status == abi.ConnectorDisabled {
		return Received{}, abi.Errorf(abi.CodeConflict, "connector %s is %s and takes no deliveries", id, abi.ConnectorDisabled)
	}
	if i.parts.Draining() {
		return Received{}, errDraining()
	}
	key, _ := deliveryID(s.about.Load(), &s.provider, in)
	return i.receiveAs(ctx, s, key, in)
}

func errDraining() error {
	down := abi.Errorf(abi.CodeServiceUnavailable, "the node is draining and takes no deliveries")
	down.RetryAfter = 5
	return down
}

// receiveAs takes a delivery under an id that tells it from all others, at most once
// within the Connector's window. When it returns, the delivery is on disk.
func (i *Intake) receiveAs(ctx context.Context, s *inlet, id string, in *Incoming) (Received, error) {
	key := deliveryKey(s.about.Load().ID, id)
	release, err := i.deliveries.Claim(ctx, ledger.ClaimKey{Tenant: s.key.Tenant, Key: key.whole()})
	if err != nil {
		return Received{}, i.parts.Ledger.Failed("waiting for the same delivery", err)
	}
	defer release()
	got := Received{DeliveryID: id}
	if err := i.receiveOnce(ctx, s, &got, key.key, i.parts.Now(), in); err != nil {
		return Received{}, err
	}
	return got, nil
}

// receiveOnce takes a delivery, unless it has been taken under its key, or one of the former
// keys that it may have been taken under. The caller has the claim of what the key is made from.
func (i *Intake) receiveOnce(ctx context.Context, s *inlet, got *Received, key storage.DeliveryKey, now time.Time, in *Incoming, former ...storage.DeliveryKey) error {
	unseen := make([]storage.Expectation, 0, 2)
	for _, k := range append(former, key) {
		if seen, err := i.seen(ctx, s, got, k, now); seen || err != nil {
			return err
		}
		unseen = append(unseen, storage.Expectation{Kind: storage.ExpectUnseen, Delivery: k, Time: now.Add(-i.window(s.about.Load()))})
	}
	got.Status = DeliveryAccepted
	err := i.takeIn(s, now, got, key, in, unseen)
	if ledger.Overtaken(err) { // by a writer that does not share the claims
		got.Status, got.ID = DeliveryDeduped, ""
		i.repeated(s, got.DeliveryID, now)
		return nil
	}
	return err
}

// seen reports whether a delivery was taken under a key within the Connector's window,
// and counts it as repeated then.
func (i *Intake) seen(ctx context.Context, s *inlet, got *Received, key storage.DeliveryKey, now time.Time) (bool, error) {
	_, seen, err := i.parts.Store.Seen(ctx, s.key.Tenant, key, now.Add(-i.window(s.about.Load())))
	if err != nil {
		return false, i.parts.Ledger.Failed("looking for the delivery", err)
	}
	if seen {
		got.Status = DeliveryDeduped
		i.repeated(s, got.DeliveryID, now)
	}
	return seen, nil
}

// window is how long a Connector's deliveries are remembered.
func (i *Intake) window(c *abi.Connector) time.Duration {
	if d := c.DedupePolicy; d != nil && d.WindowSeconds > 0 {
		return time.Duration(d.WindowSeconds) * time.Second
	}
	return min(defaultWindow, i.parts.Config.Window)
}

const defaultWindow = 7 * 24 * time.Hour

// takeIn puts a delivery on disk, if what is expected holds then.
func (i *Intake) takeIn(s *inlet, now time.Time, got *Received, key storage.DeliveryKey, in *Incoming, expect []storage.Expectation) error {
	if !i.addPending(s, 1) {
		i.addPending(s, -1)
		i.inlets.counts.full.Add(1)
		full := abi.Errorf(abi.CodeRateLimited, "too many deliveries are waiting to be handled; send it again later")
		full.RetryAfter = 5
		return full
	}
	about := s.about.Load()
	got.ID = i.parts.IDs.New(abi.ObjectDelivery)
	payload := i.appendDelivery(make([]byte, 0, len(in.Body)+len(in.Body)/8+768), got, about, now, in)
	b := deliveryFrame(s, about, now, storage.Record{
		Kind: abi.EventConnectorDeliveryReceived, Resource: abi.ResourcePointer{Object: abi.ObjectDelivery, ID: got.ID},
		Restricted: true, Payload: payload,
		Intake: storage.IntakeOp{Kind: storage.IntakeReceive, Connector: about.ID, Delivery: key},
	})
	b.Expect = expect
	commit, err := i.hand(s, b, arrival{id: got.ID, text: payload, at: now})
	if err == nil {
		// Not the request's context: what was handed over may become durable.
		_, err = commit.Wait(context.Background())
	}
	if err != nil {
		i.addPending(s, -1)
	}
	i.normalizeSoon(s) // also what left nothing has a place among those that wait
	return i.parts.Ledger.Failed("writing the delivery to the log", err)
}

func deliveryFrame(s *inlet, about *abi.Connector, now time.Time, records ...storage.Record) *storage.Batch {
	return &storage.Batch{Frame: storage.Frame{
		Tenant: s.key.Tenant, Time: now, WorkspaceID: about.WorkspaceID, Actor: about.ID, Records: records,
	}}
}

// hand hands over a batch that makes a delivery pending, and remembers the delivery
// for whoever normalizes it, unless too many are remembered: then they are read from
// the log.
func (i *Intake) hand(s *inlet, b *storage.Batch, a arrival) (storage.Commit, error) {
	s.order.Lock()
	defer s.order.Unlock()
	room := s.state.Remembers() && i.roomFor(len(a.text))
	effect, err := s.step(backlog.Input{Kind: backlog.Arrive, Room: room})
	if err != nil {
		return nil, abi.NotFound(abi.ObjectConnector, s.key.ID)
	}
	a.commit = i.parts.Ledger.Append(b)
	if effect == backlog.Skip {
		s.skipped = a.commit
		return a.commit, nil
	}
	s.inbox, s.bytes = append(s.inbox, a), s.bytes+len(a.text)
	return a.commit, nil
}

// roomFor reports whether the inboxes take a delivery of so many bytes, and counts them
// if so.
func (i *Intake) roomFor(size int) bool {
	if i.bytes.Add(int64(size)) <= i.parts.Config.InboxBytes {
		return true
	}
	i.bytes.Add(-int64(size))
	return false
}

// reread makes a Connector's deliveries be read from the log: some became pending in a
// batch that was not handed over by hand. They are durable. n of them are not counted yet.
func (i *Intake) reread(s *inlet, n int) {
	i.addPending(s, int64(n))
	s.order.Lock()
	if effect, err := s.step(backlog.Input{Kind: backlog.Reread}); err == nil && effect == backlog.Forget {
		i.forget(s)
	}
	s.order.Unlock()
	i.normalizeSoon(s)
}

// forget empties a Connector's inbox: what was in it is in the log. The caller holds
// s.hand.
func (i *Intake) forget(s *inlet) {
	if last := len(s.inbox) - 1; last >= 0 && s.skipped == nil {
		s.skipped = s.inbox[last].commit
	}
	i.bytes.Add(-int64(s.bytes))
	s.inbox, s.bytes = nil, 0
}

// tellEvery is how often repeated deliveries are told of at most: whoever repeats
// them decides how many there are.
const tellEvery = time.Second

// repeated counts a delivery that came again, and tells of it now and then.
func (i *Intake) repeated(s *inlet, deliveryID string, now time.Time) {
	n := s.tally.deduped.Add(1)
	s.order.Lock()
	defer s.order.Unlock()
	if now.Sub(s.dedupedAt) < tellEvery && !now.Before(s.dedupedAt) || s.gone() {
		return
	}
	s.dedupedAt = now
	about := s.about.Load()
	payload := jsonw.String(append(make([]byte, 0, 128), `{"delivery_id":`...), deliveryID)
	payload = strconv.AppendUint(append(payload, `,"deduped":`...), n, 10)
	i.tellCounts(s, about, now, append(payload, '}'))
}

// tellCounts writes down what a Connector has counted. The caller holds s.order.
func (i *Intake) tellCounts(s *inlet, about *abi.Connector, now time.Time, payload []byte) {
	b := deliveryFrame(s, about, now, storage.Record{
		Kind: abi.EventConnectorDeliveryDeduped, Resource: abi.ResourcePointer{Object: abi.ObjectConnector, ID: about.ID}, Sequence: s.seq,
		Hint: true, Payload: payload, Intake: storage.IntakeOp{Kind: storage.IntakeTally, Connector: about.ID, Tally: s.tally.text()},
	})
	b.Expect = ledger.Expected(ledger.Record{Object: abi.ObjectConnector, ID: about.ID, Sequence: s.seq})
	i.parts.Ledger.Append(b)
	s.seq++
}

// keptKey is the key under which a delivery is remembered.
type keptKey struct{ key storage.DeliveryKey }

// whole returns the key as the table of those in flight takes it.
func (k keptKey) whole() (whole storage.Key) {
	copy(whole[:], k.key[:])
	return whole
}

func deliveryKey(connectorID, deliveryID string) (k keptKey) {
	buf := make([]byte, 0, 320)
	buf = binary.BigEndian.AppendUint64(buf, uint64(len(connectorID)))
	buf = append(append(buf, connectorID...), deliveryID...)
	sum := sha256.Sum256(buf)
	copy(k.key[:], sum[:])
	return k
}

// deliveryID returns what tells a delivery from others: what the Connector's own header
// says, else what the provider says, else a hash of the body. from is the header that
// it stands in, "" when it is the body that says it.
func deliveryID(c *abi.Connector, p *connector.Provider, in *Incoming) (id, from string) {
	if d := c.DedupePolicy; d != nil && d.Header != "" {
		if id := in.Header.Get(d.Header); len(id) > 0 && len(id) <= connector.MaxDeliveryID && utf8.Valid(id) {
			return string(id), d.Header
		}
	} else if id, from := p.DeliveryID(in.Header, in.Body); id != "" {
		return id, from
	}
	sum := sha256.Sum256(in.Body)
	return "sha256:" + hex.EncodeToString(sum[:]), ""
}

// deliveryMark is where in a payload a Delivery begins. It is a part of no string: the
// quotes in those are escaped.
const deliveryMark = `"delivery":{"type":"delivery","visibility":"internal",`

// appendDelivery writes the payload of the event that tells of a delivery. The delivery
// is internal.
func (i *Intake) appendDelivery(b []byte, got *Received, c *abi.Connector, now time.Time, in *Incoming) []byte {
	b = jsonw.String(append(b, `{"connector_id":`...), c.ID)
	b = jsonw.String(append(b, `,"delivery_id":`...), got.DeliveryID)
	b = append(append(b, ','), deliveryMark...)
	b = jsonw.String(append(b, `"id":`...), got.ID)
	b = append(b, `,"object":"delivery","created_at":"`...)
	from := len(b)
	b = abi.At(now).AppendFormat(b, time.RFC3339Nano)
	at := b[from:]
	b = append(append(b, `","updated_at":"`...), at...)
	b = jsonw.String(append(b, `","metadata":{},"connector_id":`...), c.ID)
	b = jsonw.String(append(b, `,"workspace_id":`...), c.WorkspaceID)
	b = jsonw.String(append(b, `,"delivery_id":`...), got.DeliveryID)
	b = i.appendHeader(append(b, `,"header":{`...), in.Header)
	b = append(b, '}')
	switch {
	case len(in.Body) == 0:
	case utf8.Valid(in.Body):
		b = jsonw.UTF8(append(b, `,"text":`...), in.Body)
	default:
		b = base64.StdEncoding.AppendEncode(append(b, `,"body":"`...), in.Body)
		b = append(b, '"')
	}
	return append(b, '}', '}')
}

// maxHeaders bounds the headers of a delivery that are kept.
const maxHeaders = 64

// headerNames is what is remembered of a header while it is written down: the names so
// far, in lower case.
type headerNames struct {
	text  []byte
	names [][]byte
}

// appendHeader writes those headers that say something about the delivery, with names
// in lower case. Of several of one name the first is kept.
func (i *Intake) appendHeader(b []byte, h IncomingHeader) []byte {
	seen, _ := i.header.Get().(*headerNames)
	if seen == nil {
		seen = &headerNames{}
	}
	defer i.header.Put(seen)
	seen.text, seen.names = seen.text[:0], seen.names[:0]
	for name, value := range h.All() {
		at := len(seen.text)
		seen.text = appendLower(seen.text, name)
		lower := seen.text[at:]
		if len(seen.names) == maxHeaders || !telling(lower) || containsName(seen.names, lower) {
			continue
		}
		if seen.names = append(seen.names, lower); len(seen.names) > 1 {
			b = append(b, ',')
		}
		b = jsonw.String(append(jsonw.String(b, lower), ':'), value)
	}
	return b
}

func appendLower(b, name []byte) []byte {
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

func containsName(names [][]byte, name []byte) bool {
	for _, n := range names {
		if bytes.Equal(n, name) {
			return true
		}
	}
	return false
}

// telling reports whether a header says something about a delivery, and is neither a
// credential nor about the connection.
func telling(lower []byte) bool {
	switch string(lower) {
	case "host", "connection", "content-length", "accept", "accept-encoding", "accept-language", "transfer-encoding", "te", "trailer",
		"upgrade", "expect", "keep-alive", "authorization", "proxy-authorization", "cookie", "forwarded", "idempotency-key",
		"x-api-key", "api-key", "x-auth", "webhook-signature", "stripe-signature":
		return false
	}
	for _, part := range [...]string{"token", "secret", "signature", "password", "credential", "apikey", "api-key", "x-forwarded-"} {
		if bytes.Contains(lower, []byte(part)) {
			return false
		}
	}
	return true
}

// appendDeliveryText appends the Delivery that the payload of an event holds, as
// plugins are told it.
func appendDeliveryText(b, payload []byte) ([]byte, bool) {
	at := bytes.Index(payload, []byte(deliveryMark))
	if at < 0 {
		return b, false
	}
	inner := payload[at+len(deliveryMark)-1:]
	if len(inner) < 2 {
		return b, false
	}
	return append(append(b, '{'), inner[1:len(inner)-1]...), true
}

// deliveryText returns the Delivery that the payload of an event holds.
func deliveryText(payload []byte) ([]byte, bool) {
	return appendDeliveryText(make([]byte, 0, len(payload)), payload)
}

// statedDelivery returns the Delivery as an event states it: it is internal.
func statedDelivery(text []byte) jsontext.Value {
	const mark = `{"type":"delivery","visibility":"internal",`
	return append(append(make([]byte, 0, len(mark)+len(text)), mark...), text[1:]...)
}

// polled is a delivery that a poll has found, or a tick, as one that came in.
type polled struct{ header map[string]string }

// Get implements [connector.Header].
func (p polled) Get(name string) []byte {
	for key, value := range p.header {
		if strings.EqualFold(key, name) {
			return []byte(value)
		}
	}
	return nil
}

// All implements [IncomingHeader].
func (p polled) All() iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for name, value := range p.header {
			if !yield([]byte(name), []byte(value)) {
				return
			}
		}
	}
}

// receivePolled takes a delivery that the node itself has found or made, such as the
// tick of a schedule, under the id it gives it.
func (i *Intake) receivePolled(ctx context.Context, s *inlet, d *abi.PolledDelivery) (Received, error) {
	in := &Incoming{Method: http.MethodPost, Header: polled{d.Header}, Body: d.Body}
	if d.Text != "" {
		in.Body = []byte(d.Text)
	}
	return i.receiveAs(ctx, s, d.ID, in)
}

package gateway

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/inhand"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// Media types that the gateway answers with.
const (
	MediaJSON        = "application/json"
	MediaEventStream = "text/event-stream"
)

// Request is one request on its way through a [Handler]. It belongs to the
// goroutine that serves it and must not be used after the handler has returned.
type Request struct {
	HTTP   *fasthttp.RequestCtx
	Route  *Route
	ID     string       // the request_id
	Caller *desk.Caller // nil on public routes
	// Call is what the protocol's client calls this request by, such as the id of JSON-RPC, once the
	// handler has read it. An error that answers the request has it in its [Refused].
	Call []byte

	server   *Server
	incoming incoming
	held     int64 // bytes taken from the server's budget
	hookOf   string
	body     []byte
	read     bool // body holds the whole body

	context requestContext
	hand    *inhand.Hand // nil while nothing large was read
	placed  time.Time    // since when it has a place of long work; zero for none
	done    bool         // the handler has returned
	entry   *entry       // of the access log; nil for none
	refusal *abi.Error   // what it was answered with; nil for none
	spooled []*Multipart // whose files lie on the disk
}

// documentCopies is how often a large document is held while it is answered with: as it
// was read, as clients see it, and as a part of the answer.
const documentCopies = 3

// requestContext is a request's context: large values that are read with it are in the
// request's hand.
type requestContext struct {
	context.Context
	request *Request
}

// Value implements context.Context.
func (c *requestContext) Value(key any) any {
	switch key {
	case inhand.Key{}:
		return c.request
	case turns.PlacedKey{}:
		return !c.request.placed.IsZero()
	}
	return c.Context.Value(key)
}

// Context ends when the server gives up on running requests. It does not end
// when the client leaves: see [Request.Gone].
func (r *Request) Context() context.Context {
	if r.context.Context == nil {
		r.context = requestContext{r.server.ctx, r}
	}
	return &r.context
}

// Hold takes what is read with the request's context into its hand.
func (r *Request) Hold(ctx context.Context, bytes int64) error {
	if bytes <= inhand.Small || r.done {
		return nil
	}
	if err := r.largeHand().Hold(ctx, bytes); err != nil {
		return err
	}
	if r.Route.Method != fasthttp.MethodGet { // it may hold a lock
		return nil
	}
	return r.place(ctx)
}

// longTurn is after how long a request hands its place on before it reads more.
const longTurn = 10 * time.Millisecond

// place waits for a place of long work: reading what is large, and showing it, takes long.
func (r *Request) place(ctx context.Context) error {
	if !r.placed.IsZero() && time.Since(r.placed) < longTurn {
		return nil
	}
	r.unplace()
	if err := r.server.cfg.Turns.Enter(turns.For(ctx, r.number())); err != nil {
		return err
	}
	r.placed = time.Now()
	return nil
}

// unplace gives the place back, if the request has one.
func (r *Request) unplace() {
	if !r.placed.IsZero() {
		r.placed = time.Time{}
		r.server.cfg.Turns.Leave()
	}
}

// Long does long work on a document of that size, in a place if it is large.
func (r *Request) Long(size int, work func() error) error {
	return r.server.cfg.Turns.DoFor(r.Context(), r.number(), size, work)
}

// largeHand returns the request's hand. A request that changes something does not wait
// for it: it may hold locks by the time it reads.
func (r *Request) largeHand() *inhand.Hand {
	if r.hand == nil {
		kind := inhand.Counts
		if r.Route.Method == fasthttp.MethodGet {
			kind = inhand.Waits
		}
		r.hand = r.newHand(documentCopies, kind)
	}
	return r.hand
}

// Keep gives back what the request holds of documents that it has read, all but so many
// bytes: for one that reads the same again and again.
func (r *Request) Keep(bytes int) {
	r.unplace()
	if r.hand != nil {
		r.hand.Keep(int64(bytes))
	}
}

func (r *Request) newHand(copies int64, kind inhand.Kind) *inhand.Hand {
	h := new(inhand.Hand)
	if r.Caller != nil {
		h.Init(r.server.cfg.InHand, r.Caller.Tenant, copies, kind)
	}
	return h
}

// Live ends when the server drains, so that requests that only wait give way.
func (r *Request) Live() context.Context { return &requestContext{r.server.live, r} }

// PathValue returns the path parameter of that name, percent-decoded. A value
// that cannot be decoded is returned as it is: no resource has such a name.
func (r *Request) PathValue(name string) string {
	value, _ := r.HTTP.UserValue(name).(string)
	return unescape(value)
}

// Query returns the query parameter of that name, "" when it is absent.
func (r *Request) Query(name string) string { return string(r.HTTP.QueryArgs().Peek(name)) }

// HasQuery reports whether the query parameter is there, be it empty.
func (r *Request) HasQuery(name string) bool { return r.HTTP.QueryArgs().Has(name) }

// Header returns the request header of that name, "" when it is absent.
func (r *Request) Header(name string) string { return string(r.HTTP.Request.Header.Peek(name)) }

// SetHeader sets a header of the answer.
func (r *Request) SetHeader(name, value string) { r.HTTP.Response.Header.Set(name, value) }

// Target returns the canonical path of the request: decoded, without query.
func (r *Request) Target() string { return unescape(string(r.HTTP.URI().PathOriginal())) }

// operation returns the name of what is asked for, in metrics and in the log.
func (r *Request) operation() string { return r.Route.mount.operation(r.Route) }

// Gone reports whether the client has left. It is cheap enough to be asked about
// once a second, and may say false where the system cannot tell.
func (r *Request) Gone() bool { return gone(r.HTTP.Conn()) }

// peerCheck is how often a waiting request looks whether its client is still there.
const peerCheck = time.Second

// Await calls look until what is waited for is there, the time is over, the node drains or the client
// has left. look waits itself, as long as its context lasts, and is called at least once.
func (r *Request) Await(most time.Duration, look func(context.Context) (there bool, err error)) error {
	for left := most; ; left -= peerCheck {
		slice, cancel := context.WithTimeout(r.Live(), min(left, peerCheck))
		there, err := look(slice)
		cancel()
		if err != nil || there || left <= peerCheck || r.Live().Err() != nil || r.Gone() {
			return err
		}
	}
}

// Reporter returns a function that logs why an answer that had begun could not be
// ended. It may be used after the handler has returned.
func (r *Request) Reporter() func(error) {
	log, id, operation := r.server.log, r.ID, r.operation()
	return func(err error) {
		log.Error("answer broken off", slog.String("request_id", id), slog.String("operation", operation), slog.Any("error", err))
	}
}

// Send answers with a JSON text, which the caller must not change afterwards.
func (r *Request) Send(status int, body []byte) {
	r.HTTP.SetStatusCode(status)
	r.HTTP.SetContentType(MediaJSON)
	if len(body) <= inhand.Small {
		r.HTTP.Response.SetBodyRaw(body)
		return
	}
	h := r.largeHand()
	h.Keep(int64(len(body)))
	r.hand = nil
	r.HTTP.SetBodyStream(&heldBody{*bytes.NewReader(body), h}, len(body))
}

// heldBody is a large answer, which is in hand until the client has taken it.
type heldBody struct {
	bytes.Reader
	hand *inhand.Hand
}

// Close implements io.Closer.
func (b *heldBody) Close() error {
	b.Reset(nil)
	b.hand.End()
	return nil
}

// Retry returns the identity of a write that carries an Idempotency-Key, and nil for one
// without. Its key is for the method and the path; writes are the same whose bodies are the same JSON.
func (r *Request) Retry(body []byte) (*desk.Retry, error) {
	keys := r.HTTP.Request.Header.PeekAll("Idempotency-Key")
	if len(keys) == 0 {
		return nil, nil
	}
	if len(keys) > 1 || len(keys[0]) == 0 || len(keys[0]) > 255 {
		return nil, abi.InvalidParam("Idempotency-Key", "Idempotency-Key must be given once and have 1 to 255 characters")
	}
	retry := &desk.Retry{Key: string(keys[0]), Scope: r.Route.Method + " " + r.Route.mount.canonical(r.Target())}
	err := r.Long(len(body), func() error { retry.Fingerprint = ledger.CanonicalHash(body); return nil })
	return retry, err
}

// BaseURL returns how clients reach this node: the configured public URL, else the
// address that the request came in on. Nothing in the request decides it: everybody
// can write a Host header, and what follows from the URL is signed, and says where
// secrets are sent.
func (r *Request) BaseURL() string {
	if r.server.cfg.PublicURL != "" {
		return strings.TrimSuffix(r.server.cfg.PublicURL, "/")
	}
	at := url.URL{Scheme: "http", Host: r.HTTP.LocalAddr().String()}
	if r.server.cfg.TLS != nil {
		at.Scheme = "https"
	}
	return at.String()
}

func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	if decoded, err := url.PathUnescape(s); err == nil {
		return decoded
	}
	return s
}

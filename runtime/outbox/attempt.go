package outbox

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/storage"
)

// maxAnswer is how much of an answer is read, so that its connection can be used again. Nothing
// in it counts.
const maxAnswer = 64 << 10

// guarded returns what makes requests, and connects to no address that is not public.
func guarded(c *Config) http.RoundTripper {
	return web.Transport(web.Reach{Private: c.Private, PerHost: c.Parallel})
}

// format returns how a Webhook's deliveries are written: as harn has them, if the adapter that
// has brought the format is no longer there.
func (o *Outbox) format(w *abi.WebhookEndpoint) *Format {
	f, ok := o.formats[w.Format]
	if !ok {
		f = o.formats[formatHarn]
	}
	return &f
}

// attempt sends a delivery once. A retry waits while the disk is nearly full: what becomes of it is written down each
// time. What happens now is told at once, also to hooks, which Tasks wait for.
func (o *Outbox) attempt(q *queue, j *job) {
	if j.retry != nil && o.parts.Room(o.base) != nil {
		j.broken = true
		return
	}
	leave, err := o.lanes.of(j.doubtful).Enter(o.late, strconv.FormatUint(uint64(q.key.Tenant), 10))
	if err != nil {
		j.broken = true
		return
	}
	defer leave()
	m, err := o.write(q, j)
	if err != nil {
		j.outcome = o.unsent(err)
		return
	}
	if m.Skip {
		j.taken, j.skipped = true, true
		return
	}
	j.outcome = o.post(q, j.about, j.id, m)
	j.last = m.Last
}

// write writes what is sent.
func (o *Outbox) write(q *queue, j *job) (Message, error) {
	ctx := o.reads.in(o.late, q.key)
	ev, err := o.parts.Store.Event(ctx, q.key.Tenant, j.at)
	if err != nil {
		return Message{}, err
	}
	n := &Notice{ID: j.id, Webhook: j.about, EventID: j.at.String(), Kind: j.kind, At: j.time, Event: jsontext.Value(o.parts.Show(ev)), Get: o.getFor(q.key.Tenant, ev.Frame.WorkspaceID), Logged: ev,
		Log: func(at desk.Position) (desk.Event, error) { return o.parts.Store.Event(ctx, q.key.Tenant, at) }}
	m, err := o.format(j.about).Write(ctx, n)
	if err != nil {
		err = &formatError{err}
	}
	return m, err
}

// getFor returns what reads resources of a Workspace as the public may see them.
func (o *Outbox) getFor(t storage.Tenant, workspace string) func(context.Context, abi.Object, string) (jsontext.Value, error) {
	return func(ctx context.Context, of abi.Object, id string) (jsontext.Value, error) {
		doc, err := o.parts.Desk.Get(ctx, &desk.Caller{Tenant: t, Workspaces: []string{workspace}}, of, id)
		if err != nil || !doc.Restricted {
			return doc.JSON, err
		}
		return redact.Document(doc.JSON, false)
	}
}

// formatError says that an event cannot be written as a format has it.
type formatError struct{ error }

// unsent says why an event could not be written.
func (o *Outbox) unsent(err error) outcome {
	fail := func(code, text string, final bool) outcome {
		return outcome{final: final, failure: &abi.Failure{Code: code, Message: text}}
	}
	if format, ok := errors.AsType[*formatError](err); ok {
		return fail(abi.WebhookUnreadable, format.Error(), true)
	}
	switch {
	case o.late.Err() != nil, errors.Is(err, storage.ErrClosed), errors.Is(err, storage.ErrFailed):
		return outcome{broken: true}
	case errors.Is(err, storage.ErrCursorExpired), errors.Is(err, storage.ErrNotFound):
		return fail(abi.WebhookExpired, "retention has removed the event", true)
	case errors.Is(err, storage.ErrDamaged), ledger.IsUnreadable(err):
		return fail(abi.WebhookUnreadable, "the event cannot be read", true)
	}
	return fail(abi.WebhookUnreadable, "the event cannot be read now", false)
}

// post makes a request.
func (o *Outbox) post(q *queue, w *abi.WebhookEndpoint, id string, m Message) outcome {
	ctx, cancel := context.WithTimeout(o.late, o.parts.Config.Timeout)
	defer cancel()
	if w.Hook != nil && w.Hook.Command != "" {
		return o.told(ctx, q, w, id, m)
	}
	req, failed := o.request(ctx, q, w, id, m)
	if failed != nil {
		return outcome{failure: failed}
	}
	resp, err := o.parts.Send.RoundTrip(req)
	if err != nil {
		return o.unanswered(ctx, err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // the status has said it all
	return judge(resp, o.parts.Now())
}

// judge says what an answer means.
func judge(resp *http.Response, now time.Time) outcome {
	out := outcome{status: resp.StatusCode}
	fail := func(code, text string) outcome {
		out.failure = &abi.Failure{Code: code, Message: text}
		return out
	}
	switch status := resp.StatusCode; {
	case status >= 200 && status < 300:
		out.taken = true
		return out
	case status >= 300 && status < 400:
		return fail(abi.WebhookRedirected, fmt.Sprintf("the receiver has answered with %d, and redirects are not followed", status))
	case status == http.StatusGone:
		out.gone, out.final = true, true
		return fail(abi.WebhookGone, "the receiver has answered with 410")
	default:
		out.asked = askedWait(status, resp.Header.Get("Retry-After"), now)
		return fail(abi.WebhookStatusFailure, fmt.Sprintf("the receiver has answered with %d", status))
	}
}

// unanswered says why a request got no answer, without an address.
func (o *Outbox) unanswered(ctx context.Context, err error) outcome {
	code, text := abi.WebhookUnreachable, web.Reason(err)
	switch denied := web.Denied(err); {
	case denied != "":
		code, text = abi.WebhookDenied, denied
	case o.late.Err() != nil:
		return outcome{broken: true}
	case errors.Is(ctx.Err(), context.DeadlineExceeded), web.TimedOut(err):
		code, text = abi.WebhookTimeout, "the receiver has not answered within "+o.parts.Config.Timeout.String()
	}
	return outcome{failure: &abi.Failure{Code: code, Message: strings.ToValidUTF8(text, "\uFFFD")}}
}

// sign puts into a request what says from whom it is. Several secrets that are valid at a time
// sign side by side; the header of the Webhook's own has room for the newest.
func (k *keys) sign(req *http.Request, w *abi.WebhookEndpoint, id string, m Message, now time.Time) error {
	for name, value := range k.header {
		req.Header.Set(name, value)
	}
	for name, value := range m.Header {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", orJSON(m.ContentType))
	var signatures []string
	for _, s := range k.secrets {
		if s.over(now) {
			continue
		}
		signed, err := signature.Sign(abi.WebhookAuth{Scheme: abi.SchemeStandard}, s.value, id, m.Body, now)
		if err != nil {
			return err
		}
		if len(signatures) == 0 && w.Signature != nil {
			req.Header.Set(w.Signature.Header, w.Signature.Prefix+hmacHex(s.value, m.Body))
		}
		signatures = append(signatures, signed["webhook-signature"])
	}
	if len(signatures) == 0 {
		return errors.New("no secret is valid")
	}
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("webhook-signature", strings.Join(signatures, " "))
	return nil
}

func orJSON(contentType string) string {
	if contentType == "" {
		return "application/json"
	}
	return contentType
}

// trial is the body of a delivery that tries a Webhook out.
func trial(w *abi.WebhookEndpoint, now time.Time) []byte {
	return fmt.Appendf(nil, `{"object":"webhook_trial","webhook_id":%q,"created_at":%q}`, w.ID, now.UTC().Format(time.RFC3339Nano))
}

// hmacHex returns the HMAC-SHA256 of a body in hex. The key is the secret as it was shown.
func hmacHex(secret, body []byte) string { return hex.EncodeToString(hmacOf(secret, body)) }

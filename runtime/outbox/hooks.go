package outbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider/program"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage"
)

// A hook is a Webhook with terms of its own. What callers ask about Webhooks does not show it; the
// functions of this file are for the room that serves hooks.

// MaxHooks is how many hooks a Workspace has at most.
const MaxHooks = 100

// MaxHookAnswer is how much a hook may answer, in bytes.
const MaxHookAnswer = 1 << 20

// ErrHookGone says that a hook was deleted while it was asked.
var ErrHookGone = errors.New("the hook was deleted")

// KeepHook makes a Webhook that is a hook, and returns it with its secret. about lacks what the
// outbox itself says of a Webhook.
func (o *Outbox) KeepHook(ctx context.Context, c *desk.Caller, r *desk.Retry, about *abi.WebhookEndpoint, secret string) (*abi.WebhookEndpoint, string, error) {
	if o.parts.Values == nil {
		return nil, "", errNoValues
	}
	about.Signature = signatureOf(about.Signature)
	if err := cmp.Or(o.parts.Desk.CheckWorkspace(ctx, c, about.WorkspaceID), desk.CheckMetadata(&about.Metadata), o.check(about), checkSecret(secret)); err != nil {
		return nil, "", err
	}
	about.Envelope = abi.NewEnvelope(abi.ObjectWebhook, o.parts.IDs.New(abi.ObjectWebhook), o.parts.Now(), about.Metadata)
	r, err := sealed.Blind(ctx, o.parts.Values, r)
	if err != nil {
		return nil, "", err
	}
	doc, err := o.parts.Desk.Once(ctx, c, r, about.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		unlock := o.parts.Ledger.Lock(c.Tenant, "hooks of "+about.WorkspaceID) // two that are made at once come one after the other
		defer unlock()
		if n := len(o.HooksOf(c.Tenant, about.WorkspaceID)); n >= MaxHooks {
			return desk.Doc{}, abi.Errorf(abi.CodeConflict, "there are %d hooks; a workspace has at most %d", n, MaxHooks)
		}
		return o.create(ctx, c, idem, about, &abi.CreateWebhookRequest{Secret: secret})
	})
	made := &abi.WebhookEndpoint{}
	if err == nil {
		err = ledger.Decode(doc.JSON, made)
	}
	if err != nil || len(made.Secrets) == 0 {
		return made, "", err
	}
	value, _ := o.values.Open(ctx, c.Tenant, made.Secrets[0].ID) // another may have taken its place since
	return made, string(value), nil
}

// HookAt returns a hook that the caller may see.
func (o *Outbox) HookAt(c *desk.Caller, id string) (*abi.WebhookEndpoint, error) {
	q, err := o.findHook(c, id)
	if err != nil {
		return nil, err
	}
	return q.about.Load(), nil
}

func (o *Outbox) findHook(c *desk.Caller, id string) (*queue, error) {
	q := o.queues.get(ledger.Key{Tenant: c.Tenant, ID: id})
	if q == nil || q.about.Load().Hook == nil || !c.Sees(q.about.Load().WorkspaceID) {
		return nil, noHook(id)
	}
	return q, nil
}

// HostOf leaves of an address the host.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}

func noHook(id string) error {
	return abi.Errorf(abi.CodeResourceNotFound, "no hook %q is visible to this caller", id)
}

// HooksOf returns the hooks of a Workspace in the order in which they were made. They are not to be
// changed.
func (o *Outbox) HooksOf(t storage.Tenant, workspace string) []*abi.WebhookEndpoint {
	var all []*abi.WebhookEndpoint
	for _, q := range o.queues.hooksOf(ledger.Key{Tenant: t, ID: workspace}) {
		all = append(all, q.about.Load())
	}
	slices.SortFunc(all, func(a, b *abi.WebhookEndpoint) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// ChangeHook changes a hook. change gets a copy.
func (o *Outbox) ChangeHook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, change func(*abi.WebhookEndpoint) error) (*abi.WebhookEndpoint, error) {
	q, err := o.findHook(c, id)
	if err != nil {
		return nil, err
	}
	doc, err := o.rewriteAt(ctx, c, r, q, func(next *abi.WebhookEndpoint) ([]ledger.Record, error) {
		return nil, cmp.Or(change(next), desk.CheckMetadata(&next.Metadata), o.check(next))
	})
	changed := &abi.WebhookEndpoint{}
	if err == nil {
		err = ledger.Decode(doc.JSON, changed)
	}
	return changed, err
}

// DropHook deletes a hook, with what it was still to be told.
func (o *Outbox) DropHook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error {
	about, _, err := desk.Find[abi.WebhookEndpoint](ctx, o.parts.Desk, c, abi.ObjectWebhook, id)
	if ledger.IsNotFound(err) || err == nil && about.Hook == nil {
		return noHook(id)
	}
	if err != nil {
		return err
	}
	err = o.remove(ctx, c, r, &about)
	if ledger.IsNotFound(err) {
		return noHook(id)
	}
	return err
}

// AskHook asks a hook and returns what it answers. When it gives no answer, the failure says why. An
// error says that nobody knows: the caller's own time was over, or the hook is gone.
func (o *Outbox) AskHook(ctx context.Context, t storage.Tenant, w *abi.WebhookEndpoint, id string, body []byte) ([]byte, *abi.Failure, error) {
	q := o.queues.get(ledger.Key{Tenant: t, ID: w.ID})
	if q == nil {
		return nil, nil, ErrHookGone
	}
	leave, err := o.asks.Enter(ctx, fmt.Sprint(t))
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	limit := time.Duration(w.Hook.TimeoutMS) * time.Millisecond
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(q.life, cancel)()
	answer, failed := o.ask(within, q, w, id, body)
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case failed != nil && o.queues.get(q.key) == nil:
		return nil, nil, ErrHookGone
	case failed != nil && errors.Is(within.Err(), context.DeadlineExceeded):
		failed = &abi.Failure{Code: abi.WebhookTimeout, Message: "the hook has not answered within " + limit.String()}
	}
	return answer, failed, nil
}

func (o *Outbox) ask(ctx context.Context, q *queue, w *abi.WebhookEndpoint, id string, body []byte) ([]byte, *abi.Failure) {
	if w.Hook.Command != "" {
		return o.run(ctx, q.key.Tenant, w, id, body)
	}
	req, failed := o.request(ctx, q, w, id, Message{Body: body})
	if failed != nil {
		return nil, failed
	}
	resp, err := o.parts.Send.RoundTrip(req)
	if err != nil {
		return nil, cmp.Or(o.unanswered(ctx, err).failure, &abi.Failure{Code: abi.WebhookUnreachable, Message: "the node is going down"})
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, MaxHookAnswer+1))
	switch out := judge(resp, o.parts.Now()); {
	case out.failure != nil:
		return nil, out.failure
	case err != nil:
		return nil, &abi.Failure{Code: abi.WebhookUnreachable, Message: "its answer ends early"}
	case len(answer) > MaxHookAnswer:
		return nil, &abi.Failure{Code: abi.WebhookUnreadable, Message: "its answer is too long"}
	}
	return answer, nil
}

// namesPlugin reports whether the command of a hook is a plugin that this node can run.
func (o *Outbox) namesPlugin(w *abi.WebhookEndpoint) bool {
	return o.parts.Plugins != nil && strings.HasPrefix(w.Hook.Command, abi.HookPlugin)
}

// run runs the program or the plugin that a hook names.
func (o *Outbox) run(ctx context.Context, t storage.Tenant, w *abi.WebhookEndpoint, id string, body []byte) ([]byte, *abi.Failure) {
	if o.namesPlugin(w) {
		return o.parts.Plugins.RunPlugin(ctx, t, w, id, body)
	}
	command := o.parts.Config.Commands[w.Hook.Command]
	if command == nil { // by now: the configuration has changed
		return nil, &abi.Failure{Code: abi.HookNoCommand, Message: notAllowed(w.Hook.Command).Error()}
	}
	answer, err := program.Run(ctx, command, body, MaxHookAnswer)
	if err != nil {
		return nil, &abi.Failure{Code: abi.HookFailed, Message: fmt.Sprintf("the program %q: %v", w.Hook.Command, err)}
	}
	return answer, nil
}

// told runs the program or the plugin of a hook that is told of something.
func (o *Outbox) told(ctx context.Context, q *queue, w *abi.WebhookEndpoint, id string, m Message) outcome {
	_, failed := o.run(ctx, q.key.Tenant, w, id, m.Body)
	if failed != nil && o.late.Err() != nil {
		return outcome{broken: true}
	}
	return outcome{taken: failed == nil, failure: failed}
}

// checkTarget checks where a Webhook's deliveries go.
func (o *Outbox) checkTarget(w *abi.WebhookEndpoint) error {
	switch {
	case w.Hook == nil || w.Hook.Command == "":
		return cmp.Or(desk.CheckPresent("url", w.URL), web.CheckURL(w.URL, o.parts.Config.Private))
	case w.URL != "":
		return abi.InvalidParam("handler", "a handler has a url or a command, not both")
	case !o.namesPlugin(w) && o.parts.Config.Commands[w.Hook.Command] == nil: // the room of hooks looks for the plugin
		return notAllowed(w.Hook.Command)
	}
	return nil
}

func notAllowed(command string) error {
	refused := abi.Errorf(abi.CodePolicyViolation, "the configuration of this node names no command %q: hooks run what openharness.commands has, and exports of plugins (wasm:PLUGIN#EXPORT), and nothing else", command)
	refused.Param = "handler.command"
	return refused
}

// request returns the request of a delivery, signed.
func (o *Outbox) request(ctx context.Context, q *queue, w *abi.WebhookEndpoint, id string, m Message) (*http.Request, *abi.Failure) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(m.Body))
	if err != nil {
		return nil, &abi.Failure{Code: abi.WebhookUnreachable, Message: "the URL cannot be asked"}
	}
	own, err := q.keys.of(ctx, o, q.key.Tenant, w)
	if err == nil {
		err = own.sign(req, w, id, m, o.parts.Now())
	}
	if err != nil {
		o.parts.Log.Warn("a delivery cannot be signed", "webhook", w.ID, "error", err)
		return nil, &abi.Failure{Code: abi.WebhookUnsigned, Message: "what signs deliveries cannot be read"}
	}
	req.Header.Set("User-Agent", o.parts.Agent)
	return req, nil
}

package openharness

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/openharness/mapper"
)

// formatName is the format in which Webhooks of the protocol are sent what happens.
const formatName = "openharness"

// The headers of a delivery. The one with the signature is the Webhook's own.
const (
	headerSignature = "X-OpenHarness-Signature"
	headerEvent     = "X-OpenHarness-Event"
	headerDelivery  = "X-OpenHarness-Delivery"
	headerTime      = "X-OpenHarness-Timestamp"
)

func (a *Adapter) webhookRoutes() []gateway.Route {
	const reads, writes = "webhooks:read", abi.ScopeWebhooksWrite
	return []gateway.Route{
		read("webhooks", "webhooks.list", reads, "List webhooks", a.at(a.listWebhooks)),
		post("webhooks", "webhooks.register", writes, "Register a webhook", statusCreated, a.at(a.registerWebhook)),
		remove("webhooks/{webhookId}", "webhooks.delete", writes, "Remove a webhook", a.at(a.deleteWebhook)),
	}
}

// webhook is a webhook as the protocol shows it.
type webhook struct {
	ID        string   `json:"id"`
	URL       string   `json:"url"`
	Events    []string `json:"events"`
	Secret    string   `json:"secret"` // whole in the answer that has made it, and its end in all others
	Enabled   bool     `json:"enabled"`
	CreatedAt abi.Time `json:"created_at"`
}

// webhookMark is what the adapter keeps with a Webhook of its own.
type webhookMark struct {
	Harness string   `json:"harness"`
	Events  []string `json:"events"`
}

// shownWebhook is what is read of a Webhook.
type shownWebhook struct {
	abi.WebhookEndpoint `json:",inline"`
	Secret              string `json:"secret"`
}

func markOf(w *abi.WebhookEndpoint) (mark webhookMark, ok bool) {
	return mark, w.Format == formatName && json.Unmarshal(w.Metadata, &mark) == nil && mark.Harness != ""
}

// webhookOf returns a Webhook as the protocol shows it; false for one that is not of a harness.
func webhookOf(view api.View, h *abi.Harness) (webhook, bool) {
	w, err := as[shownWebhook](view)
	if err != nil || w.WorkspaceID != h.WorkspaceID {
		return webhook{}, false
	}
	mark, ok := markOf(&w.WebhookEndpoint)
	if !ok || mark.Harness != h.Name {
		return webhook{}, false
	}
	secret := w.Secret
	if secret == "" && len(w.Secrets) > 0 {
		secret = "whsec_…" + w.Secrets[0].Hint
	}
	return webhook{w.ID, w.URL, mark.Events, secret, w.Status == abi.WebhookActive, w.CreatedAt}, true
}

type webhooksAnswer struct {
	Webhooks []webhook `json:"webhooks"`
}

func (a *Adapter) listWebhooks(r *gateway.Request, h *abi.Harness) error {
	all := []webhook{}
	for p := (api.Page{Limit: maxLimit}); ; {
		list, err := a.core.Webhooks(r.Context(), r.Caller, api.Filter{WorkspaceID: h.WorkspaceID}, p)
		if err != nil {
			return err
		}
		for _, view := range list.Views {
			if w, ok := webhookOf(view, h); ok {
				all = append(all, w)
			}
		}
		if !list.More {
			return send(r, statusOK, webhooksAnswer{all})
		}
		p.After = list.Next
	}
}

type registerWebhookRequest struct {
	URL    string   `json:"url"`
	Events []string `json:"events"`
	Secret string   `json:"secret"`
}

type webhookAnswer struct {
	Webhook webhook `json:"webhook"`
}

func (a *Adapter) registerWebhook(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[registerWebhookRequest](r)
	if err != nil {
		return err
	}
	if u, err := url.Parse(req.URL); err == nil && u.Scheme == "http" {
		return abi.InvalidParam("url", "url must be one of https: what is sent is about what your agents do")
	}
	if len(req.Events) == 0 {
		return abi.InvalidParam("events", "events has 1 or more of %s", tellings())
	}
	kinds, err := kindsOf(req.Events)
	if err != nil {
		return err
	}
	mark, err := json.Marshal(webhookMark{h.Name, req.Events}, json.Deterministic(true))
	if err != nil {
		return err
	}
	made, err := a.core.CreateWebhook(r.Context(), r.Caller, retry, abi.CreateWebhookRequest{
		WorkspaceID: h.WorkspaceID, URL: req.URL, Events: textsOf(kinds), Format: formatName, Secret: req.Secret, Metadata: mark,
		Signature: &abi.WebhookSignature{Header: headerSignature, Prefix: "sha256="}})
	if err != nil {
		return err
	}
	w, _ := webhookOf(made, h)
	return sent(r, statusCreated, made, webhookAnswer{w})
}

// textsOf returns each kind once.
func textsOf(kinds []abi.EventKind) []string {
	var all []string
	for _, k := range kinds {
		all = append(all, string(k))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (a *Adapter) deleteWebhook(r *gateway.Request, h *abi.Harness) error {
	id := r.PathValue("webhookId")
	view, err := a.core.Webhook(r.Context(), r.Caller, id)
	if err != nil {
		return err
	}
	if _, ok := webhookOf(view, h); !ok {
		return abi.NotFound(abi.ObjectWebhook, id)
	}
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeleteWebhook(r.Context(), r.Caller, retry, id); err != nil {
		return err
	}
	return empty(r)
}

// WebhookFormat is how the protocol has what is sent to webhooks. Each attempt after the first
// comes when the protocol says; after the last the delivery is given up.
func WebhookFormat() api.WebhookFormat {
	return api.WebhookFormat{Name: formatName, Write: writeDelivery,
		Delays: []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}}
}

// delivery is what a webhook is sent. What the log tells of an execution that has ended is read
// with its result.
type delivery struct {
	Event       string            `json:"event"`
	HarnessID   string            `json:"harness_id"`
	ExecutionID string            `json:"execution_id,omitzero"`
	SessionID   string            `json:"session_id,omitzero"`
	SkillID     string            `json:"skill_id,omitzero"`
	HookID      string            `json:"hook_id,omitzero"`
	HookEvent   string            `json:"hook_event,omitzero"`
	Data        jsontext.Value    `json:"data,omitzero"`
	Status      string            `json:"status,omitzero"`
	Error       *failed           `json:"error,omitzero"`
	Artifacts   []artifactSummary `json:"artifacts,omitzero"`
	Usage       *mapper.Usage     `json:"usage,omitzero"`
	CompletedAt abi.Time          `json:"completed_at,omitzero"`
	Timestamp   abi.Time          `json:"timestamp"`
}

func writeDelivery(ctx context.Context, n *api.WebhookNotice) (api.WebhookMessage, error) {
	mark, ok := markOf(n.Webhook)
	ev, told, tells := happeningOf(n.Event)
	if !ok || !tells || !wanted(mark.Events, told.Type) && !(told.Error != nil && wanted(mark.Events, tellsError)) {
		return api.WebhookMessage{Skip: true}, nil
	}
	event := told.Type
	if !wanted(mark.Events, event) {
		event = tellsError
	}
	d := delivery{Event: event, HarnessID: mark.Harness, Timestamp: ev.At, ExecutionID: told.ExecutionID, SessionID: told.SessionID,
		SkillID: told.SkillID, HookID: told.HookID, HookEvent: told.Event, Data: told.Data, Status: told.Status, Error: told.Error}
	if told.Type == tellsCompleted {
		if err := d.complete(ctx, n, &ev); err != nil {
			return api.WebhookMessage{}, err
		}
	}
	body, err := json.Marshal(&d, json.Deterministic(true))
	return api.WebhookMessage{Body: body, Header: map[string]string{headerEvent: event, headerDelivery: n.ID,
		headerTime: strconv.FormatInt(ev.At.Unix(), 10)}}, err
}

// complete adds what an execution resulted in.
func (d *delivery) complete(ctx context.Context, n *api.WebhookNotice, ev *loggedEvent) error {
	d.CompletedAt, d.Usage, d.Artifacts = ev.At, &mapper.Usage{}, []artifactSummary{}
	if ev.Payload.Task == nil || ev.Payload.Task.OutcomeID == "" {
		return nil
	}
	text, err := n.Get(ctx, abi.ObjectOutcome, ev.Payload.Task.OutcomeID)
	if err != nil {
		return err
	}
	var o abi.Outcome
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	*d.Usage = mapper.UsageOf(o.Metrics)
	d.Artifacts, err = artifactsOf(&o)
	if o.Failure != nil && d.Error != nil {
		d.Error.Code, d.Error.Message = o.Failure.Code, o.Failure.Message
	}
	return err
}

// artifactSummary is an artifact of an execution.
type artifactSummary struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	MimeType  string `json:"mime_type"`
	SizeBytes int64  `json:"size_bytes"`
}

func artifactsOf(o *abi.Outcome) ([]artifactSummary, error) {
	all := []artifactSummary{}
	for _, text := range o.Artifacts {
		one, err := artifactOf(text)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func artifactOf(text jsontext.Value) (artifactSummary, error) {
	var of abi.Artifact
	if err := json.Unmarshal(text, &of); err != nil {
		return artifactSummary{}, err
	}
	one := artifactSummary{ID: of.ID, Name: cmp.Or(of.Name, of.ID), MimeType: of.MimeType}
	if of.SizeBytes != nil {
		one.SizeBytes = *of.SizeBytes
	}
	return one, nil
}

package a2a

import (
	"context"
	"net/url"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// formatName is the format of the Webhooks that push notification configs are.
const formatName = "a2a"

// mostPush is how many configs a Task has at most.
const mostPush = 10

// The headers that a token is in: as the specification has it, and as the protocol's own libraries do.
const (
	headerToken    = "X-A2A-Notification-Token"
	headerOldToken = "A2A-Notification-Token"
)

func (a *Adapter) pushMethods() map[string]method {
	const reads, writes = "webhooks:read", abi.ScopeWebhooksWrite
	return map[string]method{
		"CreateTaskPushNotificationConfig": {scope: writes, in: v10, do: (*call).setPush}, "tasks/pushNotificationConfig/set": {scope: writes, in: v03, do: (*call).setPush},
		"GetTaskPushNotificationConfig": {scope: reads, in: v10, do: (*call).getPush}, "tasks/pushNotificationConfig/get": {scope: reads, in: v03, do: (*call).getPush},
		"ListTaskPushNotificationConfigs": {scope: reads, in: v10, do: (*call).listPush}, "tasks/pushNotificationConfig/list": {scope: reads, in: v03, do: (*call).listPush},
		"DeleteTaskPushNotificationConfig": {scope: writes, in: v10, do: (*call).deletePush}, "tasks/pushNotificationConfig/delete": {scope: writes, in: v03, do: (*call).deletePush},
	}
}

// pushMark is what is kept with a Webhook that is a config.
type pushMark struct {
	Config string `json:"a2a_config,omitzero"`
	Old    bool   `json:"a2a_old,omitzero"` // it is told as 0.3 does
}

// pushBody is a config as any way of asking has it.
type pushBody struct {
	pushConfig `json:",inline"`
	Wrapped    *oldPushConfig `json:"pushNotificationConfig"`
	Within     *pushBody      `json:"config"`
}

// words returns the config, in the words of 1.0.
func (b *pushBody) words() *pushConfig {
	switch {
	case b.Within != nil:
		inner := b.Within.words()
		inner.TaskID = b.TaskID
		return inner
	case b.Wrapped != nil:
		return b.Wrapped.words(b.TaskID)
	}
	return &b.pushConfig
}

// checkPush refuses a config that cannot be one, before anything is done.
func (c *call) checkPush(p *pushConfig) error {
	if err := c.r.Require(abi.ScopeWebhooksWrite); err != nil {
		return err
	}
	to, err := url.Parse(p.URL)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		return invalid("url", "url is one of https, or of http")
	}
	if len(p.ID) > maxID {
		return invalid("id", "the id of a config has at most %d bytes", maxID)
	}
	req, err := c.webhookOf(p)
	if err != nil {
		return err
	}
	return c.core.CheckWebhook(c.r.Caller, req)
}

// webhookOf is a config as a Webhook, of which Task is not said.
func (c *call) webhookOf(p *pushConfig) (abi.CreateWebhookRequest, error) {
	mark, err := json.Marshal(pushMark{p.ID, c.dialect.old}, json.Deterministic(true))
	return abi.CreateWebhookRequest{URL: p.URL, Format: formatName, Events: pushed(c.dialect.old), Headers: headersOf(p), Metadata: mark}, err
}

func (c *call) setPush() (any, error) {
	var body pushBody
	if err := c.decode(&body); err != nil {
		return nil, err
	}
	p := body.words()
	if err := c.checkPush(p); err != nil {
		return nil, err
	}
	t, err := c.taskOf(p.TaskID, p.Tenant)
	if err != nil {
		return nil, err
	}
	return c.register(t, p, nil, 0)
}

// attach tells somebody of a Task from its beginning.
func (c *call) attach(p *pushConfig, s *sent) error {
	first, _, err := c.core.Events(c.r.Context(), c.r.Caller, api.Filter{TaskID: s.task.ID}, 0, 1)
	if err != nil {
		return err
	}
	after := c.core.Now()
	if len(first) > 0 {
		after = first[0].At - 1
	}
	_, err = c.register(s.task, p, s.retry.Part("push"), after)
	return err
}

// register makes a config of a Task, in place of that with its id. after is the cursor behind which
// it is told what happens; 0 for from now on.
func (c *call) register(t *abi.Task, p *pushConfig, retry *api.Write, after api.Cursor) (*pushConfig, error) {
	all, err := c.pushes(t)
	if err != nil {
		return nil, err
	}
	before := byID(all, p.ID)
	if before == nil && len(all) >= mostPush && retry == nil {
		return nil, invalid("taskId", "the task %q has %d configs already, as many as there may be", t.ID, len(all))
	}
	req, err := c.webhookOf(p)
	if err != nil {
		return nil, err
	}
	req.WorkspaceID, req.TaskID = t.WorkspaceID, t.ID
	if after != 0 {
		req.AfterEventID = after.String()
	}
	view, err := c.core.CreateWebhook(c.r.Context(), c.r.Caller, retry, req)
	if err != nil {
		return nil, err
	}
	if before != nil && before.ID != view.ID {
		if err := c.core.DeleteWebhook(c.r.Context(), c.r.Caller, nil, before.ID); err != nil && !isAbsent(err) {
			return nil, err
		}
	}
	made, err := as[abi.WebhookEndpoint](view)
	if err != nil {
		return nil, err
	}
	shown := configOf(&made)
	shown.Token, shown.Authentication = p.Token, p.Authentication // its values are sealed from here on
	return &shown, nil
}

// headersOf are the headers that notifications of a config carry.
func headersOf(p *pushConfig) map[string]string {
	all := map[string]string{}
	if p.Token != "" {
		all[headerToken], all[headerOldToken] = p.Token, p.Token
	}
	if a := p.Authentication; a != nil && a.Credentials != "" {
		all["Authorization"] = strings.TrimSpace(a.Scheme + " " + a.Credentials)
	}
	return all
}

// pushed are the kinds of events that are told to configs: of 0.3, in which a notification is a task,
// those of its status.
func pushed(old bool) []string {
	all := []string{string(abi.EventTaskStarted), string(abi.EventTaskStatusChanged), string(abi.EventTaskInputRequired), string(abi.EventTaskAuthRequired),
		string(abi.EventTaskCompleted), string(abi.EventTaskFailed), string(abi.EventTaskCanceled)}
	if !old {
		all = append(all, string(abi.EventAgentMessage), string(abi.EventArtifactCreated), string(abi.EventOutcomeCreated))
	}
	return all
}

// pushes returns the configs of a Task, oldest first.
func (c *call) pushes(t *abi.Task) (all []abi.WebhookEndpoint, err error) {
	for p := (api.Page{Limit: 200}); ; {
		list, err := c.core.Webhooks(c.r.Context(), c.r.Caller, api.Filter{WorkspaceID: t.WorkspaceID}, p)
		if err != nil {
			return nil, err
		}
		for _, view := range list.Views {
			w, err := as[abi.WebhookEndpoint](view)
			if err != nil {
				return nil, err
			}
			if w.Format == formatName && w.TaskID == t.ID {
				all = append([]abi.WebhookEndpoint{w}, all...)
			}
		}
		if !list.More {
			return all, nil
		}
		p.After = list.Next
	}
}

// byID returns the config with an id, the newest, nil for none.
func byID(all []abi.WebhookEndpoint, id string) (found *abi.WebhookEndpoint) {
	for i := range all {
		if id != "" && idOf(&all[i]) == id {
			found = &all[i]
		}
	}
	return found
}

func markOfPush(w *abi.WebhookEndpoint) (mark pushMark) {
	_ = json.Unmarshal(w.Metadata, &mark) // it was written by this adapter
	return mark
}

// idOf is what a client calls a config: as it has, else as the Webhook is called.
func idOf(w *abi.WebhookEndpoint) string {
	if mark := markOfPush(w); mark.Config != "" {
		return mark.Config
	}
	return w.ID
}

// configOf shows a Webhook as a config. What it signs in with is never shown.
func configOf(w *abi.WebhookEndpoint) pushConfig {
	return pushConfig{TaskID: w.TaskID, ID: idOf(w), URL: w.URL}
}

// readPush reads which config of which Task is meant.
func (c *call) readPush() (p pushParams, t *abi.Task, err error) {
	var asked struct {
		pushParams `json:",inline"`
		ConfigID   string `json:"pushNotificationConfigId"`
	}
	if err := c.decode(&asked); err != nil {
		return p, nil, err
	}
	p = asked.pushParams
	if c.dialect.old && c.dialect.rpc { // the id is the task's
		p.TaskID, p.ID = p.ID, asked.ConfigID
	}
	t, err = c.taskOf(p.TaskID, p.Tenant)
	return p, t, err
}

// findPush returns the config that is meant. 0.3 need not name it.
func (c *call) findPush() (*abi.WebhookEndpoint, error) {
	p, t, err := c.readPush()
	if err != nil {
		return nil, err
	}
	all, err := c.pushes(t)
	if err != nil {
		return nil, err
	}
	if p.ID == "" && c.dialect.old && len(all) > 0 {
		return &all[0], nil
	}
	found := byID(all, p.ID)
	if found == nil {
		return nil, refuse(reasonNoTask, "the task %q has no push notification config %q", p.TaskID, p.ID)
	}
	return found, nil
}

func (c *call) getPush() (any, error) {
	w, err := c.findPush()
	if err != nil {
		return nil, err
	}
	shown := configOf(w)
	return &shown, nil
}

func (c *call) listPush() (any, error) {
	p, t, err := c.readPush()
	if err != nil {
		return nil, err
	}
	if p.PageSize != nil && *p.PageSize < 1 {
		return nil, invalid("pageSize", "pageSize is 1 or more")
	}
	if p.PageToken != "" {
		return nil, invalid("pageToken", "pageToken is none of this list: it has one page")
	}
	all, err := c.pushes(t)
	if err != nil {
		return nil, err
	}
	list := &pushList{Configs: []pushConfig{}}
	for i := range all {
		list.Configs = append(list.Configs, configOf(&all[i]))
	}
	return list, nil
}

func (c *call) deletePush() (any, error) {
	w, err := c.findPush()
	if err != nil {
		return nil, err
	}
	if err := c.core.DeleteWebhook(c.r.Context(), c.r.Caller, nil, w.ID); err != nil {
		return nil, err
	}
	if c.dialect.old && c.dialect.rpc {
		return jsontext.Value("null"), nil
	}
	return jsontext.Value("{}"), nil
}

// WebhookFormat is how notifications are written; base is where clients reach the node. They come in
// the order in which things have happened, and end with the Task.
func WebhookFormat(base string) api.WebhookFormat {
	return api.WebhookFormat{Name: formatName, Ordered: true, Ends: true, Write: func(ctx context.Context, n *api.WebhookNotice) (api.WebhookMessage, error) {
		return writeNotification(ctx, n, base)
	}}
}

func writeNotification(ctx context.Context, n *api.WebhookNotice, base string) (api.WebhookMessage, error) {
	v := &viewer{base: base, get: n.Get}
	var about struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal(n.Event, &about); err != nil {
		return api.WebhookMessage{}, err
	}
	contextID, err := v.contextOf(ctx, about.SessionID)
	if err != nil {
		return api.WebhookMessage{}, err
	}
	u, err := v.tell(ctx, n.Kind, n.Event, contextID)
	if err != nil || u == nil {
		return api.WebhookMessage{Skip: true}, err
	}
	d := dialect{old: markOfPush(n.Webhook).Old, rpc: true}
	if s := u.StatusUpdate; d.old && s != nil { // which tells tasks alone
		u.happening = happening{Task: &task{ID: s.TaskID, ContextID: s.ContextID, Status: s.Status}}
	}
	body, err := u.encode(d)
	return api.WebhookMessage{Body: body, Last: ends(n.Kind)}, err
}

// ends reports whether an event of a kind is the last that is told of its Task.
func ends(k abi.EventKind) bool {
	return k == abi.EventTaskCompleted || k == abi.EventTaskFailed || k == abi.EventTaskCanceled
}

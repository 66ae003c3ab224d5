package hooks

import (
	"cmp"
	"context"
	"slices"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/outbox"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// Bounds of one hook.
const (
	defaultTimeout = 10_000 // milliseconds
	maxTimeout     = 60_000
	maxName        = 128
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Outbox  *outbox.Outbox
	Plugins *Plugins
	// Offered returns what an installed plugin says of its hook, nil for nothing. It is not changed.
	Offered func(plugin string) *abi.Hook
	Turns   *turns.Turns // what takes long of holding arguments against a schema
}

// Keeper serves hooks. It is safe for concurrent use.
type Keeper struct{ parts Parts }

// NewKeeper returns a keeper of the hooks that an outbox keeps.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }

// CreateHook makes a hook. The answer has its secret, and no other answer has it.
func (k *Keeper) CreateHook(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateHookRequest) (desk.Doc, error) {
	if offered := k.offered(req.Handler.Command); offered != nil {
		if err := complete(&req, offered); err != nil {
			return desk.Doc{}, err
		}
	}
	about := &abi.WebhookEndpoint{
		Envelope: abi.Envelope{Metadata: req.Metadata}, WorkspaceID: req.WorkspaceID, URL: req.Handler.URL, Format: formatName,
		WebhookWants: abi.WebhookWants{Events: []string{string(abi.EventHookTriggered)}}, Signature: req.Signature, Status: statusOf(req.Enabled == nil || *req.Enabled),
		Hook: &abi.HookTerms{Event: req.Event, Name: req.Name, Command: req.Handler.Command, Fail: cmp.Or(req.Fail, abi.HookOpen),
			TimeoutMS: cmp.Or(req.TimeoutMS, defaultTimeout)},
	}
	if err := cmp.Or(k.parts.Plugins.check(ctx, about.Hook.Command), check(about)); err != nil {
		return desk.Doc{}, err
	}
	made, secret, err := k.parts.Outbox.KeepHook(ctx, c, r, about, req.Secret)
	if err != nil {
		return desk.Doc{}, err
	}
	return show(c, made, secret)
}

func statusOf(enabled bool) abi.WebhookStatus {
	if enabled {
		return abi.WebhookActive
	}
	return abi.WebhookDisabled
}

// check checks a hook as it is to be; the outbox checks where it is.
func check(w *abi.WebhookEndpoint) error {
	h := w.Hook
	err := cmp.Or(desk.CheckOneOf("event", h.Event, abi.HookPreTool, abi.HookPostTool, abi.HookStop, abi.HookError, abi.HookCustom),
		desk.CheckOneOf("fail", h.Fail, abi.HookOpen, abi.HookClosed))
	switch {
	case err != nil:
		return err
	case w.URL == "" && h.Command == "":
		return abi.InvalidParam("handler", "a handler has a url or a command")
	case h.Name != "" && (h.Event != abi.HookCustom || len(h.Name) > maxName || !abi.ValidName(h.Name)):
		return abi.InvalidParam("name", "name is the kind of a plugin's events, and only a hook for %s has one", abi.HookCustom)
	case h.TimeoutMS < 1 || h.TimeoutMS > maxTimeout:
		return abi.InvalidParam("timeout_ms", "timeout_ms is 1 to %d", maxTimeout)
	}
	return nil
}

// Hook returns a hook.
func (k *Keeper) Hook(_ context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	w, err := k.parts.Outbox.HookAt(c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return show(c, w, "")
}

// Hooks lists the hooks of a Workspace in the order in which they were made, which is that in which
// they are asked.
func (k *Keeper) Hooks(ctx context.Context, c *desk.Caller, workspace string) (list desk.DocList, err error) {
	if err := k.parts.Desk.CheckWorkspace(ctx, c, workspace); err != nil {
		return desk.DocList{}, err
	}
	for _, w := range k.parts.Outbox.HooksOf(c.Tenant, workspace) {
		doc, err := show(c, w, "")
		if err != nil {
			return desk.DocList{}, err
		}
		list.Docs = append(list.Docs, doc)
	}
	return list, nil
}

// UpdateHook changes a hook. Calls that are asked about now are asked by the terms of before.
func (k *Keeper) UpdateHook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateHookRequest) (desk.Doc, error) {
	var offered *abi.Hook
	if req.Handler != nil {
		if offered = k.offered(req.Handler.Command); offered != nil {
			req.Handler = &abi.HookHandler{URL: req.Handler.URL, Command: offered.Handler.Command}
		}
	}
	if req.Handler != nil { // to have a plugin ready can take long: nothing is locked yet
		_, err := k.parts.Outbox.HookAt(c, id)
		if err == nil {
			err = k.parts.Plugins.check(ctx, req.Handler.Command)
		}
		if err != nil {
			return desk.Doc{}, err
		}
	}
	w, err := k.parts.Outbox.ChangeHook(ctx, c, r, id, func(next *abi.WebhookEndpoint) error {
		terms := *next.Hook
		if err := suits(offered, terms.Event); err != nil {
			return err
		}
		next.Hook = &terms
		if req.Handler != nil {
			next.URL, terms.Command = req.Handler.URL, req.Handler.Command
		}
		if req.Enabled != nil {
			next.Status, next.StatusReason = statusOf(*req.Enabled), ""
		}
		abi.Replace(&terms.Fail, req.Fail)
		abi.Replace(&terms.TimeoutMS, req.TimeoutMS)
		if req.Metadata != nil {
			next.Metadata = req.Metadata
		}
		return check(next)
	})
	if err != nil {
		return desk.Doc{}, err
	}
	return show(c, w, "")
}

// DeleteHook deletes a hook. A call that waits for its answer goes on as if it had not been there.
func (k *Keeper) DeleteHook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error {
	return k.parts.Outbox.DropHook(ctx, c, r, id)
}

// ObjectHook is what answers say that a hook is. The log has it as a Webhook.
const ObjectHook abi.Object = "hook"

// scopeWrite is the scope of those who are shown where a hook is.
const scopeWrite = "hooks:write"

// show returns a hook as callers see it: where it is, those who may write hooks.
func show(c *desk.Caller, w *abi.WebhookEndpoint, secret string) (desk.Doc, error) {
	h := abi.Hook{Envelope: w.Envelope, WorkspaceID: w.WorkspaceID, Event: w.Hook.Event, Name: w.Hook.Name,
		Handler: abi.HookHandler{URL: w.URL, Command: w.Hook.Command}, Enabled: w.Status == abi.WebhookActive, Fail: w.Hook.Fail, TimeoutMS: w.Hook.TimeoutMS}
	h.Object = ObjectHook
	if len(w.Secrets) > 0 {
		h.SecretHint = w.Secrets[0].Hint
	}
	if !c.Can(scopeWrite) {
		h.Handler.URL = outbox.HostOf(w.URL)
	}
	text, err := json.Marshal(struct {
		abi.Hook `json:",inline"`
		Secret   string `json:"secret,omitzero"`
	}{h, secret}, json.Deterministic(true))
	return desk.Doc{ID: w.ID, JSON: text}, err
}

// active returns the enabled hooks of a Task's Workspace for some events, in the order in which they
// were made. What a replay does again was asked and told before.
func (k *Keeper) active(t storage.Tenant, task *abi.Task, events ...abi.HookEvent) (all []*abi.WebhookEndpoint) {
	if task.Replay != nil {
		return nil
	}
	for _, w := range k.parts.Outbox.HooksOf(t, task.WorkspaceID) {
		if w.Status == abi.WebhookActive && slices.Contains(events, w.Hook.Event) {
			all = append(all, w)
		}
	}
	return all
}

package openharness

import (
	"errors"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) hookRoutes() []gateway.Route {
	const reads, writes = "hooks:read", "hooks:write"
	return []gateway.Route{
		read("hooks", "hooks.list", reads, "List hooks", a.at(a.listHooks)),
		post("hooks", "hooks.register", writes, "Register a hook", statusCreated, a.at(a.registerHook)),
		read("hooks/{hookId}", "hooks.get", reads, "Get a hook", a.at(a.getHook)),
		mayPatch("hooks/{hookId}", "hooks.update", writes, "Change a hook", a.at(a.updateHook)),
		remove("hooks/{hookId}", "hooks.unregister", writes, "Remove a hook", a.at(a.unregisterHook)),
	}
}

// hookHandler is who is asked, as the protocol has it.
type hookHandler struct {
	Type    string `json:"type"` // webhook or command
	URL     string `json:"url,omitzero"`
	Command string `json:"command,omitzero"`
}

// of returns the handler in the words of Wharf.
func (h *hookHandler) of() (abi.HookHandler, error) {
	switch {
	case h.Type == "webhook" && h.Command == "":
		return abi.HookHandler{URL: h.URL}, nil
	case h.Type == "command" && h.URL == "":
		return abi.HookHandler{Command: h.Command}, nil
	}
	return abi.HookHandler{}, abi.InvalidParam("handler", `a handler is {"type":"webhook","url":…} or {"type":"command","command":…}`)
}

// hookView is a hook as the protocol shows it.
type hookView struct {
	ID         string          `json:"id"`
	Event      abi.HookEvent   `json:"event"`
	Name       string          `json:"name,omitzero"`
	Handler    hookHandler     `json:"handler"`
	Enabled    bool            `json:"enabled"`
	Fail       abi.HookFailure `json:"fail"`
	TimeoutMS  int64           `json:"timeout_ms"`
	Secret     string          `json:"secret,omitzero"` // in the answer that has made it
	SecretHint string          `json:"secret_hint,omitzero"`
	CreatedAt  abi.Time        `json:"created_at"`
}

// shownHook is what is read of a hook.
type shownHook struct {
	abi.Hook `json:",inline"`
	Secret   string `json:"secret"`
}

// hookOf returns a hook as the protocol shows it; false for one that is not of a harness.
func hookOf(view api.View, h *abi.Harness) (hookView, bool) {
	k, err := as[shownHook](view)
	if err != nil || k.WorkspaceID != h.WorkspaceID {
		return hookView{}, false
	}
	shown := hookView{ID: k.ID, Event: k.Event, Name: k.Name, Handler: hookHandler{Type: "webhook", URL: k.Handler.URL}, Enabled: k.Enabled,
		Fail: k.Fail, TimeoutMS: k.TimeoutMS, Secret: k.Secret, SecretHint: k.SecretHint, CreatedAt: k.CreatedAt}
	if k.Handler.Command != "" {
		shown.Handler = hookHandler{Type: "command", Command: k.Handler.Command}
	}
	return shown, true
}

// hookEvents are the events of hooks, by the names that the protocol's documents have for them.
var hookEvents = map[string]abi.HookEvent{
	"pre_tool": abi.HookPreTool, "post_tool": abi.HookPostTool, "stop": abi.HookStop, "error": abi.HookError, "custom": abi.HookCustom,
	"tool.before": abi.HookPreTool, "tool.after": abi.HookPostTool, "execution.end": abi.HookStop,
}

type hooksAnswer struct {
	Hooks []hookView `json:"hooks"`
}

func (a *Adapter) listHooks(r *gateway.Request, h *abi.Harness) error {
	wanted, known := hookEvents[r.Query("event")]
	if r.HasQuery("event") && !known {
		return abi.InvalidParam("event", "event is one of pre_tool, post_tool, stop, error, custom")
	}
	list, err := a.core.Hooks(r.Context(), r.Caller, h.WorkspaceID)
	if err != nil {
		return err
	}
	all := []hookView{}
	for _, view := range list.Views {
		if one, ok := hookOf(view, h); ok && (wanted == "" || one.Event == wanted) {
			all = append(all, one)
		}
	}
	return send(r, statusOK, hooksAnswer{all})
}

type registerHookRequest struct {
	Event     string          `json:"event"`
	Name      string          `json:"name"`
	Handler   *hookHandler    `json:"handler"`
	Enabled   *bool           `json:"enabled"`
	Fail      abi.HookFailure `json:"fail"`
	TimeoutMS int64           `json:"timeout_ms"`
	Secret    string          `json:"secret"`
}

// wants returns the event that a hook is for, and the name of a custom one: what the protocol does
// not know is one.
func (q *registerHookRequest) wants() (abi.HookEvent, string) {
	event, known := hookEvents[q.Event]
	if !known && q.Event != "" {
		return abi.HookCustom, q.Event
	}
	return event, q.Name
}

type hookAnswer struct {
	Hook hookView `json:"hook"`
}

func (a *Adapter) registerHook(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[registerHookRequest](r)
	if err != nil {
		return err
	}
	if req.Handler == nil {
		return abi.InvalidParam("handler", `missing required member "handler"`)
	}
	handler, err := req.Handler.of()
	if err != nil {
		return err
	}
	event, name := req.wants()
	made, err := a.core.CreateHook(r.Context(), r.Caller, retry, abi.CreateHookRequest{WorkspaceID: h.WorkspaceID, Event: event, Name: name,
		Handler: handler, Enabled: req.Enabled, Fail: req.Fail, TimeoutMS: req.TimeoutMS, Secret: req.Secret,
		Signature: &abi.WebhookSignature{Header: headerSignature, Prefix: "sha256="}})
	if err != nil {
		return a.commandRefused(req.Handler, err)
	}
	shown, _ := hookOf(made, h)
	return sent(r, statusCreated, made, hookAnswer{shown})
}

// commandRefused gives a command that the node does not run the protocol's own code, and says which
// plugins there are to somebody who names one that is not.
func (a *Adapter) commandRefused(handler *hookHandler, err error) error {
	own, ok := errors.AsType[*abi.Error](err)
	if !ok || own.Code != abi.CodePolicyViolation {
		return err
	}
	refused := coded(codeCommandNotAllowed, 422, "%s", own.Message)
	refused.Param = own.Param
	if handler != nil && strings.HasPrefix(handler.Command, abi.HookPlugin) && a.has.Plugins != nil {
		refused.Message += "; the plugins of this node are " + strings.Join(a.has.Plugins(), ", ")
	}
	return refused
}

// hook finds the hook that the path names, in a harness.
func (a *Adapter) hook(r *gateway.Request, h *abi.Harness) (hookView, error) {
	id := r.PathValue("hookId")
	view, err := a.core.Hook(r.Context(), r.Caller, id)
	if err != nil {
		return hookView{}, err
	}
	shown, ok := hookOf(view, h)
	if !ok {
		return hookView{}, abi.Errorf(abi.CodeResourceNotFound, "no hook %q is visible to this caller", id)
	}
	return shown, nil
}

func (a *Adapter) getHook(r *gateway.Request, h *abi.Harness) error {
	shown, err := a.hook(r, h)
	if err != nil {
		return err
	}
	return send(r, statusOK, hookAnswer{shown})
}

type updateHookRequest struct {
	Handler   *hookHandler     `json:"handler"`
	Enabled   *bool            `json:"enabled"`
	Fail      *abi.HookFailure `json:"fail"`
	TimeoutMS *int64           `json:"timeout_ms"`
}

func (a *Adapter) updateHook(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[updateHookRequest](r)
	if err != nil {
		return err
	}
	was, err := a.hook(r, h)
	if err != nil {
		return err
	}
	change := abi.UpdateHookRequest{Enabled: req.Enabled, Fail: req.Fail, TimeoutMS: req.TimeoutMS}
	if req.Handler != nil {
		handler, err := req.Handler.of()
		if err != nil {
			return err
		}
		change.Handler = &handler
	}
	view, err := a.core.UpdateHook(r.Context(), r.Caller, retry, was.ID, change)
	if err != nil {
		return a.commandRefused(req.Handler, err)
	}
	shown, _ := hookOf(view, h)
	return sent(r, statusOK, view, hookAnswer{shown})
}

func (a *Adapter) unregisterHook(r *gateway.Request, h *abi.Harness) error {
	shown, err := a.hook(r, h)
	if err != nil {
		return err
	}
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeleteHook(r.Context(), r.Caller, retry, shown.ID); err != nil {
		return err
	}
	return empty(r)
}

package harn

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) inboxRoutes() []gateway.Route {
	const tag, reads, writes, at = "Inbox", "messages:read", "messages:write", "/wharf/v1/sessions/{session_id}"
	const named = "It is named by its id, or by that of the Message that it will be. What another has queued takes the scope `sessions:write` besides. " +
		"`details.reason` of an error is already_delivered, already_revoked, unknown_message_id or not_owner_or_not_authorized."
	const revoked = " One that was revoked before is answered with the status `already_revoked`."
	wake := post(at+"/wake", "wakeSession", tag, "tasks:write", "", "Woken", "Wake the Tasks that wait for a Session's inbox", statusOK, a.wakeSession).bodyless().
		doc("Each goes on with nothing. Doing it again wakes those that wait by then.")
	wake.Idempotent = false
	return routes(
		post(at+"/injections", "createInjection", tag, writes, "InjectRequest", "Injection", "Say something to a Session while its Tasks work", statusCreated,
			change(a, "session_id", statusCreated, a.core.Inject)).
			doc("It is durable, and waits for a Task to take it at a checkpoint: the next with the mode `steer`, with `queue` when the agent is done with what it does. "+
				"It is a `user.message` of the transcript then. What no Task takes waits for the next Task of the Session."),
		read(at+"/injections", "listInjections", tag, reads, "PendingInjections", "See what waits for a Session's Tasks, in the order in which it came", a.pendingInjections),
		patch(at+"/injections/{injection_id}", "replaceInjection", tag, writes, "ReplaceInjectionRequest", "Injection", "Say what waits in other words",
			a.replaceInjection).doc(named),
		write(fasthttp.MethodDelete, at+"/injections/{injection_id}", "revokeInjection", tag, writes, "", "Injection", "Take back what waits", statusOK,
			a.revokes("injection_id", a.core.RevokeInjection)).bodyless().doc(named+revoked),
		post(at+"/reminders", "createReminder", tag, writes, "RemindRequest", "Injection", "Remind a Session's Tasks of something that nobody says", statusCreated, a.remind).
			doc("A reminder that waits with the same `dedupe_key` gives way to it. `details.code` of an error is HARN-RMD-001 for a member that is not known, and HARN-RMD-002 for one that is not as it should be."),
		write(fasthttp.MethodDelete, at+"/reminders/{reminder_id}", "revokeReminder", tag, writes, "", "Injection", "Take a reminder back", statusOK,
			a.revokes("reminder_id", a.core.RevokeReminder)).bodyless().doc(named+revoked),
		wake,
	)
}

func (a *Adapter) pendingInjections(r *gateway.Request) error {
	doc, err := a.core.PendingInjections(r.Context(), r.Caller, r.PathValue("session_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func (a *Adapter) wakeSession(r *gateway.Request) error {
	doc, err := a.core.WakeSession(r.Context(), r.Caller, r.PathValue("session_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func (a *Adapter) revokes(param string, call func(ctx context.Context, c *api.Caller, w *api.Write, session, id string) (api.View, error)) gateway.Handler {
	return func(r *gateway.Request) error {
		retry, err := r.Retry(nil)
		if err != nil {
			return err
		}
		doc, err := call(r.Context(), r.Caller, retry, r.PathValue("session_id"), r.PathValue(param))
		if err != nil {
			return err
		}
		return a.send(r, statusOK, doc)
	}
}

func (a *Adapter) replaceInjection(r *gateway.Request) error {
	var req abi.ReplaceInjectionRequest
	retry, err := decode(r, &req)
	if err != nil {
		return err
	}
	doc, err := a.core.ReplaceInjection(r.Context(), r.Caller, retry, r.PathValue("session_id"), r.PathValue("injection_id"), req)
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

// remind reads a reminder by its own rules: what is wrong with it has codes.
func (a *Adapter) remind(r *gateway.Request) error {
	var text jsontext.Value
	retry, err := decode(r, &text)
	if err != nil {
		return err
	}
	req, err := api.ReadReminder(text)
	if err != nil {
		return err
	}
	doc, err := a.core.Remind(r.Context(), r.Caller, retry, r.PathValue("session_id"), req)
	if err != nil {
		return err
	}
	return a.send(r, statusCreated, doc)
}

func inboxSchemas() map[string]schema {
	users, reminders := enum("steer", "queue"), enum("interrupt_immediate", "finish_step", "audit_only")
	return map[string]schema{
		"Injection":               resourceOf[abi.Injection](abi.ObjectInjection, "What waits in a Session's inbox, or has waited there: what a user says, or a reminder."),
		"PendingInjections":       of[abi.PendingInjections]("What waits in a Session's inbox."),
		"InboxWait":               of[abi.InboxWait]("The inbox that a Task waits for."),
		"Woken":                   of[abi.Woken]("How many Tasks were woken."),
		"InjectRequest":           requestOf[abi.InjectRequest]("What a user says.", but(schema{"mode": users, "parts": listOf(ref("PartInput"))})),
		"ReplaceInjectionRequest": requestOf[abi.ReplaceInjectionRequest]("What a user says instead.", but(schema{"parts": listOf(ref("PartInput"))})),
		"RemindRequest":           requestOf[abi.RemindRequest]("A reminder.", but(schema{"mode": reminders})),
	}
}

type (
	injectCommand struct {
		SessionID string            `json:"session_id,omitzero" doc:"Default: that of the socket."`
		Request   abi.InjectRequest `json:",embed"`
	}
	replaceInjectionCommand struct {
		SessionID   string                      `json:"session_id,omitzero" doc:"Default: that of the socket."`
		InjectionID string                      `json:"injection_id"`
		Request     abi.ReplaceInjectionRequest `json:",embed"`
	}
	revokeCommand struct {
		SessionID   string `json:"session_id,omitzero" doc:"Default: that of the socket."`
		InjectionID string `json:"injection_id"`
	}
	remindCommand struct {
		SessionID string         `json:"session_id,omitzero" doc:"Default: that of the socket."`
		Reminder  jsontext.Value `json:"reminder" doc:"As the body of the route createReminder."`
	}
)

// inboxCommand makes a change of the inbox of a command's Session; rest is the path of the route that
// does the same, below the Session's.
func (q *request) inboxCommand(session string, do func(session string, w *api.Write) (api.View, error), rest ...string) ([]byte, error) {
	session, err := q.sessionOr(session)
	if err != nil {
		return nil, err
	}
	retry, err := q.retry(path(append([]string{"sessions", session}, rest...)...), "session_id")
	if err != nil {
		return nil, err
	}
	return q.sent(do(session, retry))
}

func (a *Adapter) sendInject(q *request, b *injectCommand) ([]byte, error) {
	return q.inboxCommand(b.SessionID, func(session string, w *api.Write) (api.View, error) {
		return a.core.Inject(q.context(), q.caller, w, session, b.Request)
	}, "injections")
}

func (a *Adapter) sendReplaceInjection(q *request, b *replaceInjectionCommand) ([]byte, error) {
	return q.inboxCommand(b.SessionID, func(session string, w *api.Write) (api.View, error) {
		return a.core.ReplaceInjection(q.context(), q.caller, w, session, b.InjectionID, b.Request)
	}, "injections", b.InjectionID)
}

func (a *Adapter) sendRevokeInjection(q *request, b *revokeCommand) ([]byte, error) {
	return q.inboxCommand(b.SessionID, func(session string, w *api.Write) (api.View, error) {
		return a.core.RevokeInjection(q.context(), q.caller, w, session, b.InjectionID)
	}, "injections", b.InjectionID)
}

func (a *Adapter) sendRemind(q *request, b *remindCommand) ([]byte, error) {
	req, err := api.ReadReminder(b.Reminder)
	if err != nil {
		return nil, err
	}
	return q.inboxCommand(b.SessionID, func(session string, w *api.Write) (api.View, error) {
		return a.core.Remind(q.context(), q.caller, w, session, req)
	}, "reminders")
}

func (a *Adapter) sendRevokeReminder(q *request, b *revokeCommand) ([]byte, error) {
	return q.inboxCommand(b.SessionID, func(session string, w *api.Write) (api.View, error) {
		return a.core.RevokeReminder(q.context(), q.caller, w, session, b.InjectionID)
	}, "reminders", b.InjectionID)
}

func (a *Adapter) sendWake(q *request, b *sessionCommand) ([]byte, error) {
	session, err := q.sessionOr(b.SessionID)
	if err != nil {
		return nil, err
	}
	return q.sent(a.core.WakeSession(q.context(), q.caller, session))
}

func (a *Adapter) inboxCommands() []command {
	const writes = "messages:write"
	return []command{
		does("inject", writes, "Say something to a Session while its Tasks work.", a.sendInject, but(schema{"mode": enum("steer", "queue"), "parts": listOf(ref("PartInput"))})).once(),
		does("replace_injection", writes, "Say what waits in other words.", a.sendReplaceInjection, but(schema{"parts": listOf(ref("PartInput"))})).once(),
		does("revoke_injection", writes, "Take back what waits.", a.sendRevokeInjection).once(),
		does("remind", writes, "Remind a Session's Tasks of something that nobody says.", a.sendRemind, but(schema{"reminder": ref("RemindRequest")})).once(),
		does("revoke_reminder", writes, "Take a reminder back.", a.sendRevokeReminder).once(),
		does("wake", "tasks:write", "Wake the Tasks that wait for a Session's inbox.", a.sendWake),
	}
}

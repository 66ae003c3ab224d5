package api

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/inbox"
)

// inboxCore serves what waits for the Tasks of Sessions.
type inboxCore interface {
	Inject(ctx context.Context, c *desk.Caller, r *desk.Retry, session string, req abi.InjectRequest) (desk.Doc, error)
	ReplaceInjection(ctx context.Context, c *desk.Caller, r *desk.Retry, session, id string, req abi.ReplaceInjectionRequest) (desk.Doc, error)
	RevokeInjection(ctx context.Context, c *desk.Caller, r *desk.Retry, session, id string) (desk.Doc, error)
	Remind(ctx context.Context, c *desk.Caller, r *desk.Retry, session string, req abi.RemindRequest) (desk.Doc, error)
	RevokeReminder(ctx context.Context, c *desk.Caller, r *desk.Retry, session, id string) (desk.Doc, error)
	PendingInjections(ctx context.Context, c *desk.Caller, session string) (desk.Doc, error)
	WakeSession(ctx context.Context, c *desk.Caller, session string) (desk.Doc, error)
}

// Inject queues what a user says for the Tasks of a Session.
func (a *API) Inject(ctx context.Context, c *Caller, r *Write, session string, req abi.InjectRequest) (View, error) {
	return a.to(ctx, c).view(a.core.Inject(ctx, c, r, session, req))
}

// ReplaceInjection gives what a user has said other words. It is named by its id, or by its Message's.
func (a *API) ReplaceInjection(ctx context.Context, c *Caller, r *Write, session, id string, req abi.ReplaceInjectionRequest) (View, error) {
	return a.to(ctx, c).view(a.core.ReplaceInjection(ctx, c, r, session, id, req))
}

// RevokeInjection takes back what a user has said. It is named by its id, or by its Message's.
func (a *API) RevokeInjection(ctx context.Context, c *Caller, r *Write, session, id string) (View, error) {
	return a.to(ctx, c).view(a.core.RevokeInjection(ctx, c, r, session, id))
}

// Remind queues a reminder for the Tasks of a Session.
func (a *API) Remind(ctx context.Context, c *Caller, r *Write, session string, req abi.RemindRequest) (View, error) {
	return a.to(ctx, c).view(a.core.Remind(ctx, c, r, session, req))
}

// ReadReminder reads a reminder as a client sends it. Its errors have the codes of the bridge's
// protocol in their details.
func ReadReminder(text jsontext.Value) (abi.RemindRequest, error) { return inbox.ReadReminder(text) }

// RevokeReminder takes a reminder back.
func (a *API) RevokeReminder(ctx context.Context, c *Caller, r *Write, session, id string) (View, error) {
	return a.to(ctx, c).view(a.core.RevokeReminder(ctx, c, r, session, id))
}

// PendingInjections returns what waits for the Tasks of a Session, in the order in which it came.
func (a *API) PendingInjections(ctx context.Context, c *Caller, session string) (View, error) {
	return a.to(ctx, c).view(a.core.PendingInjections(ctx, c, session))
}

// WakeSession wakes the Tasks of a Session that wait for its inbox, and says how many.
func (a *API) WakeSession(ctx context.Context, c *Caller, session string) (View, error) {
	return a.to(ctx, c).view(a.core.WakeSession(ctx, c, session))
}

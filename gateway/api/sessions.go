package api

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// sessionsCore serves Sessions, their transcripts and Branches.
type sessionsCore interface {
	Models(ctx context.Context, c *desk.Caller) (*abi.ModelCatalog, error)
	DefaultWorkspaceOf(c *desk.Caller) string
	CreateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateSessionRequest) (desk.Doc, error)
	UpdateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateSessionRequest) (desk.Doc, error)
	SessionsCalled(ctx context.Context, c *desk.Caller, workspace string, ref abi.OutsideRef) (desk.DocList, error)
	CloseSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error)
	PauseSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error)
	ResumeSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error)
	DeleteSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error)
	ForkSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkSessionRequest) (desk.Doc, error)
	TruncateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.TruncateSessionRequest) (desk.Doc, error)
	AppendMessage(ctx context.Context, c *desk.Caller, r *desk.Retry, sessionID string, req abi.AppendMessageRequest) (desk.Doc, error)
	MergeBranch(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.MergeBranchRequest) (desk.Doc, error)
	AbandonBranch(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.AbandonBranchRequest) (desk.Doc, error)
	BranchLineage(ctx context.Context, c *desk.Caller, id string, p desk.Page) (desk.DocList, error)
}

// CreateSession opens a Session in a Workspace that the caller may see.
func (a *API) CreateSession(ctx context.Context, c *Caller, r *Write, req abi.CreateSessionRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateSession(ctx, c, r, req))
}

// UpdateSession changes a Session's summary, skills, settings and metadata.
func (a *API) UpdateSession(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdateSessionRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateSession(ctx, c, r, id, req))
}

// SessionsCalled returns the Sessions that something outside calls so: at most one of each
// Workspace that the caller sees, or of the one named.
func (a *API) SessionsCalled(ctx context.Context, c *Caller, workspace string, ref abi.OutsideRef) (List, error) {
	return a.to(ctx, c).list(a.core.SessionsCalled(ctx, c, workspace, ref))
}

// SessionTaken returns the Session that has one of the references already, which an error tells as the
// reason why no other was made; "" for any other error.
func SessionTaken(err error, refs ...abi.OutsideRef) string {
	var of struct {
		Kind      string `json:"kind"`
		Ref       string `json:"ref"`
		SessionID string `json:"session_id"`
	}
	is, ok := errors.AsType[*abi.Error](err)
	if !ok || is.Code != abi.CodeConflict || json.Unmarshal(is.Details, &of) != nil || !slices.Contains(refs, abi.OutsideRef{Kind: of.Kind, Ref: of.Ref}) {
		return ""
	}
	return of.SessionID
}

// CloseSession ends a Session: it takes no more Tasks and Messages.
func (a *API) CloseSession(ctx context.Context, c *Caller, r *Write, id string) (View, error) {
	return a.to(ctx, c).view(a.core.CloseSession(ctx, c, r, id))
}

// PauseSession has a Session take no new Tasks until it is resumed. Those that it has taken
// already run on.
func (a *API) PauseSession(ctx context.Context, c *Caller, r *Write, id string) (View, error) {
	return a.to(ctx, c).view(a.core.PauseSession(ctx, c, r, id))
}

// ResumeSession has a paused Session take Tasks again.
func (a *API) ResumeSession(ctx context.Context, c *Caller, r *Write, id string) (View, error) {
	return a.to(ctx, c).view(a.core.ResumeSession(ctx, c, r, id))
}

// DeleteSession closes a Session, has it shown to nobody any more, and frees its references.
func (a *API) DeleteSession(ctx context.Context, c *Caller, r *Write, id string) error {
	_, err := a.core.DeleteSession(ctx, c, r, id)
	return err
}

// ForkSession opens a Session that begins with another one's transcript, whole or
// up to an event, on a Branch of its own.
func (a *API) ForkSession(ctx context.Context, c *Caller, r *Write, id string, req abi.ForkSessionRequest) (View, error) {
	return a.to(ctx, c).view(a.core.ForkSession(ctx, c, r, id, req))
}

// TruncateSession keeps the first N turns of a Session, in place. A turn is a
// Message.
func (a *API) TruncateSession(ctx context.Context, c *Caller, r *Write, id string, req abi.TruncateSessionRequest) (View, error) {
	return a.to(ctx, c).view(a.core.TruncateSession(ctx, c, r, id, req))
}

// AppendMessage adds a Message to a Session's transcript.
func (a *API) AppendMessage(ctx context.Context, c *Caller, r *Write, sessionID string, req abi.AppendMessageRequest) (View, error) {
	return a.to(ctx, c).view(a.core.AppendMessage(ctx, c, r, sessionID, req))
}

// MergeBranch ends a Branch by saying where it went. When a fork of a Session went
// along it, the Messages that are new in the fork are appended to the Session that it
// was forked from, in the same batch.
func (a *API) MergeBranch(ctx context.Context, c *Caller, r *Write, id string, req abi.MergeBranchRequest) (View, error) {
	return a.to(ctx, c).view(a.core.MergeBranch(ctx, c, r, id, req))
}

// AbandonBranch ends a Branch that is not continued. What lies on it stays.
func (a *API) AbandonBranch(ctx context.Context, c *Caller, r *Write, id string, req abi.AbandonBranchRequest) (View, error) {
	return a.to(ctx, c).view(a.core.AbandonBranch(ctx, c, r, id, req))
}

// BranchLineage returns a Branch and those that it came from, up to the root. A page
// goes on after the Branch that the last one ended with.
func (a *API) BranchLineage(ctx context.Context, c *Caller, id string, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.BranchLineage(ctx, c, id, p))
}

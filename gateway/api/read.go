package api

import (
	"context"
	"io"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
)

// readingCore reads resources and events of all kinds.
type readingCore interface {
	Get(ctx context.Context, c *desk.Caller, o abi.Object, id string) (desk.Doc, error)
	List(ctx context.Context, c *desk.Caller, o abi.Object, f desk.Filter, p desk.Page) (desk.DocList, error)
	Messages(ctx context.Context, c *desk.Caller, sessionID string, p desk.Page) (desk.DocList, error)
	OpenArtifact(ctx context.Context, c *desk.Caller, id string) (desk.Doc, desk.Blob, error)
	Event(ctx context.Context, c *desk.Caller, at desk.Position) (desk.Event, error)
	Events(ctx context.Context, c *desk.Caller, f desk.Filter, after desk.Position, limit int) ([]desk.Event, bool, error)
	Subscribe(ctx context.Context, c *desk.Caller, f desk.Filter, after desk.Position) (desk.Subscription, error)
	Stats() engine.Stats
}

// Get returns a resource by its id.
func (a *API) Get(ctx context.Context, c *Caller, o abi.Object, id string) (View, error) {
	return a.to(ctx, c).view(a.core.Get(ctx, c, o, id))
}

// List returns resources of one kind, newest first.
func (a *API) List(ctx context.Context, c *Caller, o abi.Object, f Filter, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.List(ctx, c, o, f, p))
}

// Messages returns a Session's transcript, oldest first.
func (a *API) Messages(ctx context.Context, c *Caller, sessionID string, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.Messages(ctx, c, sessionID, p))
}

// Content is an Artifact's content, open to be read from any place. Verify hashes it all and
// fails where it is not what the Artifact says.
type Content interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64
	Verify(ctx context.Context) error
}

// OpenArtifact returns an Artifact and its content, which the caller closes. The content is nil
// when the node does not hold the bytes.
func (a *API) OpenArtifact(ctx context.Context, c *Caller, id string) (View, Content, error) {
	doc, blob, err := a.core.OpenArtifact(ctx, c, id)
	view, err := a.to(ctx, c).view(doc, err)
	if err != nil {
		if blob != nil {
			_ = blob.Close()
		}
		return View{}, nil, err
	}
	if blob == nil {
		return view, nil, nil
	}
	return view, blob, nil
}

// TaskReceipts returns the receipts of a Task; none before it has ended.
func (a *API) TaskReceipts(ctx context.Context, c *Caller, id string) ([]View, error) {
	docs, err := a.core.TaskReceipts(ctx, c, id)
	list, err := a.to(ctx, c).list(desk.DocList{Docs: docs}, err)
	return list.Views, err
}

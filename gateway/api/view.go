package api

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/redact"
)

// View is a resource as its caller may see it.
type View struct {
	ID   string
	JSON []byte // do not change
	// Replayed says that the write was made before: this is how it was answered then.
	Replayed bool
	// Task is the Task's status when the resource is a Task, else "".
	Task abi.TaskStatus
}

// List is part of a list.
type List struct {
	Views []View
	More  bool
	Next  string // where the next page begins, "" when there is none
	// Previous is where the page before ends, "" at the beginning, and of lists that are read one
	// way only.
	Previous string
	// Total is how many the list has in all, where that was asked for; at least so many when
	// TotalMore is set.
	Total     int
	TotalMore bool
	// Unreadable holds the ids of what belongs in this part and cannot be shown.
	Unreadable []string
}

// reader turns answers of the engine into what one caller may see.
type reader struct {
	ctx    context.Context
	api    *API
	caller *Caller
}

func (a *API) to(ctx context.Context, c *Caller) reader { return reader{ctx, a, c} }

// view takes what the engine answers with.
func (r reader) view(doc desk.Doc, err error) (View, error) {
	if err != nil {
		return View{}, err
	}
	shown := View{ID: doc.ID, JSON: r.api.links.linked(objectOf(doc.ID), doc.JSON), Replayed: doc.Replayed, Task: doc.Task}
	if !doc.Restricted {
		return shown, nil
	}
	err = r.api.turns.DoFor(r.ctx, uint64(r.caller.Tenant), len(doc.JSON), func() (err error) {
		shown.JSON, err = redact.Document(shown.JSON, r.caller.Can(abi.ScopeEventsInternal))
		return err
	})
	if err != nil {
		return View{}, err
	}
	return shown, nil
}

// list takes what the engine answers with. What is withheld of a document that cannot be read
// cannot be told from the rest, so all of it is.
func (r reader) list(docs desk.DocList, err error) (List, error) {
	if err != nil {
		return List{}, err
	}
	shown := List{Views: make([]View, 0, len(docs.Docs)), More: docs.More, Next: docs.Next, Previous: docs.Previous,
		Total: docs.Total, TotalMore: docs.TotalMore, Unreadable: docs.Unreadable}
	for _, doc := range docs.Docs {
		view, err := r.view(doc, nil)
		switch {
		case r.ctx.Err() != nil:
			return List{}, context.Cause(r.ctx)
		case err != nil:
			shown.Unreadable = append(shown.Unreadable, doc.ID)
		default:
			shown.Views = append(shown.Views, view)
		}
	}
	return shown, nil
}

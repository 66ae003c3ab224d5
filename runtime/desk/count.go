package desk

import (
	"context"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// count counts all that a list has, if its page asks for that, and refuses an offset or a total
// of a list that would have to be looked through for it: only entries that are all shown can be
// counted by their keys.
func (d *Desk) count(ctx context.Context, c *Caller, o abi.Object, f Filter, s Scope, p Page, list *DocList) error {
	if p.Offset == 0 && !p.Total {
		return nil
	}
	whole, err := d.shownWhole(ctx, c, o, f, s)
	switch {
	case err != nil:
		return err
	case p.Offset > 0 && !whole:
		return abi.InvalidParam("offset", "of this list only some is shown: read it by cursor, or name one workspace")
	case !p.Total:
		return nil
	case !whole:
		return abi.InvalidParam("include_total", "of this list only some is shown, which cannot be counted: name one workspace")
	}
	at := p.within(o)
	at.Limit = math.MaxInt
	list.Total, list.TotalMore, err = d.store.Count(ctx, c.Tenant, o, s, at)
	return d.ledger.Failed("counting", err)
}

// maxCounted is up to where the Messages of each Session of a list are counted.
const maxCounted = 1000

// withMessageCount adds to a Session how many Messages its transcript has.
func (d *Desk) withMessageCount(ctx context.Context, t storage.Tenant, doc Doc) (Doc, error) {
	n, more, err := d.store.Count(ctx, t, abi.ObjectMessage, Scope{Object: abi.ObjectSession, ID: doc.ID}, storage.Page{Limit: maxCounted})
	if err != nil {
		return doc, d.ledger.Failed("counting messages", err)
	}
	doc.JSON = WithMember(doc.JSON, "message_count", strconv.AppendInt(nil, int64(n), 10))
	if more {
		doc.JSON = WithMember(doc.JSON, "message_count_more", jsontext.Value("true"))
	}
	return doc, nil
}

// shownWhole reports whether a caller is shown every entry of the scope that a filter comes down
// to.
func (d *Desk) shownWhole(ctx context.Context, c *Caller, o abi.Object, f Filter, s Scope) (bool, error) {
	if f.narrows() {
		return false, nil
	}
	rest := f
	switch s.Object {
	case abi.ObjectWorkspace:
		rest.WorkspaceID = ""
		return rest == (Filter{}) && c.Sees(s.ID), nil
	case abi.ObjectSession, abi.ObjectTask:
		at, err := d.ownersOf(ctx, c.Tenant, s.Object, s.ID)
		if err != nil {
			if ledger.IsNotFound(err) {
				err = nil
			}
			return len(c.Workspaces) == 0, err
		}
		belongs := Matches(f.WorkspaceID, at.WorkspaceID) && (s.Object == abi.ObjectSession || Matches(f.SessionID, at.SessionID))
		return belongs && c.Sees(at.WorkspaceID), nil
	}
	// The tenant's list has what was deleted or is hidden, too.
	return rest == (Filter{}) && len(c.Workspaces) == 0 && o != abi.ObjectSession && o != abi.ObjectPersona, nil
}

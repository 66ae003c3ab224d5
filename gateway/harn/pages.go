package harn

import (
	"strconv"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// maxOffset is how far a list is read by offset.
const maxOffset = 10_000

// The orders of a list, by when things were made.
const (
	ascending  = "asc"
	descending = "desc"
)

// paged makes the route a list that is read from both ends, whose own order that is.
func (rt row) paged(own string, filters ...string) row {
	return rt.list(filters...).with(
		gateway.Param{Name: "order", In: "query", Doc: "`asc`: the oldest first. `desc`: the newest first.",
			Schema: gateway.Schema{"type": "string", "enum": []string{ascending, descending}, "default": own}},
		gateway.Param{Name: "before", In: "query", Doc: "`page.previous_cursor` of a page, or any cursor of the list: what lies just before it is answered, " +
			"in the same order. Not beside `cursor` or `offset`.", Schema: text()},
		gateway.Param{Name: "offset", In: "query", Doc: "How many to leave out first, where the list shows all that there is: of the tenant, one Workspace or one Session. Not beside `cursor`.",
			Schema: gateway.Schema{"type": "integer", "minimum": 0, "maximum": maxOffset, "default": 0}},
		flagParam("include_total", "Whether to tell how many the list has in all, as `page.total`. For the lists that take an `offset`. Messages are counted up to 10,000."),
	)
}

func flagParam(name, doc string) gateway.Param {
	return gateway.Param{Name: name, In: "query", Doc: doc, Schema: gateway.Schema{"type": "boolean", "default": false}}
}

// flagOf returns a parameter that is true or false.
func flagOf(r *gateway.Request, param string) (bool, error) {
	switch {
	case !r.HasQuery(param), r.Query(param) == "false":
		return false, nil
	case r.Query(param) == "true":
		return true, nil
	}
	return false, abi.InvalidParam(param, "%s is true or false", param)
}

// byStatus adds the filters by status, which is one of those listed, and by Persona.
func byStatus[T ~string](rt row, statuses []T) row {
	return rt.with(
		gateway.Param{Name: "status", In: "query", Doc: "Only those with this status. A page looks at 2,000 at most: it may have fewer than `limit`, or none, though more follow.",
			Schema: gateway.Schema{"type": "string", "enum": statuses}},
		gateway.Param{Name: "persona_id", In: "query", Doc: "Only those of this Persona. As with `status`, pages may be short.", Schema: text()})
}

// timed adds the filters by time.
func (rt row) timed() row {
	time := func(name, doc string) gateway.Param {
		return gateway.Param{Name: name, In: "query", Doc: doc + " To the millisecond, as its id tells.", Schema: moment()}
	}
	return rt.with(time("created_after", "Only what was made after this time."), time("created_before", "Only what was made before this time."))
}

// sendList answers with the page that the request asks for, of a list that is read from both
// ends. own is the order of the list.
func (a *Adapter) sendList(r *gateway.Request, own string, fetch func(api.Page) (api.List, error)) error {
	p, err := pageOfRequest(r, own)
	if err != nil {
		return err
	}
	docs, err := fetch(p)
	if err != nil {
		return err
	}
	list := listIdentity(r)
	next := ""
	if docs.Next != "" && (docs.More || p.Back) {
		next = sealCursor(list, docs.Next)
	}
	body := appendPage(pageData(docs), docs.More, next, docs.Unreadable...)
	if r.HasQuery("order") || r.HasQuery("before") || r.HasQuery("offset") {
		previous := []byte("null")
		if docs.Previous != "" {
			previous = jsonw.String(nil, sealCursor(list, docs.Previous))
		}
		body = withMember(body, "previous_cursor", previous)
	}
	if p.Total {
		body = withMember(body, "total", strconv.AppendInt(nil, int64(docs.Total), 10))
	}
	if docs.TotalMore {
		body = withMember(body, "total_at_least", []byte("true"))
	}
	r.Send(statusOK, body)
	return nil
}

// pageOfRequest returns the page that a request asks for.
func pageOfRequest(r *gateway.Request, own string) (p api.Page, err error) {
	if p.Limit, err = limitOf(r); err != nil {
		return p, err
	}
	if p.Reversed, err = reversed(r, own); err != nil {
		return p, err
	}
	if p.Offset, err = offsetOf(r); err != nil {
		return p, err
	}
	if p.Total, err = flagOf(r, "include_total"); err != nil {
		return p, err
	}
	p.After, p.Back, err = placeOf(r, p.Offset > 0)
	return p, err
}

// between narrows a page to what the request asks for by time.
func between(r *gateway.Request, p *api.Page) (err error) {
	if p.CreatedAfter, err = timeOf(r, "created_after"); err != nil {
		return err
	}
	p.CreatedBefore, err = timeOf(r, "created_before")
	return err
}

func reversed(r *gateway.Request, own string) (bool, error) {
	switch order := r.Query("order"); {
	case !r.HasQuery("order"), order == own:
		return false, nil
	case order == ascending, order == descending:
		return true, nil
	}
	return false, abi.InvalidParam("order", "order is asc or desc")
}

func offsetOf(r *gateway.Request) (int, error) {
	if !r.HasQuery("offset") {
		return 0, nil
	}
	offset, err := strconv.Atoi(r.Query("offset"))
	if err != nil || offset < 0 || offset > maxOffset {
		return 0, abi.InvalidParam("offset", "offset must be a whole number from 0 to %d: read what lies further by cursor", maxOffset)
	}
	return offset, nil
}

// placeOf returns the cursor that a page begins at, and whether it lies before it.
func placeOf(r *gateway.Request, counted bool) (after string, back bool, err error) {
	param := "cursor"
	if back = r.Query("before") != ""; back {
		if param = "before"; r.Query("cursor") != "" {
			return "", false, abi.InvalidParam("before", "a page lies after a cursor or before one: send only one of the two")
		}
	}
	if after, err = openCursor(listIdentity(r), r.Query(param)); err != nil {
		return "", false, abi.InvalidParam(param, "this cursor does not belong to this list")
	}
	if counted && after != "" {
		return "", false, abi.InvalidParam("offset", "an offset counts from the beginning of the list: send it without a cursor")
	}
	return after, back, nil
}

func timeOf(r *gateway.Request, param string) (at time.Time, err error) {
	if !r.HasQuery(param) {
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339Nano, r.Query(param)); err != nil || at.IsZero() {
		return at, abi.InvalidParam(param, "%s is a time such as 2026-05-01T12:00:00Z", param)
	}
	return at, nil
}

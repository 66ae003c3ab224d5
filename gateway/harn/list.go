package harn

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

const (
	defaultLimit = 50
	maxLimit     = 200
)

// list reads a kind of resource, narrowed by whatever filters the query has.
func (a *Adapter) list(o abi.Object) gateway.Handler {
	return func(r *gateway.Request) error {
		return a.sendList(r, descending, func(p api.Page) (api.List, error) {
			return a.listed(r, o, queryFilter(r), p)
		})
	}
}

// listed lists what the query lets through. Tasks and Sessions are narrowed by time, for each of
// their ids tells when it was made, by status and by Persona.
func (a *Adapter) listed(r *gateway.Request, o abi.Object, f api.Filter, p api.Page) (api.List, error) {
	statuses := statusesOf(o)
	if statuses == nil {
		return a.core.List(r.Context(), r.Caller, o, f, p)
	}
	if err := between(r, &p); err != nil {
		return api.List{}, err
	}
	var err error
	if f.Status, f.PersonaID = r.Query("status"), r.Query("persona_id"); r.HasQuery("status") && !slices.Contains(statuses, f.Status) {
		return api.List{}, abi.InvalidParam("status", "%q is not one of %s", f.Status, statuses)
	}
	if o == abi.ObjectSession {
		p.MessageCounts, err = flagOf(r, "include_message_count")
	}
	if err != nil {
		return api.List{}, err
	}
	return a.core.List(r.Context(), r.Caller, o, f, p)
}

// statusesOf returns the statuses that a kind of resource is listed by, nil for none.
func statusesOf(o abi.Object) (all []string) {
	switch o {
	case abi.ObjectTask:
		for _, s := range abi.TaskStatuses() {
			all = append(all, string(s))
		}
	case abi.ObjectSession:
		for _, s := range abi.SessionStates() {
			all = append(all, string(s))
		}
	}
	return all
}

// listSessions lists Sessions, or those that something outside calls so.
func (a *Adapter) listSessions(r *gateway.Request) error {
	if !r.HasQuery("ref") && !r.HasQuery("ref_kind") {
		return a.list(abi.ObjectSession)(r)
	}
	return a.sendPage(r, func(api.Page) (api.List, error) {
		return a.core.SessionsCalled(r.Context(), r.Caller, r.Query("workspace_id"), abi.OutsideRef{Kind: r.Query("ref_kind"), Ref: r.Query("ref")})
	})
}

// listWithin reads the resources of the one that the path names.
func (a *Adapter) listWithin(o, owner abi.Object, param string) gateway.Handler {
	return func(r *gateway.Request) error {
		id := r.PathValue(param)
		if _, err := a.core.Get(r.Context(), r.Caller, owner, id); err != nil {
			return err
		}
		return a.sendList(r, descending, func(p api.Page) (api.List, error) {
			return a.listed(r, o, api.Filter{SessionID: id}, p)
		})
	}
}

func (a *Adapter) messages(r *gateway.Request) error {
	return a.sendList(r, ascending, func(p api.Page) (api.List, error) {
		return a.core.Messages(r.Context(), r.Caller, r.PathValue("session_id"), p)
	})
}

func queryFilter(r *gateway.Request) api.Filter {
	return api.Filter{
		WorkspaceID: r.Query("workspace_id"), SessionID: r.Query("session_id"), TaskID: r.Query("task_id"),
	}
}

// sendPage answers with the page that the request asks for.
func (a *Adapter) sendPage(r *gateway.Request, fetch func(api.Page) (api.List, error)) error {
	return a.sendPageAs(r, statusOK, fetch)
}

func (a *Adapter) sendPageAs(r *gateway.Request, status int, fetch func(api.Page) (api.List, error)) error {
	limit, err := limitOf(r)
	if err != nil {
		return err
	}
	list := listIdentity(r)
	after, err := openCursor(list, r.Query("cursor"))
	if err != nil {
		return err
	}
	docs, err := fetch(api.Page{After: after, Limit: limit})
	if err != nil {
		return err
	}
	r.Send(status, encodePage(list, docs))
	return nil
}

func encodePage(list [sha256.Size]byte, docs api.List) []byte {
	next := ""
	if docs.More && docs.Next != "" {
		next = sealCursor(list, docs.Next)
	}
	return appendPage(pageData(docs), docs.More, next, docs.Unreadable...)
}

// pageData begins a list envelope with what a page has.
func pageData(docs api.List) []byte {
	size := 256
	for _, doc := range docs.Views {
		size += len(doc.JSON) + 1
	}
	body := append(make([]byte, 0, size), `{"object":"list","data":[`...)
	for i, doc := range docs.Views {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, doc.JSON...)
	}
	return body
}

// appendPage closes a list envelope; an empty next is null. unreadable are the ids of
// what belongs in the page and cannot be shown.
func appendPage(body []byte, more bool, next string, unreadable ...string) []byte {
	body = append(body, `],"page":{"has_more":`...)
	body = strconv.AppendBool(body, more)
	body = append(body, `,"next_cursor":`...)
	if next == "" {
		body = append(body, "null"...)
	} else {
		body = jsonw.String(body, next)
	}
	for i, id := range unreadable {
		if i == 0 {
			body = append(body, `,"unreadable":[`...)
		} else {
			body = append(body, ',')
		}
		body = jsonw.String(body, id)
	}
	if len(unreadable) > 0 {
		body = append(body, ']')
	}
	return append(body, "}}"...)
}

// withMember adds a member to the page that ends a list envelope.
func withMember(body []byte, name string, value []byte) []byte {
	body = append(body[:len(body)-2], `,"`...)
	body = append(append(body, name...), `":`...)
	return append(append(body, value...), "}}"...)
}

func limitOf(r *gateway.Request) (int, error) {
	if !r.HasQuery("limit") {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(r.Query("limit"))
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, abi.InvalidParam("limit", "limit must be a whole number from 1 to %d", maxLimit)
	}
	return limit, nil
}

// listIdentity is what a cursor is bound to: the tenant, the path and the filters.
func listIdentity(r *gateway.Request) [sha256.Size]byte {
	f := queryFilter(r)
	parts := []string{r.Caller.TenantID, r.Target(), f.WorkspaceID, f.SessionID, f.TaskID, r.Query("scope"), r.Query("owner_id"), r.Query("q")}
	for _, name := range []string{"created_after", "created_before", "status", "persona_id"} { // cursors of before they could be asked for still fit
		if r.HasQuery(name) {
			parts = append(parts, name, r.Query(name))
		}
	}
	return listHash(parts...)
}

func listHash(parts ...string) [sha256.Size]byte {
	var all []byte
	for _, part := range parts {
		all = strconv.AppendInt(all, int64(len(part)), 10)
		all = append(append(all, ':'), part...)
	}
	return sha256.Sum256(all)
}

// cursorSum is the length of a cursor's checksum.
const cursorSum = 8

// sealCursor makes a cursor opaque and bound to its list. The checksum has no
// key: it keeps clients from mixing cursors up. A forged one names a place in a
// list that its maker may read anyway.
func sealCursor(list [sha256.Size]byte, after string) string {
	return base64.RawURLEncoding.EncodeToString(append(cursorCheck(list, after), after...))
}

func cursorCheck(list [sha256.Size]byte, after string) []byte {
	sum := sha256.Sum256(append(list[:], after...))
	return sum[:cursorSum]
}

// openCursor returns what sealCursor was given. No cursor is the beginning.
func openCursor(list [sha256.Size]byte, cursor string) (after string, err error) {
	if cursor == "" {
		return "", nil
	}
	bad := abi.InvalidParam("cursor", "this cursor does not belong to this list")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) <= cursorSum {
		return "", bad
	}
	after = string(raw[cursorSum:])
	if !bytes.Equal(cursorCheck(list, after), raw[:cursorSum]) {
		return "", bad
	}
	return after, nil
}

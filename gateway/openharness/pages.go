package openharness

import (
	"encoding/base64"
	"strconv"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// Bounds of a page.
const (
	defaultLimit = 20
	maxLimit     = 100
	maxOffset    = 10_000
)

// paged is part of a list, in the words of both kinds of clients: those that page by offset read
// data and total, those that page by cursor items and cursor.
type paged[T any] struct {
	Data    []T    `json:"data"`
	Items   []T    `json:"items"`
	Total   int    `json:"total"`
	Limit   int    `json:"limit"`
	Offset  int    `json:"offset"`
	HasMore bool   `json:"has_more"`
	Cursor  string `json:"cursor,omitzero"`
}

// asked is the part of a list that a request asks for.
type asked struct {
	limit, offset int
	after         string // where the page before has ended, of a list that has such places
}

// pageOf reads which part of a list a request asks for.
func pageOf(r *gateway.Request) (p asked, err error) {
	if p.limit, err = number(r, "limit", defaultLimit, 1, maxLimit); err != nil {
		return p, err
	}
	if p.offset, err = number(r, "offset", 0, 0, maxOffset); err != nil {
		return p, err
	}
	if !r.HasQuery("cursor") || r.Query("cursor") == "" {
		return p, nil
	}
	if r.HasQuery("offset") {
		return p, abi.InvalidParam("cursor", "a page is asked for by cursor or by offset, not by both")
	}
	return openCursor(r.Query("cursor"), p)
}

// A cursor holds how many came before it, which a list that is counted goes on after, and the
// place in the log that one which has such places does.

func openCursor(cursor string, p asked) (asked, error) {
	wrong := abi.InvalidParam("cursor", "the cursor is not one of this list")
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return p, wrong
	}
	var at cursorText
	if json.Unmarshal(text, &at) != nil || at.Offset < 0 {
		return p, wrong
	}
	p.offset, p.after = at.Offset, at.After
	return p, nil
}

type cursorText struct {
	Offset int    `json:"n"`
	After  string `json:"a,omitzero"`
}

func sealCursor(offset int, after string) string {
	text, _ := json.Marshal(cursorText{offset, after}) // two plain members
	return base64.RawURLEncoding.EncodeToString(text)
}

// number reads a whole number of the query.
func number(r *gateway.Request, name string, otherwise, least, most int) (int, error) {
	if !r.HasQuery(name) {
		return otherwise, nil
	}
	n, err := strconv.Atoi(r.Query(name))
	if err != nil || n < least || n > most {
		return 0, abi.InvalidParam(name, "%s is a whole number of %d to %d", name, least, most)
	}
	return n, nil
}

// flag reads a truth of the query.
func flag(r *gateway.Request, name string, otherwise bool) (bool, error) {
	switch r.Query(name) {
	case "":
		return otherwise, nil
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, abi.InvalidParam(name, "%s is true or false", name)
}

// page answers with part of a list that is in memory as a whole.
func page[T any](r *gateway.Request, all []T, named ...string) error {
	return pageShown(r, all, func(one T) (T, error) { return one, nil }, named...)
}

// pageShown is page for a list of which only what the page has is put into the protocol's words.
func pageShown[S, T any](r *gateway.Request, all []S, show func(S) (T, error), named ...string) error {
	p, err := pageOf(r)
	if err != nil {
		return err
	}
	from := min(p.offset, len(all))
	to := min(from+p.limit, len(all))
	shown := paged[T]{Data: make([]T, 0, to-from), Total: len(all), Limit: p.limit, Offset: p.offset, HasMore: to < len(all)}
	for _, one := range all[from:to] {
		said, err := show(one)
		if err != nil {
			return err
		}
		shown.Data = append(shown.Data, said)
	}
	return sendPage(r, shown, "", named...)
}

// listed answers with part of a list of the engine's. show puts what the list has into the
// protocol's words.
func listed[T any](r *gateway.Request, fetch func(api.Page) (api.List, error), show func(api.View) (T, error), named ...string) error {
	p, err := pageOf(r)
	if err != nil {
		return err
	}
	q := api.Page{Limit: p.limit, Offset: p.offset, Total: true}
	if p.after != "" {
		q.Offset, q.After = 0, p.after
	}
	list, err := fetch(q)
	if err != nil {
		return err
	}
	shown := paged[T]{Data: make([]T, 0, len(list.Views)), Total: list.Total, Limit: p.limit, Offset: p.offset, HasMore: list.More}
	for _, view := range list.Views {
		one, err := show(view)
		if err != nil {
			return err
		}
		shown.Data = append(shown.Data, one)
	}
	return sendPage(r, shown, list.Next, named...)
}

// mostGathered bounds what is looked through of a list of which only some is asked for, and
// mostFetched in how many pieces.
const (
	mostGathered = maxOffset + maxLimit
	mostFetched  = 200
)

// gather returns what a list of the engine's has, up to a bound, of which show makes something.
// It is for lists that are narrowed by what they hold, which the engine cannot count by their keys.
func gather[T any](fetch func(api.Page) (api.List, error), show func(api.View) (one T, ok bool, err error)) ([]T, error) {
	var all []T
	p := api.Page{Limit: maxLimit}
	for range mostFetched {
		list, err := fetch(p)
		if err != nil {
			return nil, err
		}
		for _, view := range list.Views {
			one, ok, err := show(view)
			if err != nil {
				return nil, err
			}
			if ok {
				all = append(all, one)
			}
		}
		if !list.More || len(all) >= mostGathered {
			break
		}
		p.After = list.Next
	}
	return all, nil
}

// sendPage completes a page. named are the names by which some clients look for what it has.
func sendPage[T any](r *gateway.Request, p paged[T], next string, named ...string) error {
	if p.Data == nil {
		p.Data = []T{}
	}
	p.Items = p.Data
	if p.HasMore {
		p.Cursor = sealCursor(p.Offset+len(p.Data), next)
	}
	if len(named) == 0 {
		return send(r, statusOK, &p)
	}
	body, err := json.Marshal(&p, json.Deterministic(true))
	if err != nil {
		return err
	}
	data, err := json.Marshal(p.Data, json.Deterministic(true))
	if err != nil {
		return err
	}
	for _, name := range named {
		body = withMember(body, name, data)
	}
	r.Send(statusOK, body)
	return nil
}

// withMember adds a member to an object that has others.
func withMember(object []byte, name string, value jsontext.Value) []byte {
	with := append(object[:len(object)-1:len(object)-1], `,"`+name+`":`...)
	return append(append(with, value...), '}')
}

// send answers with a document.
func send(r *gateway.Request, status int, v any) error {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	r.Send(status, body)
	return nil
}

// sent answers with what a write has left, and says so when it had been made before.
func sent(r *gateway.Request, status int, written api.View, v any) error {
	replayed(r, written)
	return send(r, status, v)
}

func replayed(r *gateway.Request, written api.View) {
	if written.Replayed {
		r.SetHeader("Idempotent-Replayed", "true")
	}
}

// empty answers with nothing.
func empty(r *gateway.Request) error {
	r.HTTP.SetStatusCode(statusNoContent)
	return nil
}

// as reads what the engine shows.
func as[T any](view api.View) (v T, err error) {
	return v, json.Unmarshal(view.JSON, &v)
}

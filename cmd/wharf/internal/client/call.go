package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Call is a request that one resource answers, or a list of them: see [Do] and [List].
type Call struct {
	method, path string
	body         any // nil for none
	query        url.Values
	limit        int
	patient      bool
	from         string
}

func newCall(method, path string, body any, args []string) Call {
	for _, arg := range args {
		path = strings.Replace(path, "{}", url.PathEscape(arg), 1)
	}
	return Call{method: method, path: path, body: body, query: url.Values{}}
}

// Get reads what is at a path, in which {} stands for an argument: an id, which is escaped.
func Get(path string, args ...string) Call { return newCall(http.MethodGet, path, nil, args) }

// Post sends a body, nil for none, to a path as [Get] has it.
func Post(body any, path string, args ...string) Call {
	return newCall(http.MethodPost, path, body, args)
}

// Put is as [Post].
func Put(body any, path string, args ...string) Call {
	return newCall(http.MethodPut, path, body, args)
}

// Patch is as [Post].
func Patch(body any, path string, args ...string) Call {
	return newCall(http.MethodPatch, path, body, args)
}

// Delete removes what is at a path as [Get] has it.
func Delete(path string, args ...string) Call { return newCall(http.MethodDelete, path, nil, args) }

// Narrow has a list hold what fits a value only; "" narrows nothing.
func (c Call) Narrow(name, value string) Call {
	setIf(c.query, name, value)
	return c
}

// Most has a list end after as many entries.
func (c Call) Most(limit int) Call {
	c.limit = limit
	return c
}

// From says which live client of the Session a call comes from; "" says nothing.
func (c Call) From(client string) Call {
	c.from = client
	return c
}

// Patiently waits for the answer for as long as it takes.
func (c Call) Patiently() Call {
	c.patient = true
	return c
}

func (c Call) request() request {
	r := request{method: c.method, path: c.path, query: c.query}
	if c.patient {
		r.patience = -1
	}
	if c.from != "" {
		r.header = withHeader(nil, "Wharf-Client-Id", c.from)
	}
	return r
}

// Send makes a call of which the answer says nothing.
func (c *Client) Send(ctx context.Context, call Call) error {
	return c.call(ctx, call.request(), call.body, nil)
}

// Do makes a call and returns the resource that answers it.
func Do[T any](ctx context.Context, c *Client, call Call) (doc Doc[T], err error) {
	err = c.call(ctx, call.request(), call.body, &doc)
	return doc, err
}

// List returns all entries of a list, page by page, in the node's order.
func List[T any](ctx context.Context, c *Client, call Call) ([]Doc[T], error) {
	return collect[T](ctx, c, call, nil)
}

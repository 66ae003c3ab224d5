package acp

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// feature is the methods of one part of the protocol, by their names.
type feature map[string]method

// features lists the parts, each of which has a file of its own.
func (a *Adapter) features() []feature {
	return []feature{a.beginning(), a.sessions(), a.prompting(), a.settings(), a.live(), a.inbox(), a.catalog(), a.hosting()}
}

// method is one that clients may call.
type method struct {
	// standard methods are the protocol's own; others are Harn's, and have a second name.
	standard bool
	// told methods are notifications: nobody waits for an answer.
	told bool
	// always methods may be called before the connection is initialized, and without a credential.
	always bool
	about  string // what it is for, of a method that is not standard
	scope  string // what the caller must have; "" asks for nothing
	do     func(ctx context.Context, q *request) (any, error)
}

// request is a call of a method.
type request struct {
	*jsonrpc.Request
	conn   *conn
	caller *api.Caller // nil for a method that may always be called
}

// checked are parameters that say what is wrong with them.
type checked interface{ check() error }

// inSession are parameters that name a session.
type inSession interface{ session() string }

// takes returns a method that is handed its parameters as a P.
func takes[P any](scope string, do func(ctx context.Context, q *request, p *P) (any, error)) method {
	return method{scope: scope, do: func(ctx context.Context, q *request) (any, error) {
		p := new(P)
		if err := decodeParams(q.Params, p); err != nil {
			return nil, err
		}
		if of, ok := any(p).(inSession); ok {
			q.caller = q.conn.as(q.caller, of.session())
		}
		return do(ctx, q, p)
	}}
}

func decodeParams(params jsontext.Value, p any) error {
	if params != nil && params.Kind() != '{' {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params are an object")
	}
	if params != nil {
		if err := json.Unmarshal(params, p); err != nil {
			return misread(err)
		}
	}
	if of, ok := p.(checked); ok {
		return of.check()
	}
	return nil
}

// misread names the parameter that is not what it should be.
func misread(err error) error {
	fault, ok := plainly.Of(err)
	if !ok {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the params cannot be read")
	}
	return abi.InvalidParam(strings.ReplaceAll(strings.TrimPrefix(string(fault.Pointer), "/"), "/", "."), "%s", fault.Words)
}

// own makes it a method of the protocol itself.
func (m method) own() method {
	m.standard = true
	return m
}

// meant says what a method is for that is not the protocol's own.
func (m method) meant(about string) method {
	m.about = about
	return m
}

// notified makes it a notification.
func (m method) notified() method {
	m.told = true
	return m
}

// extension begins the second name of what is not the protocol's own: clients whose library lets them
// call only names that begin with an underscore.
const extension = "_harn/"

// method returns the method of a name.
func (a *Adapter) method(name string) (method, bool) {
	if m, ok := a.table[name]; ok {
		return m, true
	}
	short, extended := strings.CutPrefix(name, extension)
	m, ok := a.table[short]
	return m, ok && extended && !m.standard
}

// extensionMethods are the methods that are not the protocol's own, by the names that any client can call.
func (a *Adapter) extensionMethods() map[string]described {
	all := map[string]described{}
	for name, m := range a.table {
		if !m.standard {
			all[extension+name] = described{m.about}
		}
	}
	return all
}

// handle answers one request of the client.
func (c *conn) handle(ctx context.Context, r *jsonrpc.Request) (any, error) {
	defer c.answered(ctx)
	m, known := c.adapter.method(r.Method)
	if !m.always && !c.initialized(ctx) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "initialize comes first")
	}
	if !known {
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "there is no method %q", r.Method)
	}
	if r.Notification && !m.told {
		return nil, nil // nobody would read the answer that it is for
	}
	q := &request{Request: r, conn: c}
	if !m.always {
		caller, err := c.link.Authenticate()
		if err != nil {
			return nil, err
		}
		if err := gateway.Require(caller, m.scope); err != nil {
			return nil, err
		}
		q.caller = caller
	}
	return m.do(ctx, q)
}

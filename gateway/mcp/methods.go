package mcp

//lint:file-ignore SA1019 clients may use what is deprecated as long as the protocol has it

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// method answers a request of one name.
type method func(ctx context.Context, q *request) (sdk.Result, error)

// feature is a part of the protocol: rows of the table of methods, and what is said of them.
type feature struct {
	methods map[string]method
	// unknown are those among the methods that the SDK does not know. Their parameters are decoded
	// by [request.decode].
	unknown []string
	// declare says to clients what the node can do. stateless says for which revision.
	declare func(c *sdk.ServerCapabilities, stateless bool)
}

// features lists all that is served.
func (a *Adapter) features() []feature {
	return []feature{a.tools(), a.tasks(), a.resources(), a.skillFiles(), a.prompts(), a.completions(), a.subscriptions()}
}

// server returns the SDK's server of one handler.
func (a *Adapter) server(features []feature, stateless bool) func(*http.Request) *sdk.Server {
	s := a.newServer(features, a.options(features, stateless))
	return func(*http.Request) *sdk.Server { return s }
}

func (a *Adapter) options(features []feature, stateless bool) *sdk.ServerOptions {
	capabilities := &sdk.ServerCapabilities{Logging: &sdk.LoggingCapabilities{}}
	for _, f := range features {
		if f.declare != nil {
			f.declare(capabilities, stateless)
		}
	}
	options := &sdk.ServerOptions{Capabilities: capabilities, Instructions: instructions, SupportedProtocolVersions: revisions(stateless)}
	if !stateless {
		options.GetSessionID = newSessionID
	}
	return options
}

func (a *Adapter) newServer(features []feature, options *sdk.ServerOptions) *sdk.Server {
	s := sdk.NewServer(a.implementation(), options)
	s.AddReceivingMiddleware(a.listening, a.answer)
	s.AddSendingMiddleware(a.saying)
	for _, f := range features {
		for _, name := range f.unknown {
			if err := sdk.AddReceivingCustomMethod(s, name, unreached); err != nil {
				panic(err) // a mistake in the table
			}
		}
	}
	return s
}

// implementation is what the node says of itself.
func (a *Adapter) implementation() *sdk.Implementation {
	return &sdk.Implementation{Name: a.cfg.Node, Title: "Wharf", Version: a.cfg.Version}
}

// instructions are told to models by some clients.
const instructions = "Each tool is a Skill of this Wharf node, and each call a Task: durable, recorded and proved by a receipt. " +
	"A call that fails says why; one that waits for a person says how that person answers."

// revisions are the revisions that one of the two handlers speaks.
func revisions(stateless bool) (all []string) {
	for _, v := range sdk.SupportedProtocolVersions() {
		if (v >= firstStateless) == stateless {
			all = append(all, v)
		}
	}
	return all
}

// rawParams are the parameters of a method that the SDK does not know.
type rawParams struct {
	sdk.ParamsBase
	raw jsontext.Value
}

// UnmarshalJSON keeps the parameters as they are.
func (p *rawParams) UnmarshalJSON(text []byte) error {
	p.raw = bytes.Clone(text)
	var meta struct {
		Meta sdk.Meta `json:"_meta"`
	}
	if err := json.Unmarshal(text, &meta); err != nil {
		return errors.New("reading the parameters: " + plainly.Say(err)) // the client is told so
	}
	p.Meta = meta.Meta
	return nil
}

// unreached makes a method known to the SDK. The middleware answers before it is asked.
func unreached(context.Context, *sdk.ServerSession, *rawParams) (*reply, error) {
	return nil, notFound("")
}

// request is a request of a client, as the table's methods answer it.
type request struct {
	method  string
	caller  *api.Caller
	session *sdk.ServerSession // nil for one that is answered without the SDK
	in      sdk.Request
	params  sdk.Params
	extra   *sdk.RequestExtra
	posted  *posted
	said    *said    // once it was asked for
	resumed *resumed // the stream that the client has come back to, and is asked on; or nil
	// workspace is the Workspace that the client has chosen by its URL, "" for none.
	workspace string
	// stateless says that the request stands for itself: revision 2026-07-28.
	stateless bool
}

// ownerOf names whose a session is: a key's, or else that of the actor whom a token is for.
func ownerOf(c *api.Caller) string {
	if c.KeyID != "" {
		return c.TenantID + " key " + c.KeyID
	}
	return c.TenantID + " actor " + c.Actor
}

// answer is the middleware of both servers.
func (a *Adapter) answer(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, name string, in sdk.Request) (sdk.Result, error) {
		m, known := a.table[name]
		if !known {
			if name == "initialize" {
				return a.initialize(ctx, next, in)
			}
			if ofConnection(name) {
				return next(ctx, name, in)
			}
			return nil, notFound(name)
		}
		q, err := read(name, in)
		if err != nil {
			return nil, err
		}
		res, err := m(ctx, q)
		if err != nil {
			return nil, a.shown(q, err)
		}
		return res, nil
	}
}

// ofConnection reports whether a method belongs to the connection, which the SDK keeps.
func ofConnection(name string) bool {
	switch name {
	case "ping", "server/discover", "logging/setLevel", methodListen:
		return true
	}
	return strings.HasPrefix(name, "notifications/")
}

func read(name string, in sdk.Request) (*request, error) {
	extra := in.GetExtra()
	session, ok := in.GetSession().(*sdk.ServerSession)
	if !ok || extra == nil || extra.TokenInfo == nil {
		return nil, refuse(jsonrpc.CodeInternal, "the request has no caller", nil)
	}
	is, ok := extra.TokenInfo.Extra[postedKey].(*posted)
	if !ok {
		return nil, refuse(jsonrpc.CodeInternal, "the request has no caller", nil)
	}
	q := &request{method: name, caller: is.caller, session: session, in: in, params: in.GetParams(), extra: extra, posted: is, workspace: is.workspace}
	if err := q.inWorkspace(); err != nil {
		return nil, err
	}
	q.stateless = extra.Header.Get("Mcp-Protocol-Version") >= firstStateless
	return q, nil
}

// inWorkspace refuses a Workspace that the caller does not see.
func (q *request) inWorkspace() error {
	if q.workspace != "" && !q.caller.Sees(q.workspace) {
		return refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("there is no workspace %q", q.workspace), nil)
	}
	return nil
}

// sessionID is the id of the protocol's session, "" where there is none.
func (q *request) sessionID() string {
	if q.session == nil {
		return ""
	}
	return q.session.ID()
}

// may returns permission_denied unless the caller has a scope.
func (q *request) may(scope string) error { return gateway.Require(q.caller, scope) }

// decode reads the parameters of a method that the SDK does not know.
func (q *request) decode(into any) error {
	p, ok := q.params.(*rawParams)
	if !ok || len(p.raw) == 0 {
		return nil
	}
	if abi.TooDeep(p.raw, abi.MaxDepth) >= 0 {
		return refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("the parameters nest deeper than %d levels", abi.MaxDepth), nil)
	}
	if err := json.Unmarshal(p.raw, into); err != nil {
		return refuse(jsonrpc.CodeInvalidParams, "the parameters are not what this method takes", nil)
	}
	return nil
}

// reply is a result that is written as it is.
type reply struct {
	sdk.ResultBase
	members jsontext.Value // an object
}

// MarshalJSON implements json.Marshaler.
func (r *reply) MarshalJSON() ([]byte, error) {
	if len(r.Meta) == 0 {
		return r.members, nil
	}
	rest, own, err := withoutMeta(r.members)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(r.Meta)
	maps.Copy(all, own)
	meta, err := json.Marshal(all, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("writing _meta: %w", err)
	}
	return withMember(rest, "_meta", meta), nil
}

// withoutMeta takes the member _meta out of a result that has one of its own.
func withoutMeta(result jsontext.Value) (rest jsontext.Value, meta sdk.Meta, err error) {
	if !bytes.Contains(result, []byte(`"_meta":`)) { // neither the result nor anything in it
		return result, nil, nil
	}
	var of struct {
		Meta sdk.Meta       `json:"_meta"`
		Rest jsontext.Value `json:",embed"`
	}
	if err := json.Unmarshal(result, &of); err != nil {
		return nil, nil, fmt.Errorf("writing _meta: %w", err)
	}
	if of.Rest == nil {
		of.Rest = jsontext.Value("{}")
	}
	return of.Rest, of.Meta, nil
}

// withMember adds a member to an object, which has none of that name.
func withMember(object jsontext.Value, name string, value []byte) jsontext.Value {
	end := bytes.LastIndexByte(object, '}')
	b := append(make([]byte, 0, len(object)+len(name)+len(value)+4), object[:end]...)
	if len(bytes.TrimSpace(object[:end])) > 1 {
		b = append(b, ',')
	}
	b = append(append(append(b, '"'), name...), '"', ':')
	return append(append(b, value...), '}')
}

// reply returns v, which is written as an object, as the result of the request.
func (q *request) reply(v any) (sdk.Result, error) {
	return q.replyAs("complete", v)
}

// replyAs is reply with a type of result, which revisions with sessions do not have.
func (q *request) replyAs(kind string, v any) (sdk.Result, error) {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("writing a result of %s: %w", q.method, err)
	}
	if q.stateless {
		text = withMember(text, "resultType", []byte(`"`+kind+`"`))
	}
	return &reply{members: text}, nil
}

package gateway

import (
	"strings"

	"github.com/valyala/fasthttp"
)

// Handler answers one request, through the methods of [Request], or returns the
// error to answer with: an *abi.Error reaches the client, anything else is
// logged and answered as an internal error.
type Handler func(*Request) error

// BodyKind says what a route reads.
type BodyKind uint8

// The kinds of bodies.
const (
	// BodyNone: whatever is sent is ignored.
	BodyNone BodyKind = iota
	// BodyJSON: a JSON object.
	BodyJSON
	// BodyOptionalJSON: a JSON object or nothing.
	BodyOptionalJSON
	// BodyRaw: any media type; the handler reads the stream itself.
	BodyRaw
	// BodyForm: fields, as HTML forms and OAuth send them.
	BodyForm
	// BodyMultipart: a form with files, which the handler reads by [Request.Multipart].
	BodyMultipart
	// BodyZip: a zip archive; the handler reads the stream itself.
	BodyZip
)

// Param is a query parameter or request header of a route, as the OpenAPI
// document describes it. Path parameters follow from the path.
type Param struct {
	Name   string
	In     string // "query" or "header"
	Doc    string
	Schema Schema
}

// Route is one operation: a row of the table that drives everything.
type Route struct {
	Method    string
	Or        string // another method by which clients ask the same, "" for none; the document does not name it
	Path      string // with {name} for a parameter of one segment, {name:*} for all that is left
	Operation string // operationId, and the label in metrics
	Tag       string // the group in the OpenAPI document
	Summary   string // one line
	Doc       string // more, optional

	// Public routes need neither key nor version header.
	Public bool
	// Unversioned routes need a key but no version header: they are not part of
	// the protocol.
	Unversioned bool
	// Scope is what the caller's key must have; "" asks for nothing.
	Scope string
	// Idempotent routes honour Idempotency-Key.
	Idempotent bool

	Params []Param
	Body   BodyKind
	// Tolerant routes ignore members of a JSON body that are not known; others refuse
	// them.
	Tolerant bool
	// Request and Response name schemas of the adapter; "" for none.
	Request, Response string
	// Status is that of the usual answer; Also are the other answers that are not failures of
	// the request.
	Status int
	Also   []Answer
	// Media is the media type of the answer; "" is application/json.
	Media string
	// Forms are the other media types in which the usual answer is available.
	Forms []Form
	// Socket routes become a WebSocket for a client that asks for an upgrade.
	Socket bool
	// QueryToken says that a client that asks for an upgrade may send its key as ?token=, which
	// ends up in the logs of whatever lies between: for protocols that ask for it.
	QueryToken bool

	Handle Handler

	mount   *mounted // set when the server is made
	changes bool     // what is asked by it changes the node's configuration; set with mount
}

// Answer is an answer of a route besides the usual one. Empty answers have no
// body; others have the usual one's, unless they name a schema of their own.
type Answer struct {
	Status   int
	Doc      string
	Empty    bool
	Response string
}

// Form is a media type of an answer, and the schema of what it holds.
type Form struct {
	Media  string
	Schema Schema
}

// Schema is a JSON Schema as the OpenAPI document holds it.
type Schema = map[string]any

// documented returns the path as OpenAPI writes it, which knows no parameter of many segments.
func (rt *Route) documented() string { return strings.ReplaceAll(rt.Path, ":*}", "}") }

// versioned reports whether the protocol's rule about versions holds for the route.
func (rt *Route) versioned() bool {
	return !rt.Public && !rt.Unversioned && rt.mount != nil && rt.mount.Version != nil
}

// pathParams returns the names of the path's parameters in order.
func (rt *Route) pathParams() []string {
	var names []string
	for segment := range strings.SplitSeq(rt.Path, "/") {
		if strings.HasPrefix(segment, "{") {
			names = append(names, strings.TrimSuffix(strings.Trim(segment, "{}"), ":*"))
		}
	}
	return names
}

// methods returns what the router registers: HEAD comes with GET.
func (rt *Route) methods() []string {
	all := []string{rt.Method}
	if rt.Method == fasthttp.MethodGet {
		all = append(all, fasthttp.MethodHead)
	}
	if rt.Or != "" {
		all = append(all, rt.Or)
	}
	return all
}

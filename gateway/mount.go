package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
)

// Adapter is a protocol behind the gateway.
type Adapter interface {
	// Mount describes the protocol. It is called once.
	Mount() Mount
}

// Mount is what a protocol brings: the paths that are its own, what it answers there, and how
// it speaks. No protocol can change how another one answers.
type Mount struct {
	// Name tells protocols apart: in metrics, it comes before the operation. Letters and digits.
	Name string
	// Prefixes are the paths that are the protocol's own, each with all below it: "/a2a" is
	// /a2a and /a2a/x, and not /a2ax. A path belongs to the longest prefix that it is below.
	// "/" is whatever no other protocol has; that protocol's document describes the node's
	// own routes too.
	Prefixes []string
	// Routes lie below the prefixes.
	Routes []Route
	// Aliases are other prefixes of the protocol's own, and the prefix that each stands for: whatever
	// is found below that one is found below the alias too. The document does not name them.
	Aliases map[string]string
	// Schemas are those that the routes name, and those they refer to as
	// "#/components/schemas/<name>". Another protocol may use the same names.
	Schemas map[string]Schema
	// Document is how the protocol describes itself; nil for one that does not.
	Document *Document
	// Errors is the shape of every error below the prefixes, of those too that no route
	// answers; nil is [Envelope].
	Errors ErrorShape
	// Version is the protocol's rule about its versions; nil for none.
	Version *VersionRule
	// Guard is asked about every request for one of the routes before the caller is known, so that
	// what must not get here learns nothing of credentials; nil lets all pass.
	Guard func(*Request) error
	// Challenge returns what the protocol adds to the challenge of a request without credentials that
	// do (RFC 6750), such as resource_metadata="..."; nil adds nothing.
	Challenge func(*Request) string
	// Subprotocols are those of WebSockets that the protocol speaks.
	Subprotocols []string
}

// ErrorShape puts an error into a protocol's words; err must not be changed. It is called from
// many goroutines. What HTTP itself asks for (a challenge, Retry-After, Allow) the gateway adds by
// the status.
type ErrorShape func(r Refused, err *abi.Error) ErrorAnswer

// Refused is the request that an error answers.
type Refused struct {
	ID        string // the request's
	Operation string // the route's; "" where no route answers
	Call      []byte // as [Request.Call]
}

// ErrorAnswer is an error as a client reads it.
type ErrorAnswer struct {
	Status int
	Media  string
	Body   []byte
}

// Envelope is the shape of errors on the node's own paths.
func Envelope(r Refused, err *abi.Error) ErrorAnswer {
	return ErrorAnswer{Status: err.HTTPStatus(), Media: MediaJSON, Body: EncodeError(r.ID, err)}
}

// VersionRule says which versions of a protocol are spoken, and how a client names one.
type VersionRule struct {
	// Header is the request header that names the version, Doc what the document says of it.
	Header, Doc string
	Supported   []string
	// Check returns the error to answer with, after the caller is known and before the scope
	// is looked at. It is not asked on routes that are public or unversioned.
	Check func(*Request) error
}

// mounted is a Mount in its server.
type mounted struct {
	Mount
	routes  []Route
	openAPI []byte // nil without a Document
}

// operation returns the name of one of the mount's operations in metrics and in the log.
func (m *mounted) operation(rt *Route) string {
	if m.isRoot() {
		return rt.Operation
	}
	return m.Name + "." + rt.Operation
}

func (m *mounted) isRoot() bool {
	for _, prefix := range m.Prefixes {
		if prefix == "/" {
			return true
		}
	}
	return false
}

// mount takes the adapters in. It panics about what is a mistake in the program: two
// protocols with one name or prefix, a route that is not below its protocol's prefixes.
func (s *Server) mount(adapters []Adapter) {
	for _, a := range adapters {
		s.addMount(a.Mount())
	}
	if s.root == nil {
		s.addMount(Mount{Name: "wharf", Prefixes: []string{"/"}})
	}
	s.root.routes = append(s.systemRoutes(), s.root.routes...)
	for _, m := range s.mounts {
		m.addDocument()
		for i := range m.routes {
			s.checkPlace(m, &m.routes[i])
			m.routes[i].mount = m
			m.routes[i].changes = changesConfiguration(&m.routes[i])
		}
		m.describe(s.cfg, m == s.root)
		s.routes = append(s.routes, m.routes...)
	}
}

func (s *Server) addMount(given Mount) {
	m := &mounted{Mount: given, routes: given.Routes}
	if m.Errors == nil {
		m.Errors = Envelope
	}
	for _, other := range s.mounts {
		if other.Name == m.Name {
			panic("gateway: two protocols are called " + m.Name)
		}
	}
	for _, prefix := range slices.Concat(m.Prefixes, slices.Sorted(maps.Keys(m.Aliases))) {
		if s.owners[prefix] != nil {
			panic(fmt.Sprintf("gateway: %s and %s both have the prefix %s", s.owners[prefix].Name, m.Name, prefix))
		}
		s.owners[prefix] = m
	}
	if m.isRoot() {
		s.root = m
	}
	s.mounts = append(s.mounts, m)
}

// addDocument adds the route that serves the mount's document.
func (m *mounted) addDocument() {
	if m.Document == nil {
		return
	}
	m.routes = append(m.routes, Route{
		Method: fasthttp.MethodGet, Path: m.Document.Path, Operation: "getOpenAPI", Tag: tagSystem, Summary: "Describe every route",
		Public: true, Status: fasthttp.StatusOK, Response: "OpenAPIDocument",
		Handle: func(r *Request) error {
			r.Send(fasthttp.StatusOK, m.openAPI)
			return nil
		},
	})
}

// describe makes the mount's document of its routes.
func (m *mounted) describe(cfg Config, root bool) {
	if m.Document == nil {
		return
	}
	schemas := map[string]Schema{"OpenAPIDocument": {"type": "object", "description": "An OpenAPI 3.1 document."}}
	if root {
		maps.Copy(schemas, systemSchemas())
	}
	maps.Copy(schemas, m.Schemas)
	m.openAPI = openAPI(cfg, m, schemas)
}

// checkPlace holds that a route lies where its own protocol answers what goes wrong.
func (s *Server) checkPlace(m *mounted, rt *Route) {
	if owner := s.owner(rt.Path); owner != m {
		panic(fmt.Sprintf("gateway: %s %s is a route of %s, at a path of %s", rt.Method, rt.Path, m.Name, owner.Name))
	}
}

// paths returns the paths at which a route is found: its own first.
func (m *mounted) paths(rt *Route) []string {
	all := []string{rt.Path}
	for _, alias := range slices.Sorted(maps.Keys(m.Aliases)) {
		if rest, below := strings.CutPrefix(rt.Path, m.Aliases[alias]); below {
			all = append(all, alias+rest)
		}
	}
	return all
}

// canonical returns a path below an alias as the path that it stands for.
func (m *mounted) canonical(path string) string {
	for alias, prefix := range m.Aliases {
		if rest, below := strings.CutPrefix(path, alias); below && (rest == "" || rest[0] == '/') {
			return prefix + rest
		}
	}
	return path
}

// owner returns the mount that a path, as it was sent, belongs to.
func (s *Server) owner(path string) *mounted {
	path, _, _ = strings.Cut(path, "?")
	for path != "" {
		if m := s.owners[path]; m != nil && path != "/" {
			return m
		}
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
	return s.root
}

package gateway

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
)

// Document is how a protocol describes itself: an OpenAPI 3.1 document, made from its routes.
type Document struct {
	Path        string // where it is served
	Title       string
	Version     string // of the protocol
	Summary     string
	Description string
	Tags        [][2]string // the groups of routes, in their order, and what each is
}

// tagSystem is the group of what the node says about itself.
const tagSystem = "System"

// openAPI writes the OpenAPI 3.1 document of a protocol. It panics when a
// schema cannot be written, which is a mistake in the program.
func openAPI(cfg Config, m *mounted, schemas map[string]Schema) []byte {
	server := cfg.PublicURL
	if server == "" {
		server = "/"
	}
	if schemas["Error"] == nil {
		schemas["Error"] = errorSchema()
	}
	doc := Schema{
		"openapi": "3.1.0",
		"info": Schema{
			"title":       m.Document.Title,
			"version":     m.Document.Version,
			"summary":     m.Document.Summary,
			"description": m.Document.Description,
			"license":     Schema{"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0.html"},
			"contact":     Schema{"name": "The Wharf project", "url": "https://github.com/wharf-dev/wharf"},
		},
		"servers":  []Schema{{"url": server, "description": "This node"}},
		"security": security(""),
		"tags":     tagList(m),
		"paths":    paths(m.routes),
		"components": Schema{
			"schemas":    schemas,
			"parameters": sharedParameters(m.Version),
			"headers": Schema{"RequestId": Schema{"description": "Names this request in the node's log.",
				"schema": Schema{"type": "string", "pattern": "^req_[0-9A-Z]{26}$"}}},
			"responses": Schema{"Error": Schema{
				"description": "The request failed; `error.code` says why.",
				"headers":     requestIDHeader(),
				"content":     Schema{MediaJSON: Schema{"schema": ref("Error")}},
			}},
			"securitySchemes": securitySchemes(),
		},
	}
	text, err := json.Marshal(doc, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		panic("gateway: writing the OpenAPI document: " + err.Error())
	}
	return text
}

// securitySchemes are the two ways to show who calls.
func securitySchemes() Schema {
	scopes := Schema{}
	for _, s := range abi.Scopes() {
		scopes[s] = scopeDoc(s)
	}
	return Schema{
		"bearerAuth": Schema{"type": "http", "scheme": "bearer",
			"description": "An API key, bound to an actor, a tenant and scopes; or an access token of an issuer that the node trusts."},
		"oauth2ClientCredentials": Schema{"type": "oauth2",
			"description": "A token of the node's own issuer, which stands for an API key for a while. The client's id is the key's id, and its secret is the key.",
			"flows":       Schema{"clientCredentials": Schema{"tokenUrl": "/oauth/token", "scopes": scopes}}},
	}
}

// scopeDoc puts a scope into words.
func scopeDoc(scope string) string {
	switch scope {
	case abi.ScopeAdmin:
		return "Manage the keys of the own tenant."
	case abi.ScopeNode:
		return "Manage tenants, backups and metrics of the node."
	case abi.ScopeMetrics:
		return "Read the metrics of the node."
	case abi.ScopeEventsInternal:
		return "See content that is not public."
	case abi.ScopePersonasOwn:
		return "Make policy, with personas:write, for the Workspaces that the key is bound to."
	}
	resource, verb, _ := strings.Cut(scope, ":")
	return strings.ToUpper(verb[:1]) + verb[1:] + " " + strings.ReplaceAll(resource, "_", " ") + "."
}

// security says that either scheme does, with the given scope; "" is none.
func security(scope string) []Schema {
	scopes := []string{}
	if scope != "" {
		scopes = append(scopes, scope)
	}
	return []Schema{{"bearerAuth": []string{}}, {"oauth2ClientCredentials": scopes}}
}

// componentSchemas begins a reference to a schema of the document.
const componentSchemas = "#/components/schemas/"

func ref(schema string) Schema { return Schema{"$ref": componentSchemas + schema} }

func requestIDHeader() Schema {
	return Schema{"X-Request-Id": Schema{"$ref": "#/components/headers/RequestId"}}
}

func tagList(m *mounted) []Schema {
	var tags []Schema
	for _, tag := range append(slices.Clone(m.Document.Tags), [2]string{tagSystem, "Health, metrics and this document."}) {
		if slices.ContainsFunc(m.routes, func(rt Route) bool { return rt.Tag == tag[0] }) {
			tags = append(tags, Schema{"name": tag[0], "description": tag[1]})
		}
	}
	return tags
}

func paths(routes []Route) Schema {
	all := Schema{}
	for i := range routes {
		rt := &routes[i]
		path := rt.documented()
		item, ok := all[path].(Schema)
		if !ok {
			item = Schema{}
			all[path] = item
		}
		item[strings.ToLower(rt.Method)] = operation(rt)
	}
	return all
}

func operation(rt *Route) Schema {
	op := Schema{
		"operationId": rt.Operation,
		"summary":     rt.Summary,
		"description": description(rt),
		"tags":        []string{rt.Tag},
		"responses":   responses(rt),
	}
	if params := parameters(rt); len(params) > 0 {
		op["parameters"] = params
	}
	if rt.Socket {
		op["x-websocket-path"] = true
	}
	if rt.Public {
		op["security"] = []Schema{}
	} else if rt.Scope != "" {
		op["security"] = security(rt.Scope)
	}
	if body := requestBody(rt); body != nil {
		op["requestBody"] = body
	}
	return op
}

func description(rt *Route) string {
	text := rt.Summary + "."
	if rt.Doc != "" {
		text += " " + rt.Doc
	}
	if rt.Scope != "" {
		text += " Needs the scope `" + rt.Scope + "`."
	}
	return text
}

// sharedParameters are the parameters that stand before many routes.
func sharedParameters(rule *VersionRule) Schema {
	shared := Schema{
		"IdempotencyKey": Schema{"name": "Idempotency-Key", "in": "header", "required": false,
			"description": "Makes retries safe: equal requests with one key have one effect. Kept for at least 24 hours.",
			"schema":      Schema{"type": "string", "minLength": 1, "maxLength": 255}},
	}
	if rule != nil {
		shared["ProtocolVersion"] = Schema{"name": rule.Header, "in": "header", "required": true,
			"description": rule.Doc,
			"schema":      Schema{"type": "string", "enum": rule.Supported}}
	}
	return shared
}

func parameters(rt *Route) []Schema {
	var params []Schema
	for _, name := range rt.pathParams() {
		params = append(params, Schema{"name": name, "in": "path", "required": true,
			"description": "The id of the " + strings.ReplaceAll(strings.TrimSuffix(name, "_id"), "_", " ") + ".",
			"schema":      Schema{"type": "string"}})
	}
	if rt.versioned() {
		params = append(params, Schema{"$ref": "#/components/parameters/ProtocolVersion"})
	}
	if rt.Idempotent {
		params = append(params, Schema{"$ref": "#/components/parameters/IdempotencyKey"})
	}
	for _, p := range rt.Params {
		params = append(params, Schema{"name": p.Name, "in": p.In, "required": false, "description": p.Doc, "schema": p.Schema})
	}
	return params
}

func requestBody(rt *Route) Schema {
	if rt.Body == BodyNone {
		return nil
	}
	content, media := Schema{}, MediaJSON
	switch rt.Body {
	case BodyForm:
		media = MediaForm
	case BodyMultipart:
		media = mediaMultipart
	case BodyZip:
		content[mediaZip] = Schema{"schema": Schema{"type": "string", "format": "binary"}}
	}
	if rt.Request != "" {
		content[media] = Schema{"schema": ref(rt.Request)}
	}
	if rt.Body == BodyRaw {
		content["application/octet-stream"] = Schema{"schema": Schema{"type": "string", "format": "binary"}}
		content["multipart/form-data"] = Schema{"schema": object("One file.", Schema{
			"file": Schema{"type": "string", "format": "binary"}}, "file")}
	}
	body := Schema{"required": rt.Body != BodyOptionalJSON, "content": content}
	switch {
	case rt.Body == BodyForm || rt.Body == BodyMultipart || rt.Request == "":
	case rt.Tolerant:
		body["description"] = "Members that are not described are ignored."
	default:
		body["description"] = "Members that are not described are refused."
	}
	return body
}

func responses(rt *Route) Schema {
	all := Schema{"default": Schema{"$ref": "#/components/responses/Error"}}
	for _, status := range errorStatuses(rt) {
		all[strconv.Itoa(status)] = Schema{"$ref": "#/components/responses/Error"}
	}
	all[strconv.Itoa(rt.Status)] = answer(rt, Answer{
		Status: rt.Status, Doc: fasthttp.StatusMessage(rt.Status), Empty: rt.Status == fasthttp.StatusNoContent})
	if rt.Socket {
		all[strconv.Itoa(fasthttp.StatusSwitchingProtocols)] = answer(rt, Answer{
			Status: fasthttp.StatusSwitchingProtocols, Doc: "The connection is a WebSocket.", Empty: true})
	}
	for _, also := range rt.Also {
		all[strconv.Itoa(also.Status)] = answer(rt, also)
	}
	return all
}

// errorStatuses names the failures that every client of the route meets sooner
// or later; the default response covers the others.
func errorStatuses(rt *Route) []int {
	statuses := []int{fasthttp.StatusBadRequest}
	if !rt.Public {
		statuses = append(statuses, fasthttp.StatusUnauthorized, fasthttp.StatusForbidden)
	}
	if rt.versioned() {
		statuses = append(statuses, fasthttp.StatusUpgradeRequired)
	}
	if len(rt.pathParams()) > 0 {
		statuses = append(statuses, fasthttp.StatusNotFound)
	}
	if rt.Idempotent {
		statuses = append(statuses, fasthttp.StatusConflict)
	}
	return statuses
}

func answer(rt *Route, a Answer) Schema {
	described := Schema{"description": a.Doc, "headers": requestIDHeader()}
	if a.Empty {
		return described
	}
	media, content := rt.Media, Schema{"type": "string"}
	if media == "" {
		media = MediaJSON
	}
	if rt.Response != "" {
		content = ref(rt.Response)
	}
	if a.Response != "" {
		content = ref(a.Response)
	}
	bodies := Schema{media: Schema{"schema": content}}
	for _, form := range rt.Forms {
		bodies[form.Media] = Schema{"schema": form.Schema}
	}
	described["content"] = bodies
	return described
}

// ErrorSchema returns the schema of the error in an error envelope.
func ErrorSchema(doc string) Schema {
	s := Typed{}.Object(reflect.TypeFor[abi.Error](), doc)
	Describe(s, map[string]string{
		"code":       "What went wrong, for programs.",
		"message":    "What went wrong, for people. Its words may change.",
		"type":       "The group that the code belongs to.",
		"param":      "The member, parameter or header that is wrong.",
		"request_id": "Names this request in the node's log.",
		"details":    "More about it, where there is more to say.",
	})
	return s
}

func errorSchema() Schema {
	return object("The error envelope.", Schema{"error": ErrorSchema("What went wrong.")}, "error")
}

package openharness

import (
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// The statuses that this package answers with.
const (
	statusOK        = fasthttp.StatusOK
	statusCreated   = fasthttp.StatusCreated
	statusAccepted  = fasthttp.StatusAccepted
	statusNoContent = fasthttp.StatusNoContent
)

// routes returns the table: a group for each domain of the protocol.
func (a *Adapter) routes() []gateway.Route {
	var all []gateway.Route
	for _, group := range [][]gateway.Route{
		a.harnessRoutes(), a.agentRoutes(), a.webhookRoutes(), a.eventRoutes(), a.executionRoutes(), a.sessionRoutes(), a.diagnosticRoutes(),
		a.skillRoutes(), a.fileRoutes(), a.planRoutes(), a.hookRoutes(), a.memoryRoutes(), a.mcpRoutes(), a.toolRoutes(), a.subagentRoutes(), a.conformanceRoutes(),
	} {
		all = append(all, group...)
	}
	return all
}

// Every operation is DOMAIN.NAME, as the protocol calls it. Paths are below one harness, but for
// those that begin with a /.

func read(path, operation, scope, summary string, h gateway.Handler) gateway.Route {
	return route(fasthttp.MethodGet, path, operation, scope, summary, statusOK, h)
}

// post changes something, and takes a JSON object; whatever is not known in it is ignored.
func post(path, operation, scope, summary string, status int, h gateway.Handler) gateway.Route {
	return write(fasthttp.MethodPost, path, operation, scope, summary, status, h)
}

func patch(path, operation, scope, summary string, h gateway.Handler) gateway.Route {
	return write(fasthttp.MethodPatch, path, operation, scope, summary, statusOK, h)
}

func remove(path, operation, scope, summary string, h gateway.Handler) gateway.Route {
	rt := route(fasthttp.MethodDelete, path, operation, scope, summary, statusNoContent, h)
	rt.Idempotent = true
	return rt
}

func write(method, path, operation, scope, summary string, status int, h gateway.Handler) gateway.Route {
	rt := route(method, path, operation, scope, summary, status, h)
	rt.Body, rt.Tolerant, rt.Idempotent = gateway.BodyJSON, true, true
	return rt
}

func route(method, path, operation, scope, summary string, status int, h gateway.Handler) gateway.Route {
	if !strings.HasPrefix(path, "/") {
		path = "/{harnessId}" + strings.TrimSuffix("/"+path, "/")
	}
	return gateway.Route{Method: method, Path: prefix + strings.TrimSuffix(path, "/"), Operation: operation, Tag: domainOf(operation),
		Scope: scope, Summary: summary, Status: status, Handle: h}
}

// domainOf returns the domain of an operation.
func domainOf(operation string) string {
	domain, _, _ := strings.Cut(operation, ".")
	return domain
}

// decode reads a JSON body, and which write it is the same as.
func decode[T any](r *gateway.Request) (req T, retry *api.Write, err error) {
	body, err := r.Decode(&req)
	if err != nil {
		return req, nil, err
	}
	retry, err = r.Retry(body)
	return req, retry, err
}

package a2a

import (
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/gateway"
)

// oldPrefix is the path that those of REST of version 0.3 begin with.
const oldPrefix = prefix + "/v1"

// isOld reports whether an operation is one of REST of version 0.3.
func isOld(operation string) bool { return strings.HasPrefix(operation, "old.") }

// resource is a resource of REST: what is asked at a path by a method of HTTP is what a method of
// JSON-RPC does. Both versions have the same, but for their names.
type resource struct {
	method  string
	path    string
	oldPath string // "" where it is the same
	name    string // of the operation
	calls   string // the method of JSON-RPC in 1.0, and in 0.3
	oldCall string
	params  func(*gateway.Request) (map[string]any, error)
	takes   string // the body's member in the params; "." where the body is all params, "" for no body
}

func (a *Adapter) resources() []resource {
	const get, post, remove = fasthttp.MethodGet, fasthttp.MethodPost, fasthttp.MethodDelete
	return []resource{
		{method: post, path: "/message:send", name: "send", calls: "SendMessage", oldCall: "message/send", takes: "."},
		{method: post, path: "/message:stream", name: "stream", calls: "SendStreamingMessage", oldCall: "message/stream", takes: "."},
		{method: get, path: "/tasks", name: "list", calls: "ListTasks", oldCall: "tasks/list", params: listQuery},
		{method: get, path: "/extendedAgentCard", oldPath: "/card", name: "card", calls: "GetExtendedAgentCard", oldCall: "agent/getAuthenticatedExtendedCard"},
		{method: post, path: "/tasks/{id}/pushNotificationConfigs", name: "setPush", calls: "CreateTaskPushNotificationConfig",
			oldCall: "tasks/pushNotificationConfig/set", params: pushPath, takes: "config"},
		{method: get, path: "/tasks/{id}/pushNotificationConfigs", name: "listPush", calls: "ListTaskPushNotificationConfigs",
			oldCall: "tasks/pushNotificationConfig/list", params: pushPath},
		{method: get, path: "/tasks/{id}/pushNotificationConfigs/{configId}", name: "getPush", calls: "GetTaskPushNotificationConfig",
			oldCall: "tasks/pushNotificationConfig/get", params: pushPath},
		{method: remove, path: "/tasks/{id}/pushNotificationConfigs/{configId}", name: "deletePush", calls: "DeleteTaskPushNotificationConfig",
			oldCall: "tasks/pushNotificationConfig/delete", params: pushPath},
	}
}

// restRoutes are those of REST of both versions.
func (a *Adapter) restRoutes() []gateway.Route {
	var all []gateway.Route
	for _, res := range a.resources() {
		all = append(all, a.restRoute(&res, prefix, res.path, res.name, res.calls))
		path := res.path
		if res.oldPath != "" {
			path = res.oldPath
		}
		all = append(all, a.restRoute(&res, oldPrefix, path, "old."+res.name, res.oldCall))
	}
	all = append(all, a.taskRoutes(prefix, "", "GetTask", "SubscribeToTask", "CancelTask")...)
	return append(all, a.taskRoutes(oldPrefix, "old.", "tasks/get", "tasks/resubscribe", "tasks/cancel")...)
}

func (a *Adapter) restRoute(res *resource, below, path, operation, calls string) gateway.Route {
	rt := gateway.Route{Method: res.method, Path: below + path, Operation: operation, Tag: "a2a", Summary: "Call " + calls + " by REST",
		Unversioned: true, Status: fasthttp.StatusOK, Media: gateway.MediaEventStream, Tolerant: true, Scope: a.table[calls].scope}
	if res.takes != "" {
		rt.Body = gateway.BodyJSON
	}
	params, takes := res.params, res.takes
	rt.Handle = func(r *gateway.Request) error { return a.rest(r, calls, params, takes) }
	return rt
}

// taskRoutes are those whose path ends in a task and what to do with it.
func (a *Adapter) taskRoutes(below, before, get, subscribe, cancel string) []gateway.Route {
	route := func(method, name string, calls map[string]string) gateway.Route {
		return gateway.Route{Method: method, Path: below + "/tasks/{id}", Operation: before + name, Tag: "a2a", Summary: "Get a task, or do something with it",
			Unversioned: true, Status: fasthttp.StatusOK, Media: gateway.MediaEventStream, Handle: func(r *gateway.Request) error {
				id, action, _ := strings.Cut(r.PathValue("id"), ":")
				call := calls[action]
				if call == "" {
					return refuse(reasonNothing, "there is nothing at this path")
				}
				if err := r.Require(a.table[call].scope); err != nil {
					return err
				}
				return a.rest(r, call, func(r *gateway.Request) (map[string]any, error) { return taskQuery(r, id) }, "")
			}}
	}
	return []gateway.Route{
		route(fasthttp.MethodGet, "get", map[string]string{"": get, "subscribe": subscribe}),
		route(fasthttp.MethodPost, "act", map[string]string{"cancel": cancel, "subscribe": subscribe}),
	}
}

// rest answers what is asked by REST, as a method of JSON-RPC does it.
func (a *Adapter) rest(r *gateway.Request, calls string, params func(*gateway.Request) (map[string]any, error), takes string) error {
	m := a.table[calls]
	if err := checkVersion(r, m.in); err != nil {
		return err
	}
	c := &call{a, r, dialect{old: m.in == v03, harn: activated(r)}, m.scope, nil}
	if err := c.gather(params, takes); err != nil {
		return err
	}
	if m.stream != nil {
		return m.stream(c)
	}
	result, err := m.do(c)
	if err != nil {
		return err
	}
	text, err := c.dialect.encode(result)
	if err != nil {
		return err
	}
	r.Send(fasthttp.StatusOK, text)
	return nil
}

// gather makes the params of a path, a query and a body.
func (c *call) gather(params func(*gateway.Request) (map[string]any, error), takes string) error {
	var body []byte
	if takes != "" {
		var err error
		if body, err = c.r.JSONBody(); err != nil {
			return err
		}
	}
	if takes == "." {
		c.params = body
		return nil
	}
	all := map[string]any{}
	if params != nil {
		var err error
		if all, err = params(c.r); err != nil {
			return err
		}
	}
	if takes != "" {
		all[takes] = jsontext.Value(body)
	}
	text, err := json.Marshal(all, json.Deterministic(true))
	if err != nil {
		return refuse(reasonParse, "the request's body is no JSON text")
	}
	c.params = text
	return nil
}

// taskQuery reads how a task is asked for.
func taskQuery(r *gateway.Request, id string) (map[string]any, error) {
	all := map[string]any{"id": id}
	return all, number(r, all, "historyLength")
}

func pushPath(r *gateway.Request) (map[string]any, error) {
	all := map[string]any{"taskId": r.PathValue("id"), "id": r.PathValue("configId"), "pageToken": r.Query("pageToken")}
	return all, number(r, all, "pageSize")
}

func listQuery(r *gateway.Request) (map[string]any, error) {
	all := map[string]any{"contextId": r.Query("contextId"), "pageToken": r.Query("pageToken"), "tenant": r.Query("tenant")}
	for _, name := range []string{"status", "statusTimestampAfter"} {
		if r.HasQuery(name) {
			all[name] = r.Query(name)
		}
	}
	if r.HasQuery("includeArtifacts") {
		is, err := strconv.ParseBool(r.Query("includeArtifacts"))
		if err != nil {
			return nil, invalid("includeArtifacts", "includeArtifacts is true or false")
		}
		all["includeArtifacts"] = is
	}
	for _, name := range []string{"pageSize", "historyLength"} {
		if err := number(r, all, name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// number takes a number of the query into params.
func number(r *gateway.Request, all map[string]any, name string) error {
	if !r.HasQuery(name) {
		return nil
	}
	n, err := strconv.ParseInt(r.Query(name), 10, 32)
	if err != nil {
		return invalid(name, "%s is a number", name)
	}
	all[name] = n
	return nil
}

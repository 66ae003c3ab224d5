package openharness_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/openharness"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/owntools"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// bodies are what the routes with a body are sent, by operation, so that they have nothing to say but
// who asks, and for what. A route that is new needs one.
var bodies = map[string]map[string]any{
	"harnesses.register":            {"id": "new", "name": "n", "vendor": "v", "description": "d", "execution_type": "sdk", "config": map[string]any{"binary_path": "echo"}},
	"harnesses.update":              {"name": "n", "description": "d"},
	"harnesses.validateCredentials": {"api_key": "x"},
	"agents.create":                 {"name": "New", "description": "d", "system_prompt": "x", "config": map[string]any{}},
	"agents.import":                 {},
	"agents.update":                 {"name": "n", "description": "d", "system_prompt": "x"},
	"agents.clone":                  {"name": "Copy"},
	"webhooks.register":             {"url": "https://receiver.example/", "events": []string{"execution.completed"}, "secret": "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
	"execution.run":                 {"message": "go", "agent_id": "persona_agent", "skills": []string{"pdf"}, "model": "fast", "max_tokens": 5, "temperature": 1, "system_prompt": "x"},
	"execution.stream":              {"message": "go", "agent_id": "persona_agent", "skills": []string{"pdf"}, "model": "fast", "max_tokens": 5, "temperature": 1, "system_prompt": "x"},
	"execution.sendInput":           {"data": "x"},
	"sessions.create":               {"name": "n", "agent_id": "persona_agent"},
	"sessions.update":               {"name": "n"},
	"sessions.fork":                 {"new_name": "n"},
	"sessions.sendMessage":          {"content": "go"},
	"sessions.sendMessageStream":    {"content": "go"},
	"skills.register":               {"files": map[string]any{"new/SKILL.md": skillMD("new", "")}, "display_title": "t"},
	"skills.discover":               {"search_paths": []string{"skills"}},
	"skills.validate":               {"files": map[string]any{"new/SKILL.md": skillMD("new", "")}},
	"skills.update":                 {"display_title": "t", "category": "plugin"},
	"skills.rollback":               {"version": "1.0.0"},
	"skills.upgrade":                {"files": map[string]any{"pdf/SKILL.md": skillMD("pdf", "")}, "changelog": "x"},
	"files.write":                   {"content": "x"},
	"files.search":                  {"glob": "*", "grep": "x", "max_results": 5},
	"files.upload":                  {},
	"files.uploadBatch":             {},
	"files.downloadBatch":           {"paths": []string{"a.txt"}},
	"files.mkdir":                   {"path": "dir"},
	"planning.update":               {"tasks": []any{map[string]any{"content": "x", "status": "pending"}}},
	"planning.updateTask":           {"status": "completed", "content": "x"},
	"hooks.register":                {"event": "stop", "handler": map[string]any{"type": "webhook", "url": "https://receiver.example/"}, "enabled": true, "fail": "open", "timeout_ms": 5},
	"hooks.update":                  {"enabled": true, "fail": "open", "timeout_ms": 5},
	"memory.createBlock":            {"label": "new", "value": "v", "read_only": true},
	"memory.updateBlock":            {"value": "v"},
	"memory.search":                 {"query": "x", "limit": 5},
	"memory.addToArchive":           {"content": "x"},
	"memory.export":                 {},
	"memory.import":                 {},
	"mcp.connect":                   {"name": "n", "transport": map[string]any{"type": "http", "url": "http://127.0.0.1:1/"}},
	"mcp.update":                    {"name": "n"},
	"tools.register":                {"name": "n", "description": "d", "input_schema": map[string]any{"type": "object"}, "handler": map[string]any{"type": "webhook", "url": "https://receiver.example/"}},
	"tools.invoke":                  {"input": map[string]any{}},
	"tools.invokeStream":            {"input": map[string]any{}},
	"subagents.spawn":               {"name": "New", "description": "d", "system_prompt": "x", "model": "fast"},
	"subagents.delegate":            {"task": "go", "context": map[string]any{}},
	"subagents.delegateStream":      {"task": "go", "context": map[string]any{}},
	"conformance.run":               {"categories": []string{"files"}, "quick": true},
}

// allRoutes returns the table of the protocol.
func allRoutes() []gateway.Route {
	return openharness.New(gateway.Config{}, nil, openharness.Node{}).Mount().Routes
}

// furnished is a node whose harness wharf has one of everything, and a second harness that has nothing.
type furnished struct {
	*node
	ids map[string]string // by the parameter of paths
}

// plansAndMakes has a plan, makes an artifact, and waits for an answer.
func plansAndMakes(ctx context.Context, h sandbox.Host) error {
	for _, c := range [][2]string{
		{abi.CallPlanSet, `{"steps":[{"id":"a","content":"look","status":"in_progress"}]}`},
		{abi.CallArtifactPut, "{\"kind\":\"file\",\"mime_type\":\"text/plain\",\"name\":\"a.txt\"}\nhello"},
	} {
		if err := call(ctx, h, c[0], c[1]); err != nil {
			return err
		}
	}
	return asks(ctx, h)
}

func furnish(t *testing.T) *furnished {
	t.Helper()
	n := newNode(t, enginetest.Guests{"agent": plansAndMakes, "invoke": invokes}, func(c *engine.Config, p *engine.Parts) {
		c.ToolServers.Private = true
		p.AddedTools = tool.NewAdded()
		tools := tool.New(tool.Config{Servers: map[string]tool.Server{"host": owntools.All(nil)["host"]}, Added: p.AddedTools, Grants: map[string][]string{"invoke": {"host:*"}}, Log: p.Log})
		t.Cleanup(func() { _ = tools.Close() })
		p.Performers = map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools}
	})
	n.do(t, "POST", "", register).want(201)
	f := &furnished{n, map[string]string{"harnessId": "wharf", "taskId": "a", "label": "human", "path:*": "a.txt"}}
	make := func(param, path string, body any, id string) {
		f.ids[param] = n.do(t, "POST", "/wharf"+path, body).want(201).text(id)
	}
	make("agentId", "/agents", `{"name":"Parent","description":"d"}`, "agent.id")
	make("subagentId", "/agents/"+f.ids["agentId"]+"/subagents", scout, "subagent.id")
	n.do(t, "POST", "/wharf/agents/"+f.ids["agentId"]+"/memory/blocks", `{"label":"human","value":"Ada"}`).want(201)
	make("sessionId", "/sessions", nil, "session.id")
	make("webhookId", "/webhooks", bodies["webhooks.register"], "webhook.id")
	make("hookId", "/hooks", map[string]any{"event": "stop", "handler": map[string]any{"type": "webhook", "url": "https://receiver.example/"}, "enabled": false}, "hook.id")
	make("toolId", "/tools", bodies["tools.register"], "tool.id")
	make("serverId", "/mcp-servers", map[string]any{"name": "sums", "transport": map[string]any{"type": "http", "url": serving(t, mcpHandler(false))}}, "server.id")
	f.ids["skillId"] = n.registered(t, "wharf", "pdf", "1.0.0")
	n.put(t, "a.txt", "hello")
	f.ids["executionId"] = n.do(t, "POST", "/wharf/execute", `{"message":"go"}`).want(202).text("execution_id")
	waiting := "/wharf/executions/" + f.ids["executionId"]
	told := n.streams(t, "GET", waiting+"/stream", nil)
	for !strings.Contains(told.wants("progress").data, `"waiting"`) {
	}
	f.ids["artifactId"] = n.do(t, "GET", waiting+"/artifacts", nil).want(200).text("artifacts.0.id")
	return f
}

// path fills in the parameters of a route.
func (f *furnished) path(t *testing.T, rt *gateway.Route, ids map[string]string) string {
	t.Helper()
	path := rt.Path
	for _, param := range params(rt) {
		id := ids[param]
		if id == "" {
			t.Fatalf("%s: nobody has made a %s", rt.Operation, param)
		}
		path = strings.Replace(path, "{"+param+"}", id, 1)
	}
	return path
}

func params(rt *gateway.Route) (all []string) {
	for _, part := range strings.Split(rt.Path, "{")[1:] {
		name, _, _ := strings.Cut(part, "}")
		all = append(all, name)
	}
	return all
}

// ask makes the request of a route, with the ids of some things.
func (f *furnished) ask(t *testing.T, rt *gateway.Route, ids map[string]string, options ...option) answer {
	t.Helper()
	body := []byte(nil)
	if rt.Body != gateway.BodyNone {
		sample, ok := bodies[rt.Operation]
		if !ok {
			t.Fatalf("%s takes a body, and has none here", rt.Operation)
		}
		switch rt.Operation {
		case "agents.import", "memory.import":
			var form option
			body, form = formOf(t, part{"file", "a.zip", "no zip"})
			options = append([]option{form}, options...)
		case "files.upload", "files.uploadBatch":
			var form option
			body, form = formOf(t, part{"file", "b.txt", "hello"}, part{"path", "", "b.txt"})
			options = append([]option{form}, options...)
		default:
			text, err := json.Marshal(sample)
			if err != nil {
				t.Fatal(err)
			}
			body = text
		}
	}
	return f.at(t, rt.Method, f.path(t, rt, ids), body, options...)
}

// refuses wants a refusal in the protocol's words, of some statuses.
func (f *furnished) refuses(t *testing.T, what string, rt *gateway.Route, a answer, statuses ...int) {
	t.Helper()
	if !slices.Contains(statuses, a.status) {
		t.Errorf("%s: %s answers %d, want %v: %.200s", what, rt.Operation, a.status, statuses, a.body)
		return
	}
	if rt.Method != http.MethodHead {
		schema.fits(t, "ErrorResponse", a.body)
	}
}

// Each route refuses whoever has no key, or a wrong one, or one with every scope but the route's own
// (and so one with any other), or of another tenant, or of another Workspace; and each id that does not exist, or is another harness's. No
// route is left out: they are taken from the table. Nothing of it leaves a trace in the log.
func TestEveryRouteRefuses(t *testing.T) {
	f := furnish(t)
	mine, err := f.Harness(t.Context(), f.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	lacking := map[string]string{}
	for _, scope := range abi.Scopes() {
		lacking[scope] = f.key(t, slices.DeleteFunc(abi.Scopes(), func(s string) bool { return s == scope }))
	}
	stranger, elsewhere := f.stranger(t), f.key(t, []string{abi.ScopeAll}, mine.WorkspaceID)
	f.at(t, "GET", "/v1/harnesses/wharf", nil, by(stranger)).want(200) // the stranger's own, which is made when it is first asked for
	before := len(f.Kinds(t, desk.Filter{}))
	routes := allRoutes()
	if len(routes) != 114 { // that to download a file is within that to read it
		t.Errorf("there are %d routes", len(routes))
	}
	for i := range routes {
		rt := &routes[i]
		if rt.Public {
			if rt.Operation != "harnesses.health" {
				t.Errorf("%s asks for no key", rt.Operation)
			}
			continue
		}
		f.refuses(t, "no key", rt, f.ask(t, rt, f.ids, by("")), 401)
		f.refuses(t, "a wrong key", rt, f.ask(t, rt, f.ids, by("nonsense")), 401)
		if lacking[rt.Scope] == "" {
			t.Errorf("%s asks for the scope %q", rt.Operation, rt.Scope)
			continue
		}
		f.refuses(t, "without "+rt.Scope, rt, f.ask(t, rt, f.ids, by(lacking[rt.Scope])), 403)
		if len(params(rt)) == 0 {
			continue
		}
		f.refuses(t, "a key of another Workspace", rt, f.ask(t, rt, f.ids, by(elsewhere)), 404)
		for _, param := range params(rt) {
			if rt.Operation == "files.write" && param == "path:*" {
				continue // writes it
			}
			ids := maps.Clone(f.ids)
			for _, unknown := range []string{"none", ids[param] + "x", "%00", strings.Repeat("n", 300)} {
				ids[param] = unknown
				f.refuses(t, "the "+param+" "+unknown[:min(len(unknown), 30)], rt, f.ask(t, rt, ids), 404, 400)
			}
			ids[param] = "none"
			f.refuses(t, "an unknown "+param, rt, f.ask(t, rt, ids), 404)
		}
		if len(params(rt)) > 1 && rt.Operation != "files.write" {
			f.refuses(t, "of another tenant", rt, f.ask(t, rt, f.ids, by(stranger)), 404)
			ids := maps.Clone(f.ids)
			ids["harnessId"] = "mine"
			f.refuses(t, "below another harness", rt, f.ask(t, rt, ids), 404)
		}
	}
	if after := len(f.Kinds(t, desk.Filter{})); after != before {
		t.Errorf("what was refused has left events: %v", f.Kinds(t, desk.Filter{})[before:])
	}
}

// Each list and search of another tenant, and of another harness, tells nothing of what the harness wharf has.
func TestEveryListIsItsOwn(t *testing.T) {
	f := furnish(t)
	stranger := f.stranger(t)
	for _, rt := range allRoutes() {
		if rt.Method != http.MethodGet || rt.Media == gateway.MediaEventStream || rt.Socket || len(params(&rt)) > 1 || rt.Public {
			continue
		}
		for who, look := range map[string]struct {
			harness string
			key     string
		}{"another tenant": {"wharf", stranger}, "another harness": {"mine", enginetest.RootKey}} {
			if rt.Operation == "harnesses.list" && who == "another harness" {
				continue // it is of no harness
			}
			got := f.ask(t, &rt, map[string]string{"harnessId": look.harness}, by(look.key)).want(200)
			for param, id := range f.ids {
				if len(id) > 8 && strings.Contains(string(got.body), id) {
					t.Errorf("%s shows %s the %s of wharf: %s", rt.Operation, who, param, got.body)
				}
			}
		}
	}
}

// anything are members that may be of every type.
var anything = map[string]bool{"tools.invoke input": true, "tools.invokeStream input": true}

// Each route that takes JSON refuses what is none, what is no object, and each member that is of another
// type, and says which.
func TestEveryBodyOfAWrongType(t *testing.T) {
	f := furnish(t)
	before := len(f.Kinds(t, desk.Filter{}))
	for _, rt := range allRoutes() {
		if rt.Body != gateway.BodyJSON && rt.Body != gateway.BodyOptionalJSON || rt.Operation == "conformance.run" { // this node has no checks
			continue
		}
		path := f.path(t, &rt, f.ids)
		for _, body := range []string{"{", "[]", `"x"`, "7", "null", `{"a":1,"a":2}`, "\xff", "{} {}"} {
			if body == "null" && rt.Body == gateway.BodyOptionalJSON {
				continue // is none
			}
			f.refuses(t, body, &rt, f.at(t, rt.Method, path, body), 400)
		}
		f.refuses(t, "XML", &rt, f.at(t, rt.Method, path, "<x/>", header("Content-Type", "text/xml")), 415)
		for member, value := range bodies[rt.Operation] {
			if anything[rt.Operation+" "+member] {
				continue
			}
			wrong := maps.Clone(bodies[rt.Operation])
			for _, wrong[member] = range others(value) {
				a := f.at(t, rt.Method, path, wrong)
				f.refuses(t, fmt.Sprintf("%s: %v", member, wrong[member]), &rt, a, 400)
				if param, _ := a.get("error.details.param").(string); a.status == 400 && !strings.HasPrefix(param, member) {
					t.Errorf("%s: %v in %s is refused for %q: %s", rt.Operation, wrong[member], member, param, a.body)
				}
			}
		}
	}
	if after := len(f.Kinds(t, desk.Filter{})); after != before {
		t.Errorf("what was refused has left events: %v", f.Kinds(t, desk.Filter{})[before:])
	}
}

// others returns values of other types than one has.
func others(value any) []any {
	all := map[string]any{"object": map[string]any{"no": 1}, "list": []any{map[string]any{}}, "text": "x", "number": 7, "bool": true}
	switch value.(type) {
	case string:
		delete(all, "text")
	case int:
		delete(all, "number")
	case bool:
		delete(all, "bool")
	case map[string]any:
		delete(all, "object")
	default:
		delete(all, "list")
	}
	return slices.Collect(maps.Values(all))
}

package openharness_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

type object = map[string]any

const (
	fakeKey     = "fake-key"
	fakeHarness = "fake"
	fakeTime    = "2026-01-01T00:00:00Z"
)

// fake is a small server that keeps the protocol's rules in the domains execution, sessions and
// hooks, and says of the others that it does not support them.
type fake struct {
	mu      sync.Mutex
	n       int
	things  map[string][]object // by what they are: sessions, hooks, …
	noModel bool
	fault   fault
}

// fault is one thing that a fake does wrong. Its members may be nil.
type fault struct {
	request func(*http.Request)
	answer  func(r *http.Request, a *httptest.ResponseRecorder)
}

// start starts a fake and returns its address.
func (f *fake) start(t *testing.T) string {
	t.Helper()
	f.things = map[string][]object{"harnesses": {f.harness(object{"id": fakeHarness, "name": "Fake", "vendor": "v", "description": "d", "execution_type": "sdk"})}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.fault.request != nil {
			f.fault.request(r)
		}
		a := httptest.NewRecorder()
		f.serve(a, r)
		if f.fault.answer != nil {
			f.fault.answer(r, a)
		}
		maps.Copy(w.Header(), a.Header())
		w.WriteHeader(a.Code)
		_, _ = w.Write(a.Body.Bytes())
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/v1/harnesses"), "/"), "/")
	if got := r.Header.Get("Authorization"); got != "Bearer "+fakeKey && (got != "" || len(path) < 2 || path[1] != "health") {
		refuse(w, 401, "UNAUTHORIZED")
		return
	}
	body := object{}
	if text, _ := io.ReadAll(r.Body); len(text) > 0 && json.Unmarshal(text, &body) != nil {
		refuse(w, 400, "VALIDATION_ERROR")
		return
	}
	switch {
	case len(path) < 2:
		f.registry(w, r, path[0], body)
	case path[0] != fakeHarness:
		refuse(w, 404, "NOT_FOUND")
	default:
		f.below(w, r, path[1:], body)
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	send(w, status, object{"error": object{"code": code, "message": "no: " + code}})
}

func send(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func manifest() object {
	m := object{}
	for _, domain := range []string{"agents", "skills", "mcp", "execution", "sessions", "memory", "subagents", "files", "hooks", "planning", "models"} {
		supported := slices.Contains([]string{"execution", "sessions", "hooks"}, domain)
		operations := []string{}
		if supported {
			operations = []string{"create"}
		}
		m[domain] = object{"supported": supported, "operations": operations}
	}
	return m
}

func (f *fake) harness(doc object) object {
	return with(doc, object{"status": "active", "capabilities": manifest(), "created_at": fakeTime, "updated_at": fakeTime})
}

func with(doc, more object) object {
	doc = maps.Clone(doc)
	maps.Copy(doc, more)
	return doc
}

func (f *fake) registry(w http.ResponseWriter, r *http.Request, id string, body object) {
	if r.Method == http.MethodPost {
		if body["name"] == nil || body["execution_type"] != "ide" {
			refuse(w, 400, "VALIDATION_ERROR")
			return
		}
		if f.find("harnesses", body["id"]) >= 0 {
			refuse(w, 409, "CONFLICT")
			return
		}
		delete(body, "config")
	}
	f.collection(w, r, "harnesses", "harness", id, body, f.harness)
}

// below serves what belongs to the harness.
func (f *fake) below(w http.ResponseWriter, r *http.Request, path []string, body object) {
	path = append(path, "", "", "")
	if path[2] == "plan" {
		refuse(w, 501, "CAPABILITY_NOT_SUPPORTED")
		return
	}
	switch path[0] {
	case "capabilities":
		send(w, 200, object{"harness_id": fakeHarness, "harness_name": "Fake", "version": "1.0.0", "capabilities": manifest()})
	case "health":
		send(w, 200, object{"status": "healthy", "latency_ms": 1, "checks": []object{}})
	case "validate-credentials":
		send(w, 200, object{"valid": false, "stored": false})
	case "sessions":
		f.sessions(w, r, path, body)
	case "hooks", "webhooks":
		f.hooks(w, r, path, body)
	case "events":
		f.events(w, r, path[1])
	case "execute":
		f.execute(w, body, path[1] == "stream")
	case "executions":
		f.executions(w, r, path)
	default:
		refuse(w, 501, "CAPABILITY_NOT_SUPPORTED")
	}
}

func (f *fake) find(kind string, id any) int {
	return slices.IndexFunc(f.things[kind], func(doc object) bool { return doc["id"] == id })
}

// collection serves a list of things and each of them.
func (f *fake) collection(w http.ResponseWriter, r *http.Request, kind, one, id string, body object, complete func(object) object) {
	if id == "" && r.Method == http.MethodPost {
		f.n++
		if body["id"] == nil {
			body["id"] = fmt.Sprint(one, "-", f.n)
		}
		made := complete(body)
		f.things[kind] = append(f.things[kind], made)
		if kind == "sessions" {
			f.tell("session.created", made)
		}
		send(w, 201, object{one: made, "connect_url": "ws://fake/" + fmt.Sprint(made["id"])})
		return
	}
	if id == "" {
		f.list(w, r, kind)
		return
	}
	i := f.find(kind, id)
	if i < 0 {
		refuse(w, 404, "NOT_FOUND")
		return
	}
	switch r.Method {
	case http.MethodDelete:
		if kind == "sessions" {
			f.tell("session.ended", f.things[kind][i])
		}
		f.things[kind] = slices.Delete(f.things[kind], i, i+1)
		w.WriteHeader(204)
	case http.MethodPatch, http.MethodPost: // POST resumes a session
		maps.Copy(f.things[kind][i], body)
		fallthrough
	default:
		send(w, 200, object{one: f.things[kind][i], "connect_url": "ws://fake/" + id})
	}
}

func (f *fake) tell(kind string, session object) {
	f.n++
	f.things["events"] = append(f.things["events"], object{"id": fmt.Sprint("ev-", f.n), "type": kind, "timestamp": fakeTime,
		"data": object{"type": kind, "session_id": session["id"]}})
}

// list answers with a page of what the query lets through.
func (f *fake) list(w http.ResponseWriter, r *http.Request, kind string) {
	q := r.URL.Query()
	all := []object{}
	for _, doc := range f.things[kind] {
		fits := true
		for _, name := range []string{"status", "event", "type"} {
			fits = fits && (q.Get(name) == "" || doc[name] == q.Get(name))
		}
		if fits && q.Get("since") == "" {
			all = append(all, doc)
		}
	}
	limit, offset := 20, 0
	var wrong error
	if q.Has("limit") {
		limit, wrong = strconv.Atoi(q.Get("limit"))
	}
	if q.Has("offset") {
		offset, _ = strconv.Atoi(q.Get("offset"))
	}
	if wrong != nil || limit < 1 || limit > 100 || q.Get("since") == "yesterday" {
		refuse(w, 400, "VALIDATION_ERROR")
		return
	}
	from := min(offset, len(all))
	to := min(from+limit, len(all))
	send(w, 200, object{"data": all[from:to], kind: all, "total": len(all), "limit": limit, "offset": offset, "has_more": to < len(all)})
}

func (f *fake) sessions(w http.ResponseWriter, r *http.Request, path []string, body object) {
	name, _ := body["name"].(string)
	known := f.find("sessions", path[1]) >= 0
	switch {
	case path[1] != "" && !known:
		refuse(w, 404, "NOT_FOUND")
	case len(name) > 100, body["agent_id"] != nil, body["status"] == "nonsense", path[2] == "message" && body["content"] == "":
		refuse(w, 400, "VALIDATION_ERROR")
	case path[2] == "history":
		send(w, 200, object{"data": []object{}, "total": 0, "limit": 20, "offset": 0, "has_more": false})
	case path[2] == "resume":
		f.collection(w, r, "sessions", "session", path[1], object{"status": "active"}, nil)
	default:
		f.collection(w, r, "sessions", "session", path[1], body, func(doc object) object {
			return with(doc, object{"harness_id": fakeHarness, "status": "active", "message_count": 0, "created_at": fakeTime, "updated_at": fakeTime})
		})
	}
}

func (f *fake) hooks(w http.ResponseWriter, r *http.Request, path []string, body object) {
	url, _ := body["url"].(string)
	webhook := path[0] == "webhooks"
	if r.Method == http.MethodPost && (webhook && (body["events"] == nil || !strings.HasPrefix(url, "https:")) ||
		!webhook && (body["event"] == nil || body["handler"] == nil)) {
		refuse(w, 400, "VALIDATION_ERROR")
		return
	}
	f.collection(w, r, path[0], strings.TrimSuffix(path[0], "s"), path[1], body, func(doc object) object {
		return with(doc, object{"enabled": true, "secret": "whsec_0123456789abcdef", "created_at": fakeTime})
	})
}

func (f *fake) events(w http.ResponseWriter, r *http.Request, what string) {
	if what == "" {
		f.list(w, r, "events")
		return
	}
	refuse(w, 501, "CAPABILITY_NOT_SUPPORTED")
}

// told is what every execution streams.
func told() []object {
	return []object{{"type": "text", "content": "Hel"}, {"type": "tool_call_start", "id": "c", "name": "t", "input": object{}}, {"type": "tool_call_end", "id": "c"},
		{"type": "tool_result", "id": "c", "success": true}, {"type": "text", "content": "lo"}, {"type": "done", "usage": fakeUsage()}}
}

func fakeUsage() object {
	return object{"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
}

func stream(w http.ResponseWriter, events []object, after int) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i, one := range events {
		text, _ := json.Marshal(one)
		if i+1 > after {
			fmt.Fprintf(w, "event: %v\nid: %d\ndata: %s\n\n", one["type"], i+1, text)
		}
	}
}

func (f *fake) execute(w http.ResponseWriter, body object, streamed bool) {
	message, _ := body["message"].(string)
	temperature, _ := body["temperature"].(float64)
	most, limited := body["max_tokens"].(float64)
	switch {
	case message == "" || len(message) > 100_000 || temperature > 1 || limited && (most < 1 || most > 200_000):
		refuse(w, 400, "VALIDATION_ERROR")
	case body["model"] != nil:
		refuse(w, 400, "model_not_available")
	case body["agent_id"] != nil || body["session_id"] != nil:
		refuse(w, 404, "NOT_FOUND")
	case f.noModel:
		refuse(w, 400, "model_not_available")
	default:
		f.n++
		id := fmt.Sprint("exec-", f.n)
		f.things["executions"] = append(f.things["executions"], object{"id": id, "harness_id": fakeHarness, "status": "completed", "started_at": fakeTime,
			"completed_at": fakeTime, "artifacts_count": 0})
		if streamed {
			stream(w, told(), 0)
			return
		}
		w.Header().Set("Location", "/harnesses/fake/executions/"+id)
		w.Header().Set("X-Execution-ID", id)
		send(w, 202, object{"execution_id": id, "status": "running", "stream_url": "/x"})
	}
}

func (f *fake) executions(w http.ResponseWriter, r *http.Request, path []string) {
	if path[1] != "" && (f.find("executions", path[1]) < 0 || path[2] == "artifacts" && path[3] != "") {
		refuse(w, 404, "NOT_FOUND")
		return
	}
	switch path[2] {
	case "":
		f.collection(w, r, "executions", "execution", path[1], nil, nil)
	case "result":
		send(w, 200, object{"result": object{"execution_id": path[1], "status": "completed", "output": "Hello", "artifacts": []object{}, "tool_calls": []object{}, "usage": fakeUsage()}})
	case "artifacts":
		send(w, 200, object{"artifacts": []object{}})
	case "tool-calls":
		send(w, 200, object{"tool_calls": []object{}})
	case "stream":
		after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
		stream(w, told(), after)
	default:
		refuse(w, 409, "CONFLICT")
	}
}

// put changes the answer to a request.
func put(a *httptest.ResponseRecorder, status int, body []byte) {
	a.Code, a.Body = status, bytes.NewBuffer(body)
}

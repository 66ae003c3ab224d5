package openharness_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/openharness"
)

// beyond are checks that look at what the fake does not have.
var beyond = []string{"sessions.connect", "sessions.message", "sessions.fork", "sessions.history.since", "sessions.list.agent", "execution.list.since", "hooks.events.stream", "hooks.events.filter"}

// within are the checks that the fake can be held against.
func within() (ids []string) {
	for _, c := range openharness.Checks() {
		if !slices.ContainsFunc(beyond, func(prefix string) bool { return strings.HasPrefix(c.ID, prefix) }) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func checkFake(t *testing.T, f *fake, only []string, tell func(openharness.Event)) openharness.Report {
	t.Helper()
	report, err := openharness.Run(t.Context(), openharness.Config{BaseURL: f.start(t), APIKey: fakeKey, Harness: fakeHarness, Only: only}, tell)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A server that keeps the rules has nothing that fails. What it says that it does not support is
// skipped and no reason to find fault; and each check tells of its beginning and its end.
func TestRightServer(t *testing.T) {
	f := &fake{}
	var events []openharness.Event
	report := checkFake(t, f, within(), func(e openharness.Event) { events = append(events, e) })
	for _, r := range report.Results {
		declined := !slices.Contains([]string{"registry", "execution", "sessions", "hooks"}, r.Domain)
		if want := map[bool]openharness.Status{true: openharness.Skip, false: openharness.Pass}[declined]; r.Status != want {
			t.Errorf("%s: %s, want %s: %s", r.ID, r.Status, want, r.Seen)
		}
		if declined && !strings.Contains(r.Seen, "does not support "+r.Domain) {
			t.Errorf("%s is skipped because %q", r.ID, r.Seen)
		}
	}
	if report.Verdict() != openharness.VerdictPass || report.Violations != 0 {
		t.Errorf("%s with %d violations", report.Verdict(), report.Violations)
	}
	if want := 3*len(report.Results) + 1; len(events) != want {
		t.Errorf("%d events, want %d", len(events), want)
	}
	last := events[len(events)-1]
	if last.Type != openharness.EventDone || last.Result.Passed != report.Passed || last.Result.Skipped != report.Skipped {
		t.Errorf("the last event is %+v", last)
	}
	for kind, left := range f.things {
		if kind != "executions" && kind != "events" && len(left) > map[string]int{"harnesses": 1}[kind] {
			t.Errorf("%d %s are left behind: %v", len(left), kind, left)
		}
	}
}

// Without a model what needs one is skipped with that reason, and the run is no pass.
func TestWithoutModel(t *testing.T) {
	report := checkFake(t, &fake{noModel: true}, []string{"execution."}, nil)
	for _, r := range report.Results {
		if r.NeedsModel != (r.Status == openharness.Skip) || r.NeedsModel && !strings.Contains(r.Seen, "no model") {
			t.Errorf("%s: %s %s", r.ID, r.Status, r.Seen)
		}
	}
	if report.Verdict() != openharness.VerdictPartial {
		t.Error(report.Verdict())
	}
}

// A quick run leaves out what is slow, and says so.
func TestQuick(t *testing.T) {
	f := &fake{}
	report, err := openharness.Run(t.Context(), openharness.Config{BaseURL: f.start(t), APIKey: fakeKey, Harness: fakeHarness, Only: []string{"execution."}, Quick: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Slow != (r.Status == openharness.Skip) {
			t.Errorf("%s: %s %s", r.ID, r.Status, r.Seen)
		}
	}
}

// What a key may not do cannot be checked with it: that is no fault of the server's.
func TestForbidden(t *testing.T) {
	f := &fake{fault: fault{answer: func(r *http.Request, a *httptest.ResponseRecorder) {
		if r.Method == http.MethodPost {
			put(a, 403, []byte(`{"error":{"code":"FORBIDDEN","message":"no"}}`))
		}
	}}}
	report := checkFake(t, f, []string{"hooks.register.enabled", "sessions.get.same"}, nil)
	if report.Skipped != 2 || report.Verdict() != openharness.VerdictPartial {
		t.Errorf("%+v", report)
	}
}

// A run ends with its context, and says so.
func TestRunEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun := 0
	_, err := openharness.Run(ctx, openharness.Config{BaseURL: (&fake{}).start(t), APIKey: fakeKey, Harness: fakeHarness}, func(e openharness.Event) {
		if e.Type == openharness.EventStarted {
			begun++
		}
		if begun == 3 {
			cancel()
		}
	})
	if err == nil || begun != 3 {
		t.Errorf("%d checks have begun: %v", begun, err)
	}
}

// What cannot be checked at all is an error.
func TestUnusable(t *testing.T) {
	at := (&fake{}).start(t)
	for name, c := range map[string]openharness.Config{
		"no URL": {BaseURL: "localhost", APIKey: fakeKey, Harness: fakeHarness}, "no key": {BaseURL: at, Harness: fakeHarness},
		"another key": {BaseURL: at, APIKey: "x", Harness: fakeHarness}, "no harness": {BaseURL: at, APIKey: fakeKey},
		"another harness": {BaseURL: at, APIKey: fakeKey, Harness: "none"}, "no check": {BaseURL: at, APIKey: fakeKey, Harness: fakeHarness, Only: []string{"none"}},
	} {
		if _, err := openharness.Run(t.Context(), c, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Every check has an id of its own, which begins with its domain, and says what it is about.
func TestChecks(t *testing.T) {
	all := openharness.Checks()
	seen := map[string]bool{}
	for _, c := range all {
		if seen[c.ID] || !strings.HasPrefix(c.ID, c.Domain+".") || c.Title == "" || !strings.Contains(c.Operation, ".") {
			t.Errorf("%+v", c)
		}
		seen[c.ID] = true
	}
	if len(all) < 85 {
		t.Errorf("only %d checks", len(all))
	}
}

// to lets a fault into the answers to some requests.
func to(method, path string, change func(a *httptest.ResponseRecorder)) fault {
	return fault{answer: func(r *http.Request, a *httptest.ResponseRecorder) {
		if r.Method == method && strings.Contains(r.URL.Path, path) {
			change(a)
		}
	}}
}

func status(code int) func(*httptest.ResponseRecorder) {
	return func(a *httptest.ResponseRecorder) { a.Code = code }
}

func swap(old, new string) func(*httptest.ResponseRecorder) {
	return func(a *httptest.ResponseRecorder) {
		put(a, a.Code, bytes.ReplaceAll(a.Body.Bytes(), []byte(old), []byte(new)))
	}
}

// Each fault is noticed by the check that is about it, and counts against the golden rule where the
// server says that it supports the domain.
func TestFaults(t *testing.T) {
	for id, wrong := range map[string]fault{
		"registry.list.page":                swapAt("GET", "/v1/harnesses", `"limit":1`, `"limit":20`),
		"registry.get.unknown":              to("GET", "oh-check", status(200)),
		"registry.auth.missing":             {request: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+fakeKey) }},
		"registry.register.duplicate":       to("POST", "/v1/harnesses", func(a *httptest.ResponseRecorder) { a.Code = min(a.Code, 400) }),
		"registry.health.public":            to("GET", "/health", status(401)),
		"registry.capabilities.same":        swapAt("GET", "/capabilities", `"create"`, `"other"`),
		"registry.capabilities.unsupported": to("GET", "/agents", status(404)),
		"registry.credentials.secret":       swapAt("POST", "/validate-credentials", `"stored":false`, `"stored":true`),
		"registry.errors.envelope":          swapAt("GET", "oh-check", `"message"`, `"text"`),
		"sessions.create.named":             swapAt("POST", "/sessions", `"message_count":0`, `"messages":0`),
		"sessions.list.has": {request: func(r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/sessions") {
				r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, "status=", "state=")
			}
		}},
		"sessions.resume.paused":        swapAt("PATCH", "/sessions/", `"paused"`, `"active"`),
		"sessions.end.ended":            to("POST", "/message", status(200)),
		"hooks.unregister.gone":         to("DELETE", "/hooks/", status(200)),
		"hooks.webhooks.register.https": to("POST", "/webhooks", func(a *httptest.ResponseRecorder) { put(a, 201, []byte(okWebhook)) }),
		"execution.run.message":         to("POST", "/execute", func(a *httptest.ResponseRecorder) { put(a, 202, []byte(okExecution)) }),
		"execution.run.model":           swapAt("POST", "/execute", "model_not_available", "VALIDATION_ERROR"),
		"execution.cancel.finished":     to("POST", "/cancel", func(a *httptest.ResponseRecorder) { a.Code = 400 }),
		"execution.stream.done":         to("POST", "/execute/stream", func(a *httptest.ResponseRecorder) { a.Body.WriteString(a.Body.String()) }),
		"execution.stream.type":         swapAt("POST", "/execute/stream", "event: text\n", ""),
		"execution.stream.tools":        swapAt("POST", "/execute/stream", "tool_call_end", "tool_call_start"),
		"execution.stream.text":         swapAt("GET", "/stream", `"Hel"`, `"Hal"`),
		"execution.stream.resume":       {request: func(r *http.Request) { r.Header.Del("Last-Event-ID") }},
		"execution.result.output":       swapAt("GET", "/result", `"total_tokens":3`, `"total_tokens":4`),
	} {
		t.Run(id, func(t *testing.T) {
			report := checkFake(t, &fake{fault: wrong}, []string{id}, nil)
			if len(report.Results) != 1 || report.Failed != 1 || report.Results[0].Seen == "" || report.Verdict() != openharness.VerdictFail {
				t.Errorf("%+v", report)
			}
			if want := map[bool]int{true: 0, false: 1}[strings.HasPrefix(id, "registry.")]; report.Violations != want {
				t.Errorf("%d violations of the golden rule, want %d", report.Violations, want)
			}
		})
	}
}

func swapAt(method, path, old, new string) fault { return to(method, path, swap(old, new)) }

const (
	okWebhook   = `{"webhook":{"id":"w","url":"http://x","events":["e"],"secret":"s","enabled":true,"created_at":"2026-01-01T00:00:00Z"}}`
	okExecution = `{"execution_id":"e","status":"running","stream_url":"/x"}`
)

// The report is for people and for programs.
func TestReport(t *testing.T) {
	report := checkFake(t, &fake{fault: to("DELETE", "/hooks/", status(200))}, []string{"hooks.unregister", "hooks.get", "memory.get.state"}, nil)
	var text strings.Builder
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hooks.unregister.gone", "answered 200, want [204]", "does not support memory", "2 passed, 1 failed (1 of them break the golden rule), 1 skipped"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &text)
		}
	}
	if _, err := json.Marshal(&report); err != nil {
		t.Error(err)
	}
}

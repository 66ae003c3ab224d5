package shapes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/acptest"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
)

// Each shape that the documents have decides, and nothing else does.
func TestAnswers(t *testing.T) {
	for in, want := range map[string]struct {
		kind      shapes.AnswerKind
		arguments string
		reason    string
	}{
		`{"outcome":{"outcome":"selected"}}`:                                    {shapes.Approved, "", ""},
		`{"outcome":{"outcome":"selected","optionId":"allow_once"}}`:            {shapes.Approved, "", ""},
		`{"outcome":{"outcome":"selected","optionId":"allow_once"},"_meta":{}}`: {shapes.Approved, "", ""},
		`{"outcome":{"outcome":"selected","optionId":"reject_once"}}`:           {shapes.Denied, "", ""},
		`{"outcome":{"outcome":"cancelled"}}`:                                   {shapes.Abandoned, "", ""},
		`{"granted":true}`:                                                      {shapes.Approved, "", ""},
		`{"granted":true,"args":null}`:                                          {shapes.Approved, "", ""},
		`{"granted":true,"args":{"path":"b"},"reason":"fine"}`:                  {shapes.Approved, `{"path":"b"}`, "fine"},
		`{"granted":false,"reason":"no"}`:                                       {shapes.Denied, "", "no"},
		`{"granted":false,"args":{"path":"b"}}`:                                 {shapes.Denied, "", ""},
		`{"granted":false}`:                                                     {shapes.Denied, "", ""},

		``:                                 {reason: "host_error"},
		`null`:                             {reason: "host_error"},
		`true`:                             {reason: "host_error"},
		`[]`:                               {reason: "host_error"},
		`{}`:                               {reason: "host_error"},
		`{"granted":"true"}`:               {reason: "host_error"},
		`{"granted":1}`:                    {reason: "host_error"},
		`{"granted":null}`:                 {reason: "host_error"},
		`{"Granted":true}`:                 {reason: "host_error"},
		`{"granted":true,"granted":false}`: {reason: "host_error"},
		`{"granted":true,"args":[]}`:       {reason: "host_error"},
		`{"granted":true,"args":"{}"}`:     {reason: "host_error"},
		`{"granted":true,"outcome":{"outcome":"cancelled"}}`:           {reason: "host_error"},
		`{"granted":true,"outcome":{"outcome":"selected"}}`:            {reason: "host_error"},
		`{"outcome":"selected"}`:                                       {reason: "host_error"},
		`{"outcome":{}}`:                                               {reason: "host_error"},
		`{"outcome":{"outcome":"allowed"}}`:                            {reason: "host_error"},
		`{"outcome":{"outcome":"Selected"}}`:                           {reason: "host_error"},
		`{"outcome":{"outcome":"selected","optionId":"allow_always"}}`: {reason: "host_error"},
		`{"outcome":{"outcome":"selected","optionId":""}}`:             {reason: "host_error"},
		`{"outcome":{"outcome":"selected","optionId":null}}`:           {reason: "host_error"},
		`{"outcome":{"outcome":"selected","optionId":["allow_once"]}}`: {reason: "host_error"},
		`{"result":{"granted":true}}`:                                  {reason: "host_error"},
		`{"granted":true`:                                              {reason: "host_error"},
		"{\"granted\":true,\"reason\":\"\xff\"}":                       {reason: "host_error"},
	} {
		got := shapes.ReadAnswer(jsontext.Value(in))
		r := got.Respond
		decision := map[shapes.AnswerKind]string{shapes.Approved: "approved", shapes.Denied: "denied", shapes.Unreadable: "denied"}[want.kind]
		if got.Kind != want.kind || r.Decision != decision || string(r.Arguments) != want.arguments || !strings.HasPrefix(r.Reason, want.reason) || want.reason == "" && r.Reason != "" {
			t.Errorf("%s: %+v", in, got)
		}
	}
}

// Nothing but a shape of the documents approves, whatever it is.
func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(`{"outcome":{"outcome":"selected","optionId":"allow_once"}}`))
	f.Add([]byte(`{"granted":true,"args":{"a":1}}`))
	f.Add([]byte(`{"granted":false,"reason":"no"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		a := shapes.ReadAnswer(in)
		if (a.Kind == shapes.Approved) != (a.Respond.Decision == "approved") {
			t.Fatalf("%+v", a)
		}
		if a.Kind != shapes.Approved {
			return
		}
		if !jsontext.Value(in).IsValid() || !strings.Contains(unescaped(in), "selected") && !strings.Contains(unescaped(in), "granted") {
			t.Fatalf("%q approves", in)
		}
		if len(a.Respond.Arguments) > 0 && a.Respond.Arguments.Kind() != '{' {
			t.Fatalf("%q are arguments", a.Respond.Arguments)
		}
	})
}

// unescaped spells a text as short as can be.
func unescaped(in []byte) string {
	v := jsontext.Value(in).Clone()
	_ = v.Canonicalize()
	return string(v)
}

func request() *abi.PermissionRequest {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return &abi.PermissionRequest{
		Envelope: abi.Envelope{ID: "perm1", CreatedAt: at}, TaskID: "t2", SessionID: "s1", PersonaID: "coder", Kind: abi.PermissionApproval,
		Status: abi.PermissionPending, Prompt: "May persona coder do this?", Action: "tool.call host:file_write", Arguments: jsontext.Value(`{"path":"src/main.rs"}`),
		Grounds: abi.Grounds{ToolCallID: "c1", DeclaredPaths: []string{"src/main.rs"}, RiskLabels: []abi.RiskLabel{abi.RiskWrite}, MatchedRule: "autonomy_tier.act_with_approval"},
		Quorum:  1, ExpiresAt: at.Add(time.Hour),
	}
}

const (
	audit = `{"session_id":"s1","parent_session_id":"s0","run_id":"t2","worker_id":"t2","execution_kind":"worker","mutation_scope":"apply_workspace",` +
		`"approval_policy":{"auto_approve":["fs:read"],"auto_deny":["fs:rm"],"require_approval":["*"],"write_path_allowlist":[]}}`
	policyStart = `{"type":"harn.permission_policy_decision.v1","action":"ask","reason":"May persona coder do this?",` +
		`"matched_rule":{"source":"autonomy_tier","action":"ask","id":"autonomy_tier.act_with_approval"},"risk_labels":["write"]`
	own = `"approvalRequest":{"id":"t2.c1","action":"file_write","args":{"path":"src/main.rs"},"principal":"coder","requested_at":"2026-05-01T12:00:00Z","deadline":"2026-05-01T13:00:00Z",` +
		`"approvers_required":1,"evidence_refs":[{"kind":"workspace_path","ref":"src/main.rs","metadata":{"workspace_path":"src/main.rs"}}],` +
		`"undo_metadata":{"session_id":"s1","run_id":"t2","worker_id":"t2","mutation_scope":"apply_workspace","policy_decision":` + policyStart + `}},` +
		`"capabilities_requested":["tool.call host:file_write"],"permission_request_id":"perm1"},` +
		`"policyDecision":` + policyStart + `,"context":{"tool_name":"file_write","side_effect":"write","paths":[{"workspace_path":"src/main.rs"}]}},` +
		`"mutation":` + audit + `,"declaredPaths":["src/main.rs"]`
	call = `"title":"file_write","status":"pending","rawInput":{"path":"src/main.rs"},"locations":[{"path":"/home/a/src/main.rs"}],"_meta":{"harn":{"toolName":"file_write","audit":` + audit + `}}}`
	opts = `"options":[{"optionId":"allow_once","name":"Allow","kind":"allow_once"},{"optionId":"reject_once","name":"Reject","kind":"reject_once"}]`
)

// A stock client is asked in the words of the protocol, with Harn's beside them; a Harn host in both.
func TestAsking(t *testing.T) {
	p := &shapes.Permission{
		Request: request(), Root: "/home/a",
		Task:   &abi.Task{Envelope: abi.Envelope{ID: "t2"}, SessionID: "s1", ParentTaskID: "t1"},
		Parent: &abi.Task{Envelope: abi.Envelope{ID: "t1"}, SessionID: "s0"}, Session: &abi.Session{Envelope: abi.Envelope{ID: "s1"}, ParentSessionID: "s9"},
		Persona: &abi.Persona{AutonomyTier: abi.TierActWithApproval, ToolsDenied: []string{"fs:rm"}, Approvals: &abi.ApprovalPolicy{Without: []string{"fs:read"}}},
	}
	for harn, want := range map[bool]string{
		false: `{"sessionId":"s1","toolCall":{"toolCallId":"t2.c1",` + call + `,` + opts + `,"_meta":{"harn":{` + own + `}}}`,
		true:  `{"sessionId":"s1","toolCall":{"toolCallId":"t2.c1","toolName":"file_write",` + call + `,` + opts + `,"_meta":{"harn":{` + own + `}},` + own + `}`,
	} {
		got, err := p.Params(harn)
		if err != nil || string(got) != want {
			t.Errorf("aware %v: %s (%v)\nwant %s", harn, got, err, want)
		}
		fits(t, harn, got)
	}
}

func fits(t *testing.T, harn bool, params jsontext.Value) {
	t.Helper()
	checker, err := acptest.New()
	if err != nil {
		t.Fatal(err)
	}
	if harn {
		checker.Aware()
	}
	if err := checker.Params("session/request_permission", params); err != nil {
		t.Errorf("aware %v: %v", harn, err)
	}
}

// A request of which next to nothing is known, or may be seen, is asked too.
func TestAskingWithLittle(t *testing.T) {
	for name, r := range map[string]*abi.PermissionRequest{
		"nothing":    {Envelope: abi.Envelope{ID: "p"}, SessionID: "s"},
		"no tool":    {Envelope: abi.Envelope{ID: "p"}, SessionID: "s", Action: "handoff reviewer", RequestedBy: "key:a"},
		"a client's": {Envelope: abi.Envelope{ID: "p"}, SessionID: "s", Action: "tool.call client:open of key:a", Grounds: abi.Grounds{ToolCallID: "c", DeclaredPaths: []string{"", "a"}}},
	} {
		p := &shapes.Permission{Request: r}
		for _, harn := range []bool{false, true} {
			got, err := p.Params(harn)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			fits(t, harn, got)
		}
		if _, tool := p.Tool(); name == "a client's" && tool != "open" {
			t.Errorf("the tool is %q", tool)
		}
	}
}

// Paths are told where the client finds them, on any system, or not at all.
func TestLocations(t *testing.T) {
	for _, c := range []struct{ root, file, want string }{
		{"/home/a", "b/c.go", "/home/a/b/c.go"},
		{"/home/a/", "b", "/home/a/b"},
		{"/home/a", "/etc/b", "/etc/b"},
		{"", "/etc/b", "/etc/b"},
		{"", "b", ""},
		{"a", "b", ""},
		{"/home/a", "", ""},
		{"/home/a", "b\x00", ""},
		{`C:\work`, "a/b", `C:\work\a\b`},
		{`C:\work\`, "a", `C:\work\a`},
		{`C:/src`, "a", `C:/src/a`},
		{"", `D:\a`, `D:\a`},
	} {
		got, ok := shapes.LocationOf(c.root, c.file)
		if got.Path != c.want || ok != (c.want != "") {
			t.Errorf("%q in %q is %q", c.file, c.root, got.Path)
		}
	}
}

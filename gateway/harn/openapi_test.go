package harn_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what it was; run the tests with -update and look at the difference", file)
	}
}

type openAPI struct {
	OpenAPI    string
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]any }
}

type operation struct {
	OperationID string `json:"operationId"`
	Security    *[]any
	Responses   map[string]any
	Tags        []string
}

func TestOpenAPIGolden(t *testing.T) {
	n := newNode(t)
	golden(t, "openapi.json", append(n.do(t, "GET", "/openapi.json", nil).want(200).body, '\n'))
}

// The document describes every route that is answered and no other.
func TestOpenAPIEqualsTheRouter(t *testing.T) {
	n := newNode(t)
	var doc openAPI
	if err := json.Unmarshal(n.server.OpenAPI(), &doc, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	operations := map[string]bool{}
	for path, item := range doc.Paths {
		for method, op := range item {
			described[strings.ToUpper(method)+" "+path] = true
			if operations[op.OperationID] {
				t.Errorf("operationId %s is used twice", op.OperationID)
			}
			operations[op.OperationID] = true
		}
	}
	for _, rt := range n.server.Routes() {
		if name := rt.Method + " " + rt.Path; !described[name] {
			t.Errorf("%s is not described", name)
		}
	}
	// Ask the router itself, with every method, for every path.
	for path := range doc.Paths {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			a := n.do(t, method, fill(path, map[string]string{"task_id": "task_x", "session_id": "sess_x"}), nil, header("Authorization", ""))
			if answered := a.status != fasthttp.StatusMethodNotAllowed; answered != described[method+" "+path] {
				t.Errorf("%s %s: status %d, described: %v", method, path, a.status, described[method+" "+path])
			}
		}
	}
}

// Every route of the protocol is there (docs/protocol.md, 2).
func TestEveryOperationOfTheProtocol(t *testing.T) {
	n := newNode(t)
	var got []string
	for _, rt := range n.server.Routes() {
		got = append(got, rt.Method+" "+rt.Path)
	}
	for line := range strings.Lines(protocolOperations) {
		if want := strings.TrimSpace(line); want != "" && !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

const protocolOperations = `
GET /v1
GET /v1/agent-card
GET /v1/personas
POST /v1/personas
GET /v1/personas/{persona_id}
PATCH /v1/personas/{persona_id}
GET /v1/workspaces
POST /v1/workspaces
GET /v1/workspaces/{workspace_id}
PATCH /v1/workspaces/{workspace_id}
GET /v1/sessions
POST /v1/sessions
GET /v1/sessions/{session_id}
PATCH /v1/sessions/{session_id}
POST /v1/sessions/{session_id}/close
POST /v1/sessions/{session_id}/fork
POST /v1/sessions/{session_id}/truncate
GET /v1/sessions/{session_id}/messages
POST /v1/sessions/{session_id}/messages
GET /v1/sessions/{session_id}/tasks
POST /v1/sessions/{session_id}/tasks
GET /v1/sessions/{session_id}/branches
POST /v1/sessions/{session_id}/branches
GET /v1/sessions/{session_id}/events
GET /v1/sessions/{session_id}/events/stream
GET /v1/tasks
POST /v1/tasks
GET /v1/tasks/{task_id}
POST /v1/tasks/{task_id}/cancel
POST /v1/tasks/{task_id}/replay
POST /v1/tasks/{task_id}/messages
GET /v1/tasks/{task_id}/events
GET /v1/tasks/{task_id}/stream
GET /v1/tasks/{task_id}/receipts
GET /v1/branches/{branch_id}
GET /v1/messages/{message_id}
GET /v1/artifacts
POST /v1/artifacts
GET /v1/artifacts/{artifact_id}
GET /v1/artifacts/{artifact_id}/content
GET /v1/events
GET /v1/events/{event_id}
GET /v1/events/stream
GET /v1/receipts/{receipt_id}
POST /v1/receipts/{receipt_id}/verify
GET /v1/memories
POST /v1/memories
GET /v1/memories/{memory_id}
DELETE /v1/memories/{memory_id}
GET /v1/vaults
POST /v1/vaults
GET /v1/vaults/{vault_id}
GET /v1/connectors
GET /v1/connectors/{connector_id}
GET /v1/skills
GET /v1/skills/{skill_id}
GET /v1/outcomes
GET /v1/outcomes/{outcome_id}
GET /v1/quotas
GET /v1/quotas/{quota_id}
`

// Every schema compiles, and every one is used.
func TestOpenAPISchemas(t *testing.T) {
	n := newNode(t)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(n.server.OpenAPI()))
	if err != nil {
		t.Fatal(err)
	}
	text := string(n.server.OpenAPI())
	for name := range doc.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any) {
		n.schema.named(t, name)
		if !strings.Contains(text, `"#/components/schemas/`+name+`"`) {
			t.Errorf("schema %s is used by nothing", name)
		}
	}
}

// The closed enumerations are those of abi.
func TestOpenAPIEnums(t *testing.T) {
	n := newNode(t)
	for _, c := range abi.ErrorClasses() {
		n.schema.validate(t, "Error", []byte(`{"error":{"code":"`+string(c.Code)+`","type":"`+string(c.Type)+`","message":"m"}}`))
	}
	for _, s := range abi.TaskStatuses() {
		n.schema.validate(t, "TaskStatus", []byte(`"`+string(s)+`"`))
	}
	for _, p := range []abi.PartType{abi.PartText, abi.PartJSON, abi.PartToolCall, abi.PartToolResult, abi.PartArtifactRef, abi.PartFileRef, abi.PartImageRef} {
		part := `{"type":"` + string(p) + `","text":"","value":1,"tool_call_id":"","name":"","input":{},"output":1,"status":"ok","artifact_id":"","uri":"","mime_type":""`
		n.schema.validate(t, "PartInput", []byte(part+`}`))
		n.schema.validate(t, "Part", []byte(part+`,"visibility":"public"}`))
	}
}

package hosttools_test

import (
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/skill"
)

// Each tool makes the request of a host call that there is, from arguments that fit its schema.
func TestToolsStandForHostCalls(t *testing.T) {
	calls := map[string]bool{}
	for _, c := range abi.HostCalls() {
		calls[c.Name] = true
	}
	want := map[string]string{
		"time_now": `{}`, "memory_search": `{"scope":"session","text":"sky"}`,
		"memory_save": `{"scope":"session","content":"the \"sky\""}`, "artifact_read": `{"artifact_id":"art_1"}`,
		"plan_set": `{"steps":[{"id":"a","content":"look","status":"pending"},{"content":"go","status":"completed"}],"version":2}`,
		"ask":      `{"prompt":"which?","schema":{"type":"string"}}`,
	}
	arguments := map[string]string{"time_now": `{}`, "memory_search": `{"query":"sky"}`, "memory_save": `{"text":"the \"sky\""}`, "artifact_read": `{"artifact_id":"art_1"}`,
		"plan_set": `{"tasks":[{"id":"a","content":"look","status":"pending"},{"content":"go","status":"completed"}],"version":2}`,
		"ask":      `{"prompt":"which?","schema":{"type":"string"}}`}
	for _, tool := range hosttools.All() {
		if !calls[tool.Call] {
			t.Errorf("%s stands for %s, which is no host call", tool.Name, tool.Call)
		}
		if _, err := skill.Compile(tool.InputSchema); err != nil {
			t.Errorf("the schema of %s: %v", tool.Name, err)
		}
		req, err := tool.Request(jsontext.Value(arguments[tool.Name]))
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		if got, err := json.Marshal(req); err != nil || string(got) != want[tool.Name] {
			t.Errorf("%s asks %s, want %s (%v)", tool.Name, got, want[tool.Name], err)
		}
		if found := hosttools.Find(tool.Name); found == nil || found.Call != tool.Call {
			t.Errorf("%s is not found", tool.Name)
		}
	}
	if hosttools.Find("none") != nil {
		t.Error("a tool is found that is not there")
	}
}

// Arguments of another type are refused, and answers are given as text whatever they hold.
func TestOddArguments(t *testing.T) {
	for name, arguments := range map[string]string{"memory_search": `{"query":5}`, "memory_save": `{"text":[]}`, "artifact_read": `{"artifact_id":{}}`,
		"plan_set": `{}`, "ask": `{"prompt":[]}`} {
		if req, err := hosttools.Find(name).Request(jsontext.Value(arguments)); err == nil {
			t.Errorf("%s takes %s for %+v", name, arguments, req)
		}
	}
	if got := hosttools.Find("time_now").Text([]byte(`{"unix_nano":"1777636800000000000"}`)); got != "2026-05-01T12:00:00Z" {
		t.Errorf("the time is %s", got)
	}
	for _, odd := range []string{`nonsense`, `{"unix_nano":"x"}`} {
		if got := hosttools.Find("time_now").Text([]byte(odd)); got == "" {
			t.Errorf("nothing is said of %s", odd)
		}
	}
	if got := hosttools.Find("artifact_read").Text([]byte("a\xff")); got != "a\uFFFD" || !strings.HasPrefix(got, "a") {
		t.Errorf("%q", got)
	}
}

// The model is given what the user has said, in whatever parts.
func TestWhatTheUserSaid(t *testing.T) {
	said := `{"message":{"id":"msg_1","role":"user","parts":[{"type":"text","text":"blue"},{"type":"json","value":{"n":1}},{"type":"artifact_ref","artifact_id":"art_1"}]},"actor":"ada"}`
	answer, err := hosttools.Find(hosttools.ToolAsk).Answer([]byte(said))
	if err != nil || string(answer) != `{"content":[{"type":"text","text":"blue\n{\"n\":1}\n[the artifact art_1]"}]}` {
		t.Errorf("%s, %v", answer, err)
	}
	if got := hosttools.Find(hosttools.ToolAsk).Text([]byte("nonsense")); got != "nonsense" {
		t.Errorf("%q", got)
	}
}

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
		"skill_read": `{"skill":"pdf","path":"a.md"}`,
		"time_now":   `{}`, "memory_search": `{"scope":"session","text":"sky"}`,
		"memory_save": `{"scope":"session","content":"the \"sky\""}`, "artifact_read": `{"artifact_id":"art_1"}`,
		"memory_replace": `{"label":"a","value":"v","version":3}`, "memory_append": `{"label":"a","value":"v","append":true}`,
		"file_read": `{"path":"a","offset":5,"length":61440}`, "file_write": `{"path":"a/b"}`, "file_edit": `{"path":"a","old":"x","new":"","all":true}`,
		"file_list": `{"recursive":true,"limit":500}`, "file_search": `{"path":"a","glob":"*.go","pattern":"x","limit":7}`, "file_remove": `{"path":"a","recursive":true}`,
		"plan_set": `{"steps":[{"id":"a","content":"look","status":"pending"},{"content":"go","status":"completed"}],"version":2}`,
		"ask":      `{"prompt":"which?","schema":{"type":"string"}}`,
	}
	arguments := map[string]string{
		"skill_read": `{"skill":"pdf","path":"a.md","call_id":"c"}`,
		"time_now":   `{}`, "memory_search": `{"query":"sky"}`, "memory_save": `{"text":"the \"sky\""}`, "artifact_read": `{"artifact_id":"art_1"}`,
		"memory_replace": `{"label":"a","value":"v","version":3}`, "memory_append": `{"label":"a","text":"v"}`,
		"file_read": `{"path":"/a","offset":5,"length":100000}`, "file_write": `{"path":"./a/b","content":""}`, "file_edit": `{"path":"a","old":"x","new":"","all":true}`,
		"file_list": `{"path":".","recursive":true}`, "file_search": `{"path":"a","glob":"*.go","grep":"x","max_results":7}`, "file_remove": `{"path":"a","recursive":true}`,
		"plan_set": `{"tasks":[{"id":"a","content":"look","status":"pending"},{"content":"go","status":"completed"}],"version":2}`,
		"ask":      `{"prompt":"which?","schema":{"type":"string"}}`,
	}
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
	for name, arguments := range map[string]string{"memory_search": `{"query":5}`, "memory_save": `{"text":[]}`, "artifact_read": `{"artifact_id":{}}`, "skill_read": `{"skill":1}`,
		"file_read": `{"path":5}`, "file_write": `{"path":"a"}`, "file_edit": `{"path":"a","old":"x"}`, "file_list": `{"recursive":"yes"}`,
		"file_search": `{}`, "file_remove": `{"path":["a"]}`,
		"memory_replace": `{"value":1}`, "memory_append": `{"text":{}}`,
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
	for answer, want := range map[string]string{
		`{"skill":"a","text":"Do it.\n","files":["b.md","c/d.py"]}`: "Do it.\n\nFiles of this skill: b.md, c/d.py",
		`{"skill":"a","text":"one\n"}`:                              "one\n",
		"nonsense\xff":                                              "nonsense\uFFFD",
	} {
		if got := hosttools.Find("skill_read").Text([]byte(answer)); got != want {
			t.Errorf("of %s the model is given %q", answer, got)
		}
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

// A model is told what it needs to go on, and never more than it can use.
func TestFileAnswersAsText(t *testing.T) {
	for _, test := range []struct{ tool, answer, want string }{
		{"file_read", `{"path":"a","size":5,"text":"hello"}`, "hello"},
		{"file_read", `{"path":"a","size":9,"text":"hello"}`, "hello\n[bytes 0 to 5 of 9: go on with offset 5]"},
		{"file_read", `{"path":"a","size":7,"offset":2,"body":"qWjDqcM="}`, "h\u00e9\n[bytes 2 to 6 of 7: go on with offset 6]"}, // between two cut characters
		{"file_read", `{"path":"a","size":4,"body":"AAECAw=="}`, "[a has 4 bytes, and is no text]"},
		{"file_read", `{"path":"a","size":4,"offset":9}`, "[a has 4 bytes: none from 9 on]"},
		{"file_write", `{"path":"a","size":4,"sha256":"x"}`, "a was created: it has 4 bytes"},
		{"file_write", `{"path":"a","size":4,"sha256":"x","before_sha256":"y"}`, "a was replaced: it has 4 bytes"},
		{"file_edit", `{"path":"a","size":4,"replaced":2}`, "a was changed in 2 places: it has 4 bytes"},
		{"file_list", `{"entries":[{"path":"a","folder":true},{"path":"b","size":3}]}`, "a/\nb\t3 bytes"},
		{"file_list", `{"entries":[],"next":"x"}`, "[there is more: list a folder in it]"},
		{"file_list", `{"entries":[]}`, "[it is empty]"},
		{"file_search", `{"matches":[{"path":"a","line":2,"text":"x"},{"path":"b"}]}`, "a:2: x\nb"},
		{"file_search", `{"matches":[]}`, "[nothing was found]"},
		{"file_remove", `{"path":"a","before_sha256":"x"}`, "a was removed"},
		{"file_remove", `{"path":"a","before_sha256":"","removed":[{"path":"a/b","before_sha256":"x"}]}`, "a was removed with the 1 files in it"},
	} {
		if got := hosttools.Find(test.tool).Text([]byte(test.answer)); got != test.want {
			t.Errorf("%s of %s tells %q, want %q", test.tool, test.answer, got, test.want)
		}
	}
	for _, tool := range hosttools.All() {
		if got := tool.Text([]byte("nonsense")); got != "nonsense" {
			t.Errorf("%s tells %q", tool.Name, got)
		}
	}
	if got := hosttools.Changes("file_write", jsontext.Value(`{"path":"/a"}`)); len(got) != 1 || got[0] != "a" {
		t.Errorf("a write changes %q", got)
	}
	if hosttools.Changes("file_read", jsontext.Value(`{"path":"a"}`)) != nil || hosttools.StandsFor("other", "file_write") != "" || hosttools.StandsFor("host", "memory_save") != "" {
		t.Error("a read changes a file, or another's tool is the host's")
	}
	if hosttools.StandsFor("host", "memory_append") != abi.CallBlockWrite || hosttools.InFiles("host", "memory_append") != "" || hosttools.StandsFor("x", "memory_append") != "" {
		t.Error("policy takes a tool that changes blocks for something else")
	}
}

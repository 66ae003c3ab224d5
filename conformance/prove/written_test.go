package prove_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestFilesAreWrittenOnce kills a node again and again while a Task appends to a file: in the
// end each line is there once, in order, and the receipt names each write.
func TestFilesAreWrittenOnce(t *testing.T) {
	const lines, lives = 400, 6
	node := builder.StartWith(t, nodetest.Options{Args: withPlugins(t)})
	c := newClient(node)
	line := step("file.write", `{"path":"log","text":"$n\n","mode":"append"}`)
	line.Repeat = lines
	id := c.submit(t, c.session(t), c.persona(t, "act_auto", nil), program(line))
	written := 0
	for range lives { // each gets on with it: a Task with which a node dies again and again, and which does not, fails
		before := written
		c.until(t, "the file has grown", func() bool {
			written = strings.Count(c.file(t, "log"), "\n")
			return written >= min(lines, before+lines/(2*lives))
		})
		node.Kill(t)
		node.Run(t)
	}
	if task := c.settled(t, id); text(task, "status") != "COMPLETED" {
		t.Fatalf("%v: %v", task["status"], task["failure"])
	}
	got := strings.Fields(c.file(t, "log"))
	for i := range got {
		if i > 0 && len(got[i]) < len(got[i-1]) || i > 0 && len(got[i]) == len(got[i-1]) && got[i] <= got[i-1] {
			t.Errorf("after %s comes %s", got[i-1], got[i])
		}
	}
	if len(got) != lines {
		t.Errorf("%d lines, want %d", len(got), lines)
	}
	if wire, _ := c.unsigned(t, id); strings.Count(wire, `"path":"log"`) != lines {
		t.Errorf("the receipt names %d writes", strings.Count(wire, `"path":"log"`))
	}
}

// file returns what a file of the default Workspace holds; "" for no file.
func (c *client) file(t testing.TB, path string) string {
	t.Helper()
	a, err := c.try(t.Context(), http.MethodGet, "/v1/workspaces/ws_default/files?path="+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.status == http.StatusNotFound {
		return ""
	}
	return string(a.body)
}

// TestFilesAreStreamed holds that a client writes and reads the largest file there is, in parts
// too, and that one byte more leaves what was there.
func TestFilesAreStreamed(t *testing.T) {
	const most = 100 << 20
	c := newClient(builder.StartWith(t, nodetest.Options{}))
	at := c.url + "/v1/workspaces/ws_default/files?path=large"
	send := func(method string, body io.Reader, header ...string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, at, body)
		if err != nil {
			t.Fatal(err)
		}
		all := append([]string{"Authorization", "Bearer " + c.key, "Harn-Agents-Protocol-Version", nodetest.Version, "Content-Type", "text/plain"}, header...)
		for i := 0; i < len(all); i += 2 {
			req.Header.Set(all[i], all[i+1])
		}
		resp, err := c.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		sum := sha256.New()
		n, err := io.Copy(sum, resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, fmt.Sprintf("%d %x", n, sum.Sum(nil))
	}
	content := func(size int64) io.Reader { return io.LimitReader(rand.NewChaCha8([32]byte{1}), size) }
	sum := sha256.New()
	if _, err := io.Copy(sum, content(most)); err != nil {
		t.Fatal(err)
	}
	if resp, _ := send(http.MethodPut, content(most)); resp.StatusCode != http.StatusCreated {
		t.Fatal(resp.Status)
	}
	if resp, _ := send(http.MethodPut, content(most+1)); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Error(resp.Status)
	}
	resp, got := send(http.MethodGet, nil)
	etag := resp.Header.Get("ETag")
	if want := fmt.Sprintf("%d %x", most, sum.Sum(nil)); got != want || etag != fmt.Sprintf(`"%x"`, sum.Sum(nil)) {
		t.Errorf("%s, ETag %s, want %s", got, etag, want)
	}
	if resp, got := send(http.MethodGet, nil, "Range", "bytes=-3"); resp.StatusCode != http.StatusPartialContent || !strings.HasPrefix(got, "3 ") {
		t.Errorf("a part: %s, %s", resp.Status, got)
	}
	if resp, _ := send(http.MethodGet, nil, "Range", fmt.Sprintf("bytes=%d-", most)); resp.StatusCode != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("beyond the end: %s", resp.Status)
	}
	if resp, got := send(http.MethodGet, nil, "If-None-Match", etag); resp.StatusCode != http.StatusNotModified || !strings.HasPrefix(got, "0 ") {
		t.Errorf("what the client has: %s, %s", resp.Status, got)
	}
}

// fileAnswers have an agent work in files, as a model that was asked to tidy would.
const fileAnswers = `[
  {"answer": {"tool_calls": [{"name": "host__file_write", "arguments": {"path": "notes/tides.md", "content": "The tide is in.\n"}}]}},
  {"answer": {"tool_calls": [{"name": "host__file_search", "arguments": {"glob": "**/*.md", "grep": "tide is"}}]}},
  {"answer": {"tool_calls": [{"name": "host__file_edit", "arguments": {"path": "notes/tides.md", "old": "in", "new": "out"}},
                             {"name": "host__file_edit", "arguments": {"path": "notes/tides.md", "old": "none of it", "new": "x"}}]}},
  {"answer": {"tool_calls": [{"name": "host__file_read", "arguments": {"path": "notes/tides.md"}}]}},
  {"answer": {"tool_calls": [{"name": "host__file_list", "arguments": {"recursive": true}}, {"name": "host__file_remove", "arguments": {"path": "old", "recursive": true}}]}},
  {"answer": {"text": "All is tidy."}}
]`

// TestAgentsWorkInFiles has the bundled agent write, find, edit, read, list and remove files as a
// script says. People see the same files, the receipt names what has changed, and a replay tells
// the same and changes nothing.
func TestAgentsWorkInFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "answers.json"), fileAnswers)
	put(t, filepath.Join(dir, "wharf.yaml"), fmt.Sprintf("models:\n  script: %s\n  canned: {provider: script}\ngrants:\n  agent: {tools: [\"host:*\"]}\n", filepath.Join(dir, "answers.json")))
	c := newClient(builder.StartWith(t, nodetest.Options{Args: append(compiled(), "--config", filepath.Join(dir, "wharf.yaml"))}))
	for _, path := range []string{"old/a", "old/b/c"} {
		c.writeFile(t, path, "old")
	}
	persona := text(c.post(t, "/v1/personas", object{"name": "tidy", "version": "1", "entry_workflow": "agent", "description": "Tidies.",
		"autonomy_tier": "act_auto", "receipt_policy": "required"}), "id")
	id := c.submit(t, c.session(t), persona, message("Tidy up."))
	c.waitsFor(t, id, "approval.request") // the agent asks before it destroys anything
	c.decide(t, id, `{"decision":"approved"}`)
	task := c.settled(t, id)
	if text(task, "status") != "COMPLETED" || c.summary(t, id) != "All is tidy." {
		t.Fatalf("%v: %v", task["status"], task["failure"])
	}
	if got := c.file(t, "notes/tides.md"); got != "The tide is out.\n" || c.file(t, "old/a") != "" || c.file(t, "old/b/c") != "" {
		t.Errorf("the file holds %q", got)
	}
	said := ""
	for _, m := range c.all(t, "/v1/sessions/"+text(task, "session_id")+"/messages") {
		said += fmt.Sprint(m)
	}
	for _, want := range []string{"notes/tides.md:1: The tide is in.", "does not have the old text", "The tide is out.", "old/b/c", "path:old/a"} {
		if !strings.Contains(said, want) {
			t.Errorf("the model was not told %q: %s", want, said)
		}
	}
	wire, _ := c.unsigned(t, id)
	for _, effect := range []string{`"operation":"create","path":"notes/tides.md"`, `"operation":"modify","path":"notes/tides.md"`, `"operation":"delete","path":"old/a"`, `"operation":"delete","path":"old/b/c"`} {
		if strings.Count(wire, effect) != 1 {
			t.Errorf("the receipt does not have %s once: %s", effect, wire)
		}
	}
	c.writeFile(t, "notes/tides.md", "by a person")
	if r := c.replayed(t, id, object{"mode": "exact"}); text(r, "status") != "COMPLETED" {
		t.Errorf("a replay: %v %v", r["status"], r["failure"])
	}
	if got := c.file(t, "notes/tides.md"); got != "by a person" {
		t.Errorf("a replay has made it %q", got)
	}
}

// writeFile writes a file of the default Workspace.
func (c *client) writeFile(t testing.TB, path, content string) {
	t.Helper()
	a, err := c.try(t.Context(), http.MethodPut, "/v1/workspaces/ws_default/files?path="+path, object{"content": content})
	if err != nil || a.status > http.StatusCreated {
		t.Fatal(path, err, a)
	}
}

// TestToolsEditOnce kills a node again and again while a model's tool edits a file: each edit has
// happened once in the end.
func TestToolsEditOnce(t *testing.T) {
	const edits, lives = 200, 4
	dir := t.TempDir()
	put(t, filepath.Join(dir, "wharf.yaml"), "grants:\n  calls: {tools: [\"host:*\"]}\n")
	node := builder.StartWith(t, nodetest.Options{Args: append(withPlugins(t), "--config", filepath.Join(dir, "wharf.yaml"))})
	c := newClient(node)
	c.writeFile(t, "log", "end")
	edit := step("tool.call", `{"server":"host","name":"file_edit","arguments":{"path":"log","old":"end","new":"$n\nend"}}`)
	edit.Repeat = edits
	id := c.submit(t, c.session(t), c.persona(t, "act_auto", nil), program(edit))
	written := 0
	for range lives {
		before := written
		c.until(t, "the file has grown", func() bool {
			written = strings.Count(c.file(t, "log"), "\n")
			return written >= min(edits, before+edits/(2*lives))
		})
		node.Kill(t)
		node.Run(t)
	}
	if task := c.settled(t, id); text(task, "status") != "COMPLETED" {
		t.Fatalf("%v: %v", task["status"], task["failure"])
	}
	lines := strings.Fields(c.file(t, "log"))
	if slices.Sort(lines); len(slices.Compact(lines)) != edits+1 || len(lines) != edits+1 {
		t.Errorf("%d edits are there, want %d", len(lines)-1, edits)
	}
	if wire, _ := c.unsigned(t, id); strings.Count(wire, `"operation":"modify","path":"log"`) != edits {
		t.Errorf("the receipt names %d writes", strings.Count(wire, `"path":"log"`))
	}
}

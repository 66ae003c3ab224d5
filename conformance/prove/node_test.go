package prove_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/plugins/plugintest/workers"
	"github.com/wharf-dev/wharf/runtime/journal"
)

var (
	builder = nodetest.NewBuilder()
	// workshop holds what all tests share: the plugins, and their compiled form.
	workshop string
)

func TestMain(m *testing.M) {
	if serveTools() {
		return
	}
	var err error
	if workshop, err = os.MkdirTemp("", "wharf-prove-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := errors.Join(builder.Close(), os.RemoveAll(workshop)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func long() bool { return os.Getenv("WHARF_LONG") != "" }

type object = map[string]any

// client is a client of a node.
type client struct {
	url, key string
	http     *http.Client
}

func newClient(n *nodetest.Node) *client {
	return &client{url: n.URL, key: nodetest.Key, http: &http.Client{Transport: &http.Transport{}, Timeout: 3 * time.Minute}}
}

// with returns a client with another key.
func (c *client) with(key string) *client {
	other := *c
	other.key = key
	return &other
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// doc returns the JSON object that the answer is.
func (a *answer) doc() object {
	var d object
	if json.Unmarshal(a.body, &d) != nil {
		return nil
	}
	return d
}

// try makes a request. The error says that there was no answer.
func (c *client) try(ctx context.Context, method, path string, body any, header ...string) (*answer, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Harn-Agents-Protocol-Version", nodetest.Version)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return &answer{resp.StatusCode, resp.Header, text}, err
}

// ask makes a request that has to be answered with 200, 201 or 202.
func (c *client) ask(t testing.TB, method, path string, body any, header ...string) *answer {
	t.Helper()
	a, err := c.try(t.Context(), method, path, body, header...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if a.status >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

func (c *client) get(t testing.TB, path string) object {
	t.Helper()
	return c.ask(t, "GET", path, nil).doc()
}

func (c *client) post(t testing.TB, path string, body any) object {
	t.Helper()
	return c.ask(t, "POST", path, body).doc()
}

// refused makes a request that has to be refused, and returns the error.
func (c *client) refused(t testing.TB, method, path string, body any) (status int, shown object) {
	t.Helper()
	a, err := c.try(t.Context(), method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if a.status < 400 {
		t.Fatalf("%s %s is not refused: %d %s", method, path, a.status, a.body)
	}
	shown, _ = a.doc()["error"].(object)
	return a.status, shown
}

// all returns what a list holds, over all its pages.
func (c *client) all(t testing.TB, path string) (list []object) {
	t.Helper()
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	for cursor := ""; ; {
		page := c.get(t, path+sign+"limit=200"+cursor)
		data, ok := page["data"].([]any)
		if !ok {
			t.Fatalf("%s is no list: %v", path, page)
		}
		for _, one := range data {
			list = append(list, one.(object))
		}
		info, _ := page["page"].(object)
		if info["has_more"] != true {
			return list
		}
		cursor = "&cursor=" + url.QueryEscape(info["next_cursor"].(string))
	}
}

// text returns a member that is a string, "" when there is none.
func text(o object, path ...string) string {
	for _, name := range path[:len(path)-1] {
		o, _ = o[name].(object)
	}
	s, _ := o[path[len(path)-1]].(string)
	return s
}

func (c *client) session(t testing.TB) string {
	t.Helper()
	workspace := text(c.all(t, "/v1/workspaces")[0], "id")
	return text(c.post(t, "/v1/sessions", object{"workspace_id": workspace}), "id")
}

// submit submits a Task and returns its id.
func (c *client) submit(t testing.TB, session, persona string, input any) string {
	t.Helper()
	return text(c.post(t, "/v1/sessions/"+session+"/tasks", object{"input": input, "persona_id": persona}), "id")
}

// run submits a Task and waits for its end.
func (c *client) run(t testing.TB, persona string, input any) object {
	t.Helper()
	return c.settled(t, c.submit(t, c.session(t), persona, input))
}

func terminal(task object) bool {
	switch text(task, "status") {
	case "COMPLETED", "FAILED", "CANCELED":
		return true
	}
	return false
}

// settled waits for the end of a Task.
func (c *client) settled(t testing.TB, id string) object {
	t.Helper()
	task, err := c.follow(t.Context(), id, terminal)
	if err != nil {
		t.Fatal(err, "\nits last events: ", c.last(t, id))
	}
	return task
}

// waitsFor waits until a Task is parked in a host call, and returns what it says of it.
func (c *client) waitsFor(t testing.TB, id, call string) object {
	t.Helper()
	task, err := c.follow(t.Context(), id, func(task object) bool { return text(task, "waiting", "call") == call || terminal(task) })
	if err != nil {
		t.Fatal(err, "\nits last events: ", c.last(t, id))
	}
	waiting, _ := task["waiting"].(object)
	if waiting == nil {
		t.Fatalf("task %s does not wait for %s, and is %v: %v", id, call, task["status"], task["failure"])
	}
	return waiting
}

// last shows the last events of a Task.
func (c *client) last(t testing.TB, id string) (shown []string) {
	events := c.all(t, "/v1/tasks/"+id+"/events")
	for _, e := range events[max(0, len(events)-3):] {
		line, _ := json.Marshal(e, json.Deterministic(true))
		shown = append(shown, string(line))
	}
	return shown
}

// follow reads a Task's events and returns the Task when it is as wanted. The error
// says that the node has died, or that a minute has passed.
func (c *client) follow(ctx context.Context, id string, wanted func(object) bool) (object, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, fmt.Errorf("task %s is not what it should be after a minute", id))
	defer cancel()
	look := func() (object, bool, error) {
		a, err := c.try(ctx, "GET", "/v1/tasks/"+id, nil)
		if err != nil || a.status != 200 {
			return nil, false, errors.Join(err, context.Cause(ctx), fmt.Errorf("no task %s", id))
		}
		return a.doc(), wanted(a.doc()), nil
	}
	events, err := c.events(ctx, "/v1/tasks/"+id+"/stream")
	if err != nil {
		return nil, errors.Join(err, context.Cause(ctx))
	}
	defer events.Close()
	for lines := bufio.NewScanner(events); ; {
		task, ok, err := look()
		if err != nil || ok {
			return task, err
		}
		for {
			if !lines.Scan() {
				task, ok, err := look()
				if err == nil && !ok {
					err = errors.Join(context.Cause(ctx), fmt.Errorf("the stream of task %s ended with %v", id, task["status"]))
				}
				return task, err
			}
			if strings.HasPrefix(lines.Text(), "data:") {
				break
			}
		}
	}
}

// events opens a stream of events.
func (c *client) events(ctx context.Context, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", c.url+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Harn-Agents-Protocol-Version", nodetest.Version)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != 200 {
		resp.Body.Close()
		return nil, fmt.Errorf("GET %s: %d", path, resp.StatusCode)
	}
	return resp.Body, nil
}

// unsigned returns the canonical bytes of a Task's one receipt without its
// signatures, and its hash.
func (c *client) unsigned(t testing.TB, task string) (canonical, hash string) {
	t.Helper()
	all := c.all(t, "/v1/tasks/"+task+"/receipts")
	if len(all) != 1 {
		t.Fatalf("task %s has %d receipts", task, len(all))
	}
	wire := c.ask(t, "GET", "/v1/receipts/"+text(all[0], "id"), nil, "Accept", "application/vnd.harn.receipt+json").body
	return stripped(t, wire)
}

func stripped(t testing.TB, wire []byte) (canonical, hash string) {
	t.Helper()
	var members map[string]jsontext.Value
	if err := json.Unmarshal(wire, &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "signatures")
	rest, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	v := jsontext.Value(rest)
	if err := v.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	var chain struct {
		ReceiptHash string `json:"receipt_hash"`
	}
	if err := json.Unmarshal(members["chain"], &chain); err != nil || chain.ReceiptHash == "" {
		t.Fatalf("a receipt without its hash: %v %s", err, wire)
	}
	return string(v), chain.ReceiptHash
}

// difference shows the lines by which two receipts differ.
func difference(a, b string) string {
	var lines strings.Builder
	for line := range strings.Lines(journal.Diff(journal.Pretty([]byte(a)), journal.Pretty([]byte(b)))) {
		if line[0] != ' ' {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// replayed replays a Task and returns the replay when it has ended.
func (c *client) replayed(t testing.TB, id string, how object) object {
	t.Helper()
	return c.settled(t, text(c.post(t, "/v1/tasks/"+id+"/replay", how), "id"))
}

// bundle exports a Task.
func (c *client) bundle(t testing.TB, id string) []byte {
	t.Helper()
	return c.ask(t, "GET", "/wharf/v1/tasks/"+id+"/bundle", nil, "Accept", "*/*").body
}

// ownPlugins returns a folder with the plugins that tests run.
func ownPlugins(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(workshop, "plugins")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, wasm := range map[string][]byte{"calls": plugintest.Calls(), "steps": plugintest.Steps(), "fixture": plugintest.Fixture()} {
		put(t, filepath.Join(dir, name+".wasm"), string(wasm))
	}
	for _, w := range workers.All() {
		put(t, filepath.Join(dir, w.Name+".wasm"), string(w.Wasm))
	}
	return dir
}

// compiled is the flag that lets nodes share what they compile.
func compiled() []string {
	return []string{"--set", "plugins.cache=" + filepath.Join(workshop, "compiled")}
}

// withPlugins are the flags of a node with the plugins that tests run.
func withPlugins(t testing.TB) []string {
	return append(compiled(), "--set", "plugins.dir="+ownPlugins(t))
}

func put(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wharf runs the program and returns its exit code and what it wrote.
func wharf(t testing.TB, args ...string) (code int, out string) {
	t.Helper()
	return execute(t, exec.CommandContext(t.Context(), builder.Binary(t), args...))
}

func execute(t testing.TB, cmd *exec.Cmd) (code int, out string) {
	t.Helper()
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func program(steps ...plugintest.Step) plugintest.Program { return plugintest.Program{Program: steps} }

// step is a host call with a JSON request; "" for none.
func step(call, request string) plugintest.Step {
	if request == "" {
		return plugintest.Step{Call: call}
	}
	return plugintest.Step{Call: call, Request: jsontext.Value(request)}
}

func steps(call string, bytes uint32) plugintest.Step {
	return plugintest.Step{Call: call, Bytes: &bytes}
}

func put2(call, text string) plugintest.Step { return plugintest.Step{Call: call, Text: &text} }

func message(text string) object {
	return object{"role": "user", "parts": []any{object{"type": "text", "text": text, "visibility": "public"}}}
}

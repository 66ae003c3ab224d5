package sdk

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestBrowser has a page in a browser do what a page would: it is of another origin than the node.
func TestBrowser(t *testing.T) {
	packed, module := packedPlugin(t), largeModule(t)
	page := newPage(t, packed, module)
	n := builder.StartWith(t, nodetest.Options{Env: []string{"WHARF_CORS_ORIGINS=" + page.URL, "WHARF_WEBSOCKET_ORIGINS=" + page.URL}})
	c := page.open(t)
	c.url = n.URL
	session := c.text(t, "session", nil)
	task := c.text(t, "submit", command{"session": session, "persona": "persona_echo", "text": "high water at nine"})
	if got := c.text(t, "wait", command{"task": task}); got != "COMPLETED" {
		t.Errorf("the Task is %s", got)
	}
	if got := c.text(t, "receipt", command{"task": task}); got != task {
		t.Errorf("the receipt is about %s", got)
	}
	wire, key := documented(t)
	changed := []byte(strings.Replace(string(wire), "plugin_exit", "plugin_fine", 1))
	if e := c.refused(t, "verify", command{"wire": changed, "keys": []any{key}}); !e.Receipt {
		t.Errorf("a receipt that was changed: %+v", e)
	}
	e := c.refused(t, "get task", command{"task": "task_none"})
	if e.Status != 404 || e.Code != "resource_not_found" || e.Advice == "" || !strings.HasPrefix(e.RequestID, "req_") {
		t.Errorf("a Task that is not there: %+v", e)
	}
	if e := c.refused(t, "get task", command{"task": task, "key": "wrong-key"}); e.Status != 401 || e.Code != "unauthenticated" {
		t.Errorf("a wrong key: %+v", e)
	}
	if ids, _ := c.ask(t, "socket", command{"session": session, "text": "over a socket"}).([]any); len(ids) != 2 || ids[0] != ids[1] {
		t.Errorf("the answer and the event are about %v", ids)
	}
	if got := c.text(t, "upload", command{"session": session, "text": "ebb ≈ 4 m"}); got != "ebb ≈ 4 m" {
		t.Errorf("the content came back as %q", got)
	}
	want := []any{"0.1.0", "persona_tide", true, "second", 2.0, "0.1.0", "disabled", "enabled", true}
	if got := c.ask(t, "plugins", command{"text": "tide", "package": packed, "module": module}); !reflect.DeepEqual(got, any(want)) {
		t.Errorf("plugins: %v, want %v", got, want)
	}
	c.streamAcrossRestarts(t, n)
}

// TestBrowserOnAPageThatMayNot has a page ask a node whose configuration does not name it.
func TestBrowserOnAPageThatMayNot(t *testing.T) {
	page := newPage(t)
	n := builder.StartWith(t, nodetest.Options{Env: []string{"WHARF_CORS_ORIGINS=https://app.example.com"}})
	c := page.open(t)
	c.url = n.URL
	if e := c.refused(t, "session", nil); e.Status != 0 || !strings.Contains(e.Text, "fetch") {
		t.Errorf("a stranger's page: %+v", e)
	}
	if e := c.refused(t, "socket", command{"session": "sess_1", "text": "x"}); e.Status != 0 {
		t.Errorf("a socket of a stranger's page: %+v", e)
	}
}

// page is a page with the client in it, and the server that it is from. It takes commands as the drivers
// of other languages do.
type page struct {
	*httptest.Server
	commands chan string
	said     *io.PipeReader
	print    *io.PipeWriter
}

// newPage serves a page, which may read the files.
func newPage(t *testing.T, files ...string) *page {
	t.Helper()
	need(t, "chromium")
	packed := typescript(t)
	p := &page{commands: make(chan string)}
	p.said, p.print = io.Pipe()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, `<!doctype html><script>addEventListener("error", (e) => fetch("/said", { method: "POST", body: JSON.stringify({ error: { text: "the page: " + e.message } }) }), true)</script>
<script type="module" src="browser.mjs"></script>`)
	})
	for _, name := range []string{"browser.mjs", "commands.mjs"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, filepath.Join("testdata", name)) })
	}
	mux.Handle("GET /client/", http.StripPrefix("/client/", http.FileServer(http.Dir(filepath.Join(packed, "dist")))))
	mux.HandleFunc("GET /next", p.next)
	mux.HandleFunc("POST /said", func(_ http.ResponseWriter, r *http.Request) {
		line, _ := io.ReadAll(r.Body) // what is missing is no JSON
		_, _ = p.print.Write(append(line, '\n'))
	})
	mux.HandleFunc("GET /file", func(w http.ResponseWriter, r *http.Request) {
		for _, file := range files {
			if r.FormValue("path") == file {
				http.ServeFile(w, r, file)
			}
		}
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		_ = p.said.Close() // nobody listens any more
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

// next answers with a command when there is one.
func (p *page) next(w http.ResponseWriter, r *http.Request) {
	select {
	case line := <-p.commands:
		io.WriteString(w, line)
	case <-r.Context().Done():
	}
}

// Write has the page do a command.
func (p *page) Write(line []byte) (int, error) {
	p.commands <- string(line)
	return len(line), nil
}

// open starts a browser of its own on the page.
func (p *page) open(t *testing.T) *client {
	t.Helper()
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(), p.URL)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it starts many processes
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		_ = p.print.CloseWithError(fmt.Errorf("the browser has ended: %v", err))
		ended <- err
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	})
	lines := bufio.NewScanner(p.said)
	lines.Buffer(nil, 16<<20)
	return &client{in: p, lines: lines}
}

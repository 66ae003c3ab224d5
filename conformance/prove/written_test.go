package prove_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
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

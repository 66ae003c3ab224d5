package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestANearlyFullDisk fills the disk under a node, but for less than its reserve: nothing new is taken, what waits for
// an answer goes on and ends, what is to be canceled is, and when there is room the node takes work again.
func TestANearlyFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("a small file system cannot be mounted, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	node := serveFolder(t, filepath.Join(disk, "data"))
	c := commander{t, node.url}
	ask := func() (task string) {
		t.Helper()
		code, out, errs := c.run("task", "submit", "--persona", "persona_calls", "--wait=1s", "--json-input",
			`{"program":[{"call":"input.request","request":{"prompt":"Which port?"}},{"call":"clock"}]}`)
		if task = regexp.MustCompile(`task_\w+`).FindString(out + errs); code != exitTimeUp || task == "" {
			t.Fatalf("code %d\n%s%s", code, out, errs)
		}
		return task
	}
	canceled, answered := ask(), ask()
	question := ""
	for question == "" { // until it has come to it
		for line := range strings.Lines(c.must("inbox", "list", "--json")) {
			if strings.Contains(line, answered) {
				question = regexp.MustCompile(`perm_\w+`).FindString(line)
			}
		}
	}

	filler := filepath.Join(disk, "fill")
	fill(t, filler)
	info, err := os.Stat(filler)
	if err == nil {
		err = os.Truncate(filler, info.Size()-2<<20) // of the 64 MiB 3.2 are kept
	}
	if err != nil {
		t.Fatal(err)
	}
	node.waitForLog("the disk is nearly full")
	mustAnswer(t, node.url+"/readyz", http.StatusServiceUnavailable, `"disk"`)
	mustAnswer(t, node.url+"/healthz", http.StatusOK, `"ok"`)
	mustAnswer(t, node.url+"/metrics", http.StatusOK, `wharf_disk_refusing{work="new"} 1`)
	for _, args := range [][]string{{"task", "submit", "--persona", "persona_echo", "hello"}, {"session", "create"}, {"task", "replay", answered}} {
		if code, _, errs := c.run(args...); code == 0 || !strings.Contains(errs, "disk is nearly full") || !strings.Contains(errs, "again in 30 s") {
			t.Errorf("%s: code %d\n%s", args, code, errs)
		}
	}
	c.must("task", "cancel", canceled)
	c.must("inbox", "answer", question, "--text", "8080")
	c.must("task", "tail", answered)
	if got := c.must("task", "get", answered); !strings.Contains(got, "COMPLETED") {
		t.Errorf("the task that was answered: %s", got)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	node.waitForLog("there is room on the disk again")
	mustAnswer(t, node.url+"/readyz", http.StatusOK, `"ok"`)
	c.must("task", "submit", "--wait=1m", "--persona", "persona_echo", "hello")
	if log := string(node.log()); strings.Count(log, "the disk is nearly full") != 1 || strings.Count(log, "room on the disk again") != 1 {
		t.Errorf("the log tells of it otherwise than once:\n%s", log)
	}
}

// mustAnswer gets a URL, and holds its status and something that its answer has.
func mustAnswer(t *testing.T, url string, status int, has string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status || !strings.Contains(string(body), has) {
		t.Errorf("%s: %d, %v, without %s\n%s", url, resp.StatusCode, err, has, fmt.Sprintf("%.2000s", body))
	}
}

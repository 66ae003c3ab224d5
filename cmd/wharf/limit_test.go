package main

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// used returns how much room a Workspace takes, -1 while the node is counting.
func (c commander) used(workspace string) int64 {
	c.t.Helper()
	var w abi.Workspace
	if err := json.Unmarshal([]byte(c.must("workspace", "show", workspace, "--json")), &w); err != nil {
		c.t.Fatal(err)
	}
	if w.UsedBytes == nil {
		return -1
	}
	return *w.UsedBytes
}

// until asks again and again until something holds that a node does by itself.
func (c commander) until(what string, holds func() bool) {
	c.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !holds(); {
		if time.Now().After(end) {
			c.t.Fatalf("this never came: %s", what)
		}
	}
}

// TestWorkspaceSizeLimit gives a Workspace of a folder that knows of no sizes a limit: the node counts what it takes, and erases
// its oldest Tasks. After a restart the size is the same.
func TestWorkspaceSizeLimit(t *testing.T) {
	data := unpackFolder(t, "4.tgz")
	node := serveFolder(t, data)
	c := commander{t, node.url}
	const workspace = "ws_default"
	c.until("the size", func() bool { return c.used(workspace) > 0 })
	before, tasks := c.used(workspace), c.tasks()
	if len(tasks) < 3 {
		t.Fatalf("the folder has %d tasks", len(tasks))
	}
	limit := before - 1 // most of it is what a person has said, which stays with its Session
	c.must("workspace", "update", workspace, "--keep-size", strconv.FormatInt(limit, 10))
	if text := c.must("workspace", "show", workspace); !strings.Contains(text, "takes") {
		t.Errorf("it shows\n%s", text)
	}
	c.until("the Workspace within its limit", func() bool { return c.used(workspace) <= limit })
	left := c.tasks()
	waits := slices.ContainsFunc(left, func(task listed) bool { return task.Status == "INPUT_REQUIRED" })
	if len(left) >= len(tasks) || !waits {
		t.Errorf("of %d tasks %d are left, and one waits: %t", len(tasks), len(left), waits)
	}
	now := c.used(workspace)
	if code := node.stop(syscall.SIGKILL); code == 0 {
		t.Error("the node was not killed")
	}
	node = serveFolder(t, data)
	c = commander{t, node.url}
	c.until("the size after a restart", func() bool { return c.used(workspace) > 0 })
	if again := c.used(workspace); again < now {
		t.Errorf("after the restart it takes %d, and took %d", again, now)
	}
	c.must("workspace", "update", workspace, "--keep-size", "unlimited")
	if code := node.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("the node ended with %d: %s", code, node.log())
	}
	(commander{t: t}).must("doctor", "--data", data, "--rebuild")
}

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestStartOnAFullDisk fills the disk under a node, kills it, and starts it again: the
// start ends and says why, whatever is asked of the folder ends, and when there is room
// nothing that was acknowledged is missing.
func TestStartOnAFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a small file system cannot be mounted, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	data := filepath.Join(disk, "data")
	node := serveFolder(t, data)
	c := commander{t, node.url}
	accepted := 0
	for range 20 {
		c.must("task", "submit", "--wait=1m", "--persona", "persona_echo", strings.Repeat("words ", 8000))
		accepted++
	}
	fill(t, filepath.Join(disk, "fill"))
	for code := 0; code == 0; {
		if code, _, _ = c.run("task", "submit", "--wait=1m", "--persona", "persona_echo", strings.Repeat("words ", 8000)); code == 0 {
			accepted++
		}
	}
	node.stop(syscall.SIGKILL)

	c = commander{t: t}
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--data", data, "--set", pluginCacheSet()},
		{"backup", "--data", data, filepath.Join(t.TempDir(), "copy")},
	} {
		if code, _, errs := c.run(args...); code != exitFailed || !strings.Contains(errs, "is full\n  try  again when there is room") {
			t.Errorf("%s: code %d\n%s", args[0], code, errs)
		}
	}
	c.must("doctor", "--data", data)
	mustEndWhenAsked(t, data)

	if err := os.Remove(filepath.Join(disk, "fill")); err != nil {
		t.Fatal(err)
	}
	node = serveFolder(t, data)
	if known := len(commander{t, node.url}.tasks()); known < accepted {
		t.Errorf("%d Tasks are there, %d were acknowledged", known, accepted)
	}
	if code := node.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("the node ended with %d: %s", code, node.log())
	}
	c.must("doctor", "--data", data, "--rebuild")
}

// fill writes a file until the disk is full.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// mustEndWhenAsked sends SIGTERM to a start on a full disk as soon as it has begun to
// open the folder.
func mustEndWhenAsked(t *testing.T, data string) {
	t.Helper()
	program, err := buildWharf()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "debug")
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+testKey)
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	for begun := false; !begun; begun = strings.Contains(said.String(), "storage has failed") {
		if _, err := io.CopyN(&said, log, 1); err != nil {
			t.Fatalf("it ended before it had begun: %s", said.String())
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(&said, log)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted && code != exitFailed {
		t.Errorf("it ended with %s: %s", strconv.Itoa(code), said.String())
	}
}

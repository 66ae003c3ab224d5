package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReload has a node read its configuration again: what can be taken over holds at once, what is wrong
// changes nothing, and what waits for the next start is named.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "wharf.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("log: {level: info}\ngrants:\n  one: {tools: [\"host:*\"]}\n")
	cmd := exec.Command("wharf", "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--log-format", "json", "--set", pluginCacheSet(), "--config", file)
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+testKey)
	node, err := startProcess(cmd, filepath.Join(dir, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.stop(syscall.SIGKILL) })
	again := func(said string) {
		t.Helper()
		if err := node.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		node.waitForLog(said)
	}
	granted := func() string {
		t.Helper()
		var out, errs bytes.Buffer
		env := map[string]string{"WHARF_SERVER": node.url, "WHARF_API_KEY": testKey}
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(name string) string { return env[name] }}
		if code := a.execute(t.Context(), []string{"node", "tool", "host:time_now"}); code != 0 {
			t.Fatalf("%d: %s", code, &errs)
		}
		return out.String()
	}
	if is := granted(); !strings.Contains(is, "one") || strings.Contains(is, "two") {
		t.Errorf("at first: %s", is)
	}

	write("log: {level: loud}\ntasks: {concurrency: many}\ngrants:\n  two: {tools: [\"host:*\"]}\n")
	again("is wrong: nothing has changed")
	if log := string(node.log()); !strings.Contains(log, "wharf.yaml:1: log.level") || !strings.Contains(log, "wharf.yaml:2: tasks.concurrency") {
		t.Errorf("not all that is wrong is in the log: %s", log)
	}
	if is := granted(); !strings.Contains(is, "one") || strings.Contains(is, "two") {
		t.Errorf("after what is wrong: %s", is)
	}

	write("log: {level: debug}\ntasks: {concurrency: 7}\nmodels:\n  m: {provider: openai, model: m, base_url: \"http://127.0.0.1:1\"}\ngrants:\n  two: {tools: [\"host:*\"]}\n")
	again("take effect at the next start: models, tasks.concurrency")
	if log := string(node.log()); !strings.Contains(log, `"changed":"grants, log.level"`) {
		t.Errorf("what was taken over is not in the log: %s", log)
	}
	if is := granted(); strings.Contains(is, "one") || !strings.Contains(is, "two") {
		t.Errorf("after the change: %s", is)
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	again("there is no configuration file")
	write("log: {level: warn}\n")
	again("the configuration was read again")
	if code := node.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("it ends with %d:\n%s", code, node.log())
	}
}

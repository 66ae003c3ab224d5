package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins"
)

// echoing makes the folder of a plugin that does what echo does, and returns it.
func echoing(t *testing.T, name, version string) string {
	t.Helper()
	of, ok := plugins.Lookup("echo")
	if !ok {
		t.Fatal("there is no plugin echo")
	}
	return sources(t, map[string]string{"m.wasm": string(of.Wasm()),
		"wharf.toml": fmt.Sprintf("name = %q\nversion = %q\nkind = \"persona\"\nmodule = \"m.wasm\"\ncapabilities = [\"message.append\"]\n", name, version)})
}

// A node whose configuration names trusted keys takes what one of them has signed, by each command and each form of a
// request, and runs nothing else: not what was installed before either.
func TestATrustingNode(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	c := commander{t: t}
	for _, who := range []string{"author", "stranger"} {
		c.must("plugin", "key", "new", at(who+".key"))
		if err := os.WriteFile(at(who+".json"), []byte(c.must("plugin", "key", "show", at(who+".key"), "--json")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, next := echoing(t, "mine", "1.0.0"), echoing(t, "mine", "1.1.0")
	for name, of := range map[string][]string{"plain": {folder}, "signed": {folder, "--sign", at("author.key")}, "next": {next, "--sign", at("author.key")}, "others": {folder, "--sign", at("stranger.key")}} {
		c.must(append([]string{"plugin", "package", "--output", at(name + ".wharf")}, of...)...)
	}
	trust := func(who string) {
		t.Helper()
		if err := os.WriteFile(at("wharf.yaml"), []byte("plugins:\n  trust: "+who+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trust(`""`)
	r := newRig(t, "--config", at("wharf.yaml"))
	c.server = r.node.url
	c.must("plugin", "install", folder)
	before := r.submitText("persona_mine", "one")
	r.waitFor(before)

	trust(at("author.json"))
	r.node.stop(syscall.SIGKILL)
	r.start()
	c.server = r.node.url
	if out := c.must("plugin", "show", "mine"); !strings.Contains(out, "plugins.trust") {
		t.Errorf("of what came before the policy it shows %s", out)
	}
	r.wantFailure(r.submitText("persona_mine", "two"), "plugins.trust")
	c.must("task", "replay", before, "--wait=5m")
	for words, args := range map[string][]string{
		"without a package": {folder}, "came without": {filepath.Join(folder, "m.wasm"), "--name", "other"},
		"is not signed": {at("plain.wharf")}, "no such key is trusted": {at("others.wharf")},
	} {
		code, out, errs := c.run(append([]string{"plugin", "install"}, args...)...)
		if code == 0 || !strings.Contains(errs, words) || !strings.Contains(errs, "wharf plugin package") {
			t.Errorf("installing %q ends with %d: %s%s", args, code, out, errs)
		}
	}
	if code, _, errs := c.run("plugin", "enable", "mine"); code == 0 || !strings.Contains(errs, "plugins.trust") {
		t.Errorf("enabling what is not trusted ends with %d: %s", code, errs)
	}
	r.sends(at("plain.wharf"), "application/zip", http.StatusUnprocessableEntity)
	r.sends(at("signed.wharf"), "application/wasm", http.StatusUnprocessableEntity)
	r.sends(at("signed.wharf"), "application/octet-stream", http.StatusBadRequest)
	r.sends(filepath.Join(folder, "m.wasm"), "application/zip", http.StatusBadRequest)
	r.sends(at("signed.wharf"), "Application/ZIP; a=b", http.StatusOK)
	c.must("plugin", "install", at("next.wharf"))
	c.must("plugin", "rollback", "mine")
	done := r.submitText("persona_mine", "three")
	r.waitFor(done)
	if task, err := r.client.Task(t.Context(), done); err != nil || task.Value.Status != abi.TaskCompleted {
		t.Errorf("the task is %s: %v (%v)", task.Value.Status, task.Value.Failure, err)
	}

	trust(at("stranger.json"))
	r.node.stop(syscall.SIGKILL)
	r.start()
	c.server = r.node.url
	r.wantFailure(r.submitText("persona_mine", "four"), "no such key is trusted")
	if code, _, errs := c.run("plugin", "rollback", "mine", "--version", "1.1.0"); code == 0 || !strings.Contains(errs, "no such key is trusted") {
		t.Errorf("a rollback to what is not trusted ends with %d: %s", code, errs)
	}
	c.must("plugin", "disable", "mine")
	c.must("plugin", "remove", "mine", "--force")
}

// wantFailure waits for a Task, and holds that it fails with words.
func (r *rig) wantFailure(id, words string) {
	r.t.Helper()
	r.waitFor(id)
	task, err := r.client.Task(r.t.Context(), id)
	if err != nil || task.Value.Status != abi.TaskFailed || task.Value.Failure == nil || !strings.Contains(task.Value.Failure.Message, words) {
		r.t.Errorf("the task is %s: %v (%v); want %q", task.Value.Status, task.Value.Failure, err, words)
	}
}

// sends sends a file as the plugin mine, and holds the status of the answer.
func (r *rig) sends(file, media string, want int) {
	r.t.Helper()
	f, err := os.Open(file)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.node.url+"/wharf/v1/plugins/mine/versions", f)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", media)
	req.Header.Set("Authorization", "Bearer "+testKey)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != want {
		r.t.Errorf("%s as %s is answered with %d, want %d", filepath.Base(file), media, answer.StatusCode, want)
	}
}

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The node's own address is no place for metrics, however it is spelled.
func TestMetricsHaveAnAddressOfTheirOwn(t *testing.T) {
	for _, test := range []struct {
		listen, metrics string
		refused         string
	}{
		{"127.0.0.1:8080", "127.0.0.1:8080", "where the node itself listens"},
		{"127.0.0.1:8080", "localhost:8080", "where the node itself listens"},
		{"127.0.0.1:8080", ":8080", "where the node itself listens"},
		{"0.0.0.0:8080", "10.0.0.1:8080", "where the node itself listens"},
		{"[::]:8080", "127.0.0.1:8080", "where the node itself listens"},
		{"127.0.0.1:8080", "nonsense", "metrics.listen"},
		{"127.0.0.1:8080", "127.0.0.1:9464", ""},
		{"10.0.0.1:8080", "127.0.0.1:8080", ""},
		{"127.0.0.1:0", "127.0.0.1:0", ""},
		{"127.0.0.1:8080", "", ""},
	} {
		_, err := Defaults(map[string]string{"listen": test.listen, "metrics.listen": test.metrics})
		if (err != nil) != (test.refused != "") || err != nil && !strings.Contains(err.Error(), test.refused) {
			t.Errorf("%s beside %s: %v", test.metrics, test.listen, err)
		}
	}
}

// What differs from the defaults is stated with where it is from, and nothing that may be secret is.
func TestStated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wharf.yaml")
	text := `tasks: {queue: 5}
public_url: https://me:canary@wharf.example.com/?token=canary
models: {m: {provider: openai, model: gpt, base_url: "http://user:canary@localhost/v1"}}
tools: {files: {command: run, args: [canary], env: {KEY: canary}}}
secrets: {s: {command: [print, canary]}}
settings: {agent: {key: canary}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	eff, err := Load(Sources{File: file, Environ: []string{"WHARF_TASKS_ATTEMPTS=7"}, Flags: map[string]string{"log.level": "debug", "plugins.cache": strings.Repeat("x", 500)}})
	if err != nil {
		t.Fatal(err)
	}
	all := eff.Stated()
	for _, want := range []string{"tasks.queue=5 (" + file + ":1)", "tasks.attempts=7 (WHARF_TASKS_ATTEMPTS)", "log.level=debug (--log-level)", "public_url=https://wharf.example.com/ (" + file + ":2)"} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is not stated: %q", want, all)
		}
	}
	joined := strings.Join(all, "\n")
	if strings.Contains(joined, "canary") || len(joined) > 4000 || !strings.Contains(joined, "models.m.base_url (") {
		t.Errorf("%s", joined)
	}
	none, err := Defaults(nil)
	if err != nil || len(none.Stated()) != 0 {
		t.Errorf("%v, %v", none.Stated(), err)
	}
}

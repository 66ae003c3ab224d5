package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// buildRegistry builds the registry of the distribution project, a module of its own.
func buildRegistry(t *testing.T) string {
	t.Helper()
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("WHARF_LONG is not set: a registry has to be built")
	}
	program := filepath.Join(t.TempDir(), "registry")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir = filepath.Join("..", "..", "conformance", "registry")
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the registry: %v\n%s", err, out)
	}
	return program
}

// startRegistry starts it on a free port of this machine, with a user "me", and returns its address.
func startRegistry(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("version: 0.1\nlog: {level: info}\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: \"127.0.0.1:0\"}\nauth: {htpasswd: {realm: test, path: %q}}\n",
		filepath.Join(dir, "blobs"), filepath.Join(dir, "htpasswd"))
	err = errors.Join(os.WriteFile(filepath.Join(dir, "config.yml"), []byte(config), 0o644),
		os.WriteFile(filepath.Join(dir, "htpasswd"), append([]byte("me:"), hash...), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", filepath.Join(dir, "config.yml"))
	cmd.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	drained := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-drained
		_ = cmd.Wait()
	})
	var said strings.Builder
	address := ""
	for address == "" && lines.Scan() {
		fmt.Fprintln(&said, lines.Text())
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	go func() {
		defer close(drained)
		for lines.Scan() {
		}
	}()
	if address == "" {
		t.Fatalf("the registry has ended:\n%s", &said)
	}
	return address
}

// listening is what the registry says when it can be asked.
var listening = regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)

// packager runs the program in a folder of its own.
type packager struct {
	t       *testing.T
	program string
	dir     string
	env     []string
}

// run runs a command that has to exit with a code, and returns what it printed.
func (p *packager) run(code int, args ...string) string {
	p.t.Helper()
	cmd := exec.Command(p.program, args...)
	cmd.Dir = p.dir
	cmd.Env = append(append(os.Environ(), "DOCKER_CONFIG="+p.dir), p.env...)
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		p.t.Fatalf("wharf %s: code %d, %v\n%s", strings.Join(args, " "), got, err, out)
	}
	return string(out)
}

func (p *packager) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *packager) says(out, words string) {
	p.t.Helper()
	if !strings.Contains(out, words) {
		p.t.Errorf("it does not say %q:\n%s", words, out)
	}
}

// TestPackagesInARegistry goes the way of a package from a folder to another machine, through a registry as
// it runs elsewhere: without and with a password, signed, locked, with a tag that moves.
func TestPackagesInARegistry(t *testing.T) {
	address := startRegistry(t, buildRegistry(t))
	program, err := buildWharf()
	if err != nil {
		t.Fatal(err)
	}
	p := &packager{t: t, program: program, dir: t.TempDir()}
	wasm, err := os.ReadFile(filepath.Join("..", "..", "plugins", "bundled", "echo.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := "name = \"mine\"\nversion = \"1.0.0\"\nkind = \"persona\"\ncapabilities = [\"message.append\"]\n"
	p.write("mine/wharf.toml", manifest)
	p.write("mine/build/mine.wasm", string(wasm))
	ref := address + "/plugins/mine:1"

	p.run(0, "plugin", "key", "new", "my.key")
	p.write("keys.json", p.run(0, "plugin", "key", "show", "my.key", "--json"))
	p.run(0, "plugin", "package", "mine")
	p.says(p.run(4, "plugin", "push", ref, "mine-1.0.0.wharf"), "docker login")
	p.env = []string{"WHARF_REGISTRY_USER=me", "WHARF_REGISTRY_PASSWORD=wrong"}
	p.run(4, "plugin", "push", ref, "mine-1.0.0.wharf")
	p.env[1] = "WHARF_REGISTRY_PASSWORD=secret"
	first := digestIn(t, p.run(0, "plugin", "push", ref, "mine-1.0.0.wharf"))
	p.says(p.run(0, "plugin", "push", ref, "mine-1.0.0.wharf"), first)
	p.says(p.run(1, "plugin", "pull", address+"/plugins/mine:2"), "is not in the registry")

	p.says(p.run(1, "plugin", "pull", ref, "-o", "got.wharf", "--trust", "keys.json"), "is not signed")
	if _, err := os.Stat(filepath.Join(p.dir, "got.wharf")); err == nil {
		t.Error("what was refused was written")
	}
	p.run(0, "plugin", "pull", ref, "-o", "got.wharf")
	p.same("got.wharf", "mine-1.0.0.wharf")

	// The tag moves to a signed package. The lock holds the pull to what it was.
	p.run(0, "plugin", "package", "mine-1.0.0.wharf", "-o", "signed.wharf", "--sign", "my.key")
	second := digestIn(t, p.run(0, "plugin", "push", ref, "signed.wharf"))
	if first == second {
		t.Fatal("a signed package is the same artefact")
	}
	p.says(p.run(0, "plugin", "pull", ref, "-o", "got.wharf"), first)
	p.same("got.wharf", "mine-1.0.0.wharf")
	p.says(p.run(0, "plugin", "pull", ref, "-o", "got.wharf", "--update", "--trust", "keys.json"), second)
	p.same("got.wharf", "signed.wharf")
	p.run(0, "plugin", "pull", address+"/plugins/mine@"+first, "-o", "got.wharf")
	p.same("got.wharf", "mine-1.0.0.wharf")

	// The policy of the configuration holds, too.
	p.run(0, "plugin", "key", "new", "other.key")
	p.write("other.json", p.run(0, "plugin", "key", "show", "other.key", "--json"))
	p.env = append(p.env, "WHARF_PLUGINS_TRUST=other.json")
	p.says(p.run(1, "plugin", "pull", ref), "no such key is trusted")
	p.run(0, "plugin", "vet", "got.wharf")
	p.run(0, "plugin", "lint", "got.wharf")
}

func (p *packager) same(a, b string) {
	p.t.Helper()
	one, errA := os.ReadFile(filepath.Join(p.dir, a))
	other, errB := os.ReadFile(filepath.Join(p.dir, b))
	if err := errors.Join(errA, errB); err != nil || !bytes.Equal(one, other) {
		p.t.Errorf("%s is not %s: %v", a, b, err)
	}
}

var digestLine = regexp.MustCompile(`(?m)^ *digest +(sha256:[0-9a-f]{64})$`)

func digestIn(t *testing.T, out string) string {
	t.Helper()
	m := digestLine.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("there is no digest:\n%s", out)
	}
	return m[1]
}

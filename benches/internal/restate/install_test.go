package restate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsMissingIsSaid(t *testing.T) {
	_, err := version(filepath.Join(t.TempDir(), "restate-server"))
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "npm ci") {
		t.Errorf("the error is %v", err)
	}
	t.Setenv("PATH", goOnly(t))
	if _, err := Find(t.Context()); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "node") {
		t.Errorf("without node the error is %v", err)
	}
}

// goOnly is a PATH with the go command and nothing else.
func goOnly(t *testing.T) string {
	t.Helper()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if file := filepath.Join(dir, "go"); isFile(file) {
			only := t.TempDir()
			if err := os.Symlink(file, filepath.Join(only, "go")); err != nil {
				t.Fatal(err)
			}
			return only
		}
	}
	t.Skip("there is no go command to look for the source tree with")
	return ""
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func TestEverythingListensOnLoopback(t *testing.T) {
	var s Server
	file, err := s.configure(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	addresses := 0
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, " = "); strings.HasSuffix(name, "bind-address") {
			addresses++
			if !strings.HasPrefix(value, `"127.0.0.1:`) {
				t.Errorf("%s is %s", name, value)
			}
		}
	}
	if addresses != 3 {
		t.Errorf("%d addresses are set in\n%s", addresses, text)
	}
}

func TestOnlyStepsThatWereMadeCount(t *testing.T) {
	for body, want := range map[string]bool{`{"status":"COMPLETED","summary":"5 steps"}`: true, `{"message":"failed"}`: false} {
		if Done(200, []byte(body)) != want || Done(500, []byte(body)) {
			t.Errorf("%s is taken for done: %v", body, !want)
		}
	}
}

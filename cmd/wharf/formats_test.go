package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// unpackFolder unpacks an archive of testdata/folders and returns the data folder.
func unpackFolder(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "folders", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	for entries := tar.NewReader(unzipped); ; {
		h, err := entries.Next()
		if err == io.EOF {
			return dir
		}
		if err == nil {
			err = unpackEntry(filepath.Join(dir, filepath.FromSlash(h.Name)), h, entries)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func unpackEntry(path string, h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeDir {
		return os.MkdirAll(path, 0o700)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// sums returns the hash of every file below a folder.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "a folder"
			return err
		}
		content, err := os.ReadFile(path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// commander runs the program's commands as a user does.
type commander struct {
	t      *testing.T
	server string
}

// run runs a command and returns its exit code and what it printed.
func (c commander) run(args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	program, err := buildWharf()
	if err != nil {
		c.t.Fatal(err)
	}
	var out, errs strings.Builder
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+testKey, "WHARF_SERVER="+c.server)
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok || ok && exit.ExitCode() < 0 {
		c.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// must runs a command that must do what it is asked to.
func (c commander) must(args ...string) string {
	c.t.Helper()
	code, out, errs := c.run(args...)
	if code != 0 {
		c.t.Fatalf("wharf %s: code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// formats says what is expected of the folders in testdata/folders.
var formats = map[string]struct{ recorded, unreadable bool }{
	"1.tgz": {}, "1-packed.tgz": {unreadable: true}, "2-chunks.tgz": {unreadable: true},
	"2-memory.tgz": {recorded: true}, "2-deliveries.tgz": {recorded: true}, "3.tgz": {recorded: true}, "4.tgz": {recorded: true},
}

// TestFoldersOfEveryFormat opens a folder of each format that ever landed: doctor finds
// it sound and leaves it as it is, a node reads its Tasks, replays those that have a
// record, and lets the one that waits go on.
func TestFoldersOfEveryFormat(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join("testdata", "folders", "*.tgz"))
	if err != nil || len(archives) != len(formats) {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for name, is := range formats {
		t.Run(name, func(t *testing.T) {
			data := unpackFolder(t, name)
			if is.unreadable {
				mustLeaveAlone(t, data, "dictionary")
				return
			}
			before := sums(t, data)
			(commander{t: t}).must("doctor", "--data", data, "--rebuild")
			if after := sums(t, data); !maps.Equal(before, after) {
				t.Errorf("doctor has changed the folder")
			}
			node := serveFolder(t, data)
			mustGoOn(t, commander{t, node.url}, is.recorded)
			if code := node.stop(syscall.SIGTERM); code != 0 {
				t.Errorf("the node ended with %d: %s", code, node.log())
			}
			(commander{t: t}).must("doctor", "--data", data, "--rebuild")
		})
	}
}

// serveFolder starts a node on a folder that has run with the plugin "calls".
func serveFolder(t *testing.T, data string, args ...string) *process {
	t.Helper()
	plugins, err := pluginFolder()
	if err != nil {
		t.Fatal(err)
	}
	program, err := buildWharf()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--data", data, "--log-format", "json",
		"--set", "plugins.dir="+plugins+","+pluginCacheSet())
	cmd.Args = append(cmd.Args, args...)
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+testKey)
	p, err := startProcess(cmd, filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(syscall.SIGKILL) })
	return p
}

// listed is a Task as it is listed.
type listed struct {
	ID     string         `json:"id"`
	Status string         `json:"status"`
	Input  jsontext.Value `json:"input"`
}

// tasks lists all Tasks.
func (c commander) tasks() (tasks []listed) {
	c.t.Helper()
	for line := range strings.Lines(c.must("task", "list", "--json", "--limit", "1000")) {
		var task listed
		if err := json.Unmarshal([]byte(line), &task); err != nil {
			c.t.Fatal(err)
		}
		tasks = append(tasks, task)
	}
	return tasks
}

// mustGoOn reads the Tasks of a folder and goes on with them.
func mustGoOn(t *testing.T, c commander, recorded bool) {
	t.Helper()
	tasks := c.tasks()
	said, waiting := "", 0
	for _, task := range tasks {
		said += string(task.Input)
		switch {
		case task.Status == "INPUT_REQUIRED":
			waiting++
			c.must("task", "answer", task.ID, "--text", "8080")
			c.must("task", "tail", task.ID)
			c.must("task", "replay", task.ID, "--wait=1m")
		case task.Status != "COMPLETED":
			t.Errorf("%s is %s", task.ID, task.Status)
		case recorded:
			c.must("task", "replay", task.ID, "--wait=1m")
		}
	}
	for _, text := range []string{"Hello 1", "Hello 2", "A file", "After a restart"} {
		if !strings.Contains(said, text) {
			t.Errorf("no Task was given %q: %s", text, said)
		}
	}
	if recorded && (waiting != 1 || len(tasks) != 6) {
		t.Errorf("%d Tasks wait, of %d", waiting, len(tasks))
	}
}

// TestFolderOfTheFuture gives each command that opens data folders one of a later
// program: it says so, and leaves every byte as it is. So it does with one that has
// lost a file.
func TestFolderOfTheFuture(t *testing.T) {
	t.Run("the next format", func(t *testing.T) {
		data := unpackFolder(t, "4.tgz")
		if err := os.WriteFile(filepath.Join(data, "FORMAT"), []byte("5\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		mustLeaveAlone(t, data, "format 5")
	})
	for _, lost := range []string{"db/marker.manifest.*", "db/marker.format-version.*", "db/MANIFEST-*", "db/*.sst", "db/*.log", "HEAD", "FORMAT", "db"} {
		t.Run("without "+lost, func(t *testing.T) {
			data := unpackFolder(t, "4.tgz")
			files, err := filepath.Glob(filepath.Join(data, filepath.FromSlash(lost)))
			if err != nil || len(files) == 0 {
				t.Fatalf("%q, %v", files, err)
			}
			slices.Sort(files)
			if err := os.RemoveAll(files[len(files)-1]); err != nil {
				t.Fatal(err)
			}
			mustLeaveAlone(t, data, "")
		})
	}
}

// mustLeaveAlone checks that every command refuses a folder in a few lines, of which
// one holds text, and changes nothing.
func mustLeaveAlone(t *testing.T, data, text string) {
	t.Helper()
	c := commander{t: t}
	before := sums(t, data)
	aside := t.TempDir()
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--data", data}, {"doctor", "--data", data}, {"doctor", "--rebuild", "--data", data},
		{"backup", "--data", data, filepath.Join(aside, "copy")}, {"restore", "--from", data, "--data", filepath.Join(aside, "restored")},
	} {
		code, out, errs := c.run(args...)
		if code != exitFailed || out != "" || strings.Count(errs, "\n") > 2 || !strings.Contains(errs, text) || !strings.Contains(errs, "\n  try ") {
			t.Errorf("%s: code %d\n%s%s", args[0], code, out, errs)
		}
		if after := sums(t, data); !maps.Equal(before, after) {
			t.Fatalf("%s has changed the folder:\n%v\n%v", args[0], before, after)
		}
	}
	if left, err := os.ReadDir(aside); err != nil || len(left) != 0 {
		t.Errorf("%v was left behind, %v", left, err)
	}
}

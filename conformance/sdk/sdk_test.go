package sdk

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// builder builds the binary for every test of this package.
var builder = nodetest.NewBuilder()

// made is what is made once, for all tests.
var made = newMakings()

func TestMain(m *testing.M) {
	code := m.Run()
	for _, err := range []error{builder.Close(), os.RemoveAll(made.dir)} {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// makings are the driver in Go, and the package in TypeScript as npm packs it.
type makings struct {
	dir    string
	driver func() (string, error)
	packed func() (string, error)
}

func newMakings() *makings {
	dir, err := os.MkdirTemp("", "wharf-sdk-")
	m := &makings{dir: dir}
	m.driver = sync.OnceValues(func() (string, error) {
		if err != nil {
			return "", err
		}
		return buildDriver(dir)
	})
	m.packed = sync.OnceValues(func() (string, error) {
		if err != nil {
			return "", err
		}
		return pack(dir)
	})
	return m
}

func sdkFolder(name string) (string, error) {
	root, err := nodetest.Root()
	return filepath.Join(root, "sdk/client", name), err
}

func output(dir, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", program, args, err, out)
	}
	return nil
}

// buildDriver builds the driver in Go within the module of the client, whose path it imports.
func buildDriver(dir string) (string, error) {
	client, err := sdkFolder("go")
	if err != nil {
		return "", err
	}
	source, err := filepath.Abs("testdata/drive.go")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "drive")
	return binary, output(client, "go", "build", "-o", binary, source)
}

// pack has npm pack the package, from a copy of its folder, and returns where it is unpacked.
func pack(dir string) (string, error) {
	client, err := sdkFolder("ts")
	if err != nil {
		return "", err
	}
	folder := filepath.Join(dir, "ts")
	for _, name := range []string{"package.json", "tsconfig.json", "README.md", "LICENSE", "src"} {
		if err := copyInto(folder, client, name); err != nil {
			return "", err
		}
	}
	if err := os.Symlink(filepath.Join(client, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		return "", err
	}
	if err := output(folder, "npm", "pack", "--offline", "--silent"); err != nil {
		return "", err
	}
	archives, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return "", fmt.Errorf("npm pack has made %v (%v)", archives, err)
	}
	if err := output(folder, "tar", "xzf", archives[0]); err != nil {
		return "", err
	}
	return filepath.Join(folder, "package"), nil
}

// copyInto copies a file or folder of one folder into another.
func copyInto(to, from, name string) error {
	info, err := os.Stat(filepath.Join(from, name))
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name)))
	}
	text, err := os.ReadFile(filepath.Join(from, name))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, name), text, 0o644)
}

// languages are the clients that each test is done with, by what starts their driver.
var languages = map[string]func(t *testing.T) *exec.Cmd{
	"go": func(t *testing.T) *exec.Cmd {
		binary, err := made.driver()
		if err != nil {
			t.Fatal(err)
		}
		return exec.CommandContext(t.Context(), binary)
	},
	"typescript": func(t *testing.T) *exec.Cmd {
		args := []string{"testdata/drive.mjs", typescript(t)}
		if ws, err := filepath.Abs("../clients/node_modules/ws"); err == nil && exists(ws) {
			args = append(args, ws)
		}
		return exec.CommandContext(t.Context(), "node", args...)
	},
	"python":         func(t *testing.T) *exec.Cmd { return python(t, "testdata/drive.py") },
	"python asyncio": func(t *testing.T) *exec.Cmd { return python(t, "testdata/drive.py", "async") },
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// need skips the test unless a program is installed.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

// typescript returns the folder of the package, built.
func typescript(t *testing.T) string {
	t.Helper()
	need(t, "node")
	need(t, "npm")
	if !exists("../../sdk/client/ts/node_modules") {
		t.Skip(`needs the compiler of TypeScript: run "npm ci" in sdk/client/ts`)
	}
	folder, err := made.packed()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func python(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	need(t, "python3")
	if exec.Command("python3", "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run() != nil {
		t.Skip("python3 is older than 3.11")
	}
	client, err := sdkFolder("python")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+client, "PYTHONDONTWRITEBYTECODE=1")
	return cmd
}

// inEach does a test with each client, beside each other.
func inEach(t *testing.T, test func(t *testing.T, c *client)) {
	for name, start := range languages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := start(t)
			cmd.Stderr = os.Stderr
			in, out := nodetest.Talk(t, cmd)
			t.Cleanup(func() {
				_ = in.Close()
				_ = cmd.Wait()
			})
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 16<<20)
			test(t, &client{in: in, lines: lines})
		})
	}
}

// client is a running driver.
type client struct {
	in    io.Writer
	lines *bufio.Scanner
	url   string
}

// command is what a driver is told to do; the members are those that drive.go has.
type command map[string]any

// reply is a line that a driver prints.
type reply struct {
	Event, About string
	Done         any
	Error        *failure
}

// failure is an error of a client.
type failure struct {
	Text, Code, Message, Advice, Param string
	Status                             int
	RequestID                          string  `json:"request_id"`
	RetryAfter                         float64 `json:"retry_after"`
	Receipt                            bool
}

var errEnded = errors.New("the driver has ended")

func (c *client) start(t *testing.T, do string, members command) {
	t.Helper()
	line := command{"do": do, "url": c.url, "key": nodetest.Key}
	for name, member := range members {
		line[name] = member
	}
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.in.Write(append(text, '\n')); err != nil {
		t.Fatal(err)
	}
}

func (c *client) next(t *testing.T) (r reply) {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatal(errors.Join(errEnded, c.lines.Err()))
	}
	if err := json.Unmarshal(c.lines.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, c.lines.Bytes())
	}
	return r
}

// ask does what must succeed, and returns what it gave.
func (c *client) ask(t *testing.T, do string, members command) any {
	t.Helper()
	c.start(t, do, members)
	r := c.next(t)
	if r.Error != nil {
		t.Fatalf("%s: %s", do, r.Error.Text)
	}
	return r.Done
}

// refused does what must fail, and returns the error.
func (c *client) refused(t *testing.T, do string, members command) *failure {
	t.Helper()
	c.start(t, do, members)
	r := c.next(t)
	if r.Error == nil {
		t.Fatalf("%s gave %v, and should have failed", do, r.Done)
	}
	return r.Error
}

// text is ask for what gives a text.
func (c *client) text(t *testing.T, do string, members command) string {
	t.Helper()
	text, ok := c.ask(t, do, members).(string)
	if !ok {
		t.Fatalf("%s gave no text", do)
	}
	return text
}

// follow reads the events of a stream that was started, up to one about a resource, and returns
// their ids; up to the end of the stream when about is "".
func (c *client) follow(t *testing.T, about string) (ids []string) {
	t.Helper()
	for {
		r := c.next(t)
		switch {
		case r.Error != nil:
			t.Fatalf("the stream failed: %s", r.Error.Text)
		case r.Event == "":
			if about != "" {
				t.Fatal("the stream ended early")
			}
			return ids
		}
		ids = append(ids, r.Event)
		if r.About == about && about != "" {
			return ids
		}
	}
}

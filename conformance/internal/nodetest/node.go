package nodetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/internal/loopback"
)

// Key is the API key of every node that this package starts.
const Key = "conformance-key-0123456789"

// Version is the protocol version that requests to a node carry.
const Version = "agents-protocol-2026-04-25"

// Root is the top of the repository, found from the current folder upwards.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no folder above holds a go.work")
}

// Builder builds the wharf binary when it is first asked for, once.
type Builder struct {
	dir   string
	build func() (string, error)
}

// NewBuilder returns a builder that works in a folder of its own. Call Close in
// the end.
func NewBuilder() *Builder {
	b := &Builder{}
	b.build = sync.OnceValues(func() (string, error) {
		root, err := Root()
		if err != nil {
			return "", err
		}
		if b.dir, err = os.MkdirTemp("", "wharf-binary-"); err != nil {
			return "", fmt.Errorf("making a folder for the binary: %w", err)
		}
		binary := filepath.Join(b.dir, "wharf")
		cmd := exec.Command("go", "build", "-o", binary, "./cmd/wharf")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building the binary: %w\n%s", err, out)
		}
		return binary, nil
	})
	return b
}

// Close removes the binary.
func (b *Builder) Close() error { return os.RemoveAll(b.dir) }

// Binary returns the path of the binary.
func (b *Builder) Binary(t testing.TB) string {
	t.Helper()
	binary, err := b.build()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// Node is a node with a data folder and an address that it keeps over restarts.
type Node struct {
	URL    string
	Data   string
	Log    string // the file that the node writes its log to, over all its lives
	binary string
	addr   string
	args   []string
	env    []string
	dir    string
	files  int

	cmd  *exec.Cmd
	log  *os.File
	done chan error // receives the result of the process once
}

// Options says what is particular about a node.
type Options struct {
	Data string   // the data folder; one of its own when it is empty
	Args []string // after those of "wharf serve" that say where it listens and lives
	Env  []string // as NAME=value, besides what the test was started with
	Dir  string   // where it is started, which names in its configuration are looked up from; where the test runs when it is empty
	// Files bounds the files that the process may open; 0 leaves that as it is.
	Files int
}

// Start starts a node with an empty data folder and waits until it answers. It
// is killed when the test ends.
func (b *Builder) Start(t testing.TB) *Node {
	t.Helper()
	return b.StartWith(t, Options{})
}

// StartWith does the same as the options say.
func (b *Builder) StartWith(t testing.TB, o Options) *Node {
	t.Helper()
	n := b.Prepare(t, o)
	n.Run(t)
	return n
}

// Prepare returns a node that does not run yet, for whoever has to know its address before.
func (b *Builder) Prepare(t testing.TB, o Options) *Node {
	t.Helper()
	addr := loopback.Free(t)
	n := &Node{URL: "http://" + addr, addr: addr, Data: o.Data, args: o.Args, env: o.Env, dir: o.Dir, files: o.Files, binary: b.Binary(t)}
	if n.Data == "" {
		n.Data = filepath.Join(t.TempDir(), "data")
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "node.log"))
	if err != nil {
		t.Fatal(err)
	}
	n.log, n.Log = log, log.Name()
	t.Cleanup(func() {
		n.Kill(t)
		n.log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("what the node wrote:\n%s", tail(text, 4000))
		}
	})
	return n
}

func tail(text []byte, n int) []byte { return text[max(0, len(text)-n):] }

// Run starts the process of a node that is not running, on the folder and address
// that it had, and waits until it answers.
func (n *Node) Run(t testing.TB) {
	t.Helper()
	n.cmd = exec.Command(n.binary, append([]string{"serve", "--listen", n.addr, "--data", n.Data}, n.args...)...)
	if n.files > 0 { // exec keeps the process id, so that signals reach the node itself
		limited := []string{"sh", "-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(n.files)}
		n.cmd = exec.Command(limited[0], append(limited[1:], n.cmd.Args...)...)
	}
	n.cmd.Dir = n.dir
	n.cmd.Env = append(append(os.Environ(), "WHARF_API_KEY="+Key), n.env...)
	n.cmd.Stdout, n.cmd.Stderr = n.log, n.log
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n.done = make(chan error, 1)
	go func(cmd *exec.Cmd, done chan<- error) { done <- cmd.Wait() }(n.cmd, n.done)
	if err := n.ready(); err != nil {
		t.Fatal(err)
	}
}

// ready asks until the node answers, the process ends, or a minute has passed.
func (n *Node) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the node at %s does not answer", n.addr)
		case err := <-n.done:
			n.done <- err
			return fmt.Errorf("the node ended instead of answering: %v", err)
		case <-look.C:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.URL+"/readyz", nil)
		if err != nil {
			return fmt.Errorf("asking the node: %w", err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return nil
		}
	}
}

// Kill ends the process as a power cut would, without a chance to tidy up. A node
// that is not running stays so.
func (n *Node) Kill(t testing.TB) {
	t.Helper()
	if n.done == nil {
		return
	}
	_ = n.cmd.Process.Kill() // fails when it has ended, which is as good
	<-n.done
	n.done = nil
}

// Stop asks the process to end and waits; it fails the test unless the process
// ends well.
func (n *Node) Stop(t testing.TB) {
	t.Helper()
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err := <-n.done
	n.done = nil
	if err != nil {
		t.Fatalf("after SIGTERM the node ended with %v", err)
	}
}

// PID returns the id of the process of a node that runs.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Talk starts a program, and returns what writes to it and what reads what it says.
func Talk(t testing.TB, cmd *exec.Cmd) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/benches/internal/proc"
)

// APIKey is the key that every node of a run is started with.
const APIKey = "bench-key-0123456789abcdef"

// How long a node may take to answer for the first time, and to stop. A node
// that starts with a large queue of Tasks needs a while.
const (
	startLimit = 60 * time.Second
	stopLimit  = 30 * time.Second
	// pollEvery is how often a starting node is asked whether it answers.
	pollEvery = time.Millisecond
)

// Build compiles the node's binary into dir and returns its path. The working
// directory must lie in the source tree.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "wharf")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/wharf-dev/wharf/cmd/wharf")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the node: %w\n%s", err, out)
	}
	return binary, nil
}

// Options say how to start a node.
type Options struct {
	Binary string
	Data   string   // data folder
	Args   []string // further arguments of serve
	Env    []string // further settings, as NAME=value
	Prefix []string // a command that the node's is appended to; it must become the node
}

// Node is a running node.
type Node struct {
	Addr string
	// FirstAnswer is how long it took from starting the process to its first
	// answer to an authenticated request.
	FirstAnswer time.Duration

	key     string // that requests are made with
	cmd     *exec.Cmd
	client  *fasthttp.HostClient
	output  *tail
	stopped chan struct{}
	exit    error
}

// Start runs a node and returns when it has answered an authenticated request.
// The node is killed when ctx ends.
func Start(ctx context.Context, o Options) (*Node, error) {
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	args := slices.Concat(o.Prefix, []string{o.Binary, "serve", "--listen", addr, "--data", o.Data}, o.Args)
	n := &Node{Addr: addr, key: APIKey, cmd: exec.CommandContext(ctx, args[0], args[1:]...), output: &tail{}, stopped: make(chan struct{})}
	n.cmd.Env = append(append(os.Environ(), "WHARF_API_KEY="+APIKey), o.Env...)
	n.cmd.Stdout, n.cmd.Stderr = n.output, n.output
	n.client = newClient(addr)
	start := time.Now()
	if err := n.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the node: %w", err)
	}
	go func() { n.exit = n.cmd.Wait(); close(n.stopped) }()
	if err := n.awaitAnswer(ctx, start); err != nil {
		n.Kill()
		return nil, fmt.Errorf("%w; the node said:\n%s", err, n.output)
	}
	return n, nil
}

func newClient(addr string) *fasthttp.HostClient {
	return &fasthttp.HostClient{Addr: addr, MaxIdleConnDuration: time.Minute, ReadTimeout: startLimit}
}

// At returns a node that another process has started, to ask it: nothing else of it may be
// used.
func At(addr string) *Node { return &Node{Addr: addr, key: APIKey, client: newClient(addr)} }

// FreeAddr returns a loopback address that nobody listens on.
func FreeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

// awaitAnswer asks until the node answers, and notes how long that took.
func (n *Node) awaitAnswer(ctx context.Context, start time.Time) error {
	var last error
	for time.Since(start) < startLimit {
		status, _, err := n.Do(fasthttp.MethodGet, "/v1/personas", nil)
		if err == nil && status == fasthttp.StatusOK {
			n.FirstAnswer = time.Since(start)
			return nil
		}
		last = err
		select {
		case <-time.After(pollEvery):
		case <-n.stopped:
			return fmt.Errorf("the node ended before it answered: %w", errors.Join(n.exit))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("the node did not answer within %s: %w", startLimit, last)
}

// As returns the node as the client with another key has it, or with the text of an
// access token.
func (n *Node) As(key string) *Node {
	other := *n
	other.key = key
	return &other
}

// PID is the process's id.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// RSS returns the node's resident memory in bytes.
func (n *Node) RSS() (int64, error) { return proc.RSS(n.PID()) }

// Peak returns the most resident memory that the node has had since the last ResetPeak, in bytes.
func (n *Node) Peak() (int64, error) { return proc.Peak(n.PID()) }

// ResetPeak has Peak begin anew from what is resident now.
func (n *Node) ResetPeak() error { return proc.ResetPeak(n.PID()) }

// CPU returns the processor time that the node has used.
func (n *Node) CPU() (time.Duration, error) { return proc.CPU(n.PID()) }

// Ended is closed when the process has ended, by itself or not; see [Node.Exit].
func (n *Node) Ended() <-chan struct{} { return n.stopped }

// Exit says how the process ended, such as "signal: killed", once it has.
func (n *Node) Exit() string {
	<-n.stopped
	return n.cmd.ProcessState.String()
}

// Output returns the end of what the node has printed.
func (n *Node) Output() string { return n.output.String() }

// Kill ends the process at once, as a power cut would end it. Further calls do
// nothing.
func (n *Node) Kill() {
	n.cmd.Process.Kill()
	<-n.stopped
}

// Stop lets the node drain and returns when it has ended.
func (n *Node) Stop() error {
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("asking the node to stop: %w", err)
	}
	select {
	case <-n.stopped:
		return n.exit
	case <-time.After(stopLimit):
		n.Kill()
		return fmt.Errorf("the node did not stop within %s; it said:\n%s", stopLimit, n.output)
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	t.buf = t.buf[max(0, len(t.buf)-tailSize):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.buf))
}

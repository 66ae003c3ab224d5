package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/plugins/bills"
)

// demoNode is the demo's own node: a process of its own, which can be killed, and started again in the same folder.
type demoNode struct {
	config string // its file
	key    string // of its API

	*demoLife // the one that it has now
}

// demoLife is a process of the node, from its start to its end.
type demoLife struct {
	client *client.Client
	cmd    *exec.Cmd
	said   bytes.Buffer  // on standard error; to be read when it has ended
	ended  chan struct{} // closed when the process has ended
	meant  atomic.Bool   // it was to end
}

// newDemoNode writes what a node is started with: the plugin that pays bills, which may speak to the bank alone.
func newDemoNode(dir, bank string) (*demoNode, error) {
	n := &demoNode{config: filepath.Join(dir, "wharf.yaml"), key: rand.Text()}
	at, err := url.Parse(bank)
	if err != nil {
		return nil, fmt.Errorf("finding the bank of the demo: %w", err)
	}
	cache, key := cachePlaces()
	text := fmt.Sprintf(`listen: 127.0.0.1:0
data: %q
shutdown:
  grace: "0"
log:
  level: warn
  format: text
plugins:
  dir: %q
  cache: %q
  cache_key: %q
grants:
  %s:
    http:
      - hosts: [%q]
        methods: [GET, POST]
        private: true
`, filepath.Join(dir, "data"), filepath.Join(dir, "plugins"), cache, key, bills.Name, at.Host)
	err = errors.Join(os.Mkdir(filepath.Join(dir, "plugins"), 0o700),
		os.WriteFile(filepath.Join(dir, "plugins", bills.Name+".wasm"), bills.Wasm(), 0o600),
		os.WriteFile(n.config, []byte(text), 0o600))
	if err != nil {
		return nil, fmt.Errorf("preparing the node of the demo: %w", err)
	}
	return n, nil
}

// start starts the node as a process, and returns when it listens.
func (n *demoNode) start(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.Command(program, "serve", "--config", n.config, "--json")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "WHARF_") }), "WHARF_API_KEY="+n.key)
	dieWithParent(cmd)
	life := &demoLife{cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &life.said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("starting a node: %w", err)
	}
	n.demoLife = life
	listening := make(chan string, 1)
	go func() {
		var told struct {
			URL string `json:"url"`
		}
		_ = json.UnmarshalDecode(jsontext.NewDecoder(out), &told) // without an answer the process has ended
		listening <- told.URL
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		close(life.ended)
	}()
	select {
	case at := <-listening:
		if at == "" {
			<-life.ended
			return life.gone()
		}
		life.client, err = client.New(at, n.key)
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// gone is the error of a process that has ended and was not to.
func (l *demoLife) gone() error {
	return fmt.Errorf("the node of the demo has ended (%s): %s", l.cmd.ProcessState, strings.TrimSpace(l.said.String()))
}

// while returns ctx, which also ends when the process has ended and was not to.
func (l *demoLife) while(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-ctx.Done():
		case <-l.ended:
			if !l.meant.Load() {
				cancel(l.gone())
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// kill ends the process as a power cut would: at once, and without a word to it. One that has ended stays so.
func (l *demoLife) kill() {
	l.meant.Store(true)
	_ = l.cmd.Process.Kill() // which fails when it has ended
	<-l.ended
}

// stop ends the process the polite way.
func (l *demoLife) stop(ctx context.Context) error {
	l.meant.Store(true)
	_ = l.cmd.Process.Signal(syscall.SIGTERM) // as in kill
	select {
	case <-l.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

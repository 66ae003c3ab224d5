package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
)

// watched is a command whose standard output is read event by event.
type watched struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	ids   []string
	last  abi.EventKind
}

func watch(t *testing.T, cmd *exec.Cmd) *watched {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	return &watched{cmd: cmd, lines: lines}
}

// until reads events up to one of the given kind, or all there are if kind is "".
func (w *watched) until(t *testing.T, kind abi.EventKind) {
	t.Helper()
	for w.lines.Scan() {
		var e struct {
			ID    string
			Event abi.EventKind
		}
		if err := json.Unmarshal(w.lines.Bytes(), &e); err != nil {
			t.Fatalf("%v: %s", err, w.lines.Bytes())
		}
		w.ids, w.last = append(w.ids, e.ID), e.Event
		if e.Event == kind {
			return
		}
	}
	if kind != "" {
		t.Fatalf("the output ended without %s", kind)
	}
}

func (w *watched) wait() int {
	_ = w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}

// TestTailGoesOnWhenTheNodeComesBack kills the node under "wharf task tail".
func TestTailGoesOnWhenTheNodeComesBack(t *testing.T) {
	r := newRig(t)
	big := filepath.Join(r.dir, "big.txt")
	writeSentences(t, big, 2<<20)
	input, err := buildInput(t.Context(), r.client, submission{file: big}, r.session)
	if err != nil {
		t.Fatal(err)
	}
	task, err := r.client.Submit(t.Context(), abi.SubmitTaskRequest{
		Input: input, SessionID: r.session, PersonaID: "persona_digest"}, client.SubmitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(r.program, "task", "tail", "--json", task.Value.ID)
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+testKey, "WHARF_SERVER="+r.node.url)
	w := watch(t, cmd)
	w.until(t, abi.EventProgress)
	r.node.stop(syscall.SIGKILL)
	r.flags = []string{"--listen", strings.TrimPrefix(r.node.url, "http://")}
	r.start()
	w.until(t, "")
	if code := w.wait(); code != exitOK || w.last != abi.EventTaskCompleted {
		t.Errorf("it ended with %d, after %s", code, w.last)
	}
	before := 0
	for _, id := range w.ids {
		n, err := strconv.Atoi(id)
		if err != nil || n <= before {
			t.Errorf("event %s came after %d: doubled, or out of order (%v)", id, before, err)
		}
		before = n
	}
	all, err := exec.Command(r.program, "task", "tail", "--json", "--server", r.node.url, "--api-key", testKey, task.Value.ID).Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(all), "\n"); n != len(w.ids) {
		t.Errorf("%d events were seen, and there are %d", len(w.ids), n)
	}
}

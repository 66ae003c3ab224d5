package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/internal/loopback"
)

// buildWharf builds the program once for all tests that kill it.
var buildWharf = sync.OnceValues(func() (string, error) {
	program := filepath.Join(workshop, "bin", "wharf")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building wharf: %w\n%s", err, out)
	}
	return program, nil
})

const testKey = "a-key-for-tests-only"

// rig is the real program on one data folder, started and killed again and again,
// and what the clients of all those lives know.
type rig struct {
	t       *testing.T
	program string
	dir     string
	flags   []string
	node    *process
	client  *client.Client
	session string

	mu    sync.Mutex
	acked map[string]string // idempotency key → Task
	open  map[string]bool   // keys whose submits got no answer
}

func newRig(t *testing.T, flags ...string) *rig {
	t.Helper()
	program, err := buildWharf()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		t: t, program: program, dir: t.TempDir(),
		flags: flags, acked: map[string]string{}, open: map[string]bool{},
	}
	r.start()
	session, err := newSession(t.Context(), r.client, abi.CreateSessionRequest{}, "")
	if err != nil {
		t.Fatal(err)
	}
	r.session = session.Value.ID
	return r
}

func (r *rig) start() {
	r.t.Helper()
	args := append([]string{"serve", "--listen", loopback.Free(r.t), "--data", filepath.Join(r.dir, "data"), "--log-format", "json",
		"--set", "tasks.persona=persona_echo," + pluginCacheSet()}, r.flags...)
	cmd := exec.Command(r.program, args...)
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+testKey)
	p, err := startProcess(cmd, filepath.Join(r.dir, "stdout"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { p.stop(syscall.SIGKILL) })
	r.node = p
	if r.client, err = client.New(p.url, testKey); err != nil {
		r.t.Fatal(err)
	}
}

// submit submits the Task of an idempotency key and keeps what came of it.
func (r *rig) submit(ctx context.Context, key string) error {
	metadata := jsontext.Value(`{"key":` + strconv.Quote(key) + `}`)
	input := jsontext.Value(`{"role":"user","parts":[{"type":"text","text":` + strconv.Quote(key) + `,"visibility":"public"}]}`)
	r.mu.Lock()
	r.open[key] = true
	r.mu.Unlock()
	task, err := r.client.Submit(ctx, abi.SubmitTaskRequest{Input: input, SessionID: r.session, Metadata: metadata},
		client.SubmitOptions{IdempotencyKey: key})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, known := r.acked[key]; known && before != task.Value.ID {
		r.t.Errorf("key %s was acknowledged as %s, and now as %s", key, before, task.Value.ID)
	}
	r.acked[key] = task.Value.ID
	delete(r.open, key)
	return nil
}

// load lets clients submit until they have been answered n times, then calls end
// while they go on, and returns when all have noticed.
func (r *rig) load(round, clients int, n int64, end func()) {
	var answered atomic.Int64
	reached := make(chan struct{})
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for i := 0; ; i++ {
				if err := r.submit(r.t.Context(), fmt.Sprintf("round %d, client %d, task %d", round, c, i)); err != nil {
					r.checkRefusal(err)
					return
				}
				if answered.Add(1) == n {
					close(reached)
				}
			}
		})
	}
	<-reached
	end()
	all.Wait()
}

// checkRefusal reports an error that a client of a dying node must not see.
func (r *rig) checkRefusal(err error) {
	var gone *client.Unreachable
	var refused *client.Refused
	switch {
	case errors.As(err, &gone):
	case errors.As(err, &refused) && refused.Status == 503:
	default:
		r.t.Errorf("a client got %v", err)
	}
}

// retry submits again what got no answer. Each must be answered now.
func (r *rig) retry() {
	r.t.Helper()
	for _, key := range r.keys(r.open) {
		if err := r.submit(r.t.Context(), key); err != nil {
			r.t.Fatalf("submitting %q again: %v", key, err)
		}
	}
}

func (r *rig) keys(m map[string]bool) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(m))
}

// verify holds the node to what it acknowledged: every Task is there, once for
// its key, and ends as it should.
func (r *rig) verify() {
	r.t.Helper()
	for key := range r.sample(100) {
		if err := r.submit(r.t.Context(), key); err != nil {
			r.t.Errorf("submitting %q once more: %v", key, err)
		}
	}
	for _, task := range r.tasks() {
		if !task.Status.Terminal() {
			r.waitFor(task.ID)
		}
	}
	tasks := r.tasks()
	if len(tasks) != len(r.acked) {
		r.t.Errorf("%d keys were used, and there are %d tasks", len(r.acked), len(tasks))
	}
	for _, task := range tasks {
		r.verifyTask(&task)
	}
}

func (r *rig) verifyTask(task *abi.Task) {
	r.t.Helper()
	var metadata struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(task.Metadata, &metadata); err != nil {
		r.t.Fatal(err)
	}
	if r.acked[metadata.Key] != task.ID {
		r.t.Errorf("task %s of %q is not the one that was acknowledged, %s", task.ID, metadata.Key, r.acked[metadata.Key])
	}
	if task.Status != abi.TaskCompleted {
		r.t.Errorf("task %s of %q is %s: %v", task.ID, metadata.Key, task.Status, task.Failure)
	}
}

func (r *rig) tasks() []abi.Task {
	r.t.Helper()
	docs, err := r.client.Tasks(r.t.Context(), client.TaskFilter{SessionID: r.session}, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	tasks := make([]abi.Task, len(docs))
	for i := range docs {
		tasks[i] = docs[i].Value
	}
	return tasks
}

// sample returns at most n of what was acknowledged.
func (r *rig) sample(n int) map[string]string {
	some := map[string]string{}
	for key, id := range r.acked {
		if len(some) == n {
			break
		}
		some[key] = id
	}
	return some
}

// waitFor returns when a Task has ended.
func (r *rig) waitFor(id string) {
	r.t.Helper()
	for e, err := range r.client.Follow(r.t.Context(), client.TaskStream(id)) {
		if err != nil {
			r.t.Fatalf("watching %s: %v", id, err)
		}
		if endOf(&e.Value, id) != "" {
			return
		}
	}
}

// examine lets the doctor look at the folder of the stopped node.
func (r *rig) examine() {
	r.t.Helper()
	out, err := exec.Command(r.program, "doctor", "--rebuild", "--data", filepath.Join(r.dir, "data")).CombinedOutput()
	if err != nil {
		r.t.Errorf("the doctor: %v\n%s", err, out)
	}
}

// TestNothingIsLostWhenTheProcessIsKilled kills the real program under load, again
// and again, at moments that chance picks by counting acknowledgements.
func TestNothingIsLostWhenTheProcessIsKilled(t *testing.T) {
	rounds := 3
	if os.Getenv("WHARF_LONG") != "" {
		rounds = 20
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	r := newRig(t, "--set", "tasks.attempts=1000")
	for round := range rounds {
		r.load(round, 8, 1+chance.Int64N(300), func() { r.node.stop(syscall.SIGKILL) })
		r.start()
		r.retry()
	}
	r.verify()
	if code := r.node.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("the node ended with %d:\n%s", code, r.node.log())
	}
	r.examine()
	t.Logf("%d tasks in %d lives", len(r.acked), rounds+1)
}

// TestSigtermDrains stops the real program under load the polite way.
func TestSigtermDrains(t *testing.T) {
	// One at a time, so that Tasks are waiting when the signal comes.
	r := newRig(t, "--set", "tasks.concurrency=1")
	r.load(0, 8, 200, func() {
		if code := r.node.stop(syscall.SIGTERM); code != 0 {
			t.Errorf("the node ended with %d:\n%s", code, r.node.log())
		}
	})
	r.examine()
	r.start()
	r.retry()
	r.verify()
}

// TestASecondSignalEndsTheProcessAtOnce covers the user who cannot wait.
func TestASecondSignalEndsTheProcessAtOnce(t *testing.T) {
	r := newRig(t, "--set", "shutdown.grace=1h")
	// A document that takes far longer than this test may.
	big := filepath.Join(r.dir, "big.txt")
	writeSentences(t, big, 8<<20)
	input, err := buildInput(t.Context(), r.client, submission{file: big}, r.session)
	if err != nil {
		t.Fatal(err)
	}
	task, err := r.client.Submit(t.Context(), abi.SubmitTaskRequest{
		Input: input, SessionID: r.session, PersonaID: "persona_digest"}, client.SubmitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range r.client.Follow(t.Context(), client.TaskStream(task.Value.ID)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Value.Event == abi.EventProgress {
			break
		}
	}
	if err := r.node.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.node.waitForLog(`"draining"`)
	if code := r.node.stop(syscall.SIGTERM); code != exitInterrupted {
		t.Errorf("the node ended with %d:\n%s", code, r.node.log())
	}
	r.examine()
}

func writeSentences(t *testing.T, name string, size int) {
	t.Helper()
	var text []byte
	for i := 0; len(text) < size; i++ {
		text = fmt.Appendf(text, "Sentence number %d speaks of ships, harbours and the tide of day %d. ", i, i%97)
		if i%8 == 7 {
			text = append(text, "\n\n"...)
		}
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

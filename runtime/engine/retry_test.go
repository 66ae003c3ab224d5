package engine_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

func retry(key, body string) *desk.Retry {
	return &desk.Retry{Key: key, Scope: "POST /v1/sessions/s/tasks", Fingerprint: ledger.CanonicalHash([]byte(body))}
}

func TestRetryGetsTheFirstAnswer(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	submit := func(r *desk.Retry) (desk.Doc, error) {
		return n.SubmitTask(t.Context(), n.Root, r, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("hi")})
	}
	first, err := submit(retry("k", `{"a":1,"b":2.0}`))
	if err != nil {
		t.Fatal(err)
	}
	n.Wait(t, first.ID)
	again, err := submit(retry("k", ` {"b": 2, "a": 1e0}`)) // the same, written differently
	if err != nil {
		t.Fatal(err)
	}
	if again.ID != first.ID || !again.Replayed || string(again.JSON) != string(first.JSON) {
		t.Errorf("the retry was answered with %v %s, want %s", again.Replayed, again.JSON, first.JSON)
	}
	_, err = submit(retry("k", `{"a":1,"b":3}`))
	enginetest.WantCode(t, err, abi.CodeIdempotencyKeyReused)

	for name, r := range map[string]*desk.Retry{
		"key":    retry("other", `{"a":1,"b":2}`),
		"method": {Key: "k", Scope: "PATCH /v1/sessions/s/tasks", Fingerprint: ledger.CanonicalHash([]byte(`{"a":1,"b":2}`))},
		"target": {Key: "k", Scope: "POST /v1/tasks", Fingerprint: ledger.CanonicalHash([]byte(`{"a":1,"b":2}`))},
	} {
		if doc, err := submit(r); err != nil || doc.ID == first.ID {
			t.Errorf("another %s found the same record: %s %v", name, doc.ID, err)
		}
	}
}

// The record of a key outlives the node, and ends with its time.
func TestRetryAfterRestartAndExpiry(t *testing.T) {
	g := enginetest.Guests{"echo": enginetest.Echo}
	var mu sync.Mutex
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	clock := func(_ *engine.Config, p *engine.Parts) {
		p.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	}
	n := boot(t, newNode(t, g).Disk.Crash(1, 0), g, clock)
	session := n.Session(t)
	req := abi.AppendMessageRequest{Message: message("hi")}
	first, err := n.AppendMessage(t.Context(), n.Root, retry("k", "{}"), session, req)
	if err != nil {
		t.Fatal(err)
	}
	n.Stop(t)
	n = boot(t, n.Disk, g, clock)
	defer func() { n.Stop(t) }()
	for _, step := range []struct {
		after time.Duration
		same  bool
	}{{0, true}, {23*time.Hour + 59*time.Minute, true}, {49 * time.Hour, false}} {
		mu.Lock()
		now = now.Add(step.after)
		mu.Unlock()
		doc, err := n.AppendMessage(t.Context(), n.Root, retry("k", "{}"), session, req)
		if err != nil || (doc.ID == first.ID) != step.same {
			t.Errorf("after %s: the same answer %v, want %v (%v)", step.after, doc.ID == first.ID, step.same, err)
		}
	}
}

// create is one retried write, as porcupine sees it.
type create struct{ key, body string }

type created struct {
	id     string
	reused bool
}

// Concurrent retries are linearizable: each key behaves like a register that its
// first write sets for good.
func TestRetriesAreLinearizable(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	begin := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var wg sync.WaitGroup
	for client := range 8 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(client), 7))
			for range 40 {
				in := create{fmt.Sprintf("k%d", random.IntN(12)), fmt.Sprintf(`{"v":%d}`, random.IntN(2))}
				call := time.Since(begin).Nanoseconds()
				doc, err := n.SubmitTask(t.Context(), n.Root, retry(in.key, in.body), abi.SubmitTaskRequest{
					SessionID: session, Input: jsontext.Value(in.body)})
				out := created{id: doc.ID}
				if err != nil {
					enginetest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
					out = created{reused: true}
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: time.Since(begin).Nanoseconds()})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if !porcupine.CheckOperations(retryModel(), history) {
		t.Error("the history of retried writes is not linearizable")
	}
	n.wantTasks(t, session, history)
}

func retryModel() porcupine.Model {
	type register struct{ id, body string }
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byKey := map[string][]porcupine.Operation{}
			for _, op := range history {
				byKey[op.Input.(create).key] = append(byKey[op.Input.(create).key], op)
			}
			var parts [][]porcupine.Operation
			for _, part := range byKey {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return register{} },
		Step: func(state, input, output any) (bool, any) {
			r, in, out := state.(register), input.(create), output.(created)
			if r.id == "" {
				return !out.reused, register{out.id, in.body}
			}
			if in.body != r.body {
				return out.reused, r
			}
			return !out.reused && out.id == r.id, r
		},
	}
}

// wantTasks checks that there is one Task for each key, and no other.
func (n *node) wantTasks(t *testing.T, session string, history []porcupine.Operation) {
	t.Helper()
	want := map[string]bool{}
	for _, op := range history {
		if out := op.Output.(created); !out.reused {
			want[out.id] = true
		}
	}
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{SessionID: session}, desk.Page{Limit: 200})
	if err != nil || list.More || len(list.Docs) != len(want) {
		t.Fatalf("%d tasks for %d keys (%v)", len(list.Docs), len(want), err)
	}
}

package prove_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// between stands between a node that delegates and the one that works. At one point of one exchange
// it holds the exchange, until somebody has been killed.
type between struct {
	*httptest.Server
	to string

	mu      sync.Mutex
	on      string // of the exchanges, the one to hold: card, plan or dispatch; "" for none
	after   bool   // when it is answered, and not before it is passed on
	reached chan struct{}
	goOn    chan struct{}
}

func newBetween(t *testing.T) *between {
	b := &between{reached: make(chan struct{}), goOn: make(chan struct{})}
	b.Server = httptest.NewServer(b)
	t.Cleanup(b.Close)
	return b
}

// arm has the next exchange of a kind be held.
func (b *between) arm(on string, after bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.on, b.after = on, after
}

// hold waits at a point, if that is the one.
func (b *between) hold(what string, after bool) (held bool) {
	b.mu.Lock()
	held = b.on == what && b.after == after
	if held {
		b.on = ""
	}
	b.mu.Unlock()
	if held {
		b.reached <- struct{}{}
		<-b.goOn
	}
	return held
}

func (b *between) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	what := "card"
	for _, method := range []string{"plan", "dispatch"} {
		if strings.Contains(string(body), "_harn/externalAgent."+method+`"`) {
			what = method
		}
	}
	b.hold(what, false)
	req, err := http.NewRequest(r.Method, b.to+r.URL.RequestURI(), bytes.NewReader(body)) // it goes on when the client is gone
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	req.Header, req.Host = r.Header.Clone(), r.Host
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if b.hold(what, true) {
		w.WriteHeader(http.StatusBadGateway) // the answer is lost
		return
	}
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(text)
}

// One node delegates to another, and either is killed before and after each exchange of the two. There
// is one piece of work, paid once, each time; the receipts of both verify, and replays of both are
// what was.
func TestOneNodeDelegatesToAnother(t *testing.T) {
	b := newBetween(t)
	worker := builder.StartWith(t, nodetest.Options{Args: append(withPlugins(t), "--set", "public_url="+b.URL)})
	b.to = worker.URL
	dir := t.TempDir()
	put(t, filepath.Join(dir, "wharf.yaml"), fmt.Sprintf(`
secrets: {worker: {env: WORKER_KEY}}
tools:
  worker: {a2a: "%s", private: true, headers: {Authorization: "Bearer {{secret:worker}}"}}
grants:
  calls: {agents: [worker], tools: ["worker:*"]}
`, b.URL))
	delegator := builder.StartWith(t, nodetest.Options{Env: []string{"WORKER_KEY=" + nodetest.Key},
		Args: append(withPlugins(t), "--config", filepath.Join(dir, "wharf.yaml"), "--set", "tasks.attempts=1000")})
	from, to := newClient(delegator), newClient(worker)
	asks := from.persona(t, "act_auto", nil)
	persona := from.persona(t, "act_auto", object{"approvals": object{"without": []string{"agent.delegate"}}})

	points := []string{"dispatch"}
	if long() {
		points = []string{"card", "plan", "dispatch"}
	}
	n, works := 0, 0
	for _, on := range points {
		for _, after := range []bool{false, true} {
			for _, victim := range []*nodetest.Node{delegator, worker} {
				n++
				name := fmt.Sprintf("%s, after %v, victim %v", on, after, victim == worker)
				b.arm(on, after)
				task := from.submit(t, from.session(t), persona, program(step("clock", ""), step("agent.delegate", fmt.Sprintf(
					`{"call_id":"d","agent":"worker","task":"# Work %d\n\nDo it.","budget":{"usd":1,"seconds":60},"idempotency_key":"%d","checkpoint":{"approved":true}}`, n, n))))
				select {
				case <-b.reached:
				case <-time.After(time.Minute):
					t.Fatalf("%s: it was not come to: %v", name, from.get(t, "/v1/tasks/"+task))
				}
				victim.Kill(t)
				victim.Run(t)
				b.goOn <- struct{}{}
				ended := from.settled(t, task)
				if text(ended, "status") != "COMPLETED" {
					t.Fatalf("%s: %v %v", name, ended["status"], ended["failure"])
				}
				if victim == worker && after && on != "dispatch" { // an answer that is lost before anything is dispatched
					wantUnavailable(t, name, from, to, task, works)
					continue
				}
				works++
				wantDelegated(t, name, from, to, task, works)
			}
		}
	}

	// Somebody is asked where the Persona does not say otherwise, and shown the plan.
	task := from.submit(t, from.session(t), asks, program(step("agent.delegate",
		`{"agent":"worker","task":"# More\n\nDo it.","budget":{"usd":1},"checkpoint":{"approved":true}}`)))
	waits := from.waitsFor(t, task, "agent.delegate")
	if shown, _ := json.Marshal(waits); !strings.Contains(string(shown), `"proposals"`) {
		t.Errorf("it waits for %s", shown)
	}
	from.decide(t, task, `{"decision":"approved"}`)
	from.settled(t, task)
	wantDelegated(t, "approved", from, to, task, works+1)
}

// delegated is what a receipt tells of work that another node did.
type delegated struct {
	Metadata struct {
		Delegations []struct {
			Status string `json:"status"`
			Card   string `json:"card_sha256"`
		} `json:"delegations"`
	} `json:"metadata"`
	Effects struct {
		Handoffs []struct {
			TaskID string `json:"task_id"`
		} `json:"a2a_handoffs"`
	} `json:"side_effects"`
}

func (c *client) delegatedBy(t *testing.T, task string) (r delegated) {
	t.Helper()
	receipt := text(c.get(t, "/v1/tasks/"+task), "receipt_id")
	if err := json.Unmarshal(c.ask(t, "GET", "/v1/receipts/"+receipt, nil, "Accept", "application/vnd.harn.receipt+json").body, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// wantWorks wants the other node to have done so many pieces of work.
func wantWorks(t *testing.T, name string, to *client, works int) {
	t.Helper()
	var done []string
	for _, other := range to.all(t, "/v1/tasks") {
		mark, _ := other["metadata"].(object)["a2a_external"].(object)
		if mark != nil && text(mark, "checkpoint_id") != "" {
			done = append(done, text(other, "id"))
		}
	}
	if len(done) != works {
		t.Errorf("%s: the other node has done %d pieces of work, want %d", name, len(done), works)
	}
}

// wantUnavailable wants a Task to have been told that the other node was not there, and no work to have
// been done for it.
func wantUnavailable(t *testing.T, name string, from, to *client, task string, works int) {
	t.Helper()
	if d := from.delegatedBy(t, task).Metadata.Delegations; len(d) != 1 || d[0].Status != "unavailable" {
		t.Errorf("%s: the receipt says %+v", name, d)
	}
	wantWorks(t, name, to, works)
	from.wantProved(t, task)
	if again := from.replayed(t, task, nil); text(again, "status") != "COMPLETED" {
		t.Errorf("%s: a replay is %v %v", name, again["status"], again["failure"])
	}
}

// wantDelegated wants a Task to have had work done by the other node, which is the last of so many.
func wantDelegated(t *testing.T, name string, from, to *client, task string, works int) {
	t.Helper()
	r := from.delegatedBy(t, task)
	if d := r.Metadata.Delegations; len(d) != 1 || d[0].Status != "completed" || d[0].Card == "" || len(r.Effects.Handoffs) != 1 {
		t.Fatalf("%s: the receipt says %+v", name, r)
	}
	wantWorks(t, name, to, works)
	from.wantProved(t, task)
	to.wantProved(t, r.Effects.Handoffs[0].TaskID)
	for c, id := range map[*client]string{from: task, to: r.Effects.Handoffs[0].TaskID} {
		if again := c.replayed(t, id, nil); text(again, "status") != "COMPLETED" {
			t.Errorf("%s: a replay is %v %v", name, again["status"], again["failure"])
		}
	}
}

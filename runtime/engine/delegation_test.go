package engine_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
)

// contractor is an agent outside that keeps to the contract, unless a test makes it do otherwise. It
// tells work by its key.
type contractor struct {
	*httptest.Server

	mu         sync.Mutex
	card       string                                            // in place of its own
	plans      string                                            // the result of a plan, in place of its own
	result     func(key string) string                           // of work, in place of its own
	serve      func(w http.ResponseWriter, r *http.Request) bool // answers in its place
	method     func(method string)                               // hears of each call before it is answered
	work       map[string]jsontext.Value                         // by key, as it was dispatched
	dispatched int                                               // requests to dispatch
	planned    int
	cards      int
}

func newContractor(t testing.TB) *contractor {
	c := &contractor{work: map[string]jsontext.Value{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

const promises = `"externalAgent":{"schema":"harn.external_agent.v1","pre_dispatch_checkpoint":true,"budget_cap":true,"idempotency":true,` +
	`"reviewable_handoff":true,"dispatch":true,"operations":["_harn/externalAgent.plan","_harn/externalAgent.dispatch"]}`

func (c *contractor) ownCard() string {
	return `{"name":"Coder","supportedInterfaces":[{"url":"` + c.URL + `/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
		`"skills":[{"id":"fix","name":"Fix","description":"fixes"}],"capabilities":{` + promises + `}}`
}

func (c *contractor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	serve, card := c.serve, c.card
	c.mu.Unlock()
	if serve != nil && serve(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		c.mu.Lock()
		c.cards++
		c.mu.Unlock()
		if card == "" {
			card = c.ownCard()
		}
		_, _ = io.WriteString(w, card)
		return
	}
	var req struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Params jsontext.Value `json:"params"`
	}
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &req) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	heard := c.method
	c.mu.Unlock()
	if heard != nil {
		heard(req.Method)
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, req.ID, c.answer(req.Method, req.Params))
}

func (c *contractor) answer(method string, params jsontext.Value) string {
	var asked struct {
		Task string `json:"task"`
		Key  string `json:"idempotency_key"`
	}
	_ = json.Unmarshal(params, &asked)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch method {
	case abi.MethodExternalPlan:
		c.planned++
		if c.plans != "" {
			return c.plans
		}
		return `"result":{"checkpoint_id":"cp-` + asked.Key[:12] + `","plan":{"steps":["do ` + asked.Task + `"]},"expected_scope":"all"}`
	case abi.MethodExternalDispatch:
		c.dispatched++
		status := "completed"
		if c.work[asked.Key] != nil {
			status = "replayed"
		}
		c.work[asked.Key] = params.Clone()
		if c.result != nil {
			return c.result(asked.Key)
		}
		return `"result":{"status":"` + status + `","task_id":"outside-1","handoff":{"summary":"done"},"diff":"--- a\n+++ b\n","budget_used":{"usd":0.5,"tokens":100,"seconds":2,"tool_calls":3},"receipts":["r1"]}`
	}
	return `"error":{"code":-32601,"message":"no such method"}`
}

// count returns how much work was begun, and how often it was asked for.
func (c *contractor) count() (works, dispatched int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.work), c.dispatched
}

func (c *contractor) set(change func(*contractor)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// withAgent lets the plugin "program" delegate to the contractor as "coder".
func withAgent(t testing.TB, c *contractor) enginetest.Configure {
	peer, err := agent.NewPeer(agent.Config{Name: "coder", URL: c.URL, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	return func(_ *engine.Config, p *engine.Parts) {
		p.Agents = &agent.Agents{Peers: map[string]*agent.Peer{"coder": peer}, Grants: map[string][]string{"program": {"coder"}}}
	}
}

func delegation(more string) op {
	return op{abi.CallAgentDelegate, `{"call_id":"d","agent":"coder","task":"fix it","budget":{"usd":2,"seconds":5}` + more + `}`}
}

const approvedAlready = `,"checkpoint":{"approved":true}`

// unasked lets a Persona delegate without anybody's approval.
var unasked = asPersona(func(p *abi.Persona) {
	p.Approvals = &abi.ApprovalPolicy{Without: []string{"coder:delegate"}}
})

// Paid work goes to an agent once somebody has approved the agent's own plan, whatever the plugin
// says; it is done once, also when the node dies before or after; what it cost is counted, and the
// receipt says to whom it went. A replay asks nobody.
func TestDelegation(t *testing.T) {
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprintf("crash %v", crash), func(t *testing.T) {
			c := newContractor(t)
			p := newProgram(say("before"), delegation(`,"idempotency_key":"k1"`), delegation(`,"idempotency_key":"k1"`+approvedAlready), say("after"))
			g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
			configure := []enginetest.Configure{withAgent(t, c)}
			n := newNode(t, g, configure...)
			id := n.Submit(t, n.Session(t), "persona_program")
			w := n.parked(t, id).Waiting
			if !w.Gate || w.Action != "agent.delegate coder:delegate" || !strings.Contains(string(w.Arguments), `"plan":{"steps":["do fix it"]}`) ||
				!strings.Contains(string(w.Arguments), `"card_sha256":"sha256:`) {
				t.Fatalf("it waits for %+v", w)
			}
			if works, _ := c.count(); works != 0 {
				t.Fatal("work was dispatched before anybody had approved it")
			}
			if crash {
				n = boot(t, n.Disk.Crash(1, 0), g, configure...)
				defer n.Stop(t)
			}
			n.decide(t, id, `{"decision":"approved"}`)
			task := n.Wait(t, id)
			if task.Status != abi.TaskCompleted {
				t.Fatalf("%s %+v", task.Status, task.Failure)
			}
			runs := p.runs()
			told := runs[len(runs)-1]
			if !strings.Contains(told[1], `"checkpoint_required"`) || !strings.Contains(told[1], `"idempotency_key":"k1"`) {
				t.Errorf("without approval the plugin was told %s", told[1])
			}
			answer := delegated(t, told[2])
			if answer.Status != abi.DelegationCompleted || answer.Handoff.BudgetUsed.USD != 0.5 || answer.Handoff.TaskID != "outside-1" || len(answer.Handoff.Artifacts) != 2 {
				t.Errorf("the plugin was told %s", told[2])
			}
			if works, dispatched := c.count(); works != 1 || dispatched != 1 {
				t.Errorf("%d pieces of work were dispatched, %d times", works, dispatched)
			}
			n.wantArtifacts(t, answer)
			r := n.wire(t, task)
			if len(r.Metadata.Delegations) != 2 || r.Cost.Total != 0.5 || len(r.SideEffects.A2AHandoffs) != 1 || len(r.FinalArtifacts) != 2 {
				t.Fatalf("the receipt: %+v %+v %+v", r.Metadata, r.Cost, r.SideEffects)
			}
			if d := r.Metadata.Delegations[1]; d.Status != "completed" || d.PeerURL != c.URL+"/rpc" || d.CardSHA256 != answer.Peer.CardSHA256 || d.Budget.USD != 2 || d.Used.USD != 0.5 || d.Used.Tokens != 100 {
				t.Errorf("the receipt says %+v", d)
			}
			if v, err := n.VerifyReceipt(t.Context(), n.Root, nil, task.ReceiptID, abi.VerifyReceiptRequest{}); err != nil || !v.Valid {
				t.Errorf("%+v %v", v, err)
			}
			c.Close()
			n.wantReplay(t, id)
		})
	}
}

// delegated reads what a plugin was told.
func delegated(t testing.TB, told string) (a abi.CallAgentDelegateAnswer) {
	t.Helper()
	status, text, _ := strings.Cut(told, " ")
	if err := json.Unmarshal([]byte(text), &a); status != "0" || err != nil {
		t.Fatalf("%v: %s", err, told)
	}
	return a
}

// wantArtifacts wants what was handed over to be there, as the answer says.
func (n *node) wantArtifacts(t testing.TB, a abi.CallAgentDelegateAnswer) {
	t.Helper()
	for i, want := range []string{`"schema":"harn.external_agent.handoff.v1"`, "--- a\n+++ b\n"} {
		_, blob, err := n.OpenArtifact(t.Context(), n.Root, a.Handoff.Artifacts[i].ArtifactID)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(blob)
		if err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%v: an artifact of the handoff is %s, want %s", err, content, want)
		}
		_ = blob.Close()
	}
}

// Whoever comes back with the key of work that was done gets what was handed over, and nobody is
// asked: in another Task, after the agent is gone. Other work by the same key is refused.
func TestDelegationOnceByKey(t *testing.T) {
	c := newContractor(t)
	again := delegation(`,"idempotency_key":"k"` + approvedAlready)
	other := op{abi.CallAgentDelegate, strings.Replace(again.request, "fix it", "fix more", 1)}
	p := newProgram(again, again, other)
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withAgent(t, c), unasked)
	session := n.Session(t)
	for i := range 2 {
		task := n.Wait(t, n.Submit(t, session, "persona_program"))
		if task.Status != abi.TaskCompleted {
			t.Fatalf("%s %+v", task.Status, task.Failure)
		}
		runs := p.runs()
		told := runs[len(runs)-1]
		first, second := delegated(t, told[0]), delegated(t, told[1])
		if want := []abi.DelegationStatus{abi.DelegationCompleted, abi.DelegationReplayed}[i]; first.Status != want || second.Status != abi.DelegationReplayed {
			t.Errorf("Task %d was told %s and %s", i, first.Status, second.Status)
		}
		if second.Handoff.Artifacts[0] != first.Handoff.Artifacts[0] || string(second.Handoff.Handoff) != `{"summary":"done"}` {
			t.Errorf("what is handed over again is %+v", second.Handoff)
		}
		if !strings.Contains(told[2], "idempotency_conflict") {
			t.Errorf("other work by the same key was answered with %s", told[2])
		}
		if r := n.wire(t, task); r.Cost.Total != []float64{0.5, 0}[i] {
			t.Errorf("Task %d cost %g", i, r.Cost.Total)
		}
		n.wantReplay(t, task.ID)
		c.Close()
	}
	if works, dispatched := c.count(); works != 1 || dispatched != 1 {
		t.Errorf("%d pieces of work were dispatched, %d times", works, dispatched)
	}
}

// Where a node dies while an agent works, the next start asks for the same work by the same key, and
// what it cost is counted once.
func TestDelegationOverACrash(t *testing.T) {
	c := newContractor(t)
	p := newProgram(say("before"), delegation(approvedAlready), say("after"))
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	configure := []enginetest.Configure{withAgent(t, c), unasked}
	n := newNode(t, g, configure...)
	quota := n.quotaOf(t, map[string]float64{"usd": 10})
	there, leave := make(chan struct{}, 1), make(chan struct{})
	c.set(func(c *contractor) {
		c.serve = func(_ http.ResponseWriter, r *http.Request) bool { return false }
		c.method = func(method string) {
			if method == abi.MethodExternalDispatch {
				there <- struct{}{}
				<-leave
			}
		}
	})
	id := n.Submit(t, n.Session(t), "persona_program")
	<-there // the intent is on disk, and the agent has the work
	disk := n.Disk.Crash(1, 0)
	c.set(func(c *contractor) { c.method = nil })
	n2 := boot(t, disk, g, configure...)
	defer n2.Stop(t)
	task := n2.Wait(t, id)
	close(leave)
	if task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	if works, _ := c.count(); works != 1 {
		t.Errorf("%d pieces of work were dispatched", works)
	}
	if used := n2.usedOf(t, quota); used["usd"] != 0.5 {
		t.Errorf("the quota has counted %v", used)
	}
	if r := n2.wire(t, task); r.Cost.Total != 0.5 {
		t.Errorf("it cost %g", r.Cost.Total)
	}
	n2.wantReplay(t, id)
}

func (n *node) quotaOf(t testing.TB, limits map[string]float64) string {
	t.Helper()
	doc, err := n.CreateQuota(t.Context(), n.Root, nil, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

func (n *node) usedOf(t testing.TB, id string) map[string]float64 {
	t.Helper()
	doc, err := n.Get(t.Context(), n.Root, abi.ObjectQuota, id)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Quota](t, doc).Usage
}

// An agent outside is a stranger. Whatever it answers with, the plugin is told, nothing is dispatched
// that should not be, and what may have been paid is counted.
func TestHostileAgents(t *testing.T) {
	type verdict struct {
		told   string // to the plugin
		used   float64
		works  int
		status string // of the delegation in the receipt
	}
	dispatches := func(result string) func(*contractor) {
		return func(c *contractor) { c.result = func(string) string { return result } }
	}
	serves := func(f func(c *contractor, w http.ResponseWriter, r *http.Request)) func(*contractor) {
		return func(c *contractor) {
			c.serve = func(w http.ResponseWriter, r *http.Request) bool { f(c, w, r); return true }
		}
	}
	onDispatch := func(f func(w http.ResponseWriter, r *http.Request)) func(*contractor) {
		return func(c *contractor) {
			c.serve = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet {
					return false
				}
				body, _ := io.ReadAll(r.Body)
				if !strings.Contains(string(body), abi.MethodExternalDispatch) {
					r.Body = io.NopCloser(strings.NewReader(string(body)))
					return false
				}
				f(w, r)
				return true
			}
		}
	}
	card := func(edit func(own string) string) func(*contractor) {
		return func(c *contractor) { c.card = edit(c.ownCard()) }
	}
	for name, try := range map[string]struct {
		as   func(*contractor)
		want verdict
	}{
		"uses more than it may":          {dispatches(`"result":{"handoff":{},"budget_used":{"usd":7,"seconds":1}}`), verdict{`"exceeded":["usd"]`, 7, 1, "budget_exceeded"}},
		"does not say what it has used":  {dispatches(`"result":{"handoff":{}}`), verdict{`"reported":[]`, 2, 1, "completed"}},
		"has used less than nothing":     {dispatches(`"result":{"handoff":{},"budget_used":{"usd":-5}}`), verdict{`"reported":[]`, 2, 1, "completed"}},
		"has used more than can be":      {dispatches(`"result":{"handoff":{},"budget_used":{"usd":1e300,"tokens":1e300}}`), verdict{`"reported":[]`, 2, 1, "completed"}},
		"answers for another key":        {dispatches(`"result":{"handoff":{},"idempotency_key":"other"}`), verdict{"agent_contradicts", 2, 1, "indeterminate"}},
		"answers for another checkpoint": {dispatches(`"result":{"handoff":{},"checkpoint_id":"other"}`), verdict{"agent_contradicts", 2, 1, "indeterminate"}},
		"hands nothing over":             {dispatches(`"result":{"status":"completed"}`), verdict{"agent_contradicts", 2, 1, "indeterminate"}},
		"answers with no object":         {dispatches(`"result":[1]`), verdict{"agent_unanswered", 2, 1, "indeterminate"}},
		"refuses":                        {dispatches(`"error":{"code":-32000,"message":"no"}`), verdict{`"agent_refused"`, 0, 1, "refused"}},
		"answers too deep":               {dispatches(`"result":{"handoff":` + nestedLists(300) + `}`), verdict{"agent_unanswered", 2, 1, "indeterminate"}},
		"promises no cap":                {card(func(own string) string { return strings.Replace(own, `"budget_cap":true`, `"budget_cap":false`, 1) }), verdict{"agent_unproved", 0, 0, "refused"}},
		"promises nothing":               {card(func(own string) string { return strings.Replace(own, promises, ``, 1) }), verdict{"agent_unproved", 0, 0, "refused"}},
		"promises by another schema":     {card(func(own string) string { return strings.Replace(own, `external_agent.v1`, `external_agent.v9`, 1) }), verdict{"agent_unproved", 0, 0, "refused"}},
		"leads to another host":          {card(func(own string) string { return strings.Replace(own, `"http://127.0.0.1`, `"http://localhost`, 1) }), verdict{"agent_card", 0, 0, ""}},
		"has a card that is none":        {card(func(string) string { return `[]` }), verdict{"agent_card", 0, 0, ""}},
		"has a card with a name twice":   {card(func(own string) string { return `{"name":"a",` + own[1:] }), verdict{"agent_card", 0, 0, ""}},
		"has no plan":                    {func(c *contractor) { c.plans = `"result":{"checkpoint_id":"x"}` }, verdict{"agent_rejected", 0, 0, ""}},
		"makes no plans":                 {func(c *contractor) { c.plans = `"error":{"code":-32601,"message":"no"}` }, verdict{"checkpoint_unavailable", 0, 0, "refused"}},
		"refuses to plan":                {func(c *contractor) { c.plans = `"error":{"code":-32000,"message":"too vague"}` }, verdict{"too vague", 0, 0, "refused"}},
		"redirects": {serves(func(_ *contractor, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}), verdict{"agent_rejected", 0, 0, ""}},
		"redirects work": {onDispatch(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}), verdict{"agent_unanswered", 2, 0, "indeterminate"}},
		"answers with HTML": {serves(func(_ *contractor, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<p>")
		}), verdict{"agent_rejected", 0, 0, ""}},
		"streams events for ever": {onDispatch(func(w http.ResponseWriter, r *http.Request) { flood(w, r, "text/event-stream", "data: {}\n\n") }), verdict{"agent_unanswered", 2, 0, "indeterminate"}},
		"answers with a GB": {onDispatch(func(w http.ResponseWriter, r *http.Request) {
			flood(w, r, "application/json", strings.Repeat(" ", 1<<20))
		}), verdict{"agent_unanswered", 2, 0, "indeterminate"}},
		"says that it answers with a GB": {onDispatch(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1073741824")
			flood(w, r, "application/json", " ")
		}), verdict{"agent_unanswered", 2, 0, "indeterminate"}},
		"has a card of a GB": {serves(func(_ *contractor, w http.ResponseWriter, r *http.Request) {
			flood(w, r, "application/json", strings.Repeat(" ", 1<<20))
		}), verdict{"agent_too_large", 0, 0, ""}},
		"answers with 401": {serves(func(_ *contractor, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }), verdict{"agent_denied", 0, 0, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newContractor(t)
			c.set(try.as)
			p := newProgram(delegation(approvedAlready), say("after"))
			n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withAgent(t, c), unasked)
			quota := n.quotaOf(t, map[string]float64{"usd": 100})
			id := n.Submit(t, n.Session(t), "persona_program")
			task := n.Wait(t, id)
			if task.Status != abi.TaskCompleted {
				t.Fatalf("%s %+v", task.Status, task.Failure)
			}
			if told := p.runs()[0][0]; !strings.Contains(told, try.want.told) {
				t.Errorf("the plugin was told %.600s, want %s", told, try.want.told)
			}
			if used := n.usedOf(t, quota)["usd"]; used != try.want.used {
				t.Errorf("the quota has counted %g, want %g", used, try.want.used)
			}
			if works, _ := c.count(); works != try.want.works {
				t.Errorf("%d pieces of work, want %d", works, try.want.works)
			}
			r := n.wire(t, task)
			if got := r.Metadata.Delegations; try.want.status != "" && (len(got) != 1 || got[0].Status != try.want.status || got[0].Used.USD != try.want.used) {
				t.Errorf("the receipt has %+v, want %s", got, try.want.status)
			}
			n.wantReplay(t, id)
		})
	}
}

// flood writes until nobody reads any more.
func flood(w http.ResponseWriter, r *http.Request, kind, piece string) {
	w.Header().Set("Content-Type", kind)
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
	}
}

// An agent whose work goes on is asked for it again, by the same key. Whoever cancels the Task does not
// wait for the agent.
func TestAnAgentWhoseWorkGoesOn(t *testing.T) {
	c := newContractor(t)
	asked := make(chan struct{})
	c.set(func(c *contractor) {
		c.result = func(string) string { return `"result":{"status":"working"}` }
		c.method = func(method string) {
			if method == abi.MethodExternalDispatch {
				select {
				case asked <- struct{}{}:
				case <-t.Context().Done():
				}
			}
		}
	})
	p := newProgram(op{abi.CallAgentDelegate, `{"agent":"coder","task":"fix it","budget":{"usd":2,"seconds":60},"checkpoint":{"approved":true}}`})
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withAgent(t, c), unasked)
	id := n.Submit(t, n.Session(t), "persona_program")
	for range 3 {
		<-asked
	}
	c.set(func(c *contractor) { c.method = nil })
	if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, id); task.Status != abi.TaskCanceled {
		t.Errorf("%s", task.Status)
	}
	if works, _ := c.count(); works != 1 {
		t.Errorf("%d pieces of work", works)
	}
}

// A replay may be given another answer of an agent. Whatever that names, nobody outside is asked.
func TestAnotherAnswerInAReplay(t *testing.T) {
	c := newContractor(t)
	p := newProgram(delegation(approvedAlready), say("after"))
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withAgent(t, c), unasked)
	id := n.Submit(t, n.Session(t), "persona_program")
	n.Wait(t, id)
	c.Close()
	for _, answer := range []string{
		`{"status":"completed","handoff":{"schema":"harn.external_agent.handoff.v1","diff":"another"}}`,
		`{"status":"refused","reason":{"code":"agent_refused","message":"no"}}`,
	} {
		before := len(p.runs())
		again := n.replay(t, id, abi.ReplayTaskRequest{Mode: abi.ReplayWithOverrides, Override: map[string]abi.ReplayOverride{
			"host:agent.delegate:d": {Kind: abi.OverrideTool, Value: jsontext.Value(answer)}}})
		if again.Status != abi.TaskCompleted {
			t.Errorf("%s %+v", again.Status, again.Failure)
		}
		runs := p.runs()
		var want, got any
		_ = json.Unmarshal([]byte(answer), &want)
		_ = json.Unmarshal([]byte(strings.TrimPrefix(runs[len(runs)-1][0], "0 ")), &got)
		if len(runs) == before || fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("the plugin was told %s", runs[len(runs)-1][0])
		}
	}
	strange := `{"status":"completed","handoff":{"artifacts":[{"artifact_id":"artifact_01ARZ3NDEKTSV4RRFFQ69G5FAV","kind":"diff","sha256":"00"}]}}`
	_, err := n.ReplayTask(t.Context(), n.Root, nil, id, abi.ReplayTaskRequest{Mode: abi.ReplayWithOverrides, Override: map[string]abi.ReplayOverride{
		"host:agent.delegate:d": {Kind: abi.OverrideTool, Value: jsontext.Value(strange)}}})
	if is, ok := errors.AsType[*abi.Error](err); !ok || is.Code != abi.CodeInvalidRequest || !strings.Contains(is.Message, "artifact_01ARZ3NDEKTSV4RRFFQ69G5FAV") {
		t.Errorf("an answer with an artifact that the call has not made: %v", err)
	}
	if _, dispatched := c.count(); dispatched != 1 {
		t.Errorf("it was dispatched %d times", dispatched)
	}
}

// What may not be delegated is refused before anybody outside hears of it.
func TestDelegationsThatAreRefused(t *testing.T) {
	c := newContractor(t)
	for name, try := range map[string]struct {
		request string
		as      []enginetest.Configure
		told    string
	}{
		"no budget":       {`{"agent":"coder","task":"x","budget":{}}`, nil, "1 {\"code\":\"budget_required\""},
		"less":            {`{"agent":"coder","task":"x","budget":{"usd":-1}}`, nil, "1 "},
		"no task":         {`{"agent":"coder","task":" ","budget":{"usd":1}}`, nil, "1 "},
		"a context":       {`{"agent":"coder","task":"x","context":[],"budget":{"usd":1}}`, nil, "1 "},
		"another agent":   {`{"agent":"other","task":"x","budget":{"usd":1}}`, nil, "agent_denied"},
		"the persona":     {`{"agent":"coder","task":"x","budget":{"usd":1}}`, []enginetest.Configure{asPersona(func(p *abi.Persona) { p.ToolsDenied = []string{"coder:*"} })}, "tool_denied"},
		"its budget":      {`{"agent":"coder","task":"x","budget":{"usd":2}}`, []enginetest.Configure{asPersona(func(p *abi.Persona) { p.Budget = &abi.Budget{USD: 1} })}, "budget_exhausted"},
		"no bound of its": {`{"agent":"coder","task":"x","budget":{"seconds":2}}`, []enginetest.Configure{asPersona(func(p *abi.Persona) { p.Budget = &abi.Budget{USD: 1} })}, "budget_exhausted"},
	} {
		p := newProgram(op{abi.CallAgentDelegate, try.request})
		n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, append(try.as, withAgent(t, c))...)
		id := n.Submit(t, n.Session(t), "persona_program")
		if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
			t.Fatalf("%s: %s %+v", name, task.Status, task.Failure)
		}
		if told := p.runs()[0][0]; !strings.Contains(told, try.told) {
			t.Errorf("%s: the plugin was told %s", name, told)
		}
	}
	if c.cards != 0 {
		t.Errorf("the agent was asked for its card %d times", c.cards)
	}
}

// An agent whose card has changed since its plan was approved gets nothing, and one whose card has not
// gets what an approver has made of the delegation.
func TestWhatWasApprovedIsDispatched(t *testing.T) {
	for _, changes := range []bool{false, true} {
		c := newContractor(t)
		p := newProgram(delegation(approvedAlready))
		n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withAgent(t, c))
		id := n.Submit(t, n.Session(t), "persona_program")
		w := n.parked(t, id).Waiting
		if changes {
			c.set(func(c *contractor) { c.card = strings.Replace(c.ownCard(), "fixes", "breaks", 1) })
		}
		n.decide(t, id, `{"decision":"approved","arguments":`+strings.Replace(string(w.Arguments), `"usd":2`, `"usd":1`, 1)+`}`)
		n.Wait(t, id)
		runs := p.runs()
		answer := delegated(t, runs[len(runs)-1][0])
		switch {
		case changes && (answer.Status != abi.DelegationRefused || answer.Reason.Code != "agent_changed"):
			t.Errorf("another agent than the approved one: %+v", answer)
		case !changes && (answer.Status != abi.DelegationCompleted || answer.Handoff.Budget.USD != 1):
			t.Errorf("the approved budget was 1: %+v", answer)
		}
		n.wantReplay(t, id)
	}
}

// A plan of the plugin's own stands in for that of an agent which makes none, where the plugin says so;
// people approve that one.
func TestAPlanOfThePlugins(t *testing.T) {
	c := newContractor(t)
	c.set(func(c *contractor) { c.plans = `"error":{"code":-32601,"message":"no"}` })
	p := newProgram(delegation(`,"checkpoint":{"approved":true,"allow_local_fallback":true,"plan":{"steps":["mine"]}}`))
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withAgent(t, c))
	id := n.Submit(t, n.Session(t), "persona_program")
	if w := n.parked(t, id).Waiting; !strings.Contains(string(w.Arguments), `"local":true`) || !strings.Contains(string(w.Arguments), `"mine"`) {
		t.Errorf("it waits for %s", w.Arguments)
	}
	n.decide(t, id, `{"decision":"approved"}`)
	n.Wait(t, id)
	runs := p.runs()
	if answer := delegated(t, runs[len(runs)-1][0]); answer.Status != abi.DelegationCompleted {
		t.Errorf("%+v", answer)
	}
}

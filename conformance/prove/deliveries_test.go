package prove_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// hookSecret is what the senders of these tests sign with.
const hookSecret = "what the senders of these tests sign with"

// hooked are the flags of a node whose Connectors know the secret.
func hooked(t *testing.T) nodetest.Options {
	t.Helper()
	config := filepath.Join(t.TempDir(), "wharf.yaml")
	put(t, config, "secrets: {hook: {env: PROVE_HOOK, connectors: [\"*\"]}}\n")
	return nodetest.Options{
		Args: append(compiled(), "--config", config, "--set", "tasks.attempts=1000"),
		Env:  []string{"PROVE_HOOK=" + hookSecret},
	}
}

func signed(text string) []byte {
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// sender is one who delivers to a Connector, as its provider does.
type sender struct {
	name      string
	connector object // the request that makes it
	public    bool
	body      string // with %s, which is in the Task's input then
	header    func(id, body string) []string

	id, path string // of the Connector, once it is made
}

func senders() []*sender {
	standard := func(id, body string) []string {
		at := strconv.FormatInt(time.Now().Unix(), 10)
		return []string{"webhook-id", id, "webhook-timestamp", at,
			"webhook-signature", "v1," + base64.StdEncoding.EncodeToString(signed(id+"."+at+"."+body))}
	}
	hub := func(id, body string) []string {
		return []string{"X-GitHub-Delivery", id, "X-GitHub-Event", "issues", "X-Hub-Signature-256", "sha256=" + hex.EncodeToString(signed(body))}
	}
	auth := object{"secrets": []string{"hook"}}
	settings := object{"task": object{"text": "It rains: {$.what}"}, "thread": "harbour/{$.harbour}"}
	return []*sender{
		{name: "generic", public: true, body: `{"harbour":"north","what":"(%s)"}`, header: standard,
			connector: object{"provider": "generic", "webhook": object{"enabled": true}, "auth": auth, "settings": settings}},
		{name: "github", public: true, header: hub,
			body: `{"action":"opened","number":7,"issue":{"number":7,"title":"(%s)","body":"it drags","user":{"login":"ada"}},` +
				`"repository":{"full_name":"harbour/boats"},"sender":{"login":"ada"}}`,
			connector: object{"provider": "github", "webhook": object{"enabled": true}, "auth": auth}},
		{name: "of a key", body: `{"harbour":"south","what":"(%s)"}`,
			header:    func(id, _ string) []string { return []string{"webhook-id", id} },
			connector: object{"provider": "generic", "settings": settings}},
	}
}

// open makes the Connector.
func (s *sender) open(t *testing.T, c *client) {
	t.Helper()
	s.connector["target_persona_id"] = "persona_echo"
	made := c.post(t, "/v1/connectors", s.connector)
	s.id, s.path = text(made, "id"), text(made, "webhook", "path")
	if !s.public {
		s.path = "/v1/connectors/" + s.id + "/deliveries"
	}
}

// send delivers. The error says that there was no answer.
func (s *sender) send(ctx context.Context, c *client, id string) (status int, answer string, err error) {
	body := fmt.Sprintf(s.body, id)
	req, err := http.NewRequestWithContext(ctx, "POST", c.url+s.path, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, "", err
	}
	for h := s.header(id, body); len(h) > 0; h = h[2:] {
		req.Header.Set(h[0], h[1])
	}
	req.Header.Set("Content-Type", "application/json")
	if !s.public {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// shipment is a delivery that is sent, maybe several times.
type shipment struct {
	sender *sender
	id     string
}

// shipments returns count deliveries in a random order, three tenths of which repeat
// another one.
func shipments(chance *rand.Rand, all []*sender, count int) []shipment {
	fresh := count * 7 / 10
	list := make([]shipment, 0, count)
	for i := range fresh {
		list = append(list, shipment{all[i%len(all)], fmt.Sprint("shipment-", i)})
	}
	for len(list) < count {
		list = append(list, list[chance.IntN(fresh)])
	}
	chance.Shuffle(count, func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

// wharfage is what the senders were told, over all the node's lives.
type wharfage struct {
	mu       sync.Mutex
	up       chan struct{} // closed while the node lives
	left     []shipment
	accepted map[shipment]int // answers that say so
	deduped  map[string]int   // by Connector
	done     int
	again    int        // attempts without an answer that settles it
	progress *sync.Cond // of done
}

func newWharfage(list []shipment) *wharfage {
	w := &wharfage{left: list, up: make(chan struct{}), accepted: map[shipment]int{}, deduped: map[string]int{}}
	w.progress = sync.NewCond(&w.mu)
	w.revive()
	return w
}

// revive says that the node lives.
func (w *wharfage) revive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.up)
}

// doom says that the node is about to die.
func (w *wharfage) doom() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.up = make(chan struct{})
}

// next takes the next delivery.
func (w *wharfage) next() (s shipment, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.left) == 0 {
		return s, false
	}
	s, w.left = w.left[0], w.left[1:]
	return s, true
}

// settled notes the answer to a delivery.
func (w *wharfage) settled(s shipment, status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if status == 202 {
		w.accepted[s]++
	} else {
		w.deduped[s.sender.id]++
	}
	w.done++
	w.progress.Broadcast()
}

// unsettled notes that there was none that settles it, and returns when the node lives.
func (w *wharfage) unsettled() (up <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.again++
	return w.up
}

// await waits until as many deliveries have their answers.
func (w *wharfage) await(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.done < n {
		w.progress.Wait()
	}
}

// carry sends deliveries, each until the node says that it has it.
func (w *wharfage) carry(t *testing.T, c *client) {
	const patience = 20 * time.Millisecond // of a sender who is told to come again
	for s, ok := w.next(); ok; s, ok = w.next() {
		for {
			status, answer, err := s.sender.send(t.Context(), c, s.id)
			if err == nil && (status == 202 || status == 200) {
				w.settled(s, status)
				break
			}
			if t.Context().Err() != nil || err == nil && status != 429 && status != 503 {
				t.Errorf("%s for %s: %d %s %v", s.id, s.sender.name, status, answer, err)
				w.settled(s, status)
				break
			}
			<-w.unsettled()
			<-time.After(patience)
		}
	}
}

// TestDeliveriesOfAKilledNode sends deliveries from 64 connections, some of them several
// times, to a node that is killed and started again five times meanwhile. Senders send
// again what got no answer. Each delivery has one effect.
func TestDeliveriesOfAKilledNode(t *testing.T) {
	count, kills := 1_000, 5
	if long() {
		count = 20_000
	}
	const connections, seed = 64, 20261121
	chance := rand.New(rand.NewPCG(seed, 1))
	node := builder.StartWith(t, hooked(t))
	c := newClient(node)
	c.http.Transport = &http.Transport{MaxIdleConnsPerHost: connections}
	from := senders()
	for _, s := range from {
		s.open(t, c)
	}
	w := newWharfage(shipments(chance, from, count))
	var all sync.WaitGroup
	for range connections {
		all.Go(func() { w.carry(t, c) })
	}
	for kill := range kills {
		w.await(count*(kill+1)/(kills+2) + chance.IntN(count/20))
		w.doom()
		node.Kill(t)
		node.Run(t)
		w.revive()
	}
	all.Wait()
	if w.again == 0 {
		t.Error("no kill has met a delivery: this test has shown nothing")
	}
	t.Logf("%d deliveries, %d accepted, %d times there was no answer", count, len(w.accepted), w.again)
	before := c.wantOneEffectEach(t, from, w, count*7/10)
	node.Stop(t)
	wantSameAfterRebuild(t, node.Data)
	node.Run(t)
	for i, s := range from {
		if after := c.counters(t, s); after != before[i] {
			t.Errorf("%s: rebuilding changes the counters from %s to %s", s.name, before[i], after)
		}
	}
}

// counters returns the counters of a Connector, as text.
func (c *client) counters(t *testing.T, s *sender) string {
	t.Helper()
	return fmt.Sprint(c.get(t, "/v1/connectors/"+s.id)["counters"])
}

// landed is what the log says of one delivery.
type landed struct {
	received, normalized, submitted int
	tasks                           []object
}

// wantOneEffectEach waits for the end of all that the deliveries have caused, holds it
// against what the senders were told, and returns the counters of each Connector.
func (c *client) wantOneEffectEach(t *testing.T, from []*sender, w *wharfage, fresh int) (counters []string) {
	t.Helper()
	mine := map[string]*sender{}
	for _, s := range from {
		mine[s.id] = s
		c.until(t, "nothing of "+s.name+" is pending", func() bool {
			counts, _ := c.get(t, "/v1/connectors/"+s.id)["counters"].(object)
			return number(counts, "pending") == 0
		})
	}
	found, byResource := map[shipment]*landed{}, map[string]*landed{}
	for _, e := range c.all(t, "/v1/events") {
		d := byResource[text(e, "resource", "id")]
		switch text(e, "event") {
		case "connector.delivery_received":
			key := shipment{mine[text(e, "payload", "connector_id")], text(e, "payload", "delivery_id")}
			if found[key] == nil {
				found[key] = &landed{}
			}
			found[key].received++
			byResource[text(e, "resource", "id")] = found[key]
		case "connector.normalized":
			d.normalized++
		case "connector.task_submitted":
			d.submitted++
		case "connector.failed", "connector.delivery_dead":
			t.Errorf("a delivery was put aside: %v", e["payload"])
		}
	}
	for _, task := range c.finished(t) {
		if d := byResource[text(task, "delivery_id")]; d == nil {
			t.Errorf("task %s is of no delivery, but of %q", text(task, "id"), text(task, "delivery_id"))
		} else {
			d.tasks = append(d.tasks, task)
		}
	}
	if len(found) != fresh {
		t.Errorf("%d deliveries were sent, and %d were received", fresh, len(found))
	}
	each := map[string]int{}
	for s, d := range found {
		each[s.sender.id]++
		d.wantOnce(t, s)
	}
	for s, n := range w.accepted {
		if found[s] == nil || n != 1 {
			t.Errorf("%s for %s was accepted %d times; the log has %v", s.id, s.sender.name, n, found[s])
		}
	}
	for _, s := range from {
		c.wantCounted(t, s, each[s.id], w.deduped[s.id])
		counters = append(counters, c.counters(t, s))
	}
	return counters
}

// wantOnce holds that a delivery was taken once, and made one Task, which has its words.
func (d *landed) wantOnce(t *testing.T, s shipment) {
	t.Helper()
	if d.received != 1 || d.normalized != 1 || d.submitted != 1 || len(d.tasks) != 1 {
		t.Errorf("%s for %s: received %d times, normalized %d times, %d tasks were told of and %d are there",
			s.id, s.sender.name, d.received, d.normalized, d.submitted, len(d.tasks))
		return
	}
	task := d.tasks[0]
	if text(task, "connector_id") != s.sender.id || text(task, "status") != "COMPLETED" || !strings.Contains(fmt.Sprint(task["input"]), "("+s.id+")") {
		t.Errorf("the task of %s for %s is %v, of %v, with the input %v", s.id, s.sender.name, task["status"], task["connector_id"], task["input"])
	}
}

// wantCounted holds a Connector's counters against the log. Of the repetitions those
// are forgotten that were counted just before a kill.
func (c *client) wantCounted(t *testing.T, s *sender, taken, deduped int) {
	t.Helper()
	counts, _ := c.get(t, "/v1/connectors/"+s.id)["counters"].(object)
	for name, want := range map[string]int{"received": taken, "normalized": taken, "tasks": taken, "failed": 0, "pending": 0} {
		if got := number(counts, name); got != want {
			t.Errorf("%s: %s is %d, and should be %d", s.name, name, got, want)
		}
	}
	if got := number(counts, "deduped"); got > deduped || got == 0 {
		t.Errorf("%s: %d deliveries are counted as repeated; %d times a sender was told so", s.name, got, deduped)
	}
}

// number returns a member that is a number, 0 when there is none.
func number(o object, name string) int {
	n, _ := o[name].(float64)
	return int(n)
}

// finished waits until every Task has ended, and returns them.
func (c *client) finished(t *testing.T) (tasks []object) {
	t.Helper()
	c.until(t, "every task has ended", func() bool {
		tasks = c.all(t, "/v1/tasks")
		for _, task := range tasks {
			if !terminal(task) {
				return false
			}
		}
		return true
	})
	return tasks
}

// until looks until something is so.
func (c *client) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	end := time.After(3 * time.Minute)
	for !so() {
		select {
		case <-look.C:
		case <-end:
			t.Fatalf("it is not so after three minutes that %s", what)
		}
	}
}

// wantSameAfterRebuild holds that the doctor finds nothing, and that a rebuild leaves
// everything as it was.
func wantSameAfterRebuild(t *testing.T, data string) {
	t.Helper()
	var said []string
	for _, how := range [][]string{nil, {"--rebuild"}, nil} {
		code, out := wharf(t, append([]string{"doctor", "--json", "--data", data}, how...)...)
		if code != 0 {
			t.Errorf("doctor %v: %d %s", how, code, out)
		}
		var report object
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatalf("doctor %v says %q: %v", how, out, err)
		}
		delete(report, "disk") // which others write to as well
		said = append(said, fmt.Sprint(report))
	}
	if said[0] != said[2] {
		t.Errorf("a rebuild makes of\n%s\n%s", said[0], said[2])
	}
}

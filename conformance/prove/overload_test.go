package prove_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// The limits of the node that is overloaded, low enough to be reached.
const (
	narrowQueue    = 64
	narrowRunning  = 8
	narrowBacklog  = 256
	narrowInbox    = 1 << 20
	narrowInFlight = 2 << 20
	narrowIdle     = 16 << 20
	narrowCache    = 8 << 20
	narrowMemtable = 8 << 20
	narrowConns    = 256
)

func narrowNode(t *testing.T) *nodetest.Node {
	t.Helper()
	var args []string
	for _, set := range []string{
		fmt.Sprint("tasks.queue=", narrowQueue), fmt.Sprint("tasks.concurrency=", narrowRunning),
		fmt.Sprint("connectors.backlog=", narrowBacklog), fmt.Sprint("connectors.inbox=", narrowInbox),
		fmt.Sprint("limits.in_flight=", narrowInFlight), fmt.Sprint("limits.body=", narrowInFlight/2),
		fmt.Sprint("limits.connections=", narrowConns), fmt.Sprint("plugins.idle_memory=", narrowIdle),
		fmt.Sprint("storage.cache=", narrowCache), fmt.Sprint("storage.memtable=", narrowMemtable),
	} {
		args = append(args, "--set", set)
	}
	return builder.StartWith(t, nodetest.Options{Args: append(compiled(), args...)})
}

// mostMemory is how much more a node may hold under any load than one that has just
// begun. Each part follows from a setting; what it weighs beside what the setting counts
// was estimated from the types. The collector lets garbage become as much as what is in
// use, and that of the store is in use too. Instances are outside of its reach, and of
// the program's own file more pages are read the more it does.
func mostMemory(t *testing.T) int64 {
	t.Helper()
	const (
		waiting    = 16 << 10 // a Task in the queue: its input, its state, its place in tables
		running    = 1 << 20  // a Task that runs: its stack, its record, what it is told
		pending    = 1 << 10  // a delivery, beside the inbox
		connection = 32 << 10 // its goroutine and buffers
	)
	held := int64(narrowQueue*waiting + narrowRunning*running + 2*narrowBacklog*pending + narrowConns*connection)
	held += 3*narrowInFlight + 2*narrowInbox // as it came, as an event, and in a frame of the log
	held += narrowCache + 4*narrowMemtable
	file, err := os.Stat(builder.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	return 2*held + narrowIdle + file.Size()
}

// resident returns the memory of a process.
func resident(t testing.TB, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("the process states no resident memory")
	return 0
}

// watchMemory returns a function that ends the watch and says what the most was.
func watchMemory(t *testing.T, pid int) (most func() int64) {
	t.Helper()
	var peak atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for look := time.NewTicker(50 * time.Millisecond); ; {
			peak.Store(max(peak.Load(), resident(t, pid)))
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
		}
	})
	return func() int64 {
		stop()
		done.Wait()
		return peak.Load()
	}
}

// metrics reads the figures of /metrics; series of one name are added up.
func (c *client) metrics(t testing.TB) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(string(c.ask(t, "GET", "/metrics", nil).body))); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if !ok || name == "#" {
			continue
		}
		name, _, _ = strings.Cut(name, "{")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		all[name] += n
	}
	return all
}

// sent is one request of a sender, and what it stands for.
type sent struct {
	path, id string
	body     []byte
	delivery bool
}

// tenantLoad sends what one tenant does.
type tenantLoad struct {
	*client
	name, session string
	connectors    []string // ids
	hooks         []string // public paths
	fast          *fasthttp.Client
	serial        atomic.Int64

	mu       sync.Mutex
	asked    int
	taken    map[string]string // what was acknowledged, by id: the Task or Delivery
	refused  map[int]int       // by status
	unknown  int               // requests without an answer
	improper []string          // refusals that are not as they have to be
}

func newLoad(t *testing.T, c *client, name string, connectors int) *tenantLoad {
	t.Helper()
	l := &tenantLoad{client: c, name: name, taken: map[string]string{}, refused: map[int]int{},
		fast: &fasthttp.Client{MaxConnsPerHost: narrowConns, NoDefaultUserAgentHeader: true, DisablePathNormalizing: true}}
	t.Cleanup(l.fast.CloseIdleConnections)
	l.session = c.session(t)
	for range connectors {
		made := c.post(t, "/v1/connectors", object{"provider": "generic", "workspace_id": text(c.all(t, "/v1/workspaces")[0], "id"),
			"auth": object{"scheme": "none"}, "webhook": object{"enabled": true},
			"settings": object{"task": object{"text": "{$.id}", "persona_id": "persona_echo", "metadata": object{"id": "$.id"}}}})
		l.connectors = append(l.connectors, text(made, "id"))
		l.hooks = append(l.hooks, text(made, "webhook", "path"))
	}
	return l
}

// padding makes a delivery as long as most are.
var padding = strings.Repeat("lorem ipsum ", 70)

// delivery is the next delivery, or now and then one that was sent before.
func (l *tenantLoad) delivery() sent {
	n := l.serial.Add(1)
	if n%5 == 0 {
		n -= 20
	}
	s := sent{id: fmt.Sprintf("%s-d%d", l.name, n), delivery: true}
	at := int(n) & 1
	// One Connector's come by their public path, those of others with a key.
	if s.path = l.hooks[at%len(l.hooks)]; at%len(l.hooks) > 0 {
		s.path = "/v1/connectors/" + l.connectors[at] + "/deliveries"
	}
	s.body = fmt.Appendf(nil, `{"id":%q,"padding":%q}`, s.id, padding)
	return s
}

// order is the next Task.
func (l *tenantLoad) order() sent {
	s := sent{id: fmt.Sprintf("%s-t%d", l.name, l.serial.Add(1)), path: "/v1/sessions/" + l.session + "/tasks"}
	s.body = fmt.Appendf(nil, `{"input":{"text":%q},"persona_id":"persona_echo","metadata":{"id":%q}}`, padding, s.id)
	return s
}

// send makes a request and notes what became of it. It returns whether it was taken,
// and otherwise how long the node wants to be left alone.
func (l *tenantLoad) send(s sent) (taken bool, wait time.Duration) {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.SetRequestURI(l.url + s.path)
	req.Header.SetMethod(http.MethodPost)
	req.Header.SetContentType("application/json")
	req.Header.Set("Authorization", "Bearer "+l.key)
	req.Header.Set("Harn-Agents-Protocol-Version", nodetest.Version)
	req.Header.Set("Webhook-Id", s.id)
	req.SetBodyRaw(s.body)
	err := l.fast.DoTimeout(req, resp, time.Minute)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	if err != nil {
		l.unknown++
		return false, 0
	}
	switch status := resp.StatusCode(); status {
	case http.StatusOK, http.StatusAccepted:
		return true, l.note(s, resp.Body())
	default:
		l.refused[status]++
		return false, l.judge(status, string(resp.Header.Peek("Retry-After")), resp.Body())
	}
}

// note keeps what was acknowledged. The caller holds l.mu.
func (l *tenantLoad) note(s sent, body []byte) time.Duration {
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(body, &made); err != nil || made.ID == "" && !s.delivery {
		l.improper = append(l.improper, fmt.Sprintf("%s was taken with %q", s.id, body))
	}
	if l.taken[s.id] == "" {
		l.taken[s.id] = made.ID
	}
	return 0
}

// judge checks a refusal and returns its Retry-After. The caller holds l.mu.
func (l *tenantLoad) judge(status int, after string, body []byte) time.Duration {
	var envelope struct {
		Error struct {
			Code      string `json:"code"`
			Message   string `json:"message"`
			RequestID string `json:"request_id"`
		} `json:"error"`
	}
	err := json.Unmarshal(body, &envelope)
	seconds, bad := strconv.Atoi(after)
	e := envelope.Error
	if err != nil || bad != nil || seconds < 1 || e.Code == "" || e.Message == "" || e.RequestID == "" ||
		status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		if len(l.improper) < 5 {
			l.improper = append(l.improper, fmt.Sprintf("%d, Retry-After %q: %.300s", status, after, body))
		}
	}
	return time.Duration(seconds) * time.Second
}

// flood sends from many connections, as fast as the node answers, and heeds nothing.
func (l *tenantLoad) flood(ctx context.Context, next func() sent, conns int) {
	var senders sync.WaitGroup
	for range conns {
		senders.Go(func() {
			for ctx.Err() == nil {
				l.send(next())
			}
		})
	}
	senders.Wait()
}

// politely sends until it was taken, and heeds Retry-After.
func (l *tenantLoad) politely(ctx context.Context, s sent) bool {
	for {
		taken, wait := l.send(s)
		if taken {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
	}
}

// stored is a Task as the list has it.
type stored struct {
	ID       string            `json:"id"`
	Status   string            `json:"status"`
	Metadata map[string]string `json:"metadata"`
}

// tasks lists all Tasks.
func (c *client) tasks(t *testing.T) (list []stored) {
	t.Helper()
	for path := "/v1/tasks?limit=200"; ; {
		var page struct {
			Data []stored `json:"data"`
			Page struct {
				More bool   `json:"has_more"`
				Next string `json:"next_cursor"`
			} `json:"page"`
		}
		if err := json.Unmarshal(c.ask(t, "GET", path, nil).body, &page); err != nil {
			t.Fatal(err)
		}
		if list = append(list, page.Data...); !page.Page.More {
			return list
		}
		path = "/v1/tasks?limit=200&cursor=" + page.Page.Next
	}
}

// wantOneEffect holds every acknowledgement against what there is in the end.
func (l *tenantLoad) wantOneEffect(t *testing.T) {
	t.Helper()
	effects, tasks, wrong := map[string]int{}, map[string]string{}, 0
	complain := func(format string, args ...any) {
		if wrong++; wrong <= 10 {
			t.Errorf(format, args...)
		}
	}
	for _, task := range l.tasks(t) {
		id := task.Metadata["id"]
		effects[id]++
		tasks[id] = task.ID
		if task.Status != "COMPLETED" {
			complain("task %s of %s is %s", task.ID, id, task.Status)
		}
	}
	for id, n := range effects {
		if n > 1 {
			complain("%s has %d effects", id, n)
		}
	}
	for id, made := range l.taken {
		if effects[id] == 0 {
			complain("%s was acknowledged and has no effect", id)
		}
		if strings.HasPrefix(made, "task_") && tasks[id] != made {
			complain("%s was acknowledged as %s and is %s", id, made, tasks[id])
		}
	}
	t.Logf("%s: %d asked, %d taken, refused %v, %d without an answer, %d tasks", l.name, l.asked, len(l.taken), l.refused, l.unknown, len(effects))
}

// wantProper checks how a tenant was refused.
func (l *tenantLoad) wantProper(t *testing.T) {
	t.Helper()
	for _, what := range l.improper {
		t.Errorf("%s: %s", l.name, what)
	}
	if l.unknown > 0 {
		t.Errorf("%s: %d requests had no answer", l.name, l.unknown)
	}
}

func (l *tenantLoad) refusals() (n int) {
	for _, count := range l.refused {
		n += count
	}
	return n
}

// untilIdle waits until nothing is left to be done.
func (c *client) untilIdle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, fmt.Errorf("the node has not become idle"))
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		m := c.metrics(t)
		left := m["wharf_tasks_queued"] + m["wharf_tasks_running"] + m["wharf_deliveries_pending"]
		if left == 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx), ": ", left, " are left")
		case <-look.C:
		}
	}
}

// TestOverload sends a node at least twice what it can do. It refuses before it accepts,
// loses nothing of what it has accepted, and has a share left for others.
func TestOverload(t *testing.T) {
	length := 3 * time.Second
	if long() {
		length = time.Minute
	}
	node := narrowNode(t)
	root := newClient(node)
	other := root.with(text(root.post(t, "/wharf/v1/keys", object{"name": "modest", "tenant": "modest"}), "key"))
	busy, modest := newLoad(t, root, "busy", 2), newLoad(t, other, "modest", 1)
	compileAll(t, node, busy)
	idle, quiet := resident(t, node.PID()), root.metrics(t)["go_goroutines"]

	most := watchMemory(t, node.PID())
	before := root.metrics(t)["wharf_tasks_finished_total"]
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var senders sync.WaitGroup
	senders.Go(func() { busy.flood(ctx, busy.delivery, 64) })
	senders.Go(func() { busy.flood(ctx, busy.order, 64) })
	senders.Go(func() { modest.flood(ctx, modest.order, 1) })
	senders.Go(func() { modest.flood(ctx, modest.delivery, 1) })
	var unheard atomic.Int64
	for range 20 {
		senders.Go(func() {
			for _, s := range []sent{busy.order(), busy.delivery()} {
				if !busy.politely(t.Context(), s) {
					unheard.Add(1)
				}
			}
		})
	}
	<-ctx.Done()
	done := root.metrics(t)["wharf_tasks_finished_total"] - before
	senders.Wait()
	root.untilIdle(t)
	peak := most()

	t.Logf("%.0f tasks a second while %.0f requests came; memory %d MiB idle, %d MiB at most, %d MiB allowed",
		done/length.Seconds(), float64(busy.asked)/length.Seconds(), idle>>20, peak>>20, (idle+mostMemory(t))>>20)
	if float64(busy.asked) < 2*done || busy.refusals() == 0 {
		t.Errorf("%d were sent, %.0f were done and %d refused: the node was not overloaded", busy.asked, done, busy.refusals())
	}
	if peak > idle+mostMemory(t) {
		t.Errorf("the node held %d MiB; %d MiB follow from its configuration", peak>>20, (idle+mostMemory(t))>>20)
	}
	if n := modest.refusals(); modest.asked < 10 || n*10 > modest.asked {
		t.Errorf("of %d requests of the modest tenant %d were refused: %v", modest.asked, n, modest.refused)
	}
	if n := unheard.Load(); n > 0 {
		t.Errorf("%d requests of polite clients were never taken", n)
	}
	for _, l := range []*tenantLoad{busy, modest} {
		l.fast.CloseIdleConnections()
		l.wantProper(t)
		l.wantOneEffect(t)
	}
	m := root.metrics(t)
	if took := m["wharf_deliveries_normalized_total"]; took < done/4 || m["wharf_delivery_batch_size_sum"] < took/2 || m["wharf_deliveries_oldest_seconds"] != 0 || m["wharf_deliveries_dead_total"] != 0 {
		t.Errorf("the metrics tell of %v deliveries in batches of %v, %v dead, and of one that has waited for %v s",
			took, m["wharf_delivery_batch_size_sum"], m["wharf_deliveries_dead_total"], m["wharf_deliveries_oldest_seconds"])
	}
	root.wantQuiet(t, quiet+narrowRunning) // as many are kept for the Tasks to come
}

// compileAll makes the node keep what its plugins compile to, which takes memory of its
// own, and starts it anew.
func compileAll(t *testing.T, node *nodetest.Node, l *tenantLoad) {
	t.Helper()
	for range 2 {
		for _, s := range []sent{l.order(), l.delivery(), l.delivery()} {
			if taken, _ := l.send(s); !taken {
				t.Fatalf("an idle node refuses: %v %v", l.refused, l.improper)
			}
		}
		l.untilIdle(t)
		l.fast.CloseIdleConnections()
		node.Stop(t)
		node.Run(t)
	}
}

// wantQuiet waits until the node has no more goroutines than it may when it is idle.
func (c *client) wantQuiet(t *testing.T, quiet float64) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, fmt.Errorf("goroutines stay"))
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		m := c.metrics(t)
		if m["go_goroutines"] <= quiet && m["wharf_http_body_bytes"] == 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%v: %v, and it may have %v; %v bytes of bodies", context.Cause(ctx), m["go_goroutines"], quiet, m["wharf_http_body_bytes"])
		case <-look.C:
		}
	}
}

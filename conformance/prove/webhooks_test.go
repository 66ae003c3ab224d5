package prove_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/loopback"
)

// What a taker does with a delivery.
const (
	takes     = "takes it"
	holds     = "takes it, and the answer never comes"
	tooSlow   = "is slow"
	fails     = "fails"
	redirects = "redirects"
	breaksOff = "breaks off"
	refuses   = "does not want it"
)

// taker is a receiver of deliveries, with TLS, that does as it is told, and verifies what it gets by what
// the documents say.
type taker struct {
	t      *testing.T
	server *httptest.Server
	addr   string

	mu        sync.Mutex
	secret    string
	how       string
	arrived   chan struct{}       // closed when something is held
	attempts  map[string][]string // execution → the id of each delivery that told of it
	taken     map[string]int      // execution → how often it was taken
	forged    int
	elsewhere int // requests to where it redirects
}

func newTaker(t *testing.T) *taker {
	t.Helper()
	r := &taker{t: t, attempts: map[string][]string{}, taken: map[string]int{}, addr: loopback.Free(t)}
	r.open()
	t.Cleanup(r.close)
	return r
}

// open has it listen, at the address that it had before.
func (r *taker) open() {
	r.t.Helper()
	l, err := net.Listen("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(r)
	_ = s.Listener.Close()
	s.Listener, r.addr = l, l.Addr().String()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	r.server = s
}

func (r *taker) close() {
	r.server.CloseClientConnections()
	r.server.Close()
}

// will says what it does with what comes from now on.
func (r *taker) will(how string) (arrived <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.how, r.arrived = how, make(chan struct{})
	return r.arrived
}

func (r *taker) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the node has died
	}
	how := r.note(req, body)
	switch how {
	case takes:
	case holds, tooSlow:
		<-req.Context().Done()
	case fails:
		rw.WriteHeader(http.StatusInternalServerError)
	case redirects:
		http.Redirect(rw, req, "/elsewhere", http.StatusFound)
	case breaksOff:
		panic(http.ErrAbortHandler)
	case refuses:
		rw.WriteHeader(http.StatusUnauthorized)
	}
}

// note keeps what came, and returns what is to be done with it.
func (r *taker) note(req *http.Request, body []byte) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.URL.Path == "/elsewhere" {
		r.elsewhere++
		return takes
	}
	if !genuine(r.secret, req.Header, body, time.Now()) {
		r.forged++
		return refuses
	}
	var of object
	if err := json.Unmarshal(body, &of); err != nil {
		r.t.Errorf("it is sent %s", body)
	}
	execution := text(of, "execution_id")
	r.attempts[execution] = append(r.attempts[execution], req.Header.Get("webhook-id"))
	if r.how == takes || r.how == holds {
		r.taken[execution]++
	}
	how := r.how
	if how == holds {
		close(r.arrived)
		r.how = fails
	}
	return how
}

// genuine verifies a delivery as docs/open-harness.md and Standard Webhooks have it: both signatures,
// and that it was sent just now.
func genuine(secret string, h http.Header, body []byte, now time.Time) bool {
	sum := func(key []byte, parts ...string) []byte {
		mac := hmac.New(sha256.New, key)
		_, _ = io.WriteString(mac, strings.Join(parts, "."))
		return mac.Sum(nil)
	}
	if h.Get("X-OpenHarness-Signature") != "sha256="+hex.EncodeToString(sum([]byte(secret), string(body))) || h.Get("X-OpenHarness-Delivery") != h.Get("webhook-id") {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	sent, err := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
	if err != nil || now.Sub(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return false
	}
	want := "v1," + base64.StdEncoding.EncodeToString(sum(key, h.Get("webhook-id"), h.Get("webhook-timestamp"), string(body)))
	return slices.Contains(strings.Fields(h.Get("webhook-signature")), want)
}

// has returns which executions it has taken nothing of.
func (r *taker) has(executions []string) (missing []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range executions {
		if r.taken[id] == 0 {
			missing = append(missing, id)
		}
	}
	return missing
}

// TestWebhooksOfAKilledNode has a receiver be slow, gone, redirecting and broken, and the node killed
// while a delivery is under way: each execution is told of until it is taken, by deliveries that have one
// id, and nobody else is told.
func TestWebhooksOfAKilledNode(t *testing.T) {
	r := newTaker(t)
	node := builder.StartWith(t, nodetest.Options{Env: []string{trust(t, r.server)},
		Args: append(withPlugins(t), "--set", "openharness.private=true", "--set", "webhooks.timeout=1s", "--set", "webhooks.parallel=1")})
	c := newClient(node)
	made := c.post(t, "/v1/harnesses/wharf/webhooks", object{"url": "https://" + r.addr + "/in", "events": []string{"execution.completed"}})
	r.mu.Lock()
	r.secret = text(made, "webhook", "secret")
	r.mu.Unlock()
	webhook := "/wharf/v1/webhooks/" + text(made, "webhook", "id")
	session := c.session(t)
	var executions []string
	happens := func(how string) (arrived <-chan struct{}) {
		arrived = r.will(how)
		executions = append(executions, text(c.settled(t, c.submit(t, session, "persona_echo", message("hello"))), "id"))
		return arrived
	}
	waits := func(n int) {
		c.until(t, strconv.Itoa(n)+" deliveries wait to be tried again", func() bool { return len(c.all(t, webhook+"/deliveries?status=PENDING")) == n })
	}

	happens(tooSlow)
	waits(1)
	<-happens(holds)
	node.Kill(t)
	node.Run(t)
	waits(2) // what was under way is sent again, and fails
	happens(redirects)
	waits(3)
	r.close()
	happens(takes) // it would, if it were there
	waits(4)
	r.will(breaksOff)
	r.open()
	happens(breaksOff)
	waits(5)
	happens(refuses)
	waits(6)
	for _, d := range c.all(t, webhook+"/deliveries?status=PENDING") {
		if text(d, "failure", "message") == "" || text(d, "next_attempt_at") == "" {
			t.Errorf("a delivery that failed does not say why, and when it is tried again: %v", d)
		}
	}
	if missing := r.has(executions[:2]); !slices.Equal(missing, executions[:1]) {
		t.Errorf("it lacks %v", missing) // the second was taken, and the node does not know it
	}

	// It counts as gone by now. When it takes something again, it is sent all that waits.
	happens(takes)
	if long() {
		<-r.will(holds)
		node.Kill(t)
		r.will(takes)
		node.Run(t) // what waits is tried again when it is due, within a minute
	}
	waits(0)
	if missing := r.has(executions); missing != nil {
		t.Errorf("it was never told of %v", missing)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for execution, ids := range r.attempts {
		if ids[0] == "" || slices.ContainsFunc(ids, func(id string) bool { return id != ids[0] }) {
			t.Errorf("of %s it was told by deliveries with the ids %v", execution, ids)
		}
	}
	if r.taken[executions[1]] != 2 || len(r.attempts) != len(executions) {
		t.Errorf("what was under way when the node died was taken %d times; it was told of %d executions, and there are %d", r.taken[executions[1]], len(r.attempts), len(executions))
	}
	if r.elsewhere != 0 || r.forged != 0 {
		t.Errorf("a redirect was followed %d times, and %d deliveries could not be verified", r.elsewhere, r.forged)
	}
}

// TestForgedDeliveries holds that a receiver which goes by the documents takes what the node sends, and
// nothing that somebody else has made of it.
func TestForgedDeliveries(t *testing.T) {
	type sent struct {
		header http.Header
		body   []byte
	}
	got := make(chan sent, 10)
	r := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		got <- sent{req.Header, body}
	}))
	t.Cleanup(r.Close)
	c := newClient(builder.StartWith(t, nodetest.Options{Env: []string{trust(t, r)}, Args: append(withPlugins(t), "--set", "openharness.private=true")}))
	secret := text(c.post(t, "/v1/harnesses/wharf/webhooks", object{"url": r.URL, "events": []string{"execution.*"}}), "webhook", "secret")
	c.run(t, "persona_echo", message("hello"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 2 { // that it has begun, and that it has ended
		var one sent
		select {
		case one = <-got:
		case <-ctx.Done():
			t.Fatal("nothing has come")
		}
		now := time.Now()
		if !genuine(secret, one.header, one.body, now) {
			t.Fatalf("what the node sends is refused: %v %s", one.header, one.body)
		}
		for name, forge := range map[string]func(h http.Header) (s string, body []byte, at time.Time){
			"another body": func(http.Header) (string, []byte, time.Time) { return secret, append([]byte(" "), one.body...), now },
			"another secret": func(http.Header) (string, []byte, time.Time) {
				return "whsec_" + strings.Repeat("QUJD", 8), one.body, now
			},
			"sent again later": func(http.Header) (string, []byte, time.Time) { return secret, one.body, now.Add(time.Hour) },
			"as of now": func(h http.Header) (string, []byte, time.Time) {
				h.Set("webhook-timestamp", strconv.FormatInt(now.Add(time.Hour).Unix(), 10))
				return secret, one.body, now.Add(time.Hour)
			},
			"as another delivery": func(h http.Header) (string, []byte, time.Time) {
				h.Set("webhook-id", "whd_other")
				h.Set("X-OpenHarness-Delivery", "whd_other")
				return secret, one.body, now
			},
			"without the one signature": func(h http.Header) (string, []byte, time.Time) {
				h.Del("X-OpenHarness-Signature")
				return secret, one.body, now
			},
			"without the other": func(h http.Header) (string, []byte, time.Time) {
				h.Del("webhook-signature")
				return secret, one.body, now
			},
		} {
			h := one.header.Clone()
			s, body, at := forge(h)
			if genuine(s, h, body, at) {
				t.Errorf("%s is taken", name)
			}
		}
	}
}

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
)

const receiverSecret = "the secret of these receivers"

// catcher is a receiver that behaves in one way, and knows what it has taken.
type catcher struct {
	*httptest.Server
	t      *testing.T
	answer func(w http.ResponseWriter, n int) bool // reports whether it has taken the delivery number n

	mu    sync.Mutex
	taken map[string]string // by Task: the delivery's id
	asked int
	more  *sync.Cond
}

func newCatcher(t *testing.T, answer func(w http.ResponseWriter, n int) bool) *catcher {
	c := &catcher{t: t, answer: answer, taken: map[string]string{}}
	c.more = sync.NewCond(&c.mu)
	verifier, err := signature.New(abi.WebhookAuth{Scheme: abi.SchemeStandard}, [][]byte{[]byte(receiverSecret)})
	if err != nil {
		t.Fatal(err)
	}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if _, err := verifier.Verify(signedHeader(req.Header), body, time.Now()); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		c.mu.Lock()
		c.asked++
		n := c.asked
		c.mu.Unlock()
		if c.answer(w, n) {
			c.take(string(body), req.Header.Get("webhook-id"))
		}
	}))
	t.Cleanup(c.CloseClientConnections)
	return c
}

type signedHeader http.Header

func (h signedHeader) Get(name string) []byte { return []byte(http.Header(h).Get(name)) }

func (c *catcher) take(body, id string) {
	_, rest, _ := strings.Cut(body, `"task_id":"`)
	task, _, _ := strings.Cut(rest, `"`)
	c.mu.Lock()
	defer c.mu.Unlock()
	if was := c.taken[task]; was != "" && was != id {
		c.t.Errorf("the end of %s came as %s and as %s", task, was, id)
	}
	c.taken[task] = id
	c.more.Broadcast()
}

// waitFor returns when the ends of so many Tasks have come.
func (c *catcher) waitFor(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.taken) < n {
		c.more.Wait()
	}
}

// TestWebhooksWhenTheProcessIsKilled kills the real program under load, again and again. Each
// receiver gets the end of each Task in the end: one that is slow, one that fails, breaks off and
// redirects, and one that is gone for some lives. What is redirected goes nowhere, and a delivery
// that somebody else has made is told from the node's.
func TestWebhooksWhenTheProcessIsKilled(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	r := newRig(t, "--set", "tasks.attempts=1000,webhooks.private=true,webhooks.backoff=50ms,webhooks.timeout=1s,webhooks.attempts=100")
	inner := newCatcher(t, func(http.ResponseWriter, int) bool { return true })
	slow := newCatcher(t, func(_ http.ResponseWriter, n int) bool {
		if n%7 == 0 {
			<-time.After(20 * time.Millisecond) // what it is here for
		}
		return true
	})
	odd := newCatcher(t, func(w http.ResponseWriter, n int) bool {
		switch n % 10 {
		case 0:
			w.WriteHeader(http.StatusInternalServerError)
			return false
		case 1:
			w.Header().Set("Location", inner.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return false
		case 2:
			panic(http.ErrAbortHandler)
		}
		return true
	})
	var gone sync.Mutex
	away := true
	absent := newCatcher(t, func(w http.ResponseWriter, _ int) bool {
		gone.Lock()
		defer gone.Unlock()
		if away {
			w.WriteHeader(http.StatusBadGateway)
		}
		return !away
	})
	all := []*catcher{slow, odd, absent}
	for _, c := range all {
		_, err := client.Do[abi.WebhookEndpoint](t.Context(), r.client, client.Post(abi.CreateWebhookRequest{URL: c.URL, Events: []string{"task.completed"}, Secret: receiverSecret}, webhooks))
		if err != nil {
			t.Fatal(err)
		}
	}
	for round := range 3 {
		r.load(round, 4, 1+chance.Int64N(60), func() { r.node.stop(syscall.SIGKILL) })
		r.start()
		r.retry()
	}
	r.verify()
	gone.Lock()
	away = false
	gone.Unlock()
	for _, c := range all {
		c.waitFor(len(r.acked))
		forged, err := http.Post(c.URL, "application/json", strings.NewReader(`{"task_id":"task_forged"}`))
		if err != nil {
			t.Fatal(err)
		}
		forged.Body.Close()
		for _, task := range r.tasks() {
			if c.taken[task.ID] == "" {
				t.Errorf("the end of %s did not come", task.ID)
			}
		}
		if len(c.taken) != len(r.acked) {
			t.Errorf("the ends of %d tasks came, and there are %d", len(c.taken), len(r.acked))
		}
	}
	if inner.asked != 0 {
		t.Errorf("a redirect was followed %d times", inner.asked)
	}
	if code := r.node.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("the node ended with %d:\n%s", code, r.node.log())
	}
	r.examine()
	t.Log(fmt.Sprint(len(r.acked), " tasks; asked ", slow.asked, ", ", odd.asked, " and ", absent.asked, " times"))
}

package suite

import (
	"cmp"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	goalWebhooks = 2_000
	// goalBesideDead is what is left at least when another receiver is dead.
	goalBesideDead = 0.95
	// webhookEvents is how many deliveries wait when a Webhook is resumed.
	webhookEvents = 30_000
	// deadReceivers are those that never answer.
	deadReceivers = 4
)

// measureWebhooks measures how many deliveries to a Webhook end a second: the receiver has taken
// them, and the node has written that down. A second row does the same beside receivers that
// never answer.
func measureWebhooks(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		c.webhooks(hooked{name: "webhooks"}),
		c.webhooks(hooked{name: "beside", dead: deadReceivers}),
	})
	if err != nil {
		return nil, err
	}
	alone := report.NewFigure(perSecond, got["webhooks"])
	note := fmt.Sprintf("from %d events that waited; the receiver is in this process; processor time of the node for each: %.1f µs, beside %.1f µs", webhookEvents, report.Median(c.cpu["webhooks"]), report.Median(c.cpu["beside"]))
	return []report.Row{
		report.Row{What: "delivery to a Webhook ended", Wharf: alone, Note: note}.Must(report.AtLeast, goalWebhooks),
		report.Row{What: fmt.Sprintf("the same, beside %d receivers that never answer", deadReceivers), Wharf: report.NewFigure(perSecond, got["beside"])}.
			Against("without them", alone).Must(report.AtLeast, goalBesideDead),
	}, nil
}

// hooked says which Webhooks a measurement has.
type hooked struct {
	name    string
	dead    int  // beside the one that answers
	tls     bool // the receivers have certificates, which the node trusts
	harness bool // they are made by the Open Harness API, and sent what that says
}

// webhooks is a step that measures a node on a fresh folder.
func (c *samplers) webhooks(h hooked) step {
	return c.step(h.name, func(ctx context.Context) (sample, error) { return c.suite.webhooksNode(ctx, h) })
}

func (s *Suite) webhooksNode(ctx context.Context, h hooked) (sample, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return sample{}, err
	}
	defer remove()
	args, profile, err := s.profiled(h.name)
	if err != nil {
		return sample{}, err
	}
	roots, err := writeRoots(dir)
	if err != nil {
		return sample{}, err
	}
	n, err := s.startWith(ctx, dir, append([]string{"--set", "webhooks.private=true"}, args...), []string{"SSL_CERT_FILE=" + roots})
	if err != nil {
		return sample{}, err
	}
	defer n.Kill()
	got, err := s.sendWebhooks(ctx, n, h, profile)
	if err != nil {
		return sample{}, withOutput(err, n)
	}
	return got, nil
}

// sendWebhooks has events wait for Webhooks that are paused, resumes them, and measures until the
// one that answers has all.
func (s *Suite) sendWebhooks(ctx context.Context, n *node.Node, h hooked, profile profiler) (sample, error) {
	var taken atomic.Int64
	receiver := h.receiver(func(http.ResponseWriter, *http.Request) { taken.Add(1) })
	defer receiver.Close()
	over, end := context.WithCancel(ctx)
	silent := h.receiver(func(http.ResponseWriter, *http.Request) { <-over.Done() })
	defer silent.Close()
	defer end()
	hooks := []string{}
	for i := range h.dead + 1 {
		url := silent.URL
		if i == h.dead {
			url = receiver.URL
		}
		id, err := h.paused(n, url)
		if err != nil {
			return sample{}, err
		}
		hooks = append(hooks, id)
	}
	if err := s.makeSessions(n); err != nil {
		return sample{}, err
	}
	defer profile(ctx)()
	before, err := n.CPU()
	if err != nil {
		return sample{}, err
	}
	begun := time.Now()
	for _, id := range hooks {
		if err := n.Call("PATCH", "/wharf/v1/webhooks/"+id, map[string]any{"status": "ACTIVE"}, new(map[string]any)); err != nil {
			return sample{}, err
		}
	}
	if err := s.awaitTaken(ctx, n, hooks[h.dead]); err != nil {
		return sample{}, err
	}
	took := time.Since(begun)
	used, err := n.CPU()
	if got := taken.Load(); err == nil && got != webhookEvents {
		err = fmt.Errorf("%d events were sent %d times", webhookEvents, got)
	}
	return sample{rate: webhookEvents / took.Seconds(), cpu: (used - before) / webhookEvents}, err
}

// makeSessions makes an event each for the Webhooks.
func (s *Suite) makeSessions(n *node.Node) error {
	const clients = 20
	failed := make(chan error, clients)
	for range clients {
		go func() {
			var err error
			for i := 0; i < webhookEvents/clients && err == nil; i++ {
				err = n.Call("POST", "/v1/sessions", map[string]any{"workspace_id": "ws_default"}, new(map[string]any))
			}
			failed <- err
		}()
	}
	var all error
	for range clients {
		all = errors.Join(all, <-failed)
	}
	return all
}

// receiver starts a receiver. What it says of clients that leave is of no interest.
func (h hooked) receiver(take http.HandlerFunc) *httptest.Server {
	server := httptest.NewUnstartedServer(take)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if h.tls {
		server.StartTLS()
	} else {
		server.Start()
	}
	return server
}

// writeRoots writes the certificate of all receivers, and returns its path.
func writeRoots(dir string) (string, error) {
	server := hooked{tls: true}.receiver(nil)
	defer server.Close()
	path := filepath.Join(dir, "roots.pem")
	return path, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600)
}

// paused makes a Webhook for which events wait, and returns its id.
func (h hooked) paused(n *node.Node, url string) (string, error) {
	path, events := "/wharf/v1/webhooks", map[string]any{"url": url, "events": []string{"session.created"}}
	if h.harness {
		path = harnessPath + "/webhooks"
	}
	var made struct {
		ID      string `json:"id"`
		Webhook struct {
			ID string `json:"id"`
		} `json:"webhook"`
	}
	if err := n.Call("POST", path, events, &made); err != nil {
		return "", err
	}
	id := cmp.Or(made.ID, made.Webhook.ID)
	return id, n.Call("PATCH", "/wharf/v1/webhooks/"+id, map[string]any{"status": "PAUSED"}, new(map[string]any))
}

// awaitTaken waits until a Webhook has taken everything.
func (s *Suite) awaitTaken(ctx context.Context, n *node.Node, id string) error {
	for {
		var c struct {
			Counters struct {
				Taken  uint64 `json:"taken"`
				Failed uint64 `json:"failed"`
			} `json:"counters"`
		}
		err := n.Call("GET", "/wharf/v1/webhooks/"+id, nil, &c)
		if err != nil {
			return err
		}
		if c.Counters.Failed > 0 {
			return fmt.Errorf("%d attempts failed", c.Counters.Failed)
		}
		if c.Counters.Taken >= webhookEvents {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

package suite

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/ceiling"
	"github.com/wharf-dev/wharf/benches/internal/load"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	// hookSecret signs the deliveries of every measurement.
	hookSecret = "what the benches sign with"
	// deliveryBytes is the size of a delivery's body.
	deliveryBytes = 1 << 10

	goalDeliveries = 0.7
	goalNormalized = 15_000
	// normalizedRounds bounds how often that is done: each time takes long.
	normalizedRounds = 2
)

// deliveryBody is a delivery of a kilobyte that the generic Connector understands.
func deliveryBody() []byte {
	const head, tail = `{"message":"a shipment has left the northern depot","id":"` + bodyID + `","filler":"`, `"}`
	return []byte(head + strings.Repeat("x", deliveryBytes-len(head)-len(tail)) + tail)
}

// bodyID and noSignature stand in a delivery until it is sent.
const bodyID = "----------------id--------------"

var noSignature = strings.Repeat("0", 2*sha256.Size)

// delivery is a signed request with an id of its own. The id is in the body too: a body
// that was signed is taken once.
func delivery(addr, path string) *load.Request {
	body := deliveryBody()
	r := load.NewRequest("POST", addr, path, []load.Header{{Name: "X-Hub-Signature-256", Value: "sha256=" + noSignature}}, true, body)
	signature, sent := r.Slot(noSignature), r.Slot(string(body))
	id, mac := r.Slot(bodyID), hmac.New(sha256.New, []byte(hookSecret))
	r.OnRefresh(func(key []byte) {
		copy(id, key)
		mac.Reset()
		mac.Write(sent)
		hex.Encode(signature, mac.Sum(nil))
	})
	return r
}

func (s *Suite) deliveryPlan(addr, path string, measure time.Duration) load.Plan {
	return load.Plan{Addr: addr, Conns: s.Conns, Warmup: s.Warmup, Measure: measure,
		Counts:   func(status int, _ []byte) bool { return status == 202 },
		Requests: func(int) *load.Request { return delivery(addr, path) },
	}
}

// startHooked starts a node with a Connector that is in the given status, and returns
// the Connector's id and its public path.
func (s *Suite) startHooked(ctx context.Context, dir, status string, args, env []string) (n *node.Node, id, path string, err error) {
	file := filepath.Join(dir, "hooked.yaml")
	config := "secrets:\n  hook:\n    env: BENCH_HOOK\n    connectors: [\"*\"]\nconnectors:\n  backlog: 10000000\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, "", "", err
	}
	n, err = s.startWith(ctx, dir, append([]string{"--config", file}, args...), append(env, "BENCH_HOOK="+hookSecret))
	if err != nil {
		return nil, "", "", err
	}
	var made struct {
		ID      string `json:"id"`
		Webhook struct {
			Path string `json:"path"`
		} `json:"webhook"`
	}
	request := map[string]any{
		"provider": "generic", "webhook": map[string]any{"enabled": true}, "dedupe_policy": map[string]any{"header": "Idempotency-Key"},
		"auth":              map[string]any{"scheme": "github", "secrets": []string{"hook"}},
		"settings":          map[string]any{"task": map[string]any{"text": "$.message"}},
		"target_persona_id": persona,
	}
	if err = n.Call("POST", "/v1/connectors", request, &made); err == nil {
		err = n.Call("PATCH", "/v1/connectors/"+made.ID, map[string]any{"status": status}, &made)
	}
	if err != nil {
		n.Kill()
		return nil, "", "", withOutput(err, n)
	}
	return n, made.ID, made.Webhook.Path, nil
}

// measureDeliveries measures how many deliveries are accepted, verified, deduped and
// durable, while none of them is normalized.
func measureDeliveries(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		c.step("ceiling", s.deliverCeiling),
		c.step("deliveries", s.deliverNode),
	})
	if err != nil {
		return nil, err
	}
	row := report.Row{What: fmt.Sprintf("delivery of 1 KB accepted, verified, deduped and durable, %d connections", s.Conns),
		Wharf: report.NewFigure(perSecond, got["deliveries"]), Note: c.note("deliveries")}
	return []report.Row{row.Against(bareServer, report.NewFigure(perSecond, got["ceiling"])).Must(report.AtLeast, goalDeliveries)}, nil
}

func (s *Suite) deliverCeiling(ctx context.Context) (sample, error) {
	dir, remove, err := s.folder("ceiling")
	if err != nil {
		return sample{}, err
	}
	defer remove()
	server, err := ceiling.Start(ctx, s.Self, "deliver", dir, hookSecret)
	if err != nil {
		return sample{}, err
	}
	defer server.Stop()
	_, got, err := runPlan(ctx, s.deliveryPlan(server.Addr, "/hooks/token", s.Duration), server.CPU)
	return got, err
}

func (s *Suite) deliverNode(ctx context.Context) (sample, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return sample{}, err
	}
	defer remove()
	args, profile, err := s.profiled("deliveries")
	if err != nil {
		return sample{}, err
	}
	n, id, path, err := s.startHooked(ctx, dir, "PAUSED", args, held())
	if err != nil {
		return sample{}, err
	}
	defer n.Kill()
	defer profile(ctx)()
	result, got, err := runPlan(ctx, s.deliveryPlan(n.Addr, path, s.Duration), n.CPU)
	if err != nil {
		return sample{}, withOutput(err, n)
	}
	counted, err := s.counted(n, id)
	if err == nil && counted.Received < uint64(result.Counted) {
		err = fmt.Errorf("%d deliveries were acknowledged, and %d received", result.Counted, counted.Received)
	}
	return got, err
}

// counters are those of a Connector.
type counters struct {
	Received, Pending, Tasks, Failed uint64
}

// normalizeOne hands a Connector a delivery, and waits until it is a Task.
func (s *Suite) normalizeOne(ctx context.Context, n *node.Node, id string) error {
	if err := n.Call("POST", "/v1/connectors/"+id+"/deliveries", map[string]any{"message": "one"}, new(map[string]any)); err != nil {
		return err
	}
	for {
		c, err := s.counted(n, id)
		if err != nil || c.Tasks > 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *Suite) counted(n *node.Node, id string) (counters, error) {
	var c struct {
		Counters struct {
			Received uint64 `json:"received"`
			Pending  uint64 `json:"pending"`
			Tasks    uint64 `json:"tasks"`
			Failed   uint64 `json:"failed"`
		} `json:"counters"`
	}
	err := n.Call("GET", "/v1/connectors/"+id, nil, &c)
	return counters(c.Counters), err
}

// measureNormalize measures how many deliveries that wait become durable Tasks a
// second, through the bundled generic plugin: while one Task runs at a time, for what is
// measured is how they get there; and, for information, while they all run.
func measureNormalize(ctx context.Context, s *Suite) ([]report.Row, error) {
	few := *s
	few.Rounds = min(s.Rounds, normalizedRounds)
	c := &samplers{suite: &few, cpu: map[string][]float64{}}
	got, err := few.interleave(ctx, []step{
		c.step("normalize", func(ctx context.Context) (sample, error) { return few.normalizeNode(ctx, held()) }),
		c.step("running", func(ctx context.Context) (sample, error) { return few.normalizeNode(ctx, unbounded()) }),
	})
	s.serial = few.serial // folders have names of their own
	if err != nil {
		return nil, err
	}
	row := func(name, what, note string) report.Row {
		return report.Row{What: what, Wharf: report.NewFigure(perSecond, got[name]),
			Note: fmt.Sprintf("from a backlog of %d; nothing else was delivered; %s; processor time for each: %.0f µs",
				s.Backlog, note, report.Median(c.cpu[name]))}
	}
	const what = "delivery of 1 KB normalized by a Wasm connector into a durable Task"
	return []report.Row{
		row("normalize", what, "one Task ran at a time").Must(report.AtLeast, goalNormalized),
		row("running", what+", while the Tasks run", "its Tasks ran meanwhile, as many as the node lets run"),
	}, nil
}

func (s *Suite) normalizeNode(ctx context.Context, env []string) (sample, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return sample{}, err
	}
	defer remove()
	args, profile, err := s.profiled("normalize")
	if err != nil {
		return sample{}, err
	}
	n, id, path, err := s.startHooked(ctx, dir, "PAUSED", args, env)
	if err != nil {
		return sample{}, err
	}
	defer n.Kill()
	if err := s.collect(ctx, n, id, path); err != nil {
		return sample{}, withOutput(err, n)
	}
	defer profile(ctx)()
	begun := time.Now()
	before, err := n.CPU()
	if err == nil {
		err = n.Call("PATCH", "/v1/connectors/"+id, map[string]any{"status": "ACTIVE"}, new(map[string]any))
	}
	if err != nil {
		return sample{}, err
	}
	tasks, err := s.awaitNormalized(ctx, n, id)
	if err != nil {
		return sample{}, err
	}
	took := time.Since(begun)
	used, err := n.CPU()
	return sample{rate: float64(tasks) / took.Seconds(), cpu: (used - before) / time.Duration(tasks)}, err
}

// collect has a Connector that is paused take deliveries, until it has enough of them.
func (s *Suite) collect(ctx context.Context, n *node.Node, id, path string) error {
	for {
		c, err := s.counted(n, id)
		if err != nil || c.Pending >= uint64(s.Backlog) {
			return err
		}
		if _, _, err := runPlan(ctx, s.deliveryPlan(n.Addr, path, s.Duration), n.CPU); err != nil {
			return err
		}
	}
}

// awaitNormalized waits until nothing is pending, and returns how many Tasks there are.
func (s *Suite) awaitNormalized(ctx context.Context, n *node.Node, id string) (uint64, error) {
	for {
		c, err := s.counted(n, id)
		if err != nil || c.Failed > 0 {
			return 0, fmt.Errorf("%d deliveries were put aside: %w", c.Failed, err)
		}
		if c.Pending == 0 {
			return max(1, c.Tasks), nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

package node

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

// Await asks for a Task until it has the given status. It fails when the Task ends
// in another way, or not within the limit.
func (n *Node) Await(ctx context.Context, id, status string, limit, every time.Duration) error {
	for start := time.Now(); time.Since(start) < limit; {
		var task struct {
			Status  string `json:"status"`
			Failure any    `json:"failure"`
		}
		if err := n.Call(fasthttp.MethodGet, "/v1/tasks/"+id, nil, &task); err != nil {
			return err
		}
		switch task.Status {
		case status:
			return nil
		case "COMPLETED", "FAILED", "CANCELED", "REJECTED":
			return fmt.Errorf("task %s ended as %s, not %s: %v", id, task.Status, status, task.Failure)
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("task %s was not %s within %s", id, status, limit)
}

// Metric returns the value of a metric that has no labels.
func (n *Node) Metric(name string) (float64, error) {
	status, text, err := n.Do(fasthttp.MethodGet, "/metrics", nil)
	if err != nil {
		return 0, err
	}
	if status != fasthttp.StatusOK {
		return 0, fmt.Errorf("asking for metrics was answered with %d", status)
	}
	return metric(string(text), name)
}

var errNoMetric = errors.New("there is no such metric")

// metric reads one value of the text format.
func metric(text, name string) (float64, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("%s: %w", name, errNoMetric)
}

package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestA2ATour has the official SDK for JavaScript use a node in all four ways that it and the node
// know: it sends, streams, leaves and comes back, lists, answers, cancels, and is notified.
func TestA2ATour(t *testing.T) {
	node := newNode(t)
	n, _ := startConformance(t, node)
	skills := skillsByName(t, n)
	tour := exec.CommandContext(t.Context(), node, "a2a-tour.mjs", n.URL, nodetest.Key, skills["slow_compute"], skills["test_elicitation"])
	tour.Stderr = os.Stderr
	out, err := tour.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := linesOf(t, out)
	for _, way := range []string{"1.0 JSONRPC", "1.0 HTTP+JSON", "0.3 JSONRPC", "0.3 HTTP+JSON"} {
		list := map[string]any{"tasks": 1.0, "same": true}
		if way[0] == '0' { // which has no lists
			list = map[string]any{"refused": true}
		}
		for step, want := range map[string]map[string]any{
			"card":      {"slow": true},
			"send":      {"state": "COMPLETED", "said": true},
			"stream":    {"state": "COMPLETED", "begins": "task", "artifacts": true},
			"come back": {"state": "COMPLETED", "begins": "task", "artifacts": true},
			"get":       {"state": "COMPLETED"},
			"list":      list,
			"answer":    {"waits": "INPUT_REQUIRED", "state": "COMPLETED", "said": true},
			"configs":   {"configs": 1.0, "same": true},
			"cancel":    {"ended": "CANCELED"},
			"push":      {"last": true, "token": true},
			"unknown":   {"known": true},
		} {
			got := said[way+" "+step]
			for member, value := range want {
				if got[member] != value {
					t.Errorf("%s: %s: %s is %v, want %v", way, step, member, got[member], value)
				}
			}
		}
	}
}

// skillsByName returns the ids of a node's Skills.
func skillsByName(t *testing.T, n *nodetest.Node) map[string]string {
	t.Helper()
	ids := map[string]string{}
	list, _ := call(t, n, "GET", "/v1/skills?limit=200", nil)["data"].([]any)
	for _, one := range list {
		skill, _ := one.(map[string]any)
		name, _ := skill["name"].(string)
		ids[name], _ = skill["id"].(string)
	}
	return ids
}

// linesOf reads what a tour has printed, by the way of asking and the step.
func linesOf(t *testing.T, out []byte) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		way, _ := line["way"].(string)
		step, _ := line["step"].(string)
		all[way+" "+step] = line
	}
	return all
}

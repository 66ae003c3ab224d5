package prove_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// persona makes a Persona of the plugin calls, on a tier.
func (c *client) persona(t testing.TB, tier string, more object) string {
	t.Helper()
	body := object{"name": "p-" + tier, "version": "1", "entry_workflow": "calls", "description": "for a test",
		"autonomy_tier": tier, "receipt_policy": "required"}
	for name, value := range more {
		body[name] = value
	}
	return text(c.post(t, "/v1/personas", body), "id")
}

// decide answers what a Task asks.
func (c *client) decide(t testing.TB, task, decision string) {
	t.Helper()
	c.post(t, "/v1/tasks/"+task+"/messages", object{"kind": "tool_confirmation", "message": object{"role": "user",
		"parts": []any{object{"type": "json", "value": jsontext.Value(decision), "visibility": "public"}}}})
}

// reached is what a tool and a web server outside the node were asked to change.
func (o *outside) reached(t testing.TB) string {
	t.Helper()
	notes, err := os.ReadFile(o.notes)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	posted := make([]string, 0, len(o.posted))
	for body, keys := range o.posted {
		posted = append(posted, fmt.Sprintf("%s×%d", body, len(keys)))
	}
	return strings.Join(append(strings.Fields(string(notes)), posted...), " ")
}

// TestTiersReachNoFurther runs one program on each tier, against a tool server and a
// web server that count what reaches them. While somebody is asked, the node is
// killed. What was done is in a receipt, and in a bundle that anybody can verify.
func TestTiersReachNoFurther(t *testing.T) {
	for _, test := range []struct {
		tier    string
		reached string
		event   string // that tells each write
	}{
		{"shadow", "", "vendor.wharf.shadow_write"},
		{"suggest", "", "vendor.wharf.proposal"},
		{"act_with_approval", "changed paid×1", "tool.approved"},
		{"act_auto", "noted paid×1", "tool.completed"},
	} {
		t.Run(test.tier, func(t *testing.T) {
			world := newOutside(t)
			node := builder.StartWith(t, nodetest.Options{Args: world.args(t)})
			c := newClient(node)
			id := c.submit(t, c.session(t), c.persona(t, test.tier, nil), program(
				step("tool.call", `{"server":"desk","name":"look","arguments":{"text":"ships"}}`),
				step("tool.call", `{"server":"desk","name":"note","arguments":{"text":"noted"}}`),
				step("http.fetch", `{"method":"POST","url":"`+world.URL+`/","text":"paid","idempotency_header":"Idempotency-Key"}`),
				step("http.fetch", `{"url":"`+world.URL+`/"}`)))
			if test.tier == "act_with_approval" {
				w := c.waitsFor(t, id, "tool.call")
				if w["gate"] != true || w["action"] != "tool.call desk:note" {
					t.Errorf("it asks %v", w)
				}
				node.Kill(t)
				node.Run(t)
				if got := world.reached(t); got != "" {
					t.Fatalf("before anybody approved, there was %s", got)
				}
				c.decide(t, id, `{"decision":"approved","arguments":{"text":"changed"}}`)
				c.waitsFor(t, id, "http.fetch")
				c.decide(t, id, `{"decision":"approved"}`)
			}
			task := c.settled(t, id)
			if text(task, "status") != "COMPLETED" || text(task, "persona_version") != "1" {
				t.Fatalf("%v: %v", task["status"], task["failure"])
			}
			if got := world.reached(t); got != test.reached {
				t.Errorf("outside there was %q, want %q", got, test.reached)
			}
			told := 0
			for _, e := range c.all(t, "/v1/tasks/"+id+"/events") {
				if text(e, "event") == test.event {
					told++
				}
			}
			if told < 2 {
				t.Errorf("%s was told %d times", test.event, told)
			}
			wire, _ := c.unsigned(t, id)
			if approvals := strings.Count(wire, `"decision":"approved"`); (approvals > 0) != (test.tier == "act_with_approval") || !strings.Contains(wire, `"start_tier":"`+test.tier+`"`) {
				t.Errorf("the receipt tells %d approvals: %s", approvals, wire)
			}
			before := world.reached(t)
			first, _ := c.unsigned(t, text(c.replayed(t, id, nil), "id"))
			second, _ := c.unsigned(t, text(c.replayed(t, id, nil), "id"))
			if first != second || world.reached(t) != before {
				t.Errorf("replays reached outside, or differ: %s", difference(first, second))
			}
			file := filepath.Join(t.TempDir(), "run.zip")
			put(t, file, string(c.bundle(t, id)))
			if code, out := wharf(t, "verify", file); code != 0 {
				t.Errorf("wharf verify: %d\n%s", code, out)
			}
		})
	}
}

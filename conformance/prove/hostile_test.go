package prove_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/plugins/plugintest/workers"
)

// hostility is a Task that breaks a limit, and the code with which it has to fail.
type hostility struct {
	plugin string
	input  any
	code   string
}

func work(name string, times int) workers.Work {
	return workers.Work{Work: name, Times: times}
}

// hostilities break each limit of a node that has the settings of tightLimits.
func hostilities() []hostility {
	long := plugintest.Step{Call: "log", Text: ptr(strings.Repeat("x", 60_000)), Repeat: 1000}
	return []hostility{
		{"work-c", work("busy", 0), abi.FailurePluginGas},
		{"work-rust", work("busy", 0), abi.FailurePluginGas},
		{"work-go", work("busy", 0), abi.FailurePluginGas},
		{"work-as", work("recurse", 100_000_000), abi.FailurePluginTrap},
		{"work-wat", work("recurse", 100_000_000), abi.FailurePluginTrap},
		{"work-rust", work("write", 500), abi.FailurePluginMemory},
		{"work-go", work("recurse", 100_000_000), abi.FailurePluginTrap},
		{"work-wat", work("pile", 0), abi.FailurePluginTrap},
		{"work-c", work("trap", 0), abi.FailurePluginTrap},
		{"work-rust", work("exit", 3), abi.FailurePluginExit},
		{"work-go", work("exit", 3), abi.FailurePluginExit},
		{"calls", program(step("spin", "")), abi.FailurePluginGas},
		{"calls", program(plugintest.Step{Call: "clock", Repeat: 1_000_000}), abi.FailureHostCalls},
		{"calls", program(long), abi.FailureOutputTooLarge},
		{"calls", program(put2("log", strings.Repeat("x", 300<<10))), abi.FailurePayloadTooLarge},
		{"calls", program(plugintest.Step{Call: "wasi.print", Text: ptr(strings.Repeat("x", 10_000)), Repeat: 2_000}), abi.FailureOutputTooLarge},
		{"work-as", work("busy", 0), "canceled"},
	}
}

func ptr(s string) *string { return &s }

func tightLimits(t *testing.T) []string {
	// What is to be canceled must not have ended before.
	config := filepath.Join(t.TempDir(), "wharf.yaml")
	put(t, config, "plugins:\n  limits:\n    work-as:\n      gas: 1000000000000\n")
	args := []string{"--config", config}
	for _, s := range []string{"gas=200000000", "depth=20000", "memory=16MiB", "host_calls=2000", "payload=256KiB", "output=1MiB"} {
		args = append(args, "--set", "tasks."+s)
	}
	return args
}

// TestHostilePluginsHurtNobody has a node run plugins that break every limit, many at
// once, and beside them Tasks of honest plugins. Those come to what they come to on an
// idle node, and the node goes on.
func TestHostilePluginsHurtNobody(t *testing.T) {
	node := builder.StartWith(t, nodetest.Options{Args: append(withPlugins(t), tightLimits(t)...)})
	c := newClient(node)
	honest := honestTasks(t, c)
	hostile := hostilities()
	rounds := map[bool]int{false: 2, true: 12}[long()]
	type submitted struct {
		id, what, want string
	}
	var bad, good []submitted
	session := c.session(t)
	for round := range rounds {
		for i, h := range hostile {
			id := c.submit(t, session, "persona_"+h.plugin, h.input)
			bad = append(bad, submitted{id, fmt.Sprintf("hostility %d, %s", i, h.plugin), h.code})
			if h.code == "canceled" {
				c.post(t, "/v1/tasks/"+id+"/cancel", object{"reason": "enough"})
			}
			g := honest[(i+round)%len(honest)]
			good = append(good, submitted{c.submit(t, session, "persona_"+g.plugin, g.work), g.plugin + " " + g.work.Work, g.want})
		}
	}
	for _, s := range good {
		task := c.settled(t, s.id)
		if got := text(task, "status") + " " + c.summary(t, s.id); got != "COMPLETED "+s.want {
			t.Errorf("%s beside hostile plugins: %s %v, and not %s", s.what, got, task["failure"], s.want)
		}
	}
	for _, s := range bad {
		task := c.settled(t, s.id)
		if got := text(task, "failure", "code"); got != s.want && (s.want != "canceled" || text(task, "status") != "CANCELED") {
			t.Errorf("%s: %s, and not %s: %v", s.what, task["status"], s.want, task["failure"])
		}
	}
	if task := c.run(t, "persona_echo", message("still there?")); text(task, "status") != "COMPLETED" {
		t.Errorf("afterwards an echo ends as %v: %v", task["status"], task["failure"])
	}
}

// honestTask is a Task, and what it comes to on an idle node.
type honestTask struct {
	plugin string
	work   workers.Work
	want   string
}

func honestTasks(t *testing.T, c *client) (all []honestTask) {
	t.Helper()
	for _, w := range workers.All() {
		for _, one := range []workers.Work{work("floats", 50), work("sort", 300), work("recurse", 200)} {
			if !w.Can(one.Work) {
				continue
			}
			task := c.run(t, "persona_"+w.Name, one)
			if text(task, "status") != "COMPLETED" {
				t.Fatalf("%s %s on an idle node: %v", w.Name, one.Work, task["failure"])
			}
			all = append(all, honestTask{w.Name, one, c.summary(t, text(task, "id"))})
		}
	}
	return all
}

// summary returns the summary of a Task's outcome.
func (c *client) summary(t testing.TB, task string) string {
	t.Helper()
	return text(c.get(t, "/v1/outcomes/"+text(c.get(t, "/v1/tasks/"+task), "outcome_id")), "summary")
}

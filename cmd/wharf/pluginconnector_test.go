package main

import (
	"strings"
	"syscall"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/plugins"
)

// shop makes the folder of a connector that does what the node's own does for any provider.
func shop(t *testing.T, version, provider string) string {
	t.Helper()
	of, ok := plugins.Lookup("connectors")
	if !ok {
		t.Fatal("there is no plugin connectors")
	}
	return sources(t, map[string]string{"m.wasm": string(of.Wasm()), "wharf.toml": `name = "shop"
version = "` + version + `"
kind = "connector"
module = "m.wasm"
exports = ["generic"]
[connector]
provider = "` + provider + `"
event_kinds = ["*"]
`})
}

// A connector that was installed makes its provider known without a restart: its deliveries become Tasks, also after the
// node was killed, and it goes when the plugin does.
func TestAConnectorIsInstalled(t *testing.T) {
	r := newRig(t)
	c := commander{t, r.node.url}
	create := func(args ...string) (int, string, string) {
		return c.run(append([]string{"connector", "create", "--persona", "persona_echo", "--json"}, args...)...)
	}
	wantRefused := func(when, words string, args ...string) {
		t.Helper()
		if code, out, errs := create(args...); code == 0 || !strings.Contains(errs, words) {
			t.Errorf("%s, connector create %q ends with %d: %s%s", when, args, code, out, errs)
		}
	}
	wantRefused("before it is installed", "install a plugin", "--provider", "orders")
	if out := c.must("plugin", "install", shop(t, "1.0.0", "orders")); !strings.Contains(out, "wharf connector create --provider orders") {
		t.Errorf("the install says %s", out)
	}
	made := func(args ...string) abi.Connector {
		t.Helper()
		code, out, errs := create(args...)
		var about abi.Connector
		if err := json.Unmarshal([]byte(out), &about); code != 0 || err != nil {
			t.Fatalf("connector create %q ends with %d: %s%s (%v)", args, code, out, errs, err)
		}
		return about
	}
	about := made("--provider", "orders", "--session", r.session)
	if about.Plugin != "shop#generic" || strings.Join(about.EventKinds, " ") != "*" {
		t.Errorf("it is %+v", about)
	}
	r.wantDelivered(about.ID, 1)

	r.node.stop(syscall.SIGKILL)
	r.start()
	c.server = r.node.url
	r.wantDelivered(about.ID, 2)
	if by := made("--plugin", "shop", "--provider", "github"); by.Provider != "github" || by.Plugin != "shop#generic" {
		t.Errorf("by its name it is %+v", by)
	}
	c.must("plugin", "install", shop(t, "1.1.0", "invoices"))
	wantRefused("in another version", "no provider", "--provider", "orders")
	if next := made("--provider", "invoices"); next.Plugin != "shop#generic" {
		t.Errorf("of the next version it is %+v", next)
	}
	c.must("plugin", "rollback", "shop")
	made("--provider", "orders")
	c.must("plugin", "disable", "shop")
	wantRefused("disabled", "no provider", "--provider", "orders")
	wantRefused("disabled", "is disabled", "--provider", "orders", "--plugin", "shop#generic")
	c.must("plugin", "enable", "shop")
	made("--provider", "orders")
	if code, _, errs := c.run("plugin", "remove", "shop"); code == 0 || !strings.Contains(errs, about.ID) && !strings.Contains(errs, "more") {
		t.Errorf("removing what is in use ends with %d: %s", code, errs)
	}
	c.must("plugin", "remove", "shop", "--force")
	wantRefused("removed", "no provider", "--provider", "orders")
	r.node.stop(syscall.SIGKILL)
	r.start()
	c.server = r.node.url
	wantRefused("removed, and after a restart", "no provider", "--provider", "orders")
	if out := c.must("connector", "create", "--provider", "github", "--persona", "persona_echo", "--json"); !strings.Contains(out, "connectors#github") {
		t.Errorf("a provider of the node's own is %s", out)
	}
}

// wantDelivered has a Connector of the rig's Session handed a delivery, and waits for the end of the Task that it becomes, the
// number of which among those of the Session is n.
func (r *rig) wantDelivered(connector string, n int) {
	r.t.Helper()
	commander{r.t, r.node.url}.must("connector", "test", connector)
	ended := 0
	for e, err := range r.client.Follow(r.t.Context(), client.Stream{Path: "/v1/sessions/" + r.session + "/events/stream"}) {
		if err != nil {
			r.t.Fatalf("watching the session: %v", err)
		}
		if e.Value.Event == abi.EventTaskFailed {
			r.t.Fatalf("the task has failed: %s", e.JSON)
		}
		if e.Value.Event == abi.EventTaskCompleted {
			if ended++; ended == n {
				return
			}
		}
	}
}

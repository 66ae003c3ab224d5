package openharness_test

import (
	"testing"

	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// BenchmarkAccept has one client submit Tasks to a Session that is there, and execute the same with
// a Session each, while none runs. It counts how often the store asked for a sync.
func BenchmarkAccept(b *testing.B) {
	for _, kind := range []string{"submit", "execute"} {
		b.Run(kind, func(b *testing.B) {
			n, leave := occupied(b)
			defer leave()
			session := n.sessionIn(b, "ws_default")
			before := n.Store.Metrics().Commits
			for b.Loop() {
				if kind == "submit" {
					n.Submit(b, session, "persona_echo")
				} else {
					n.do(b, "POST", "/wharf/execute", map[string]any{"message": "?", "agent_id": "persona_echo"}).want(202)
				}
			}
			b.ReportMetric(float64(n.Store.Metrics().Commits-before)/float64(b.N), "syncs/op")
		})
	}
}

// occupied starts a node whose only place to run a Task is taken, until leave is called.
func occupied(t testing.TB) (n *node, leave func()) {
	t.Helper()
	holds, entered, let := enginetest.Holding()
	n = newNode(t, enginetest.Guests{"holds": holds}, func(c *engine.Config, _ *engine.Parts) { c.MaxRunning = 1 })
	n.Submit(t, n.sessionIn(t, "ws_default"), "persona_holds")
	<-entered
	return n, func() { close(let) }
}

// An execution is accepted with its Session in one write, which is synced once.
func TestAcceptingIsOneSync(t *testing.T) {
	n, leave := occupied(t)
	defer leave()
	for range 3 {
		before := n.Store.Metrics()
		n.do(t, "POST", "/wharf/execute", map[string]any{"message": "?", "agent_id": "persona_echo"}).want(202)
		after := n.Store.Metrics()
		if after.Commits-before.Commits != 1 || after.Batches-before.Batches != 1 {
			t.Errorf("accepting took %d syncs of %d batches", after.Commits-before.Commits, after.Batches-before.Batches)
		}
	}
}

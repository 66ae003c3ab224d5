package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// What a Quota has no room for now stays pending until it has; what it has nothing left
// for is put aside, and can be driven again.
func TestDeliveriesUnderQuota(t *testing.T) {
	cases := map[string]struct {
		quota   abi.CreateQuotaRequest
		left    int // deliveries that stay pending
		aside   int // deliveries that are put aside
		allowed func(t *testing.T, n *node, connector, quota string)
	}{
		"a window that ends": {
			quota: abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 1), WindowSeconds: 3600}, left: 2,
			allowed: func(*testing.T, *node, string, string) { time.Sleep(3 * time.Hour) },
		},
		"a limit that is raised long before its window ends": {
			quota: abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 1), WindowSeconds: 30 * 86400}, left: 2,
			allowed: func(t *testing.T, n *node, _, quota string) {
				must(n.UpdateQuota(t.Context(), n.Root, nil, quota, abi.UpdateQuotaRequest{Limits: limits("tasks", 9)}))
				time.Sleep(time.Minute)
			},
		},
		"nothing left": {
			quota: abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 1)}, aside: 2,
			allowed: func(t *testing.T, n *node, connector, quota string) {
				must(n.UpdateQuota(t.Context(), n.Root, nil, quota, abi.UpdateQuotaRequest{Limits: limits("tasks", 9)}))
				for _, letter := range must(n.DeadLetters(t.Context(), n.Root, connector, desk.Page{Limit: 10})).Docs {
					must(n.RedriveDeadLetter(t.Context(), n.Root, nil, connector, letter.ID))
				}
				time.Sleep(time.Minute)
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNode(t, enginetest.Guests{"sorter": normalizing(asTask)})
				id, quota := n.connector(t, nil), n.quota(t, c.quota).ID
				for _, delivery := range []string{"1", "2", "3"} {
					n.deliver(t, id, delivery, "a: "+delivery)
				}
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				counters := enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id))).Counters
				letters := must(n.DeadLetters(t.Context(), n.Root, id, desk.Page{Limit: 10})).Docs
				if counters.Pending != uint64(c.left) || len(letters) != c.aside || counters.Tasks != 1 {
					t.Fatalf("%d dead letters, counted %+v", len(letters), counters)
				}
				for _, letter := range letters {
					if code := enginetest.As[abi.DeadLetter](t, letter).Failure.Code; code != string(abi.CodePolicyViolation) {
						t.Errorf("a delivery was put aside for %s", code)
					}
				}
				c.allowed(t, n, id, quota)
				synctest.Wait()
				counters = enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id))).Counters
				if tasks := n.tasksOf(t, id); len(tasks) != 3 || counters.Pending != 0 {
					t.Errorf("in the end %d tasks, counted %+v", len(tasks), counters)
				}
			})
		})
	}
}

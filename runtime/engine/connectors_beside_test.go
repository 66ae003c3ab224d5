package engine_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// TestChangesBesideRepeatedDeliveries holds that a Connector's events are in the log in
// the order of their sequences, whoever tells of it meanwhile.
func TestChangesBesideRepeatedDeliveries(t *testing.T) {
	clock := &fakeClock{now: newYear}
	n := newNode(t, enginetest.Guests{"sorter": normalizing(asTask)}, func(_ *engine.Config, p *engine.Parts) { p.Now = clock.read })
	id := n.connector(t, nil)
	n.deliver(t, id, "again", "nothing")
	const writes = 200
	var writers sync.WaitGroup
	writers.Go(func() {
		for i := range writes {
			name := strconv.Itoa(i)
			must(n.UpdateConnector(t.Context(), n.Root, nil, id, abi.UpdateConnectorRequest{Name: &name}))
		}
	})
	writers.Go(func() {
		for range writes {
			clock.mu.Lock()
			clock.now = clock.now.Add(time.Second) // late enough for each to be told of
			clock.mu.Unlock()
			n.deliver(t, id, "again", "nothing")
		}
	})
	writers.Wait()
	n.wantSequences(t, abi.ObjectConnector)
}

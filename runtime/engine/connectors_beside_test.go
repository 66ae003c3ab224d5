package engine

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// TestChangesBesideRepeatedDeliveries holds that a Connector's events are in the log in
// the order of their sequences, whoever tells of it meanwhile.
func TestChangesBesideRepeatedDeliveries(t *testing.T) {
	clock := &fakeClock{now: newYear}
	n := newNode(t, guests{"sorter": normalizing(asTask)}, func(_ *Config, p *Parts) { p.Now = clock.read })
	id := n.connector(t, nil)
	n.deliver(t, id, "again", "nothing")
	const writes = 200
	var writers sync.WaitGroup
	writers.Go(func() {
		for i := range writes {
			name := strconv.Itoa(i)
			must(n.UpdateConnector(t.Context(), n.root, nil, id, abi.UpdateConnectorRequest{Name: &name}))
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

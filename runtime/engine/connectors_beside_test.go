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
	n := newNode(t, guests{"sorter": normalizing(asTask)})
	id := n.connector(t, nil)
	s := must(n.source(n.root, id))
	const writes = 200
	var writers sync.WaitGroup
	writers.Go(func() {
		for i := range writes {
			name := strconv.Itoa(i)
			must(n.UpdateConnector(t.Context(), n.root, nil, id, abi.UpdateConnectorRequest{Name: &name}))
		}
	})
	writers.Go(func() {
		for i := range writes {
			n.repeated(s, "again", n.now().Add(time.Duration(i)*tellEvery)) // each late enough to be told of
		}
	})
	writers.Wait()
	n.wantSequences(t, abi.ObjectConnector)
}

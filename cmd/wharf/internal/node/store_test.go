package node

import (
	"errors"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/storage"
)

// plain is a store that offers nothing beside the contract.
type plain struct{ storage.Store }

func TestStorageMayOfferNothingBesideTheContract(t *testing.T) {
	o := options(t, nil)
	store, err := OpenStore(t.Context(), o.Config.Data, o.Config, o.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	n := &Node{store: plain{store}}
	if n.backup() != nil {
		t.Error("a node backs up what its storage cannot copy")
	}
	n.options.Config.Retention.Events = time.Hour
	n.retain(t.Context()) // returns at once
	if _, err := hasReceipts(t.Context(), plain{store}); !errors.Is(err, ErrNoWalk) {
		t.Errorf("looking for receipts in a store that shows nothing: %v", err)
	}
}

package memory_test

import (
	"testing"
	"time"

	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
	"github.com/wharf-dev/wharf/storage/storagetest"
)

// engine opens a Store anew.
type engine struct{ store *memory.Store }

// Open implements [storagetest.Engine].
func (e *engine) Open() (storage.Store, error) {
	if e.store == nil {
		e.store = memory.New(func() time.Time { return storagetest.Epoch })
	} else {
		e.store = e.store.Reopen()
	}
	return e.store, nil
}

// Crash implements [storagetest.Engine].
func (e *engine) Crash() error { return nil }

func TestContract(t *testing.T) {
	storagetest.Run(t, func() storagetest.Engine { return &engine{} })
}

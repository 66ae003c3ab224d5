package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble"
)

const (
	// signingKeys and vaultKey are files in the folder of keys.
	signingKeys = "signing-keys.json"
	vaultKey    = "vault.age"
)

// OwnVaults returns the values of the vaults in a data folder, with the node's own key.
func OwnVaults(data string) *vault.Store {
	return vault.New(vault.Config{Dir: filepath.Join(data, datadir.Vaults), KeyFile: filepath.Join(data, datadir.Keys, vaultKey)})
}

// openKeys opens the keys that sign Receipts. They are made on first use; without them
// a node that has issued Receipts does not start, for new ones would hide that the old
// ones are lost.
func (n *Node) openKeys(ctx context.Context) (*receipt.Keyring, error) {
	dir := filepath.Join(n.options.Config.Data, datadir.Keys)
	path := filepath.Join(dir, signingKeys)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		signed, err := hasReceipts(ctx, n.store)
		if err != nil {
			return nil, err
		}
		if signed {
			return nil, &StartError{What: path + " is missing, and this node has issued receipts that its keys have signed",
				Try: "putting the file back from a backup. If it is lost for good: \"wharf key rotate --lost --data " + n.options.Config.Data + "\""}
		}
	}
	keys, err := receipt.OpenKeyring(dir, n.options.issuer(), time.Now())
	if err != nil {
		return nil, fmt.Errorf("opening the keys that sign receipts: %w", err)
	}
	return keys, nil
}

// hasReceipts reports whether a log tells of any Receipt.
func hasReceipts(ctx context.Context, store *pebble.Store) (found bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err = store.Walk(ctx, pebble.Visitor{
		Objects:  []abi.Object{abi.ObjectReceipt},
		Resource: func(storage.Tenant, abi.Object, storage.Resource) { found = true; stop() },
	})
	if found {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for receipts: %w", err)
	}
	return false, nil
}

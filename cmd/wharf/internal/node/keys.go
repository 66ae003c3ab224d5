package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/runtime/identity"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox/kept"
	"github.com/wharf-dev/wharf/storage"
)

// OwnVaults returns the values of the vaults in a data folder, with the node's own key.
func OwnVaults(data string) *vault.Store {
	return vault.New(vault.Config{Dir: filepath.Join(data, datadir.Vaults), KeyFile: filepath.Join(data, datadir.Keys, datadir.VaultKey)})
}

// checkKeys refuses keys that cannot be used before the log is opened, for opening writes
// to it. They are made on first use; without those that sign Receipts a node that has
// issued some does not start, for new ones would hide that the old ones are lost.
func (n *Node) checkKeys(ctx context.Context) error {
	c := &n.options.Config
	if datadir.Recognize(c.Data) != nil {
		return nil // a new one, or opening says what it is
	}
	dir := filepath.Join(c.Data, datadir.Keys)
	tokens := identity.CheckOwn(filepath.Join(dir, datadir.TokenKeys))
	if c.OAuth.Tokens == "on" && tokens != nil && !errors.Is(tokens, fs.ErrNotExist) {
		return &StartError{What: filepath.Join(dir, datadir.TokenKeys) + " cannot be used: " + tokens.Error(), Err: tokens,
			Try: "putting the file back from a backup, or removing it: a new key is made"}
	}
	_, err := receipt.ReadKeyring(dir)
	lost := "putting the file back from a backup. If it is lost for good: \"wharf key rotate --lost --data " + c.Data + "\""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		signed, err := n.hasSigned(ctx)
		if err != nil || !signed {
			return err
		}
		return &StartError{What: filepath.Join(dir, datadir.SigningKeys) + " is missing, and this node has issued receipts that its keys have signed", Try: lost}
	case err != nil:
		return &StartError{What: "opening the keys that sign receipts: " + err.Error(), Try: lost, Err: err}
	}
	return nil
}

// hasSigned reports whether a node has issued any Receipt. It writes nothing.
func (n *Node) hasSigned(ctx context.Context) (signed bool, err error) {
	store, err := ReadStore(n.options.Config.Data, "", n.log)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return hasReceipts(ctx, store)
}

// openKeys opens the keys that sign Receipts.
func (n *Node) openKeys() (*receipt.Keyring, error) {
	dir := filepath.Join(n.options.Config.Data, datadir.Keys)
	keys, err := receipt.OpenKeyring(dir, n.options.issuer(), time.Now())
	if err != nil {
		return nil, fmt.Errorf("opening the keys that sign receipts: %w", err)
	}
	return keys, nil
}

// cacheKey returns the key that compiled plugins on disk are authenticated with. Nothing is
// lost with one: without a key that can be used there is a new one, and plugins are
// compiled anew.
func (n *Node) cacheKey() []byte {
	path := n.options.Config.Plugins.CacheKey
	if path == "" {
		path = filepath.Join(n.options.Config.Data, datadir.Keys, datadir.CacheKey)
	}
	key, err := kept.ReadKey(path)
	if err == nil {
		return key
	}
	if !errors.Is(err, fs.ErrNotExist) {
		n.log.Warn("the key of compiled plugins is replaced, and they are compiled anew", "error", err.Error())
	}
	key = kept.NewKey()
	if err := kept.WriteKey(path, key); err != nil {
		n.log.Warn("compiled plugins are not found again after this start", "error", err.Error())
	}
	return key
}

// hasReceipts reports whether a log tells of any Receipt.
func hasReceipts(ctx context.Context, store storage.Store) (found bool, err error) {
	all, ok := store.(storage.Walker)
	if !ok {
		return false, ErrNoWalk
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err = all.Walk(ctx, storage.Visitor{
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

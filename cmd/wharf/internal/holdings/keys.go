package holdings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/runtime/identity"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/sandbox/kept"
	"github.com/wharf-dev/wharf/storage"
)

// signer is what a key has signed.
type signer struct {
	receipts int
	last     string // the id of one of them
}

// receipt notes which key has signed a Receipt.
func (c *check) receipt(r storage.Resource) {
	var signed struct {
		Wire struct {
			Signatures []receipt.Signature `json:"signatures"`
		} `json:"wire"`
	}
	if json.Unmarshal(r.State, &signed) != nil {
		return
	}
	for _, s := range signed.Wire.Signatures {
		n := c.signed[s.KeyID]
		c.signed[s.KeyID] = signer{n.receipts + 1, r.ID}
	}
}

// keys looks at the folder of keys.
func (c *check) keys() {
	dir := filepath.Join(c.dir, datadir.Keys)
	c.signing(dir)
	if err := identity.CheckOwn(filepath.Join(dir, datadir.TokenKeys)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.lost("%s cannot be used: %s. Put it back from a backup, or remove it: a new key is made, and clients get new tokens", filepath.Join(dir, datadir.TokenKeys), err)
	}
	if err := vault.CheckKey(filepath.Join(dir, datadir.VaultKey)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.lost("%s cannot be used: %s. Put it back from a copy; without one, \"wharf vault rotate --lost\" makes a new key, and every secret has to be stored again", filepath.Join(dir, datadir.VaultKey), err)
	}
	switch err := c.vaults.CheckBlind(c.ctx); {
	case err == nil || c.sealed:
	case errors.Is(err, vault.ErrOtherKey):
		c.note("%s is not encrypted with %s: unless vaults.key in the configuration names its key, it is lost or damaged", c.vaults.BlindPath(), filepath.Join(dir, datadir.VaultKey))
	default:
		c.lost("%s cannot be read: %s. Put it back from a backup, or remove it: a new one is made, and secrets that are stored again under an Idempotency-Key of before are refused", c.vaults.BlindPath(), err)
	}
	entries, _ := os.ReadDir(dir) // without a folder there is no key
	for _, e := range entries {
		if strings.Contains(e.Name(), ".new-") {
			c.note("%s was left when the node stopped while it wrote it: it may be removed", filepath.Join(dir, e.Name()))
		}
	}
}

// compiled looks at the compiled plugins that a node keeps in its own folder. None of them
// is ever lost: what does not hold is made anew.
func (c *check) compiled() {
	path := filepath.Join(c.dir, datadir.Keys, datadir.CacheKey)
	key, err := kept.ReadKey(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.note("%s cannot be used: %s. A start replaces it, and compiles plugins anew", path, err)
	}
	if err != nil {
		return
	}
	foreign, err := sandbox.ForeignCache(filepath.Join(c.dir, datadir.Modules), key)
	if err != nil {
		c.note("%s", err)
	}
	for _, file := range foreign {
		c.note("%s was not written under %s, or was changed since: it is not used, and made anew when it is needed", file, path)
	}
}

// signing looks whether every key that has signed a Receipt is published.
func (c *check) signing(dir string) {
	path := filepath.Join(dir, datadir.SigningKeys)
	keys, err := receipt.ReadKeyring(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(c.signed) == 0:
		return // nothing was signed yet
	case errors.Is(err, fs.ErrNotExist):
		c.lost("%s is missing, and there are receipts that its keys have signed. Put it back from a backup; without one, \"wharf key rotate --lost\" makes a new key, and the old receipts cannot be verified by this node any more", path)
		return
	case err != nil:
		c.lost("%s cannot be used: %s. Put it back from a backup; without one, \"wharf key rotate --lost\" makes a new key", path, err)
		return
	}
	for _, id := range sorted(c.signed) {
		if !slices.ContainsFunc(keys, func(k abi.SigningKey) bool { return k.KeyID == id }) {
			c.lost("%s lacks the key %s, which has signed %d receipts (%s is one): they cannot be verified. Put back a file that has it", path, id, c.signed[id].receipts, c.signed[id].last)
		}
	}
}

// secret looks at the value of a secret.
func (c *check) secret(state []byte) {
	var s abi.VaultSecret
	if json.Unmarshal(state, &s) != nil || s.Sealed == "" {
		return
	}
	path := c.vaults.Path(s.ID, s.Version)
	err := c.vaults.Check(c.ctx, s.ID, s.Version, s.Sealed)
	if c.sealed && !errors.Is(err, vault.ErrAbsent) {
		return // the key is told
	}
	remedy := "Put the file back from a backup, or store the secret again"
	switch {
	case err == nil:
	case errors.Is(err, vault.ErrAbsent):
		c.lost("%s is missing: it is the value of secret %s of vault %s. %s", path, s.Name, s.VaultID, remedy)
	case errors.Is(err, vault.ErrOtherKey):
		c.note("the values of secrets are not encrypted with %s: unless vaults.key in the configuration names their key, it is lost, and they with it (secret %s of vault %s is one)",
			filepath.Join(c.dir, datadir.Keys, datadir.VaultKey), s.Name, s.VaultID)
	default:
		c.lost("%s cannot be read: %s. It is the value of secret %s of vault %s. %s", path, err, s.Name, s.VaultID, remedy)
	}
}

package node

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// ownPlugin is a plugin from the operator's folder.
type ownPlugin struct {
	name   string
	digest string // of wasm, with digestPrefix
	wasm   []byte
	path   string
	// version is that of a package; "" for a module alone.
	version string
	// personas are those by which Tasks reach it.
	personas []abi.Persona
}

// wasmSuffix is what the files of plugins end with.
const wasmSuffix = ".wasm"

var ownName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)

// readPlugins reads the plugins of a folder: NAME.wasm is the plugin NAME, and a package the one that
// its manifest names. Other files are none of its business but NAME.json, which says what NAME offers. The bytes are kept, so that what Tasks run stays
// what was read when the file is written again. An empty dir has no plugins.
func readPlugins(c *config.Plugins) ([]ownPlugin, error) {
	if c.Dir == "" {
		return nil, nil
	}
	trust, err := trustOf(c)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return nil, pluginsError(fmt.Sprintf("the folder of plugins %s cannot be read", c.Dir), err)
	}
	var own []ownPlugin
	at := map[string]string{} // where a plugin was found
	for _, entry := range entries {
		p, err := readEntry(filepath.Join(c.Dir, entry.Name()), entry, trust)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		if other, twice := at[p.name]; twice {
			return nil, &StartError{What: fmt.Sprintf("%s and %s are both the plugin %s", other, p.path, p.name), Try: "one of them elsewhere"}
		}
		at[p.name] = p.path
		own = append(own, *p)
	}
	return own, nil
}

// trustOf returns whose plugins a node takes.
func trustOf(c *config.Plugins) (parcel.Trust, error) {
	trust, err := receipt.TrustedKeys(c.Trusted())
	if err != nil {
		return nil, &StartError{What: "plugins.trust: " + err.Error(), Try: "public keys in base64, or files with published keys", Err: err}
	}
	return trust, nil
}

// readEntry reads the plugin in a file of the folder; nil when it is none.
func readEntry(path string, entry os.DirEntry, trust parcel.Trust) (*ownPlugin, error) {
	name, isModule := strings.CutSuffix(entry.Name(), wasmSuffix)
	switch {
	case entry.IsDir():
		return nil, nil
	case strings.HasSuffix(entry.Name(), parcel.Extension):
		return readPackage(path, trust)
	case !isModule:
		return nil, nil
	case len(trust) > 0:
		return nil, &StartError{What: path + " is a module alone, and plugins.trust has every plugin signed",
			Try: "a package of it: wharf plugin package FOLDER --sign KEY"}
	}
	p, err := readPlugin(path, name)
	return &p, err
}

// readPackage reads a package, whose manifest says what it offers.
func readPackage(path string, trust parcel.Trust) (*ownPlugin, error) {
	p, err := parcel.Open(path)
	if err != nil {
		return nil, &StartError{What: fmt.Sprintf("the package %s cannot be used: %v", path, err), Try: "wharf plugin lint " + path, Err: err}
	}
	if err := trust.Check(p); err != nil {
		return nil, &StartError{What: fmt.Sprintf("%s: %v", path, err), Try: "plugins.trust with the public key of its author, if you know that it is theirs", Err: err}
	}
	if err := checkName(path, p.Manifest.Name); err != nil {
		return nil, err
	}
	made, err := p.Manifest.Resources()
	if err != nil {
		return nil, &StartError{What: fmt.Sprintf("the package %s cannot be used: %v", path, err), Try: "wharf plugin lint " + path, Err: err}
	}
	own := &ownPlugin{name: p.Manifest.Name, version: p.Manifest.Version, digest: parcel.Digest(p.Module), wasm: p.Module, path: path}
	if made.Persona != nil {
		own.personas = []abi.Persona{*made.Persona}
	}
	return own, nil
}

// checkName refuses names that are none for plugins, and those that are taken.
func checkName(path, name string) error {
	if !ownName.MatchString(name) {
		return &StartError{What: path + " is no name for a plugin",
			Try: "a name of a-z, 0-9 and -, at most 64 long"}
	}
	if _, taken := plugins.Lookup(name); taken {
		return &StartError{What: path + " has the name of a plugin that ships with Wharf",
			Try: "another name for the file"}
	}
	return nil
}

func readPlugin(path, name string) (ownPlugin, error) {
	if err := checkName(path, name); err != nil {
		return ownPlugin{}, err
	}
	wasm, err := os.ReadFile(path)
	if err != nil {
		return ownPlugin{}, pluginsError("the plugin "+path+" cannot be read", err)
	}
	of, err := personasOf(filepath.Dir(path), name)
	if err != nil {
		return ownPlugin{}, err
	}
	sum := sha256.Sum256(wasm)
	return ownPlugin{name: name, digest: digestPrefix + hex.EncodeToString(sum[:]), wasm: wasm, path: path, personas: of}, nil
}

// personasOf returns the Personas of a plugin of a folder: one for all of it, unless it says itself
// what it offers.
func personasOf(dir, plugin string) ([]abi.Persona, error) {
	offering, err := readOffering(dir, plugin)
	if err != nil {
		return nil, err
	}
	if offering != nil {
		return offering.personas(plugin)
	}
	return []abi.Persona{ownPersona(plugin, plugin, "The plugin "+plugin+" of this node's folder of plugins.")}, nil
}

func pluginsError(what string, err error) error {
	return &StartError{What: what + ": " + err.Error(), Try: "plugins.dir with a folder that this user may read", Err: err}
}

// personas returns the bundled Personas and those of the operator's plugins.
func personas(own []ownPlugin) []abi.Persona {
	all := plugins.Personas()
	for _, p := range own {
		all = append(all, p.personas...)
	}
	return all
}

// ownPersona returns a Persona by which Tasks reach a plugin. It does not name
// what the module can do: it stays when the file is replaced by another version.
func ownPersona(name, entry, description string) abi.Persona {
	return abi.Persona{
		Envelope:      abi.Envelope{ID: abi.IDPrefix(abi.ObjectPersona) + name, Object: abi.ObjectPersona},
		Name:          name,
		Version:       "0.0.0",
		EntryWorkflow: entry,
		Description:   description,
		AutonomyTier:  abi.TierActAuto,
		ReceiptPolicy: abi.ReceiptOptional,
		Tools:         []string{},
		Capabilities:  []string{},
	}
}

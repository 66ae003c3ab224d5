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
	"github.com/wharf-dev/wharf/plugins"
)

// ownPlugin is a plugin from the operator's folder.
type ownPlugin struct {
	name   string
	digest string // of wasm, with digestPrefix
	wasm   []byte
	// personas are those by which Tasks reach it.
	personas []abi.Persona
}

// wasmSuffix is what the files of plugins end with.
const wasmSuffix = ".wasm"

var ownName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)

// readPlugins reads the modules of a folder: NAME.wasm is the plugin NAME. Other
// files are none of its business but NAME.json, which says what NAME offers. The bytes are kept, so that what Tasks run stays
// what was read when the file is written again. An empty dir has no plugins.
func readPlugins(dir string) ([]ownPlugin, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, pluginsError(fmt.Sprintf("the folder of plugins %s cannot be read", dir), err)
	}
	var own []ownPlugin
	for _, entry := range entries {
		name, isModule := strings.CutSuffix(entry.Name(), wasmSuffix)
		if !isModule || entry.IsDir() {
			continue
		}
		p, err := readPlugin(filepath.Join(dir, entry.Name()), name)
		if err != nil {
			return nil, err
		}
		own = append(own, p)
	}
	return own, nil
}

func readPlugin(path, name string) (ownPlugin, error) {
	if !ownName.MatchString(name) {
		return ownPlugin{}, &StartError{What: path + " is no name for a plugin",
			Try: "a name of a-z, 0-9 and -, at most 64 long"}
	}
	if _, taken := plugins.Lookup(name); taken {
		return ownPlugin{}, &StartError{What: path + " has the name of a plugin that ships with Wharf",
			Try: "another name for the file"}
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
	return ownPlugin{name: name, digest: digestPrefix + hex.EncodeToString(sum[:]), wasm: wasm, personas: of}, nil
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

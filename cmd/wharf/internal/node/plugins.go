package node

import (
	"cmp"
	"slices"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/plugins"
)

// Plugin is a plugin that a node has.
type Plugin struct {
	Name    string
	Version string // "" when it has none
	Digest  string // of the module, "sha256:" and hex
	Bytes   int    // of the module
	Path    string // "" for one that ships with Wharf
}

// Plugins lists the plugins that a node has, by name: those that ship with Wharf and
// those of a folder, which may be "".
func Plugins(c *config.Plugins) ([]Plugin, error) {
	own, err := readPlugins(c)
	if err != nil {
		return nil, err
	}
	var all []Plugin
	for _, p := range plugins.Bundled() {
		all = append(all, Plugin{Name: p.Name, Version: p.Version, Digest: digestPrefix + p.Digest, Bytes: len(p.Wasm())})
	}
	for _, p := range own {
		all = append(all, Plugin{Name: p.name, Version: p.version, Digest: p.digest, Bytes: len(p.wasm), Path: p.path})
	}
	slices.SortFunc(all, func(a, b Plugin) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

package installs

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/storage"
)

// Modules is what loads modules.
type Modules interface {
	// Try compiles a module, whose bytes are a blob, and says what it is. An *abi.Failure says why it
	// cannot be loaded.
	Try(ctx context.Context, digest string) (Loaded, error)
	// Setting returns what the node's configuration sets of a plugin, nil for nothing.
	Setting(plugin, name string) jsontext.Value
	// Own reports whether the node has a plugin of that name without its having been installed.
	Own(name string) bool
	// Trust returns whose packages the node takes; without a key it takes anybody's, and modules alone.
	Trust() parcel.Trust
	// Left is told of a module that new Tasks no longer run. It may be dropped when nothing runs it.
	Left(digest string)
}

// Loaded is what a module is.
type Loaded struct {
	Imports []string // the host calls that it makes
	Exports []string // that can be run
}

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Modules  Modules  // nil when plugins cannot be installed
	Personas Personas // nil makes none of manifests
	Tenants  func() []*abi.Tenant
}

// Keeper serves Plugins. It is safe for concurrent use.
type Keeper struct {
	parts Parts

	mu     lockrank.RWMutex[lockrank.Table]
	names  map[string]*abi.Plugin // that are installed, by name; none is changed
	runs   map[string]int         // by digest: of how many of them new Tasks run it
	abouts map[string]*about      // what manifests say, by their digests: those of names, and some that are about to be
}

// NewKeeper returns a keeper that knows no plugins before they are loaded.
func NewKeeper(p Parts) *Keeper {
	return &Keeper{parts: p, names: map[string]*abi.Plugin{}, runs: map[string]int{}, abouts: map[string]*about{}}
}

// LoadPlugins reads what was installed, once, before anything runs. What cannot be read is left out:
// Tasks that name it fail, and the log says so.
func (k *Keeper) LoadPlugins(ctx context.Context) error {
	system := []*abi.Tenant{{Number: uint32(storage.SystemTenant)}}
	var all []*abi.Plugin
	err := desk.Load(ctx, k.parts.Parts, system, abi.ObjectPlugin, func(_ storage.Tenant, p *abi.Plugin) {
		k.use(p)
		all = append(all, p)
	})
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := k.trusted(p.Name, current(p)); err != nil && p.Status == abi.PluginEnabled {
			k.parts.Log.Error("a plugin is not run", "plugin", p.Name, "version", p.Version, "error", err)
		}
		if err := k.loadManifest(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// use makes a plugin known as it is now, and tells of the module that it leaves.
func (k *Keeper) use(p *abi.Plugin) {
	left := k.replace(p)
	if left != "" && k.parts.Modules != nil && !k.RunsNow(left) {
		k.parts.Modules.Left(left)
	}
}

// replace makes a plugin known as it is now, and returns the digest that new Tasks ran before.
func (k *Keeper) replace(p *abi.Plugin) (left string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.names[p.Name]; k.runnable(old) {
		left = old.Digest
		if k.runs[left]--; k.runs[left] == 0 {
			delete(k.runs, left)
		}
	}
	old := k.names[p.Name]
	delete(k.names, p.Name)
	if p.Status != abi.PluginRemoved {
		k.names[p.Name] = p
	}
	if k.runnable(p) {
		k.runs[p.Digest]++
	}
	k.forget(old)
	return left
}

// runnable reports whether new Tasks run a plugin.
func (k *Keeper) runnable(p *abi.Plugin) bool {
	return p != nil && p.Status == abi.PluginEnabled && k.trusted(p.Name, current(p)) == nil
}

// RunsNow reports whether new Tasks of a plugin that was installed run a module.
func (k *Keeper) RunsNow(digest string) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.runs[digest] > 0
}

// Installed returns the digest of the module that new Tasks run by a name. known is false for a name
// that was not installed. An *abi.Failure says that it is disabled, or that the node does not trust it.
func (k *Keeper) Installed(name string) (digest string, known bool, err error) {
	p := k.named(name)
	switch {
	case p == nil:
		return "", false, nil
	case p.Status != abi.PluginEnabled:
		return "", true, &abi.Failure{Code: abi.FailurePluginMissing, Message: "the plugin " + name + " is disabled"}
	}
	if err := k.trusted(name, current(p)); err != nil {
		return "", true, &abi.Failure{Code: abi.FailurePluginMissing, Message: messageOf(err)}
	}
	return p.Digest, true, nil
}

// InstalledNames returns the names of what was installed, sorted.
func (k *Keeper) InstalledNames() []string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return slices.Sorted(maps.Keys(k.names))
}

func (k *Keeper) named(name string) *abi.Plugin {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.names[name]
}

// Plugin returns a plugin that was installed.
func (k *Keeper) Plugin(_ context.Context, _ *desk.Caller, name string) (abi.Plugin, error) {
	p := k.named(name)
	if p == nil {
		return abi.Plugin{}, abi.NotFound(abi.ObjectPlugin, name)
	}
	return k.shown(p), nil
}

// shown is a plugin as callers see it: also with what follows from the node's policy, which no log has.
func (k *Keeper) shown(p *abi.Plugin) abi.Plugin {
	seen := *p
	if err := k.trusted(p.Name, current(p)); err != nil && p.Status == abi.PluginEnabled {
		seen.Refused = messageOf(err)
	}
	return seen
}

func messageOf(err error) string {
	if refused, ok := errors.AsType[*abi.Error](err); ok {
		return refused.Message
	}
	return plainly.Say(err)
}

// Plugins returns all that was installed, by name.
func (k *Keeper) Plugins(context.Context, *desk.Caller) abi.Plugins {
	all := abi.Plugins{Data: []abi.Plugin{}}
	for _, name := range k.InstalledNames() {
		if p := k.named(name); p != nil {
			all.Data = append(all.Data, k.shown(p))
		}
	}
	return all
}

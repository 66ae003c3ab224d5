package installs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/manifest"
)

const (
	maxKept     = 1 << 20 // bytes of a manifest and its files, as they are kept
	maxFiles    = 16      // beside a manifest
	maxProblems = 20      // of a manifest that an error tells
)

// Personas is what gives tenants the Personas of plugins.
type Personas interface {
	// CheckOffered refuses a Persona that no tenant can be given.
	CheckOffered(ctx context.Context, p *abi.Persona) error
	// RenewOffered gives a tenant the Persona with an id as now returns it, nil for none any more.
	RenewOffered(ctx context.Context, t *abi.Tenant, id string, now func() *abi.Persona) error
}

// about is what a manifest says, for as long as a plugin has it.
type about struct {
	manifest *manifest.Manifest
	*manifest.Resources
}

// readManifest reads a manifest of a plugin, with its files.
func readManifest(name string, kept *abi.PluginManifest) (*about, error) {
	m, problems := manifest.Parse([]byte(kept.Text))
	if m == nil {
		return nil, badManifest(problems)
	}
	if m.Name != name {
		return nil, abi.InvalidParam("manifest", "the manifest is that of the plugin %s, not of %s", m.Name, name)
	}
	if problems = m.ReadSchemas(files(kept.Files)); !manifest.Sound(problems) {
		return nil, badManifest(problems)
	}
	made, err := m.Resources()
	if err != nil {
		return nil, fmt.Errorf("the manifest of %s: %w", name, err)
	}
	return &about{m, made}, nil
}

// badManifest says what is wrong with a manifest, as "wharf plugin lint" does.
func badManifest(problems []manifest.Problem) error {
	problems = slices.DeleteFunc(slices.Clone(problems), func(p manifest.Problem) bool { return p.Severity != manifest.Error })
	if len(problems) == 0 {
		return abi.InvalidParam("manifest", "the manifest cannot be read")
	}
	problems = problems[:min(len(problems), maxProblems)]
	refused := abi.InvalidParam("manifest", "%s:%s", manifest.FileName, problems[0].String())
	details, err := json.Marshal(map[string]any{"problems": problems}, json.Deterministic(true))
	if err != nil {
		return errors.Join(refused, err)
	}
	refused.Details = details
	return refused
}

// takeManifest holds a manifest against its module and what the node has for it, keeps it, and says in
// the build which it is.
func (k *Keeper) takeManifest(ctx context.Context, req *abi.InstallPluginRequest, build *abi.PluginBuild) error {
	if req.Manifest == nil {
		return nil
	}
	kept := *req.Manifest
	if kept.Files == nil { // none are the same, whether a form or a package has none of them
		kept.Files = map[string]string{}
	}
	text, err := json.Marshal(&kept, json.Deterministic(true))
	if err != nil {
		return abi.InvalidParam("manifest", "the manifest is no text: %v", err)
	}
	if len(text) > maxKept || len(req.Manifest.Files) > maxFiles {
		return abi.Errorf(abi.CodePayloadTooLarge, "a manifest and its files have at most %d KiB, and there are at most %d files", maxKept>>10, maxFiles)
	}
	a, err := readManifest(req.Name, req.Manifest)
	if err == nil {
		err = k.fits(ctx, a, req, build)
	}
	if err != nil {
		return err
	}
	hash, _, err := k.parts.Store.Blobs().Put(ctx, bytes.NewReader(text), nil)
	if err != nil {
		return k.parts.Ledger.Failed("keeping the manifest", err)
	}
	build.Manifest, build.Kind, build.Version = journal.FormatHash(hash), string(a.manifest.Kind), a.manifest.Version
	k.remember(build.Manifest, a)
	return nil
}

// fits refuses a manifest that does not go with its module, or with the node's configuration.
func (k *Keeper) fits(ctx context.Context, a *about, req *abi.InstallPluginRequest, build *abi.PluginBuild) error {
	m := a.manifest
	if req.Version != "" && req.Version != m.Version {
		return abi.InvalidParam("version", "the manifest says that this is version %s: change it there", m.Version)
	}
	for _, export := range m.Exports {
		if !slices.Contains(build.Exports, export) {
			return abi.InvalidParam("manifest", "the module has no export %q, which the manifest names; it has %s", export, cmp.Or(strings.Join(build.Exports, ", "), "none"))
		}
	}
	if err := k.misset(m); err != nil {
		return err
	}
	if a.Persona == nil || k.parts.Personas == nil {
		return nil
	}
	return k.parts.Personas.CheckOffered(ctx, a.Persona)
}

// misset refuses a manifest when the node's configuration sets something of another type.
func (k *Keeper) misset(m *manifest.Manifest) error {
	for i := range m.Config {
		s := &m.Config[i]
		if value := k.parts.Modules.Setting(m.Name, s.Name); value != nil && !s.Takes(value) {
			return abi.Errorf(abi.CodeConflict, "the node's configuration sets settings.%s.%s, which is no %s: change it, and start the node again", m.Name, s.Name, s.Type)
		}
	}
	return nil
}

// remember keeps what a manifest says at hand.
func (k *Keeper) remember(digest string, a *about) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.abouts[digest] = a
}

// forget drops what is at hand of manifests that nothing new runs by. It is called under mu.
func (k *Keeper) forget(old *abi.Plugin) {
	digest := manifestOf(old)
	if digest == "" {
		return
	}
	for _, p := range k.names {
		if manifestOf(p) == digest {
			return
		}
	}
	delete(k.abouts, digest)
}

// manifestOf returns the digest of the manifest of the version that new Tasks run, "" for none.
func manifestOf(p *abi.Plugin) string {
	if b := current(p); b != nil {
		return b.Manifest
	}
	return ""
}

// current returns the version that a plugin has.
func current(p *abi.Plugin) *abi.PluginBuild {
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.Versions, func(b abi.PluginBuild) bool { return b.Version == p.Version })
	if i < 0 {
		return nil
	}
	return &p.Versions[i]
}

// recall reads a manifest that is kept, and has what it says at hand.
func (k *Keeper) recall(ctx context.Context, name, digest string) error {
	if digest == "" || k.at(digest) != nil {
		return nil
	}
	kept, err := k.kept(ctx, digest)
	if err != nil {
		return err
	}
	a, err := readManifest(name, kept)
	if err == nil {
		k.remember(digest, a)
	}
	return err
}

func (k *Keeper) at(digest string) *about {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.abouts[digest]
}

// kept reads a manifest as it was installed.
func (k *Keeper) kept(ctx context.Context, digest string) (*abi.PluginManifest, error) {
	hash, err := journal.ParseHash(digest)
	if err != nil {
		return nil, fmt.Errorf("a plugin's manifest: %w", err)
	}
	text, err := journal.Content(ctx, k.parts.Store.Blobs(), hash)
	if err != nil {
		return nil, k.parts.Ledger.Failed("reading the manifest "+digest, err)
	}
	kept := &abi.PluginManifest{}
	if err := json.Unmarshal(text, kept); err != nil {
		return nil, fmt.Errorf("reading the manifest %s: %w", digest, err)
	}
	return kept, nil
}

// PluginManifest returns the manifest of a version of a plugin, "" for the one that new Tasks run.
func (k *Keeper) PluginManifest(ctx context.Context, _ *desk.Caller, name, version string) (abi.PluginManifest, error) {
	p := k.named(name)
	if p == nil {
		return abi.PluginManifest{}, abi.NotFound(abi.ObjectPlugin, name)
	}
	b, err := earlier(p, cmp.Or(version, p.Version))
	if err != nil {
		return abi.PluginManifest{}, err
	}
	if b.Manifest == "" {
		return abi.PluginManifest{}, abi.Errorf(abi.CodeResourceNotFound, "version %s of the plugin %s was installed without a manifest", b.Version, name)
	}
	kept, err := k.kept(ctx, b.Manifest)
	if err != nil {
		return abi.PluginManifest{}, err
	}
	return *kept, nil
}

// OfferedPersonas returns the Personas of the plugins that are installed, which every tenant has.
func (k *Keeper) OfferedPersonas() []abi.Persona {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var all []abi.Persona
	for _, name := range slices.Sorted(maps.Keys(k.names)) {
		if a := k.abouts[manifestOf(k.names[name])]; a != nil && a.Persona != nil {
			all = append(all, *a.Persona)
		}
	}
	return all
}

// OfferedConnectors returns what the plugins say of their Connectors that new Tasks run, in the order of the plugins'
// names. Nothing else makes them known: they come and go with the event that switches the plugin. They are not to be
// changed.
func (k *Keeper) OfferedConnectors() []*abi.Connector {
	var all []*abi.Connector
	for _, name := range k.InstalledNames() {
		if a := k.serving(name); a != nil && a.Connector != nil {
			all = append(all, a.Connector)
		}
	}
	return all
}

// OfferedHook returns what a plugin that new Tasks run says of its hook, nil for nothing. It is not to be changed.
func (k *Keeper) OfferedHook(plugin string) *abi.Hook {
	if a := k.serving(plugin); a != nil {
		return a.Hook
	}
	return nil
}

// serving returns what the manifest of a plugin says that new Tasks run, nil for nothing.
func (k *Keeper) serving(name string) *about {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if p := k.names[name]; k.runnable(p) {
		return k.abouts[manifestOf(p)]
	}
	return nil
}

// SettingDefault returns what a plugin reads of its configuration where the node's sets nothing, nil for
// nothing.
func (k *Keeper) SettingDefault(plugin, name string) jsontext.Value {
	k.mu.RLock()
	defer k.mu.RUnlock()
	a := k.abouts[manifestOf(k.names[plugin])]
	if a == nil {
		return nil
	}
	for i := range a.manifest.Config {
		if s := &a.manifest.Config[i]; s.Name == name {
			return s.Default
		}
	}
	return nil
}

// renew gives all tenants the Persona that a plugin has now, or takes it from new Tasks. It comes after the
// event, and again at each start, so a crash between leaves none behind for longer than that.
func (k *Keeper) renew(ctx context.Context, p *abi.Plugin) error {
	if k.parts.Personas == nil || !slices.ContainsFunc(p.Versions, func(b abi.PluginBuild) bool { return personaOf(p.Name, &b) != "" }) {
		return nil // a Persona that happens to have the name is none of the plugin's
	}
	if err := k.recall(ctx, p.Name, manifestOf(k.named(p.Name))); err != nil {
		return err
	}
	id := abi.IDPrefix(abi.ObjectPersona) + p.Name
	for _, t := range k.parts.Tenants() {
		if err := k.parts.Personas.RenewOffered(ctx, t, id, func() *abi.Persona { return k.offered(p.Name, id) }); err != nil {
			return fmt.Errorf("renewing %s: %w", id, err)
		}
	}
	return nil
}

// offered returns the Persona with an id that a plugin has now, nil for none.
func (k *Keeper) offered(name, id string) *abi.Persona {
	p := k.named(name)
	a := k.at(manifestOf(p))
	if a == nil || a.Persona == nil || p.PersonaID != id {
		return nil
	}
	own := *a.Persona
	return &own
}

// loadManifest reads the manifest of a plugin that was loaded, and brings its Persona up to date. One that
// cannot be read is as if there were none: the log says so.
func (k *Keeper) loadManifest(ctx context.Context, p *abi.Plugin) error {
	err := k.recall(ctx, p.Name, manifestOf(k.named(p.Name)))
	if a := k.at(manifestOf(p)); err == nil && a != nil && k.parts.Modules != nil {
		err = k.misset(a.manifest)
	}
	if err != nil {
		k.parts.Log.Error("the manifest of a plugin does not hold", "plugin", p.Name, "version", p.Version, "error", err)
	}
	if manifestOf(k.named(p.Name)) != "" && k.at(manifestOf(p)) == nil {
		return nil // the Persona stays as it is
	}
	return k.renew(ctx, p)
}

// personaOf returns the id of the Persona of a version of a plugin, "" for none.
func personaOf(name string, b *abi.PluginBuild) string {
	if k := manifest.Kind(b.Kind); k != manifest.KindPersona && k != manifest.KindSkill {
		return ""
	}
	return abi.IDPrefix(abi.ObjectPersona) + name
}

// files are what lies beside a manifest, by path.
type files map[string]string

// Open implements [fs.FS].
func (f files) Open(name string) (fs.File, error) {
	text, ok := f[name]
	if !ok || !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &file{strings.NewReader(text), name}, nil
}

type file struct {
	*strings.Reader
	name string
}

// Stat implements [fs.File].
func (f *file) Stat() (fs.FileInfo, error) { return f, nil }

// Close implements [fs.File].
func (f *file) Close() error { return nil }

// Name implements [fs.FileInfo].
func (f *file) Name() string { return f.name }

// Mode implements [fs.FileInfo].
func (f *file) Mode() fs.FileMode { return 0o400 }

// ModTime implements [fs.FileInfo].
func (f *file) ModTime() time.Time { return time.Time{} }

// IsDir implements [fs.FileInfo].
func (f *file) IsDir() bool { return false }

// Sys implements [fs.FileInfo].
func (f *file) Sys() any { return nil }

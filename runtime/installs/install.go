package installs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/storage"
)

// What there is at most.
const (
	maxModule   = 64 << 20 // bytes of a module
	maxPlugins  = 1000     // that are installed
	maxVersions = 32       // that one can be switched to
)

var (
	okName    = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$`)
	okVersion = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+-]{0,63}$`)
)

// InstallPlugin installs a version of a plugin, and has new Tasks run it. The module is kept and
// compiled first: of one that cannot be loaded the error says why, and nothing changes. A plugin that is
// disabled stays so. The same module again is the version that it is already.
func (k *Keeper) InstallPlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallPluginRequest, module io.Reader) (desk.Doc, error) {
	if err := cmp.Or(k.may(c), k.check(&req), k.trusted(req.Name, &abi.PluginBuild{Version: req.Version})); err != nil {
		return desk.Doc{}, err
	}
	return k.install(ctx, c, r, req, module, origin{})
}

// origin is the package that a module comes in; empty for one that comes in none.
type origin struct {
	digest   string
	signedBy []string
}

func (k *Keeper) install(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallPluginRequest, module io.Reader, from origin) (desk.Doc, error) {
	build, err := k.take(ctx, module)
	if err != nil {
		return desk.Doc{}, err
	}
	build.Version, build.InstalledBy, build.Package, build.SignedBy = req.Version, c.Actor, from.digest, from.signedBy
	if err := k.takeManifest(ctx, &req, &build); err != nil {
		k.left(&build)
		return desk.Doc{}, err
	}
	doc, err := k.change(ctx, c, retryOf(r, req, build), req.Name, func(p *abi.Plugin) (abi.EventKind, error) {
		return k.put(p, build)
	})
	k.left(&build)
	return doc, err
}

// left lets go of what was taken, where new Tasks do not run it.
func (k *Keeper) left(b *abi.PluginBuild) {
	if !k.RunsNow(b.Digest) {
		k.parts.Modules.Left(b.Digest)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forget(&abi.Plugin{Version: b.Version, Versions: []abi.PluginBuild{*b}})
}

// may refuses who does not administer the node.
func (k *Keeper) may(c *desk.Caller) error {
	if !c.Can(abi.ScopeNode) {
		return desk.Denied(abi.ScopeNode)
	}
	if k.parts.Modules == nil {
		return abi.Errorf(abi.CodeNotImplemented, "this node installs no plugins")
	}
	return nil
}

func (k *Keeper) check(req *abi.InstallPluginRequest) error {
	switch {
	case !okName.MatchString(req.Name):
		return abi.InvalidParam("name", "the name of a plugin has a-z, 0-9, - and _, and is at most 64 long")
	case req.Version != "" && !okVersion.MatchString(req.Version):
		return abi.InvalidParam("version", "a version has letters, digits, and . + -, and is at most 64 long")
	case k.parts.Modules.Own(req.Name):
		return abi.Errorf(abi.CodeConflict, "the node has a plugin %s of its own: one that comes with it, or of its folder of plugins; install yours by another name", req.Name)
	}
	return nil
}

// take keeps a module, and says what it is.
func (k *Keeper) take(ctx context.Context, module io.Reader) (abi.PluginBuild, error) {
	hash, size, err := k.parts.Store.Blobs().Put(ctx, &bounded{from: module, left: maxModule}, nil)
	if refused, ok := errors.AsType[*abi.Error](err); ok {
		return abi.PluginBuild{}, refused
	}
	if err != nil {
		return abi.PluginBuild{}, k.parts.Ledger.Failed("keeping the module", err)
	}
	b := abi.PluginBuild{Digest: journal.FormatHash(hash), Bytes: size}
	loaded, err := k.parts.Modules.Try(ctx, b.Digest)
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		return b, refusal(&b, failure)
	}
	b.Imports, b.Exports, b.InstalledAt = orEmpty(loaded.Imports), orEmpty(loaded.Exports), abi.At(k.parts.Now())
	return b, err
}

func orEmpty(names []string) []string { return append([]string{}, names...) }

// refusal says why a module cannot be loaded, as "wharf plugin vet" does.
func refusal(b *abi.PluginBuild, failure *abi.Failure) error {
	refused := abi.InvalidParam("module", "the module cannot be loaded: %s", failure.Message)
	details, err := json.Marshal(map[string]any{"ok": false, "error": failure.Message, "code": failure.Code, "digest": b.Digest, "bytes": b.Bytes},
		json.Deterministic(true))
	if err != nil {
		return errors.Join(refused, err)
	}
	refused.Details = details
	return refused
}

// bounded reads no more than it may.
type bounded struct {
	from io.Reader
	left int64
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, abi.Errorf(abi.CodePayloadTooLarge, "a module has at most %d MiB", maxModule>>20)
	}
	return n, err
}

// put adds a version to a plugin, or finds the one that the module is, and switches to it.
func (k *Keeper) put(p *abi.Plugin, build abi.PluginBuild) (abi.EventKind, error) {
	if p.Status == "" || p.Status == abi.PluginRemoved {
		if len(k.InstalledNames()) >= maxPlugins {
			return "", abi.Errorf(abi.CodeConflict, "a node has at most %d plugins that were installed", maxPlugins)
		}
		p.Status, p.Version, p.Digest, p.Previous, p.PersonaID, p.Versions = abi.PluginEnabled, "", "", "", "", []abi.PluginBuild{}
	}
	for i := range p.Versions {
		has := &p.Versions[i]
		switch same := has.Digest == build.Digest && (build.Manifest == "" || has.Manifest == build.Manifest); {
		case same && (build.Version == "" || build.Version == has.Version):
			kind := switchTo(p, has)
			if sign(has, &build) {
				kind = cmp.Or(kind, abi.EventPluginInstalled)
			}
			return kind, nil
		case !same && build.Version == has.Version:
			return "", abi.Errorf(abi.CodeConflict, "version %s of the plugin %s is another module, %s, or has another manifest: give yours another version", has.Version, p.Name, has.Digest)
		}
	}
	build.Version = cmp.Or(build.Version, nextVersion(p))
	p.Versions = append(p.Versions, build)
	switchTo(p, &p.Versions[len(p.Versions)-1])
	trim(p)
	return abi.EventPluginInstalled, nil
}

// switchTo has a plugin's new Tasks run one of its versions. No event tells of what was so before.
func switchTo(p *abi.Plugin, b *abi.PluginBuild) abi.EventKind {
	if p.Version == b.Version {
		return ""
	}
	p.Previous, p.Version, p.Digest, p.PersonaID = p.Version, b.Version, b.Digest, personaOf(p.Name, b)
	return abi.EventPluginSwitched
}

// nextVersion returns the number after the greatest that is a version of a plugin.
func nextVersion(p *abi.Plugin) string {
	last := 0
	for _, b := range p.Versions {
		if n, err := strconv.Atoi(b.Version); err == nil {
			last = max(last, n)
		}
	}
	return strconv.Itoa(last + 1)
}

// trim forgets the oldest versions that are neither run nor the one before: first of those that were tried
// out, of which an afternoon makes many.
func trim(p *abi.Plugin) {
	spare := func(b abi.PluginBuild) bool { return b.Version != p.Version && b.Version != p.Previous }
	for len(p.Versions) > maxVersions {
		i := slices.IndexFunc(p.Versions, func(b abi.PluginBuild) bool {
			_, _, trial := manifest.TrialOf(b.Version)
			return trial && spare(b)
		})
		if i < 0 {
			i = slices.IndexFunc(p.Versions, spare)
		}
		p.Versions = slices.Delete(p.Versions, i, i+1)
	}
}

// RollbackPlugin has new Tasks run a version again that a plugin had: the one before, unless the
// request names one.
func (k *Keeper) RollbackPlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, req abi.RollbackPluginRequest) (desk.Doc, error) {
	if err := k.may(c); err != nil {
		return desk.Doc{}, err
	}
	if p := k.named(name); p != nil { // compiled before the switch, and under no lock; another build of the node may refuse it
		if b, err := earlier(p, req.Version); err == nil {
			if err := k.trusted(name, b); err != nil {
				return desk.Doc{}, err
			}
			if _, err := k.parts.Modules.Try(ctx, b.Digest); err != nil {
				return desk.Doc{}, desk.Refusal(err)
			}
			if err := k.recall(ctx, name, b.Manifest); err != nil {
				return desk.Doc{}, err
			}
			defer k.left(b)
		}
	}
	return k.changeKnown(ctx, c, r, name, func(p *abi.Plugin) (abi.EventKind, error) {
		b, err := earlier(p, req.Version)
		if err == nil {
			err = k.trusted(name, b)
		}
		if err != nil {
			return "", err
		}
		return switchTo(p, b), nil
	})
}

// earlier returns a version that a plugin can be switched to: the one before, for "".
func earlier(p *abi.Plugin, version string) (*abi.PluginBuild, error) {
	want := cmp.Or(version, p.Previous)
	if want == "" {
		return nil, abi.Errorf(abi.CodeConflict, "the plugin %s had no version before %s", p.Name, p.Version)
	}
	i := slices.IndexFunc(p.Versions, func(b abi.PluginBuild) bool { return b.Version == want })
	if i < 0 {
		return nil, abi.InvalidParam("version", "the plugin %s has no version %q", p.Name, want)
	}
	return &p.Versions[i], nil
}

// EnablePlugin has new Tasks run a plugin again.
func (k *Keeper) EnablePlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string) (desk.Doc, error) {
	enable := turn(abi.PluginEnabled, abi.EventPluginEnabled)
	return k.changeKnown(ctx, c, r, name, func(p *abi.Plugin) (abi.EventKind, error) {
		if err := k.trusted(name, current(p)); err != nil {
			return "", err
		}
		return enable(p)
	})
}

// DisablePlugin has no new Task run a plugin: those that name it fail. Those that have begun go on.
func (k *Keeper) DisablePlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string) (desk.Doc, error) {
	return k.changeKnown(ctx, c, r, name, turn(abi.PluginDisabled, abi.EventPluginDisabled))
}

func turn(to abi.PluginStatus, kind abi.EventKind) func(*abi.Plugin) (abi.EventKind, error) {
	return func(p *abi.Plugin) (abi.EventKind, error) {
		if p.Status == to {
			return "", nil
		}
		p.Status = to
		return kind, nil
	}
}

// RemovePlugin takes a plugin from the node: no new Task runs it. It is refused while somebody names
// it, unless it is forced.
func (k *Keeper) RemovePlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, force bool) error {
	_, err := k.changeKnown(ctx, c, r, name, func(p *abi.Plugin) (abi.EventKind, error) {
		if !force {
			if err := k.unused(ctx, c, p); err != nil {
				return "", err
			}
		}
		p.Status, p.PersonaID = abi.PluginRemoved, ""
		return abi.EventPluginRemoved, nil
	})
	return err
}

// changeKnown changes a plugin that is installed.
func (k *Keeper) changeKnown(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, do func(*abi.Plugin) (abi.EventKind, error)) (desk.Doc, error) {
	if err := k.may(c); err != nil {
		return desk.Doc{}, err
	}
	return k.change(ctx, c, r, name, func(p *abi.Plugin) (abi.EventKind, error) {
		if p.Status == "" || p.Status == abi.PluginRemoved {
			return "", abi.NotFound(abi.ObjectPlugin, name)
		}
		return do(p)
	})
}

// change makes a change of a plugin. do gets it as it is, without a status when there has been none, and
// returns the event that tells of the change; "" for none.
func (k *Keeper) change(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, do func(*abi.Plugin) (abi.EventKind, error)) (desk.Doc, error) {
	system := *c
	system.Tenant, system.Retries = storage.SystemTenant, c.TenantID+" "+cmp.Or(c.Retries, c.Actor)
	id := abi.IDPrefix(abi.ObjectPlugin) + name
	doc, err := k.parts.Desk.Once(ctx, &system, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, storage.SystemTenant, id, func() (desk.Doc, error) {
			return k.changeOnce(ctx, &system, idem, name, do)
		})
	})
	if err != nil {
		return doc, err
	}
	var p abi.Plugin
	if err := json.Unmarshal(doc.JSON, &p); err != nil {
		return doc, fmt.Errorf("reading the plugin %s: %w", name, err)
	}
	return doc, k.renew(ctx, &p) // also of a retry: a crash may have come between
}

// changeOnce is called under the plugin's lock.
func (k *Keeper) changeOnce(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, name string, do func(*abi.Plugin) (abi.EventKind, error)) (desk.Doc, error) {
	p, next, err := k.stored(ctx, name)
	if err != nil {
		return desk.Doc{}, err
	}
	kind, err := do(p)
	if err != nil {
		return desk.Doc{}, err
	}
	if kind == "" {
		text, err := json.Marshal(p, json.Deterministic(true))
		return desk.Doc{ID: p.ID, JSON: text}, err
	}
	p.UpdatedAt = abi.At(k.parts.Now())
	doc, err := k.parts.Desk.Commit(c, "", "", idem, desk.StatusOK,
		ledger.Record{Kind: kind, Object: abi.ObjectPlugin, ID: p.ID, Sequence: next, Created: next == 0, State: p})
	if err == nil {
		k.use(p)
	}
	return doc, err
}

// stored returns a plugin as the log has it, and the sequence of its next event. One that was never
// installed has no status.
func (k *Keeper) stored(ctx context.Context, name string) (*abi.Plugin, uint64, error) {
	id := abi.IDPrefix(abi.ObjectPlugin) + name
	res, err := k.parts.Ledger.Find(ctx, storage.SystemTenant, abi.ObjectPlugin, id)
	if ledger.IsNotFound(err) {
		return &abi.Plugin{Envelope: abi.NewEnvelope(abi.ObjectPlugin, id, k.parts.Now(), nil), Name: name}, 0, nil
	}
	p := &abi.Plugin{}
	if err == nil {
		err = ledger.Decode(res.State, p)
	}
	if err == nil {
		err = ledger.CheckEnvelope(&p.Envelope, abi.ObjectPlugin, id)
	}
	if err != nil {
		return nil, 0, ledger.Naming(abi.ObjectPlugin, id, err)
	}
	return p, res.Sequence + 1, nil
}

// retryOf has a write judged by what is asked for, and by the digests of the module and the manifest.
func retryOf(r *desk.Retry, req abi.InstallPluginRequest, b abi.PluginBuild) *desk.Retry {
	if r == nil {
		return nil
	}
	text := fmt.Appendf(nil, `[%q,%q,%q,%q]`, req.Name, req.Version, b.Digest, b.Manifest)
	if b.Package != "" { // as it was sent before there were packages, a module has the fingerprint that it had
		text = fmt.Appendf(nil, `[%q,%q,%q,%q,%q,%q]`, req.Name, req.Version, b.Digest, b.Manifest, b.Package, b.SignedBy)
	}
	return &desk.Retry{Key: r.Key, Scope: r.Scope, Fingerprint: ledger.CanonicalHash(text)}
}

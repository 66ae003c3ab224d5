package skillbundles

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/skillmd"
	"github.com/wharf-dev/wharf/storage"
)

// Limits, besides those of [skillmd.Limits].
const (
	MaxBundles   = 200  // that are installed in a Workspace
	MaxVersions  = 50   // of a bundle that are kept: the oldest that is not used goes first
	maxTitle     = 100  // characters
	maxChangelog = 1000 // characters
)

// InstallSkillBundle installs a skill in a Workspace that the caller may see. The error for files
// that are no skill is an [*InvalidError].
func (k *Keeper) InstallSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallSkillBundleRequest, files *filetree.Tree) (desk.Doc, error) {
	if err := desk.CheckPresent("workspace_id", req.WorkspaceID); err != nil {
		return desk.Doc{}, err
	}
	if err := k.parts.Desk.CheckWorkspace(ctx, c, req.WorkspaceID); err != nil {
		return desk.Doc{}, err
	}
	about := &abi.SkillBundle{
		Envelope:    abi.NewEnvelope(abi.ObjectSkillBundle, k.parts.IDs.New(abi.ObjectSkillBundle), k.parts.Now(), req.Metadata),
		WorkspaceID: req.WorkspaceID, DisplayTitle: req.DisplayTitle, Category: cmp.Or(req.Category, abi.SkillUser),
	}
	skill, err := read(files)
	if err != nil {
		return desk.Doc{}, err
	}
	about.Name = skill.Name
	about.DisplayTitle = cmp.Or(about.DisplayTitle, about.Name)
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), check(about), checkChangelog(req.Changelog)); err != nil {
		return desk.Doc{}, err
	}
	doc, err := k.parts.Desk.Once(ctx, c, judgedBy(r, &req, skill), about.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return k.install(ctx, c, idem, about, files, skill, req.Changelog)
	})
	return show(doc, err)
}

func (k *Keeper) install(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, about *abi.SkillBundle, files *filetree.Tree, skill *skillmd.Skill, changelog string) (desk.Doc, error) {
	unlock := k.lock(c.Tenant, about.WorkspaceID)
	defer unlock()
	if k.named(c.Tenant, about.WorkspaceID, about.Name) != nil {
		return desk.Doc{}, abi.Errorf(abi.CodeConflict, "the skill %q is installed already: upgrade it, or uninstall it first", about.Name)
	}
	if n := k.count(c.Tenant, about.WorkspaceID); n >= MaxBundles {
		return desk.Doc{}, abi.Errorf(abi.CodeConflict, "there are %d skills; a workspace has at most %d", n, MaxBundles)
	}
	version, err := k.keep(ctx, files, skill, skill.Version, changelog)
	if err != nil {
		return desk.Doc{}, err
	}
	about.SkillBundleVersion, about.Versions = version, []abi.SkillBundleVersion{version}
	doc, err := k.parts.Desk.Commit(c, "", about.WorkspaceID, idem, desk.StatusCreated, ledger.Record{Kind: abi.EventSkillInstalled,
		Object: abi.ObjectSkillBundle, ID: about.ID, Created: true, State: about, Payload: abi.SkillChange{Name: about.Name, Version: about.Version}})
	if err == nil {
		k.use(c.Tenant, about)
	}
	return doc, err
}

// lock makes the caller the only one who changes what is installed in a Workspace.
func (k *Keeper) lock(t storage.Tenant, workspace string) (unlock func()) {
	return k.parts.Ledger.Lock(t, "skill bundles of "+workspace)
}

// judgedBy has retries judged by what was asked for and the digest of the files.
func judgedBy(r *desk.Retry, req any, skill *skillmd.Skill) *desk.Retry {
	if r == nil {
		return nil
	}
	body, err := json.Marshal(map[string]any{"request": req, "files": skill.Digest}, json.Deterministic(true))
	if err != nil { // metadata that is no JSON, which is refused
		return r
	}
	return &desk.Retry{Key: r.Key, Scope: r.Scope, Fingerprint: ledger.CanonicalHash(body)}
}

// UpgradeSkillBundle installs another version of a bundle, above the one that is used. Of files
// that state none it is the next minor version after all there are. It returns the version before.
func (k *Keeper) UpgradeSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpgradeSkillBundleRequest, files *filetree.Tree) (doc desk.Doc, previous string, err error) {
	if _, err := k.find(c, id); err != nil {
		return desk.Doc{}, "", err
	}
	skill, err := read(files)
	if err != nil {
		return desk.Doc{}, "", err
	}
	if err := checkChangelog(req.Changelog); err != nil {
		return desk.Doc{}, "", err
	}
	return k.change(ctx, c, judgedBy(r, &req, skill), id, func(next *abi.SkillBundle) error {
		version, err := nextVersion(next, skill)
		if err != nil {
			return err
		}
		next.SkillBundleVersion, err = k.keep(ctx, files, skill, version, req.Changelog)
		next.Versions = slices.Concat([]abi.SkillBundleVersion{next.SkillBundleVersion}, next.Versions)
		next.Versions = next.Versions[:min(len(next.Versions), MaxVersions)]
		return err
	})
}

// nextVersion returns the version that files become of a bundle.
func nextVersion(b *abi.SkillBundle, skill *skillmd.Skill) (string, error) {
	if skill.Name != b.Name {
		return "", abi.InvalidParam("files", "the skill is %q, and these are the files of %q", b.Name, skill.Name)
	}
	if !skill.HasVersion {
		newest := slices.MaxFunc(b.Versions, func(x, y abi.SkillBundleVersion) int { return skillmd.CompareVersions(x.Version, y.Version) })
		return skillmd.NextMinor(newest.Version), nil
	}
	if skillmd.CompareVersions(skill.Version, b.Version) <= 0 {
		return "", abi.Errorf(abi.CodeConflict, "version %s of skill %q is not above %s, which is used: give it a higher one", skill.Version, b.Name, b.Version)
	}
	if slices.ContainsFunc(b.Versions, func(v abi.SkillBundleVersion) bool { return skillmd.CompareVersions(v.Version, skill.Version) == 0 }) {
		return "", abi.Errorf(abi.CodeConflict, "version %s of skill %q is there already: roll back to it, or give these files a higher one", skill.Version, b.Name)
	}
	return skill.Version, nil
}

// RollbackSkillBundle has a version used again that was installed before. It returns the version
// that was used until then.
func (k *Keeper) RollbackSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.RollbackSkillBundleRequest) (doc desk.Doc, previous string, err error) {
	if err := desk.CheckPresent("version", req.Version); err != nil {
		return desk.Doc{}, "", err
	}
	return k.change(ctx, c, r, id, func(next *abi.SkillBundle) error {
		v := kept(next, req.Version)
		switch {
		case v == nil:
			return errNoVersion(next, req.Version)
		case v.Version == next.Version:
			return abi.Errorf(abi.CodeConflict, "version %s of skill %q is used already", v.Version, next.Name)
		}
		next.SkillBundleVersion = *v
		return nil
	})
}

func kept(b *abi.SkillBundle, version string) *abi.SkillBundleVersion {
	i := slices.IndexFunc(b.Versions, func(v abi.SkillBundleVersion) bool { return v.Version == version })
	if i < 0 {
		return nil
	}
	return &b.Versions[i]
}

func errNoVersion(b *abi.SkillBundle, version string) error {
	return abi.Errorf(abi.CodeResourceNotFound, "skill %q has no version %q", b.Name, version)
}

// change has another version of a bundle used.
func (k *Keeper) change(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, do func(*abi.SkillBundle) error) (doc desk.Doc, previous string, err error) {
	doc, err = k.rewrite(ctx, c, r, id, func(next *abi.SkillBundle) (ledger.Record, error) {
		previous = next.Version
		err := do(next)
		return ledger.Record{Kind: abi.EventSkillInstalled, Payload: abi.SkillChange{Name: next.Name, Version: next.Version, PreviousVersion: previous}}, err
	})
	if err == nil && doc.Replayed {
		var told abi.SkillChange
		err = json.Unmarshal(doc.Told, &told)
		previous = told.PreviousVersion
	}
	return doc, previous, err
}

// UpdateSkillBundle changes what people call a bundle.
func (k *Keeper) UpdateSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateSkillBundleRequest) (desk.Doc, error) {
	if err := desk.CheckMetadata(&req.Metadata); err != nil {
		return desk.Doc{}, err
	}
	return k.rewrite(ctx, c, r, id, func(next *abi.SkillBundle) (ledger.Record, error) {
		abi.Replace(&next.DisplayTitle, req.DisplayTitle)
		abi.Replace(&next.Category, req.Category)
		if req.Metadata != nil {
			next.Metadata = req.Metadata
		}
		return ledger.Record{Kind: abi.EventSkillBundleUpdated}, check(next)
	})
}

// UninstallSkillBundle takes a bundle away, and all its versions with it. It is refused while an
// agent of the Workspace names the skill. Tasks that have it keep it.
func (k *Keeper) UninstallSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error {
	_, err := k.rewrite(ctx, c, r, id, func(next *abi.SkillBundle) (ledger.Record, error) {
		agents, err := k.agentsWith(ctx, c.Tenant, next.WorkspaceID, next.Name)
		if err != nil {
			return ledger.Record{}, err
		}
		if len(agents) > 0 {
			return ledger.Record{}, abi.Errorf(abi.CodeConflict, "the skill %q is named by agents: take it from %s first", next.Name, strings.Join(agents, ", "))
		}
		next.DeletedAt = abi.At(k.parts.Now())
		return ledger.Record{Kind: abi.EventSkillUninstalled, Payload: abi.SkillChange{Name: next.Name, Version: next.Version}}, nil
	})
	return err
}

// rewrite changes a bundle. do gets a copy, and returns the record but for what it is about.
func (k *Keeper) rewrite(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, do func(*abi.SkillBundle) (ledger.Record, error)) (desk.Doc, error) {
	doc, err := k.parts.Desk.Once(ctx, c, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		before, err := k.find(c, id)
		if err != nil {
			return desk.Doc{}, err
		}
		unlock := k.lock(c.Tenant, before.WorkspaceID)
		defer unlock()
		if before, err = k.find(c, id); err != nil { // somebody may have changed it meanwhile
			return desk.Doc{}, err
		}
		return k.commit(ctx, c, idem, *before, do)
	})
	return show(doc, err)
}

func (k *Keeper) commit(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, next abi.SkillBundle, do func(*abi.SkillBundle) (ledger.Record, error)) (desk.Doc, error) {
	res, err := k.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectSkillBundle, next.ID)
	if err != nil {
		return desk.Doc{}, err
	}
	next.UpdatedAt = abi.At(k.parts.Now())
	rec, err := do(&next)
	if err != nil {
		return desk.Doc{}, err
	}
	rec.Object, rec.ID, rec.Sequence, rec.State = abi.ObjectSkillBundle, next.ID, res.Sequence+1, &next
	doc, err := k.parts.Desk.Commit(c, "", next.WorkspaceID, idem, desk.StatusOK, rec)
	switch {
	case err != nil:
	case next.DeletedAt.IsZero():
		k.use(c.Tenant, &next)
	default:
		k.leave(c.Tenant, &next)
	}
	return doc, err
}

func check(b *abi.SkillBundle) error {
	if n := utf8.RuneCountInString(b.DisplayTitle); n < 1 || n > maxTitle || strings.TrimSpace(b.DisplayTitle) == "" {
		return abi.InvalidParam("display_title", "display_title has 1 to %d characters", maxTitle)
	}
	return desk.CheckOneOf("category", b.Category, abi.SkillUser, abi.SkillPlugin, abi.SkillBuiltin, abi.SkillOrganization)
}

func checkChangelog(text string) error {
	if utf8.RuneCountInString(text) > maxChangelog {
		return abi.InvalidParam("changelog", "changelog has at most %d characters", maxChangelog)
	}
	return nil
}

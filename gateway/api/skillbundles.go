package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/skillbundles"
	"github.com/wharf-dev/wharf/runtime/skillmd"
)

type (
	// SkillFiles are the files of a skill that is to be installed.
	SkillFiles = filetree.Tree
	// SkillFile is one of them, by the path that whoever sends it gives it.
	SkillFile = filetree.Named
	// SkillReport says what is wrong with a skill.
	SkillReport = skillmd.Report
	// SkillFinding is one thing of that.
	SkillFinding = skillmd.Finding
	// SkillFilter narrows a list of SkillBundles.
	SkillFilter = skillbundles.Filter
	// InvalidSkillError says that files are no skill, and why.
	InvalidSkillError = skillbundles.InvalidError
)

// SkillManifest is what a version of a skill holds.
type SkillManifest struct {
	Front jsontext.Value // the front matter of its SKILL.md, as JSON
	Files []SkillEntry   // in the order of their paths
}

// SkillEntry describes a file of a skill.
type SkillEntry = skillmd.File

// SkillMD is the file that makes a folder a skill.
const SkillMD = skillmd.FileName

// MaxSkillArchive is how many bytes the zip of a skill has at most.
const MaxSkillArchive = 16 << 20

// skillBundlesCore serves SkillBundles.
type skillBundlesCore interface {
	InstallSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallSkillBundleRequest, files *filetree.Tree) (desk.Doc, error)
	UpgradeSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpgradeSkillBundleRequest, files *filetree.Tree) (desk.Doc, string, error)
	RollbackSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.RollbackSkillBundleRequest) (desk.Doc, string, error)
	UpdateSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateSkillBundleRequest) (desk.Doc, error)
	UninstallSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	SkillBundle(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	SkillBundles(ctx context.Context, c *desk.Caller, f skillbundles.Filter, p desk.Page) (desk.DocList, error)
	SkillBundleVersions(ctx context.Context, c *desk.Caller, id string) (abi.SkillBundleVersions, error)
	OpenSkillBundle(ctx context.Context, c *desk.Caller, id, version string) (string, abi.SkillBundleVersion, desk.Blob, error)
	SkillBundleFile(ctx context.Context, c *desk.Caller, id, version, path string) ([]byte, error)
}

// InstallSkillBundle installs a skill in a Workspace. An error for files that are no skill is an
// [*InvalidSkillError].
func (a *API) InstallSkillBundle(ctx context.Context, c *Caller, r *Write, req abi.InstallSkillBundleRequest, files *SkillFiles) (View, error) {
	return a.to(ctx, c).view(a.core.InstallSkillBundle(ctx, c, r, req, files))
}

// UpgradeSkillBundle installs another version of a skill. It returns the version before.
func (a *API) UpgradeSkillBundle(ctx context.Context, c *Caller, r *Write, id string, req abi.UpgradeSkillBundleRequest, files *SkillFiles) (View, string, error) {
	doc, previous, err := a.core.UpgradeSkillBundle(ctx, c, r, id, req, files)
	view, err := a.to(ctx, c).view(doc, err)
	return view, previous, err
}

// RollbackSkillBundle has a version of a skill used again. It returns the version before.
func (a *API) RollbackSkillBundle(ctx context.Context, c *Caller, r *Write, id string, req abi.RollbackSkillBundleRequest) (View, string, error) {
	doc, previous, err := a.core.RollbackSkillBundle(ctx, c, r, id, req)
	view, err := a.to(ctx, c).view(doc, err)
	return view, previous, err
}

// UpdateSkillBundle changes what people call a skill.
func (a *API) UpdateSkillBundle(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdateSkillBundleRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateSkillBundle(ctx, c, r, id, req))
}

// SkillBundle returns a skill that is installed.
func (a *API) SkillBundle(ctx context.Context, c *Caller, id string) (View, error) {
	return a.to(ctx, c).view(a.core.SkillBundle(ctx, c, id))
}

// SkillBundles lists the skills that are installed where the caller may see them, newest first.
func (a *API) SkillBundles(ctx context.Context, c *Caller, f SkillFilter, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.SkillBundles(ctx, c, f, p))
}

// OpenSkillBundle opens the zip of a version of a skill, "" for the one that is used. The caller
// closes it.
func (a *API) OpenSkillBundle(ctx context.Context, c *Caller, id, version string) (name string, v abi.SkillBundleVersion, zip Content, err error) {
	return a.core.OpenSkillBundle(ctx, c, id, version)
}

// SkillManifest says what a version of a skill holds, "" for the one that is used. It reads all of it.
func (a *API) SkillManifest(ctx context.Context, c *Caller, id, version string) (m *SkillManifest, err error) {
	_, _, zip, err := a.core.OpenSkillBundle(ctx, c, id, version)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, zip.Close()) }()
	err = a.turns.DoFor(ctx, uint64(c.Tenant), int(zip.Size()), func() (err error) {
		m, err = manifest(zip, zip.Size())
		return err
	})
	return m, err
}

func manifest(zip io.ReaderAt, size int64) (*SkillManifest, error) {
	files, err := filetree.ReadZip(zip, size, skillmd.Limits())
	if err != nil {
		return nil, fmt.Errorf("reading a skill: %w", err)
	}
	m := &SkillManifest{Files: skillmd.Files(files)}
	about := files.File(SkillMD)
	if about == nil {
		return nil, fmt.Errorf("reading a skill: it has no %s", SkillMD)
	}
	m.Front, err = skillmd.FrontJSON(about.Content)
	return m, err
}

// SkillZip reads the zip of a skill. An error about what is in it is an [*InvalidSkillError].
func SkillZip(r io.ReaderAt, size int64) (*SkillFiles, error) {
	if size > MaxSkillArchive {
		return nil, abi.Errorf(abi.CodePayloadTooLarge, "the zip of a skill has at most %d bytes", MaxSkillArchive)
	}
	files, err := filetree.ReadZip(r, size, skillmd.Limits())
	return files, skillbundles.Refused(err)
}

// SkillTree reads the files of a skill one by one. An error about what they are is an
// [*InvalidSkillError]; one that comes with a file is returned as it is.
func SkillTree(files iter.Seq2[SkillFile, error]) (*SkillFiles, error) {
	tree, err := filetree.ReadFiles(files, skillmd.Limits())
	return tree, skillbundles.Refused(err)
}

// CheckSkill says what is wrong with the files of a skill.
func CheckSkill(files *SkillFiles) *SkillReport { return skillmd.Check(files) }

// WithText returns a document with one more member.
func WithText(document []byte, name, value string) []byte {
	return desk.WithMember(document, name, jsonw.String(nil, value))
}

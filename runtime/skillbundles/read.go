package skillbundles

import (
	"cmp"
	"context"
	"slices"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/skillmd"
)

// SkillBundle returns a bundle, without its list of versions.
func (k *Keeper) SkillBundle(_ context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	b, err := k.find(c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return describe(*b, desk.Doc{ID: id})
}

// SkillBundles lists the bundles that a filter lets through and the caller may see, newest first.
// It takes After, Limit, Offset and Total of a page.
func (k *Keeper) SkillBundles(_ context.Context, c *desk.Caller, f Filter, p desk.Page) (list desk.DocList, err error) {
	if f.Category != "" {
		if err := check(&abi.SkillBundle{DisplayTitle: "-", Category: f.Category}); err != nil {
			return desk.DocList{}, err
		}
	}
	some := k.of(c, f)
	if p.Total {
		list.Total = len(some)
	}
	some = slices.DeleteFunc(some, func(b *abi.SkillBundle) bool { return p.After != "" && b.ID >= p.After })
	some = some[min(p.Offset, len(some)):]
	for i, b := range some {
		doc, err := describe(*b, desk.Doc{ID: b.ID})
		if err != nil {
			return desk.DocList{}, err
		}
		if list.Add(doc, p.Limit) {
			return list.End(doc.ID, i < len(some)-1), nil
		}
	}
	return list, nil
}

// SkillBundleVersions returns the versions of a bundle that are kept, newest first.
func (k *Keeper) SkillBundleVersions(_ context.Context, c *desk.Caller, id string) (abi.SkillBundleVersions, error) {
	b, err := k.find(c, id)
	if err != nil {
		return abi.SkillBundleVersions{}, err
	}
	return abi.SkillBundleVersions{SkillBundleID: id, CurrentVersion: b.Version, Versions: slices.Clone(b.Versions)}, nil
}

// OpenSkillBundle opens the zip of a version of a bundle, which the caller closes. version is that
// which is used when it is "" or "latest".
func (k *Keeper) OpenSkillBundle(ctx context.Context, c *desk.Caller, id, version string) (name string, v abi.SkillBundleVersion, zip desk.Blob, err error) {
	b, at, err := k.version(c, id, version)
	if err != nil {
		return "", abi.SkillBundleVersion{}, nil, err
	}
	zip, err = k.open(ctx, b.Name, at.Version, at.Archive)
	return b.Name, *at, zip, err
}

// SkillBundleFile returns a file of a version of a bundle, by its path within the skill.
func (k *Keeper) SkillBundleFile(ctx context.Context, c *desk.Caller, id, version, path string) ([]byte, error) {
	b, at, err := k.version(c, id, version)
	if err != nil {
		return nil, err
	}
	f, err := k.readFile(ctx, b.Name, at.Version, at.Archive, path, skillmd.Limits().FileBytes)
	if err == nil && !f.there {
		err = abi.Errorf(abi.CodeResourceNotFound, "version %s of skill %q has no file %.100q", at.Version, b.Name, path)
	}
	return f.content, err
}

func (k *Keeper) version(c *desk.Caller, id, version string) (*abi.SkillBundle, *abi.SkillBundleVersion, error) {
	b, err := k.find(c, id)
	if err != nil {
		return nil, nil, err
	}
	if version == "latest" {
		version = ""
	}
	v := kept(b, cmp.Or(version, b.Version))
	if v == nil {
		return nil, nil, errNoVersion(b, version)
	}
	return b, v, nil
}

// show shows a bundle as a write has left it.
func show(doc desk.Doc, err error) (desk.Doc, error) {
	if err != nil {
		return desk.Doc{}, err
	}
	var about abi.SkillBundle
	if err := ledger.Decode(doc.JSON, &about); err != nil {
		return desk.Doc{}, err
	}
	return describe(about, doc)
}

// describe leaves out the versions, of which there may be many.
func describe(shown abi.SkillBundle, doc desk.Doc) (desk.Doc, error) {
	shown.Versions = nil
	text, err := json.Marshal(&shown, json.Deterministic(true))
	doc.JSON = text
	return doc, err
}

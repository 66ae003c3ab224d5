package installs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/parcel"
)

// InstallPackage installs the version of a plugin that a package of so many bytes is, as
// [Keeper.InstallPlugin] does a module. Who has signed it is kept with the version.
func (k *Keeper) InstallPackage(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallPluginRequest, at io.ReaderAt, size int64) (desk.Doc, error) {
	if err := cmp.Or(k.may(c), k.check(&req)); err != nil {
		return desk.Doc{}, err
	}
	p, err := parcel.Read(at, size)
	if refused, ok := errors.AsType[*parcel.Refused](err); ok {
		return desk.Doc{}, noPackage(refused)
	}
	if err != nil {
		return desk.Doc{}, k.parts.Ledger.Failed("reading the package", err)
	}
	if err := k.trusted(p.Manifest.Name, &abi.PluginBuild{Version: p.Manifest.Version, Package: p.Digest, SignedBy: p.SignedBy()}); err != nil {
		return desk.Doc{}, err
	}
	req.Manifest = p.PluginManifest()
	return k.install(ctx, c, r, req, bytes.NewReader(p.Module), origin{p.Digest, p.SignedBy()})
}

// noPackage says what is wrong with a package, as "wharf plugin lint" does.
func noPackage(r *parcel.Refused) error {
	if len(r.Problems) > 0 {
		return badManifest(r.Problems)
	}
	return abi.InvalidParam("package", "the package cannot be used: %s", r.Reason)
}

// trusted refuses a version of a plugin that the node's policy does not let run: it has to have come in a package
// that a trusted key has signed. Without a policy every version passes.
func (k *Keeper) trusted(name string, b *abi.PluginBuild) error {
	if k.parts.Modules == nil || b == nil {
		return nil
	}
	trust := k.parts.Modules.Trust()
	if b.Package == "" && len(trust) > 0 {
		return abi.Errorf(abi.CodePolicyViolation, "%s came without a package, and plugins.trust of this node has every plugin signed: "+
			"pack and sign it (wharf plugin package FOLDER --sign KEY), and install the package", named(name, b.Version))
	}
	if err := trust.CheckSigned(named(name, b.Version), b.SignedBy); err != nil {
		return abi.Errorf(abi.CodePolicyViolation, "%v: sign it with one that is (wharf plugin package FILE --sign KEY), "+
			"or have the operator name its key in plugins.trust, and start the node again", err)
	}
	return nil
}

func named(name, version string) string {
	if version == "" {
		return "the plugin " + name
	}
	return "the plugin " + name + " " + version
}

// sign has a version know who has signed the package that it came in again, and reports whether that is news. Without a
// package it keeps what it knows.
func sign(has, again *abi.PluginBuild) bool {
	if again.Package == "" || has.Package == again.Package && slices.Equal(has.SignedBy, again.SignedBy) {
		return false
	}
	has.Package, has.SignedBy = again.Package, again.SignedBy
	return true
}

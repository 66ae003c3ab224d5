package installs_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

func signer(n byte) *receipt.Key { return receipt.NewKey(bytes.Repeat([]byte{n}, ed25519.SeedSize)) }

func publicOf(n byte) abi.SigningKey { return signer(n).Public(time.Unix(0, 0)) }

// trusting are the keys of a policy.
func trusting(keys ...byte) (all parcel.Trust) {
	for _, n := range keys {
		all = append(all, publicOf(n))
	}
	return all
}

// packed is a package of the plugin triage with a module of its own, signed by some keys.
func packed(t *testing.T, version, module string, keys ...byte) []byte {
	t.Helper()
	return packedAs(t, said(version, "module = \"m.wasm\"\n").Text, module, keys...)
}

func packedAs(t *testing.T, text, module string, keys ...byte) []byte {
	t.Helper()
	p, err := parcel.New(func(yield func(filetree.Named, error) bool) {
		_ = yield(filetree.Named{Path: "wharf.toml", Content: strings.NewReader(text)}, nil) &&
			yield(filetree.Named{Path: "m.wasm", Content: strings.NewReader(wasmOf(module))}, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range keys {
		p.Sign(signer(n))
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// forged is a package with another module under its table of contents and signatures.
func forged(t *testing.T, content []byte) []byte {
	t.Helper()
	p, err := parcel.Read(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Files {
		if p.Files[i].Path == p.ModulePath() {
			p.Files[i].Content = []byte(wasmOf("forged"))
		}
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wasmOf is what begins as a module does.
func wasmOf(module string) string { return "\x00asm" + module }

// pack installs a package.
func (h *house) pack(t *testing.T, r *desk.Retry, content []byte) (abi.Plugin, error) {
	t.Helper()
	doc, err := h.keeper.InstallPackage(t.Context(), h.Root(), r, abi.InstallPluginRequest{Name: "triage"}, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return abi.Plugin{}, err
	}
	return roomtest.As[abi.Plugin](t, doc), nil
}

func (h *house) mustPack(t *testing.T, content []byte) abi.Plugin {
	t.Helper()
	p, err := h.pack(t, nil, content)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// restart has the node start again with a policy.
func (h *house) restart(t *testing.T, keys ...byte) {
	t.Helper()
	h.loader.trust = trusting(keys...)
	h.Crash()
	h.open(t)
}

func wantUntrusted(t *testing.T, err error, words string) {
	t.Helper()
	refused := roomtest.WantCode(t, err, abi.CodePolicyViolation)
	if refused == nil || !strings.Contains(refused.Message, words) || !strings.Contains(refused.Message, "wharf plugin package") {
		t.Errorf("it says %v, want %q and what to do", err, words)
	}
}

// A package is its manifest and its module, and the version knows who has signed it.
func TestAPackageIsInstalled(t *testing.T) {
	h := newHouse(t)
	p := h.mustPack(t, packed(t, "1.0.0", "one", 2, 1))
	b := p.Versions[0]
	if p.Version != "1.0.0" || p.PersonaID != "persona_triage" || b.Package == "" || len(b.SignedBy) != 2 || p.Digest != digestOf(wasmOf("one")) {
		t.Errorf("it is %+v", p)
	}
	h.wantRuns(t, "triage", wasmOf("one"))
	kept, err := h.keeper.PluginManifest(t.Context(), h.Root(), "triage", "1.0.0")
	if err != nil || !strings.Contains(kept.Text, "1.0.0") {
		t.Errorf("%+v, %v", kept, err)
	}
	if p = h.mustPack(t, packed(t, "1.1.0", "two")); p.Version != "1.1.0" || p.Versions[1].SignedBy != nil {
		t.Errorf("without a policy one that nobody has signed is %+v", p)
	}
}

// With a policy nothing comes in that no trusted key has signed, however it comes.
func TestWhatAPolicyRefuses(t *testing.T) {
	h := newHouse(t)
	h.loader.trust = trusting(1)
	before := h.Store.Watermark()
	bare := func(version, module string, m *abi.PluginManifest) error {
		_, err := h.keeper.InstallPlugin(t.Context(), h.Root(), nil, abi.InstallPluginRequest{Name: "triage", Version: version, Manifest: m}, strings.NewReader(module))
		return err
	}
	wantUntrusted(t, bare("", "one", nil), "without a package")
	wantUntrusted(t, bare("1.0.0", "one", nil), "triage 1.0.0")
	wantUntrusted(t, bare("", "one", said("1.0.0", "")), "without a package")
	wantUntrusted(t, bare("", "broken", nil), "without a package")
	for words, content := range map[string][]byte{
		"is not signed":          packed(t, "1.0.0", "one"),
		"no such key is trusted": packed(t, "1.0.0", "one", 2, 3),
	} {
		_, err := h.pack(t, nil, content)
		wantUntrusted(t, err, words)
		if words != "is not signed" && !strings.Contains(err.Error(), publicOf(2).KeyID) {
			t.Errorf("%v does not name the key", err)
		}
	}
	signed := packed(t, "1.0.0", "one", 1)
	for about, content := range map[string][]byte{
		"a module": []byte(wasmOf("one")), "nothing": nil, "half of it": signed[:len(signed)/2],
		"another module under the signature": forged(t, signed),
	} {
		if _, err := h.pack(t, nil, content); err == nil || !strings.Contains(err.Error(), "the package cannot be used") {
			t.Errorf("%s: %v", about, err)
		}
	}
	hash, err := journal.ParseHash(digestOf("one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Content(t.Context(), h.Store.Blobs(), hash); err == nil {
		t.Error("the module of a refused install was kept")
	}
	if now := h.Store.Watermark(); now != before {
		t.Errorf("the log has %d events more", now-before)
	}
	h.wantRuns(t, "triage", "")
	if p := h.mustPack(t, packed(t, "1.0.0", "one", 2, 1)); p.Refused != "" || len(p.Versions[0].SignedBy) != 2 {
		t.Errorf("one that is trusted among others is %+v", p)
	}
	h.wantRuns(t, "triage", wasmOf("one"))
}

// Keys count by their bytes alone: not by their names, and not when they are retired.
func TestKeysThatDoNotCount(t *testing.T) {
	h := newHouse(t)
	renamed, retired := publicOf(1), publicOf(2)
	renamed.KeyID = publicOf(3).KeyID
	retired.RetiredAt = abi.At(time.Unix(1, 0))
	raw, err := base64.StdEncoding.DecodeString(publicOf(4).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	other := publicOf(4)
	other.PublicKey = base64.URLEncoding.EncodeToString(raw) + " "
	h.loader.trust = parcel.Trust{renamed, retired, other}
	for _, n := range []byte{2, 3, 4} {
		_, err := h.pack(t, nil, packed(t, "1.0.0", "one", n))
		wantUntrusted(t, err, "no such key is trusted")
	}
	h.mustPack(t, packed(t, "1.0.0", "one", 1))
}

// Who may not install learns nothing of a package, and the path's name is the plugin's.
func TestWhoInstallsPackages(t *testing.T) {
	h := newHouse(t)
	content := packed(t, "1.0.0", "one", 1)
	for name, c := range map[string]*desk.Caller{"an administrator of the tenant": h.With(abi.ScopeAdmin, "personas:write"), "a key that is bound to a workspace": h.Bound(roomtest.Workspace)} {
		_, err := h.keeper.InstallPackage(t.Context(), c, nil, abi.InstallPluginRequest{Name: "triage"}, failingAt{t}, int64(len(content)))
		if err == nil || roomtest.WantCode(t, err, abi.CodePermissionDenied) == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	try := func(req abi.InstallPluginRequest, content []byte) error {
		_, err := h.keeper.InstallPackage(t.Context(), h.Root(), nil, req, bytes.NewReader(content), int64(len(content)))
		return err
	}
	roomtest.WantParam(t, try(abi.InstallPluginRequest{Name: "other"}, content), "manifest")
	roomtest.WantParam(t, try(abi.InstallPluginRequest{Name: "triage", Version: "2.0.0"}, content), "version")
	roomtest.WantCode(t, try(abi.InstallPluginRequest{Name: "echo"}, content), abi.CodeConflict)
	echo := "name = \"echo\"\nversion = \"1.0.0\"\nkind = \"persona\"\nmodule = \"m.wasm\"\n"
	roomtest.WantParam(t, try(abi.InstallPluginRequest{Name: "triage"}, packedAs(t, echo, "one", 1)), "manifest")
}

type failingAt struct{ t *testing.T }

func (f failingAt) ReadAt([]byte, int64) (int, error) {
	f.t.Error("a package was read of somebody who may not install")
	return 0, nil
}

// A policy that comes later holds for what is there: it is not run, and not switched to, until a trusted key has signed it.
func TestWhatCameBeforeThePolicy(t *testing.T) {
	h := newHouse(t)
	ctx, root := t.Context(), h.Root()
	h.install(t, "plain", "", "plain")
	h.mustPack(t, packed(t, "1.0.0", "one", 1))
	h.mustPack(t, packed(t, "1.1.0", "two", 2))
	h.mustPack(t, packed(t, "1.2.0", "three"))
	h.restart(t, 1)
	h.wantRuns(t, "plain", "")
	h.wantRuns(t, "triage", "")
	for _, p := range h.keeper.Plugins(ctx, root).Data {
		if p.Status != abi.PluginEnabled || !strings.Contains(p.Refused, "wharf plugin package") {
			t.Errorf("%s is %s, and refused for %q", p.Name, p.Status, p.Refused)
		}
	}
	_, known, err := h.keeper.Installed("plain")
	if !known || err == nil || !strings.Contains(err.Error(), "plugins.trust") {
		t.Errorf("a task is told %v", err)
	}
	_, err = h.keeper.EnablePlugin(ctx, root, nil, "plain")
	wantUntrusted(t, err, "without a package")
	for version, words := range map[string]string{"": "no such key is trusted", "1.1.0": "no such key is trusted", "1.2.0": "is not signed"} {
		_, err := h.keeper.RollbackPlugin(ctx, root, nil, "triage", abi.RollbackPluginRequest{Version: version})
		wantUntrusted(t, err, words)
	}
	if _, err := h.keeper.RollbackPlugin(ctx, root, nil, "triage", abi.RollbackPluginRequest{Version: "1.0.0"}); err != nil {
		t.Fatal(err)
	}
	h.wantRuns(t, "triage", wasmOf("one"))
	if p, err := h.keeper.Plugin(ctx, root, "triage"); err != nil || p.Refused != "" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = h.keeper.RollbackPlugin(ctx, root, nil, "triage", abi.RollbackPluginRequest{}) // the one before is 1.2.0 now
	wantUntrusted(t, err, "is not signed")
	// What is not trusted can be disabled, and is not enabled again.
	if _, err := h.keeper.DisablePlugin(ctx, root, nil, "plain"); err != nil {
		t.Error(err)
	}
	_, err = h.keeper.EnablePlugin(ctx, root, nil, "plain")
	wantUntrusted(t, err, "without a package")
	if err := h.keeper.RemovePlugin(ctx, root, nil, "plain", false); err != nil {
		t.Error(err)
	}
	h.restart(t, 2) // another key: nothing that it has signed is switched to
	h.wantRuns(t, "triage", "")
	h.restart(t)
	h.wantRuns(t, "triage", wasmOf("one"))
}

// A version is signed afterwards by the same module and manifest in a signed package.
func TestSignedAfterwards(t *testing.T) {
	h := newHouse(t)
	h.mustSend(t, wasmOf("one"), said("1.0.0", "module = \"m.wasm\"\n"))
	h.restart(t, 1)
	h.wantRuns(t, "triage", "")
	p := h.mustPack(t, packed(t, "1.0.0", "one", 1))
	if p.Version != "1.0.0" || len(p.Versions) != 1 || len(p.Versions[0].SignedBy) != 1 {
		t.Errorf("it is %+v", p)
	}
	h.wantRuns(t, "triage", wasmOf("one"))
	before := h.Store.Watermark()
	h.mustPack(t, packed(t, "1.0.0", "one", 1))
	if now := h.Store.Watermark(); now != before {
		t.Errorf("the same again makes %d events", now-before)
	}
	h.restart(t)
	if p := h.mustSend(t, wasmOf("one"), said("1.0.0", "module = \"m.wasm\"\n")); len(p.Versions[0].SignedBy) != 1 {
		t.Errorf("the module alone takes its signature: %+v", p)
	}
	h.mustPack(t, packed(t, "1.0.0", "one", 2))
	h.restart(t, 1) // who has signed it last counts
	h.wantRuns(t, "triage", "")
	h.restart(t, 2)
	h.wantRuns(t, "triage", wasmOf("one"))
}

// A retry of an install is judged by the signatures, too: an answer of before is none for another package.
func TestRetriesOfPackages(t *testing.T) {
	h := newHouse(t)
	first, err := h.pack(t, roomtest.Retry("k", ""), packed(t, "1.0.0", "one", 1))
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.pack(t, roomtest.Retry("k", ""), packed(t, "1.0.0", "one", 1))
	if err != nil || again.UpdatedAt != first.UpdatedAt {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = h.pack(t, roomtest.Retry("k", ""), packed(t, "1.0.0", "one", 1, 2))
	roomtest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
	h.restart(t, 2)
	_, err = h.pack(t, roomtest.Retry("k", ""), packed(t, "1.0.0", "one", 1))
	wantUntrusted(t, err, "no such key is trusted")
}

// Of many packages at once, with a module among them that nobody has signed, new Tasks run a trusted one.
func TestManyPackagesAtOnce(t *testing.T) {
	h := newHouse(t)
	h.loader.trust = trusting(1)
	var all sync.WaitGroup
	for _, module := range []string{"a", "b", "c", "d"} {
		good, bad := packed(t, "1.0."+string(module[0]-'a'+'0'), module, 1), packed(t, "2.0."+string(module[0]-'a'+'0'), module, 2)
		all.Go(func() {
			if _, err := h.pack(t, nil, good); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := h.pack(t, nil, bad); err == nil {
				t.Error("one of another key was installed")
			}
		})
	}
	all.Wait()
	p, err := h.keeper.Plugin(t.Context(), h.Root(), "triage")
	if err != nil || len(p.Versions) != 4 || !strings.HasPrefix(p.Version, "1.0.") {
		t.Errorf("%q, %v", versions(p), err)
	}
}

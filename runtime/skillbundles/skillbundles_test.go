package skillbundles_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/skillbundles"
	"github.com/wharf-dev/wharf/runtime/skillmd"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

type room struct {
	*roomtest.House
	*skillbundles.Keeper
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.furnish(t)
	return r
}

// furnish begins a life of the node.
func (r *room) furnish(t testing.TB) {
	t.Helper()
	r.Keeper = skillbundles.NewKeeper(skillbundles.Parts{Parts: r.Parts, MostTold: 1000})
	if err := r.LoadSkillBundles(t.Context(), []*abi.Tenant{{Number: uint32(roomtest.Tenant)}}); err != nil {
		t.Fatal(err)
	}
}

// skill returns the files of a skill. version is "" for one that states none.
func skill(t testing.TB, name, version string, more ...string) *filetree.Tree {
	t.Helper()
	front := "---\nname: " + name + "\ndescription: Does " + name + " " + version + ".\nmetadata:\n  author: Ada\n"
	if version != "" {
		front += "  version: \"" + version + "\"\n"
	}
	pairs := append([]string{name + "/SKILL.md", front + "---\nDo it.\n"}, more...)
	tree, err := filetree.ReadFiles(func(yield func(filetree.Named, error) bool) {
		for pair := range slices.Chunk(pairs, 2) {
			if !yield(filetree.Named{Path: pair[0], Content: strings.NewReader(pair[1])}, nil) {
				return
			}
		}
	}, skillmd.Limits())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func (r *room) install(t testing.TB, files *filetree.Tree) abi.SkillBundle {
	t.Helper()
	doc, err := r.InstallSkillBundle(t.Context(), r.Root(), nil, abi.InstallSkillBundleRequest{WorkspaceID: roomtest.Workspace}, files)
	if err != nil {
		t.Fatal(err)
	}
	return roomtest.As[abi.SkillBundle](t, doc)
}

func (r *room) upgrade(t testing.TB, id string, files *filetree.Tree) (abi.SkillBundle, string, error) {
	t.Helper()
	doc, previous, err := r.UpgradeSkillBundle(t.Context(), r.Root(), nil, id, abi.UpgradeSkillBundleRequest{Changelog: "better"}, files)
	if err != nil {
		return abi.SkillBundle{}, "", err
	}
	return roomtest.As[abi.SkillBundle](t, doc), previous, nil
}

func (r *room) versions(t testing.TB, id string) (all string) {
	t.Helper()
	v, err := r.SkillBundleVersions(t.Context(), r.Root(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range v.Versions {
		all += " " + one.Version
	}
	return v.CurrentVersion + ":" + all
}

// What is installed can be had back, version by version, also after the node has died.
func TestVersionsOfASkill(t *testing.T) {
	r := newRoom(t)
	b := r.install(t, skill(t, "pdf", "1.2.0", "pdf/lib/a.py", "one"))
	if b.Name != "pdf" || b.Version != "1.2.0" || b.DisplayTitle != "pdf" || b.Category != abi.SkillUser || b.Vendor != "Ada" || b.Versions != nil {
		t.Errorf("it is %+v", b)
	}
	up, previous, err := r.upgrade(t, b.ID, skill(t, "pdf", "", "pdf/lib/a.py", "two"))
	if err != nil || up.Version != "1.3.0" || previous != "1.2.0" || up.Changelog != "better" || up.Digest == b.Digest || up.ID != b.ID {
		t.Errorf("the upgrade is %+v from %s, %v", up, previous, err)
	}
	doc, previous, err := r.RollbackSkillBundle(t.Context(), r.Root(), nil, b.ID, abi.RollbackSkillBundleRequest{Version: "1.2.0"})
	if err != nil || previous != "1.3.0" || roomtest.As[abi.SkillBundle](t, doc).Digest != b.Digest {
		t.Errorf("the rollback is %s from %s, %v", doc.JSON, previous, err)
	}
	for range 2 {
		if got := r.versions(t, b.ID); got != "1.2.0: 1.3.0 1.2.0" {
			t.Errorf("the versions are %s", got)
		}
		for version, want := range map[string]string{"": "one", "latest": "one", "1.2.0": "one", "1.3.0": "two"} {
			content, err := r.SkillBundleFile(t.Context(), r.Root(), b.ID, version, "lib/a.py")
			if err != nil || string(content) != want {
				t.Errorf("version %q has %q, %v", version, content, err)
			}
		}
		name, v, archive, err := r.OpenSkillBundle(t.Context(), r.Root(), b.ID, "1.3.0")
		if err != nil || name != "pdf" || v.Version != "1.3.0" {
			t.Fatal(name, v, err)
		}
		tree, err := filetree.ReadZip(archive, archive.Size(), skillmd.Limits())
		if err = errors.Join(err, archive.Close()); err != nil || tree.Root != "pdf" || skillmd.Check(tree).Skill.Digest != up.Digest {
			t.Errorf("the zip has %+v, %v", tree, err)
		}
		r.Crash()
		r.furnish(t)
	}
	if kinds := r.Kinds(t, desk.Filter{WorkspaceID: roomtest.Workspace}); !slices.Equal(kinds[len(kinds)-3:], slices.Repeat([]abi.EventKind{abi.EventSkillInstalled}, 3)) {
		t.Errorf("the events are %v", kinds)
	}
}

// A version names one set of files, and each that is installed is above the one that is used.
func TestVersionsIncrease(t *testing.T) {
	r := newRoom(t)
	b := r.install(t, skill(t, "pdf", "1.0.0"))
	if _, _, err := r.upgrade(t, b.ID, skill(t, "pdf", "2.0.0")); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1.9.9", "2.0.0", "2.0.0-rc.1", "2.0.0+other"} {
		_, _, err := r.upgrade(t, b.ID, skill(t, "pdf", version))
		roomtest.WantCode(t, err, abi.CodeConflict)
	}
	_, _, err := r.upgrade(t, b.ID, skill(t, "another", "3.0.0"))
	roomtest.WantParam(t, err, "files")
	rollback := func(version string) error {
		_, _, err := r.RollbackSkillBundle(t.Context(), r.Root(), nil, b.ID, abi.RollbackSkillBundleRequest{Version: version})
		return err
	}
	roomtest.WantCode(t, rollback("3.0.0"), abi.CodeResourceNotFound)
	roomtest.WantCode(t, rollback("2.0.0"), abi.CodeConflict)
	roomtest.WantParam(t, rollback(""), "version")
	if err := rollback("1.0.0"); err != nil {
		t.Fatal(err)
	}
	_, _, err = r.upgrade(t, b.ID, skill(t, "pdf", "2.0.0", "pdf/new.md", "x"))
	roomtest.WantCode(t, err, abi.CodeConflict)
	if up, _, err := r.upgrade(t, b.ID, skill(t, "pdf", "1.0.1")); err != nil || up.Version != "1.0.1" {
		t.Errorf("a fix of the version that is used: %+v, %v", up, err)
	}
	if up, _, err := r.upgrade(t, b.ID, skill(t, "pdf", "")); err != nil || up.Version != "2.1.0" {
		t.Errorf("files without a version: %+v, %v", up, err)
	}
}

// The oldest versions go, but not the one that is used.
func TestVersionsAreBounded(t *testing.T) {
	r := newRoom(t)
	b := r.install(t, skill(t, "pdf", "1.0.0"))
	for range skillbundles.MaxVersions {
		if _, _, err := r.upgrade(t, b.ID, skill(t, "pdf", "")); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Fields(r.versions(t, b.ID))[1:]
	if len(got) != skillbundles.MaxVersions || got[0] != "1.50.0" || got[len(got)-1] != "1.1.0" {
		t.Errorf("%d versions are kept: %v", len(got), got)
	}
	_, err := r.SkillBundleFile(t.Context(), r.Root(), b.ID, "1.0.0", "SKILL.md")
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
}

// Of what is refused nothing is kept, and whoever sent it learns where it is wrong.
func TestNothingIsKeptOfWhatIsRefused(t *testing.T) {
	r := newRoom(t)
	bad := skill(t, "pdf", "1.0.0")
	bad.Files[0].Content = []byte("---\nname: pdf\ndescription: d\nname: other\n---\nx\n")
	_, err := r.InstallSkillBundle(t.Context(), r.Root(), nil, abi.InstallSkillBundleRequest{WorkspaceID: roomtest.Workspace}, bad)
	told := roomtest.WantCode(t, err, abi.CodeInvalidRequest)
	invalid, ok := errors.AsType[*skillbundles.InvalidError](err)
	if !ok || invalid.Report.Valid || !strings.HasPrefix(told.Message, "SKILL.md:4: KEY_DUPLICATE: ") || !strings.Contains(string(told.Details), `"KEY_DUPLICATE"`) {
		t.Errorf("it is told %+v", told)
	}
	_, err = filetree.ReadZip(bytes.NewReader([]byte("no zip")), 6, skillmd.Limits())
	if err := roomtest.WantCode(t, skillbundles.Refused(err), abi.CodeInvalidRequest); !strings.HasPrefix(err.Message, "NO_ARCHIVE: ") {
		t.Errorf("it is told %+v", err)
	}
	if err := skillbundles.Refused(io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("what failed otherwise is %v", err)
	}
	long := func(n int) string { return strings.Repeat("ä", n) }
	for name, c := range map[string]struct {
		req   abi.InstallSkillBundleRequest
		param string
	}{
		"title":       {abi.InstallSkillBundleRequest{DisplayTitle: long(101)}, "display_title"},
		"blank title": {abi.InstallSkillBundleRequest{DisplayTitle: " "}, "display_title"},
		"category":    {abi.InstallSkillBundleRequest{Category: "other"}, "category"},
		"changelog":   {abi.InstallSkillBundleRequest{Changelog: long(1001)}, "changelog"},
		"metadata":    {abi.InstallSkillBundleRequest{Metadata: []byte("7")}, "metadata"},
	} {
		c.req.WorkspaceID = roomtest.Workspace
		if _, err := r.InstallSkillBundle(t.Context(), r.Root(), nil, c.req, skill(t, "pdf", "")); err == nil {
			t.Errorf("%s: it is installed", name)
		} else {
			roomtest.WantParam(t, err, c.param)
		}
	}
	_, err = r.InstallSkillBundle(t.Context(), r.Root(), nil, abi.InstallSkillBundleRequest{}, skill(t, "pdf", ""))
	roomtest.WantParam(t, err, "workspace_id")
	_, err = r.InstallSkillBundle(t.Context(), r.Root(), nil, abi.InstallSkillBundleRequest{WorkspaceID: roomtest.Workspace}, skill(t, "pdf", "1.0.0-"+strings.Repeat("a", 60)))
	roomtest.WantParam(t, err, "files")

	b := r.install(t, skill(t, "pdf", ""))
	_, err = r.InstallSkillBundle(t.Context(), r.Root(), nil, abi.InstallSkillBundleRequest{WorkspaceID: roomtest.Workspace}, skill(t, "pdf", "9.0.0", "pdf/canary.md", "canary"))
	roomtest.WantCode(t, err, abi.CodeConflict)
	if _, _, err = r.upgrade(t, b.ID, skill(t, "pdf", "0.9.0", "pdf/canary.md", "canary")); err == nil {
		t.Error("a lower version is installed")
	}
	for name, files := range map[string]*filetree.Tree{"invalid": bad, "taken": skill(t, "pdf", "9.0.0", "pdf/canary.md", "canary"), "lower": skill(t, "pdf", "0.9.0", "pdf/canary.md", "canary")} {
		if r.stored(t, files) {
			t.Errorf("%s: its files are stored", name)
		}
	}
	if !r.stored(t, skill(t, "pdf", "")) {
		t.Error("what was installed is not stored")
	}
}

// stored reports whether the archive of files is stored.
func (r *room) stored(t testing.TB, files *filetree.Tree) bool {
	t.Helper()
	var archive bytes.Buffer
	if err := files.WriteZip(&archive, "pdf"); err != nil {
		t.Fatal(err)
	}
	blob, err := r.Store.Blobs().Open(t.Context(), storage.Hash(sha256.Sum256(archive.Bytes())))
	if err != nil {
		return false
	}
	return blob.Close() == nil
}

// Two that install one name at once: one does, and the other is told.
func TestOneNameInAWorkspace(t *testing.T) {
	r := newRoom(t)
	r.NewWorkspace(t, "ws_other")
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		files := skill(t, "pdf", fmt.Sprintf("1.0.%d", i))
		group.Go(func() {
			_, errs[i] = r.InstallSkillBundle(context.Background(), r.Root(), nil, abi.InstallSkillBundleRequest{WorkspaceID: roomtest.Workspace}, files)
		})
	}
	group.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
		} else {
			roomtest.WantCode(t, err, abi.CodeConflict)
		}
	}
	list, err := r.SkillBundles(t.Context(), r.Root(), skillbundles.Filter{}, desk.Page{Limit: 10})
	if err != nil || done != 1 || len(list.Docs) != 1 {
		t.Errorf("%d have installed it, there are %d, %v", done, len(list.Docs), err)
	}
	if _, err := r.InstallSkillBundle(t.Context(), r.Root(), nil, abi.InstallSkillBundleRequest{WorkspaceID: "ws_other"}, skill(t, "pdf", "")); err != nil {
		t.Error("in another workspace the name is free:", err)
	}
}

// Upgrades at once come one after the other: no version is lost.
func TestUpgradesAtOnce(t *testing.T) {
	r := newRoom(t)
	b := r.install(t, skill(t, "pdf", "1.0.0"))
	var group sync.WaitGroup
	for range 8 {
		files := skill(t, "pdf", "")
		group.Go(func() {
			if _, _, err := r.UpgradeSkillBundle(context.Background(), r.Root(), nil, b.ID, abi.UpgradeSkillBundleRequest{}, files); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := r.versions(t, b.ID); !strings.HasPrefix(got, "1.8.0: 1.8.0 1.7.0") || len(strings.Fields(got)) != 10 {
		t.Errorf("the versions are %s", got)
	}
}

// A write that is sent again is made once, and answered as it was.
func TestRetries(t *testing.T) {
	r := newRoom(t)
	var first abi.SkillBundle
	for i := range 2 {
		doc, err := r.InstallSkillBundle(t.Context(), r.Root(), roomtest.Retry("k1", "zip"), abi.InstallSkillBundleRequest{WorkspaceID: roomtest.Workspace}, skill(t, "pdf", "1.0.0"))
		if err != nil || doc.Replayed != (i > 0) {
			t.Fatal(doc.Replayed, err)
		}
		got := roomtest.As[abi.SkillBundle](t, doc)
		if i == 0 {
			first = got
		}
		if got.ID != first.ID || got.Versions != nil {
			t.Errorf("it is %+v, and was %+v", got, first)
		}
	}
	_, err := r.InstallSkillBundle(t.Context(), r.Root(), roomtest.Retry("k1", "zip"), abi.InstallSkillBundleRequest{WorkspaceID: roomtest.Workspace}, skill(t, "other", "1.0.0"))
	roomtest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
	for i := range 2 {
		doc, previous, err := r.UpgradeSkillBundle(t.Context(), r.Root(), roomtest.Retry("k2", ""), first.ID, abi.UpgradeSkillBundleRequest{}, skill(t, "pdf", ""))
		if err != nil || previous != "1.0.0" || roomtest.As[abi.SkillBundle](t, doc).Version != "1.1.0" || doc.Replayed != (i > 0) {
			t.Errorf("%s from %s, %v", doc.JSON, previous, err)
		}
		if i == 0 { // what happened since does not count
			if _, _, err := r.upgrade(t, first.ID, skill(t, "pdf", "5.0.0")); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2 {
		if err := r.UninstallSkillBundle(t.Context(), r.Root(), roomtest.Retry("k3", ""), first.ID); err != nil {
			t.Error(err)
		}
	}
	if err := r.UninstallSkillBundle(t.Context(), r.Root(), nil, first.ID); err == nil {
		t.Error("it is gone twice")
	}
}

// What is in a Workspace is not there for those who have no part in it.
func TestStrangers(t *testing.T) {
	r := newRoom(t)
	b := r.install(t, skill(t, "pdf", "1.0.0"))
	for name, c := range r.Strangers() {
		list, err := r.SkillBundles(t.Context(), c, skillbundles.Filter{WorkspaceID: roomtest.Workspace}, desk.Page{Limit: 10, Total: true})
		if err != nil || len(list.Docs) > 0 || list.Total != 0 {
			t.Errorf("%s: lists %d of %d, %v", name, len(list.Docs), list.Total, err)
		}
		_, get := r.SkillBundle(t.Context(), c, b.ID)
		_, versions := r.SkillBundleVersions(t.Context(), c, b.ID)
		_, _, _, open := r.OpenSkillBundle(t.Context(), c, b.ID, "")
		_, file := r.SkillBundleFile(t.Context(), c, b.ID, "", "SKILL.md")
		_, install := r.InstallSkillBundle(t.Context(), c, nil, abi.InstallSkillBundleRequest{WorkspaceID: roomtest.Workspace}, skill(t, "x", ""))
		_, update := r.UpdateSkillBundle(t.Context(), c, nil, b.ID, abi.UpdateSkillBundleRequest{})
		_, _, upgrade := r.UpgradeSkillBundle(t.Context(), c, nil, b.ID, abi.UpgradeSkillBundleRequest{}, skill(t, "pdf", ""))
		_, _, rollback := r.RollbackSkillBundle(t.Context(), c, nil, b.ID, abi.RollbackSkillBundleRequest{Version: "1.0.0"})
		for _, err := range []error{get, versions, open, file, install, update, upgrade, rollback, r.UninstallSkillBundle(t.Context(), c, nil, b.ID)} {
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		}
	}
	if got := r.versions(t, b.ID); got != "1.0.0: 1.0.0" {
		t.Errorf("they have changed it: %s", got)
	}
}

func TestListsOfSkills(t *testing.T) {
	r := newRoom(t)
	var ids []string
	for i := range 5 {
		b := r.install(t, skill(t, fmt.Sprintf("s%d", i), ""))
		ids = append(ids, b.ID)
	}
	slices.Reverse(ids)
	organization, title := abi.SkillOrganization, "Renamed"
	doc, err := r.UpdateSkillBundle(t.Context(), r.Root(), nil, ids[1], abi.UpdateSkillBundleRequest{Category: &organization, DisplayTitle: &title, Metadata: []byte(`{"a":1}`)})
	if b := roomtest.As[abi.SkillBundle](t, doc); err != nil || b.Category != organization || b.DisplayTitle != title || b.Version != "1.0.0" || string(b.Metadata) != `{"a":1}` {
		t.Errorf("it is %s, %v", doc.JSON, err)
	}
	empty := ""
	_, err = r.UpdateSkillBundle(t.Context(), r.Root(), nil, ids[1], abi.UpdateSkillBundleRequest{DisplayTitle: &empty})
	roomtest.WantParam(t, err, "display_title")
	_, err = r.SkillBundles(t.Context(), r.Root(), skillbundles.Filter{Category: "other"}, desk.Page{Limit: 10})
	roomtest.WantParam(t, err, "category")
	for name, c := range map[string]struct {
		f     skillbundles.Filter
		p     desk.Page
		want  []string
		total int
	}{
		"all":            {skillbundles.Filter{}, desk.Page{Limit: 10, Total: true}, ids, 5},
		"after":          {skillbundles.Filter{}, desk.Page{Limit: 2, After: ids[1]}, ids[2:4], 0},
		"offset":         {skillbundles.Filter{WorkspaceID: roomtest.Workspace}, desk.Page{Limit: 2, Offset: 4, Total: true}, ids[4:], 5},
		"offset beyond":  {skillbundles.Filter{}, desk.Page{Limit: 2, Offset: 9, Total: true}, nil, 5},
		"by category":    {skillbundles.Filter{Category: organization}, desk.Page{Limit: 2, Total: true}, ids[1:2], 1},
		"of another one": {skillbundles.Filter{WorkspaceID: "ws_other"}, desk.Page{Limit: 2, Total: true}, nil, 0},
	} {
		list, err := r.SkillBundles(t.Context(), r.Root(), c.f, c.p)
		var got []string
		for _, doc := range list.Docs {
			got = append(got, doc.ID)
		}
		if err != nil || !slices.Equal(got, c.want) || list.Total != c.total || list.More != (len(c.want) == c.p.Limit && c.want[len(c.want)-1] != ids[4] && c.f.Category == "") {
			t.Errorf("%s: %v of %d, more %v, %v", name, got, list.Total, list.More, err)
		}
	}
}

func TestABoundOfSkills(t *testing.T) {
	r := newRoom(t)
	for i := range skillbundles.MaxBundles {
		r.install(t, skill(t, fmt.Sprintf("s%d", i), ""))
	}
	_, err := r.InstallSkillBundle(t.Context(), r.Root(), nil, abi.InstallSkillBundleRequest{WorkspaceID: roomtest.Workspace}, skill(t, "more", ""))
	roomtest.WantCode(t, err, abi.CodeConflict)
}

// agent states a Persona that is an agent with skills.
func (r *room) agent(t testing.TB, id, state string) {
	t.Helper()
	r.State(t, roomtest.Workspace, "", abi.EventPersonaCreated, abi.ObjectPersona, id, jsontext.Value(state))
}

// A skill that an agent names is not taken away; one that was deleted, or is of another Workspace, counts for nothing.
func TestAgentsKeepSkills(t *testing.T) {
	r := newRoom(t)
	b := r.install(t, skill(t, "pdf", ""))
	r.agent(t, "persona_gone", `{"id":"persona_gone","deleted_at":"2026-01-01T00:00:00Z","agent":{"skills":[{"name":"pdf"}]}}`)
	r.agent(t, "persona_plain", `{"id":"persona_plain","skills":[{"name":"pdf"}]}`)
	r.agent(t, "persona_a", `{"id":"persona_a","agent":{"skills":[{"name":"other"},{"name":"pdf"}]}}`)
	refused := roomtest.WantCode(t, r.UninstallSkillBundle(t.Context(), r.Root(), nil, b.ID), abi.CodeConflict)
	if !strings.Contains(refused.Message, "take it from persona_a first") {
		t.Errorf("it is told %q", refused.Message)
	}
	r.agent(t, "persona_a", `{"id":"persona_a","agent":{"skills":[{"name":"other"}]}}`)
	if err := r.UninstallSkillBundle(t.Context(), r.Root(), nil, b.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := r.SkillBundle(t.Context(), r.Root(), b.ID)
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		r.Crash()
		r.furnish(t)
	}
	if again := r.install(t, skill(t, "pdf", "")); again.ID == b.ID || r.versions(t, again.ID) != "1.0.0: 1.0.0" {
		t.Errorf("installed again it is %+v", again)
	}
	kinds := r.Kinds(t, desk.Filter{WorkspaceID: roomtest.Workspace})
	if !slices.Equal(kinds[len(kinds)-2:], []abi.EventKind{abi.EventSkillUninstalled, abi.EventSkillInstalled}) {
		t.Errorf("the events are %v", kinds)
	}
}

// A Task has what is installed and what its Session, its agent or it itself names.
func TestSkillsOfATask(t *testing.T) {
	r := newRoom(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		r.install(t, skill(t, name, "1.0.0"))
	}
	b := r.install(t, skill(t, "old", "1.0.0"))
	if _, _, err := r.upgrade(t, b.ID, skill(t, "old", "2.0.0")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		session, run []string
		persona      string
		want         string
	}{
		"nobody names any":   {nil, nil, `{"id":"p"}`, ""},
		"each":               {[]string{"c"}, []string{"a"}, `{"agent":{"skills":[{"name":"b"}]}}`, "a 1.0.0, b 1.0.0, c 1.0.0"},
		"the same":           {[]string{"a"}, []string{"a"}, `{"agent":{"skills":[{"name":"a","version":"1.0.0"}]}}`, "a 1.0.0"},
		"none is installed":  {[]string{"x"}, []string{"y"}, `{"agent":{"skills":[{"name":"z"}]}}`, ""},
		"an agent's version": {[]string{"old"}, nil, `{"agent":{"skills":[{"name":"old","version":"1.0.0"}]}}`, "old 1.0.0"},
		"a version gone":     {nil, nil, `{"agent":{"skills":[{"name":"old","version":"0.1.0"}]}}`, "old 2.0.0"},
		"by its id":          {[]string{b.ID}, []string{"old", b.ID}, `{}`, "old 2.0.0"},
		"the newest":         {nil, []string{"old"}, `{}`, "old 2.0.0"},
	} {
		task := r.Task()
		if c.run != nil {
			task.Run = &abi.RunOptions{Skills: c.run}
		}
		has, err := r.SkillsFor(roomtest.Tenant, task, c.session, []byte(c.persona))
		var got []string
		for _, s := range has {
			got = append(got, s.Name+" "+s.Version)
		}
		if text := strings.Join(got, ", "); err != nil || text != c.want {
			t.Errorf("%s: %s, want %s, %v", name, text, c.want, err)
		}
	}
	task := r.Task()
	task.WorkspaceID = "ws_other"
	if has, err := r.SkillsFor(roomtest.Tenant, task, []string{"a"}, []byte(`{}`)); err != nil || has != nil {
		t.Errorf("in another workspace it has %v, %v", has, err)
	}
}

func TestSkillNames(t *testing.T) {
	r := newRoom(t)
	var many []string
	for i := range 33 {
		name := fmt.Sprintf("s%d", i)
		r.install(t, skill(t, name, ""))
		many = append(many, name)
	}
	for name, c := range map[string]struct {
		names []string
		ok    bool
	}{"none": {nil, true}, "most": {many[:32], true}, "too many": {many, false}, "twice": {[]string{"s1", "s1"}, false}, "unknown": {[]string{"s1", "x"}, false}} {
		if err := r.CheckSkillNames(roomtest.Tenant, roomtest.Workspace, c.names); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		err := r.CheckRunSkills(roomtest.Tenant, roomtest.Workspace, &abi.RunOptions{Skills: c.names})
		if !c.ok {
			roomtest.WantParam(t, err, "run.skills")
		}
	}
	if err := r.CheckRunSkills(roomtest.Tenant, roomtest.Workspace, nil); err != nil {
		t.Error(err)
	}
}

// A plugin reads the files of the version that its Task was given, whatever became of the skill.
func TestReadingASkill(t *testing.T) {
	r := newRoom(t)
	b := r.install(t, skill(t, "pdf", "1.0.0", "pdf/lib/a.py", "one", "pdf/assets/i.png", "\x00\x01", "pdf/long.txt", strings.Repeat("x", 1001), "pdf/just.txt", strings.Repeat("x", 1000)))
	task := r.Task()
	task.Run = &abi.RunOptions{Skills: []string{"pdf"}}
	has, err := r.SkillsFor(roomtest.Tenant, task, nil, []byte(`{}`))
	if err != nil || len(has) != 1 {
		t.Fatal(has, err)
	}
	if _, _, err := r.upgrade(t, b.ID, skill(t, "pdf", "2.0.0")); err != nil {
		t.Fatal(err)
	}
	if err := r.UninstallSkillBundle(t.Context(), r.Root(), nil, b.ID); err != nil {
		t.Fatal(err)
	}
	ask := func(request string) (abi.CallSkillReadAnswer, error) {
		a, err := r.HostCalls()[abi.CallSkillRead](t.Context(), &hostcall.Call{Run: &roomtest.Run{Has: has}, Tenant: roomtest.Tenant, Task: task, Request: []byte(request)})
		var answer abi.CallSkillReadAnswer
		if err == nil {
			err = json.Unmarshal(a.JSON, &answer)
		}
		return answer, err
	}
	answer, err := ask(`{"skill":"pdf"}`)
	if err != nil || !strings.Contains(answer.Text, "Does pdf 1.0.0.") || answer.Version != "1.0.0" || answer.Path != "SKILL.md" ||
		strings.Join(answer.Files, " ") != "assets/i.png just.txt lib/a.py long.txt" {
		t.Errorf("SKILL.md is %+v, %v", answer, err)
	}
	if answer, err = ask(`{"skill":"pdf","path":"lib/a.py"}`); err != nil || answer.Text != "one" || answer.Files != nil {
		t.Errorf("a file is %+v, %v", answer, err)
	}
	if answer, err = ask(`{"skill":"pdf","path":"just.txt"}`); err != nil || len(answer.Text) != 1000 {
		t.Errorf("a file of the most there is has %d bytes, %v", len(answer.Text), err)
	}
	for request, want := range map[string]string{
		`{"skill":"other"}`:                       `unknown_skill: this task has no skill "other"; it has pdf`,
		`{"skill":"pdf","path":"x"}`:              `unknown_file: the skill "pdf" has no file "x"; it has SKILL.md, assets/i.png, just.txt, lib/a.py, long.txt`,
		`{"skill":"pdf","path":"../pdf/x"}`:       `unknown_file`,
		`{"skill":"pdf","path":"pdf/SKILL.md"}`:   `unknown_file`,
		`{"skill":"pdf","path":"assets/i.png"}`:   `no_text: "assets/i.png" is no text`,
		`{"skill":"pdf","path":"long.txt"}`:       `payload_too_large: "long.txt" has more than 1000 bytes`,
		`{"skill":7}`:                             `invalid_request`,
		`{"skill":"pdf","path":"SKILL.md/other"}`: `unknown_file`,
	} {
		_, err := ask(request)
		refused, ok := errors.AsType[*provider.Refusal](err)
		if !ok || !strings.HasPrefix(refused.Code+": "+refused.Message, want) {
			t.Errorf("%s: %v, want %s", request, err, want)
		}
	}
}

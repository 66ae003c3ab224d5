package installs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/installs"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/storage/memory"
)

// loader loads every module but those that are called broken.
type loader struct {
	mu    sync.Mutex
	left  []string
	tried func(digest string)
	set   map[string]string // by PLUGIN.NAME
	trust parcel.Trust
}

func (l *loader) Trust() parcel.Trust { return l.trust }

func (l *loader) Setting(plugin, name string) jsontext.Value {
	if v, ok := l.set[plugin+"."+name]; ok {
		return jsontext.Value(v)
	}
	return nil
}

func (l *loader) Try(_ context.Context, digest string) (installs.Loaded, error) {
	if l.tried != nil {
		l.tried(digest)
	}
	if digest == digestOf("broken") {
		return installs.Loaded{}, &abi.Failure{Code: abi.FailurePluginInvalid, Message: "it is broken"}
	}
	return installs.Loaded{Imports: []string{"log"}, Exports: []string{"run"}}, nil
}

func (l *loader) Own(name string) bool { return name == "echo" }

func (l *loader) Left(digest string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = append(l.left, digest)
}

func digestOf(module string) string { return journal.HashOf([]byte(module)) }

type house struct {
	*roomtest.House
	loader *loader
	keeper *installs.Keeper
	// unpeopled has the node die before it gives tenants their Personas.
	unpeopled bool
}

func newHouse(t *testing.T) *house {
	h := &house{House: roomtest.New(t, memory.New(time.Now)), loader: &loader{}}
	h.open(t)
	return h
}

// open makes the keeper as a start of the node does.
func (h *house) open(t *testing.T) {
	t.Helper()
	parts := installs.Parts{Parts: h.Parts, Modules: h.loader, Personas: h.personasOf(), Tenants: func() []*abi.Tenant {
		return []*abi.Tenant{{Envelope: abi.Envelope{ID: roomtest.TenantID}, Number: uint32(roomtest.Tenant)}, {Envelope: abi.Envelope{ID: "tenant_other"}, Number: 2}}
	}}
	if h.unpeopled {
		parts.Personas = nil
	}
	h.keeper = installs.NewKeeper(parts)
	if err := h.keeper.LoadPlugins(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (h *house) install(t *testing.T, name, version, module string) abi.Plugin {
	t.Helper()
	doc, err := h.keeper.InstallPlugin(t.Context(), h.Root(), nil, abi.InstallPluginRequest{Name: name, Version: version}, strings.NewReader(module))
	if err != nil {
		t.Fatal(err)
	}
	return roomtest.As[abi.Plugin](t, doc)
}

// wantRuns holds what new Tasks run, now and after a crash; "" for nothing.
func (h *house) wantRuns(t *testing.T, name, module string) {
	t.Helper()
	for _, when := range []string{"now", "after a crash"} {
		digest, known, err := h.keeper.Installed(name)
		if module == "" {
			if known && err == nil {
				t.Errorf("%s: new tasks run %s", when, digest)
			}
		} else if err != nil || digest != digestOf(module) || !h.keeper.RunsNow(digest) {
			t.Errorf("%s: new tasks run %q (%v), want %s", when, digest, err, module)
		}
		h.Crash()
		h.open(t)
	}
}

func versions(p abi.Plugin) (all []string) {
	for _, b := range p.Versions {
		all = append(all, b.Version)
	}
	return all
}

func TestALife(t *testing.T) {
	h := newHouse(t)
	ctx, root := t.Context(), h.Root()
	p := h.install(t, "triage", "", "one")
	if p.Version != "1" || p.Status != abi.PluginEnabled || p.Digest != digestOf("one") || p.Versions[0].Bytes != 3 || p.Versions[0].InstalledBy != root.Actor {
		t.Errorf("installed: %+v", p)
	}
	h.wantRuns(t, "triage", "one")
	p = h.install(t, "triage", "", "two")
	if p.Version != "2" || p.Previous != "1" {
		t.Errorf("replaced: %+v", p)
	}
	h.wantRuns(t, "triage", "two")
	if p = h.install(t, "triage", "", "one"); p.Version != "1" || len(p.Versions) != 2 {
		t.Errorf("a module that it has: %+v", p)
	}
	if _, err := h.keeper.RollbackPlugin(ctx, root, nil, "triage", abi.RollbackPluginRequest{}); err != nil {
		t.Fatal(err)
	}
	h.wantRuns(t, "triage", "two")
	if _, err := h.keeper.DisablePlugin(ctx, root, nil, "triage"); err != nil {
		t.Fatal(err)
	}
	h.wantRuns(t, "triage", "")
	if p = h.install(t, "triage", "3.0", "three"); p.Status != abi.PluginDisabled || p.Version != "3.0" {
		t.Errorf("installed while it is disabled: %+v", p)
	}
	h.wantRuns(t, "triage", "")
	if _, err := h.keeper.EnablePlugin(ctx, root, nil, "triage"); err != nil {
		t.Fatal(err)
	}
	h.wantRuns(t, "triage", "three")
	if err := h.keeper.RemovePlugin(ctx, root, nil, "triage", false); err != nil {
		t.Fatal(err)
	}
	h.wantRuns(t, "triage", "")
	if _, err := h.keeper.Plugin(ctx, root, "triage"); err == nil {
		t.Error("a plugin is shown that was removed")
	}
	_, err := h.keeper.EnablePlugin(ctx, root, nil, "triage")
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	if p = h.install(t, "triage", "", "four"); p.Version != "1" || len(p.Versions) != 1 {
		t.Errorf("installed again: %+v", p)
	}
	h.wantRuns(t, "triage", "four")
	for _, module := range []string{"one", "two", "three", "four"} { // replays have all of them
		hash, err := journal.ParseHash(digestOf(module))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := journal.Content(ctx, h.Store.Blobs(), hash); err != nil || string(got) != module {
			t.Errorf("%s: %q, %v", module, got, err)
		}
	}
}

func TestWhoInstalls(t *testing.T) {
	h := newHouse(t)
	for name, c := range map[string]*desk.Caller{"an administrator of the tenant": h.With(abi.ScopeAdmin, "personas:write"), "a key that is bound to a workspace": h.Bound(roomtest.Workspace)} {
		_, err := h.keeper.InstallPlugin(t.Context(), c, nil, abi.InstallPluginRequest{Name: "triage"}, strings.NewReader("one"))
		if own, ok := errors.AsType[*abi.Error](err); !ok || own.Code != abi.CodePermissionDenied {
			t.Errorf("%s: %v", name, err)
		}
		if err := h.keeper.RemovePlugin(t.Context(), c, nil, "triage", true); err == nil {
			t.Errorf("%s removes", name)
		}
	}
	other := h.Root()
	other.Tenant, other.TenantID = 2, "tenant_other"
	if _, err := h.keeper.InstallPlugin(t.Context(), other, nil, abi.InstallPluginRequest{Name: "triage"}, strings.NewReader("one")); err != nil {
		t.Error(err)
	}
	h.wantRuns(t, "triage", "one")
}

func TestRefusedWhole(t *testing.T) {
	h := newHouse(t)
	h.install(t, "triage", "1.0", "one")
	before := h.Store.Watermark()
	try := func(name, version, module string) error {
		_, err := h.keeper.InstallPlugin(t.Context(), h.Root(), nil, abi.InstallPluginRequest{Name: name, Version: version}, strings.NewReader(module))
		return err
	}
	err := try("triage", "", "broken")
	roomtest.WantParam(t, err, "module")
	if own, _ := errors.AsType[*abi.Error](err); !strings.Contains(string(own.Details), `"error":"it is broken"`) {
		t.Errorf("details: %s", own.Details)
	}
	roomtest.WantCode(t, try("triage", "1.0", "two"), abi.CodeConflict)
	roomtest.WantCode(t, try("echo", "", "two"), abi.CodeConflict)
	for _, name := range []string{"", "A", "../x", "a b", "-a", strings.Repeat("a", 65)} {
		roomtest.WantParam(t, try(name, "", "two"), "name")
	}
	for _, version := range []string{" ", "v/1", strings.Repeat("1", 65), "é"} {
		roomtest.WantParam(t, try("triage", version, "two"), "version")
	}
	torn := errors.New("torn")
	if _, err := h.keeper.InstallPlugin(t.Context(), h.Root(), nil, abi.InstallPluginRequest{Name: "triage"}, &failing{torn}); !errors.Is(err, torn) && err == nil {
		t.Error("an upload that broke off was installed")
	}
	_, err = h.keeper.InstallPlugin(t.Context(), h.Root(), nil, abi.InstallPluginRequest{Name: "triage"}, endless{})
	roomtest.WantCode(t, err, abi.CodePayloadTooLarge)
	if p := h.install(t, "triage", "1.0", "one"); p.Version != "1.0" {
		t.Errorf("%+v", p)
	}
	if now := h.Store.Watermark(); now != before {
		t.Errorf("the log has %d events more", now-before)
	}
	h.wantRuns(t, "triage", "one")
}

type failing struct{ err error }

func (f *failing) Read(p []byte) (int, error) { return 0, f.err }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A retry gets the first answer; the key with another module is another write.
func TestRetries(t *testing.T) {
	h := newHouse(t)
	try := func(module string) (desk.Doc, error) {
		return h.keeper.InstallPlugin(t.Context(), h.Root(), roomtest.Retry("k", ""), abi.InstallPluginRequest{Name: "triage"}, strings.NewReader(module))
	}
	first, err := try("one")
	if err != nil {
		t.Fatal(err)
	}
	h.install(t, "triage", "", "two")
	h.Crash()
	h.open(t)
	again, err := try("one")
	if err != nil || !again.Replayed || !bytes.Equal(first.JSON, again.JSON) {
		t.Errorf("%s, %v; want %s", again.JSON, err, first.JSON)
	}
	h.wantRuns(t, "triage", "two")
	_, err = try("three")
	roomtest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
}

// Of many at once each has its version, and the log the last of them.
func TestManyAtOnce(t *testing.T) {
	h := newHouse(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := h.keeper.InstallPlugin(t.Context(), h.Root(), nil, abi.InstallPluginRequest{Name: "triage"}, strings.NewReader(fmt.Sprint("module ", i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p, err := h.keeper.Plugin(t.Context(), h.Root(), "triage")
	if err != nil || len(p.Versions) != 20 || p.Version != "20" || p.Previous != "19" {
		t.Errorf("%v: %s, before it %s: %q", err, p.Version, p.Previous, versions(p))
	}
	h.Crash()
	h.open(t)
	if digest, _, err := h.keeper.Installed("triage"); err != nil || digest != p.Digest {
		t.Errorf("%s after a crash, %s before (%v)", digest, p.Digest, err)
	}
}

// The list of versions is bounded, and what is left is told to whoever holds modules.
func TestThousandReplacements(t *testing.T) {
	h := newHouse(t)
	for i := range 1000 {
		h.install(t, "triage", "", fmt.Sprint("module ", i))
	}
	p, err := h.keeper.Plugin(t.Context(), h.Root(), "triage")
	if err != nil || len(p.Versions) != 32 || p.Version != "1000" {
		t.Errorf("%v: version %s of %d", err, p.Version, len(p.Versions))
	}
	if len(h.loader.left) != 999 || slices.Contains(h.loader.left, p.Digest) {
		t.Errorf("%d modules were left", len(h.loader.left))
	}
	h.wantRuns(t, "triage", "module 999")
}

func TestRemoveWhatIsUsed(t *testing.T) {
	h := newHouse(t)
	h.install(t, "triage", "", "one")
	for o, state := range map[abi.Object]any{
		abi.ObjectPersona:   &abi.Persona{Envelope: abi.NewEnvelope(abi.ObjectPersona, "persona_a", h.Now(), nil), EntryWorkflow: "triage#sort"},
		abi.ObjectConnector: &abi.Connector{Envelope: abi.NewEnvelope(abi.ObjectConnector, "conn_a", h.Now(), nil), Plugin: "triage#normalize"},
		abi.ObjectHarness:   &abi.Harness{Envelope: abi.NewEnvelope(abi.ObjectHarness, "harness_a", h.Now(), nil), EntryWorkflow: "triage"},
		abi.ObjectWebhook: &abi.WebhookEndpoint{Envelope: abi.NewEnvelope(abi.ObjectWebhook, "hook_a", h.Now(), nil),
			Hook: &abi.HookTerms{Command: abi.HookPlugin + "triage#ask"}},
	} {
		id := abi.IDPrefix(o) + "a"
		h.State(t, roomtest.Workspace, "", abi.EventPersonaCreated, o, id, state)
	}
	err := h.keeper.RemovePlugin(t.Context(), h.Root(), nil, "triage", false)
	roomtest.WantCode(t, err, abi.CodeConflict)
	for _, id := range []string{"persona_a", "conn_a", "harness_a", "hook_a"} {
		if !strings.Contains(err.Error(), id) {
			t.Errorf("%v does not name %s", err, id)
		}
	}
	other := h.Root()
	other.Tenant, other.TenantID = 2, "tenant_other"
	err = h.keeper.RemovePlugin(t.Context(), other, nil, "triage", false)
	roomtest.WantCode(t, err, abi.CodeConflict)
	if strings.Contains(err.Error(), "persona_a") {
		t.Errorf("another tenant is told %v", err)
	}
	h.wantRuns(t, "triage", "one")
	if err := h.keeper.RemovePlugin(t.Context(), h.Root(), nil, "triage", true); err != nil {
		t.Error(err)
	}
	h.wantRuns(t, "triage", "")
}

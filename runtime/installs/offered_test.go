package installs_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/installs"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// ofConnector is a manifest of the plugin triage as a connector.
func ofConnector(version, provider string) *abi.PluginManifest {
	return &abi.PluginManifest{Text: fmt.Sprintf("name = \"triage\"\nversion = %q\nkind = \"connector\"\n[connector]\nprovider = %q\nevent_kinds = [\"made\"]\nordered = true\nschedule = \"@every 5m\"\n", version, provider)}
}

// ofHook is a manifest of the plugin triage as a hook.
func ofHook(version, fail string) *abi.PluginManifest {
	return &abi.PluginManifest{Text: fmt.Sprintf("name = \"triage\"\nversion = %q\nkind = \"hook\"\n[hook]\nevent = \"pre_tool\"\nfail = %q\ntimeout = \"2s\"\n", version, fail)}
}

// offers are the providers and the hook of the plugin triage, as one text.
func offers(k *installs.Keeper) string {
	var all []string
	for _, c := range k.OfferedConnectors() {
		all = append(all, c.Provider+" by "+c.Plugin)
	}
	if h := k.OfferedHook("triage"); h != nil {
		all = append(all, string(h.Event)+" "+string(h.Fail)+" by "+h.Handler.Command)
	}
	return strings.Join(all, ", ")
}

// wantOffers holds what is offered, now and after a crash.
func (h *house) wantOffers(t *testing.T, want string) {
	t.Helper()
	for _, when := range []string{"now", "after a crash"} {
		if got := offers(h.keeper); got != want {
			t.Errorf("%s: %q is offered, want %q", when, got, want)
		}
		h.Crash()
		h.open(t)
	}
}

// A connector and a hook are there for as long as new Tasks run the version that says so.
func TestConnectorsAndHooksComeAndGo(t *testing.T) {
	h := newHouse(t)
	ctx, root := t.Context(), h.Root()
	p := h.mustSend(t, "one", ofConnector("1.0.0", "orders"))
	if p.PersonaID != "" || p.Versions[0].Kind != "connector" {
		t.Errorf("it is %+v", p)
	}
	h.wantOffers(t, "orders by triage#run")
	c := h.keeper.OfferedConnectors()[0]
	if strings.Join(c.EventKinds, " ") != "made" || !c.Ordered || c.Polling == nil || c.Polling.Schedule != "@every 5m" {
		t.Errorf("it is offered as %+v", c)
	}
	h.mustSend(t, "two", ofHook("2.0.0", "closed"))
	h.wantOffers(t, "pre_tool closed by wasm:triage#run")
	if hook := h.keeper.OfferedHook("triage"); hook.TimeoutMS != 2000 {
		t.Errorf("it is offered as %+v", hook)
	}
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error {
			_, err := h.keeper.RollbackPlugin(ctx, root, nil, "triage", abi.RollbackPluginRequest{})
			return err
		}, "orders by triage#run"},
		{func() error { _, err := h.keeper.DisablePlugin(ctx, root, nil, "triage"); return err }, ""},
		{func() error {
			_, err := h.send(t, "three", ofConnector("3.0.0", "invoices"))
			return err
		}, ""},
		{func() error { _, err := h.keeper.EnablePlugin(ctx, root, nil, "triage"); return err }, "invoices by triage#run"},
		{func() error { return h.keeper.RemovePlugin(ctx, root, nil, "triage", false) }, ""},
		{func() error { _, err := h.send(t, "four", nil); return err }, ""},
		{func() error { _, err := h.send(t, "four", said("4.0.0", "")); return err }, ""},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		h.wantOffers(t, step.want)
	}
	for _, name := range []string{"", "echo", "Triage", "triage#run", "persona_triage"} {
		if h.keeper.OfferedHook(name) != nil {
			t.Errorf("%q is a hook", name)
		}
	}
}

// What no trusted key has signed offers nothing.
func TestUntrustedOffersNothing(t *testing.T) {
	h := newHouse(t)
	h.mustSend(t, "one", ofConnector("1.0.0", "orders"))
	h.restart(t, 1)
	h.wantOffers(t, "")
	h.mustPack(t, packedAs(t, ofHook("1.1.0", "open").Text[:len("name = \"triage\"\n")]+"module = \"m.wasm\"\n"+ofHook("1.1.0", "open").Text[len("name = \"triage\"\n"):], "two", 1))
	h.wantOffers(t, "pre_tool open by wasm:triage#run")
}

// The power is cut at each step: what is offered is that of the module that new Tasks run.
func TestACrashAtEachStepOffersWhatRuns(t *testing.T) {
	disk, l := crashtest.NewDisk(), &loader{}
	var cuts []*crashtest.Disk
	steps, on := map[string]int{}, false
	at := func(step string) {
		if !on {
			return
		}
		if steps[step]++; steps[step] > 3 {
			return
		}
		for i, kept := range []float64{0, 0.5, 1} {
			cuts = append(cuts, disk.Crash(uint64(len(cuts)+i), kept))
		}
	}
	k, _ := keeperOn(t, disk, l, at)
	l.tried = func(string) { at("while it is compiled") }
	root := &desk.Caller{Tenant: roomtest.Tenant, TenantID: roomtest.TenantID, Actor: "root", Scopes: []string{abi.ScopeAll}}
	modules := map[string]*abi.PluginManifest{"one": ofConnector("1.0.0", "orders"), "two": ofHook("2.0.0", "closed")}
	for _, module := range []string{"one", "two"} {
		req := abi.InstallPluginRequest{Name: "triage", Manifest: modules[module]}
		if _, err := k.InstallPlugin(t.Context(), root, nil, req, slowly{bytes.NewReader([]byte(module)), at}); err != nil {
			t.Fatal(err)
		}
		on = true
	}
	for _, do := range []func() error{
		func() error { _, err := k.DisablePlugin(t.Context(), root, nil, "triage"); return err },
		func() error { return k.RemovePlugin(t.Context(), root, nil, "triage", true) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		at("after it was answered")
	}
	found := map[string]int{}
	for i, cut := range cuts {
		k, _ := keeperOn(t, cut, &loader{}, func(string) {})
		digest, _, err := k.Installed("triage")
		want := map[string]string{digestOf("one"): "orders by triage#run", digestOf("two"): "pre_tool closed by wasm:triage#run"}[digest]
		if err != nil {
			want = ""
		}
		if got := offers(k); got != want {
			t.Errorf("cut %d: new tasks run %s, and %q is offered", i, digest, got)
		}
		found[want]++
	}
	if len(found) != 3 {
		t.Errorf("the power was cut at %v, with %v", steps, found)
	}
}

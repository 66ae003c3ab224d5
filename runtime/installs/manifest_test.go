package installs_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/storage"
)

// personasOf returns what gives tenants Personas, as the engine has it.
func (h *house) personasOf() *personas.Keeper {
	return personas.NewKeeper(personas.Parts{Parts: h.Parts, Started: time.Now(), Calls: abi.HostCallsByName(),
		Bundled: []abi.Persona{{Envelope: abi.Envelope{ID: "persona_coder"}, Name: "coder"}},
		Offered: func() []abi.Persona { return h.keeper.OfferedPersonas() },
		LeaveOut: func(_ storage.Tenant, o abi.Object, id string, err error) {
			slog.Error("left out", "object", o, "id", id, "error", err)
		}})
}

// said is a manifest of the plugin triage.
func said(version, more string) *abi.PluginManifest {
	return &abi.PluginManifest{Text: "name = \"triage\"\nversion = \"" + version + "\"\nkind = \"skill\"\ndescription = \"Sorts.\"\n" + more}
}

func (h *house) send(t *testing.T, module string, m *abi.PluginManifest) (abi.Plugin, error) {
	t.Helper()
	doc, err := h.keeper.InstallPlugin(t.Context(), h.Root(), nil, abi.InstallPluginRequest{Name: "triage", Manifest: m}, strings.NewReader(module))
	if err != nil {
		return abi.Plugin{}, err
	}
	return roomtest.As[abi.Plugin](t, doc), nil
}

func (h *house) mustSend(t *testing.T, module string, m *abi.PluginManifest) abi.Plugin {
	t.Helper()
	p, err := h.send(t, module, m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// persona returns the Persona of the plugin as a tenant has it.
func (h *house) persona(t *testing.T, tenant storage.Tenant) abi.Persona {
	t.Helper()
	p, err := h.personasOf().Persona(t.Context(), tenant, "persona_triage")
	if err != nil {
		t.Fatal(err)
	}
	return p.Persona
}

// A manifest makes a Persona in each tenant, which goes and comes with the version of the plugin.
func TestAManifestMakesThePersona(t *testing.T) {
	h := newHouse(t)
	first := h.mustSend(t, "one", said("1.0.0", "capabilities = [\"llm.complete\"]\n"))
	if first.Version != "1.0.0" || first.PersonaID != "persona_triage" || first.Versions[0].Kind != "skill" {
		t.Errorf("it is %+v", first)
	}
	h.mustSend(t, "two", with(said("1.1.0", "capabilities = [\"http.fetch\"]\nschemas.input = \"in.json\"\n"), "in.json", `{"type":"string"}`))
	for _, tenant := range []storage.Tenant{roomtest.Tenant, 2} {
		if p := h.persona(t, tenant); p.Version != "1.1.0" || strings.Join(p.Capabilities, " ") != "input output http.fetch" || !strings.Contains(string(p.Metadata), `"string"`) {
			t.Errorf("tenant %d has %+v", tenant, p)
		}
	}
	if _, err := h.keeper.RollbackPlugin(t.Context(), h.Root(), nil, "triage", abi.RollbackPluginRequest{}); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"now", "after a crash"} {
		if p := h.persona(t, 2); p.Version != "1.0.0" || strings.Join(p.Capabilities, " ") != "input output llm.complete" {
			t.Errorf("%s: after a rollback it is %+v", when, p)
		}
		if skills := h.personasOf().PublicSkills(); len(skills) != 2 || skills[1].PersonaID != "persona_triage" {
			t.Errorf("%s: the skills are %+v", when, skills)
		}
		h.Crash()
		h.open(t)
	}
	if err := h.keeper.RemovePlugin(t.Context(), h.Root(), nil, "triage", false); err != nil {
		t.Errorf("its own persona holds it: %v", err)
	}
	if p := h.persona(t, roomtest.Tenant); p.RetiredAt.IsZero() {
		t.Error("the persona of a plugin that is gone serves")
	}
	h.mustSend(t, "one", said("1.0.0", "capabilities = [\"llm.complete\"]\n"))
	if p := h.persona(t, roomtest.Tenant); !p.RetiredAt.IsZero() || p.Version != "1.0.0" {
		t.Errorf("the plugin is back, and the persona is %+v", p)
	}
}

// with adds a file to a manifest.
func with(m *abi.PluginManifest, name, text string) *abi.PluginManifest {
	m.Files = map[string]string{name: text}
	return m
}

// A crash after the event and before the Personas leaves them to the next start.
func TestPersonasFollowAtTheNextStart(t *testing.T) {
	h := newHouse(t)
	h.unpeopled = true
	h.open(t)
	h.mustSend(t, "one", said("1.0.0", ""))
	h.unpeopled = false
	h.Crash()
	h.open(t)
	if p := h.persona(t, 2); p.Version != "1.0.0" {
		t.Errorf("it is %+v", p)
	}
}

// A Persona that only happens to have the name stays as it is, and a tenant's own changes do.
func TestWhatIsTheTenantsStays(t *testing.T) {
	h := newHouse(t)
	h.mustSend(t, "one", said("1.0.0", ""))
	mine := "mine"
	if _, err := h.personasOf().UpdatePersona(t.Context(), h.Root(), nil, "persona_triage", abi.UpdatePersonaRequest{Description: &mine}); err != nil {
		t.Fatal(err)
	}
	h.mustSend(t, "two", said("1.1.0", "capabilities = [\"log\"]\n"))
	if p := h.persona(t, roomtest.Tenant); p.Description != mine || p.Version != "1.0.0" {
		t.Errorf("the tenant's own is now %+v", p)
	}
	if p := h.persona(t, 2); p.Version != "1.1.0" {
		t.Errorf("another tenant's is %+v", p)
	}
}

func TestManifestsThatDoNotFit(t *testing.T) {
	h := newHouse(t)
	h.loader.set = map[string]string{"triage.greeting": "7"}
	h.mustSend(t, "one", said("1.0.0", ""))
	for about, test := range map[string]struct {
		module string
		said   *abi.PluginManifest
		want   string
	}{
		"a mistake":             {"two", said("1.1.0", "capabilites = []\n"), "wharf.toml:5:1"},
		"another name":          {"two", &abi.PluginManifest{Text: "name = \"other\"\nversion = \"1.0.0\"\nkind = \"persona\"\n"}, "of the plugin other"},
		"an export":             {"two", said("1.1.0", "exports = [\"sort\"]\n"), `no export "sort"`},
		"a schema not sent":     {"two", said("1.1.0", "schemas.input = \"in.json\"\n"), "in.json"},
		"a schema out of it":    {"two", said("1.1.0", "schemas.input = \"../in.json\"\n"), "in.json"},
		"a schema that is none": {"two", with(said("1.1.0", "schemas.input = \"in.json\"\n"), "in.json", "{"), "in.json"},
		"too much":              {"two", with(said("1.1.0", ""), "in.json", strings.Repeat("x", 1<<20)), "KiB"},
		"another module":        {"two", said("1.0.0", ""), "give yours another version"},
		"another manifest":      {"one", said("1.0.0", "capabilities = [\"log\"]\n"), "give yours another version"},
		"a setting's type":      {"two", said("1.1.0", "[config.greeting]\ntype = \"string\"\n"), "settings.triage.greeting"},
		"no text":               {"two", &abi.PluginManifest{Text: "\xff"}, "no text"},
	} {
		if _, err := h.send(t, test.module, test.said); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", about, err)
		}
	}
	h.wantRuns(t, "triage", "one")
	if p := h.persona(t, 2); p.Version != "1.0.0" {
		t.Errorf("the persona is %+v", p)
	}
}

// A plugin reads the default of its version where nothing is set.
func TestDefaultsOfSettings(t *testing.T) {
	h := newHouse(t)
	h.mustSend(t, "one", said("1.0.0", "[config.greeting]\ntype = \"string\"\ndefault = \"hello\"\n"))
	for _, when := range []string{"now", "after a crash"} {
		if got := h.keeper.SettingDefault("triage", "greeting"); string(got) != `"hello"` {
			t.Errorf("%s: the default is %s", when, got)
		}
		h.Crash()
		h.open(t)
	}
	h.mustSend(t, "two", nil)
	if got := h.keeper.SettingDefault("triage", "greeting"); got != nil {
		t.Errorf("a version without a manifest has the default %s", got)
	}
	kept, err := h.keeper.PluginManifest(t.Context(), h.Root(), "triage", "1.0.0")
	if err != nil || !strings.Contains(kept.Text, "hello") {
		t.Errorf("the manifest is %+v, %v", kept, err)
	}
	if _, err := h.keeper.PluginManifest(t.Context(), h.Root(), "triage", ""); err == nil {
		t.Error("a version without a manifest has one")
	}
}

// asPersona is a manifest of the plugin triage that says nothing but its version.
func asPersona(version string) *abi.PluginManifest {
	return &abi.PluginManifest{Text: "name = \"triage\"\nversion = \"" + version + "\"\nkind = \"persona\"\n"}
}

// Versions that differ in nothing but the version are those of the Persona too, each with one event for a
// tenant, and a rollback has the one of before again. Nothing is written of what is so already.
func TestAVersionAloneIsThePersonas(t *testing.T) {
	h := newHouse(t)
	changes := func() (n int) {
		for _, kind := range h.Kinds(t, desk.Filter{}) {
			if kind == abi.EventPersonaUpdated {
				n++
			}
		}
		return n
	}
	want := func(version string, updates int) {
		t.Helper()
		for _, when := range []string{"now", "after a crash"} {
			for _, tenant := range []storage.Tenant{roomtest.Tenant, 2} {
				if p := h.persona(t, tenant); p.Version != version {
					t.Errorf("%s: tenant %d has version %s, want %s", when, tenant, p.Version, version)
				}
			}
			if n := changes(); n != updates {
				t.Errorf("%s: version %s came with %d changes, want %d", when, version, n, updates)
			}
			h.Crash()
			h.open(t)
		}
	}
	h.mustSend(t, "one", asPersona("1.0.0"))
	want("1.0.0", 0)
	h.mustSend(t, "two", asPersona("1.0.1"))
	want("1.0.1", 1)
	h.mustSend(t, "two", asPersona("1.0.1")) // once more
	want("1.0.1", 1)
	h.mustSend(t, "two", asPersona("1.0.2")) // the same module
	want("1.0.2", 2)
	for i, back := range []string{"1.0.1", "1.0.2", "1.0.0", "1.0.2"} {
		if _, err := h.keeper.RollbackPlugin(t.Context(), h.Root(), nil, "triage", abi.RollbackPluginRequest{Version: back}); err != nil {
			t.Fatal(err)
		}
		want(back, 3+i)
	}
}

// A crash between an install and its Persona is made good, and so is a Persona that an older node has left as it was.
func TestAVersionAloneFollowsAtTheNextStart(t *testing.T) {
	h := newHouse(t)
	h.mustSend(t, "one", asPersona("1.0.0"))
	h.unpeopled = true
	h.open(t)
	h.mustSend(t, "two", asPersona("1.0.1"))
	h.unpeopled = false
	if p := h.persona(t, 2); p.Version != "1.0.0" {
		t.Fatalf("it is %+v already", p)
	}
	h.Crash()
	h.open(t)
	if p := h.persona(t, 2); p.Version != "1.0.1" {
		t.Errorf("it is %+v", p)
	}
}

// A version that was another policy's is never this one's: the Persona goes on by the next name, and stays so.
func TestAVersionThatWasAnotherPolicys(t *testing.T) {
	h := newHouse(t)
	h.mustSend(t, "one", said("1.0.0", "capabilities = [\"log\"]\n"))
	if err := h.keeper.RemovePlugin(t.Context(), h.Root(), nil, "triage", false); err != nil {
		t.Fatal(err)
	}
	h.mustSend(t, "two", said("0.9.0", ""))
	h.mustSend(t, "two", said("1.0.0", "")) // by the policy of 0.9.0
	for range 3 {
		if p := h.persona(t, 2); p.Version != "0.9.0" {
			t.Errorf("it is %+v", p)
		}
		h.Crash()
		h.open(t)
	}
	h.mustSend(t, "three", said("1.0.1", ""))
	if p := h.persona(t, 2); p.Version != "1.0.1" {
		t.Errorf("it is %+v", p)
	}
}

// What a tenant has changed itself stays, its version too.
func TestAVersionAloneIsNotTheTenants(t *testing.T) {
	h := newHouse(t)
	h.mustSend(t, "one", asPersona("1.0.0"))
	for _, step := range []struct {
		change abi.UpdatePersonaRequest
		want   string
	}{{abi.UpdatePersonaRequest{Version: new("mine")}, "mine"}, {abi.UpdatePersonaRequest{Description: new("")}, "mine"}, {abi.UpdatePersonaRequest{Version: new("mine.2")}, "mine.2"}} {
		if _, err := h.personasOf().UpdatePersona(t.Context(), h.Root(), nil, "persona_triage", step.change); err != nil {
			t.Fatal(err)
		}
		h.mustSend(t, "two "+step.want, nil)
		h.mustSend(t, "one", asPersona("1.0.0"))
		h.mustSend(t, "one", asPersona("1.0.1"))
		if p := h.persona(t, roomtest.Tenant); p.Version != step.want {
			t.Errorf("the tenant's own is now %+v", p)
		}
		if p := h.persona(t, 2); p.Version != "1.0.1" {
			t.Errorf("another tenant's is %+v", p)
		}
	}
}

// Each version is one event of a tenant's Persona and one of its Skill.
func TestManyVersionsOfAPersona(t *testing.T) {
	h := newHouse(t)
	for i := range 60 { // the store of this test looks through all events for one
		h.mustSend(t, "one", asPersona(fmt.Sprintf("0.1.0-dev.%d", i)))
	}
	counts := map[abi.EventKind]int{}
	for _, kind := range h.Kinds(t, desk.Filter{}) {
		counts[kind]++
	}
	if counts[abi.EventPersonaCreated] != 1 || counts[abi.EventPersonaUpdated] != 59 || counts[abi.EventSkillUpdated] != 59 {
		t.Errorf("they are %v", counts)
	}
	if p := h.persona(t, 2); p.Version != "0.1.0-dev.59" {
		t.Errorf("it is %+v", p)
	}
}

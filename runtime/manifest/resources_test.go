package manifest_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/policy"
)

func made(t *testing.T, text string) *manifest.Resources {
	t.Helper()
	m, problems := manifest.Parse([]byte("name = \"triage\"\nversion = \"1.2.0\"\ndescription = \"Sorts.\"\n" + text))
	if m == nil {
		t.Fatalf("%v", problems)
	}
	r, err := m.Resources()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A Skill is the one that the node would make of the Persona.
func TestASkillIsThatOfItsPersona(t *testing.T) {
	for about, more := range map[string]string{
		"the least": "",
		"all": "exports = [\"sort\"]\ncapabilities = [\"llm.*\"]\ntools = [\"files:*\"]\nmodels = [\"fast\"]\nlimits.time = \"30s\"\n" +
			"schemas.input.type = \"object\"\nschemas.output.type = \"string\"\nskill.requires_approval = true\npersona.autonomy_tier = \"suggest\"\n",
	} {
		r := made(t, "kind = \"skill\"\n"+more)
		want := personas.SkillOfPersona(r.Persona)
		if !reflect.DeepEqual(r.Skill, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", about, text(t, r.Skill), text(t, want))
		}
		if r.Persona.ID != "persona_triage" || r.Persona.Version != "1.2.0" || r.Connector != nil || r.Hook != nil {
			t.Errorf("%s: %s", about, text(t, r))
		}
	}
}

// Whatever a manifest leaves out, nothing is granted that it does not name.
func TestWhatIsNotGrantedIsDenied(t *testing.T) {
	may := func(p *abi.Persona, call string) bool {
		return len(p.Capabilities) == 0 || policy.MatchAny(p.Capabilities, call)
	}
	for _, c := range abi.HostCalls() {
		none, fetch := made(t, "kind = \"persona\"\n").Persona, made(t, "kind = \"persona\"\ncapabilities = [\"http.*\"]\n").Persona
		if given := c.Name == abi.CallInput || c.Name == abi.CallOutput; may(none, c.Name) != given {
			t.Errorf("%s: without capabilities it may: %v", c.Name, !given)
		}
		if c.Name != abi.CallInput && c.Name != abi.CallOutput && may(fetch, c.Name) != strings.HasPrefix(c.Name, "http.") {
			t.Errorf("%s: with http.* it may: %v", c.Name, may(fetch, c.Name))
		}
	}
}

func TestConnectorsAndHooks(t *testing.T) {
	c := made(t, "kind = \"connector\"\nexports = [\"normalize\", \"poll\"]\n[connector]\nprovider = \"github\"\nschedule = \"@every 5m\"\npoll = \"poll\"\nordered = true\n").Connector
	if c.Plugin != "triage#normalize" || c.Polling.Export != "poll" || !c.Ordered || c.Status != abi.ConnectorActive || len(c.EventKinds) < 5 {
		t.Errorf("got %s", text(t, c))
	}
	if c := made(t, "kind = \"connector\"\n").Connector; c.Provider != "triage" || c.Polling != nil {
		t.Errorf("got %s", text(t, c))
	}
	h := made(t, "kind = \"hook\"\n[hook]\nevent = \"pre_tool\"\n").Hook
	if h.Handler.Command != "wasm:triage#run" || h.Fail != abi.HookOpen || h.TimeoutMS != 10_000 || !h.Enabled {
		t.Errorf("got %s", text(t, h))
	}
}

// A schema in a file is never left out in silence.
func TestSchemasInFilesAreReadFirst(t *testing.T) {
	m, _ := manifest.Parse([]byte("name = \"a\"\nversion = \"1.0.0\"\nkind = \"persona\"\nschemas.input = \"in.json\"\n"))
	if _, err := m.Resources(); err == nil {
		t.Error("a schema that was not read is left out")
	}
	if problems := m.ReadSchemas(fstest.MapFS{"in.json": {Data: []byte("{\"type\": \"object\"}\n")}}); len(problems) > 0 {
		t.Fatal(problems)
	}
	r, err := m.Resources()
	if err != nil || !strings.Contains(string(r.Persona.Metadata), `"input_schema":{"type":`) {
		t.Errorf("got %v, %v", r, err)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

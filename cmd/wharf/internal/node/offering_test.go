package node

import (
	"errors"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	keeper "github.com/wharf-dev/wharf/runtime/personas"
)

func TestAPluginSaysWhatItOffers(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "mine.wasm", echoWasm(t))
	put(t, dir, "mine.json", []byte(`{"version":"1.2.0","capabilities":["message.append"],"skills":[{"name":"say","description":"Says it.","export":"run",
		"input_schema":{"type":"object","required":["text"]},"metadata":{"mcp":{"as":"prompt"}}},{"name":"run","description":"Runs."}]}`))
	own, err := readPlugins(&config.Plugins{Dir: dir})
	if err != nil || len(own) != 1 || len(own[0].personas) != 2 {
		t.Fatalf("%v, %v", own, err)
	}
	p := &own[0].personas[0]
	if p.ID != "persona_mine_say" || p.EntryWorkflow != "mine#run" || p.Version != "1.2.0" || len(p.Capabilities) != 1 {
		t.Errorf("the persona is %+v", p)
	}
	s := keeper.SkillOfPersona(p)
	if s.Name != "say" || string(s.InputSchema) != `{"type":"object","required":["text"]}` || string(s.Metadata) != `{"mcp":{"as":"prompt"}}` || s.ID != "skill_mine_say" {
		t.Errorf("the skill is %+v", s)
	}
	if other := own[0].personas[1].EntryWorkflow; other != "mine#run" {
		t.Errorf("a skill without an export is run by %s", other)
	}
}

func TestWhatAPluginCannotOfferStopsTheStart(t *testing.T) {
	skills := func(of string) string { return `{"skills":[` + of + `]}` }
	for text, want := range map[string]string{
		`{`:                       "the JSON ends before it is whole",
		`{"skills":[]}`:           "0 skills",
		`{"tools":[]}`:            `there is no member "tools"`,
		`{"skills":1,"skills":2}`: "skills",
		skills(strings.Repeat(`{"name":"a","description":"d"},`, 500) + `{"name":"b","description":"d"}`): "501 skills",
		skills(`{"name":"a b","description":"d"}`):                                                        "no name",
		skills(`{"name":"` + strings.Repeat("a", 65) + `","description":"d"}`):                            "no name",
		skills(`{"name":"a"}`): "description",
		skills(`{"name":"a","description":"d"},{"name":"a","description":"d"}`):    "two with the name",
		skills(`{"name":"a","description":"d","export":"x#y"}`):                    "x#y",
		skills(`{"name":"a","description":"d","input_schema":{"type":"nothing"}}`): "input_schema",
		skills(`{"name":"a","description":"d","input_schema":true}`):               "input_schema",
		skills(`{"name":"a","description":"d","metadata":[]}`):                     "metadata",
	} {
		dir := t.TempDir()
		put(t, dir, "mine.wasm", echoWasm(t))
		put(t, dir, "mine.json", []byte(text))
		_, err := readPlugins(&config.Plugins{Dir: dir})
		if start, ok := errors.AsType[*StartError](err); !ok || !strings.Contains(err.Error(), want) || start.Try == "" {
			t.Errorf("%.60s: got %v, want something about %s", text, err, want)
		}
	}
}

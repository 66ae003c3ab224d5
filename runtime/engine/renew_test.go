package engine_test

import (
	"slices"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// What an older program has said of its Personas and Skills is what this one says of
// them, on every start, except where a client has changed a Persona.
func TestBundledPersonasAreRenewed(t *testing.T) {
	g := enginetest.Guests{"echo": enginetest.Echo, "scribe": enginetest.Echo, "kept": enginetest.Echo}
	saying := func(capabilities ...string) func(*engine.Config, *engine.Parts) {
		return func(_ *engine.Config, p *engine.Parts) {
			for i := range p.Personas {
				p.Personas[i].Capabilities = capabilities
			}
		}
	}
	disk := crashtest.NewDisk()
	n := boot(t, disk, g, saying(abi.CallInput))
	n.updatePersona(t, "persona_kept", abi.UpdatePersonaRequest{Description: ptr("ours")})
	n.Stop(t)

	newer := [][]string{
		{abi.CallInput, abi.CallMessageAppend},
		{abi.CallInput, abi.CallMessageAppend}, // the same program again
		{abi.CallInput, abi.CallOutput},
	}
	versions := []string{"2", "2", "3"}
	for i, capabilities := range newer {
		n = boot(t, disk, g, saying(capabilities...))
		scribe := enginetest.As[abi.Persona](t, must(n.Get(t.Context(), n.Root, abi.ObjectPersona, "persona_scribe")))
		if !slices.Equal(scribe.Capabilities, capabilities) || scribe.Version != versions[i] {
			t.Errorf("start %d: version %s has the capabilities %v", i, scribe.Version, scribe.Capabilities)
		}
		if s := enginetest.As[abi.Skill](t, must(n.Get(t.Context(), n.Root, abi.ObjectSkill, "skill_scribe"))); !slices.Equal(s.Capabilities, capabilities) {
			t.Errorf("start %d: its skill has the capabilities %v", i, s.Capabilities)
		}
		kept := enginetest.As[abi.Persona](t, must(n.Get(t.Context(), n.Root, abi.ObjectPersona, "persona_kept")))
		if !slices.Equal(kept.Capabilities, []string{abi.CallInput}) || kept.Description != "ours" {
			t.Errorf("start %d: what a client has changed is %+v", i, kept)
		}
		n.wantSequences(t, abi.ObjectPersona, abi.ObjectSkill)
		if i == len(newer)-1 {
			if got := n.versions(t, "persona_scribe", 10); len(got) != 3 {
				t.Errorf("the versions are %q", got)
			}
			told := 0
			for _, kind := range n.Kinds(t, desk.Filter{}) {
				if kind == string(abi.EventPersonaUpdated) {
					told++
				}
			}
			if told != 1+2*2 { // the client's; echo and scribe, twice
				t.Errorf("%d changes of personas are told", told)
			}
		}
		n.Stop(t)
	}
}

package programs_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/programs"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
)

// kept notes what is kept, and may fail.
type kept struct {
	names []string
	err   error
}

func (k *kept) KeepModule(_ context.Context, digest string) error {
	k.names = append(k.names, digest)
	return k.err
}

func (k *kept) KeepPersona(_ context.Context, p *personas.Persona) (string, error) {
	k.names = append(k.names, p.ID)
	return "hash of " + p.ID, nil
}

func parts(k *kept) programs.Parts {
	return programs.Parts{
		Resolve: func(_ context.Context, plugin string) (string, error) { return "digest of " + plugin, nil },
		Pinned:  k,
		PersonaOf: func(_ context.Context, _ storage.Tenant, _, id string) (*personas.Persona, error) {
			if id == "persona_gone" {
				return nil, abi.NotFound("persona", id)
			}
			p := &personas.Persona{}
			p.ID, p.Version, p.EntryWorkflow = id, "7", "echo"
			return p, nil
		},
		RunsAs: func(_ context.Context, _ storage.Tenant, p *personas.Persona) (*personas.Persona, error) {
			return p, nil
		},
		Workflow: func(storage.Tenant, *abi.Task) string { return "" },
		Skill:    func(context.Context, storage.Tenant, *abi.Task) (*journal.Skill, error) { return nil, nil },
		Skills: func(storage.Tenant, *abi.Task, []string, []byte) ([]abi.TaskSkill, error) {
			return []abi.TaskSkill{{}}, nil
		},
		Limits:  func(string) sandbox.Limits { return sandbox.Limits{Gas: 5, Depth: 6, HostCalls: 7} },
		Entropy: bytes.NewReader(bytes.Repeat([]byte{9}, 1<<10)),
		Runs:    "an engine", Rewriter: "a rewriter",
	}
}

func TestWhatATaskRunsIsKeptAndNamed(t *testing.T) {
	k := &kept{}
	p, version, err := programs.NewFixer(parts(k)).For(t.Context(), 1, &abi.Task{PersonaID: "persona_a"}, nil)
	if err != nil || version != "7" {
		t.Fatalf("version %q: %v", version, err)
	}
	if p.Plugin != "echo" || p.Export != abi.DefaultExport || p.Module != "digest of echo" || p.Persona != "hash of persona_a" || len(p.Seed) != 16 || len(p.Skills) != 1 {
		t.Errorf("the program is %+v", p)
	}
	if !slices.Equal(k.names, []string{"digest of echo", "persona_a"}) {
		t.Errorf("kept: %q", k.names)
	}
	if p.Arch != "" || p.Limits.Gas != 5 || p.Limits.Depth != 6 {
		t.Errorf("a module that is rewritten: %q %+v", p.Arch, p.Limits)
	}
}

func TestModulesThatRunAsTheyAreCountNoGas(t *testing.T) {
	of := parts(&kept{})
	of.Rewriter, of.Workflow = "", func(storage.Tenant, *abi.Task) string { return "poller#poll" }
	p, _, err := programs.NewFixer(of).For(t.Context(), 1, &abi.Task{PersonaID: "persona_a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Arch != runtime.GOARCH || p.Limits.Gas != 0 || p.Limits.Depth != 0 || p.Limits.HostCalls != 7 {
		t.Errorf("%q %+v", p.Arch, p.Limits)
	}
	if p.Plugin != "poller" || p.Export != "poll" {
		t.Errorf("it runs %s#%s", p.Plugin, p.Export)
	}
}

func TestATaskWhosePersonaIsGoneFails(t *testing.T) {
	_, version, err := programs.NewFixer(parts(&kept{})).For(t.Context(), 1, &abi.Task{PersonaID: "persona_gone"}, nil)
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok || failure.Code != abi.FailurePluginMissing || version != "" {
		t.Errorf("version %q: %v", version, err)
	}
}

func TestNothingIsNamedThatCouldNotBeKept(t *testing.T) {
	k := &kept{err: errors.New("the disk is full")}
	if p, version, err := programs.NewFixer(parts(k)).For(t.Context(), 1, &abi.Task{PersonaID: "persona_a"}, nil); p != nil || !errors.Is(err, k.err) || version != "7" {
		t.Errorf("%v, version %q: %v", p, version, err)
	}
}

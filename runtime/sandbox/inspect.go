package sandbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/extism"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// Report says what a module is, and what running it takes. Durations are those of this
// machine, at this moment; all else is the same everywhere.
type Report struct {
	Digest   string         `json:"digest"`
	Bytes    int            `json:"bytes"` // of the module as it was written
	Rewriter string         `json:"rewriter"`
	Imports  []ImportReport `json:"imports"`
	Exports  []string       `json:"exports"` // that can be run
	Memory   MemoryReport   `json:"memory"`
	// Snapshot says that the module is initialized once, and that each instance begins
	// as this left it; otherwise NoSnapshot says why each Run initializes its own.
	Snapshot   bool   `json:"snapshot"`
	NoSnapshot string `json:"no_snapshot,omitzero"`
	// Pool says that an instance serves many Runs, and is made what it was at first in
	// between. NoPool says when it is thrown away instead, "" for never.
	Pool   bool   `json:"pool"`
	NoPool string `json:"no_pool,omitzero"`
	// Initialization is what initializing an instance takes, its Gas included.
	Initialization time.Duration `json:"initialization"`
	Gas            uint64        `json:"initialization_gas"`
	// Birth is what a new instance takes, and Restore what it takes to undo what an
	// initialization has written.
	Birth   time.Duration `json:"birth"`
	Restore time.Duration `json:"restore"`
}

// ImportReport is something that a module imports.
type ImportReport struct {
	Module string     `json:"module"`
	Name   string     `json:"name"`
	Effect abi.Effect `json:"effect,omitzero"` // of a host call
	Allows string     `json:"allows"`
}

// MemoryReport is what a module needs of linear memory, in bytes.
type MemoryReport struct {
	Declared uint64 `json:"declared"`
	// Maximum is what the module itself allows, 0 when it does not say.
	Maximum uint64 `json:"maximum,omitzero"`
	Begins  uint64 `json:"begins"` // what an instance has at first
}

// Inspect says what the module is and what running it takes: it makes an instance, and
// initializes it.
func (m *Module) Inspect(ctx context.Context) (report *Report, err error) {
	if m.broken != nil {
		return nil, m.broken
	}
	r := &Report{
		Digest: m.digest, Bytes: m.shape.Bytes, Rewriter: rewrite.Version, Exports: m.Exports(),
		Snapshot: m.base != nil && !m.base.initialize, NoSnapshot: m.shape.Why, Pool: true, Gas: m.shape.Gas,
	}
	if m.shape.Changes {
		r.NoPool = "when it changed a table, dropped a segment, or set a global that cannot be copied"
	}
	for _, i := range m.shape.Imports {
		r.Imports = append(r.Imports, describeImport(i))
	}
	if m.shape.Memory != nil {
		r.Memory = MemoryReport{Declared: uint64(m.shape.Memory.Min) * pageBytes}
		if m.shape.Memory.HasMax {
			r.Memory.Maximum = m.shape.maximum()
		}
	}
	if m.extism != nil {
		r.Pool, r.NoPool = false, "the Extism SDK makes its instances, one for each Run"
		r.Birth, r.Memory.Begins, err = m.extism.Birth(ctx, newStill(m.digest), Limits{Gas: initialGas, MemoryBytes: initialMemory}.OrDefault())
		return r, err
	}
	r.Memory.Begins = m.base.memoryBytes()
	return r, m.measure(ctx, r)
}

// describeImport tells what an import allows, in a sentence.
func describeImport(i rewrite.Import) ImportReport {
	if d, ok := extism.Describe(i); ok {
		return ImportReport{Module: i.Module, Name: d.Name, Effect: d.Effect, Allows: d.Allows}
	}
	r := ImportReport{Module: i.Module, Name: i.Name, Allows: "it is part of WASI, which reaches nothing: clock, randomness and output are the host's"}
	if i.Module != abi.HostModule {
		return r
	}
	if def := abi.HostCallsByName()[i.Name]; def != nil {
		r.Effect, r.Allows = def.Effect, def.Doc
		return r
	}
	r.Allows = "it reads the answers of host calls"
	return r
}

// measureRounds is how often a thing is measured; the middle one is told, for the first
// finds nothing in the processor's caches.
const measureRounds = 7

// measure initializes a blank instance and takes back what that has written, and makes
// others as the Runs get them.
func (m *Module) measure(ctx context.Context, report *Report) error {
	blank, err := m.blank()
	if err != nil {
		return err
	}
	defer blank.close()
	inst, err := blank.newInstance(initialMemory)
	if err != nil {
		return fmt.Errorf("making an instance: %w", err)
	}
	defer inst.close()
	blank.globals = inst.globalValues()
	var initialized, restored, born []time.Duration
	for again := true; again && len(born) < measureRounds; {
		begun := time.Now()
		if _, err := inst.initializeOnce(ctx); ctx.Err() != nil {
			return err
		}
		initialized = append(initialized, time.Since(begun))
		begun = time.Now()
		if again = inst.reset(); again {
			restored = append(restored, time.Since(begun))
		}
		took, err := m.measureBirth()
		if err != nil {
			return err
		}
		born = append(born, took)
	}
	report.Initialization, report.Restore, report.Birth = middle(initialized), middle(restored), middle(born)
	return nil
}

// measureBirth makes an instance as a Run gets one when none is idle.
func (m *Module) measureBirth() (time.Duration, error) {
	begun := time.Now()
	inst, err := m.base.newInstance(m.base.memoryBytes())
	if err != nil {
		return 0, fmt.Errorf("making an instance: %w", err)
	}
	return time.Since(begun), inst.close()
}

// middle returns the median, 0 of nothing.
func middle(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

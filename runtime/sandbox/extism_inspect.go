package sandbox

import (
	"context"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// measureExtism makes an instance of a plugin that was made with an Extism PDK. How long it
// takes to initialize cannot be told: the SDK does so within a call.
func (m *Module) measureExtism(ctx context.Context, report *Report) error {
	report.Pool, report.NoPool = false, "the Extism SDK makes its instances, one for each Run"
	x := newExtismRun(ctx, newStill(m.digest), Limits{Gas: initialGas, MemoryBytes: initialMemory}.orDefault())
	x.meter.start(initialGas, nil)
	begun := time.Now()
	plugin, err := m.extism.instantiate(x)
	if err != nil {
		return x.explain(exportInitialize, &instantiateError{err})
	}
	report.Birth = time.Since(begun)
	report.Memory.Begins = x.memories.size
	return plugin.Close(ctx)
}

// describeExtism tells what an import of a plugin that was made with an Extism PDK allows.
func describeExtism(i rewrite.Import) (r ImportReport, ok bool) {
	r = ImportReport{Module: i.Module, Name: i.Name}
	call := ""
	switch i.Module {
	case extismUser:
		if i.Name == statusImport {
			r.Allows = "it tells the status of the last host call"
			return r, true
		}
		call = extismCalls()[i.Name].name
		r.Name = call
	case extismEnv:
		offer := extismEnvFunctions[i.Name]
		call = offer.call
		r.Allows = "it is part of the Extism SDK, and reaches nothing"
		if offer.off != "" {
			r.Allows = "it is off: " + offer.off
		}
	default:
		return r, false
	}
	def := abi.HostCallsByName()[call]
	if def != nil {
		r.Effect, r.Allows = def.Effect, def.Doc
	}
	return r, true
}

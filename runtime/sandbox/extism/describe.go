package extism

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
	"github.com/wharf-dev/wharf/runtime/sandbox/wasi"
)

// Birth makes an instance, and says how long that took and how many bytes of memory it has
// at first. How long it takes to initialize cannot be told: the SDK does so within a call.
func (p *Plugin) Birth(ctx context.Context, h guest.Host, l guest.Limits) (took time.Duration, memory uint64, err error) {
	x := newRun(ctx, h, l, guest.Shared{})
	begun := time.Now()
	plugin, err := p.instantiate(x)
	if err != nil {
		return 0, 0, x.Explain(exportInitialize, &guest.InstantiateError{Err: err})
	}
	return time.Since(begun), x.memories.size, plugin.Close(ctx)
}

// Description says what an import allows.
type Description struct {
	Name   string     // of the host call behind it, or its own
	Effect abi.Effect // of the host call, "" without one
	Allows string
}

// Describe tells what an import of a plugin that was made with an Extism PDK allows.
func Describe(i rewrite.Import) (d Description, ok bool) {
	d = Description{Name: i.Name}
	call := ""
	switch i.Module {
	case UserModule:
		if i.Name == StatusImport {
			d.Allows = "it tells the status of the last host call"
			return d, true
		}
		call = callsByName()[i.Name].Name
		d.Name = call
	case EnvModule:
		offer := envFunctions[i.Name]
		call = offer.call
		d.Allows = "it is part of the Extism SDK, and reaches nothing"
		if offer.off != "" {
			d.Allows = "it is off: " + offer.off
		}
	default:
		return d, false
	}
	def := abi.HostCallsByName()[call]
	if def != nil {
		d.Effect, d.Allows = def.Effect, def.Doc
	}
	return d, true
}

// Imports returns all that a plugin can import, host calls with a request and an answer.
func Imports() []rewrite.Import {
	var all []rewrite.Import
	add := func(module, name string, sig rewrite.Signature) {
		all = append(all, rewrite.Import{Module: module, Name: name, Kind: rewrite.ImportsFunction, Params: sig.Params, Results: sig.Results})
	}
	for _, name := range wasi.Names() {
		called, _ := wasi.Lookup(name)
		add(wasi.Module, name, called.Signature)
	}
	for _, name := range slices.Sorted(maps.Keys(envFunctions)) {
		add(EnvModule, name, envFunctions[name].sig)
	}
	for _, name := range slices.Sorted(maps.Keys(callsByName())) {
		add(UserModule, name, callForms[0])
	}
	add(UserModule, StatusImport, statusForm)
	return all
}

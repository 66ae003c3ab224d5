package sandbox

import (
	"context"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
)

// Host answers what a guest asks for: see [guest.Host].
type Host = guest.Host

// Limits bounds one Run: see [guest.Limits].
type Limits = guest.Limits

// Usage says what a Run took: see [guest.Usage].
type Usage = guest.Usage

// DefaultLimits returns the limits of a Run that sets none: see [guest.DefaultLimits].
func DefaultLimits() Limits { return guest.DefaultLimits() }

// Run takes an instance as it was after its initialization, calls the export, and lets
// nobody see what became of the instance. It returns nil when the export returned 0.
//
// What the guest can observe follows from what the Host answers, and from nothing
// else: two Runs with the same answers make the same calls, byte for byte, and use the
// same gas.
//
// What the guest did wrong is an *abi.Failure. When ctx ended first, the error is
// its cause: a busy guest is stopped within a slice of its gas. Runs share nothing;
// any number may be under way at once.
func (m *Module) Run(ctx context.Context, export string, h Host, l Limits) (Usage, error) {
	begun := time.Now()
	l = l.OrDefault()
	if m.extism != nil {
		if err := m.callable(ctx, export); err != nil {
			return Usage{}, err
		}
		return m.extism.Run(ctx, begun, export, h, l)
	}
	g, err := m.admit(ctx, export, l)
	if err != nil {
		return Usage{}, err
	}
	inst, err := g.take(l)
	if err != nil {
		return Usage{}, err
	}
	usage, err := inst.serve(ctx, begun, export, h, l)
	g.put(inst)
	return usage, err
}

// admit refuses a Run that cannot begin, and says what its instance begins as.
func (m *Module) admit(ctx context.Context, export string, l Limits) (*ground, error) {
	if err := m.callable(ctx, export); err != nil {
		return nil, err
	}
	g, err := m.groundFor(l)
	if err == nil {
		err = l.Suffice(g.memoryBytes())
	}
	return g, err
}

// callable refuses a Run that is over already, or of what is no export.
func (m *Module) callable(ctx context.Context, export string) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !m.HasExport(export):
		return guest.Failf(abi.FailurePluginMissing, "the plugin has no export %q of the form () -> i32; it has %s",
			export, strings.Join(m.exports, ", "))
	}
	return nil
}

package replay

import (
	"errors"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// TestARecordDoesNotSayWhatAReplayMayTake holds that each limit of a record is cut at what
// the replay may have, that a run which did with less replays as ever, and that one which
// does not says which limit it was.
func TestARecordDoesNotSayWhatAReplayMayTake(t *testing.T) {
	most := sandbox.Limits{MemoryBytes: 100, HostCalls: 1000, PayloadBytes: 300, OutputBytes: 400, Gas: 500}
	for _, c := range []struct {
		name string
		set  func(l *sandbox.Limits)
	}{
		{"memory", func(l *sandbox.Limits) { l.MemoryBytes = 1 << 40 }},
		{"host calls", func(l *sandbox.Limits) { l.HostCalls = 1 << 40 }},
		{"payload", func(l *sandbox.Limits) { l.PayloadBytes = 1 << 40 }},
		{"output", func(l *sandbox.Limits) { l.OutputBytes = 1 << 40 }},
		{"gas", func(l *sandbox.Limits) { l.Gas = 1 << 40 }},
		{"", func(*sandbox.Limits) {}},
	} {
		rec := recorded(everyday()...)
		rec.Program.Rewriter = "w1"
		var stated sandbox.Limits
		c.set(&stated)
		rec.Program.Limits.MemoryBytes, rec.Program.Limits.HostCalls, rec.Program.Limits.PayloadBytes = stated.MemoryBytes, stated.HostCalls, stated.PayloadBytes
		rec.Program.Limits.OutputBytes, rec.Program.Limits.Gas = stated.OutputBytes, stated.Gas
		var ran sandbox.Limits
		ends := func(with error) (*Result, error) {
			return Run(t.Context(), metered{func(h sandbox.Host) error {
				if err := making(nil, everyday()...)(h); err != nil {
					return err
				}
				return with
			}, 1, &ran}, rec, Options{Most: most})
		}
		if r, err := ends(nil); err != nil || r.Divergence != nil {
			t.Errorf("%s: a run that needs less: %+v, %v", c.name, r, err)
		}
		if ran.MemoryBytes > most.MemoryBytes || ran.HostCalls > most.HostCalls || ran.PayloadBytes > most.PayloadBytes || ran.OutputBytes > most.OutputBytes ||
			stated.Gas > 0 && ran.Gas > most.Gas {
			t.Errorf("%s: it ran under %+v", c.name, ran)
		}
		r, err := ends(&abi.Failure{Code: abi.FailurePluginMemory, Message: "no more"})
		capped, ok := errors.AsType[*Capped](err)
		switch {
		case c.name == "" && (err != nil || r.Divergence == nil):
			t.Errorf("a record that states no more: %+v, %v", r, err)
		case c.name != "" && (!ok || len(capped.Limits) != 1 || !strings.HasPrefix(capped.Limits[0], c.name+": 1099511627776, here ")):
			t.Errorf("%s: a run that needs more: %+v, %v", c.name, r, err)
		}
	}
}

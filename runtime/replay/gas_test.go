package replay

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// metered is a guest that uses gas.
type metered struct {
	guest
	gas    uint64
	limits *sandbox.Limits // those that it ran under
}

func (m metered) Run(ctx context.Context, export string, h sandbox.Host, l sandbox.Limits) (sandbox.Usage, error) {
	*m.limits = l
	usage, err := m.guest.Run(ctx, export, h, l)
	usage.Gas = m.gas
	return usage, err
}

// Gas is compared where it means the same, and nowhere else.
func TestGas(t *testing.T) {
	outOfGas := &abi.Failure{Code: abi.FailurePluginGas, Message: "all of it"}
	for _, c := range []struct {
		name              string
		recorded, rewrite string // rewriters
		module            string
		gas               uint64 // that the replay uses; the record tells 100
		err               error
		tells             uint64 // what the end tells of it
		diverges          string // what the divergence says; "" for none
	}{
		{"the same", "w1", "w1", "", 100, nil, 100, ""},
		{"more", "w1", "w1", "", 101, nil, 101, `+  "gas": 101`},
		{"more, with another rewriter", "w1", "w2", "", 101, nil, 0, ""},
		{"more, with another module", "w1", "w1", "sha256:other", 101, nil, 0, ""},
		{"too much, with another rewriter", "w1", "w2", "", 500, outOfGas, 0, "the record was made with the rewriter w1, and the run with the rewriter w2"},
		{"too much", "w1", "w1", "", 500, outOfGas, 500, "plugin_out_of_gas"},
		{"nothing counts it", "w1", "", "", 0, nil, 0, ""},
		{"a record of before", "", "w1", "", 100, nil, 0, ""},
	} {
		rec := recorded(everyday()...)
		rec.Program.Rewriter, rec.End.Gas = c.recorded, 100
		if c.recorded == "" {
			rec.End.Gas = 0
		}
		m := metered{func(h sandbox.Host) error {
			if err := making(nil, everyday()...)(h); err != nil {
				return err
			}
			return c.err
		}, c.gas, &sandbox.Limits{}}
		r, err := Run(t.Context(), m, rec, Options{Rewriter: c.rewrite, Module: c.module})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.Gas != c.gas || r.End.Gas != c.tells {
			t.Errorf("%s: it used %d, and its end tells %d", c.name, r.Gas, r.End.Gas)
		}
		if d := r.Divergence; (d != nil) != (c.diverges != "") || d != nil && !strings.Contains(d.Error()+d.Diff, c.diverges) {
			t.Errorf("%s: %v", c.name, d)
		}
	}
}

// A run that was stopped, and comes to the end of its gas before that of its time when
// it is run again, was stopped all the same.
func TestStoppedBeforeItsGasWasUsed(t *testing.T) {
	rec := recorded(everyday()...)
	rec.Program.Rewriter = "w1"
	*rec.End = journal.End{Status: abi.TaskFailed, Failure: &abi.Failure{Code: abi.FailurePluginTimeout}, Stopped: true, Calls: len(rec.Entries)}
	r := run(t, func(h sandbox.Host) error {
		if err := making(nil, everyday()...)(h); err != nil {
			return err
		}
		return &abi.Failure{Code: abi.FailurePluginGas}
	}, rec, Options{Rewriter: "w1"})
	if r.Divergence != nil || !r.End.Stopped || r.End.Failure.Code != abi.FailurePluginTimeout {
		t.Errorf("%v, %+v", r.Divergence, r.End)
	}
}

// What a replay says of a failure is what the record says, whatever this engine calls it.
func TestFailsAsRecorded(t *testing.T) {
	rec := recorded(everyday()...)
	rec.End.Status, rec.End.Failure = abi.TaskFailed, &abi.Failure{Code: abi.FailurePluginTrap, Message: "in $7"}
	r := run(t, func(h sandbox.Host) error {
		if err := making(nil, everyday()...)(h); err != nil {
			return err
		}
		return &abi.Failure{Code: abi.FailurePluginTrap, Message: "in $8"}
	}, rec, Options{})
	if r.Divergence != nil || r.End.Failure.Message != "in $7" {
		t.Errorf("%v, %+v", r.Divergence, r.End.Failure)
	}
}

// A program runs under its own limits; one of before is not metered, and is initialized
// in its Run.
func TestLimits(t *testing.T) {
	p := &journal.Program{Rewriter: "w1", Limits: journal.Limits{MemoryBytes: 1, HostCalls: 2, PayloadBytes: 3, OutputBytes: 4, Gas: 5, Depth: 6}}
	if got, want := Limits(p, time.Second), (sandbox.Limits{MemoryBytes: 1, HostCalls: 2, PayloadBytes: 3, OutputBytes: 4, Gas: 5, Depth: 6, WallTime: time.Second}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	before := &journal.Program{Arch: "amd64", Limits: journal.Limits{MemoryBytes: 1, HostCalls: 2, PayloadBytes: 3, OutputBytes: 4}}
	if got := Limits(before, 0); !got.Fresh || got.Gas < 1<<60 || got.Depth < 1<<60 {
		t.Errorf("%+v", got)
	}
}

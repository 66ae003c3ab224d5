package engine_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// metered runs guests as a sandbox that counts gas does: each call costs rate.
type metered struct {
	enginetest.Guests
	rate uint64

	mu  sync.Mutex
	ran []sandbox.Limits // of each run
}

func (m *metered) ModuleAt(ctx context.Context, digest string) (engine.Module, error) {
	module, err := m.Guests.ModuleAt(ctx, digest)
	return meteredModule{module, m}, err
}

// last returns the limits of the last run.
func (m *metered) last() sandbox.Limits {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ran[len(m.ran)-1]
}

type meteredModule struct {
	engine.Module
	of *metered
}

var errOutOfGas = errors.New("out of gas")

func (m meteredModule) Run(ctx context.Context, export string, h sandbox.Host, l sandbox.Limits) (sandbox.Usage, error) {
	m.of.mu.Lock()
	m.of.ran = append(m.of.ran, l)
	m.of.mu.Unlock()
	counted := &meter{Host: h, rate: m.of.rate, limit: l.Gas}
	usage, err := m.Module.Run(ctx, export, counted, l)
	usage.Gas = counted.used
	if errors.Is(err, errOutOfGas) {
		err = &abi.Failure{Code: abi.FailurePluginGas, Message: fmt.Sprintf("the plugin used up its gas, %d", l.Gas)}
	}
	return usage, err
}

type meter struct {
	sandbox.Host
	rate, used, limit uint64
}

func (m *meter) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	if m.used+m.rate > m.limit {
		m.used = m.limit
		return 0, nil, errOutOfGas
	}
	m.used += m.rate
	return m.Host.Call(ctx, call, request)
}

// rewriting makes a node one whose modules are rewritten by the given version, and
// where each call costs rate.
func rewriting(version string, rate uint64) (*metered, enginetest.Configure) {
	m := &metered{rate: rate}
	return m, func(_ *engine.Config, p *engine.Parts) {
		m.Guests, p.Modules, p.Rewriter = p.Modules.(enginetest.Guests), m, version
	}
}

func gasLimit(gas uint64) enginetest.Configure {
	return func(c *engine.Config, _ *engine.Parts) { c.Limits = sandbox.DefaultLimits(); c.Limits.Gas = gas }
}

// A Task that uses up its gas fails for it, as often as it is run: after the power
// was cut before any call, and when it is replayed.
func TestOutOfGas(t *testing.T) {
	const affordable = 5
	for cut := range affordable {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			p := newProgram(say("1"), say("2"), say("3"), say("4"), say("5"), say("6"))
			p.stopBefore(cut)
			_, counting := rewriting("wharf-1", 100)
			first := newNode(t, enginetest.Guests{"program": p.run}, counting, gasLimit(100*affordable+50))
			session := first.Session(t)
			id := first.Submit(t, session, "persona_program")
			<-p.there
			p.stopBefore(-1)
			// The limit is the Task's from its start on, whatever that of the node is now.
			_, counting = rewriting("wharf-1", 100)
			second := boot(t, first.Disk.Crash(uint64(cut), 0), enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, counting)
			defer second.Stop(t)
			task := second.Wait(t, id)
			if task.Failure == nil || task.Failure.Code != abi.FailurePluginGas {
				t.Fatalf("%s, %+v", task.Status, task.Failure)
			}
			rec := second.recordOf(t, id)
			if len(rec.Entries) != affordable || rec.End.Stopped || rec.End.Gas != 550 || rec.Program.Limits.Gas != 550 {
				t.Errorf("%d calls, %+v, %+v", len(rec.Entries), rec.End, rec.Program.Limits)
			}
			if r := second.wire(t, task); r.Metadata.Gas != 550 || r.Lifecycle.Failure.Code != abi.FailurePluginGas {
				t.Errorf("%+v, %+v", r.Metadata, r.Lifecycle.Failure)
			}
			second.wantReplay(t, id)
		})
	}
}

// The gas that a run used is told by its outcome, its receipt and its record, and
// is part of what a replay has to do again.
func TestGasIsReplayed(t *testing.T) {
	disk := crashtest.NewDisk()
	start := func(version string, rate uint64, more ...enginetest.Configure) *node {
		_, counting := rewriting(version, rate)
		return boot(t, disk, enginetest.Guests{"echo": enginetest.Echo}, append(more, counting)...)
	}
	n := start("wharf-1", 100, gasLimit(1000))
	task := n.Wait(t, n.Submit(t, n.Session(t), ""))
	outcome, err := n.Get(t.Context(), n.Root, abi.ObjectOutcome, task.OutcomeID)
	if err != nil || !strings.Contains(string(outcome.JSON), `"gas":200`) {
		t.Errorf("%s, %v", outcome.JSON, err)
	}
	if r, rec := n.wire(t, task), n.recordOf(t, task.ID); r.Metadata.Gas != 200 || rec.End.Gas != 200 || r.Metadata.Rewriter != "wharf-1" || r.Metadata.Arch != "" {
		t.Errorf("%+v, %+v", r.Metadata, rec.End)
	}
	wire := n.wantReplay(t, task.ID)
	if strings.Contains(wire, `"gas"`) {
		t.Errorf("a replay uses nothing, and its receipt says so: %s", wire)
	}
	if used := n.Stats().Gas; used != 600 {
		t.Errorf("a run and two replays used %d", used)
	}
	n.Stop(t)

	for _, c := range []struct {
		name, version string
		rate          uint64
		failure       string
		says          []string
	}{
		{"the same", "wharf-1", 100, "", nil},
		{"the same rewriter, and other gas", "wharf-1", 99, abi.FailureDivergence, []string{`"gas": 200`, `"gas": 198`}},
		{"another rewriter, and other gas", "wharf-2", 99, "", nil},
		{"another rewriter, and too much gas", "wharf-2", 600, abi.FailureDivergence, []string{"wharf-1", "wharf-2"}},
	} {
		n := start(c.version, c.rate)
		again := n.replay(t, task.ID, abi.ReplayTaskRequest{})
		failure := again.Failure
		if failure == nil {
			failure = &abi.Failure{}
			if text, err := n.ReceiptWire(t.Context(), n.Root, again.ReceiptID); err != nil || string(text) != wire {
				t.Errorf("%s: %v, the receipt %s, want %s", c.name, err, text, wire)
			}
		}
		told := failure.Message + strings.ReplaceAll(string(failure.Details), `\"`, `"`)
		if failure.Code != c.failure {
			t.Errorf("%s: %s", c.name, told)
		}
		for _, words := range c.says {
			if !strings.Contains(told, words) {
				t.Errorf("%s: does not say %s: %s", c.name, words, told)
			}
		}
		n.Stop(t)
	}
}

// A Task that goes on with another rewriter, and runs out of gas that the other one
// counts, has left its record and says so; one that ends well tells no gas.
func TestGoesOnWithAnotherRewriter(t *testing.T) {
	for rate, want := range map[uint64]string{90: "", 600: abi.FailureDivergence} {
		p := newProgram(say("1"), say("2"))
		p.stopBefore(1)
		_, counting := rewriting("wharf-1", 100)
		first := newNode(t, enginetest.Guests{"program": p.run}, counting, gasLimit(1000))
		id := first.Submit(t, first.Session(t), "persona_program")
		<-p.there
		p.stopBefore(-1)
		_, counting = rewriting("wharf-2", rate)
		second := boot(t, first.Disk.Crash(rate, 0), enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, counting)
		task := second.Wait(t, id)
		if task.Failure == nil {
			task.Failure = &abi.Failure{}
		}
		if task.Failure.Code != want || want != "" && !strings.Contains(task.Failure.Message, "made with the rewriter wharf-1, and the run with the rewriter wharf-2") {
			t.Errorf("%d: %+v", rate, task.Failure)
		}
		if r := second.wire(t, task); r.Metadata.Gas != 0 || r.Metadata.Rewriter != "wharf-1" {
			t.Errorf("%d: %+v", rate, r.Metadata)
		}
		second.Stop(t)
	}
}

// A plugin with limits of its own has them, and they are recorded; what it leaves
// open, and any other plugin, is limited as the node says.
func TestLimitsOfAPlugin(t *testing.T) {
	m, counting := rewriting("wharf-1", 1)
	n := newNode(t, enginetest.Guests{"small": enginetest.Echo}, counting, func(c *engine.Config, _ *engine.Parts) {
		c.Limits = sandbox.DefaultLimits()
		c.PluginLimits = map[string]sandbox.Limits{"small": {MemoryBytes: 1 << 20, Gas: 77, Depth: 5, WallTime: 3}}
	})
	session := n.Session(t)
	node, small := sandbox.DefaultLimits(), sandbox.DefaultLimits()
	small.MemoryBytes, small.Gas, small.Depth, small.WallTime = 1<<20, 77, 5, 3
	for persona, want := range map[string]sandbox.Limits{"persona_small": small, "persona_echo": node} {
		task := n.Wait(t, n.Submit(t, session, persona))
		if got := m.last(); got != want {
			t.Errorf("%s ran under %+v, want %+v", persona, got, want)
		}
		wantLimits := journal.Limits{MemoryBytes: want.MemoryBytes, HostCalls: want.HostCalls, PayloadBytes: want.PayloadBytes,
			OutputBytes: want.OutputBytes, Gas: want.Gas, Depth: want.Depth}
		if got := n.recordOf(t, task.ID).Program.Limits; got != wantLimits {
			t.Errorf("%s recorded %+v, want %+v", persona, got, wantLimits)
		}
		n.wantReplay(t, task.ID)
		if got := m.last(); got != want {
			t.Errorf("%s was replayed under %+v, want %+v", persona, got, want)
		}
	}
}

// A record that allows its run more than the node allows, as one from another node may, is
// replayed with what the node allows, or with its defaults where that is more. Where that
// does not do, the replay says so.
func TestARecordThatAllowsItsRunTooMuch(t *testing.T) {
	const gas, most = 1 << 50, 1 << 40
	program := func() func(context.Context, sandbox.Host) error { return newProgram(say("1"), say("2"), say("3")).run }
	_, counting := rewriting("wharf-1", most)
	first := newNode(t, enginetest.Guests{"program": program()}, counting, func(c *engine.Config, _ *engine.Parts) {
		c.Limits = sandbox.DefaultLimits()
		c.Limits.MemoryBytes, c.Limits.HostCalls, c.Limits.PayloadBytes, c.Limits.OutputBytes, c.Limits.Gas = most, most, most, most, gas
	})
	id := first.Submit(t, first.Session(t), "persona_program")
	if task := first.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	m, counting := rewriting("wharf-1", 1)
	second := boot(t, first.Disk.Crash(1, 0), enginetest.Guests{"program": program(), "echo": enginetest.Echo}, counting, gasLimit(2))
	defer second.Stop(t)
	second.replay(t, id, abi.ReplayTaskRequest{})
	want := sandbox.DefaultLimits()
	if got := m.last(); got != want {
		t.Errorf("it ran under %+v, want %+v", got, want)
	}
	_, counting = rewriting("wharf-1", most)
	third := boot(t, second.Disk.Crash(1, 0), enginetest.Guests{"program": program(), "echo": enginetest.Echo}, counting)
	defer third.Stop(t)
	again := third.replay(t, id, abi.ReplayTaskRequest{Reason: "again"})
	if again.Status != abi.TaskFailed || again.Failure.Code != abi.FailureDivergence || !strings.Contains(again.Failure.Message, "gas: 1125899906842624, here 100000000000") {
		t.Errorf("%s %+v", again.Status, again.Failure)
	}
}

// Tasks of before modules were rewritten are resumed and replayed as they were run:
// with an instance of their own, and without counting. Their receipts do not change.
func TestTasksOfBefore(t *testing.T) {
	p := newProgram(everyKind()...)
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	first := newNode(t, g)
	session := first.Session(t)
	ended := first.Wait(t, first.Submit(t, session, "persona_program"))
	replayed := first.wantReplay(t, ended.ID)
	issued := first.wire(t, ended)
	p.stopBefore(7)
	open := first.Submit(t, session, "persona_program")
	<-p.there
	p.stopBefore(-1)
	before := first.recordOf(t, ended.ID)

	m, counting := rewriting("wharf-1", 1)
	second := boot(t, first.Disk.Crash(3, 0), g, counting)
	defer second.Stop(t)
	for _, id := range []string{open, ended.ID} {
		task := second.Wait(t, id)
		r := second.wire(t, task)
		if task.Status != abi.TaskCompleted || r.Metadata.Rewriter != "" || r.Metadata.Gas != 0 || r.Metadata.Arch == "" || r.ReplayInput.Materials[1].Metadata != nil {
			t.Errorf("%s, %+v", task.Status, r.Metadata)
		}
		second.wantReplay(t, id)
		if got := m.last(); !got.Fresh || got.Gas < 1<<60 || got.Depth < 1<<60 || got.MemoryBytes != sandbox.DefaultLimits().MemoryBytes {
			t.Errorf("it ran under %+v", got)
		}
	}
	if again := second.wantReplay(t, ended.ID); again != replayed {
		t.Errorf("replayed now, the receipt is\n%s, and was\n%s", again, replayed)
	}
	if after := second.recordOf(t, ended.ID); !reflect.DeepEqual(after, before) {
		t.Errorf("the record is\n%+v, and was\n%+v", after, before)
	}
	if r := second.wire(t, ended); r.Chain.ReceiptHash != issued.Chain.ReceiptHash {
		t.Error("the receipt has changed")
	}
	now := second.wire(t, second.Wait(t, second.Submit(t, session, "")))
	if now.Metadata.Rewriter != "wharf-1" || now.Metadata.Gas == 0 || now.Metadata.Arch != "" || now.ReplayInput.Materials[1].Metadata.Rewriter != "wharf-1" {
		t.Errorf("a Task of now: %+v", now.Metadata)
	}
}

package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/image"
)

// ground is what instances of a module begin as: blank, or as its initialization left
// them.
type ground struct {
	module  *Module
	image   *image.Image // nil without a memory
	globals []uint64     // those that can be set from outside, in their order
	// monotonic is where the guest's monotonic time begins: where the initialization
	// has left it, for it must not go back.
	monotonic int64
	// initialize says that an instance has to be initialized within its Run.
	initialize bool
}

// memoryBytes is how much memory an instance has at first.
func (g *ground) memoryBytes() uint64 {
	if g.image == nil {
		return 0
	}
	return g.image.Size()
}

func (g *ground) close() error {
	if g.image == nil {
		return nil
	}
	return g.image.Close()
}

// newGround makes a ground of the content of a memory, nil without one.
func (m *Module) newGround(content []byte) (*ground, error) {
	g := &ground{module: m}
	if m.shape.Memory == nil {
		return g, nil
	}
	var err error
	if g.image, err = image.New(content); err != nil {
		return nil, fmt.Errorf("making the image of a module's memory: %w", err)
	}
	return g, nil
}

// blank makes the ground of instances that are not initialized.
func (m *Module) blank() (*ground, error) {
	var content []byte
	if m.shape.Memory != nil {
		content = m.data.expand()
	}
	g, err := m.newGround(content)
	if err != nil {
		return nil, err
	}
	g.initialize = m.shape.Start || m.initialize
	return g, nil
}

// Limits of an initialization that is done once for all Runs. They are part of what
// a module means: the same on every node, and not to be configured.
const (
	initialGas    = 1 << 27 // a tenth of a second of native code
	initialMemory = 256 << 20
	initialDepth  = 65_536
	// initialCalls is how many functions of WASI it may call, less one.
	initialCalls = 1 << 18
)

// initialTime is what the clock shows to an initialization that is done once.
var initialTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// errAsked ends an initialization that asks for what differs from Run to Run.
var errAsked = errors.New("sandbox: a host call in an initialization")

// still is the Host of an initialization that is done once: its clock stands still, its
// randomness follows from the module's digest, and it answers no call.
type still struct {
	random *rand.ChaCha8
	asked  string // the call that was made
}

func newStill(digest string) *still {
	return &still{random: rand.NewChaCha8(sha256.Sum256([]byte("wharf initialization " + digest)))}
}

// Call implements Host.
func (h *still) Call(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
	h.asked = call
	return 0, nil, errAsked
}

// Now implements Host.
func (h *still) Now() time.Time { return initialTime }

// Random implements Host.
func (h *still) Random(p []byte) { _, _ = h.random.Read(p) }

// Sleep implements Host: the guest's monotonic time moves on by itself.
func (h *still) Sleep(context.Context, time.Duration) {}

// begin makes what the module's instances begin as: the initialized one, where it can
// be had. Otherwise m.why says why not, and each Run initializes its own. That depends on
// the module alone, and so is the same on every node.
func (m *Module) begin(ctx context.Context) error {
	blank, err := m.blank()
	if err != nil {
		return err
	}
	m.base = blank
	if m.broken != nil {
		return nil
	}
	inst, err := blank.newInstance(initialMemory)
	if err != nil {
		if errors.Is(err, errReserve) {
			return err
		}
		m.broken = invalid("no instance can be made of the module: %s", guest.TrapReason(err))
		return nil
	}
	defer inst.close()
	blank.globals = inst.globalValues()
	if !blank.initialize {
		return nil
	}
	if err := m.snapshot(ctx, inst); err != nil || m.base == blank {
		return err
	}
	return blank.close()
}

// snapshot initializes a blank instance, and takes what it became for the base.
func (m *Module) snapshot(ctx context.Context, inst *instance) error {
	why, err := inst.initializeOnce(ctx)
	if err != nil {
		return err
	}
	m.shape.Why, m.shape.Gas = why, inst.run.GasSpent()
	if why != "" {
		return nil
	}
	return m.adopt(inst)
}

// initializeOnce initializes a blank instance for all Runs. It says why that cannot be
// taken for what each Run would do by itself, "" when it can. An error is that ctx ended.
func (inst *instance) initializeOnce(ctx context.Context) (why string, err error) {
	host := newStill(inst.ground.module.digest)
	r := &inst.run
	r.Begin(ctx, host, Limits{Gas: initialGas, Depth: initialDepth, MemoryBytes: initialMemory, WallTime: math.MaxInt64}.OrDefault(), inst.ground.module.runtime.shared)
	r.BoundCalls(initialCalls)
	inst.arm()
	err = inst.initialize()
	r.BoundCalls(0)
	r.Release()
	inst.measure(&Usage{})
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case host.asked != "":
		return fmt.Sprintf("its initialization makes the host call %q", host.asked), nil
	case errors.Is(err, guest.ErrInitialCalls):
		return fmt.Sprintf("its initialization calls functions of WASI more than %d times", initialCalls-1), nil
	case err != nil:
		return "its initialization fails: " + describe(r.Explain(exportInitialize, err)), nil
	case r.IsOutOfGas():
		return fmt.Sprintf("its initialization takes more than %d units of gas", initialGas), nil
	case r.Refused > 0:
		return fmt.Sprintf("its initialization wants more than %d bytes of memory", initialMemory), nil
	case r.HalfLine():
		return "its initialization leaves half a line on stdout or stderr", nil
	case r.AnyClosed():
		return "its initialization closes a standard stream", nil
	case inst.changed != nil && inst.changed.Get() != 0:
		return "its initialization changes a table, drops a segment, or sets a global that cannot be copied", nil
	}
	return "", nil
}

func describe(err error) string {
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		return failure.Message
	}
	return err.Error()
}

// adopt makes an initialized instance what all others begin as.
func (m *Module) adopt(inst *instance) error {
	var content []byte
	if memory := inst.mod.Memory(); memory != nil {
		content, _ = memory.Read(0, memory.Size())
	}
	g, err := m.newGround(content)
	if err != nil {
		return err
	}
	g.globals, g.monotonic = inst.globalValues(), inst.run.ClockAt()
	m.base, m.once = g, true
	return nil
}

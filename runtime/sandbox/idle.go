package sandbox

import (
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/runtime/sandbox/pool"
)

// defaultIdleBytes is the budget of a Config that gives none.
const defaultIdleBytes = 64 << 20

// sweepEvery is how often what was idle for long is looked for.
const sweepEvery = time.Second

// Stats says what became of the instances of a [Runtime], for metrics.
type Stats struct {
	Idle      int64  // instances that wait for a Run
	IdleBytes uint64 // what they hold by themselves, about
	InUse     int64
	// Born, Reused and Dropped count since the Runtime was made: Runs with a new
	// instance, Runs with one that was idle, and instances that are no more.
	Born, Reused, Dropped uint64
}

// Stats returns the figures of this moment.
func (r *Runtime) Stats() Stats {
	c := &r.counts
	return Stats{
		Idle: c.idle.Load(), IdleBytes: r.idle.Used(), InUse: c.inUse.Load(),
		Born: c.born.Load(), Reused: c.reused.Load(), Dropped: c.dropped.Load(),
	}
}

type counts struct {
	idle, inUse           atomic.Int64
	born, reused, dropped atomic.Uint64
}

// sweep gives back what was idle for long until the Runtime is closed.
func (r *Runtime) sweep() {
	defer close(r.swept)
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.idle.Sweep()
		case <-r.closing:
			return
		}
	}
}

// newPool makes the pool of a module's instances.
func (m *Module) newPool() *pool.Pool[*instance] {
	return pool.New(m.runtime.idle, pool.Config[*instance]{
		Drop: func(inst *instance) {
			m.runtime.counts.idle.Add(-1)
			inst.drop()
		},
		Trim: func(inst *instance) uint64 {
			inst.trim()
			return inst.idleBytes()
		},
	})
}

// take returns an instance for a Run: an idle one, or a new one. Every take is followed
// by a put.
func (g *ground) take(l Limits) (*instance, error) {
	m, c := g.module, &g.module.runtime.counts
	reserve := m.memoryLimit(l.MemoryBytes)
	if g == m.base {
		if inst, ok := m.pool.Take(); ok {
			c.idle.Add(-1)
			if inst.memory == nil || inst.memory.Reserved() >= reserve {
				c.reused.Add(1)
				c.inUse.Add(1)
				return inst, nil
			}
			inst.drop() // it was made for a Run that may have less
		}
	}
	inst, err := g.newInstance(reserve)
	if err != nil {
		g.lose()
		return nil, err
	}
	c.born.Add(1)
	c.inUse.Add(1)
	return inst, nil
}

// put ends the use of an instance. One that can be made what it was at first is so at
// once, before the Run returns: what an idle instance holds is the module's alone.
func (g *ground) put(inst *instance) {
	m, c := g.module, &g.module.runtime.counts
	c.inUse.Add(-1)
	if g != m.base || !inst.reset() {
		g.lose()
		inst.drop()
		return
	}
	c.idle.Add(1)
	m.pool.Put(inst, inst.idleBytes())
}

func (g *ground) lose() {
	if g == g.module.base {
		g.module.pool.Lose()
	}
}

// drop is the end of an instance. Nobody waits for what an error could tell.
func (inst *instance) drop() {
	inst.ground.module.runtime.counts.dropped.Add(1)
	_ = inst.close()
}

// trim gives back what makes the next Run faster.
func (inst *instance) trim() {
	if inst.memory != nil {
		_ = inst.memory.Trim() // what stays is dropped with the instance
	}
	clear(inst.functions)
}

// idleBytes is about what an instance holds by itself while it is idle.
func (inst *instance) idleBytes() uint64 {
	const own = 4 << 10
	// The engine has some 40 bytes for each function in a table, and compilers have a
	// function for each some 400 bytes of a module.
	bytes := own + uint64(inst.ground.module.shape.Bytes)/10
	for _, f := range inst.functions {
		if f != nil {
			bytes += uint64(inst.stackBytes(f))
		}
	}
	if inst.memory != nil {
		bytes += inst.memory.Kept()
	}
	return bytes
}

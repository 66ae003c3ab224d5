package disk

import (
	"cmp"
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Space is what a file system has. Where it does not bound files, Files is 0.
type Space struct {
	Free, Total      uint64 // bytes that the node may use, and all
	FreeFiles, Files uint64
}

const (
	interval = time.Second
	// leastFiles are kept free as the reserve is, on a file system that has many more.
	leastFiles = 1000
)

// Config says what is watched, and how.
type Config struct {
	// Read tells what the file system has; false when it cannot be told.
	Read func() (Space, bool)
	// Reserve returns how many bytes of a file system of so many are kept free; 0 for none.
	Reserve func(total uint64) uint64
	Now     func() time.Time // default time.Now
	Log     *slog.Logger     // default slog.Default
}

// Watch knows how much is free. It is safe for concurrent use.
type Watch struct {
	read    func() (Space, bool)
	reserve func(uint64) uint64
	now     func() time.Time
	log     *slog.Logger

	mu    sync.Mutex
	state State
	work  gate // closed to new work
	calls gate // closed to calls of running Tasks
	trend trend
}

// gate is closed while there is too little room. Whoever comes to one that is open takes no lock.
type gate struct {
	closed atomic.Bool   // set under the Watch's lock
	opened chan struct{} // closed when it opens again; nil while it is open
}

// State is what a Watch knows.
type State struct {
	Known    bool // the system tells what is free
	Space    Space
	Reserve  uint64 // bytes that are kept free; 0 for none
	Refusing bool   // new work is refused
	Waiting  bool   // the calls of running Tasks wait, too
	// Falls reports whether free room has become less lately; it reaches the reserve in Full then, if that goes on.
	Falls bool
	Full  time.Duration
}

// New returns a watch that has looked once.
func New(c Config) *Watch {
	w := &Watch{read: c.Read, reserve: c.Reserve, now: c.Now, log: cmp.Or(c.Log, slog.Default())}
	if w.now == nil {
		w.now = time.Now
	}
	w.Look()
	return w
}

// Run looks each second until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.Look()
		case <-ctx.Done():
			return
		}
	}
}

// Look reads what is free and acts on it.
func (w *Watch) Look() {
	space, known := w.read()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !known { // nothing is refused for what nobody knows
		space = Space{}
	}
	before := w.state.Refusing
	reserve := uint64(0)
	if known {
		reserve = w.reserve(space.Total)
		w.trend.add(w.now(), space.Free)
	}
	w.state = State{Known: known, Space: space, Reserve: reserve}
	w.state.Refusing = w.work.set(known && short(space, reserve, w.work.closed.Load()))
	w.state.Waiting = w.calls.set(known && reserve > 0 && below(space.Free, floor(reserve), w.calls.closed.Load()))
	if known {
		w.state.Full, w.state.Falls = w.trend.until(reserve)
	}
	switch {
	case w.state.Refusing && !before:
		w.log.Error("the disk is nearly full: new work is refused until there is room again", w.figures()...)
	case before && !w.state.Refusing:
		w.log.Info("there is room on the disk again: new work is taken", w.figures()...)
	}
}

func (w *Watch) figures() []any {
	return []any{"free", show(w.state.Space.Free), "reserve", show(w.state.Reserve), "free_files", w.state.Space.FreeFiles}
}

// floor is what is left of a reserve for what ends work, and for what the store writes by itself.
func floor(reserve uint64) uint64 { return reserve / 4 }

// short reports whether a file system has too little for new work.
func short(s Space, reserve uint64, already bool) bool {
	if reserve == 0 {
		return false
	}
	files := min(leastFiles, s.Files/20)
	return below(s.Free, reserve, already) || s.Files > 0 && below(s.FreeFiles, files, already)
}

// below compares with a bound, and once below it with a tenth more, so that the answer does not flap.
func below(have, bound uint64, already bool) bool {
	if already {
		bound += bound / 10
	}
	return have < bound
}

// set closes or opens a gate, and returns whether it is closed. The caller holds the Watch's lock.
func (g *gate) set(closed bool) bool {
	was := g.closed.Swap(closed)
	switch {
	case closed && !was:
		g.opened = make(chan struct{})
	case was && !closed:
		close(g.opened)
		g.opened = nil
	}
	return closed
}

// State returns what is known.
func (w *Watch) State() State {
	if w == nil {
		return State{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// Await waits until there is room for new work.
func (w *Watch) Await(ctx context.Context) error {
	if w == nil {
		return nil
	}
	return w.await(ctx, &w.work)
}

// AwaitCall waits until a Task that runs may go on writing.
func (w *Watch) AwaitCall(ctx context.Context) error {
	if w == nil {
		return nil
	}
	return w.await(ctx, &w.calls)
}

func (w *Watch) await(ctx context.Context, g *gate) error {
	for {
		if !g.closed.Load() {
			return nil
		}
		w.mu.Lock()
		opened := g.opened
		w.mu.Unlock()
		if opened == nil {
			return nil
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// show writes a number of bytes for people.
func show(bytes uint64) string {
	for _, unit := range []struct {
		size uint64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if bytes >= 10*unit.size {
			return strconv.FormatUint(bytes/unit.size, 10) + " " + unit.name
		}
	}
	return strconv.FormatUint(bytes, 10) + " bytes"
}

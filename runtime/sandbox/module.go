package sandbox

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/extism"
	"github.com/wharf-dev/wharf/runtime/sandbox/image"
	"github.com/wharf-dev/wharf/runtime/sandbox/pool"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// pageBytes is the size of a page of linear memory.
const pageBytes = image.PageBytes

// Module is a compiled plugin. It is safe for concurrent use, and lives as long
// as its [Runtime].
type Module struct {
	runtime    *Runtime
	code       wazero.CompiledModule // nil with extism
	extism     *extism.Plugin        // of a plugin that was made with an Extism PDK
	digest     string
	imports    []string
	exports    []string
	initialize bool // it exports exportInitialize
	shape      shape
	data       sparse                // a blank memory
	base       *ground               // what instances begin as
	pool       *pool.Pool[*instance] // of the base
	broken     *abi.Failure          // why no instance can be made, nil if it can
	once       bool                  // the base is initialized, which a blank one would have to be

	locator *locator // nil where nobody can say where code is from

	mu    sync.Mutex
	fresh *ground // see freshGround
}

// shape is what a host has to know of a module besides its code. All of it follows from
// the module alone.
type shape struct {
	Bytes   int // of the module as it was written
	Imports []rewrite.Import
	Memory  *rewrite.Memory // nil without one
	Globals []rewrite.Global
	Start   bool
	Changes bool
	// Why says why the module is initialized in each Run; "" when it is initialized
	// once, or not at all.
	Why string
	Gas uint64 // of the initialization
}

// maximum returns how many bytes of memory the module itself allows.
func (s *shape) maximum() uint64 {
	const all = 1 << 32
	if s.Memory == nil || !s.Memory.HasMax {
		return all
	}
	return min(uint64(s.Memory.Max)*pageBytes, all)
}

// memoryLimit returns how many bytes of memory an instance can have, when the host
// allows it the given number.
func (m *Module) memoryLimit(allowed uint64) uint64 { return min(allowed, m.shape.maximum()) }

// Digest returns "sha256:" and the hex SHA-256 of the bytes that [Runtime.Compile]
// was given.
func (m *Module) Digest() string { return m.digest }

// Imports returns the names of the host calls that the plugin can make, sorted.
// Neither abi.ReadImport nor WASI counts among them.
func (m *Module) Imports() []string { return slices.Clone(m.imports) }

// Exports returns the names of the functions that [Module.Run] can call, sorted.
func (m *Module) Exports() []string { return slices.Clone(m.exports) }

// HasExport reports whether [Module.Run] can call the given function: it is
// exported, takes nothing and returns an i32.
func (m *Module) HasExport(name string) bool {
	_, ok := slices.BinarySearch(m.exports, name)
	return ok
}

// Close frees the module, for callers that compile many for a short use. No Run of it
// may be under way, and none may follow. [Runtime.Close] does it for all others.
func (m *Module) Close(ctx context.Context) error {
	m.runtime.mu.Lock()
	delete(m.runtime.modules, m)
	m.runtime.mu.Unlock()
	err := m.free()
	if m.code != nil {
		err = errors.Join(err, m.code.Close(ctx))
	}
	return err
}

// free gives back what the module holds besides its code.
func (m *Module) free() error {
	if m.extism != nil {
		return m.extism.Close()
	}
	m.pool.Close()
	err := m.base.close()
	if m.fresh != nil {
		err = errors.Join(err, m.fresh.close())
	}
	return err
}

// groundFor returns what an instance for the given limits begins as.
func (m *Module) groundFor(l Limits) (*ground, error) {
	switch {
	case m.broken != nil:
		return nil, m.broken
	case l.Fresh && m.once:
		return m.freshGround()
	}
	return m.base, nil
}

// freshGround makes a blank ground where the base is not one. That is needed for records
// from before modules were initialized once.
func (m *Module) freshGround() (*ground, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fresh != nil {
		return m.fresh, nil
	}
	fresh, err := m.blank()
	if err != nil {
		return nil, err
	}
	m.fresh = fresh
	return fresh, nil
}

// sparse is the content of a memory, of which most is zero.
type sparse struct {
	size int
	runs []stretch
}

type stretch struct {
	at    int
	bytes []byte
}

// stretchGap is how many zeros end a stretch.
const stretchGap = 1 << 10

// compact takes what is not zero out of a memory's content.
func compact(content []byte) sparse {
	s := sparse{size: len(content)}
	for at := 0; at < len(content); at += stretchGap {
		part := content[at:min(at+stretchGap, len(content))]
		if isZero(part) {
			continue
		}
		if n := len(s.runs); n > 0 && s.runs[n-1].at+len(s.runs[n-1].bytes) == at {
			s.runs[n-1].bytes = append(s.runs[n-1].bytes, part...)
			continue
		}
		s.runs = append(s.runs, stretch{at, slices.Clone(part)})
	}
	return s
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (s sparse) expand() []byte {
	content := make([]byte, s.size)
	for _, r := range s.runs {
		copy(content[r.at:], r.bytes)
	}
	return content
}

package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// ModuleCache compiles plugins when they are first used and keeps them. It
// implements [Modules].
type ModuleCache struct {
	runtime *sandbox.Runtime
	lookup  func(name string) (wasm []byte, ok bool)

	mu     sync.Mutex
	byName map[string]*compilation
}

// compilation is one plugin, compiled once by whoever needs it first.
type compilation struct {
	once   sync.Once
	module *sandbox.Module
	err    error
}

// NewModules returns a cache over a runtime; lookup finds a plugin's bytes.
func NewModules(r *sandbox.Runtime, lookup func(name string) ([]byte, bool)) *ModuleCache {
	return &ModuleCache{runtime: r, lookup: lookup, byName: map[string]*compilation{}}
}

// Module implements [Modules]. Compiling one plugin delays nobody who needs
// another one.
func (m *ModuleCache) Module(_ context.Context, name string) (Module, error) {
	c, err := m.compilation(name)
	if err != nil {
		return nil, err
	}
	// Not the Task's context: whoever asks first compiles for everybody.
	c.once.Do(func() {
		wasm, _ := m.lookup(name)
		c.module, c.err = m.runtime.Compile(context.Background(), wasm)
	})
	if c.err != nil {
		return nil, c.err
	}
	return c.module, nil
}

func (m *ModuleCache) compilation(name string) (*compilation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.byName[name]; c != nil {
		return c, nil
	}
	if _, ok := m.lookup(name); !ok {
		return nil, &abi.Failure{Code: abi.FailurePluginMissing, Message: fmt.Sprintf("there is no plugin %q", name)}
	}
	c := &compilation{}
	m.byName[name] = c
	return c, nil
}

package node

import (
	"context"
	"errors"
	"sync"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// modules compiles each plugin once, when it is first asked for. It is safe for
// concurrent use.
type modules struct {
	runtime *sandbox.Runtime

	mu     sync.Mutex
	byName map[string]*loading
}

// loading is a plugin that is being compiled or has been.
type loading struct {
	done   chan struct{} // closed when the rest is set
	module *sandbox.Module
	err    error
}

func newModules(r *sandbox.Runtime) *modules {
	return &modules{runtime: r, byName: map[string]*loading{}}
}

// Module implements [engine.Modules]. Compiling goes on when ctx ends: others may
// wait for it.
func (m *modules) Module(ctx context.Context, name string) (engine.Module, error) {
	l := m.load(name)
	select {
	case <-l.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if l.err != nil {
		return nil, l.err
	}
	return l.module, nil
}

func (m *modules) load(name string) *loading {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.byName[name]; l != nil {
		return l
	}
	l := &loading{done: make(chan struct{})}
	m.byName[name] = l
	go m.compile(name, l)
	return l
}

func (m *modules) compile(name string, l *loading) {
	defer close(l.done)
	plugin, ok := plugins.Lookup(name)
	if !ok {
		l.err = &abi.Failure{Code: abi.FailurePluginMissing, Message: "there is no plugin " + name}
	} else {
		l.module, l.err = m.runtime.Compile(context.Background(), plugin.Wasm())
	}
	var verdict *abi.Failure
	if l.err != nil && !errors.As(l.err, &verdict) || !ok {
		m.forget(name) // it may go better next time, and made-up names cost no memory
	}
}

func (m *modules) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byName, name)
}

// idle reports whether nothing is being compiled.
func (m *modules) idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.byName {
		select {
		case <-l.done:
		default:
			return false
		}
	}
	return true
}

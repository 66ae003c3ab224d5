package node

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/installs"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// maxSpare is how many modules stay in memory that no name stands for and nothing runs: those of
// Tasks that wait, and of replays, are often asked for again. All others are read from the cache on disk
// when they are.
const maxSpare = 4

// handle is a module by its digest. It holds no memory: what it runs is there while it runs.
type handle struct {
	modules          *modules
	digest           string
	imports, exports []string
}

// HasExport implements [engine.Module].
func (h *handle) HasExport(name string) bool {
	_, ok := slices.BinarySearch(h.exports, name)
	return ok
}

// Imports implements [engine.Module].
func (h *handle) Imports() []string { return slices.Clone(h.imports) }

// Run implements [engine.Module].
func (h *handle) Run(ctx context.Context, export string, host sandbox.Host, limits sandbox.Limits) (sandbox.Usage, error) {
	l, leave, err := h.modules.enter(ctx, h.digest)
	if err != nil {
		return sandbox.Usage{}, err
	}
	defer leave()
	return l.module.Run(ctx, export, host, limits)
}

// enter returns a module, compiling it if need be. It is there until leave is called.
func (m *modules) enter(ctx context.Context, digest string) (l *loading, leave func(), err error) {
	l = m.use(digest)
	leave = func() { m.leave(digest, l) }
	select {
	case <-l.done:
		err = l.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return l, leave, nil
}

// use takes a place among those that run a module.
func (m *modules) use(digest string) *loading {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.load(digest, true)
	l.users++
	m.spare = slices.DeleteFunc(m.spare, func(d string) bool { return d == digest })
	return l
}

// leave gives the place back.
func (m *modules) leave(digest string, l *loading) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.users--
	m.settle(digest)
}

// settle drops what is not needed any more, once nothing runs a module. It is called under mu.
func (m *modules) settle(digest string) {
	l := m.byDigest[digest]
	if l == nil || l.users > 0 || m.needed(digest) {
		return
	}
	m.spare = append(slices.DeleteFunc(m.spare, func(d string) bool { return d == digest }), digest)
	for len(m.spare) > maxSpare {
		m.drop(m.spare[0])
		m.spare = m.spare[1:]
	}
}

// needed reports whether a name stands for a module.
func (m *modules) needed(digest string) bool {
	_, own := m.sources[digest]
	return own || m.installed != nil && m.installed.RunsNow(digest)
}

// drop frees a module, unless it is still being compiled: then the next one to leave it does.
func (m *modules) drop(digest string) {
	l := m.byDigest[digest]
	if l == nil || l.users > 0 {
		return
	}
	select {
	case <-l.done:
	default:
		return
	}
	delete(m.byDigest, digest)
	if l.module != nil {
		_ = l.module.Close(context.Background()) // its memory is given back by the end of the process at the latest
	}
}

// Own implements [installs.Modules].
func (m *modules) Own(name string) bool {
	_, own := m.names[name]
	return own
}

// Setting implements [installs.Modules].
func (m *modules) Setting(plugin, name string) jsontext.Value { return m.settings[plugin][name] }

// Trust implements [installs.Modules].
func (m *modules) Trust() parcel.Trust { return m.trust }

// settingDefault returns what a plugin's manifest says of a setting that the configuration leaves out, nil
// for nothing.
func (m *modules) settingDefault(plugin, name string) jsontext.Value {
	if m.installed == nil {
		return nil
	}
	return m.installed.SettingDefault(plugin, name)
}

// Left implements [installs.Modules].
func (m *modules) Left(digest string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle(digest)
}

// Try implements [installs.Modules]. What cannot be loaded is not remembered.
func (m *modules) Try(ctx context.Context, digest string) (installs.Loaded, error) {
	l, leave, err := m.enter(ctx, digest)
	if verdict, ok := errors.AsType[*abi.Failure](err); ok {
		if _, own := m.sources[digest]; !own {
			m.forget(digest)
		}
		return installs.Loaded{}, verdict
	}
	if err != nil {
		return installs.Loaded{}, err
	}
	defer leave()
	if _, err := l.module.Inspect(ctx); err != nil { // an instance can be made
		return installs.Loaded{}, err
	}
	return installs.Loaded{Imports: l.module.Imports(), Exports: l.module.Exports()}, nil
}

package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// digestPrefix is how the digests of modules begin.
const digestPrefix = "sha256:"

// source is a plugin that this node has: its module's digest, with
// [digestPrefix], and how to get at the bytes.
type source struct {
	digest  string
	wasm    func() []byte
	bundled bool
}

// modules finds plugins by name, and modules by the digest of their bytes. Each
// module is compiled once, when it is first asked for. It is safe for concurrent
// use.
type modules struct {
	runtime *sandbox.Runtime
	names   map[string]source // by the plugin's name; never changed
	sources map[string]source // the same, by digest
	earlier func(ctx context.Context, digest string) ([]byte, error)
	// installed says what was installed while the node ran; set before the first request.
	installed installed
	// settings are what the configuration sets of plugins, by their names and by what it is called.
	settings map[string]map[string]jsontext.Value
	// trust says whose packages are installed, and run.
	trust parcel.Trust

	mu       sync.Mutex
	byDigest map[string]*loading
	spare    []string // digests of those in byDigest that no name stands for and nothing runs, latest last
}

// installed is what says what names stand for besides those of the node's own plugins.
type installed interface {
	Installed(name string) (digest string, known bool, err error)
	RunsNow(digest string) bool
	InstalledNames() []string
	SettingDefault(plugin, name string) jsontext.Value
}

// loading is a module that is being compiled or has been.
type loading struct {
	wanted bool          // somebody has asked for the module; guarded by modules.mu
	users  int           // that run it, or are about to; guarded by modules.mu
	done   chan struct{} // closed when the rest is set
	module *sandbox.Module
	handle *handle // of the module
	err    error
}

// newModules offers the bundled plugins and those of a folder. earlier returns the
// bytes of a module that none of them is any more; nil when nothing keeps such.
func newModules(r *sandbox.Runtime, own []ownPlugin, earlier func(context.Context, string) ([]byte, error)) *modules {
	m := &modules{runtime: r, earlier: earlier, names: map[string]source{}, sources: map[string]source{},
		byDigest: map[string]*loading{}}
	for _, p := range plugins.Bundled() {
		m.offer(p.Name, source{digest: digestPrefix + p.Digest, wasm: p.Wasm, bundled: true})
	}
	for _, p := range own {
		m.offer(p.name, source{digest: p.digest, wasm: func() []byte { return p.wasm }})
	}
	return m
}

func (m *modules) offer(name string, s source) {
	m.names[name] = s
	m.sources[s.digest] = s
}

// Names returns the names of the plugins: those of the operator's own folder and those that were
// installed first, which are there to be used, then those that come with every node.
func (m *modules) Names() []string {
	var own, bundled []string
	for _, name := range slices.Sorted(maps.Keys(m.names)) {
		if m.names[name].bundled {
			bundled = append(bundled, name)
		} else {
			own = append(own, name)
		}
	}
	if m.installed != nil {
		own = append(own, m.installed.InstalledNames()...)
		slices.Sort(own)
	}
	return append(slices.Compact(own), bundled...)
}

// bundled reports whether the named plugin comes with every node.
func (m *modules) bundled(name string) bool { return m.names[name].bundled }

// Resolve returns the digest of the module that the name stands for now:
// "sha256:" and hex. An *abi.Failure says that there is none.
func (m *modules) Resolve(_ context.Context, name string) (string, error) {
	if m.installed != nil {
		if digest, known, err := m.installed.Installed(name); known {
			return digest, err
		}
	}
	s, ok := m.names[name]
	if !ok {
		return "", &abi.Failure{Code: abi.FailurePluginMissing, Message: "there is no plugin " + name}
	}
	return s.digest, nil
}

// Wasm returns the bytes of a module, as it was written. The caller must not
// change them. An *abi.Failure says that this node does not have it.
func (m *modules) Wasm(ctx context.Context, digest string) ([]byte, error) {
	if s, ok := m.sources[digest]; ok {
		return s.wasm(), nil
	}
	missing := &abi.Failure{Code: abi.FailurePluginMissing, Message: "this node does not have the module " + digest}
	if m.earlier == nil {
		return nil, missing
	}
	wasm, err := m.earlier(ctx, digest)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the module %s: %w", digest, err)
	case wasm == nil:
		return nil, missing
	}
	return wasm, nil
}

// Module returns the named plugin's module. Compiling goes on when ctx ends:
// others may wait for it.
func (m *modules) Module(ctx context.Context, name string) (engine.Module, error) {
	digest, err := m.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return m.ModuleAt(ctx, digest)
}

// ModuleAt returns the module with the given digest, compiling it if need be.
// Compiling goes on when ctx ends: others may wait for it.
func (m *modules) ModuleAt(ctx context.Context, digest string) (engine.Module, error) {
	l, leave, err := m.enter(ctx, digest)
	if err != nil {
		return nil, err
	}
	defer leave()
	return l.handle, nil
}

// Prepare sees to it that the named plugin's module is on disk, compiled, so that its
// first caller hardly waits. It is not kept in memory, where its code takes many times
// what its bytes do, unless a caller asks for it meanwhile.
func (m *modules) Prepare(ctx context.Context, name string) error {
	digest, err := m.Resolve(ctx, name)
	if err != nil || m.runtime.Kept(digest) {
		return err
	}
	l := m.loading(digest, false)
	select {
	case <-l.done:
		return errors.Join(l.err, m.release(ctx, digest, l))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// release frees a module that nobody has asked for.
func (m *modules) release(ctx context.Context, digest string, l *loading) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.wanted || l.users > 0 || l.module == nil || m.byDigest[digest] != l {
		return nil
	}
	delete(m.byDigest, digest)
	return l.module.Close(ctx)
}

// loading returns the module with that digest, and begins to compile it if need be.
func (m *modules) loading(digest string, wanted bool) *loading {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.load(digest, wanted)
}

// load is called under mu.
func (m *modules) load(digest string, wanted bool) *loading {
	if l := m.byDigest[digest]; l != nil {
		l.wanted = l.wanted || wanted
		return l
	}
	l := &loading{wanted: wanted, done: make(chan struct{})}
	m.byDigest[digest] = l
	go m.compile(digest, l)
	return l
}

func (m *modules) compile(digest string, l *loading) {
	defer close(l.done)
	wasm, err := m.Wasm(context.Background(), digest)
	if err == nil {
		l.module, err = m.runtime.Compile(context.Background(), wasm)
	}
	if err == nil {
		l.handle = &handle{modules: m, digest: digest, imports: l.module.Imports(), exports: l.module.Exports()}
	}
	l.err = err
	var verdict *abi.Failure
	if err != nil && (!errors.As(err, &verdict) || verdict.Code == abi.FailurePluginMissing) {
		m.forget(digest) // it may go better next time, and made-up digests cost no memory
	}
}

func (m *modules) forget(digest string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byDigest, digest)
}

// idle reports whether nothing is being compiled.
func (m *modules) idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.byDigest {
		select {
		case <-l.done:
		default:
			return false
		}
	}
	return true
}

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/kept"
	"github.com/wharf-dev/wharf/runtime/sandbox/pool"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
	"github.com/wharf-dev/wharf/runtime/sandbox/wasi"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// Config says how a [Runtime] compiles.
type Config struct {
	// CacheDir keeps compiled modules between starts of the process. It is made
	// when it does not exist. "" keeps nothing.
	CacheDir string
	// CacheKey is what the files in CacheDir are authenticated with, for they hold native
	// code that is executed as it is: kept.KeyBytes random bytes that nobody else knows.
	// What was written under another key is removed, and made anew.
	CacheKey []byte
	// Log is told of files in CacheDir that are not used. nil discards it.
	Log *slog.Logger
	// Interpreter runs modules without compiling them: slow, but available on
	// every processor.
	Interpreter bool
	// IdleBytes bounds what instances hold while they wait for a Run, all modules
	// together. 0 stands for 64 MiB; below 0 none waits, and each Run makes its own.
	IdleBytes int64
	// GuestBytes bounds the memory of all Runs together, but for 4 MiB of each and for
	// the Run that came first. A guest that wants more waits. 0 sets no bound.
	GuestBytes int64
	// Source returns the bytes of a module that was compiled, by its digest. It is asked when
	// a plugin with debug information traps, to say in which line of its source. nil says
	// names only.
	Source func(ctx context.Context, digest string) ([]byte, error)
	// Turns are the places of guests that compute for long. nil stands for as many as
	// there are processors.
	Turns *turns.Turns
}

func (c *Config) turns() *turns.Turns {
	if c.Turns != nil {
		return c.Turns
	}
	return turns.New(goruntime.GOMAXPROCS(0))
}

// Runtime compiles modules and holds what they share. It is safe for concurrent
// use.
type Runtime struct {
	engine wazero.Runtime
	config wazero.RuntimeConfig                    // of engine
	cache  wazero.CompilationCache                 // nil without CacheDir
	code   *kept.Code                              // what the cache is over, nil without it
	hollow bool                                    // modules are loaded without the bodies of their functions
	offers map[string]map[string]rewrite.Signature // by module and name: what can be imported
	// validator checks modules as they were written, and compiles none.
	validator wazero.Runtime
	shared    guest.Shared
	source    func(ctx context.Context, digest string) ([]byte, error) // nil without one

	compilers chan struct{} // a place for each module that is being compiled

	kept    *kept.Folder // nil when nothing is kept
	idle    *pool.Budget
	counts  counts
	closing chan struct{}
	swept   chan struct{} // closed when nothing sweeps any more

	mu      sync.Mutex
	modules map[*Module]struct{} // that were compiled and not closed
}

// New returns a Runtime. The caller closes it.
func New(ctx context.Context, c Config) (*Runtime, error) {
	raiseInterpreterCeiling()
	config := wazero.NewRuntimeConfig()
	if c.Interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	config = engineConfig(config)
	r := &Runtime{source: c.Source, compilers: make(chan struct{}, maxCompilers()), closing: make(chan struct{}), swept: make(chan struct{}), shared: guest.Shared{Turns: c.turns(), Memory: guest.NewMemory(c.GuestBytes)}, modules: map[*Module]struct{}{}}
	r.idle = pool.NewBudget(idleBudget(c.IdleBytes), time.Now)
	go r.sweep()
	r.validator = wazero.NewRuntimeWithConfig(ctx, engineConfig(wazero.NewRuntimeConfig()))
	if c.CacheDir != "" {
		if err := r.openCache(c); err != nil {
			return nil, errors.Join(err, r.Close(ctx))
		}
		config = config.WithCompilationCache(r.cache)
	}
	r.config, r.engine = config, wazero.NewRuntimeWithConfig(ctx, config)
	r.hollow = r.hollows(ctx)
	if err := r.offer(ctx); err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	return r, nil
}

// openCache opens what is kept on disk: the machine code of modules, and what else is
// derived from them.
func (r *Runtime) openCache(c Config) error {
	if err := removeUnsealed(c.CacheDir); err != nil {
		return fmt.Errorf("removing compiled modules of an earlier version: %w", err)
	}
	var err error
	r.code, err = kept.OpenCode(kept.Place{Dir: filepath.Join(c.CacheDir, codeFolder), Key: c.CacheKey, Limit: codeBytes, Log: c.Log},
		engineName+" "+goruntime.GOOS+" "+goruntime.GOARCH)
	if err != nil {
		return err
	}
	if r.cache, err = cacheOver(r.code); err != nil {
		return err
	}
	r.kept, err = kept.Open(kept.Place{Dir: filepath.Join(c.CacheDir, keptFolder), Key: c.CacheKey, Limit: keptBytes, Log: c.Log})
	return err
}

// removeUnsealed removes the machine code that earlier versions have kept: it was not
// authenticated, and nothing reads it.
func removeUnsealed(dir string) error {
	old, _ := filepath.Glob(filepath.Join(dir, "wazero-*")) // the pattern is sound, but for odd names of dir
	for _, path := range old {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// engineConfig sets what all engines have in common: what of WebAssembly there is, and
// that they heed debug information: rewriting leaves none of the author's, and has put its
// own in where a trap's offsets are of use.
func engineConfig(c wazero.RuntimeConfig) wazero.RuntimeConfig {
	return c.WithDebugInfoEnabled(true).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst)
}

// engineName is the engine and its version in go.mod.
const engineName = "wazero-1.12.0"

// Name names the engine and its version, such as wazero-1.12.0. It is the same for
// the compiler and the interpreter.
func (r *Runtime) Name() string { return engineName }

// Rewriter names what modules are rewritten by before they are compiled: it decides
// what a Run uses of gas and depth.
func (r *Runtime) Rewriter() string { return rewrite.Version }

// offer instantiates the modules that guests import from.
func (r *Runtime) offer(ctx context.Context) error {
	host, err := instantiateHostCalls(ctx, r.engine)
	if err != nil {
		return fmt.Errorf("offering host calls: %w", err)
	}
	offered, err := wasi.Offer(ctx, r.engine)
	if err != nil {
		return fmt.Errorf("offering WASI: %w", err)
	}
	if _, err := offerYield(ctx, r.engine); err != nil {
		return fmt.Errorf("offering what meters call: %w", err)
	}
	r.offers = map[string]map[string]rewrite.Signature{
		abi.HostModule: signatures(host),
		wasi.Module:    signatures(offered),
	}
	return nil
}

func signatures(m api.Module) map[string]rewrite.Signature {
	out := map[string]rewrite.Signature{}
	for name, f := range m.ExportedFunctionDefinitions() {
		out[name] = rewrite.Signature{Params: string(f.ParamTypes()), Results: string(f.ResultTypes())}
	}
	return out
}

func idleBudget(bytes int64) uint64 {
	switch {
	case bytes == 0:
		return defaultIdleBytes
	case bytes < 0:
		return 0
	}
	return uint64(bytes)
}

// keep has the Runtime close a module at its own end.
func (r *Runtime) keep(m *Module) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.modules[m] = struct{}{}
}

// Close frees what the Runtime holds, its modules included. No Run may be under
// way.
func (r *Runtime) Close(ctx context.Context) error {
	close(r.closing)
	<-r.swept
	var err error
	for m := range r.modules {
		err = errors.Join(err, m.free())
	}
	err = errors.Join(err, r.validator.Close(ctx))
	if r.engine != nil {
		err = errors.Join(err, r.engine.Close(ctx))
	}
	if r.cache != nil {
		err = errors.Join(err, r.cache.Close(ctx))
	}
	if err != nil {
		return fmt.Errorf("closing the sandbox: %w", err)
	}
	return nil
}

// offered lists what can be imported from the given module, sorted.
func (r *Runtime) offered(module string) []string {
	var names []string
	for name := range r.offers[module] {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

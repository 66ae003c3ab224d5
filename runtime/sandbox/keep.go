package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/runtime/sandbox/kept"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

const (
	// keptFolder is where prepared modules are, in the folder of what is kept, and
	// codeFolder where the machine code of them is, of which there is more.
	keptFolder = "prepared"
	keptBytes  = 512 << 20
	codeFolder = "compiled"
	codeBytes  = 1 << 30
	// preparation names how modules are initialized, and what is kept of that. It
	// changes whenever an initialization could come out in another way.
	preparation = "1"
	// traces names what the engine is had to tell of traps.
	traces = "offsets-1"
)

// prepared is what is kept of a module besides its code, its memory and its globals.
type prepared struct {
	Shape      shape `json:"shape"`
	Initialize bool  `json:"initialize"` // in each Run
	Once       bool  `json:"once"`       // the base is initialized
	Monotonic  int64 `json:"monotonic"`
}

func (r *Runtime) keptKey(digest string) kept.Key {
	how := preparation + " " + engineName + " " + traces
	if r.hollow {
		how += " hollow"
	}
	return kept.Key{Module: digest, Rewriter: rewrite.Version, Snapshot: how}
}

// Kept reports whether the module with the given digest, "sha256:" and hex, was compiled
// before and is on disk, so that compiling it takes no more than reading that.
func (r *Runtime) Kept(digest string) bool {
	return r.kept != nil && r.kept.Has(r.keptKey(digest))
}

// ForeignCache returns the paths of the files in a CacheDir that a Runtime with that key
// would not use, but make anew. It changes nothing.
func ForeignCache(dir string, key []byte) (foreign []string, err error) {
	for folder, limit := range map[string]int64{keptFolder: keptBytes, codeFolder: codeBytes} {
		found, err := kept.Foreign(kept.Place{Dir: filepath.Join(dir, folder), Key: key, Limit: limit})
		if err != nil {
			return nil, err
		}
		foreign = append(foreign, found...)
	}
	slices.Sort(foreign)
	return foreign, nil
}

// restore makes the module of what was kept of it, and says whether that was there. It
// was validated before it was kept. What cannot be read or used is made again.
func (m *Module) restore(ctx context.Context) bool {
	if m.runtime.kept == nil {
		return false
	}
	e, err := m.runtime.kept.Load(m.runtime.keptKey(m.digest))
	if err != nil || e == nil {
		return false
	}
	p, blank, ok := readMeta(e.Meta)
	if !ok {
		return false
	}
	m.shape, m.data = p.Shape, blank
	if m.checkImports() != nil {
		return false
	}
	if m.code, err = m.runtime.compile(over(), e.Wasm); err != nil {
		return false // the machine code is not there: who compiles waits for a place
	}
	if m.readExports() != nil || m.rebase(p, e) != nil {
		_ = m.code.Close(ctx)
		return false
	}
	return true
}

// over returns a context that has ended, with which the engine takes code that it has and
// compiles none.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// rebase makes the base of what was kept.
func (m *Module) rebase(p *prepared, e *kept.Entry) error {
	g, err := m.newGround(e.Image)
	if err != nil {
		return err
	}
	g.globals, g.monotonic, g.initialize = e.Globals, p.Monotonic, p.Initialize
	m.base, m.once = g, p.Once
	return nil
}

// store keeps a module for the next start. That it could not be kept costs time then, and
// nothing now.
func (m *Module) store(wasm []byte) {
	if m.runtime.kept == nil || m.broken != nil {
		return
	}
	g := m.base
	p := &prepared{Shape: m.shape, Initialize: g.initialize, Once: m.once, Monotonic: g.monotonic}
	e := &kept.Entry{Wasm: wasm, Globals: g.globals}
	if g.image != nil {
		e.Image = g.image.Bytes()
	}
	var blank sparse
	if m.once {
		blank = m.data
	}
	if e.Meta = appendMeta(p, blank); e.Meta != nil {
		_ = m.runtime.kept.Store(m.runtime.keptKey(m.digest), e)
	}
}

// appendMeta writes the length of the JSON, the JSON, the size of a blank memory, and its
// stretches that are not zero: each as where it begins, its length, and its bytes.
func appendMeta(p *prepared, blank sparse) []byte {
	text, err := json.Marshal(p)
	if err != nil {
		return nil // a name that is not UTF-8
	}
	b := append(binary.AppendUvarint(nil, uint64(len(text))), text...)
	b = binary.AppendUvarint(b, uint64(blank.size))
	for _, s := range blank.runs {
		b = binary.AppendUvarint(b, uint64(s.at))
		b = append(binary.AppendUvarint(b, uint64(len(s.bytes))), s.bytes...)
	}
	return b
}

// readMeta reads what appendMeta has written.
func readMeta(b []byte) (p *prepared, blank sparse, ok bool) {
	r := &metaReader{b: b}
	text := r.bytes()
	blank.size = r.number()
	if p = (&prepared{}); r.bad || json.Unmarshal(text, p) != nil {
		return nil, sparse{}, false
	}
	for len(r.b) > 0 && !r.bad {
		at := r.number()
		content := r.bytes()
		if r.bad || at+len(content) > blank.size {
			return nil, sparse{}, false
		}
		blank.runs = append(blank.runs, stretch{at, bytes.Clone(content)})
	}
	return p, blank, !r.bad
}

type metaReader struct {
	b   []byte
	bad bool
}

func (r *metaReader) number() int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > 1<<32 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

func (r *metaReader) bytes() []byte {
	n := r.number()
	if n > len(r.b) {
		r.b, r.bad = nil, true
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

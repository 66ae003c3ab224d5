package workers

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

var (
	//go:embed wasm/work-as.wasm
	workAS []byte
	//go:embed wasm/work-c.wasm
	workC []byte
	//go:embed wasm/work-go.wasm.zst
	workGo []byte
	//go:embed wasm/work-rust.wasm
	workRust []byte
	//go:embed wasm/work-wat.wasm
	workWat []byte
)

// Worker is a plugin whose input is a [Work]. There is one for each language, and
// all can do about the same: ../src/workers/README.md says what.
type Worker struct {
	Name  string // such as work-rust
	Wasm  []byte // not to be changed
	Works []string
}

// Work is the input of a [Worker]. The summary of its output is a digest of what it
// found: see ../src/workers/README.md.
type Work struct {
	Work  string `json:"work"`
	Times int    `json:"times"`
}

// Can reports whether the Worker can do the work.
func (w Worker) Can(work string) bool { return slices.Contains(w.Works, work) }

// All returns the worker of each language.
func All() []Worker {
	all := func(more ...string) []string {
		return append([]string{"busy", "calls", "floats", "look", "recurse", "trap", "write"}, more...)
	}
	return []Worker{
		{"work-as", workAS, all("grow", "heap", "maps", "sort")},
		{"work-c", workC, all("exit", "grow", "heap", "maps", "sort", "vectors")},
		{"work-go", unpackedWorkGo(), all("exit", "heap", "maps", "sort")},
		{"work-rust", workRust, all("exit", "grow", "heap", "maps", "sort")},
		{"work-wat", workWat, all("exit", "grow", "pile", "undo", "vectors")},
	}
}

var unpackedWorkGo = sync.OnceValue(func() []byte {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic("workers: preparing to unpack: " + err.Error())
	}
	defer decoder.Close()
	wasm, err := decoder.DecodeAll(workGo, nil)
	if err != nil {
		panic("workers: unpacking the embedded work-go: " + err.Error())
	}
	return wasm
})

package guests

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:generate go run ./rebuild

var (
	//go:embed wasm/golang.wasm.zst
	golang []byte
	//go:embed wasm/c.wasm
	c []byte
	//go:embed wasm/extism.wasm
	extism []byte
)

// What the export calls does.
const (
	Calls     = 1000
	CallBytes = 100
)

// C returns the plugin in C. The caller must not change the bytes.
func C() []byte { return c }

// Extism returns the plugin in C for Extism. The caller must not change the bytes.
func Extism() []byte { return extism }

// Golang returns the plugin in Go. The caller must not change the bytes.
var Golang = sync.OnceValue(func() []byte {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err == nil {
		defer decoder.Close()
		var wasm []byte
		if wasm, err = decoder.DecodeAll(golang, nil); err == nil {
			return wasm
		}
	}
	panic(fmt.Sprintf("guests: unpacking an embedded module: %v", err))
})

// Kernel is something that is only computed. It takes some milliseconds.
type Kernel struct {
	Name   string
	Wasm   func() []byte
	Export string
}

// Kernels lists what is computed.
func Kernels() []Kernel {
	return []Kernel{
		{"JSON in Go", Golang, "json"},
		{"SHA-256 in Go", Golang, "sha256"},
		{"SHA-256 in C", C, "sha256"},
		{"matrix product in C", C, "matrix"},
		{"Mandelbrot in C", C, "mandelbrot"},
		{"fib in C", C, "fib"},
	}
}

package languages

import (
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

//go:embed src/wharf
var sources embed.FS

//go:embed wasm
var modules embed.FS

// Language is a language that the plugin is written in.
type Language struct {
	Name   string
	id     string // as "wharf plugin new" has it
	source string // the plugin's, here
	target string // and in the folder that is built
	extism string // the module with Extism's kit, "" if none was had
	// Bare says that the plugin with Extism's kit takes the bytes as they are, as the kit has no JSON.
	Bare bool
}

// All returns the languages, those with the smallest modules first.
func All() []Language {
	return []Language{
		{Name: "C", id: "c", source: "plugin.c", target: "plugin.c", extism: "extism-c.wasm", Bare: true},
		{Name: "AssemblyScript", id: "assemblyscript", source: "index.ts", target: "assembly/index.ts", extism: "extism-assemblyscript.wasm", Bare: true},
		{Name: "Rust", id: "rust", source: "lib.rs", target: "src/lib.rs", extism: "extism-rust.wasm"},
		{Name: "Python", id: "python", source: "plugin.py", target: "plugin.py"},
		{Name: "TypeScript", id: "typescript", source: "plugin.ts", target: "src/plugin.ts"},
		{Name: "Go", id: "go", source: "main.go.txt", target: "main.go", extism: "extism-go.wasm.zst"},
	}
}

// Extism returns the module with Extism's kit; nil if none was had.
func (l Language) Extism() ([]byte, error) {
	if l.extism == "" {
		return nil, nil
	}
	wasm, err := modules.ReadFile(path.Join("wasm", l.extism))
	if err != nil || !strings.HasSuffix(l.extism, ".zst") {
		return wasm, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", l.extism, err)
	}
	defer decoder.Close()
	return decoder.DecodeAll(wasm, nil)
}

// Build makes the plugin with the binary of Wharf, in a folder of its own below dir, and returns the module. Where
// the language's tools are missing, the error says what does.
func (l Language) Build(ctx context.Context, wharf, dir string) ([]byte, error) {
	below := filepath.Join(dir, l.id)
	if err := os.MkdirAll(below, 0o755); err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	if err := run(ctx, below, wharf, "plugin", "new", "guest", "--lang", l.id, "--kind", "persona"); err != nil {
		return nil, err
	}
	text, err := sources.ReadFile(path.Join("src/wharf", l.source))
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(below, "guest")
	if err := os.WriteFile(filepath.Join(folder, l.target), text, 0o644); err != nil {
		return nil, fmt.Errorf("writing the plugin: %w", err)
	}
	if l.id == "assemblyscript" { // whose compiler is a package of the folder
		if err := run(ctx, folder, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
			return nil, err
		}
	}
	if err := run(ctx, below, wharf, "plugin", "build", "guest"); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(folder, "build/guest.wasm"))
}

func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running %s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

const moduleHeader = 8 // "\0asm" and the version

var errNoModule = errors.New("these bytes are no module")

// Stripped returns how many bytes of a module are more than names and what debuggers read, in custom sections.
func Stripped(wasm []byte) (size int, err error) {
	if len(wasm) < moduleHeader {
		return 0, errNoModule
	}
	size = moduleHeader
	for rest := wasm[moduleHeader:]; len(rest) > 0; {
		length, n := binary.Uvarint(rest[1:])
		if n <= 0 || uint64(len(rest)-1-n) < length {
			return 0, errNoModule
		}
		section := 1 + n + int(length)
		if rest[0] != 0 {
			size += section
		}
		rest = rest[section:]
	}
	return size, nil
}

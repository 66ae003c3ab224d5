package sdk

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
)

var (
	//go:embed go.zip
	goZip []byte
	//go:embed c/wharf.h
	cHeader []byte
	//go:embed python/src/wharf/__init__.pyi
	pythonStub []byte
	//go:embed rust/Cargo.toml rust/LICENSE rust/README.md rust/src
	//go:embed rust/macros/Cargo.toml rust/macros/LICENSE rust/macros/README.md rust/macros/src
	rustCrate embed.FS
	//go:embed assemblyscript/assembly assemblyscript/LICENSE
	assemblyScript embed.FS
	//go:embed typescript/wharf.d.ts
	scriptTypes []byte
)

// Go returns the sources of the Go SDK without its tests, and the license.
func Go() (fs.FS, error) {
	files, err := zip.NewReader(bytes.NewReader(goZip), int64(len(goZip)))
	if err != nil {
		return nil, fmt.Errorf("reading the embedded Go SDK: %w", err)
	}
	return files, nil
}

// C returns the header that is the SDK for C and C++.
func C() []byte { return bytes.Clone(cHeader) }

// TypeScript returns the declarations of what plugins in TypeScript and JavaScript have. The SDK itself is part of
// what builds them.
func TypeScript() []byte { return bytes.Clone(scriptTypes) }

// Python returns the stub of the module that is in the engine of plugins in Python, for editors.
func Python() []byte { return bytes.Clone(pythonStub) }

// Rust returns the crate of the Rust SDK, with that of its attributes in the folder macros, without what belongs to
// their development.
func Rust() (fs.FS, error) {
	files, err := fs.Sub(rustCrate, "rust")
	if err != nil {
		return nil, fmt.Errorf("reading the embedded Rust SDK: %w", err)
	}
	return files, nil
}

// AssemblyScript returns the sources of the AssemblyScript SDK, and the license.
func AssemblyScript() (fs.FS, error) {
	sources, err := fs.Sub(assemblyScript, "assemblyscript")
	if err != nil {
		return nil, fmt.Errorf("reading the embedded AssemblyScript SDK: %w", err)
	}
	return sources, nil
}

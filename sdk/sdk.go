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
	//go:embed python/wharf.pyi
	pythonStub []byte
	//go:embed rust/Cargo.toml rust/LICENSE rust/README.md rust/src
	rustCrate embed.FS
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

// Python returns the stub of the module that is in the engine of plugins in Python, for editors.
func Python() []byte { return bytes.Clone(pythonStub) }

// Rust returns the crate of the Rust SDK, without what belongs to its development.
func Rust() (fs.FS, error) {
	files, err := fs.Sub(rustCrate, "rust")
	if err != nil {
		return nil, fmt.Errorf("reading the embedded Rust SDK: %w", err)
	}
	return files, nil
}

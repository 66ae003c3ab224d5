// Command write writes docs/host-calls.md and docs/host-calls.schema.json. It runs in
// the folder of package abi:
//
//	go generate ./abi
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/wharf-dev/wharf/abi/internal/reference"
)

func main() {
	if err := write(".", filepath.Join("..", "docs")); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}

func write(sources, docs string) error {
	s, err := reference.Read(sources)
	if err != nil {
		return err
	}
	schemas, err := reference.Schemas(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(docs, "host-calls.schema.json"), schemas, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, "host-calls.md"), []byte(reference.Page(s)), 0o644)
}

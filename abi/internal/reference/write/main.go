// Command write writes the pages and schemas of package reference to docs, and the comments
// of fields to package schema. It runs in the folder of package abi:
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
	files, err := reference.Files(s)
	if err != nil {
		return err
	}
	comments, err := reference.Comments(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(sources, "schema", "comments.go"), comments, 0o644); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(docs, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

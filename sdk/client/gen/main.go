// Gen writes what the client SDKs have in common, from the OpenAPI document of a node
// (gateway/harn/testdata/openapi.json, which a test keeps current): its types, its
// operations, and the resources that surface.go names. Run it with go generate in this folder.
//
// What it writes is checked in; a test says when it is old. The names are the document's in
// all languages, after each one's habits: createPersona is Personas.Create in Go,
// personas.create in TypeScript and Python, and CreatePersonaRequest its body in all three.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run .

func main() {
	if err := run(".."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes the files of all languages below the folder of the clients.
func run(clients string) error {
	files, err := generate(clients)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(clients, name), text, 0o644); err != nil {
			return fmt.Errorf("writing what was generated: %w", err)
		}
	}
	return nil
}

// generate returns the files by their paths below the folder of the clients.
func generate(clients string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(clients, "../../gateway/harn/testdata/openapi.json"))
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	a, err := parse(text)
	if err != nil {
		return nil, err
	}
	golang, err := writeGo(a)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"go/generated.go":                  golang,
		"ts/src/generated.ts":              writeTypeScript(a),
		"python/wharf_client/generated.py": writePython(a),
	}, nil
}

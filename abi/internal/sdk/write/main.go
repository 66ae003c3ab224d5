// Command write writes what package sdk generates to the SDKs. It runs in the folder of package
// abi:
//
//	go generate ./abi
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/wharf-dev/wharf/abi/internal/reference"
	"github.com/wharf-dev/wharf/abi/internal/sdk"
)

func main() {
	if err := write(".", filepath.Join("..", "sdk")); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}

func write(sources, sdks string) error {
	s, err := reference.Read(sources)
	if err != nil {
		return err
	}
	parts, err := sdk.ReadParts(sdks)
	if err != nil {
		return err
	}
	for name, text := range sdk.Files(sdk.Read(s), parts) {
		if err := os.WriteFile(filepath.Join(sdks, filepath.FromSlash(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

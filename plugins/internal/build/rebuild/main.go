// Command rebuild builds the bundled plugins and those of package plugintest from
// their sources, and writes the modules and the lock files. It runs in the folder of
// the plugins:
//
//	go generate ./plugins
//
// It needs Go, and clang with wasm-ld (on Debian: the packages clang and lld); for the
// workers of package plugintest also what their README names.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/wharf-dev/wharf/plugins/internal/build"
)

func main() {
	if err := rebuild(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "rebuild:", err)
		os.Exit(1)
	}
}

func rebuild(ctx context.Context) error {
	for _, set := range build.Sets() {
		if err := rebuildSet(ctx, set); err != nil {
			return err
		}
	}
	return nil
}

func rebuildSet(ctx context.Context, set build.Set) error {
	var records []build.Record
	for _, recipe := range set.Recipes {
		wasm, err := recipe.Build(ctx, ".")
		if err != nil {
			return err
		}
		record, err := recipe.Record(ctx, ".", wasm)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(set.Folder, recipe.Name), wasm); err != nil {
			return err
		}
		fmt.Printf("%s %s: %d bytes, built with %s\n", record.Name, record.Version, len(wasm), record.Tool)
		records = append(records, record)
	}
	lock, err := build.FormatLock(records)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(set.Folder, set.Lock), lock, 0o644)
}

// compressFrom is the size from which a module is embedded compressed.
const compressFrom = 256 << 10

func write(name string, wasm []byte) error {
	path := name + ".wasm"
	if len(wasm) < compressFrom {
		return os.WriteFile(path, wasm, 0o644)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	defer encoder.Close()
	return os.WriteFile(path+".zst", encoder.EncodeAll(wasm, nil), 0o644)
}

// Command rebuild builds the bundled plugins and those of package plugintest from
// their sources, and writes the modules and the lock files. It runs in the folder of
// the plugins:
//
//	go generate ./plugins
//
// What has not changed since it was locked is left as it is, so that only the compilers of what
// has changed are needed: Go; clang with wasm-ld (on Debian: the packages clang and lld); for the
// workers of package plugintest also asc (npm ci in their folder), rustc with the target
// wasm32-wasip1, and wat2wasm.
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
	file := filepath.Join(set.Folder, set.Lock)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	locked, err := build.ParseLock(text)
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	var records []build.Record
	for _, recipe := range set.Recipes {
		record, err := current(recipe, locked)
		if err == nil && record == nil {
			record, err = rebuildOne(ctx, set, recipe)
		}
		if err != nil {
			return err
		}
		records = append(records, *record)
	}
	lock, err := build.FormatLock(records)
	if err != nil {
		return err
	}
	return os.WriteFile(file, lock, 0o644)
}

// current returns what is locked of a plugin whose sources are still those, nil for another.
func current(recipe build.Recipe, locked []build.Record) (*build.Record, error) {
	sources, err := recipe.HashSources(".")
	if err != nil {
		return nil, err
	}
	for i, r := range locked {
		if r.Name == recipe.Name && r.Version == recipe.Version && r.Sources == sources {
			return &locked[i], nil
		}
	}
	return nil, nil
}

func rebuildOne(ctx context.Context, set build.Set, recipe build.Recipe) (*build.Record, error) {
	wasm, err := recipe.Build(ctx, ".")
	if err != nil {
		return nil, err
	}
	record, err := recipe.Record(ctx, ".", wasm)
	if err != nil {
		return nil, err
	}
	if err := write(filepath.Join(set.Folder, recipe.Name), wasm); err != nil {
		return nil, err
	}
	fmt.Printf("%s %s: %d bytes, built with %s\n", record.Name, record.Version, len(wasm), record.Tool)
	return &record, nil
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

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/alone"
	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// localPlugin is a plugin that lies in a file of its own, or in a folder with a manifest.
type localPlugin struct {
	name   string
	folder string // that its manifest lies in, or else its module
	wasm   []byte
	export string // what a run calls if nobody says
	// options are what the manifest says of each run.
	options alone.Options
}

// readPlugin reads a module, or what the manifest of a folder names.
func readPlugin(path string) (*localPlugin, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the plugin: %w", err)
	}
	if info.IsDir() || filepath.Base(path) == manifest.FileName {
		return readPluginFolder(folderNamed(path))
	}
	wasm, err := readModuleAt(path)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return &localPlugin{name: name, folder: filepath.Dir(path), wasm: wasm, export: abi.DefaultExport}, nil
}

// readModuleAt reads a module that is run, or that of a package. What is too large, a pipe or a device is
// not read.
func readModuleAt(path string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("reading the module: %w", err)
	}
	defer root.Close()
	file, err := readModuleIn(root, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	return moduleOf(file)
}

func readModuleIn(root *os.Root, name string) ([]byte, error) {
	wasm, err := readWithin(root, name, maxModule+1)
	if err != nil {
		return nil, fmt.Errorf("reading the module: %w", err)
	}
	if len(wasm) > maxModule {
		return nil, fmt.Errorf("the module %s has more than %s", name, show.Bytes(maxModule))
	}
	return wasm, nil
}

func readPluginFolder(path string) (_ *localPlugin, err error) {
	folder, err := openAuthorsFolder(path, manifest.FileName)
	if _, none := errors.AsType[*noManifest](err); none {
		return nil, advise(fmt.Errorf("the folder %s has no %s", path, manifest.FileName), "a folder with a manifest, or a module: a .wasm file")
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	m, problems := manifest.Parse(folder.text)
	if m == nil {
		return nil, advise(fmt.Errorf("the manifest of %s is not valid: %s", path, firstError(problems)), "wharf plugin lint "+path)
	}
	wasm, err := readModuleIn(folder.Root, filepath.FromSlash(m.Module))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, advise(fmt.Errorf("there is no module %s, which the manifest of %s names", m.Module, path), "wharf plugin build "+path)
	}
	if err != nil {
		return nil, err
	}
	return &localPlugin{name: m.Name, folder: path, wasm: wasm, export: m.Exports[0], options: manifestOptions(m)}, nil
}

// manifestOptions are what a manifest says of a run.
func manifestOptions(m *manifest.Manifest) alone.Options {
	o := alone.Options{Config: map[string]jsontext.Value{}, Secrets: m.Secrets,
		Limits: sandbox.Limits{MemoryBytes: uint64(m.Limits.Memory), Gas: uint64(m.Limits.Gas), WallTime: m.Limits.Time, Depth: int(m.Limits.Depth)}}
	for _, s := range m.Config {
		if s.Default != nil {
			o.Config[s.Name] = s.Default
		}
	}
	var calls []string
	for _, call := range abi.HostCalls() {
		calls = append(calls, call.Name)
	}
	for _, asked := range m.Asks(&manifest.Module{Calls: calls}) {
		if !asked.Granted {
			o.Denied = append(o.Denied, asked.Call)
		}
	}
	return o
}

package sdk

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// ReadParts reads what of the generated files is written by hand, by its path in the folder of the SDKs.
func ReadParts(sdks string) (map[string]string, error) {
	parts := map[string]string{}
	names := slices.Concat(partNames, []string{scriptGlobals, scriptModule})
	for _, s := range exampleSources() {
		names = append(names, s.file)
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(sdks, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("reading the parts of an SDK: %w", err)
		}
		parts[name] = string(text)
	}
	return parts, nil
}

// Files returns every generated file, by its path from the folder of the SDKs. Parts are what is written by
// hand.
func Files(api *API, parts map[string]string) map[string][]byte {
	api.illustrate(parts)
	files := map[string][]byte{"c/wharf.h": C(api, parts), "typescript/wharf.d.ts": TypeScript(api, parts)}
	for name, text := range Rust(api) {
		files[path.Join("rust", "src", name)] = text
	}
	for name, text := range AssemblyScript(api) {
		files[path.Join("assemblyscript", "assembly", name)] = text
	}
	files["python/src/wharf/__init__.pyi"] = Python(api)
	files["python/src/wharf_testing/_calls.py"] = PythonCalls(api)
	files["typescript/index.d.ts"] = ScriptModule(api, parts)
	files["typescript/calls.d.ts"] = ScriptCallTypes(api)
	files["typescript/calls.js"] = ScriptCalls(api)
	files["../docs/host-calls-examples.md"] = ExamplesPage(api)
	return files
}

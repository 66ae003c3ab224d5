package sdk

import (
	"maps"
	"path"
)

// Files returns every generated file, by its path in the folder of the SDKs. Parts are the parts of
// the header in C that are written by hand, by their names.
func Files(api *API, parts map[string]string) map[string][]byte {
	files := map[string][]byte{}
	for name, text := range Rust(api) {
		files[path.Join("rust", "src", name)] = text
	}
	files[path.Join("python", "wharf.pyi")] = Python(api)
	maps.Copy(files, map[string][]byte{path.Join("c", "wharf.h"): C(api, parts)})
	return files
}

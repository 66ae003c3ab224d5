package templates

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/wharf-dev/wharf/sdk"
)

// language is what differs between plugins in one and in another.
type language struct {
	name   string // as manifests have it
	called string
	folder string // of its templates
	entry  string
	// files are templates of the folder and what they become; KIND stands for the kind.
	files map[string]string
	// vendor puts the SDK among the files.
	vendor  func(*filled, map[string][]byte) error
	sdkRow  string // of the table of files
	ownTest string // how the language's own tests are run
	needs   string // what has to be installed
	ignored string // by git, beside what is built
}

func languages() []language {
	return []language{
		{name: "typescript", called: "TypeScript", folder: "script", entry: "src/plugin.ts", vendor: vendorTypes,
			files:  map[string]string{"KIND.ts.tmpl": "src/plugin.ts", "tsconfig.json.tmpl": "tsconfig.json"},
			sdkRow: "| `wharf.d.ts`, `tsconfig.json` | what `wharf` and the globals have, for editors and `tsc` |",
			needs:  "Nothing has to be installed. Types are stripped and not checked: `npx -p typescript tsc` does that. npm packages can be imported when they are in node_modules.", ignored: "/node_modules/"},
		{name: "javascript", called: "JavaScript", folder: "script", entry: "src/plugin.js", vendor: vendorTypes,
			files:  map[string]string{"KIND.js.tmpl": "src/plugin.js", "tsconfig.json.tmpl": "jsconfig.json"},
			sdkRow: "| `wharf.d.ts`, `jsconfig.json` | what `wharf` and the globals have, for editors |",
			needs:  "Nothing has to be installed; npm packages can be imported when they are in node_modules.", ignored: "/node_modules/"},
		{name: "python", called: "Python", folder: "python", entry: "plugin.py", vendor: vendorPython,
			files:  map[string]string{"KIND.py.tmpl": "plugin.py"},
			sdkRow: "| `wharf.pyi` | what the SDK has, for editors |",
			needs:  "Nothing has to be installed. Other files of the folder can be imported; docs/sdk-python.md says which modules the engine has.", ignored: "__pycache__/"},
		{name: "go", called: "Go", folder: "go", entry: "main.go", vendor: vendorGo,
			files:   map[string]string{"go.mod.tmpl": "go.mod", "KIND.go.tmpl": "main.go", "KIND_test.go.tmpl": "main_test.go"},
			ownTest: "go test .              # natively, against a host that the test plays\n",
			sdkRow:  "| `internal/wharf` | the SDK, until there is a release of it to `go get` |",
			needs:   "It needs Go. `go get` and `go mod tidy` work as in any module."},
		{name: "rust", called: "Rust", folder: "rust", entry: "src/lib.rs", vendor: vendorRust,
			files:   map[string]string{"Cargo.toml.tmpl": "Cargo.toml", "KIND.rs.tmpl": "src/lib.rs"},
			ownTest: "cargo test             # natively, against a host that the test plays\n",
			sdkRow:  "| `wharf-plugin` | the SDK, a crate, until there is a release of it |",
			needs:   "It needs cargo, and Rust's standard library for wasm32-unknown-unknown: `wharf plugin build` says how to get it.",
			ignored: "/target/"},
		{name: "c", called: "C", folder: "c", entry: "plugin.c", vendor: vendorC,
			files:  map[string]string{"KIND.c.tmpl": "plugin.c"},
			sdkRow: "| `wharf.h` | the SDK |",
			needs:  "It needs clang and lld, and no C library."},
		{name: "cpp", called: "C++", folder: "c", entry: "plugin.cpp", vendor: vendorC,
			files:  map[string]string{"KIND.c.tmpl": "plugin.cpp"},
			sdkRow: "| `wharf.h` | the SDK |",
			needs:  "It needs clang and lld, and no C++ library."},
		{name: "assemblyscript", called: "AssemblyScript", folder: "assemblyscript", entry: "assembly/index.ts", vendor: vendorAssemblyScript,
			files:   map[string]string{"KIND.ts.tmpl": "assembly/index.ts", "asconfig.json.tmpl": "asconfig.json", "package.json.tmpl": "package.json", "tsconfig.json.tmpl": "tsconfig.json"},
			sdkRow:  "| `wharf` | the SDK, until there is a release of it |\n| `asconfig.json` | how it is compiled |\n| `package.json`, `tsconfig.json` | the compiler's version, and what editors need |",
			needs:   "It needs Node 20 or newer, and the compiler, which `npm install` puts into the folder.",
			ignored: "/node_modules/"},
	}
}

const goSDK = "github.com/wharf-dev/wharf/sdk/go"

// vendorGo puts the Go SDK into the plugin's module as a package of its own, so that the go command asks
// nobody for it, and other modules can be added as ever.
func vendorGo(f *filled, made map[string][]byte) error {
	files, err := sdk.Go()
	if err != nil {
		return err
	}
	own := fmt.Appendf(nil, `"%s/internal/wharf`, f.goModule)
	return eachFile(files, func(name string, text []byte) {
		if name == "go.mod" {
			f.goVersion = goVersion(string(text))
			return
		}
		made[path.Join("internal/wharf", name)] = bytes.ReplaceAll(text, []byte(`"`+goSDK), own)
	})
}

// eachFile calls f with each file of an SDK.
func eachFile(files fs.FS, f func(name string, text []byte)) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err == nil {
			f(name, text)
		}
		return err
	})
}

// goVersion is the version of Go that a go.mod asks for.
func goVersion(mod string) string {
	for l := range strings.Lines(mod) {
		if version, ok := strings.CutPrefix(l, "go "); ok {
			return strings.TrimSpace(version)
		}
	}
	return ""
}

// vendorTypes puts what editors ask for beside the source: the SDK itself is in this program.
func vendorTypes(_ *filled, made map[string][]byte) error {
	made["wharf.d.ts"] = sdk.TypeScript()
	return nil
}

// vendorPython puts what editors know the SDK by beside the source. The SDK itself is in this program.
func vendorPython(_ *filled, made map[string][]byte) error {
	made["wharf.pyi"] = sdk.Python()
	return nil
}

// vendorC puts the header beside the source.
func vendorC(_ *filled, made map[string][]byte) error {
	made["wharf.h"] = sdk.C()
	return nil
}

// vendorRust puts the crate into a folder of the plugin's, and that of its attributes below it.
func vendorRust(_ *filled, made map[string][]byte) error {
	files, err := sdk.Rust()
	if err != nil {
		return err
	}
	return eachFile(files, func(name string, text []byte) {
		if name == "Cargo.toml" {
			text = asDependency(text)
		}
		made[path.Join("wharf-plugin", name)] = text
	})
}

// asDependency leaves out of a Cargo.toml what cargo reads of a crate that is built for itself alone: its
// examples, and its profiles.
func asDependency(cargo []byte) []byte {
	var kept []byte
	out := false
	for l := range bytes.Lines(cargo) {
		if bytes.HasPrefix(l, []byte("[")) {
			out = bytes.HasPrefix(l, []byte("[[example]]")) || bytes.HasPrefix(l, []byte("[profile."))
		}
		if !out {
			kept = append(kept, l...)
		}
	}
	return append(bytes.TrimSpace(kept), '\n')
}

// vendorAssemblyScript puts the sources of the SDK into a folder of the plugin's.
func vendorAssemblyScript(_ *filled, made map[string][]byte) error {
	files, err := sdk.AssemblyScript()
	if err != nil {
		return err
	}
	return eachFile(files, func(name string, text []byte) { made[path.Join("wharf", strings.TrimPrefix(name, "assembly/"))] = text })
}

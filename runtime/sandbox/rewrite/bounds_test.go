package rewrite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/wharf-dev/wharf/internal/share"
)

// TestRealModules holds that no module of a compiler of a language comes near a bound: each
// figure is less than a third of what is allowed.
func TestRealModules(t *testing.T) {
	share.Alone(t)
	for _, pattern := range []string{"plugins/bundled/*.wasm*", "plugins/plugintest/wasm/*.wasm*", "plugins/plugintest/workers/wasm/*.wasm*",
		"runtime/sandbox/testdata/extism/*.wasm*", "benches/internal/guests/wasm/*.wasm*"} {
		files, err := filepath.Glob(filepath.Join("../../..", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d modules, %v", pattern, len(files), err)
		}
		for _, file := range files {
			roomy(t, filepath.Base(file), moduleFile(t, file))
		}
	}
}

func moduleFile(t *testing.T, file string) []byte {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(file, ".zst") {
		return content
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if content, err = d.DecodeAll(content, nil); err != nil {
		t.Fatal(err)
	}
	return content
}

// roomy reports each figure of a module that is a third of what is allowed or more.
func roomy(t *testing.T, name string, wasm []byte) {
	t.Helper()
	m, err := read(wasm, Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	room := func(what string, got, limit int) {
		if got >= limit/3 {
			t.Errorf("%s has %d %s, and %d are allowed", name, got, what, limit)
		}
	}
	room("bytes", len(wasm), maxModuleBytes)
	room("functions", len(m.funcs), maxFunctions)
	room("types", len(m.types), maxTypes)
	room("imports", len(m.imports), maxImports)
	room("exports", len(m.exports), maxExports)
	room("globals", len(m.globals), maxGlobals)
	room("tables", len(m.tables), maxTables)
	room("data segments", int(m.data), maxData)
	elements := m.sections[sectionElement]
	room("element segments", int(length(&elements)), maxElements)
	for _, typ := range m.types {
		room("parameters", len(typ.params), maxSignature)
		room("results", len(typ.results), maxSignature)
	}
	var l ledger
	locals := 0
	eachFunction(t, m, func(f *function, size int) {
		room("bytes in a function", size, maxFunctionBytes)
		room("locals in a function", f.own, maxLocals)
		locals += f.own
		if err := l.check(f, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		e := l.survey(f)
		for _, figure := range figures {
			room(figure.what+" in a function", *figure.of(&e), *figure.of(&most))
		}
	})
	room("locals", locals, maxAllLocals)
	for _, figure := range figures {
		room(figure.what, *figure.of(&l.sum), *figure.of(&most)+len(wasm)**figure.of(&perByte))
	}
}

func eachFunction(t *testing.T, m *module, do func(f *function, size int)) {
	t.Helper()
	r := m.sections[sectionCode]
	d := &decoder{m: m}
	for i := range length(&r) {
		part := r.part(r.u32())
		size := part.end - part.at
		f := d.function(m.importedFuncs+i, &part)
		if part.err != nil {
			t.Fatal(part.err)
		}
		do(f, size)
	}
}

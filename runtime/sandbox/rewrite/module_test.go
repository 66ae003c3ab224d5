package rewrite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

// sectionOf is a section with a count and its content.
func sectionOf(id byte, count int, content string) string {
	return string(appendSection(nil, id, append(appendU32(nil, uint32(count)), content...)))
}

// wasmOf puts sections together.
func wasmOf(sections ...string) []byte {
	return []byte("\x00asm\x01\x00\x00\x00" + strings.Join(sections, ""))
}

func nameOf(name string) string { return string(appendName(nil, name)) }

// bodyOf is a function's body without locals.
func bodyOf(code string) string {
	return string(appendU32(nil, uint32(len(code)+2))) + "\x00" + code + "\x0b"
}

// exportOf is an export, whose number is below 128.
func exportOf(name string, kind, index byte) string {
	return nameOf(name) + string([]byte{kind, index})
}

const (
	noParams = "\x60\x00\x00"     // the type () -> ()
	toI32    = "\x60\x00\x01\x7f" // the type () -> i32
)

// compile has wazero check and compile a module.
func compile(t testing.TB, wasm []byte) wazero.CompiledModule {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features()))
	t.Cleanup(func() { _ = r.Close(ctx) })
	code, err := r.CompileModule(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func rewriteWith(t testing.TB, wasm []byte, o Options) *Module {
	t.Helper()
	compile(t, wasm)
	m, err := Rewrite(wasm, o)
	if err != nil {
		t.Fatal(err)
	}
	compile(t, m.Wasm)
	return m
}

// operandFor pushes a value of a type.
var operandFor = map[valType]string{i32: "\x41\x00", i64: "\x42\x00", f32: "\x43\x00\x00\x00\x00", f64: "\x44\x00\x00\x00\x00\x00\x00\x00\x00",
	v128: "\xfd\x0c" + strings.Repeat("\x01", 16), funcref: "\xd2\x00"}

// immediateFor is an immediate of each kind that stands by itself.
var immediateFor = map[immediate]string{
	immNone: "", immMemArg: "\x00\x85\x01", immMemLane: "\x00\x07\x00", immMemory: "\x00", immMemories: "\x00\x00", immDataTo: "\x00\x00",
	immData: "\x00", immElem: "\x00", immElemTo: "\x00\x00", immTable: "\x00", immTables: "\x00\x00", immI32: "\xff\x00", immI64: "\x80\x7f",
	immF32: "\x00\x00\xc0\x7f", immF64: "\x00\x00\x00\x00\x00\x00\xf8\x7f", immV128: strings.Repeat("\x07", 16),
	immShuffle: strings.Repeat("\x03", 16), immLane: "\x01", immFunc: "\x00",
}

// TestEveryOpcode has wazero check, for every opcode whose operands are fixed, that
// the table says what it takes and gives, and that it is written as it was read.
func TestEveryOpcode(t *testing.T) {
	vectors := 0
	for _, r := range runs {
		for i, name := range strings.Fields(r.names) {
			op := r.first + opcode(i)
			info := op.info()
			if op>>12 == prefixVector {
				vectors++
			}
			if info == nil || info.name != name {
				t.Fatalf("%#x is %v, want %s", uint32(op), op, name)
			}
			if !info.fixed {
				continue
			}
			var code strings.Builder
			for _, operand := range info.pops {
				code.WriteString(operandFor[operand])
			}
			code.Write(appendOp(nil, op))
			code.WriteString(immediateFor[info.imm])
			results := append(appendU32([]byte{formFunc, 0}, uint32(len(info.pushes))), letters(info.pushes)...)
			wasm := wasmOf(sectionOf(sectionType, 1, string(results)), sectionOf(sectionFunction, 1, "\x00"), sectionOf(sectionTable, 1, "\x70\x00\x01"),
				sectionOf(sectionMemory, 1, "\x00\x01"), sectionOf(sectionExport, 1, exportOf("f", externFunc, 0)), sectionOf(sectionElement, 1, "\x01\x00\x00"),
				sectionOf(sectionDataCount, 1, ""), sectionOf(sectionCode, 1, bodyOf(code.String())), sectionOf(sectionData, 1, "\x01\x00"))
			if m := rewriteWith(t, wasm, Options{}); !bytes.Equal(m.Wasm, wasm) {
				t.Errorf("%s becomes %x, was %x", name, m.Wasm, wasm)
			}
		}
	}
	if vectors != 236 {
		t.Errorf("the table has %d vector instructions, SIMD has 236", vectors)
	}
}

// TestGlobals holds that the host can read and set every global that can change.
func TestGlobals(t *testing.T) {
	wasm := wasmOf(
		sectionOf(sectionType, 1, noParams), sectionOf(sectionFunction, 1, "\x00"),
		sectionOf(sectionGlobal, 4, "\x7f\x01\x41\x07\x0b"+"\x7e\x00\x42\x08\x0b"+"\x7e\x01\x42\x09\x0b"+"\x70\x01\xd2\x00\x0b"),
		sectionOf(sectionExport, 1, exportOf("f", externFunc, 0)),
		sectionOf(sectionCode, 1, bodyOf("\x41\x05\x24\x00")))
	for name, engine := range engines {
		w := instantiate(t, engine(), wasm, Options{Transforms: All})
		if got, want := fmt.Sprint(w.module.Globals), "[{127} {126} {112}]"; got != want {
			t.Errorf("the globals are %s, want %s", got, want)
		}
		if w.get(GlobalExport(0)) != 7 || w.get(GlobalExport(1)) != 9 || w.get(ChangedExport) != 0 {
			t.Errorf("%s: the globals begin as %d and %d", name, w.get(GlobalExport(0)), w.get(GlobalExport(1)))
		}
		if _, err := w.guest.ExportedFunction("f").Call(context.Background()); err != nil {
			t.Fatal(err)
		}
		if w.get(GlobalExport(0)) != 5 || w.get(ChangedExport) != 0 {
			t.Errorf("%s: the first global is %d after it was set", name, w.get(GlobalExport(0)))
		}
	}
}

// TestChanges holds that everything that a snapshot cannot hold is told.
func TestChanges(t *testing.T) {
	const null = "ref.null r "
	for code, want := range map[string]bool{
		"i32.const 0 " + null + "table.set 0":                true,
		null + "i32.const 1 table.grow 0 drop":               true,
		"i32.const 0 " + null + "i32.const 1 table.fill 0":   true,
		"i32.const 0 i32.const 0 i32.const 1 table.copy 0 0": true,
		"i32.const 0 i32.const 0 i32.const 0 table.init 0 0": true,
		"elem.drop 0":                         true,
		"v128.const 0 1 global.set 2":         true,
		"f64.const 1 global.set 1":            false,
		"i32.const 0 table.get 0 drop":        false,
		"i32.const 0 i32.const 1 i32.store 0": false,
		"i32.const 1 memory.grow 0 drop":      false,
		"i32.const 0 if > elem.drop 0 end":    false,
	} {
		w := instantiate(t, wazero.NewRuntimeConfigInterpreter(), nanModule(t, nanFunc{">", "", code}), Options{Transforms: Globals})
		if may := w.module.Changes; may != (want || strings.Contains(code, "elem.drop")) {
			t.Errorf("%s: it can change something: %v", code, may)
		}
		if _, err := w.guest.ExportedFunction("f0").Call(context.Background()); err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		if got := w.get(ChangedExport) == 1; got != want {
			t.Errorf("%s: it has changed something: %v, want %v", code, got, want)
		}
	}
}

// startsAndLoads is a module with a memory, a start function that adds 1 to the
// byte at 0, and f, which returns it.
func startsAndLoads(data string, segments int, more ...string) []byte {
	increment := "\x41\x00\x41\x00\x2d\x00\x00\x41\x01\x6a\x3a\x00\x00"
	count := ""
	if len(more) > 0 {
		count = sectionOf(sectionDataCount, segments, "")
	}
	return wasmOf(
		sectionOf(sectionType, 2, noParams+toI32), sectionOf(sectionFunction, 2, "\x00\x01"),
		sectionOf(sectionMemory, 1, "\x01\x01\x02"), sectionOf(sectionGlobal, 1, "\x7f\x00\x41\x10\x0b"),
		sectionOf(sectionExport, 2, exportOf("f", externFunc, 1)+exportOf("m", externMemory, 0)),
		sectionOf(sectionStart, 0, ""), count,
		sectionOf(sectionCode, 2, bodyOf(increment+strings.Join(more, ""))+bodyOf("\x41\x00\x2d\x00\x00")),
		sectionOf(sectionData, segments, data))
}

// TestRestore holds that a module does as it did once the host has applied the data
// and called the start function, and that nothing happens before.
func TestRestore(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		name     string
		wasm     []byte
		segments string
		keeps    bool // a data section
	}{
		{"two places", startsAndLoads("\x00\x41\x00\x0b\x01\x29"+"\x02\x00\x41\x80\x08\x0b\x02ab", 2), `[{0 [41] 0} {1024 [97 98] 0}]`, false},
		{"a sum", startsAndLoads("\x00\x41\x7f\x41\x01\x6a\x0b\x01\x29", 1), `[{0 [41] 0}]`, false},
		{"a product less a product", startsAndLoads("\x00\x41\x06\x41\x04\x6c\x41\x18\x6b\x0b\x01\x29", 1), `[{0 [41] 0}]`, false},
		{"a constant global", startsAndLoads("\x00\x41\x00\x0b\x01\x29"+"\x00\x23\x00\x0b\x01a", 2), `[{0 [41] 0} {16 [97] 0}]`, false},
		{"segments that the code names", startsAndLoads("\x00\x41\x00\x0b\x01\x29"+"\x01\x01c", 2, "\xfc\x09\x00", "\x41\x05\x41\x00\x41\x01\xfc\x08\x01\x00"), `[{0 [41] 0}]`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := instantiate(t, wazero.NewRuntimeConfigCompiler(), test.wasm, Options{Transforms: All})
			if got := fmt.Sprint(w.module.Data); got != test.segments {
				t.Errorf("the data is %s, want %s", got, test.segments)
			}
			if kept := bytes.Contains(w.module.Wasm, []byte("\x01\x01c")); kept != test.keeps {
				t.Errorf("it keeps data: %v, want %v", kept, test.keeps)
			}
			call := func(name string) []uint64 {
				t.Helper()
				w.slice, w.left = plenty, plenty
				results, err := w.guest.ExportedFunction(name).Call(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return results
			}
			if got := call("f"); got[0] != 0 {
				t.Errorf("a blank instance holds %d", got[0])
			}
			for _, s := range w.module.Data {
				w.guest.Memory().Write(s.Offset, s.Bytes)
			}
			call(StartExport)
			if got := call("f"); got[0] != 42 {
				t.Errorf("once it has started it holds %d, want 42", got[0])
			}
		})
	}
}

// TestRestoreMemory holds that the host can grow a memory beyond what the module
// allows itself, and knows what that is.
func TestRestoreMemory(t *testing.T) {
	wasm := startsAndLoads("\x00\x41\x00\x0b\x01\x29", 1)
	m := rewriteWith(t, wasm, Options{Transforms: Restore})
	if *m.Memory != (Memory{Min: 1, Max: 2, HasMax: true}) || !m.Start {
		t.Errorf("the memory is %+v, a start function: %v", *m.Memory, m.Start)
	}
	if most, ok := compile(t, m.Wasm).ExportedMemories()["m"].Max(); most != 65536 || !ok {
		t.Errorf("the memory may have %d pages", most)
	}
	if m = rewriteWith(t, wasm, Options{}); m.Start || m.Data != nil {
		t.Errorf("without Restore it has %+v", m)
	}
}

// TestRestoreImportedOffset holds that data whose place only the host knows is
// refused, and with Restore only.
func TestRestoreImportedOffset(t *testing.T) {
	wasm := wasmOf(sectionOf(sectionImport, 1, nameOf("a")+nameOf("b")+"\x03\x7f\x00"), sectionOf(sectionMemory, 1, "\x00\x01"),
		sectionOf(sectionData, 1, "\x00\x23\x00\x0b\x00"))
	rewriteWith(t, wasm, Options{})
	checkRefused(t, wasm, Options{Transforms: Restore}, "imported global", bytes.Index(wasm, []byte("\x00\x23\x00\x0b")))
}

// TestYieldMovesFunctions holds that everything that names a function still names
// the same one: calls, references, elements, exports, globals, names, the start.
func TestYieldMovesFunctions(t *testing.T) {
	imported := nameOf("env") + nameOf("host") + "\x00\x00"
	names := nameOf("name") + string(appendSection(nil, subsectionFunc, []byte("\x03\x00\x04host\x01\x03one\x02\x03two")))
	wasm := wasmOf(
		sectionOf(sectionType, 2, noParams+toI32), sectionOf(sectionImport, 1, imported), sectionOf(sectionFunction, 2, "\x01\x01"),
		sectionOf(sectionTable, 1, "\x70\x00\x02"), sectionOf(sectionGlobal, 1, "\x70\x00\xd2\x02\x0b"),
		sectionOf(sectionExport, 1, exportOf("two", externFunc, 2)),
		sectionOf(sectionElement, 2, "\x00\x41\x00\x0b\x01\x01"+"\x04\x41\x01\x0b\x01\xd2\x02\x0b"),
		// one calls the host and gives 1; two adds what 0 in the table gives to 10 times what it calls.
		sectionOf(sectionCode, 2, bodyOf("\x10\x00\x41\x01")+bodyOf("\x10\x01\x41\x0a\x6c\x41\x00\x11\x01\x00\x6a")),
		string(appendSection(nil, sectionCustom, []byte(names))))
	ctx := context.Background()
	for name, engine := range engines {
		m, err := Rewrite(wasm, Options{Transforms: All})
		if err != nil {
			t.Fatal(err)
		}
		r := wazero.NewRuntimeWithConfig(ctx, engine())
		t.Cleanup(func() { _ = r.Close(ctx) })
		asked := 0
		for module, f := range map[string]string{"env": "host", YieldModule: YieldName} {
			b := r.NewHostModuleBuilder(module).NewFunctionBuilder()
			if module == "env" {
				b = b.WithFunc(func() { asked++ })
			} else {
				b = b.WithFunc(func(gas, _ int64) int64 { return plenty })
			}
			if _, err := b.Export(f).Instantiate(ctx); err != nil {
				t.Fatal(err)
			}
		}
		guest, err := r.Instantiate(ctx, m.Wasm)
		if err != nil {
			t.Fatal(err)
		}
		results, err := guest.ExportedFunction("two").Call(ctx)
		if err != nil || results[0] != 11 || asked != 2 {
			t.Errorf("%s: two gives %v, %v, and asks %d times", name, results, err, asked)
		}
		if got := guest.ExportedFunction("two").Definition().DebugName(); got != ".two" {
			t.Errorf("%s: two is called %q", name, got)
		}
	}
}

// TestTables holds that tables together cannot grow beyond the limit.
func TestTables(t *testing.T) {
	grow := nanFunc{"i>i", "", "ref.null r local.get 0 table.grow 0"}
	w := instantiate(t, wazero.NewRuntimeConfigInterpreter(), nanModule(t, grow), Options{MaxTableEntries: 100})
	for _, test := range []struct{ by, was uint64 }{{99, 1}, {1, 0xffffffff}} {
		results, err := w.guest.ExportedFunction("f0").Call(context.Background(), test.by)
		if err != nil || uint32(results[0]) != uint32(test.was) {
			t.Errorf("growing by %d gives %v, %v, want %d", test.by, results, err, int32(test.was))
		}
	}
	two := wasmOf(sectionOf(sectionTable, 2, "\x70\x01\x0a\x14"+"\x6f\x00\x33"))
	rewriteWith(t, two, Options{MaxTableEntries: 102})
	checkRefused(t, two, Options{MaxTableEntries: 100}, "a table of 51 entries; 50 are allowed", 15)
}

// TestImports tells of what a module imports.
func TestImports(t *testing.T) {
	wasm := wasmOf(sectionOf(sectionType, 1, "\x60\x02\x7f\x7e\x01\x7d"), sectionOf(sectionImport, 4,
		nameOf("a")+nameOf("f")+"\x00\x00"+nameOf("a")+nameOf("t")+"\x01\x70\x00\x01"+nameOf("b")+nameOf("m")+"\x02\x00\x01"+nameOf("b")+nameOf("g")+"\x03\x7f\x00"))
	want := []Import{{"a", "f", 0, "\x7f\x7e", "\x7d"}, {Module: "a", Name: "t", Kind: 1}, {Module: "b", Name: "m", Kind: 2}, {Module: "b", Name: "g", Kind: 3}}
	if m := rewriteWith(t, wasm, Options{Transforms: All}); !slices.Equal(m.Imports, want) || m.Memory != nil {
		t.Errorf("it imports %q, want %q", m.Imports, want)
	}
}

func checkRefused(t *testing.T, wasm []byte, o Options, reason string, offset int) {
	t.Helper()
	_, err := Rewrite(wasm, o)
	var refusal *Error
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Error(), reason) {
		t.Fatalf("it is refused with %v, want %q", err, reason)
	}
	if refusal.Offset != offset {
		t.Errorf("%q is at %d, want %d", reason, refusal.Offset, offset)
	}
}

// withCode is a module of one function, whose code begins at offset 27.
func withCode(code string) []byte {
	return wasmOf(sectionOf(sectionType, 1, noParams), sectionOf(sectionFunction, 1, "\x00"), sectionOf(sectionMemory, 1, "\x00\x01"),
		string(appendSection(nil, sectionCode, []byte("\x01"+bodyOf(code)))))
}

// TestProfile holds that what differs between machines, or could not be rewritten,
// is refused with its place and what to do.
func TestProfile(t *testing.T) {
	const code = 28 // where the code of withCode begins
	shared := wasmOf(sectionOf(sectionMemory, 1, "\x03\x01\x02"))
	for _, test := range []struct {
		name, reason, advice string
		offset               int
		wasm                 []byte
	}{
		{"atomics", "threads", "-atomics", code + 2, withCode("\x41\x00\xfe\x10\x02\x00\x1a")},
		{"a shared memory", "shared", "-atomics", 11, shared},
		{"an imported shared memory", "shared", "-atomics", 16, wasmOf(sectionOf(sectionImport, 1, nameOf("a")+nameOf("b")+"\x02\x03\x01\x02"))},
		{"relaxed SIMD", "relaxed SIMD", "-mno-relaxed-simd", code, withCode("\xfd\x80\x02\x1a")},
		{"exceptions", "exceptions", "-fwasm-exceptions", code, withCode("\x08\x00")},
		{"legacy exceptions", "exceptions", "-fwasm-exceptions", code, withCode("\x06\x40\x0b")},
		{"a tag", "exceptions", "-fwasm-exceptions", 8, wasmOf("\x0d\x01\x00")},
		{"an exception in a local", "exceptions", "-fwasm-exceptions", 24, wasmOf(sectionOf(sectionType, 1, noParams), sectionOf(sectionFunction, 1, "\x00"), sectionOf(sectionCode, 1, "\x04\x01\x01\x69\x0b"))},
		{"call_ref", "typed references", "-mno-gc", code, withCode("\x14\x00")},
		{"a structure", "typed references", "-mno-gc", code, withCode("\xfb\x00\x00")},
		{"a structure type", "form 0x5f", "-mno-gc", 11, wasmOf(sectionOf(sectionType, 1, "\x5f\x00"))},
		{"a table of typed references", "0x63", "-mno-gc", 11, wasmOf(sectionOf(sectionTable, 1, "\x63\x00\x00\x01"))},
		{"a 64-bit memory", "64-bit", "wasm32", 11, wasmOf(sectionOf(sectionMemory, 1, "\x04\x01"))},
		{"a 64-bit table", "64-bit", "wasm32", 12, wasmOf(sectionOf(sectionTable, 1, "\x70\x04\x01"))},
		{"two memories", "2 memories", "merge", 10, wasmOf(sectionOf(sectionMemory, 2, "\x00\x01\x00\x01"))},
		{"an access to a second memory", "several memories", "-mno-multimemory", code + 3, withCode("\x41\x00\x28\x42\x01\x00\x1a")},
		{"a reserved export", "reserved", "another", 16, wasmOf(sectionOf(sectionMemory, 1, "\x00\x01"), sectionOf(sectionExport, 1, exportOf("wharf:gas", externMemory, 0)))},
		{"a reserved import", "reserved", "another", 11, wasmOf(sectionOf(sectionImport, 1, nameOf("wharf:sandbox")+nameOf("yield")+"\x03\x7f\x00"))},
		{"a component", "component", "core module", 4, []byte("\x00asm\x0d\x00\x01\x00")},
		{"an unknown opcode", "0x27", "", code, withCode("\x27")},
		{"one with a prefix", "0xfc012", "", code, withCode("\xfc\x12\x00")},
		{"an unknown opcode that is not reached", "0x27", "", code + 1, withCode("\x00\x27")},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkRefused(t, test.wasm, Options{Transforms: All}, test.reason, test.offset)
			checkRefused(t, test.wasm, Options{Transforms: All}, test.advice, test.offset)
		})
	}
}

// TestHostileDeclarations holds that a few bytes cannot claim much memory.
func TestHostileDeclarations(t *testing.T) {
	const many = "\xff\xff\xff\xff\x0f"
	locals := wasmOf(sectionOf(sectionType, 1, noParams), sectionOf(sectionFunction, 1, "\x00"), sectionOf(sectionCode, 1, "\x06\x01\xd1\x86\x03\x7f\x0b"))
	for name, wasm := range map[string][]byte{
		"50,001 locals": locals, "locals without end": bytes.Replace(locals, []byte("\x06\x01\xd1\x86\x03"), []byte("\x08\x01"+many), 1),
		"types": wasmOf("\x01\x05" + many), "functions": wasmOf("\x03\x05" + many), "imports": wasmOf("\x02\x05" + many), "code": wasmOf("\x0a\x05" + many),
		"data": wasmOf("\x0b\x05" + many), "elements": wasmOf("\x09\x05" + many), "parameters": wasmOf("\x01\x07\x01\x60" + many),
		"labels": withCode("\x41\x00\x0e" + many), "a section": wasmOf("\x01" + many), "nothing": nil, "text": []byte("(module)"),
		"order": wasmOf(sectionOf(sectionFunction, 0, ""), sectionOf(sectionType, 0, "")), "twice": wasmOf(sectionOf(sectionType, 0, ""), sectionOf(sectionType, 0, "")),
		"locals of many functions": wasmOf(sectionOf(sectionType, 1, noParams), sectionOf(sectionFunction, 90, strings.Repeat("\x00", 90)), sectionOf(sectionCode, 90, strings.Repeat("\x06\x01\xd0\x86\x03\x7f\x0b", 90))),
		"no body":                  wasmOf(sectionOf(sectionType, 1, noParams), sectionOf(sectionFunction, 1, "\x00")),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Rewrite(wasm, Options{Transforms: All}); err == nil {
			t.Errorf("%s is not refused", name)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: refusing it takes %d bytes", name, n)
		}
	}
}

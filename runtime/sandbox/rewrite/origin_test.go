package rewrite

import (
	"bytes"
	"debug/dwarf"
	"testing"
)

// customSections returns what is in the custom sections of a module, by name.
func customSections(t *testing.T, wasm []byte) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	r := &reader{b: wasm, at: preambleBytes, end: len(wasm)}
	for r.more() {
		id := r.byte()
		part := r.part(r.u32())
		if id == sectionCustom {
			name := part.name()
			found[name] = part.b[part.at:part.end]
		}
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	return found
}

// withLines returns a module with a section of debug information.
func withLines(wasm []byte) []byte {
	return appendSection(bytes.Clone(wasm), sectionCustom, appendName(nil, debugLine))
}

// twice exports a function that calls another, which traps behind a division.
var twice = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x05\x01\x60\x00\x01\x7f" + // () -> i32
	"\x03\x03\x02\x00\x00" +
	"\x07\x07\x01\x03run\x00\x00" +
	"\x0a\x10\x02" +
	"\x04\x00\x10\x01\x0b" + // call 1
	"\x09\x00\x41\x01\x41\x00\x6f\x1a\x00\x0b") // 1 rem 0; drop; unreachable

func TestTraceIsDebugInformation(t *testing.T) {
	w, err := Rewrite(withLines(twice), Options{Transforms: All, Offsets: true})
	if err != nil {
		t.Fatal(err)
	}
	s := customSections(t, w.Wasm)
	data, err := dwarf.New(s[".debug_abbrev"], nil, nil, s[".debug_info"], s[debugLine], nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := data.Reader().Next()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := data.LineReader(unit)
	if err != nil {
		t.Fatal(err)
	}
	for _, pc := range []uint64{1, 2, 1000, 1<<30 - 1} {
		var entry dwarf.LineEntry
		if err := lines.SeekPC(pc, &entry); err != nil || entry.File.Name != OffsetMark {
			t.Errorf("at %d: %v, %v", pc, entry, err)
		}
	}
}

// A module without debug information is rewritten as if nobody asked for offsets: what is
// kept of it stays what it was.
func TestNoTraceWithoutLines(t *testing.T) {
	plain, err := Rewrite(twice, Options{Transforms: All})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := Rewrite(twice, Options{Transforms: All, Offsets: true})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(plain.Wasm, asked.Wasm) {
		t.Error("it is another module")
	}
}

// Every instruction of the original is found from the rewritten code, in its order.
func TestOrigins(t *testing.T) {
	wasm := withLines(twice)
	o := Options{Transforms: All, Offsets: true}
	w, err := Rewrite(wasm, o)
	if err != nil {
		t.Fatal(err)
	}
	var all []uint32
	for at := range len(w.Wasm) {
		all = append(all, uint32(at))
	}
	origins, err := Origins(wasm, o, all)
	if err != nil {
		t.Fatal(err)
	}
	found := map[Origin]bool{}
	last := Origin{}
	for _, at := range all {
		at, ok := origins[at]
		if !ok {
			continue
		}
		if at.Offset < last.Offset || at.Function < last.Function {
			t.Errorf("%v comes behind %v", at, last)
		}
		found[at], last = true, at
	}
	// The content begins with the count; each body with its size and its locals.
	for _, want := range []Origin{{0, 3}, {0, 5}, {1, 8}, {1, 10}, {1, 12}, {1, 13}, {1, 14}} {
		if !found[want] {
			t.Errorf("nothing is of %v", want)
		}
	}
}

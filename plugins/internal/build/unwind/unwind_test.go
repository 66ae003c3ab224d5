package unwind

import (
	"encoding/hex"
	"errors"
	"slices"
	"testing"
)

// testModule is one in the form of clang: "invoke_ii" of the host; "emscripten_longjmp", which throws; "a", which calls
// it; "b", which calls "a" by way of invoke; "c", which calls nothing; a table; __THREW__ at 1024.
func testModule() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id   byte
		body []byte
	}{
		{sectionType, []byte{3, 0x60, 0, 0, 0x60, 0, 1, typeI32, 0x60, 1, typeI32, 1, typeI32}},
		{sectionImport, slices.Concat([]byte{1}, named("env"), named("invoke_ii"), []byte{0, 2})},
		{sectionFunction, []byte{4, 0, 1, 1, 1}},
		{4, []byte{1, 0x70, 0, 2}},
		{5, []byte{1, 0, 2}},
		{sectionGlobal, []byte{2, typeI32, 1, opI32Const, 0x80, 16, opEnd, typeI32, 0, opI32Const, 0x80, 8, opEnd}},
		{sectionExport, slices.Concat([]byte{4}, named(threw), []byte{3, 1}, named(throws), []byte{0, 1}, named("b"), []byte{0, 3}, named("c"), []byte{0, 4})},
		{sectionElement, []byte{1, 0, opI32Const, 1, opEnd, 1, 2}},
		{sectionCode, slices.Concat([]byte{4}, sized(0, opEnd), sized(0, opCall, 1, opI32Const, 7, opEnd),
			sized(0, opI32Const, 1, opCall, 0, opEnd), sized(0, opI32Const, 0, opI32Load, 2, 0, opEnd))},
	} {
		out = appendBytes(append(out, s.id), s.body)
	}
	return out
}

func named(name string) []byte { return appendBytes(nil, []byte(name)) }

func sized(body ...byte) []byte { return appendBytes(nil, body) }

// TestRewrite holds what becomes of each kind of function.
func TestRewrite(t *testing.T) {
	got, err := Rewrite(testModule())
	if err != nil {
		t.Fatal(err)
	}
	m := &module{}
	r := &reader{rest: got[8:]}
	for len(r.rest) > 0 {
		id := r.byte()
		m.sections = append(m.sections, section{id, r.bytes()})
	}
	look := "41800828020004404100" + "0f0b" // if __THREW__, return 0
	for i, want := range []string{
		"01017f" + "23002101" + "2000110100" + "4180082802000440" + "200124000b" + "0b", // calls its argument, and puts the stack pointer back
		"000b",
		"001001" + look + "41070b",
		"0041011000" + "0b", // looks itself, for clang has it do so
		"0041002802000b",
	} {
		if got := hex.EncodeToString(m.bodies()[i]); got != want {
			t.Errorf("function %d is %s, want %s", i, got, want)
		}
	}
	for _, s := range m.sections {
		switch text := hex.EncodeToString(s.body); {
		case s.id == sectionImport && text != "00":
			t.Errorf("it imports %s", text)
		case s.id == sectionExport && text != "02"+"01620003"+"01630004":
			t.Errorf("it exports %s", text)
		case s.id == sectionElement && text != "010041010b0102":
			t.Errorf("its table has %s", text)
		}
	}
}

// TestRewriteRefuses holds that what has not the form of clang's modules is an error, and no module.
func TestRewriteRefuses(t *testing.T) {
	whole := testModule()
	for n := range whole {
		if n < len(whole)-1 {
			if _, err := Rewrite(whole[:n]); err == nil {
				t.Errorf("the first %d bytes are taken", n)
			}
		}
	}
	if _, err := Rewrite(nil); !errors.Is(err, errForm) {
		t.Errorf("nothing is told as %v", err)
	}
}

package building

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/sandbox/stack"
)

// section is a section of a module.
func section(id byte, content string) string {
	return string(append([]byte{id}, binary.AppendUvarint(nil, uint64(len(content)))...)) + content
}

// A module has two functions of five bytes: code is from the offset 10 on, and the functions begin at 11 and 17.
var (
	twoFunctions = "\x00asm\x01\x00\x00\x00" + section(10, "\x02\x05aaaaa\x05bbbbb") + section(0, "\x10sourceMappingURL\x0c./x.wasm.map")
	oneOfThem    = "\x00asm\x01\x00\x00\x00" + section(10, "\x02\x05aaaaa\x05bbbbb")
)

// What a source map says is told by the module itself, of the author's sources alone.
func TestSourceMapsBecomeDebugInformation(t *testing.T) {
	wasm := mapped(t, `{"sources":["~lib/array.ts","assembly/index.ts"],"mappings":"`+strings.Join([]string{
		vlq(12, 1, 9, 0), // the author's, line 10
		vlq(1, -1, 100, 0),
		vlq(1),
		vlq(1, 1, -98, 0),  // line 12
		vlq(3, -1, -11, 0), // the library's alone
	}, ",")+`"}`)
	if !strings.HasPrefix(string(wasm), oneOfThem) || strings.Contains(string(wasm), "sourceMappingURL") {
		t.Errorf("the module has become %q", wasm)
	}
	places := stack.Places(wasm, []uint32{2, 3, 4, 5, 6, 8})
	for at, want := range map[uint32]int{2: 10, 3: 10, 4: 10, 5: 12, 6: 12, 8: 0} {
		if want == 0 && places[at] == nil {
			continue
		}
		if got := places[at]; !slices.Equal(got, []stack.Place{{File: "assembly/index.ts", Line: want}}) {
			t.Errorf("the code at %d is of %+v, want line %d", at, got, want)
		}
	}
}

// mapped is a module with the lines of a source map.
func mapped(t *testing.T, sourceMap string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.wasm")
	write(t, file+".map", sourceMap)
	wasm, err := linesOf(file, []byte(twoFunctions))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// vlq is a segment of a source map.
func vlq(numbers ...int) (segment string) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for _, n := range numbers {
		n <<= 1
		if n < 0 {
			n = -n | 1
		}
		for ; n > 31; n >>= 5 {
			segment += string(alphabet[n&31|32])
		}
		segment += string(alphabet[n])
	}
	return segment
}

// A source map that is none, or that lies, is an error and no panic, and one without lines of the author's adds nothing.
func TestSourceMapsThatLie(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.wasm")
	for name, text := range map[string]string{
		"none": "", "no JSON": "{", "a letter that is none": `{"sources":["a"],"mappings":"!"}`, "an empty segment": `{"sources":["a"],"mappings":","}`,
		"no end of a number": `{"sources":["a"],"mappings":"AAg"}`, "a number without an end": `{"sources":["a"],"mappings":"` + strings.Repeat("g", 100) + `A"}`,
		"a source that is none": `{"sources":["a"],"mappings":"ACAA"}`, "a line before the first": `{"sources":["a"],"mappings":"AADA"}`,
	} {
		if name != "none" {
			write(t, file+".map", text)
		} else if err := os.RemoveAll(file + ".map"); err != nil {
			t.Fatal(err)
		}
		if _, err := linesOf(file, []byte(twoFunctions)); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	far := `{"sources":["a"],"mappings":"` + vlq(1<<29, 0, 0, 0) + `"}`
	if wasm := mapped(t, far); string(wasm) != oneOfThem {
		t.Errorf("places beyond the module's code have made of it %q", wasm)
	}
	write(t, file+".map", far)
	for cut := 8; cut < len(twoFunctions); cut++ { // no part of a module makes it panic
		if _, err := linesOf(file, []byte(twoFunctions[:cut])); err != nil {
			t.Errorf("%d bytes of it: %v", cut, err)
		}
	}
}

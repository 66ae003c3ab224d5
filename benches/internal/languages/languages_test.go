package languages

import (
	"testing"
)

// The modules that are kept are there, and smaller without what debuggers read.
func TestModules(t *testing.T) {
	for _, l := range All() {
		wasm, err := l.Extism()
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		if wasm == nil {
			continue
		}
		if size, err := Stripped(wasm); err != nil || size <= moduleHeader || size > len(wasm) {
			t.Errorf("%s: %d of %d bytes, %v", l.Name, size, len(wasm), err)
		}
	}
}

func TestStripped(t *testing.T) {
	head := "\x00asm\x01\x00\x00\x00"
	for what, test := range map[string]struct {
		wasm string
		want int
	}{
		"nothing in it":    {head, 8},
		"a custom section": {head + "\x00\x03\x01aa\x01\x01\x00", 11},
		"no module":        {"\x00asm", 0},
		"a section cut":    {head + "\x01\x7f", 0},
		"no length":        {head + "\x01", 0},
		"a length too far": {head + "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0},
	} {
		size, err := Stripped([]byte(test.wasm))
		if size != test.want || (err == nil) != (test.want > 0) {
			t.Errorf("%s: %d bytes, %v", what, size, err)
		}
	}
}

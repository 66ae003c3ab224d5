package stack

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for symbol, want := range map[string]string{
		"run": "run", "$9": "$9",
		"_RNvCs1234_6tester4deep":                      "tester::deep",
		"_ZN4core9panicking5panic17h0123456789abcdefE": "core::panicking::panic",
		"_ZN3app4deepEi":                               "app::deep",
		"app::deep(int, char const*)":                  "app::deep",
		"main.__Task_.Run":                             "main.(*Task).Run",
		"main.run.func1":                               "main.run.func1",
		"~lib/array/Array<i32>#__get":                  "~lib/array/Array<i32>#__get",
		"_RNvNvNvNv":                                   "_RNvNvNvNv",
		strings.Repeat("_R", 5000):                     strings.Repeat("_R", 5000),
	} {
		if got := Name(symbol); got != want {
			t.Errorf("%q is called %q, not %q", symbol, got, want)
		}
	}
}

func TestOwn(t *testing.T) {
	for symbol, own := range map[string]bool{
		"tester::deep": true, "run": true, "$9": true, "main.run": true, "assembly/index/run": true,
		"core::panicking::panic": false, "rust_begin_unwind": false, "runtime.gopanic": false, "~lib/array/Array<i32>#__get": false, "wharf/end/panicked": false, "wharfside/run": true,
		"std::vector<int>::at": false, "abort": false, "<alloc::vec::Vec<T> as core::ops::Index<I>>::index": false,
	} {
		if got := frame(symbol, Place{}).Own; got != own {
			t.Errorf("%q is the author's: %v", symbol, got)
		}
	}
	if frame("helper", Place{File: "/home/ada/.cargo/registry/src/x/lib.rs"}).Own {
		t.Error("a crate of others is the author's")
	}
}

// What is in a module's debug information costs no more than it may, and breaks nothing.
func FuzzPlaces(f *testing.F) {
	f.Add([]byte("\x01\x11\x00\x10\x17\x11\x01\x12\x06\x00\x00\x00"), []byte("\x14\x00\x00\x00\x04\x00\x00\x00\x00\x00\x04\x01\x00\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\x3f"), []byte("\x1c\x00\x00\x00\x05\x00\x04\x00\x10\x00\x00\x00\x01\x01\x01\x00\x01\x0a\x00\x01\x01\x01\x01\x00\x00\x00\x01"), []byte("a\x00"))
	f.Fuzz(func(t *testing.T, abbrev, info, line, rest []byte) {
		wasm := []byte("\x00asm\x01\x00\x00\x00")
		for name, content := range map[string][]byte{debugAbbrev: abbrev, debugInfo: info, debugLine: line, debugStr: rest, debugRanges: rest, debugRngLists: rest, debugAddr: rest} {
			wasm = append(wasm, custom(name, content)...)
		}
		for at, places := range placesWithin(wasm, []uint32{1, 7, 1 << 20}, 1<<16) {
			if len(places) == 0 || len(places) > maxInlined+1 {
				t.Errorf("%d has %d places", at, len(places))
			}
		}
		Frames([]Call{{Name: string(abbrev)}, {Name: string(info)}})
	})
}

func custom(name string, content []byte) []byte {
	payload := append(append(leb(len(name)), name...), content...)
	return append(append([]byte{0}, leb(len(payload))...), payload...)
}

func leb(n int) (b []byte) {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

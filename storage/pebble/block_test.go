package pebble

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// mustComeBack packs bytes and reads them with the library's decoder.
func mustComeBack(t interface{ Fatalf(string, ...any) }, src []byte) (packed int) {
	block := appendBlock([]byte("before"), src)
	if !bytes.HasPrefix(block, []byte("before")) {
		t.Fatalf("what was there before is %q", block[:6])
	}
	got, err := unpackS2(block[len("before"):])
	if err != nil || !bytes.Equal(got, src) {
		t.Fatalf("%d bytes come back as %d, %v: %q", len(src), len(got), err, src)
	}
	return len(block) - len("before")
}

// Any bytes come back: pieces of the dictionary, of what was before and of noise, in any order and of any length.
func TestBlocksComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var src []byte
		for range rapid.IntRange(0, 40).Draw(rt, "pieces") {
			from := dictionaryText
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				from = rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(rt, "noise")
			case 1:
				from = bytes.Repeat([]byte(rapid.StringN(1, 9, 9).Draw(rt, "run")), rapid.IntRange(1, 200).Draw(rt, "times"))
			case 2:
				if len(src) > 0 {
					from = src
				}
			}
			at := rapid.IntRange(0, len(from)-1).Draw(rt, "at")
			src = append(src, from[at:min(len(from), at+rapid.IntRange(1, 400).Draw(rt, "length"))]...)
		}
		mustComeBack(rt, src[:min(len(src), maxBlock)])
	})
}

// The ends: nothing, a word less one, the most there may be, literals of each length's form, and copies of each length
// that begin at the dictionary's first byte, seen from the last byte of a block, and at its last ones.
func TestBlocksAtTheirEnds(t *testing.T) {
	if maxBlock+len(dictionaryText) > 1<<16 {
		t.Fatalf("%d bytes of dictionary are too far from the end of a block", len(dictionaryText))
	}
	noise := newRecorded(9).bytes(maxBlock)
	for _, n := range []int{0, 1, wordLen - 1, wordLen, 59, 60, 61, 255, 256, 257, 258, maxBlock} {
		mustComeBack(t, noise[:n])
		mustComeBack(t, bytes.Repeat([]byte{'a'}, n))
	}
	for n := wordLen; n < 300; n++ {
		first, last := dictionaryText[:n], dictionaryText[len(dictionaryText)-n:]
		for _, part := range [][]byte{first, last} {
			if packed := mustComeBack(t, part); packed > n/64*3+16 {
				t.Errorf("%d bytes of the dictionary take %d", n, packed)
			}
			mustComeBack(t, slices.Concat(noise[:maxBlock-n-1], []byte{'"'}, part))
		}
	}
}

// A Task's frames take hardly more than the library would make of them.
func TestBlocksAreSmall(t *testing.T) {
	own, library := 0, 0
	for _, b := range newRecorded(7).task() {
		fields := appendFields(nil, &b.Frame, nil)
		own += mustComeBack(t, fields)
		library += len(dictionary.Encode(nil, fields))
	}
	if own*100 > library*105 {
		t.Errorf("a Task is packed into %d bytes, and into %d by the library", own, library)
	}
}

func FuzzBlock(f *testing.F) {
	for _, b := range newRecorded(8).task() {
		f.Add(appendFields(nil, &b.Frame, nil))
	}
	f.Add(dictionaryText)
	f.Fuzz(func(t *testing.T, src []byte) { mustComeBack(t, src[:min(len(src), maxBlock)]) })
}

package pebble

import (
	"encoding/binary"
	"math/bits"
)

// The library's encoder clears a table of 64 KiB for each block and looks into another one of 32 KiB at every second
// byte: for the fields of a frame, some hundred bytes, that is most of what it does, and it pushes out of the processor's
// cache what others need. appendBlock has a table of 1 KiB, and looks where names, ids and numbers begin: what frames have
// in common with the dictionary, and with themselves, begins there too. Its blocks are some 2 % longer. What is read
// back is the library's business.

const (
	// maxBlock is up to how many bytes appendBlock takes: from the last one an offset of 16 bits reaches the first one of
	// the dictionary.
	maxBlock = 16 << 10
	// minCopy is how many bytes a copy has at least; hashes are of as many.
	minCopy = 5
	// wordLen is how many bytes are loaded at a time.
	wordLen = 8
	// seenBits and dictionaryBits say how large the tables are.
	seenBits       = 9
	dictionaryBits = 12
	// longCopy is from how many bytes on a copy is taken without a look into the dictionary.
	longCopy = 32
)

// The tags of a block, the lowest two bits of an element's first byte.
const (
	tagLiteral = 0
	tagCopy1   = 1 // 4 to 11 bytes, from up to 2047 bytes before
	tagCopy2   = 2 // 1 to 64 bytes, from up to 65535 bytes before
)

// inDictionary holds for each hash where in the dictionary bytes with it are, plus 1, the last ones first; 0 is nowhere.
var inDictionary = func() *[1 << dictionaryBits][4]uint16 {
	var table [1 << dictionaryBits][4]uint16
	for at := len(dictionaryText) - wordLen; at >= 0; at-- {
		places := &table[hashOf(word(dictionaryText, at))>>(64-dictionaryBits)]
		for i, taken := range places {
			if taken == 0 {
				places[i] = uint16(at + 1)
				break
			}
		}
	}
	return &table
}()

// beginsAfter says after which bytes it pays to look: what separates names and words in JSON, and what stands before
// ids in binary.
var beginsAfter = func() (is [256]bool) {
	for _, c := range []byte(`"_:,-`) {
		is[c] = true
	}
	for c := range ' ' {
		is[c] = true
	}
	return is
}()

func word(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

// hashOf mixes the first minCopy bytes of a word into the highest bits.
func hashOf(w uint64) uint64 { return w << (64 - 8*minCopy) * 0x9E3779B185EBCA87 }

// alike reports whether two words begin with the same minCopy bytes.
func alike(a, b uint64) bool { return (a^b)<<(64-8*minCopy) == 0 }

// appendBlock appends an S2 block that is unpacked with the dictionary. src has no more than maxBlock bytes.
func appendBlock(dst, src []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(src)))
	var seen [1 << seenBits]uint16 // where in src bytes with a hash were last, plus 1
	done, at, last := 0, 0, len(src)-wordLen
	for at <= last {
		w := word(src, at)
		hash := hashOf(w)
		place := &seen[hash>>(64-seenBits)]
		n, back := copyOf(src, at, w, int(*place)-1, &inDictionary[hash>>(64-dictionaryBits)])
		*place = uint16(at + 1)
		if n > 0 {
			dst = appendCopy(appendLiteral(dst, src[done:at]), back, n)
			at += n
			done = at
			continue
		}
		for at++; at <= last && !beginsAfter[src[at-1]]; at++ {
		}
	}
	return appendLiteral(dst, src[done:])
}

// copyOf returns how many bytes at a place were before, and how far back: the longest that is found. before is where
// they may be in src, below 0 for nowhere, and places where in the dictionary.
func copyOf(src []byte, at int, w uint64, before int, places *[4]uint16) (n, back int) {
	if before >= 0 && alike(word(src, before), w) {
		n, back = minCopy+common(src[before+minCopy:], src[at+minCopy:]), at-before
	}
	if n >= longCopy {
		return n, back
	}
	for _, place := range places {
		if place == 0 {
			break
		}
		in := int(place) - 1
		if !alike(word(dictionaryText, in), w) {
			continue
		}
		if m := minCopy + common(dictionaryText[in+minCopy:], src[at+minCopy:]); m > n {
			n, back = m, at+len(dictionaryText)-in
		}
	}
	return n, back
}

// common returns with how many of the same bytes a and b begin.
func common(a, b []byte) int {
	n, most := 0, min(len(a), len(b))
	for n+wordLen <= most {
		if differ := word(a, n) ^ word(b, n); differ != 0 {
			return n + bits.TrailingZeros64(differ)/8
		}
		n += wordLen
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// appendLiteral appends bytes as they are; fewer than 64 Ki.
func appendLiteral(dst, text []byte) []byte {
	switch n := len(text) - 1; {
	case n < 0:
		return dst
	case n < 60:
		dst = append(dst, byte(n)<<2|tagLiteral)
	case n < 1<<8:
		dst = append(dst, 60<<2|tagLiteral, byte(n))
	default:
		dst = append(dst, 61<<2|tagLiteral, byte(n), byte(n>>8))
	}
	return append(dst, text...)
}

// appendCopy appends copies of n bytes from offset bytes before. A copy that begins in the dictionary goes on there.
func appendCopy(dst []byte, offset, n int) []byte {
	for n > 0 {
		most := min(n, 64)
		if most >= 4 && most < 12 && offset < 2048 {
			dst = append(dst, byte(offset>>8)<<5|byte(most-4)<<2|tagCopy1, byte(offset))
		} else {
			dst = append(dst, byte(most-1)<<2|tagCopy2, byte(offset), byte(offset>>8))
		}
		n -= most
	}
	return dst
}

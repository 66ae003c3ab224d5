package pebble

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// How the fields of a frame are packed: the byte before them. The numbers are part
// of the format: a new dictionary gets the next one, and old ones stay.
const (
	packedNot = 0
	packedS2  = 1 // an S2 block whose copies may reach back into dictionary 1
	packedZst = 2 // a Zstandard frame that begins with dictionary 2 as its history
)

// minPacked is from how many bytes on it is tried to pack fields.
const minPacked = 64

//go:embed dictionary/1.txt
var dictionaryText []byte

// dictionary holds what Tasks, Messages, Outcomes, Receipts and recorded calls
// have in common, so that what is left of a frame is what is particular to it.
var dictionary = s2.MakeDictManual(dictionaryText, 0)

//go:embed dictionary/2.txt
var keptText []byte

// kept packs what is kept for long and seldom read: it takes more time, and half the room.
type kept struct {
	*zstd.Encoder
	*zstd.Decoder
}

var keptPacker = sync.OnceValue(func() kept {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(packedZst, keptText), zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
		zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(64<<10))
	if err != nil {
		panic(err) // the options are constants
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(packedZst, keptText), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxFrameBytes))
	if err != nil {
		panic(err) // as above
	}
	return kept{e, d}
})

// packKept returns a value with how it is packed before it, nil if it does not get smaller.
func packKept(value []byte) []byte {
	if len(value) < minPacked {
		return nil
	}
	packed := keptPacker().EncodeAll(value, []byte{packedZst})
	if len(packed) >= len(value) {
		return nil
	}
	return packed
}

// pack appends how fields are packed, and them. What does not get smaller stays as
// it is.
func pack(dst, fields []byte) []byte {
	if len(fields) < minPacked {
		return append(append(dst, packedNot), fields...)
	}
	dst = slices.Grow(dst, 1+s2.MaxEncodedLen(len(fields)))
	at := len(dst) + 1
	var block []byte
	if len(fields) <= maxBlock {
		block = appendBlock(dst[at:at:cap(dst)], fields)
	} else {
		block = dictionary.Encode(dst[at:at:cap(dst)], fields)
	}
	if len(block) >= len(fields) {
		return append(append(dst, packedNot), fields...)
	}
	dst = append(dst, packedS2)
	return dst[:at+len(block)]
}

// unpack returns what was packed, as bytes of their own and no more of them than a
// frame may have.
func unpack(packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return nil, errMalformed
	}
	switch how := packed[0]; how {
	case packedNot:
		return clone(packed[1:]), nil
	case packedS2:
		return unpackS2(packed[1:])
	case packedZst:
		value, err := keptPacker().DecodeAll(packed[1:], nil)
		if err != nil {
			return nil, errMalformed
		}
		return value, nil
	default:
		return nil, fmt.Errorf("packing %d is not known", how)
	}
}

func unpackS2(block []byte) ([]byte, error) {
	n, err := s2.DecodedLen(block)
	if err != nil || n > maxFrameBytes {
		return nil, errMalformed
	}
	fields, err := dictionary.Decode(nil, block)
	if err != nil {
		return nil, errMalformed
	}
	return fields, nil
}

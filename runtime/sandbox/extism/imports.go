package extism

import (
	"encoding/binary"
	"errors"
	"iter"

	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// What there is to know of the binary format to find the imports and the start function of a valid module.
const (
	wasmPreamble  = 8
	wasmImportsID = 2
	wasmStartID   = 8
)

var errImports = errors.New("its imports cannot be read")

// redirectImports returns a module whose functions are imported from where redirect
// says. The module is valid.
func redirectImports(wasm []byte, redirect func(module, name string) string) ([]byte, error) {
	out := append([]byte(nil), wasm[:wasmPreamble]...)
	for id, payload := range wasmSections(wasm) {
		if id == wasmImportsID {
			var ok bool
			if payload, ok = redirectSection(payload, redirect); !ok {
				return nil, errImports
			}
		}
		out = append(out, id)
		out = appendBytes(out, payload)
	}
	return out, nil
}

// startFunction returns the index of a module's start function, and false when it has
// none.
func startFunction(wasm []byte) (uint32, bool) {
	for id, payload := range wasmSections(wasm) {
		if id == wasmStartID {
			index, n := binary.Uvarint(payload)
			return uint32(index), n > 0
		}
	}
	return 0, false
}

// wasmSections goes through the sections of a valid module.
func wasmSections(wasm []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		for rest := wasm[wasmPreamble:]; len(rest) > 0; {
			payload, after, ok := cutBytes(rest[1:])
			if !ok || !yield(rest[0], payload) {
				return
			}
			rest = after
		}
	}
}

func redirectSection(section []byte, redirect func(module, name string) string) ([]byte, bool) {
	count, n := binary.Uvarint(section)
	if n <= 0 {
		return nil, false
	}
	out, rest := binary.AppendUvarint(nil, count), section[n:]
	for range count {
		module, after, ok := cutBytes(rest)
		if !ok {
			return nil, false
		}
		name, after, ok := cutBytes(after)
		if !ok || len(after) == 0 || after[0] != rewrite.ImportsFunction {
			return nil, false // only functions get here: see checkImports
		}
		_, n := binary.Uvarint(after[1:])
		if n <= 0 {
			return nil, false
		}
		out = appendBytes(out, []byte(redirect(string(module), string(name))))
		out = appendBytes(out, name)
		out = append(out, after[:1+n]...)
		rest = after[1+n:]
	}
	return out, len(rest) == 0
}

// cutBytes splits off bytes that come after their length.
func cutBytes(b []byte) (head, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n : n+int(size)], b[n+int(size):], true
}

func appendBytes(out, b []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(b))), b...)
}

package rewrite

import "crypto/sha256"

// hollowSection is the custom section that says of what a module was hollowed out.
const hollowSection = Prefix + "hollow"

// hollowBody is the body of a function that declares no locals and traps: it is valid
// whatever the function takes and returns.
const hollowBody = "\x03\x00\x00\x0b"

// Hollow returns a module with all that the given one, which [Rewrite] has returned, holds
// besides the bodies of its functions, and with the SHA-256 of it. An engine that has the
// machine code need not read, check and hash the bodies again: they are most of a module.
// No two modules have the same hollow one.
func Hollow(wasm []byte) []byte {
	sum := sha256.Sum256(wasm)
	r := &reader{b: wasm, at: preambleBytes, end: len(wasm)}
	out := append([]byte(nil), wasm[:preambleBytes]...)
	out = appendSection(out, sectionCustom, append(appendName(nil, hollowSection), sum[:]...))
	for r.more() {
		at := r.at
		id := r.byte()
		content := r.part(r.u32())
		if id == sectionCode {
			out = appendSection(out, sectionCode, hollowCode(content.u32()))
			continue
		}
		out = append(out, wasm[at:r.at]...)
	}
	return out
}

func hollowCode(functions uint32) []byte {
	code := appendU32(nil, functions)
	for range functions {
		code = append(code, hollowBody...)
	}
	return code
}

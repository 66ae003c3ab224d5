package rewrite

// WithoutCustom returns a module that [Rewrite] accepts, without its custom sections.
// An engine that is to validate the module should be given no others: it decodes the
// names in them, and takes their word for how many there are.
func WithoutCustom(wasm []byte) []byte {
	r := &reader{b: wasm, at: preambleBytes, end: len(wasm)}
	out := append(make([]byte, 0, len(wasm)), wasm[:preambleBytes]...)
	for r.more() {
		at := r.at
		id := r.byte()
		r.bytes(r.u32())
		if id != sectionCustom && r.err == nil {
			out = append(out, wasm[at:r.at]...)
		}
	}
	return out
}

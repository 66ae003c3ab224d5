package rewrite

// What an author can do about what is not supported: the flag to drop, or to add.
const (
	adviceThreads    = "build without threads: with clang no -pthread or -matomics, with Rust -C target-feature=-atomics"
	adviceRelaxed    = "build without it: with clang -mno-relaxed-simd, with Rust -C target-feature=-relaxed-simd"
	adviceExceptions = "build without them: with clang no -fwasm-exceptions, with Rust -C panic=abort -C target-feature=-exception-handling"
	adviceGC         = "build for WebAssembly 2.0: without typed references and garbage collected objects (with clang -mno-gc)"
	adviceMemory64   = "build for wasm32"
	adviceMemories   = "build without it: with clang -mno-multimemory"
)

// refuse says why there is no instruction with this opcode here.
func (r *reader) refuse(at int, op opcode) {
	prefix := op
	if op > 0xff {
		prefix = op >> 12
	}
	switch {
	case prefix == prefixAtomic:
		r.fail(at, adviceThreads, "it holds an atomic instruction: threads are not supported")
	case prefix == prefixVector && op&0xfff >= 0x100:
		r.fail(at, adviceRelaxed, "it holds a relaxed SIMD instruction, whose result differs between processors")
	case prefix == prefixGC || op >= 0x14 && op <= 0x15 || op >= 0xd3 && op <= 0xd6:
		r.fail(at, adviceGC, "it holds an instruction on typed references, which are not supported")
	case op >= 0x06 && op <= 0x0a || op == 0x18 || op == 0x19 || op == 0x1f:
		r.fail(at, adviceExceptions, "it holds an instruction of exceptions, which are not supported")
	default:
		r.fail(at, "", "it holds the unknown opcode %#x", uint32(op))
	}
}

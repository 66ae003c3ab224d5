// Package sandbox compiles WebAssembly plugins and runs them, each Run in a
// fresh instance that nothing of an earlier one can reach.
//
// A [Runtime] compiles bytes to a [Module]; [Module.Run] makes an instance,
// calls one export and throws the instance away. The guest speaks the native ABI
// (abi.HostCalls); WASI preview 1 is there for what language runtimes need of it
// (clock, randomness, output, exit) and reaches nothing else: no file, no
// environment, no socket. What the guest asks for is answered by a [Host].
//
// A guest can end a Run in many ways, and each is an *abi.Failure of its own
// code. None of them touches the process or another Run: modules are checked and
// bounded before the compiler sees them (prepare.go), memory is counted where it
// is allocated (memory.go), and a stop reaches a busy guest at the next loop or
// call (run.go).
package sandbox

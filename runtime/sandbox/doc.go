// Package sandbox compiles WebAssembly plugins and runs them, each Run in an
// instance in which nothing of an earlier one can be found.
//
// A [Runtime] compiles bytes to a [Module]: it has them rewritten (package rewrite),
// so that a guest counts its own gas and depth and can be put back to where it began,
// and initializes the module once. Every instance begins as that has left it.
// [Module.Run] takes an instance, calls one export, and puts everything back that the
// guest has changed. The guest speaks the native ABI (abi.HostCalls); WASI preview 1 (package wasi) is
// there for what language runtimes need of it (clock, randomness, output, exit) and
// reaches nothing else: no file, no environment, no socket. What the guest asks for is
// answered by a [Host].
//
// A module is initialized under a clock that stands still, with randomness that follows
// from its digest, and without host calls, so that what comes of it is the same on every
// node. One that cannot be initialized like this is initialized in each Run.
//
// A guest can end a Run in many ways, and each is an *abi.Failure of its own
// code. None of them touches the process or another Run: modules are checked and
// bounded before the compiler sees them, memory is counted where it is allocated, and a
// guest that computes comes by in every slice of its gas (package guest), where it can be
// stopped.
//
// Plugins that were made with an Extism PDK run in instances of their own kind (package
// extism); what a Run is, and what ends it, is the same for both (package guest).
package sandbox

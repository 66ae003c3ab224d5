// Package guests holds the plugins that the measurements of the sandbox run: the same
// program in Go and in C. Each exports
//
//   - run, which answers a Task: in Go with the Message that it was given, in C with a
//     constant;
//   - nothing, which returns;
//   - calls, which makes [Calls] host calls of [CallBytes] bytes in and out;
//   - and what is only computed: see [Kernels].
//
// The plugin in C for Extism exports nothing, and calls with host calls to the function get
// of Extism's own ABI.
//
// All of them take nothing, and return 0, or 1 when they found something else than they
// should.
package guests

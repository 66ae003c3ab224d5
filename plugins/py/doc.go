// Package py makes plugins of programs in Python. It needs no toolchain: the engine, MicroPython compiled to
// Wasm, is embedded.
//
// Invariants:
//
//   - What [Build] makes is one plain module: nothing about it is special to a node.
//   - It imports the host calls whose functions the sources name, and no more: what is not named cannot be called.
//   - The same sources give the same bytes, in whatever folder they lie.
//   - Initialization compiles and runs the files, so that Tasks begin with the program loaded. What does not compile
//     is found by running [Built.Check], which tells it as [Told] reads it.
package py

// Package js makes plugins of programs in TypeScript and JavaScript. It needs no
// toolchain: the engine, QuickJS compiled to Wasm, is embedded, and esbuild's Go
// library strips types and bundles modules.
//
// Invariants:
//
//   - What [Bundle] makes is one plain module: nothing about it is special to a node.
//   - It imports what its program can call, and no more. The engine has unnamed slots
//     for host calls. A program gets a slot for each host call that its bundle still has
//     after dead code is left out; the slots that are left over import "output" once
//     more, which every plugin has. So no index of a function changes.
//   - The same sources give the same bytes, in whatever folder they lie.
//   - Initialization loads the program, without host calls unless its top level makes
//     some: Tasks begin with the program loaded.
package js

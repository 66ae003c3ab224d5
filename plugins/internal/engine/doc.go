// Package engine makes plugins of an engine that runs programs, compiled to Wasm, and a program.
//
// Invariants:
//
//   - The engine's code stays byte for byte as it is: the program is an active segment of data behind
//     all else, and the engine's slots for host calls and exports get names. What is left over of the slots imports
//     "output" once more, which every plugin has, so that no index of a function changes.
//   - The same program gives the same bytes.
package engine

// Package workers holds one plugin, written five times: in C, Rust, Go, AssemblyScript and by
// hand. Tests run them to show that what a plugin does is the same wherever and however it
// runs, and that nothing of a Task is left for the next.
//
// What they can do, and where all have to find the same, is in ../src/workers/README.md,
// with the sources; go generate ./plugins builds them. The package knows no engine and no
// Host.
package workers

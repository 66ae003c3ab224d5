// Package building makes the module of a plugin from its folder: it finds the toolchain of the
// manifest's language, runs it, and remembers what the module was made of.
//
// Its invariants:
//
//   - What is run is told before it runs, and is run in the folder of the manifest, by no shell.
//   - The module is replaced as a whole, and nothing outside of the folder is written: a path of the
//     manifest that leads out of it by a link is refused. A command of the author's own does what it does.
//   - A module is taken for current only if it is byte for byte the one that was built, from the same
//     files with the same contents, by the same command and the same version of the toolchain.
package building

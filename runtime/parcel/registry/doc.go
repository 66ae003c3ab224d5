// Package registry brings packages of plugins to OCI registries and back (docs/packages.md).
//
// Its invariants:
//
//   - A package is the same artefact whenever it is pushed: the manifest of the artefact follows
//     from the package.
//   - What is pulled is what its digest says, or it is refused; then it is a package as
//     [parcel.New] has it, or it is refused. The registry's word counts for nothing else.
//   - A registry cannot make a pull take more memory than a package may have, nor wait for longer
//     than [Options.Stall] without a byte.
//   - A password goes to the registry that it is for, and to where that has its tokens made: never
//     along with a redirect, and never in the clear unless [Options.PlainHTTP] says so.
package registry

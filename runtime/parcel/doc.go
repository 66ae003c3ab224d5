// Package parcel packs a plugin into one file, and reads such packages of strangers (docs/packages.md).
//
// Its invariants:
//
//   - The same files make the same bytes, wherever they are packed.
//   - A package that was read is whole: it has a manifest without errors, the module and the schemas
//     that this names, and exactly the files that its table of contents states, each with its digest.
//   - The table of contents follows from the files, byte by byte. Its digest is that of the package,
//     whoever has signed it and in whatever it is carried.
//   - A signature that a package carries is right, or the package is refused. Whether whoever signed
//     is trusted is asked by [Trust], and by nothing else.
//   - Reading takes no more than [MaxBytes] and [MaxFiles] say, whatever a package states, and writes
//     nothing anywhere.
//
// It runs no module, and knows nothing of networks.
package parcel

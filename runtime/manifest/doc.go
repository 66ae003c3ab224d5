// Package manifest reads wharf.toml, in which the author of a plugin says what it is.
//
// Its invariants:
//
//   - Each field is declared once, in fields.go. Reading, the JSON Schema for editors and the page of
//     reference follow from that.
//   - What is wrong with a manifest is a [Problem] with a line, a column and what to do. All
//     problems are found in one reading, up to a bound, and each is told once.
//   - A manifest may be anybody's. What reading it takes is bounded by [MaxBytes], whatever it
//     holds, and nothing outside of its folder is looked at.
//   - The TOML library decides what TOML is: the tree that is made here adds places to it, and takes
//     nothing that the library refuses.
//   - What an install makes of a manifest ([Manifest.Resources]) follows from the manifest alone.
//     A list of capabilities that is empty grants nothing.
//
// It imports abi, what names are spelled by, and what JSON Schemas are checked with; it runs no module.
package manifest

// Package kept keeps on disk what is costly to derive from a module: the rewritten
// module, the memory and globals of its initialized instance, and its machine code.
//
// An [Entry] is found by its [Key], which names all that it was derived from. It is
// only ever a copy: what is missing, damaged or was made by another version is derived
// again. So is what was not written under the key of the node, for machine code is executed
// as it is. A folder may be shared by any number of processes that share the key.
package kept

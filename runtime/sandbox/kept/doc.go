// Package kept keeps on disk what is costly to derive from a module: the rewritten
// module, and the memory and globals of its initialized instance.
//
// An [Entry] is found by its [Key], which names all that it was derived from. It is
// only ever a copy: what is missing, damaged or was made by another version is derived
// again. A [Folder] may be shared by any number of processes.
package kept

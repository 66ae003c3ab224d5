// Package memory is the contract of [storage.Store] in its plainest form: slices and maps
// behind one lock, and every question answered by looking through them. It is what other
// engines are held against (package storagetest), and does as a store for tests.
//
// A batch is durable when Append returns. [Store.Reopen] stands for the end of a process:
// what was handed over is there again, and nothing else of the old Store works.
package memory

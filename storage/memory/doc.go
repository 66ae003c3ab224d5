// Package memory is the contract of [storage.Store] in its plainest form: slices and maps
// behind one lock, and every question answered by looking through them. Package storagetest
// compares other engines with it, and tests can use it as a store.
//
// A batch is durable when Append returns. [Store.Reopen] stands for the end of a process: the
// new Store has all that was handed over, and nothing of the old one works any more.
package memory

// Package templates makes the folder of a new plugin: one that builds, with a test, and with the SDK of
// its language in it.
//
// Its invariants:
//
//   - All is made in memory first, and its manifest is read as any other: when something is refused, nothing is written.
//   - Nothing is overwritten: the folder is new, or was empty. It appears as a whole.
//   - An author needs nothing that no registry has: an SDK that is not published lies in the folder.
package templates

// Package watching tells when files have changed: the sources of a plugin, or what lies in a folder that a
// node takes plugins from.
//
// Its invariants:
//
//   - Nothing is missed. What the system tells of is a hint; what counts is how the files are. A folder is
//     watched before it is listed, and everything is looked at now and then, so that a notice that was lost,
//     a file system that gives none, and a folder that went and came back are found a little later.
//   - A change after [Watcher.Watch] has returned makes a later [Watcher.Wait] return, also when it comes
//     while nobody waits. Who reads files after Wait, or after Watch, and waits again is up to date in the end.
//   - What is left out is not looked into, so that what a build writes starts no other.
package watching

// Package ceiling is what the figures are compared with: the least that a server
// could do and still keep its word. [Accept] decodes a Task and commits a synced
// batch of three keys; [Write] writes the frames of a stream to every reader.
// Each runs as a process of its own, as the node does: [Start] runs this program again, and
// [Main] is what it does then.
package ceiling

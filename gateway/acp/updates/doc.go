// Package updates says what clients of the Agent Client Protocol are told of the events of a Session:
// the values of session/update.
//
// It is pure. A [Teller] is fed the events of one Session in the order of the log, each as the caller
// may see it, and says what each is told as. What it says depends on nothing else, so a client that
// comes back is told the rest by a Teller that is fed from the beginning and whose first updates are
// thrown away.
//
// Its invariants:
//
//   - A client that has not declared more gets what schema v0.12.2 of the protocol has, and nothing
//     else: stock clients log, drop or misread the rest. What Harn adds to an object of the protocol
//     lies under its _meta.harn, for everybody.
//   - Text of a Message is told once. Its pieces are told as they come, and the Message tells the rest.
//     A text that was begun and given up, because the node has died and the model was asked again,
//     cannot be taken back: the new one follows whole, after a blank line.
//   - A tool call that was told is ended: by its own end, or by the end of its Task.
//   - An event that cannot be read, of an older or newer build or with what this reader may not see, is
//     told as far as it can be read, or not at all. It never becomes an update that does not fit.
package updates

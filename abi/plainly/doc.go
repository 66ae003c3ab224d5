// Package plainly is how messages say what the code knows: why a JSON text is not what is expected, a
// list of names, the name that somebody may have meant.
//
// An error of the JSON library names types of Go, which nobody outside knows, and says the same
// thing one way or the other by chance of the process. [Say] says it in the words of JSON: where in
// the text, what is expected there (a text, a number, a list, an object), and which member there is
// instead. Whoever tells somebody outside about such an error says it so; the errors of package abi
// do it by themselves.
package plainly

// Package stack makes of what the engine tells of a trap what a plugin's author wants to
// know: which of their functions it was in, under the name that they gave it, and in which
// line of which file.
//
// Everything it reads is a stranger's: names, sections, debug information. What it does is
// bounded by a number of steps, not by time, so that the same module and the same trap give
// the same stack wherever and whenever it is made. What is malformed, too much or a lie gives
// fewer or wrong lines in a stack of that very module, and nothing else.
package stack

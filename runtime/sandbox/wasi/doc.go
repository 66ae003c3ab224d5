// Package wasi answers what language runtimes ask of WASI preview 1, and reaches nothing: a
// guest has three standard streams, a clock, randomness and one argument, and no file, no
// socket, no environment.
//
// Clock, randomness and time that is slept are those of the Run's Host, and what is printed
// becomes host calls (package guest), so that a Run that is repeated is told the same. No
// answer looks at more memory than the guest is charged for. The answers are as the engine's
// own WASI has them, but for what that does at no price; a test calls both.
package wasi

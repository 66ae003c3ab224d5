// Package proc reads what the operating system says of another process: its
// resident memory and the processor time that it has used. It reads the proc
// file system, so it works on Linux only; elsewhere it answers [ErrUnsupported].
package proc

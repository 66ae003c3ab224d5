// Package engines is what the sandbox is compared with: guests in wazero as it comes, and in
// Extism's SDK, as a program that uses them by itself would run them.
//
// [Host] answers the guests of all three at once and records what it is asked in memory, so
// that what is measured is the engine. Nothing here knows the sandbox.
package engines

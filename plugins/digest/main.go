// Command digest is a Wharf plugin that reads a text or Markdown document and
// answers with an outline, counts, the key sentences and a table of links.
package main

import wharf "github.com/wharf-dev/wharf/sdk/go"

//go:wasmexport run
func run() int32 { return wharf.Run(handle) }

// main is never called: a plugin has exports instead.
func main() {}

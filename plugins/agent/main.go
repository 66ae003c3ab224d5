// Command agent is a Wharf plugin that answers with a model and the tools it may
// call: it asks the model, calls what the model wants called, and asks again, until
// the model is done or the budget is spent. Its export remote has another server do the work, and
// its export invoke calls one tool.
package main

import wharf "github.com/wharf-dev/wharf/sdk/go"

// What nearly every Task needs is made ready once.
var _ = wharf.Prepare(wharf.ForConfig, wharf.ForTranscript, wharf.ForTools, wharf.ForModels, wharf.ForInbox, wharf.ForEvents)

//go:wasmexport run
func run() int32 { return wharf.Run(handle) }

//go:wasmexport remote
func runRemote() int32 { return wharf.Run(remote) }

//go:wasmexport invoke
func runInvoke() int32 { return wharf.Run(invoke) }

// main is never called: a plugin has exports instead.
func main() {}

// Package wharf is what a Wharf plugin written in Go is made with.
//
// A plugin exports a function that hands its handler to [Run]:
//
//	package main
//
//	import wharf "github.com/wharf-dev/wharf/sdk/go"
//
//	//go:wasmexport run
//	func run() int32 { return wharf.Run(greet) }
//
//	func greet(task *wharf.Task) (wharf.Result, error) {
//		_, err := wharf.Reply("Hello, " + task.Text())
//		return wharf.Result{Summary: "greeted"}, err
//	}
//
//	func main() {}
//
// Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o greet.wasm .
//
// Each host call is one function here, and a plugin imports only the calls that it
// uses: its import section is the list of what it can do. Errors of the host are
// of the type *[Error].
//
// Everything also compiles natively, where host calls fail with
// [StatusUnavailable] until a test runs the handler with package wharftest.
package wharf

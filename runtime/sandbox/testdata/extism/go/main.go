// A plugin made with Extism's PDK for Go, for the tests of Extism plugins.
package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"time"

	"github.com/extism/go-pdk"
)

//go:wasmimport extism:host/user llm_complete
func llmComplete(request uint64) uint64

// started is set before the first export is called.
var started = time.Now()

// run tells what it sees of the world.
//
//go:wasmexport run
func run() int32 {
	chance := make([]byte, 8)
	if _, err := rand.Read(chance); err != nil {
		pdk.SetError(err)
		return 1
	}
	fmt.Println("thinking")
	begun := time.Now()
	time.Sleep(30 * time.Second)
	fmt.Fprintln(os.Stderr, "slept")
	request := pdk.AllocateString(`{"call_id":"main:1","messages":[]}`)
	answer := pdk.FindMemory(llmComplete(request.Offset()))
	pdk.OutputString(fmt.Sprintf("%s %x %v %d %d %s", started.UTC().Format(time.DateOnly), chance,
		time.Since(begun) >= 30*time.Second, len(os.Environ()), len(pdk.Input()), answer.ReadBytes()))
	return 0
}

func main() {}

// Command golang is the plugin in Go that the benches run.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"unsafe"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

func main() {}

//go:wasmexport run
func run() int32 { return wharf.Run(echo) }

// echo answers a Task with the Message that it was given.
func echo(task *wharf.Task) (wharf.Result, error) {
	m, _ := task.Message()
	if _, err := wharf.AppendMessage(wharf.Message{Role: "assistant", Parts: m.Parts}); err != nil {
		return wharf.Result{}, err
	}
	return wharf.Result{Summary: "echoed"}, nil
}

//go:wasmexport nothing
func nothing() int32 { return 0 }

//go:wasmimport wharf state.get
func hostGet(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf read
func hostRead(ptr unsafe.Pointer, size uint32) uint32

const (
	callCount = 1000
	callBytes = 100
)

// request is a state.get whose request has callBytes bytes.
var request = []byte(`{"key":"` + string(bytes.Repeat([]byte{'k'}, callBytes-10)) + `"}`)

var answer [callBytes]byte

//go:wasmexport calls
func calls() int32 {
	for range callCount {
		if uint32(hostGet(unsafe.Pointer(&request[0]), uint32(len(request)))) != callBytes {
			return 1
		}
		if hostRead(unsafe.Pointer(&answer[0]), callBytes) != callBytes {
			return 1
		}
	}
	return 0
}

// order is what documents of many programs look like.
type order struct {
	ID       string            `json:"id"`
	Customer string            `json:"customer"`
	Paid     bool              `json:"paid"`
	Total    float64           `json:"total"`
	Lines    []line            `json:"lines"`
	Labels   map[string]string `json:"labels"`
}

type line struct {
	Article  string  `json:"article"`
	Quantity int     `json:"quantity"`
	Price    float64 `json:"price"`
}

const document = `{"id":"order_01J9","customer":"Łódź & Söhne \"Kontor\"","paid":true,"total":1299.95,` +
	`"lines":[{"article":"rope, 12 mm","quantity":40,"price":2.25},{"article":"shackle","quantity":7,"price":13.5},` +
	`{"article":"fender","quantity":2,"price":552.725}],"labels":{"harbour":"north","priority":"high","carrier":"none"}}`

//go:wasmexport json
func jsonRounds() int32 {
	for range 200 {
		var o order
		if err := json.Unmarshal([]byte(document), &o); err != nil || len(o.Lines) != 3 {
			return 1
		}
		out, err := json.Marshal(&o)
		if err != nil || len(out) < 300 {
			return 1
		}
	}
	return 0
}

//go:wasmexport sha256
func sha256Rounds() int32 {
	data := make([]byte, 64<<10)
	for n := range 16 {
		sum := sha256.Sum256(data)
		if n == 0 && sum[0] != 0xde {
			return 1
		}
		copy(data, sum[:])
	}
	return 0
}

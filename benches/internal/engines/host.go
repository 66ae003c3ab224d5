package engines

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/guests"
)

// taskInput is the answer to the host call that asks for the Task.
const taskInput = `{"task":{"id":"task_01J9ZK3M6P8Q2R4S6T8V0W2X4Y","session_id":"sess_01J9ZK3M6P8Q2R4S6T8V0W2X4Y",` +
	`"input":{"role":"user","parts":[{"type":"text","text":"Which of the open orders are affected by what changed since Monday?",` +
	`"visibility":"public"}],"work":"floats","times":1}},"persona":{"id":"persona_bench","name":"bench","version":"1.0.0"}}`

// Host is a sandbox.Host that answers at once, and records every call in memory.
type Host struct {
	record []recordedCall
	bytes  []byte // of the requests and answers in the record
	state  []byte // the answer of state.get
	input  []byte // the answer of input
}

type recordedCall struct {
	call            string
	status          abi.CallStatus
	request, answer []byte
}

// NewHost returns a Host with an empty record.
func NewHost() *Host {
	state := `{"value":"` + strings.Repeat("a", guests.CallBytes-len(`{"value":""}`)) + `"}`
	return &Host{state: []byte(state), input: []byte(taskInput)}
}

// Ask has Tasks be given a text of digits.
func (h *Host) Ask(digits string) {
	h.input = []byte(`{"task":{"id":"task_1","session_id":"sess_1","input":{"role":"user","parts":[{"type":"text","text":"` + digits +
		`"}]}},"persona":{"id":"persona_bench","name":"bench","version":"1.0.0"}}`)
}

// Call implements sandbox.Host.
func (h *Host) Call(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	answer := []byte(nil)
	switch call {
	case abi.CallInput:
		answer = h.input
	case abi.CallStateGet:
		answer = h.state
	case abi.CallMessageAppend:
		answer = []byte(`{"message_id":"msg_01J9ZK3M6P8Q2R4S6T8V0W2X4Y"}`)
	}
	h.record = append(h.record, recordedCall{call, abi.CallOK, h.keep(request), h.keep(answer)})
	return abi.CallOK, answer, nil
}

func (h *Host) keep(p []byte) []byte {
	from := len(h.bytes)
	h.bytes = append(h.bytes, p...)
	return h.bytes[from:len(h.bytes):len(h.bytes)]
}

// Forget begins a new record.
func (h *Host) Forget() { h.record, h.bytes = h.record[:0], h.bytes[:0] }

// Recorded returns how many calls are in the record, and the name of the first, "" for none.
func (h *Host) Recorded() (count int, first string) {
	if len(h.record) == 0 {
		return 0, ""
	}
	return len(h.record), h.record[0].call
}

// Made returns an error unless so many calls of state.get are in the record.
func (h *Host) Made(calls int) error {
	count := 0
	for _, c := range h.record {
		if c.call == abi.CallStateGet && len(c.request) == guests.CallBytes {
			count++
		}
	}
	if count != calls {
		return fmt.Errorf("%d calls of %d bytes were recorded, not %d", count, guests.CallBytes, calls)
	}
	return nil
}

// Now implements sandbox.Host.
func (h *Host) Now() time.Time { return time.Unix(1_700_000_000, 0) }

// Random implements sandbox.Host.
func (h *Host) Random(p []byte) { clear(p) }

// Sleep implements sandbox.Host.
func (h *Host) Sleep(context.Context, time.Duration) {}

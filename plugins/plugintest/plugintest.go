package plugintest

import (
	_ "embed"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	//go:embed wasm/calls.wasm
	calls []byte
	//go:embed wasm/fixture.wasm
	fixture []byte
	//go:embed wasm/steps.wasm
	steps []byte
)

// Calls returns a plugin that makes the host calls its input lists, in order: see
// [Program]. It imports every host call there is. The caller must not change the
// bytes.
func Calls() []byte { return calls }

// Steps returns a plugin that makes the host calls of a [StepsInput]. The caller must
// not change the bytes.
func Steps() []byte { return steps }

// Fixture returns a plugin that reads the clock under the name started_at, asks a
// model under the name main:1, and stores {"message": ..., "verdict": ...} as an
// Artifact of the kind dataset: what its input has as message, and what the model
// said, or "approved" when it could not be asked. The caller must not change the
// bytes.
func Fixture() []byte { return fixture }

// Program is the input of [Calls].
type Program struct {
	Program []Step `json:"program"`
}

// Step is what [Calls] does next. Of Request, Text and Bytes at most one is set.
//
// In Request and Text, $task_id, $artifact_id, $message_id, $memory_id and $handle
// stand for the last member of that name that an answer had, $digest for 16 hex
// digits over all answers so far, and $n for the number of host calls made.
type Step struct {
	// Call is the name of a host call, or one of these words:
	//   - wasi.clock, wasi.monotonic, wasi.random (Bytes bytes), wasi.sleep (Bytes
	//     milliseconds), wasi.print (Text): through WASI;
	//   - grow: take Bytes more pages of memory;
	//   - trap, spin (loop without an end), return (Bytes as the exit code).
	Call string `json:"call"`
	// Request is passed as it stands.
	Request jsontext.Value `json:"request,omitzero"`
	// Text is passed as text. Beyond ASCII only what needs no escape may be in it.
	Text *string `json:"text,omitzero"`
	// Bytes is passed as four bytes, little-endian: what random takes.
	Bytes *uint32 `json:"bytes,omitzero"`
	// Repeat is how often; 0 for once.
	Repeat int `json:"repeat,omitzero"`
}

// StepsInput is the input of [Steps].
type StepsInput struct {
	Steps int    `json:"steps"` // how many
	Kind  string `json:"kind"`  // durable: state.set; read: state.get
	Bytes int    `json:"bytes"` // about so many for each; a key that is read has at most 128
}

package abi

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// BenchmarkAppendTask writes a Task as it is when it has ended.
func BenchmarkAppendTask(b *testing.B) {
	at := At(time.Unix(1_700_000_000, 123_000_000))
	t := Task{Envelope: NewEnvelope(ObjectTask, "task_01JZ8Q9W3K5V7X2M4N6P8R0T1Y", at, nil), SessionID: "sess_01JZ8Q9W3K5V7X2M4N6P8R0T1Y",
		WorkspaceID: "ws_01JZ8Q9W3K5V7X2M4N6P8R0T1Y", Status: TaskCompleted, Input: jsontext.Value(`{"object":"message","id":"msg_01JZ8Q9W3K5V7X2M4N6P8R0T1Y"}`),
		CreatedBy: "key_01JZ8Q9W3K5V7X2M4N6P8R0T1Y", PersonaID: "persona_digest", OutcomeID: "out_01JZ8Q9W3K5V7X2M4N6P8R0T1Y", ReceiptID: "rcpt_01JZ8Q9W3K5V7X2M4N6P8R0T1Y",
		StartedAt: at, CompletedAt: at, Attempt: 1}
	text := make([]byte, 0, 2048)
	for b.Loop() {
		text = t.AppendJSON(text[:0])
	}
}

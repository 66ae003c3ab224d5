package gateway

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

func TestDotted(t *testing.T) {
	for pointer, want := range map[jsontext.Pointer]string{
		"": "", "/session_id": "session_id", "/message/parts/0/text": "message.parts[0].text", "/a~1b/c~0d": "a/b.c~d",
	} {
		if got := dotted(pointer); got != want {
			t.Errorf("%q: %q, want %q", pointer, got, want)
		}
	}
}

// FuzzDecode: whatever is sent, the answer is a value or an error that is fit to
// be sent, and what is accepted is JSON that every reader reads alike.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"input":{"role":"user","parts":[{"type":"text","text":"hi"}]},"session_id":"sess_1","deadline_seconds":1.5}`,
		`{"input":null,"metadata":{"a":[1e400,-0,"\ud83c\udf4d"]}}`, `{"a":1,"a":2}`, "{\"\xff\":1}", `[`, `null`, `{"session_id":"\u0000"}`,
		strings.Repeat(`{"a":`, 300), `{"deadline_seconds":1e999}`, "\ufeff{}", `{"input":{}} x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var req abi.SubmitTaskRequest
		err := decode(body, &req, func(int64) bool { return true })
		if err == nil {
			if !jsontext.Value(body).IsValid() {
				t.Fatalf("accepted %q", body)
			}
			return
		}
		shown, ok := errors.AsType[*abi.Error](err)
		if !ok || shown.HTTPStatus() != 400 {
			t.Fatalf("error %v", err)
		}
		var envelope abi.ErrorEnvelope
		if err := json.Unmarshal(EncodeError("req_1", shown), &envelope); err != nil || envelope.Error.Code != abi.CodeInvalidRequest {
			t.Fatalf("the envelope of %q: %v", body, err)
		}
	})
}

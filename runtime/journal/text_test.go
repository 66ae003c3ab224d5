package journal

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
)

func TestTextJSON(t *testing.T) {
	for text, want := range map[string]string{
		"": `""`, "a\"\n": `"a\"\n"`, "\ufffd": "\"\ufffd\"", "\xff": `{"base64":"/w=="}`, "ok\xc3": `{"base64":"b2vD"}`,
	} {
		if got, err := json.Marshal(Text(text)); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := Text(anyText().Draw(t, "text"))
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back Text
		if err := json.Unmarshal(b, &back); err != nil || !bytes.Equal(back, text) {
			t.Fatalf("%q became %s and %q, %v", text, b, back, err)
		}
	})
}

func TestTextBadJSON(t *testing.T) {
	for _, bad := range []string{
		``, `"`, `null`, `true`, `1`, `[]`, `["a"]`, `{}`, `{"base64"`, `{"base64":`, `{"base64":"/w=="`, `{"base64":"!"}`, `{"base64":"/w"}`,
		`{"base64":null}`, `{"base64":true}`, `{"base64":1234}`, `{"base64":{}}`, `{"base64":[]}`,
		`{"base64":"/w==","base64":"/w=="}`, `{"base64":"/w==","more":1}`, `{"hex":"ff"}`, "\"\xff\"",
	} {
		var text Text
		if err := json.Unmarshal([]byte(bad), &text); err == nil {
			t.Errorf("%s was read as %q", bad, text)
		}
		var rec Record
		if err := json.Unmarshal([]byte(`{"task_id":"t","input":`+bad+`}`), &rec); err == nil {
			t.Errorf("a record with the input %s was read", bad)
		}
	}
}

// A record is the same after it has been to another machine.
func TestRecordJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.Custom(func(t *rapid.T) Entry {
			return Entry{
				Index: rapid.Int().Draw(t, "index"), Call: rapid.SampledFrom(recordedCalls()).Draw(t, "call"),
				Effect: rapid.SampledFrom([]abi.Effect{"", abi.EffectRead}).Draw(t, "effect"), Key: rapid.String().Draw(t, "key"),
				At: Moment(time.UnixMicro(rapid.Int64Range(0, 1<<52).Draw(t, "at"))), Status: abi.CallStatus(rapid.Uint32().Draw(t, "status")),
				Request: anyText().Draw(t, "request"), Answer: anyText().Draw(t, "answer"), Open: rapid.Bool().Draw(t, "open"),
				EventID: rapid.String().Draw(t, "event"), Resource: abi.ResourcePointer{Object: abi.ObjectTask, ID: rapid.String().Draw(t, "id")},
			}
		})
		rec := Record{
			TaskID: rapid.String().Draw(t, "task"), Input: anyText().Draw(t, "input"), CreatedAt: began, StartedAt: began.Add(time.Microsecond),
			Program: Program{Plugin: "p", Module: HashOf(nil), Export: "run", ABI: abi.ABIVersion, Persona: HashOf([]byte("p")),
				Seed: rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "seed"), Engine: "e", Arch: "a",
				Limits: Limits{MemoryBytes: rapid.Uint64Range(0, 1<<53).Draw(t, "memory"), HostCalls: 2, PayloadBytes: 3, OutputBytes: 4}},
			Entries: rapid.SliceOfN(entry, 1, 4).Draw(t, "entries"),
		}
		if rapid.Bool().Draw(t, "ended") {
			rec.EndedAt = began.Add(time.Second)
			rec.End = &End{Status: abi.TaskFailed, Stopped: rapid.Bool().Draw(t, "stopped"), Calls: 7,
				Failure: &abi.Failure{Code: "c", Message: rapid.String().Draw(t, "message"), Details: jsontext.Value(`{"a":1}`)}}
		}
		b, err := json.Marshal(&rec)
		if err != nil {
			t.Fatal(err)
		}
		var back Record
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if back.Input, rec.Input = solid(back.Input), solid(rec.Input); !reflect.DeepEqual(solidEntries(&back), solidEntries(&rec)) {
			t.Fatalf("%s\n got %+v\nwant %+v", b, back, rec)
		}
		if again, err := json.Marshal(&back); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%s, then %s, %v", b, again, err)
		}
	})
}

// solid makes no difference between nothing and an empty text.
func solid(text Text) Text { return append(Text{}, text...) }

func solidEntries(r *Record) *Record {
	for i := range r.Entries {
		r.Entries[i].Request, r.Entries[i].Answer = solid(r.Entries[i].Request), solid(r.Entries[i].Answer)
	}
	return r
}

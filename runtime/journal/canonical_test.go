package journal

import (
	"bytes"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

func TestCanonical(t *testing.T) {
	const hello = `{"role":"user","parts":[{"type":"text","text":"hi","visibility":"public"}]}`
	for _, c := range []struct{ name, call, request, want string }{
		{"visibility is public by default", abi.CallMessageAppend, `{"role":"user","parts":[{"type":"text","text":"hi"}]}`, hello},
		{"white space and the order of members", abi.CallMessageAppend, "{ \"parts\": [ {\"text\":\"hi\", \"type\":\"text\"} ],\n\"role\":\"user\" }", hello},
		{"escapes", abi.CallMessageAppend, `{"r\u006fle":"user","parts":[{"type":"text","text":"\u0068i"}]}`, hello},
		{"metadata null", abi.CallMessageAppend, `{"role":"user","parts":[{"type":"text","text":"hi"}],"metadata":null}`, hello},
		{"metadata empty", abi.CallMessageAppend, `{"role":"user","parts":[{"type":"text","text":"hi"}],"metadata":{}}`, hello},
		{"metadata empty, with a blank", abi.CallMessageAppend, `{"role":"user","parts":[{"type":"text","text":"hi"}],"metadata":{ }}`, hello},
		{"what a plugin cannot say", abi.CallMessageAppend, `{"role":"user","parts":[{"type":"text","text":"hi","redacted":true}],"id":"msg_1"}`, hello},
		{"metadata", abi.CallMessageAppend, `{"metadata":{"b": 1, "a":[ ]},"role":"agent","parts":[]}`, `{"role":"agent","parts":[],"metadata":{"b":1,"a":[]}}`},
		{"visibility that is said", abi.CallMessageAppend, `{"role":"tool","parts":[{"type":"json","value":{"a": 1.0},"visibility":"internal"}]}`,
			`{"role":"tool","parts":[{"type":"json","value":{"a":1.0},"visibility":"internal"}]}`},
		{"malformed", abi.CallMessageAppend, `{"role": "user"`, `{"role": "user"`},
		{"of another type", abi.CallMessageAppend, `{"role": 5}`, `{"role": 5}`},
		{"artifact", abi.CallArtifactPut, "{\"kind\": \"patch\"}\nhello", "{\"kind\": \"patch\"}\n" + HashOf([]byte("hello")) + " 5 bytes"},
		{"artifact with newlines", abi.CallArtifactPut, "{}\na\nb\n", "{}\n" + HashOf([]byte("a\nb\n")) + " 4 bytes"},
		{"empty artifact", abi.CallArtifactPut, "{}\n", "{}\n" + HashOf(nil) + " 0 bytes"},
		{"artifact without content", abi.CallArtifactPut, "{}", "{}"},
		{"any other call", abi.CallLLMComplete, `{ "a": 1 }`, `{ "a": 1 }`},
		{"nothing", abi.CallClock, "", ""},
	} {
		request := []byte(c.request)
		if got := string(Canonical(c.call, request)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if string(request) != c.request {
			t.Errorf("%s: the request was changed to %s", c.name, request)
		}
	}
}

// value draws raw JSON as a plugin may write it.
func value() *rapid.Generator[jsontext.Value] {
	return rapid.Map(rapid.SampledFrom([]string{`null`, `{}`, `{ }`, `[ 1, 2.50 ]`, `{"b": "\u0041", "a": {"c": [ ]}}`, `"x y"`, `-0`, `1e3`}),
		func(s string) jsontext.Value { return jsontext.Value(s) })
}

func anyPart() *rapid.Generator[abi.Part] {
	return rapid.Custom(func(t *rapid.T) abi.Part {
		p := abi.Part{Visibility: rapid.SampledFrom([]abi.Visibility{"", abi.VisibilityPublic, abi.VisibilityInternal}).Draw(t, "visibility"), Redacted: rapid.Bool().Draw(t, "redacted")}
		switch rapid.IntRange(0, 2).Draw(t, "type") {
		case 0:
			text := rapid.String().Draw(t, "text")
			p.Type, p.Text = abi.PartText, &text
		case 1:
			p.Type, p.Value = abi.PartJSON, value().Draw(t, "value")
		default:
			p.Type, p.ToolCallID, p.Name, p.Input = "tool_call", rapid.String().Draw(t, "id"), rapid.String().Draw(t, "name"), value().Draw(t, "input")
		}
		return p
	})
}

// The form of a request, of the Message that it makes, and of that Message when
// the log gives it back are one: else no replay would match its record.
func TestCanonicalMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := abi.MessageInput{
			Role:     rapid.SampledFrom([]abi.Role{abi.RoleUser, abi.RoleAssistant, abi.RoleSystem, abi.RoleTool, abi.RoleAgent}).Draw(t, "role"),
			Parts:    rapid.SliceOfN(anyPart(), 0, 3).Draw(t, "parts"),
			Metadata: rapid.SampledFrom([]jsontext.Value{nil, jsontext.Value(`null`), jsontext.Value(`{}`), jsontext.Value(`{ }`), jsontext.Value(`{"k": [1, "\u0041"]}`)}).Draw(t, "metadata"),
		}
		options := []json.Options{jsontext.PreserveRawStrings(true)}
		if rapid.Bool().Draw(t, "spaced") {
			options = append(options, jsontext.WithIndent("  "))
		}
		request, err := json.Marshal(&in, options...)
		if err != nil {
			t.Fatal(err)
		}
		if in.Metadata != nil && string(in.Metadata) == "{ }" { // the encoder would take the blank away
			request = bytes.Replace(request, []byte(`"metadata":{}`), []byte(`"metadata":{ }`), 1)
		}
		form := Canonical(abi.CallMessageAppend, request)
		if again := Canonical(abi.CallMessageAppend, form); !bytes.Equal(again, form) {
			t.Fatalf("%s became %s", form, again)
		}
		m := made(t, request)
		if got := CanonicalMessage(m); !bytes.Equal(got, form) {
			t.Fatalf("the message has %s\nthe request  %s", got, form)
		}
		e := Entry{Call: abi.CallMessageAppend, At: began, Request: form, Answer: MessageAnswer(m.ID)}
		r := &storage.Record{Kind: abi.EventUserMessage, State: m.AppendJSON(nil), Payload: e.AppendPayload(nil, Whole, Refs{})}
		if got, _, err := Decode(r, nil); err != nil || !same(&got, &e) {
			t.Fatalf("the log gives back %s %s, %v\nwas %s", got.Request, got.Answer, err, form)
		}
	})
}

// made returns the Message that the host makes of a request.
func made(t *rapid.T, request []byte) *abi.Message {
	var in abi.MessageInput
	if err := json.Unmarshal(request, &in); err != nil {
		t.Fatal(err)
	}
	for i := range in.Parts {
		if in.Parts[i].Redacted = false; in.Parts[i].Visibility == "" {
			in.Parts[i].Visibility = abi.VisibilityPublic
		}
	}
	if in.Metadata.Kind() == 'n' {
		in.Metadata = nil
	}
	return &abi.Message{Envelope: abi.NewEnvelope(abi.ObjectMessage, "msg_1", began, in.Metadata), Role: in.Role, Parts: in.Parts, SessionID: "sess_1", TaskID: "task_1"}
}

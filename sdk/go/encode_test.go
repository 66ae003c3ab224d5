package wharf

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestPartsAreReadAsWritten holds that what a plugin writes is what the host reads.
func TestPartsAreReadAsWritten(t *testing.T) {
	value := json.RawMessage(`{"a":[1,"b"]}`)
	parts := []Part{
		TextPart(""), TextPart("a \"quoted\"\nline"), ArtifactPart("art_1"), ToolCallPart("c1", "web:fetch", value),
		ToolResultPart("c1", value, true), {Type: "json", Value: value, Visibility: "internal"},
		{Type: "artifact_ref", URI: "file:///x", MimeType: "text/plain", Name: "x", Visibility: "public"},
	}
	m := Message{ID: "left out", Role: "assistant", Parts: parts}
	var got Message
	if err := json.Unmarshal(m.append(nil), &got); err != nil {
		t.Fatal(err)
	}
	m.ID = ""
	if !reflect.DeepEqual(got, m) {
		t.Errorf("got  %+v\nwant %+v", got, m)
	}
	var text map[string]any
	encoded, err := json.Marshal(TextPart(""))
	if err != nil || json.Unmarshal(encoded, &text) != nil || text["text"] != "" {
		t.Errorf("an empty text part is %s, %v: it has to have its text", encoded, err)
	}
}

// TestOutputIsReadAsWritten holds the same of what a Task results in.
func TestOutputIsReadAsWritten(t *testing.T) {
	for _, o := range []output{
		{}, {Summary: "done \x01"}, {Summary: "s", Metrics: map[string]float64{"words": 3, "share": 0.25}},
		{Failure: &Failure{Code: "x", Message: "because \"of\" it"}}, {Summary: "cut", StopReason: StopLength},
		{Failure: &Failure{Code: "x", Message: "m", Details: []byte(`{"limit":"max_turns"}`)}},
	} {
		request, err := o.append(nil)
		var got output
		if err != nil || json.Unmarshal(request, &got) != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("%+v was written as %s, %v", o, request, err)
		}
	}
}

package api

import (
	"context"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/storage"
)

var links = Links{Transcript: Path{"/v1/sessions/", "/messages"}, Content: Path{"/v1/artifacts/", "/content"}}

// An adapter that has no paths of its own shows none of another's, and what one has rendered is not shown by
// another.
func TestOneAdapterShowsNoPathsOfAnother(t *testing.T) {
	const stored = `{"id":"sess_1","transcript":"wharf:transcript/sess_1"}`
	plain := New(nil, nil)
	other := plain.With(links)
	ev := desk.Event{Frame: &storage.Frame{First: 7, Records: []storage.Record{{Kind: "k", Resource: abi.ResourcePointer{Object: abi.ObjectSession, ID: "sess_1"}, State: []byte(stored)}}}}
	for _, a := range []*API{other, plain, other} {
		view, err := a.to(t.Context(), &Caller{}).view(desk.Doc{ID: "sess_1", JSON: []byte(stored)}, nil)
		told := string(a.events.event(ev, false).AppendJSON(nil, false))
		if has := strings.Contains(string(view.JSON), "/v1/"); err != nil || has != (a == other) {
			t.Errorf("the view is %s, %v", view.JSON, err)
		}
		if has := strings.Contains(told, "/v1/"); has != (a == other) {
			t.Errorf("the event is %s", told)
		}
	}
}

// What clients see of what the log names, byte by byte. What older builds have recorded is shown as
// it was, and so is whatever a client has written itself.
func TestNamesAreShownAsPaths(t *testing.T) {
	for name, test := range map[string]struct {
		object       abi.Object
		stored, want string
	}{
		"session": {abi.ObjectSession, `{"id":"sess_1","metadata":{},"state":"ACTIVE","transcript":"wharf:transcript/sess_1","summary":"s"}`,
			`{"id":"sess_1","metadata":{},"state":"ACTIVE","transcript":"/v1/sessions/sess_1/messages","summary":"s"}`},
		"an old session": {abi.ObjectSession, `{"id":"sess_1","transcript":"/v1/sessions/sess_1/messages"}`, `{"id":"sess_1","transcript":"/v1/sessions/sess_1/messages"}`},
		"metadata with the same": {abi.ObjectSession, `{"id":"sess_1","metadata":{"id":"x","transcript":"wharf:transcript/sess_1"},"transcript":"wharf:transcript/sess_1"}`,
			`{"id":"sess_1","metadata":{"id":"x","transcript":"wharf:transcript/sess_1"},"transcript":"/v1/sessions/sess_1/messages"}`},
		"artifact":     {abi.ObjectArtifact, `{"id":"art_1","uri":"wharf:artifact/art_1","size_bytes":5}`, `{"id":"art_1","uri":"/v1/artifacts/art_1/content","size_bytes":5}`},
		"an old one":   {abi.ObjectArtifact, `{"id":"art_1","uri":"/v1/artifacts/art_1/content"}`, `{"id":"art_1","uri":"/v1/artifacts/art_1/content"}`},
		"elsewhere":    {abi.ObjectArtifact, `{"id":"art_1","uri":"https://a.example/wharf:artifact/art_1"}`, `{"id":"art_1","uri":"https://a.example/wharf:artifact/art_1"}`},
		"of another":   {abi.ObjectArtifact, `{"id":"art_1","uri":"wharf:artifact/art_2"}`, `{"id":"art_1","uri":"wharf:artifact/art_2"}`},
		"without any":  {abi.ObjectArtifact, `{"id":"art_1","uri":null,"name":"wharf:artifact/"}`, `{"id":"art_1","uri":null,"name":"wharf:artifact/"}`},
		"a message":    {abi.ObjectMessage, `{"id":"msg_1","uri":"wharf:artifact/msg_1"}`, `{"id":"msg_1","uri":"wharf:artifact/msg_1"}`},
		"no object":    {abi.ObjectSession, `["wharf:transcript/"]`, `["wharf:transcript/"]`},
		"no JSON":      {abi.ObjectSession, `{"id":"wharf:transcript/`, `{"id":"wharf:transcript/`},
		"no artifacts": {abi.ObjectOutcome, `{"id":"out_1","summary":"wharf:artifact/art_1"}`, `{"id":"out_1","summary":"wharf:artifact/art_1"}`},
		"outcome": {abi.ObjectOutcome,
			`{"id":"out_1","messages":[{"id":"art_1","uri":"wharf:artifact/art_1"}],"artifacts":[{"id":"art_1","uri":"wharf:artifact/art_1"},{"id":"art_2","uri":"/v1/artifacts/art_2/content"}],"metrics":{}}`,
			`{"id":"out_1","messages":[{"id":"art_1","uri":"wharf:artifact/art_1"}],"artifacts":[{"id":"art_1","uri":"/v1/artifacts/art_1/content"},{"id":"art_2","uri":"/v1/artifacts/art_2/content"}],"metrics":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(links.linked(test.object, []byte(test.stored))); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
			id := abi.IDPrefix(test.object) + "1"
			view, err := New(nil, nil).With(links).to(context.Background(), &Caller{}).view(desk.Doc{ID: id, JSON: []byte(test.stored)}, nil)
			if err != nil || string(view.JSON) != test.want {
				t.Errorf("the view is %s, %v", view.JSON, err)
			}
			ev := desk.Event{Frame: &storage.Frame{Records: []storage.Record{{Kind: "k", Resource: abi.ResourcePointer{Object: test.object, ID: id}, State: []byte(test.stored),
				Payload: []byte(`{"uri":"wharf:artifact/art_1","transcript":"wharf:transcript/sess_1"}`)}}}}
			want := `"payload":{"` + string(test.object) + `":` + test.want + `,"uri":"wharf:artifact/art_1","transcript":"wharf:transcript/sess_1"}`
			if got := string(links.PublicEvent(ev)); !strings.Contains(got, want) {
				t.Errorf("an event is %s, want %s", got, want)
			}
		})
	}
}

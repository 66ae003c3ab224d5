package updates_test

import (
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/updates"
)

// of is an event of the Task t1, as a client reads it.
func of(kind abi.EventKind, payload string) *abi.Event {
	return &abi.Event{Event: kind, TaskID: "t1", SessionID: "s1", Payload: jsontext.Value(payload)}
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

func piece(id, text string, offset int) *abi.Event {
	b, _ := json.Marshal(abi.MessageDelta{Text: text, MessageID: id, Offset: offset})
	return of(abi.EventMessageDelta, string(b))
}

func said(id string, texts ...string) *abi.Event {
	parts := make([]string, len(texts))
	for i, text := range texts {
		parts[i] = `{"type":"text","visibility":"public","text":` + quoted(text) + `}`
	}
	return of(abi.EventAgentMessage, `{"message":{"id":"`+id+`","object":"message","role":"assistant","parts":[`+strings.Join(parts, ",")+`]}}`)
}

// chunk is a piece of text as it is told.
type chunk struct {
	Kind    string `json:"sessionUpdate"`
	Content struct {
		Text string `json:"text"`
		Meta struct {
			Harn struct {
				Text  string `json:"visible_text"`
				Delta string `json:"visible_delta"`
			} `json:"harn"`
		} `json:"_meta"`
	} `json:"content"`
	Meta struct {
		Harn struct {
			ID string `json:"messageId"`
		} `json:"harn"`
	} `json:"_meta"`
}

func chunks(t rapid.TB, told []jsontext.Value) (all []chunk) {
	for _, one := range told {
		var c chunk
		if err := json.Unmarshal(one, &c); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
		if c.Kind == "agent_message_chunk" {
			all = append(all, c)
		}
	}
	return all
}

// A Message is told once and whole, whichever of its pieces come, and however often.
func TestATextIsToldOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		teller := updates.New(updates.For{Harn: rapid.Bool().Draw(t, "harn")})
		whole := rapid.StringMatching(`[ab é😀\n]{0,20}`).Draw(t, "text")
		var all []chunk
		for range rapid.IntRange(0, 12).Draw(t, "pieces") {
			from := rapid.IntRange(0, len(whole)).Draw(t, "from")
			to := rapid.IntRange(from, len(whole)).Draw(t, "to")
			if strings.ToValidUTF8(whole[from:to], "?") != whole[from:to] {
				continue
			}
			all = append(all, chunks(t, teller.Tell(piece("m1", whole[from:to], from)))...)
		}
		for range rapid.IntRange(1, 2).Draw(t, "times") {
			all = append(all, chunks(t, teller.Tell(said("m1", whole)))...)
		}
		all = append(all, chunks(t, teller.Tell(piece("m1", whole, 0)))...)
		got := ""
		for _, c := range all {
			got += c.Content.Text
			if c.Meta.Harn.ID != "m1" {
				t.Fatalf("a chunk names the message %q", c.Meta.Harn.ID)
			}
			if c.Content.Meta.Harn.Text != "" && (c.Content.Meta.Harn.Text != got || c.Content.Meta.Harn.Delta != c.Content.Text) {
				t.Fatalf("%+v after %q", c, got)
			}
		}
		if got != whole {
			t.Fatalf("%q was told of %q", got, whole)
		}
	})
}

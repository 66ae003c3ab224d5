package redact

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/runtime/journal"
)

func TestCall(t *testing.T) {
	const canary = "CANARY"
	hash := func(text string) string { return journal.HashOf([]byte(text)) }
	sealed := `{ "parts": [{"type":"text","text":"CANARY","visibility":"receipt_only"}]}`
	quoted, _ := jsontext.AppendQuote(nil, sealed)
	for name, c := range map[string]struct {
		payload        string
		public, inside string // what readers without and with events:internal see
	}{
		"no call":        {`{"reason":"CANARY","request":"r"}`, "", ""},
		"nothing":        {``, "", ""},
		"JSON":           {`{"call":"c","index":3,"request":{"a":"CANARY"},"answer":[1],"status":2}`, `{"call":"c","index":3,"request_sha256":"` + hash(`{"a":"CANARY"}`) + `","answer_sha256":"` + hash(`[1]`) + `","status":2,"redacted":true}`, ""},
		"text":           {`{"call":"c","index":0,"request_text":"CANARY\n"}`, `{"call":"c","index":0,"request_sha256":"` + hash("CANARY\n") + `","redacted":true}`, ""},
		"bytes":          {`{"call":"c","index":0,"answer_base64":"Q0FOQVJZ"}`, `{"call":"c","index":0,"answer_sha256":"` + hash("CANARY") + `","redacted":true}`, ""},
		"a blob":         {`{"call":"c","index":0,"answer_blob":"` + hash("x") + `"}`, `{"call":"c","index":0,"answer_sha256":"` + hash("x") + `","redacted":true}`, ""},
		"neither":        {`{"call":"clock","index":0,"request_sha256":"given"}`, "", ""},
		"a secret":       {`{"call":"secret.use","index":0,"key":"secret:token","answer":"CANARY"}`, `{"call":"secret.use","index":0,"key":"secret:token","answer_sha256":"` + hash(`"CANARY"`) + `","redacted":true}`, "as public"},
		"its answer":     {`{"call":"secret.use","index":0,"phase":"result","answer":"CANARY"}`, `{"call":"secret.use","index":0,"phase":"result","answer_sha256":"` + hash(`"CANARY"`) + `","redacted":true}`, "as public"},
		"a sealed part":  {`{"call":"message.append","index":0,"request_text":` + string(quoted) + `}`, `{"call":"message.append","index":0,"request_sha256":"` + hash(sealed) + `","redacted":true}`, "as public"},
		"text of others": {`{"call":"c","index":0,"request_text":"{ \"type\": 1, \"visibility\": \"public\" }"}`, `{"call":"c","index":0,"request_sha256":"` + hash(`{ "type": 1, "visibility": "public" }`) + `","redacted":true}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inside := c.payload
			if c.inside == "as public" {
				inside = c.public
			}
			public := c.public
			if public == "" {
				public = c.payload
			}
			for internal, want := range map[bool]string{false: public, true: inside} {
				got, err := Call([]byte(c.payload), internal)
				if err != nil || string(got) != want {
					t.Errorf("internal %v: %s (%v)\nwant %s", internal, got, err, want)
				}
			}
			if got, _ := Call([]byte(c.payload), false); strings.Contains(c.payload, `"call"`) && strings.Contains(string(got), canary) {
				t.Errorf("it shows: %s", got)
			}
		})
	}
}

// Of a tool call the Persona decides what everybody may see. Nothing but that decision shows
// anything, and no decision shows what is withheld from everybody.
func TestToolCalls(t *testing.T) {
	hash := func(text string) string { return journal.HashOf([]byte(text)) }
	tool := func(visibility string) string {
		if visibility == "" {
			return `,"tool":{"call_id":"a","server":"fs","name":"write"}`
		}
		return `,"tool":{"call_id":"a","server":"fs","name":"write","visibility":"` + visibility + `"}`
	}
	const head, asked = `{"call":"tool.call","index":1`, `,"request":{"visibility":"public"},"answer":[1]`
	withheld := `,"request_sha256":"` + hash(`{"visibility":"public"}`) + `","answer_sha256":"` + hash(`[1]`) + `"`
	sealed, _ := jsontext.AppendQuote(nil, `{"parts": [{"type":"text","text":"x","visibility":"receipt_only"}]}`)
	for name, c := range map[string]struct{ payload, public string }{
		"named":         {head + `,"key":"k"` + asked + tool("") + `}`, head + `,"key":"k"` + withheld + tool("") + `,"redacted":true}`},
		"public":        {head + `,"key":"k"` + asked + tool("public") + `}`, head + `,"key":"k"` + asked + tool("public") + `}`},
		"internal":      {head + `,"key":"mcp:fs:a"` + asked + tool("internal") + `}`, head + withheld + `,"redacted":true}`},
		"begun":         {head + tool("internal") + `}`, head + `,"redacted":true}`},
		"of another":    {head + asked + tool("everybody") + `}`, head + withheld + tool("everybody") + `,"redacted":true}`},
		"odd":           {head + asked + `,"tool":["public"]}`, head + withheld + `,"tool":["public"],"redacted":true}`},
		"a secret":      {`{"call":"secret.use","index":0,"answer":1` + tool("public") + `}`, `{"call":"secret.use","index":0,"answer_sha256":"` + hash(`1`) + `"` + tool("public") + `,"redacted":true}`},
		"a sealed part": {head + `,"request_text":` + string(sealed) + tool("public") + `}`, head + `,"request_sha256":"` + hash(`{"parts": [{"type":"text","text":"x","visibility":"receipt_only"}]}`) + `"` + tool("public") + `,"redacted":true}`},
	} {
		got, err := Call([]byte(c.payload), false)
		if err != nil || string(got) != c.public {
			t.Errorf("%s: everybody sees %s (%v)\nwant %s", name, got, err, c.public)
		}
		inside, err := Call([]byte(c.payload), true)
		if name != "a secret" && name != "a sealed part" && (err != nil || string(inside) != c.payload) {
			t.Errorf("%s: with events:internal one sees %s (%v)", name, inside, err)
		}
	}
}

func FuzzCall(f *testing.F) {
	f.Add([]byte(`{"call":"c","index":1,"request_text":"a","answer":{"b":1}}`), true)
	f.Add([]byte(`{"call":"c","index":1,"answer_base64":"!"}`), false)
	f.Add([]byte(` { } `), false)
	f.Add([]byte(`[`), false)
	f.Fuzz(func(t *testing.T, payload []byte, internal bool) {
		got, err := Call(payload, internal)
		if err == nil && jsontext.Value(payload).IsValid() && !jsontext.Value(got).IsValid() {
			t.Fatalf("%q", got)
		}
	})
}

package redact

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// secretKey is what the override keys of secrets begin with.
const SecretKey = "secret:"

// Call withholds from the payload of an event what a recorded host call was
// asked and answered: their members give way to request_sha256, answer_sha256 and
// "redacted":true. internal lets both through, but for what was put in the place of
// a secret and for text that holds receipt_only content. Of a tool call, the Persona may have let
// them through to everybody, or may withhold which tool it was. A payload that tells no
// call is returned as it is.
func Call(payload []byte, internal bool) ([]byte, error) {
	members, err := callMembers(payload)
	if err != nil || members == nil {
		return payload, err
	}
	b := make([]byte, 0, len(payload)+128)
	tools := members.tools()
	hidden := !internal && tools == abi.ToolsInternal
	internal = (internal || tools == abi.ToolsPublic) && !members.secret()
	withheld := false
	for _, m := range members {
		if hidden && (m.name == "tool" || m.name == "key") { // the key names the server
			withheld = true
			continue
		}
		if !m.withheld(internal) {
			b = m.append(b)
			continue
		}
		hash, err := m.hash()
		if err != nil {
			return nil, fmt.Errorf("withholding %s: %w", m.name, err)
		}
		withheld = true
		b = hash.append(b)
	}
	if !withheld {
		return payload, nil
	}
	b = member{name: "redacted", value: jsontext.Value("true")}.append(b)
	b[0] = '{'
	return append(b, '}'), nil
}

type member struct {
	name  string
	value jsontext.Value
}

// append writes the member with a comma before it.
func (m member) append(b []byte) []byte {
	return append(append(jsonw.String(append(b, ','), m.name), ':'), m.value...)
}

// side splits the name of a member that holds a request or an answer: whose, and
// in which form. Both are "" for other members.
func (m member) side() (side, form string) {
	side, form, _ = strings.Cut(m.name, "_")
	known := form == "" || form == "text" || form == "base64" || form == "blob"
	if known && (side == "request" || side == "answer") {
		return side, form
	}
	return "", ""
}

// withheld reports whether the member is kept from a reader.
func (m member) withheld(internal bool) bool {
	side, form := m.side()
	return side != "" && (!internal || form == "text" && holdsReceiptOnly(m.value))
}

// hash returns what takes the member's place.
func (m member) hash() (member, error) {
	side, form := m.side()
	hash, err := hashTold(form, m.value)
	return member{name: side + "_sha256", value: jsonw.String(nil, hash)}, err
}

type callPayload []member

// secret reports whether the call was about a secret.
func (c callPayload) secret() bool {
	for _, m := range c {
		var text string
		switch {
		case m.name != "key" && m.name != "call" || json.Unmarshal(m.value, &text) != nil:
		case m.name == "call" && text == abi.CallSecretUse, m.name == "key" && strings.HasPrefix(text, SecretKey):
			return true
		}
	}
	return false
}

// tools returns what the Persona of a tool call has decided on who may see it.
func (c callPayload) tools() abi.ToolsVisibility {
	for _, m := range c {
		var use abi.ToolUse
		if m.name == "tool" && json.Unmarshal(m.value, &use) == nil {
			return use.Visibility
		}
	}
	return ""
}

// callMembers returns the members of a payload that tells a host call, nil for one
// that does not.
func callMembers(payload []byte) (callPayload, error) {
	if len(payload) == 0 {
		return nil, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(payload))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var all callPayload
	call, index := false, false
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		m.value = value.Clone()
		call, index = call || m.name == "call", index || m.name == "index"
		all = append(all, m)
	}
	if !call || !index {
		return nil, nil
	}
	return all, nil
}

// hashTold returns the hash of the bytes that a member tells.
func hashTold(form string, value jsontext.Value) (string, error) {
	if form == "" {
		return journal.HashOf(value), nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return "", err
	}
	switch form {
	case "blob":
		return text, nil
	case "base64":
		raw, err := base64.StdEncoding.DecodeString(text)
		return journal.HashOf(raw), err
	}
	return journal.HashOf([]byte(text)), nil
}

// holdsReceiptOnly reports whether a JSON string is itself the text of a JSON value
// of which something is withheld from everybody.
func holdsReceiptOnly(value jsontext.Value) bool {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return false
	}
	shown, err := Bare([]byte(text), true)
	if err != nil {
		return false // not JSON: there are no parts in it
	}
	whole, rest := jsontext.Value(text), jsontext.Value(shown).Clone()
	return whole.Canonicalize() == nil && rest.Canonicalize() == nil && !bytes.Equal(whole, rest)
}

package normalize

import (
	"encoding/json"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// object is a JSON object that is written member by member. The zero object has none.
type object struct{ b []byte }

// name begins a member. Its name is written as it is: see [inQuotes].
func (o *object) name(name string) {
	if len(o.b) == 0 {
		o.b = append(make([]byte, 0, 512), `{"`...)
	} else {
		o.b = append(o.b, `,"`...)
	}
	o.b = append(append(o.b, name...), `":`...)
}

// inQuotes returns a name that is not one of ours as it stands between quotes in JSON.
func inQuotes(name string) string {
	quoted := tape.AppendString(nil, name)
	return string(quoted[1 : len(quoted)-1])
}

// text adds a text, unless it is empty.
func (o *object) text(name, text string) {
	if text != "" {
		o.name(name)
		o.b = tape.AppendString(o.b, text)
	}
}

// value adds a value as it stands, unless it is missing or null.
func (o *object) value(name string, v tape.Value) {
	if v.Kind() > tape.Null {
		o.name(name)
		o.b = append(o.b, v.Raw()...)
	}
}

// raw adds JSON.
func (o *object) raw(name, text string) {
	o.name(name)
	o.b = append(o.b, text...)
}

// json ends the object.
func (o *object) json() json.RawMessage {
	if len(o.b) == 0 {
		return json.RawMessage(`{}`)
	}
	return append(o.b, '}')
}

// message is a user Message of a text, and of facts beside it.
func message(text string, facts json.RawMessage) *wharf.Message {
	parts := append(make([]wharf.Part, 0, 2), wharf.TextPart(cut(text, maxMessage)))
	if facts != nil {
		parts = append(parts, wharf.Part{Type: "json", Value: facts, Visibility: "public"})
	}
	return &wharf.Message{Role: "user", Parts: parts}
}

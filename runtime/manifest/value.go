package manifest

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// value is any value that JSON has.
func value() form[jsontext.Value] {
	return form[jsontext.Value]{words: "anything", schema: &Editor{}, read: func(r *reader, n *node) (jsontext.Value, bool) {
		return r.json(n)
	}}
}

// json writes a value as JSON, the members of tables in their order.
func (r *reader) json(n *node) (jsontext.Value, bool) {
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b)
	if err := write(e, n); err != nil {
		r.wrong(InvalidValue, n, "write a text in quotes", "%s", clip(err.Error()))
		return nil, false
	}
	return bytes.TrimRight(b.Bytes(), "\n"), true
}

func write(e *jsontext.Encoder, n *node) error {
	switch n.kind {
	case aText:
		return e.WriteToken(jsontext.String(n.text))
	case aTruth:
		return e.WriteToken(jsontext.Bool(n.text == "true"))
	case aWhole, aNumber:
		return writeNumber(e, n)
	case aList:
		return writeList(e, n)
	case aTable:
		return writeTable(e, n)
	}
	return errNotJSON
}

func writeNumber(e *jsontext.Encoder, n *node) error {
	switch v := scalar(n).(type) {
	case int64:
		return e.WriteToken(jsontext.Int(v))
	case float64:
		if finite(v) {
			return e.WriteToken(jsontext.Float(v))
		}
	}
	return errNotJSON
}

func writeList(e *jsontext.Encoder, n *node) error {
	if err := e.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for _, item := range n.items {
		if err := write(e, item); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndArray)
}

func writeTable(e *jsontext.Encoder, n *node) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, name := range n.names {
		if err := e.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := write(e, n.members[name]); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// schemaOrFile is a JSON Schema: a table, or the path of a file beside the manifest.
func schemaOrFile() form[JSONSchema] {
	file := path()
	return form[JSONSchema]{words: "table, or path", bounds: "a JSON Schema", schema: &Editor{Type: []string{"string", "object"}},
		read: func(r *reader, n *node) (JSONSchema, bool) {
			if n.kind == aText {
				name, ok := file.read(r, n)
				return JSONSchema{File: name}, ok
			}
			if !r.is(n, aTable, "a table, or the path of a file in quotes") {
				return JSONSchema{}, false
			}
			text, ok := r.json(n)
			if !ok {
				return JSONSchema{}, false
			}
			return JSONSchema{Text: text}, r.accepts(n, text)
		}}
}

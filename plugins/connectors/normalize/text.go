package normalize

import (
	"hash/fnv"
	"strconv"
	"unicode/utf8"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// What a delivery may make at most.
const (
	maxMessage = 16 << 10 // bytes of a Message's text
	maxName    = 200      // bytes of a thread or an order key
	maxTasks   = 100      // Tasks, Messages or events
)

// Codes of failures.
const (
	codeMalformed   = "malformed_delivery" // the body is not what the provider sends
	codeUnsupported = "unsupported_delivery"
	codeMapping     = "mapping_failed" // a setting does not fit the delivery
)

func fail(code, message string) error { return &wharf.Failure{Code: code, Message: message} }

// cut shortens a text to at most so many bytes, at the end of a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = "…"
	most -= len(mark)
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + mark
}

// short shortens a name so that different names stay different.
func short(name string) string {
	if len(name) <= maxName {
		return name
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // it never fails
	return cut(name, maxName-17) + "#" + strconv.FormatUint(h.Sum64(), 16)
}

// paragraphs joins texts that are not empty with empty lines.
func paragraphs(texts ...string) string {
	var out []byte
	for _, t := range texts {
		if t == "" {
			continue
		}
		if len(out) > 0 {
			out = append(out, "\n\n"...)
		}
		out = append(out, t...)
	}
	return string(out)
}

// ignored says why a delivery means nothing.
func ignored(why string) (wharf.Normalized, error) { return wharf.Normalized{Ignored: why}, nil }

// task is a delivery that means one Task.
func task(t wharf.ConnectorTask) (wharf.Normalized, error) {
	t.Thread, t.OrderKey = short(t.Thread), short(t.OrderKey)
	return wharf.Normalized{Tasks: []wharf.ConnectorTask{t}}, nil
}

// parse reads a delivery's body, which must be JSON.
func parse(d *tape.Doc, delivery *wharf.Delivery) (tape.Value, error) {
	if delivery.Body != nil {
		return tape.Value{}, fail(codeMalformed, "the body is not UTF-8")
	}
	return parseText(d, delivery.Text)
}

func parseText(d *tape.Doc, text string) (tape.Value, error) {
	v, err := d.Parse(text)
	if err != nil {
		return v, fail(codeMalformed, "the body: "+err.Error())
	}
	return v, nil
}

// parseObject is parse for bodies that must be objects.
func parseObject(d *tape.Doc, text string) (tape.Value, error) {
	v, err := parseText(d, text)
	if err == nil && v.Kind() != tape.Object {
		return v, fail(codeMalformed, "the body is no JSON object")
	}
	return v, err
}

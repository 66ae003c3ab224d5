package alone

import (
	"bytes"
	"regexp"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AsYAML writes JSON as YAML with an indent, in the order of its members. What is no JSON is
// written as a text.
func AsYAML(value []byte, indent int) string {
	var w yamlWriter
	d := jsontext.NewDecoder(bytes.NewReader(value))
	if w.value(d, indent) != nil {
		return scalarText(string(value)) + "\n"
	}
	return strings.TrimPrefix(w.b.String(), "\n")
}

// yamlWriter writes what comes after a key, or the dash of an item.
type yamlWriter struct{ b strings.Builder }

func (w *yamlWriter) value(d *jsontext.Decoder, indent int) error {
	switch d.PeekKind() {
	case '{', '[':
		return w.parts(d, indent)
	case '"':
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		w.text(t.String(), indent)
		return nil
	}
	v, err := d.ReadValue()
	w.b.WriteString(" " + string(v) + "\n")
	return err
}

func (w *yamlWriter) parts(d *jsontext.Decoder, indent int) error {
	open, err := d.ReadToken()
	if err != nil {
		return err
	}
	object, end, none := open.Kind() == '{', jsontext.Kind(']'), " []\n"
	if object {
		end, none = '}', " {}\n"
	}
	if d.PeekKind() == end {
		w.b.WriteString(none)
		_, err = d.ReadToken()
		return err
	}
	w.b.WriteString("\n")
	for d.PeekKind() != end {
		w.b.WriteString(strings.Repeat(" ", indent))
		if object {
			name, err := d.ReadToken()
			if err != nil {
				return err
			}
			w.b.WriteString(scalarText(name.String()) + ":")
		} else {
			w.b.WriteString("-")
		}
		if err := w.part(d, indent, object); err != nil {
			return err
		}
	}
	_, err = d.ReadToken()
	return err
}

// part writes a member or an item. An item that is an object begins on the line of its dash.
func (w *yamlWriter) part(d *jsontext.Decoder, indent int, member bool) error {
	if member || d.PeekKind() != '{' {
		return w.value(d, indent+2)
	}
	var item yamlWriter
	if err := item.value(d, indent+2); err != nil {
		return err
	}
	text := item.b.String()
	if rest, ok := strings.CutPrefix(text, "\n"+strings.Repeat(" ", indent+2)); ok {
		text = " " + rest
	}
	w.b.WriteString(text)
	return nil
}

// text writes a text: one of several lines as a block, where that says the same.
func (w *yamlWriter) text(s string, indent int) {
	if !blockable(s) {
		w.b.WriteString(" " + scalarText(s) + "\n")
		return
	}
	body, ended := strings.CutSuffix(s, "\n")
	if ended {
		w.b.WriteString(" |\n")
	} else {
		w.b.WriteString(" |-\n")
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			line = strings.Repeat(" ", indent) + line
		}
		w.b.WriteString(line + "\n")
	}
}

// blockable reports whether a text of several lines can be written as it is.
func blockable(s string) bool {
	if !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") || strings.HasSuffix(s, "\n\n") || s[0] == '\n' || s[0] == ' ' || s[0] == '\t' {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.TrimRight(line, " \t") != line {
			return false
		}
	}
	return strings.IndexFunc(s, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) < 0
}

var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// reserved are texts that YAML takes, or once took, for something else.
var reserved = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n|nan|inf)$`)

// yamlBreaks are characters that end a line in YAML or are none there, and that JSON leaves as they are.
var yamlBreaks = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`, "\ufeff", `\ufeff`, "\x7f", `\u007f`)

func scalarText(s string) string {
	if plain.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	b, err := json.Marshal(strings.ToValidUTF8(s, "\ufffd"))
	if err != nil {
		return `""` // what is valid can be marshaled
	}
	return yamlBreaks.Replace(string(b))
}

package normalize

import (
	"encoding/base64"
	"fmt"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/jsonpath"
	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// cloudEvents normalizes CloudEvents 1.0 in all three modes of HTTP. Its settings are
// those of generic, and their paths are those of the structured form.
type cloudEvents struct {
	mapping
	doc, data tape.Doc
}

// CloudEvents prepares the normalizer of CloudEvents.
func CloudEvents(c *wharf.Connector) (wharf.Normalizer, error) {
	e := &cloudEvents{mapping: mapping{connector: c}}
	e.kind = must(compileTemplate("@.type"))
	e.thread = must(compileTemplate("{@.source} {@.subject}"))
	if err := settings(c, e.set); err != nil {
		return nil, err
	}
	if e.each != nil {
		return nil, fmt.Errorf("a CloudEvent is one thing: there is no setting each")
	}
	if e.what == "" {
		e.text = must(compileTemplate("{@.type} from {@.source}: {@.subject}"))
		e.value = must(jsonpath.Compile("@"))
	}
	return e.normalize, nil
}

func (e *cloudEvents) normalize(d *wharf.Delivery) (wharf.Normalized, error) {
	media, _, _ := strings.Cut(strings.ToLower(d.Header("content-type")), ";")
	switch media = strings.TrimSpace(media); {
	case media == "application/cloudevents-batch+json":
		return e.batch(d)
	case media == "application/cloudevents+json":
		root, err := parse(&e.doc, d)
		if err != nil {
			return wharf.Normalized{}, err
		}
		return e.event(d, root)
	case strings.HasPrefix(media, "application/cloudevents"):
		return wharf.Normalized{}, fail(codeUnsupported, "the format "+cut(media, maxName)+" is not taken, only JSON")
	}
	return e.binary(d, media)
}

func (e *cloudEvents) event(d *wharf.Delivery, event tape.Value) (wharf.Normalized, error) {
	if version := event.Get("specversion").Text(); version != "1.0" {
		return wharf.Normalized{}, fail(codeMalformed, "it is no CloudEvent of version 1.0")
	}
	for _, name := range []string{"id", "source", "type"} {
		if event.Get(name).Text() == "" {
			return wharf.Normalized{}, fail(codeMalformed, "the attribute "+name+" is missing")
		}
	}
	return e.apply(&source{delivery: d, root: event, current: event})
}

// batch handles several events in one delivery: all of them, or none.
func (e *cloudEvents) batch(d *wharf.Delivery) (all wharf.Normalized, err error) {
	root, err := parse(&e.doc, d)
	if err != nil {
		return all, err
	}
	if root.Kind() != tape.Array || root.Len() > maxTasks {
		return all, fail(codeMalformed, fmt.Sprintf("a batch is a list of up to %d events", maxTasks))
	}
	root.Elements(func(event tape.Value) bool {
		var one wharf.Normalized
		if one, err = e.event(d, event); err != nil {
			return false
		}
		all.Tasks = append(all.Tasks, one.Tasks...)
		all.Messages = append(all.Messages, one.Messages...)
		all.Events = append(all.Events, one.Events...)
		return true
	})
	if err != nil {
		return wharf.Normalized{}, err
	}
	if len(all.Tasks)+len(all.Messages)+len(all.Events) == 0 {
		return ignored("nothing in it is wanted")
	}
	return all, nil
}

// binary handles an event whose attributes are headers, by writing it as the structured
// form has it.
func (e *cloudEvents) binary(d *wharf.Delivery, media string) (wharf.Normalized, error) {
	var o object
	seen := map[string]bool{"datacontenttype": true, "data": true, "data_base64": true}
	d.Headers(func(name, value string) {
		if attribute, ok := strings.CutPrefix(name, "ce-"); ok && !seen[attribute] {
			seen[attribute] = true
			o.text(inQuotes(attribute), unescapePercent(value))
		}
	})
	o.text("datacontenttype", media)
	switch {
	case d.Body != nil:
		o.text("data_base64", base64.StdEncoding.EncodeToString(d.Body))
	case media == "application/json" || strings.HasSuffix(media, "+json") || media == "":
		if strings.TrimSpace(d.Text) == "" {
			break
		}
		if _, err := parse(&e.data, d); err != nil {
			return wharf.Normalized{}, err
		}
		o.raw("data", d.Text)
	default:
		o.text("data", d.Text)
	}
	root, err := parseText(&e.doc, string(o.json()))
	if err != nil {
		return wharf.Normalized{}, err
	}
	return e.event(d, root)
}

// unescapePercent undoes the encoding of header values. What it cannot undo it leaves.
func unescapePercent(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			high, low := digit(s[i+1]), digit(s[i+2])
			if high < 16 && low < 16 {
				out = append(out, high<<4|low)
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

// digit is the value of a hexadecimal digit, 16 for what is none.
func digit(c byte) byte {
	switch {
	case c-'0' < 10:
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}

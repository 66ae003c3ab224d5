package normalize

import (
	"errors"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/jsonpath"
	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// Generic prepares a normalizer whose settings say what JSON means. Without settings
// each delivery is a Task with the body beside a sentence; a body that is no JSON is the
// text itself.
func Generic(c *wharf.Connector) (wharf.Normalizer, error) {
	m := &mapping{connector: c}
	err := settings(c, func(name string, v tape.Value) error {
		if name == "poll" { // what the export poll reads
			return nil
		}
		return m.set(name, v)
	})
	if err != nil {
		return nil, err
	}
	plain := m.what == ""
	if plain {
		m.value = must(jsonpath.Compile("@"))
	}
	var doc tape.Doc
	return func(d *wharf.Delivery) (wharf.Normalized, error) {
		if plain && isText(&doc, d) {
			return task(wharf.ConnectorTask{Message: message(d.Text, nil)})
		}
		root, err := parse(&doc, d)
		if err != nil {
			return wharf.Normalized{}, err
		}
		return m.apply(&source{delivery: d, root: root, current: root})
	}, nil
}

// isText reports whether a body neither is JSON nor claims to be.
func isText(doc *tape.Doc, d *wharf.Delivery) bool {
	if d.Text == "" || strings.Contains(d.Header("content-type"), "json") {
		return false
	}
	_, err := doc.Parse(d.Text)
	return errors.As(err, new(*tape.SyntaxError))
}

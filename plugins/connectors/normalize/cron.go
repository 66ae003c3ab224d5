package normalize

import (
	"encoding/json"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// Cron prepares the normalizer of ticks: each is a Task. Settings: text, what the
// Task's Message says; input, an object that is the Task's input instead; persona_id;
// thread.
func Cron(c *wharf.Connector) (wharf.Normalizer, error) {
	var wanted struct {
		text, persona, thread string
		input                 json.RawMessage
	}
	err := settings(c, func(name string, v tape.Value) (err error) {
		switch name {
		case "text":
			wanted.text, err = wantText(name, v)
		case "persona_id":
			wanted.persona, err = wantText(name, v)
		case "thread":
			wanted.thread, err = wantText(name, v)
		case "input":
			wanted.input = json.RawMessage(v.Raw())
			err = members(v, "the setting input", func(string, tape.Value) error { return nil })
		default:
			return unknown(name)
		}
		return err
	})
	var doc tape.Doc
	return func(d *wharf.Delivery) (wharf.Normalized, error) {
		at := tickTime(&doc, d)
		var facts object
		facts.text("provider", "cron")
		facts.text("tick", at)
		facts.text("connector", c.Name)
		t := wharf.ConnectorTask{PersonaID: wanted.persona, Thread: wanted.thread, Metadata: facts.json()}
		switch text := wanted.text; {
		case wanted.input != nil:
			t.Input = wanted.input
		case text == "":
			t.Message = message("It is "+at+".", facts.json())
		default:
			t.Message = message(text, facts.json())
		}
		return task(t)
	}, err
}

// tickTime is when a tick was due; for what somebody delivers by hand, when it came.
func tickTime(doc *tape.Doc, d *wharf.Delivery) string {
	if root, err := parse(doc, d); err == nil {
		if at := root.Get("tick").Text(); at != "" {
			return cut(at, maxName)
		}
	}
	return d.CreatedAt
}

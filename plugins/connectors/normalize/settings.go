package normalize

import (
	"fmt"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// settings calls f for each member of a Connector's settings. What f does not know, it
// refuses.
func settings(c *wharf.Connector, f func(name string, v tape.Value) error) error {
	if len(c.Settings) == 0 || string(c.Settings) == "null" {
		return nil
	}
	root, err := new(tape.Doc).Parse(string(c.Settings))
	if err != nil {
		return fmt.Errorf("the settings: %w", err)
	}
	return members(root, "the settings", f)
}

// members calls f for each member of what must be an object.
func members(v tape.Value, what string, f func(name string, v tape.Value) error) (err error) {
	if v.Kind() != tape.Object {
		return fmt.Errorf("%s must be an object", what)
	}
	v.Members(func(name string, value tape.Value) bool {
		err = f(name, value)
		return err == nil
	})
	return err
}

func unknown(name string) error { return fmt.Errorf("there is no setting %q", name) }

// wantText reads a setting that is a text.
func wantText(name string, v tape.Value) (string, error) {
	if v.Kind() != tape.String {
		return "", fmt.Errorf("the setting %q must be a text", name)
	}
	return v.Text(), nil
}

// wantTexts reads a setting that is a list of texts.
func wantTexts(name string, v tape.Value) (all []string, err error) {
	if v.Kind() != tape.Array {
		return nil, fmt.Errorf("the setting %q must be a list of texts", name)
	}
	v.Elements(func(e tape.Value) bool {
		var one string
		one, err = wantText(name, e)
		all = append(all, one)
		return err == nil
	})
	return all, err
}

// wantFlag reads a setting that is true or false.
func wantFlag(name string, v tape.Value) (bool, error) {
	if v.Kind() != tape.True && v.Kind() != tape.False {
		return false, fmt.Errorf("the setting %q must be true or false", name)
	}
	return v.Kind() == tape.True, nil
}

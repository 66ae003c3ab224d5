package normalize

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// FuzzNormalize holds that whatever is delivered has a meaning, a reason why it has
// none, or a failure; that what is handed on is strict JSON; and that names stay short.
func FuzzNormalize(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var d delivered
		if err := json.Unmarshal(text, &d); err != nil {
			f.Fatal(err)
		}
		if d.JSON != nil {
			d.Text = string(d.JSON)
		}
		f.Add(filepath.Base(filepath.Dir(file)), d.Header["x-github-event"], d.Header["content-type"], string(d.Settings), d.Text)
	}
	f.Fuzz(func(t *testing.T, export, event, media, settings, text string) {
		if exports[export] == nil || settings != "" && !json.Valid([]byte(settings)) {
			return
		}
		d := delivered{Header: map[string]string{"x-github-event": event, "content-type": media}, EventKinds: []string{}, Text: text}
		if settings != "" {
			d.Settings = json.RawMessage(settings)
		}
		r := normalized(export, d)
		if r.Failure == nil && r.Ignored == "" && len(r.Tasks)+len(r.Messages)+len(r.Events) == 0 {
			t.Fatalf("%s says nothing of %q", export, text)
		}
		for _, task := range r.Tasks {
			for _, raw := range []json.RawMessage{task.Input, task.Metadata} {
				if _, err := new(tape.Doc).Parse(string(raw)); raw != nil && err != nil {
					t.Fatalf("%s: %v", raw, err)
				}
			}
			if len(task.Thread) > maxName || len(task.OrderKey) > maxName || strings.ToValidUTF8(task.Thread, "?") != task.Thread {
				t.Fatalf("the thread %q, the order key %q", task.Thread, task.OrderKey)
			}
		}
	})
}

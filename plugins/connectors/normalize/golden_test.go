package normalize

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

var update = flag.Bool("update", false, "write the golden files")

// kinds are those that Connectors of each provider have by default.
var kinds = map[string][]string{
	"github": {"issue_comment", "issues", "ping", "pull_request", "pull_request_review", "push", "release", "workflow_run"},
	"slack":  {"app_mention", "message", "reaction_added"}, "cron": {"tick"}, "cloudevents": {"*"}, "generic": {"*"},
}

var exports = map[string]func(*wharf.Connector) (wharf.Normalizer, error){
	"github": GitHub, "slack": Slack, "cron": Cron, "cloudevents": CloudEvents, "generic": Generic,
}

// delivered is a file of testdata: a Connector's settings and what was sent to it.
type delivered struct {
	Settings   json.RawMessage   `json:"settings,omitempty"`
	EventKinds []string          `json:"event_kinds,omitempty"`
	Header     map[string]string `json:"header"`
	Text       string            `json:"text,omitempty"`
	JSON       json.RawMessage   `json:"json,omitempty"` // the text, as JSON
	Body       []byte            `json:"body,omitempty"`
}

// normalized returns what an export says of a delivery.
func normalized(export string, d delivered) wharftest.Result {
	c := wharf.Connector{ID: "conn_1", Name: "test", Provider: export, Settings: d.Settings, EventKinds: kinds[export]}
	if d.EventKinds != nil {
		c.EventKinds = d.EventKinds
	}
	if d.JSON != nil {
		d.Text = string(d.JSON)
	}
	var host wharftest.Host
	return host.Normalize(exports[export], c, wharftest.Delivery{ID: "del_1", CreatedAt: "2026-01-02T03:04:05Z", Header: d.Header, Text: d.Text, Body: d.Body})[0]
}

// TestGolden holds what each delivery of testdata means.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d deliveries, %v", len(files), err)
	}
	for _, file := range files {
		export := filepath.Base(filepath.Dir(file))
		t.Run(export+"/"+filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var d delivered
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&d); err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(file, ".json")+".golden", normalized(export, d))
		})
	}
}

func golden(t *testing.T, file string, result wharftest.Result) {
	t.Helper()
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(result); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%v\n%s\nwant\n%s", err, got.Bytes(), want)
	}
}

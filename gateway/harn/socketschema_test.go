package harn_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/gateway/harn"
)

// docs/websocket.schema.json is what the code says.
func TestSocketSchemaIsDocumented(t *testing.T) {
	const file = "../../docs/websocket.schema.json"
	want, err := json.Marshal(harn.SocketSchema(), json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/websocket.schema.json is not what the code says: run this test with -update")
	}
}

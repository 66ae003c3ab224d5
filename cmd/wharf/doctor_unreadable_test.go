package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble"
)

// A log can be sound and hold what no start can read: doctor names it and ends with 1,
// and a backup of it can be restored.
func TestDoctorNamesWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir() + "/data"
	store, err := pebble.Open(dir, pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Append(&storage.Batch{Frame: storage.Frame{Tenant: storage.SystemTenant, Time: time.Now(), Actor: "wharf", Records: []storage.Record{{
		Kind: abi.EventTenantCreated, Resource: abi.ResourcePointer{Object: abi.ObjectTenant, ID: "tenant_1"}, Created: true, State: []byte(`{"name":7}`),
	}}}}).Wait(t.Context())
	if err == nil {
		err = store.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, env: func(string) string { return "" }}
		return a.execute(t.Context(), args), out.String()
	}
	code, out := run("doctor", "--data", dir)
	if code != exitFailed || !strings.Contains(out, "tenant_1 cannot be read") || strings.Contains(out, "every invariant holds") {
		t.Errorf("doctor ended with %d: %s", code, out)
	}
	if code, out = run("restore", "--from", dir, "--data", dir+"-restored"); code != exitOK {
		t.Errorf("restore ended with %d: %s", code, out)
	}
}

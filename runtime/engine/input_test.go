package engine_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// A large input takes its bytes once when it is read for a run: it is not copied out of
// what the log returns.
func TestALargeInputIsReadOnce(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	input := jsontext.Value(`{"text":"` + strings.Repeat("a", 4<<20) + `"}`)
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), Input: input})
	if err != nil {
		t.Fatal(err)
	}
	n.Wait(t, doc.ID)
	res, err := n.Store.Get(t.Context(), n.Root.Tenant, abi.ObjectTask, doc.ID)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in, err := n.InputOf(t.Context(), n.Root.Tenant, res)
	runtime.ReadMemStats(&after)
	if err != nil || !bytes.Equal(in.Value, input) {
		t.Fatalf("%v, %d bytes of %d", err, len(in.Value), len(input))
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > uint64(len(input)*3/2) {
		t.Errorf("reading %d bytes took %d", len(input), took)
	}
}

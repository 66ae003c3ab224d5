package wharf_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// A connector says what each delivery means. One that fails holds up no other.
func ExampleNormalize() {
	prepare := func(c *wharf.Connector) (wharf.Normalizer, error) {
		return func(d *wharf.Delivery) (wharf.Normalized, error) {
			var ticket struct{ Queue, Title string }
			if err := json.Unmarshal([]byte(d.Text), &ticket); err != nil {
				return wharf.Normalized{}, &wharf.Failure{Code: "malformed", Message: err.Error()}
			}
			if !c.Wants(d.Header("x-event")) {
				return wharf.Normalized{Ignored: "its kind is not wanted"}, nil
			}
			text := wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart(ticket.Title)}}
			return wharf.Normalized{Tasks: []wharf.ConnectorTask{{Message: &text, Thread: ticket.Queue}}}, nil
		}, nil
	}

	// In a plugin:
	//
	//	//go:wasmexport tickets
	//	func tickets() int32 { return wharf.Normalize(prepare) }

	var host wharftest.Host
	for _, r := range host.Normalize(prepare, wharf.Connector{EventKinds: []string{"opened"}},
		wharftest.Delivery{ID: "del_1", Text: `{"queue":"printers","title":"out of \"paper\""}`, Header: map[string]string{"x-event": "opened"}},
		wharftest.Delivery{ID: "del_2", Text: `{"title":"?"}`, Header: map[string]string{"x-event": "closed"}},
		wharftest.Delivery{ID: "del_3", Text: `{`},
	) {
		switch {
		case r.Failure != nil:
			fmt.Println(r.ID, r.Failure.Code)
		case r.Ignored != "":
			fmt.Println(r.ID, r.Ignored)
		default:
			fmt.Println(r.ID, r.Tasks[0].Thread, string(r.Tasks[0].Input))
		}
	}
	// Output:
	// del_1 printers {"role":"user","parts":[{"type":"text","text":"out of \"paper\"","visibility":"public"}]}
	// del_2 its kind is not wanted
	// del_3 malformed
}

// What a poll finds is delivered once, however often it is found.
func ExampleDeliver() {
	poll := func(*wharf.Task) (wharf.Result, error) {
		n, err := wharf.Deliver(wharf.Found{ID: "42", Text: `{}`}, wharf.Found{ID: "43", Text: `{}`}, wharf.Found{ID: "42"})
		return wharf.Result{Summary: fmt.Sprint(n, " new")}, err
	}
	var host wharftest.Host
	fmt.Println(host.Text(poll, "tick").Summary)
	// Output: 2 new
}

// TestNormalizeIsolates holds that settings that do not serve, and a panic, are
// failures of the deliveries that they concern.
func TestNormalizeIsolates(t *testing.T) {
	var host wharftest.Host
	broken := func(*wharf.Connector) (wharf.Normalizer, error) { return nil, fmt.Errorf("no path") }
	for _, r := range host.Normalize(broken, wharf.Connector{}, wharftest.Delivery{ID: "a"}, wharftest.Delivery{ID: "b"}) {
		if r.Failure == nil || r.Failure.Code != wharf.CodeSettings || r.Failure.Message != "no path" {
			t.Errorf("%s: %+v", r.ID, r.Failure)
		}
	}
	panics := func(*wharf.Connector) (wharf.Normalizer, error) {
		return func(d *wharf.Delivery) (wharf.Normalized, error) {
			if d.Body != nil {
				panic("bytes")
			}
			return wharf.Normalized{
				Messages: []wharf.ConnectorMessage{{Message: wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart(d.CreatedAt)}}, Thread: "t"}},
				Events:   []wharf.ConnectorEvent{{Kind: "vendor.x.y", Payload: json.RawMessage(`{"n":1}`)}},
			}, nil
		}, nil
	}
	got := host.Normalize(panics, wharf.Connector{}, wharftest.Delivery{ID: "a", Body: []byte{0xff}}, wharftest.Delivery{ID: "b", CreatedAt: "2026-01-01T00:00:00Z"})
	if got[0].Failure == nil || got[0].Failure.Code != wharf.CodePanic || len(host.Logs) != 1 || !strings.Contains(host.Logs[0].Message, "bytes") {
		t.Errorf("a panic: %+v, %v", got[0].Failure, host.Logs)
	}
	if text, _ := json.Marshal(got[1]); string(text) != `{"id":"b","messages":[{"message":{"role":"user","parts":[{"type":"text","text":"2026-01-01T00:00:00Z","visibility":"public"}]},"thread":"t"}],"events":[{"kind":"vendor.x.y","payload":{"n":1}}]}` {
		t.Errorf("%s", text)
	}
}

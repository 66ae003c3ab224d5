package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
)

// githubIssue is about 1 KB of what GitHub sends; %d is the issue's number.
var githubIssue = `{"action":"opened","issue":{"html_url":"https://git.example/harbour/boats/issues/%[1]d","id":1,"number":%[1]d,"title":"The anchor \"drags\"",` +
	`"user":{"login":"ada","id":11,"type":"User"},"labels":[{"id":1,"name":"bug","color":"d73a4a"}],"state":"open","comments":0,"body":"` + strings.Repeat("It drifts in a swell. ", 22) +
	`"},"repository":{"id":731,"name":"boats","full_name":"harbour/boats","private":false,"owner":{"login":"harbour","id":9},"html_url":"https://git.example/harbour/boats"},"sender":{"login":"ada","id":11}}`

// batch is the answer of connector.deliveries: n deliveries to a Connector.
func batch(t testing.TB, n int, settings string, header map[string]string) []byte {
	t.Helper()
	answer := abi.CallDeliveriesAnswer{Connector: abi.Connector{Provider: "test", WorkspaceID: "ws_1", EventKinds: []string{"*"}, Settings: jsontext.Value(settings)}}
	for i := range n {
		d := abi.Delivery{ConnectorID: "conn_1", DeliveryID: fmt.Sprint(i), Header: header, Text: fmt.Sprintf(githubIssue, i+1)}
		d.ID = fmt.Sprintf("del_%d", i)
		answer.Deliveries = append(answer.Deliveries, d)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// mapping is a setting of the connector generic that makes of githubIssue about what
// the connector github does.
const mapping = `{"kind":"$.action","task":{"text":"Issue #{$.issue.number} in {$.repository.full_name}: {$.issue.title}","value":"$.issue",` +
	`"metadata":{"sender":"$.sender.login"}},"thread":"{$.repository.full_name}#{$.issue.number}"}`

var connectorExports = map[string]struct {
	settings string
	header   map[string]string
}{
	"github":  {`{}`, map[string]string{"x-github-event": "issues", "x-github-delivery": "1", "content-type": "application/json"}},
	"generic": {mapping, map[string]string{"webhook-id": "1", "content-type": "application/json"}},
}

// normalizing is a host of deliveries that keeps what they mean.
func normalizing(deliveries []byte, said *[]byte) *host {
	return &host{answer: func(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
		switch call {
		case abi.CallDeliveries:
			return abi.CallOK, deliveries, nil
		case abi.CallNormalized:
			*said = append((*said)[:0], request...)
			return abi.CallOK, nil, nil
		}
		return abi.CallNotFound, []byte(`{"code":"resource_not_found","message":"not here"}`), nil
	}}
}

// TestConnectorsNormalize holds that the bundled connectors make a Task of each of a
// full batch, in JSON as strict as the host reads.
func TestConnectorsNormalize(t *testing.T) {
	share.Alone(t)
	m := bundled(t, newRuntime(t, Config{CacheDir: cacheDir}), "connectors")
	for export, c := range connectorExports {
		var said []byte
		if _, err := m.Run(t.Context(), export, normalizing(batch(t, 256, c.settings, c.header), &said), Limits{}); err != nil {
			t.Fatalf("%s: %v", export, err)
		}
		var results abi.CallNormalizedRequest
		if err := json.Unmarshal(said, &results, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%s: %v", export, err)
		}
		if len(results.Results) != 256 {
			t.Fatalf("%s: %d results of 256", export, len(results.Results))
		}
		for i, r := range results.Results {
			if r.ID != fmt.Sprintf("del_%d", i) || len(r.Tasks) != 1 || r.Tasks[0].Thread != fmt.Sprintf("harbour/boats#%d", i+1) ||
				!bytes.Contains(r.Tasks[0].Input, []byte(`The anchor \"drags\"`)) {
				t.Fatalf("%s: delivery %d means %+v", export, i, r)
			}
		}
	}
}

// TestConnectorsInTasks holds that an export that normalizes fails where there is
// nothing to normalize, and makes nothing up.
func TestConnectorsInTasks(t *testing.T) {
	m := bundled(t, newRuntime(t, Config{CacheDir: cacheDir}), "connectors")
	var said []byte
	h := normalizing(nil, &said)
	h.answer = func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
		if call == abi.CallNormalized {
			t.Error("it normalized what there is not")
		}
		return abi.CallNotFound, []byte(`{"code":"resource_not_found","message":"not here"}`), nil
	}
	if _, err := m.Run(t.Context(), "github", h, Limits{}); err == nil {
		t.Error("it succeeded without deliveries")
	}
}

// BenchmarkNormalize is what a delivery of 1 KB costs in a batch of 256, in its plugin:
// see the metric ns/delivery.
func BenchmarkNormalize(b *testing.B) {
	m := bundled(b, newRuntime(b, Config{CacheDir: cacheDir}), "connectors")
	for export, c := range connectorExports {
		b.Run(export, func(b *testing.B) {
			const size = 256
			var said []byte
			h := normalizing(batch(b, size, c.settings, c.header), &said)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Run(b.Context(), export, h, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/delivery")
		})
	}
}

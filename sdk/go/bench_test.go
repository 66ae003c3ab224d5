package wharf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkBatch is what the SDK does for a delivery of 1 KB in a batch of 256: see the
// metric ns/delivery.
func BenchmarkBatch(b *testing.B) {
	text, err := json.Marshal(`{"n":1,"a":[` + strings.Repeat(`{"name":"some text","id":12345},`, 30) + `{}]}`)
	if err != nil {
		b.Fatal(err)
	}
	const size = 256
	one := fmt.Sprintf(`{"id":"del_1","delivery_id":"d","created_at":"2026-01-02T03:04:05Z","header":{"content-type":"application/json","x-event":"a"},"text":%s}`, text)
	answer := []byte(`{"connector":{"event_kinds":["*"]},"deliveries":[` + strings.Repeat(one+",", size-1) + one + `]}`)
	prepare := func(*Connector) (Normalizer, error) {
		return func(d *Delivery) (Normalized, error) {
			return Normalized{Tasks: []ConnectorTask{{Message: &Message{Role: "user", Parts: []Part{TextPart(d.Text)}}}}}, nil
		}, nil
	}
	b.ReportAllocs()
	for b.Loop() {
		c, all, err := readDeliveries(bytes.Clone(answer))
		if err != nil {
			b.Fatal(err)
		}
		normalizeAll(prepare, c, all)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/delivery")
}

package mcp_test

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// BenchmarkRequests measures what a client waits for: the list of 20 tools, and a call.
func BenchmarkRequests(b *testing.B) {
	n := newNode(b, nil)
	for i := range 20 {
		n.skill(b, "echo", abi.CreateSkillRequest{Name: "greet" + string(rune('a'+i)), InputSchema: []byte(`{"type":"object","properties":{"who":{"type":"string"}}}`)})
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for method, params := range map[string]string{"tools/list": meta, "tools/call": `"name":"greeta","arguments":{},` + meta} {
		b.Run(method, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				answer := n.post(b, b.Context(), enginetest.RootKey, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`,
					map[string]string{"Mcp-Protocol-Version": stateless, "Mcp-Method": method, "Mcp-Name": "greeta"})
				if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != 200 {
					b.Fatal(answer.StatusCode, err)
				}
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		})
	}
}

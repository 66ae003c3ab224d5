package receipt

import (
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// BenchmarkReceipt builds, canonicalizes, hashes and signs a receipt, and writes
// its canonical bytes, from a tally that has seen a run of five calls.
func BenchmarkReceipt(b *testing.B) {
	f, tally := facts(), tallyOf(b, agentRun()[:5])
	chain := NewChain("ws_1", ChainState{})
	key, at := testKey(1), start.Add(time.Minute)
	buffer := make([]byte, 0, 8192)
	b.ReportAllocs()
	for b.Loop() {
		r, err := Build(f, tally)
		if err != nil {
			b.Fatal(err)
		}
		err = chain.Seal(r, key, at, func(text []byte, _ uint64, _ *Batch) error {
			buffer = append(buffer[:0], text...)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(buffer)), "bytes/receipt")
}

// BenchmarkTally adds a small entry, and one of each kind that a receipt reads.
func BenchmarkTally(b *testing.B) {
	small := call(abi.CallStateGet, "host:state.get:1", `{"key":"greeting"}`, `{"value":"hello"}`)
	run := agentRun()
	for name, e := range map[string]*struct{ call int }{"small": {-1}, "llm": {1}, "tool": {2}, "fetch": {3}} {
		entry := small
		if e.call >= 0 {
			entry = run[e.call]
		}
		b.Run(name, func(b *testing.B) {
			tally := NewTally(program(), nil, "task_1")
			b.ReportAllocs()
			for entry.Index = 0; b.Loop(); entry.Index++ {
				if err := tally.Add(&entry); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

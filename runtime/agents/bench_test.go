package agents_test

import (
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// BenchmarkImport imports a bundle of 2,000 files with 49 MB altogether.
func BenchmarkImport(b *testing.B) {
	pairs := []string{"AGENTS.md", manifest("coder")}
	for i := range 2000 {
		content := make([]byte, 24_500)
		_, _ = rand.Read(content)
		pairs = append(pairs, fmt.Sprintf("docs/%d", i), string(content))
	}
	r := newRoom(b)
	_, p := r.took(b, abi.AgentImport{}, tree(pairs...))
	packed := r.export(b, p.ID, abi.AgentExport{})
	for b.Loop() {
		if _, err := r.take(b, abi.AgentImport{Merge: abi.MergeOverwrite}, unpack(b, packed)); err != nil {
			b.Fatal(err)
		}
	}
}

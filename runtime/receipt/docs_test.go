package receipt

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// documented are the examples of docs/receipt.md, as the code has them.
func documented(t *testing.T) map[string]string {
	failed := facts()
	failed.Status, failed.Failure, failed.Artifacts = abi.TaskFailed, &abi.Failure{Code: "plugin_exit", Message: "it said 1"}, nil
	step := call(abi.CallToolCall, "mcp:files:t1", `{"call_id":"t1","server":"files","name":"read","arguments":{"path":"a"}}`, `{"content":[{"type":"text","text":"x"}]}`)
	run := entries(step)
	r := build(t, failed, tallyOf(t, run))
	Seal(r, "", testKey(1), r.IssuedAt)
	leaf := AppendLeaf(nil, &run[0])
	batch, err := SealBatch("ws_1", 0, []string{r.Chain.ReceiptHash}, testKey(1), start)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := ToCBOR(r.AppendCanonical(nil))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"receipt":   journal.Pretty(r.AppendCanonical(nil)),
		"hashed":    string(r.AppendHashed(nil)),
		"public":    testKey(1).Public(start).PublicKey,
		"leaf":      string(leaf),
		"leaf-hash": journal.FormatHash(HashLeaf(leaf)),
		"program":   string(appendProgram(nil, program())),
		"batch":     batch.signed(),
		"signature": batch.Signature,
		"cbor":      fmt.Sprintf("%d bytes, SHA-256 %x", len(archive), sha256.Sum256(archive)),
	}
}

// block is an example in the document.
var block = regexp.MustCompile("(?s)```example-([a-z-]+)\n(.*?)\n?```")

// rewriteExamples puts the examples that the code has into the document.
func rewriteExamples(t *testing.T, path string, want map[string]string) {
	doc := block.ReplaceAllFunc(readFile(t, path), func(old []byte) []byte {
		name := string(block.FindSubmatch(old)[1])
		return []byte("```example-" + name + "\n" + strings.TrimSuffix(want[name], "\n") + "\n```")
	})
	if err := os.WriteFile(path, doc, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDocumentedExamples holds the examples of the document against the code.
func TestDocumentedExamples(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "receipt.md")
	want := documented(t)
	if *update {
		rewriteExamples(t, path, want)
	}
	for _, block := range block.FindAllSubmatch(readFile(t, path), -1) {
		name := string(block[1])
		if text, ok := want[name]; !ok || string(block[2]) != text && string(block[2])+"\n" != text {
			t.Errorf("%s: the document says\n%s\nthe code has\n%s", name, block[2], text)
		}
		delete(want, name)
	}
	for name, text := range want {
		t.Errorf("%s lacks the example %s:\n%s", filepath.Join("docs", "receipt.md"), name, text)
	}
}

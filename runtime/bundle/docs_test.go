package bundle

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented are the examples of docs/bundle-format.md, as the code has them.
func documented(t *testing.T) map[string]string {
	b := write(t, sampleContents(t))
	at := bytes.NewReader(b)
	o, err := open(at, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	first := o.members[0]
	tail := directory(o.members)
	return map[string]string{
		"local":     dump(b[:first.content()]),
		"central":   dump(tail[:centralSize+len(first.name)]),
		"end":       dump(tail[len(tail)-endSize:]),
		"files":     fileList(o.members),
		"manifest":  string(o.manifestText),
		"signed":    strings.TrimSuffix(signedText(o.manifestText), "\n"),
		"signature": string(o.signature),
		"record":    o.text(t, nameRecord),
	}
}

// text returns the content of a file.
func (b *opened) text(t *testing.T, name string) string {
	for i := range b.members {
		if b.members[i].name == name {
			content, err := b.read(&b.members[i])
			if err != nil {
				t.Fatal(err)
			}
			return string(content)
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

func fileList(members []member) string {
	var names []string
	for _, m := range members {
		names = append(names, fmt.Sprintf("%6d %6d %s", m.offset, m.size, m.name))
	}
	return strings.Join(names, "\n")
}

// dump writes bytes in hexadecimal, 16 a line.
func dump(b []byte) string {
	var lines []string
	for len(b) > 0 {
		n := min(16, len(b))
		lines = append(lines, fmt.Sprintf("% x", b[:n]))
		b = b[n:]
	}
	return strings.Join(lines, "\n")
}

var block = regexp.MustCompile("(?s)```example-([a-z-]+)\n(.*?)\n```")

// rewriteExamples puts the examples that the code has into the document.
func rewriteExamples(t *testing.T, path string, doc []byte, want map[string]string) []byte {
	doc = block.ReplaceAllFunc(doc, func(old []byte) []byte {
		name := string(block.FindSubmatch(old)[1])
		return []byte("```example-" + name + "\n" + want[name] + "\n```")
	})
	if err := os.WriteFile(path, doc, 0o644); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestDocumentedExamples holds the examples of the document against the code.
func TestDocumentedExamples(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "bundle-format.md")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := documented(t)
	if *update {
		doc = rewriteExamples(t, path, doc, want)
	}
	for _, block := range block.FindAllSubmatch(doc, -1) {
		name := string(block[1])
		if text, ok := want[name]; !ok || string(block[2]) != text {
			t.Errorf("%s: the document says\n%s\nthe code has\n%s", name, block[2], text)
		}
		delete(want, name)
	}
	for name, text := range want {
		t.Errorf("the document lacks the example %s:\n%s", name, text)
	}
}

// TestDocumentedFiles holds the table of files against the code.
func TestDocumentedFiles(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "bundle-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, limit := range limits {
		if row := fmt.Sprintf("| `%s` | %s |", name, size(limit)); !bytes.Contains(doc, []byte(row)) {
			t.Errorf("the document lacks %s", row)
		}
	}
}

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprint(n>>10, " KiB")
	}
	return fmt.Sprint(n>>20, " MiB")
}

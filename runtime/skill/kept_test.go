package skill

import (
	"fmt"
	"strings"
	"testing"
)

// A schema is compiled once, one that is none is refused each time, and what is kept is bounded.
func TestKeptSchemas(t *testing.T) {
	var kept Schemas
	text := []byte(`{"type":"object","required":["n"]}`)
	first, err := kept.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := kept.Compile([]byte(string(text))); err != nil || again != first {
		t.Errorf("compiled again: %v", err)
	}
	for range 2 {
		if _, err := kept.Compile([]byte(`{"type":7}`)); err == nil {
			t.Error("a schema that is none was taken")
		}
	}
	for i := range 100 {
		large := fmt.Appendf(nil, `{"title":"%d%s"}`, i, strings.Repeat("x", 30<<10))
		if _, err := kept.Compile(large); err != nil {
			t.Fatal(err)
		}
		if kept.bytes > mostKept {
			t.Fatalf("%d bytes are kept", kept.bytes)
		}
	}
}

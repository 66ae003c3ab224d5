package mcp

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a URI is, it names one place or none; that place is written in one way, which names it
// again, and leads nowhere else.
func FuzzURI(f *testing.F) {
	for _, uri := range []string{
		"wharf://artifacts/art_1", "WHARF://Receipts/rcpt%5F1", "wharf://workspaces/ws_1/files/a/b%20c", "wharf://workspaces/ws_1/files/a%2Fb%252F", "skill://ws_1/pdf-forms/SKILL.md",
		"skill://ws_1/pdf-forms", "skill://ws_1/pdf-forms/", "wharf://workspaces/ws_1/files/..%2f..", "wharf://artifacts/%00", "skill://%2F/%2F/%2F", "wharf://", "://", "wharf://workspaces//files/x",
		"wharf://artifacts/a?b#c", "wharf://artifacts/%ff", "skill://a/%2e%2e/b",
	} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		at, ok := placeOf(uri)
		if !ok {
			return
		}
		written := at.uri()
		if again, ok := placeOf(written); (!ok || again != at) && len(written) <= maxURI {
			t.Errorf("%q is %+v, which is written %q, which is %+v (%v)", uri, at, written, again, ok)
		}
		if at.kind == placeFile && at.path == "" || at.kind != placeFile && at.id == "" {
			t.Errorf("%q is %+v, which names nothing", uri, at)
		}
		for name := range strings.SplitSeq(at.path, "/") {
			if name == ".." || name == "." {
				t.Errorf("%q leads out of its folder: %q", uri, at.path)
			}
		}
		for _, text := range []string{at.workspace, at.id, at.path} {
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
				t.Errorf("%q names %q, which is no text", uri, text)
			}
		}
	})
}

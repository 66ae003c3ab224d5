package main

import (
	"bytes"
	"strings"
	"testing"
)

// A terminal is shown text alone, whole and up to a size, and nothing that steers it.
func TestContentOnATerminal(t *testing.T) {
	largest := strings.Repeat("é", maxOnTerminal/2)
	for name, c := range map[string]struct{ content, shown, refused string }{
		"text":                   {content: "one\ntwo", shown: "one\ntwo\n"},
		"nothing":                {},
		"the largest text":       {content: largest, shown: largest + "\n"},
		"more than that":         {content: largest + "é", refused: "more than"},
		"more, a letter between": {content: "a" + largest, refused: "more than"},
		"a picture":              {content: "\x89PNG\r\n\x1a\n", refused: "no text"},
		"half a letter":          {content: largest[:maxOnTerminal-1], refused: "no text"},
		"a NUL":                  {content: "a\x00b", refused: "no text"},
		"what steers":            {content: "a\x1b[2Jb", shown: "a[2Jb\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := (&app{stdout: &out}).showContent("art_1", "elsewhere", strings.NewReader(c.content))
			if c.refused == "" && (err != nil || out.String() != c.shown) {
				t.Errorf("it shows %d bytes, %v, want %d", out.Len(), err, len(c.shown))
			}
			if c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused) || out.Len() > 0) {
				t.Errorf("it says %v, and shows %d bytes", err, out.Len())
			}
		})
	}
}

package ceiling

import (
	"bytes"
	"testing"
)

func TestPiecesAreCutBetweenFrames(t *testing.T) {
	stream := []byte("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: c\n\n")
	if got := pieces(stream, 0); len(got) != 3 || string(got[0]) != "f\r\nid: 1\ndata: a\n\n\r\n" {
		t.Errorf("%d pieces, first %q", len(got), got[0])
	}
	if got := pieces(stream, 20); len(got) != 2 || !bytes.HasPrefix(got[0], []byte("1e\r\nid: 1\ndata: a\n\nid: 2\ndata: b\n\n")) {
		t.Errorf("%d pieces, first %q", len(got), got[0])
	}
}

package journal

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseHash(t *testing.T) {
	const abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := HashOf([]byte("abc")); got != abc {
		t.Error(got)
	}
	if h, err := ParseHash(abc); err != nil || FormatHash(h) != abc {
		t.Error(h, err)
	}
	for _, bad := range []string{"", "sha256:", abc[:70], abc + "0", abc[7:], strings.ToUpper(abc), "sha256:" + strings.ToUpper(abc[7:]), "SHA256:" + abc[7:],
		"sha512:" + abc[7:], "sha256:" + strings.Repeat("g", 64), "sha256:A" + abc[8:], " " + abc, "sha256:" + strings.Repeat("é", 32)} {
		if h, err := ParseHash(bad); err == nil {
			t.Errorf("%q was read as %x", bad, h)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := HashOf(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if h, err := ParseHash(text); err != nil || FormatHash(h) != text {
			t.Fatal(text, h, err)
		}
	})
}

package digest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestCountWords(t *testing.T) {
	for _, test := range []struct {
		text           string
		words, singles int
	}{
		{"", 0, 0},
		{"one two  three", 3, 0},
		{"don't well-known 3.14 1,000 a.b", 5, 0},
		{"end. Next, and - so", 4, 0},
		{"Ärger über déjà vu", 4, 0},
		{"漢字かな", 4, 4},
		{"a漢b", 3, 1},
		{"😀 👍🏽 x", 1, 0},
		{"e\u0301clair", 1, 0},
		{"한국어 단어", 2, 0},
		{strings.Repeat("long", 100) + " " + strings.Repeat("x", 7), 2, 0},
	} {
		words, singles := countWords(test.text)
		if words != test.words || singles != test.singles {
			t.Errorf("%.30q has %d words (%d single), want %d (%d)", test.text, words, singles, test.words, test.singles)
		}
	}
}

func TestSplitSentences(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"One. Two! Three? Four", "One.|Two!|Three?|Four"},
		{"Mr. Smith, e.g. J. R. Doe, paid 3.50 at 5 p.m. yesterday. Then he left.", "Mr. Smith, e.g. J. R. Doe, paid 3.50 at 5 p.m. yesterday.|Then he left."},
		{`He said "Stop." Then (at last.) Quiet...`, `He said "Stop."|Then (at last.)|Quiet...`},
		{"version 1.2.3 of a.b.c is out", "version 1.2.3 of a.b.c is out"},
		{"一つ目。二つ目！「三つ目。」終わり", "一つ目。|二つ目！|「三つ目。」|終わり"},
		{"What?! Really… Yes", "What?!|Really…|Yes"},
		{". . . !!! -", ""},
	} {
		if got := strings.Join(splitSentences(test.text), "|"); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestKeySentencesOfALongDocument holds that sentences about the subject are found
// among many that are about nothing, wherever they are, and that none is repeated.
func TestKeySentencesOfALongDocument(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "Filler%d holds item%d with thing%d and stuff%d near place%d.\n\n", i, i, i, i, i)
		if i%40 == 0 {
			text.WriteString("The lighthouse keeper guards the harbour lamp during winter storms.\n\n")
		}
	}
	sentences := Make(text.String(), nil).KeySentences
	about := slices.IndexFunc(sentences, func(s string) bool { return strings.Contains(s, "lighthouse") })
	if about < 0 || len(sentences) != MaxSentences {
		t.Errorf("the key sentences are %q", sentences)
	}
	slices.Sort(sentences)
	if len(slices.Compact(sentences)) != MaxSentences {
		t.Errorf("a sentence is repeated in %q", sentences)
	}
}

// TestSameDocumentSameDigest holds that no map order shows through.
func TestSameDocumentSameDigest(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "Sentence number %d talks about topic %d and [link](http://a/%d) in some way. ", i, i%7, i%20)
	}
	first := Make(text.String(), nil).Render(100)
	for range 10 {
		if again := Make(text.String(), nil).Render(100); again != first {
			t.Fatal("the same document gave two digests")
		}
	}
}

// TestBounds holds that a digest stays small whatever the document is.
func TestBounds(t *testing.T) {
	var text strings.Builder
	for i := range MaxOutline + 100 {
		fmt.Fprintf(&text, "# Heading %d %s\n\n<http://host/%d>\n\n", i, strings.Repeat("very ", 100), i)
	}
	d := Make(text.String(), nil)
	if len(d.Outline) != MaxOutline || d.OutlineTotal != MaxOutline+100 || len(d.Links) != MaxLinks || d.LinksTotal != MaxLinks+100 {
		t.Errorf("listed %d of %d headings and %d of %d links", len(d.Outline), d.OutlineTotal, len(d.Links), d.LinksTotal)
	}
	if n := len([]rune(d.Outline[0].Text)); n > maxEntry+1 {
		t.Errorf("an entry is %d characters long", n)
	}
}

// TestRenderIsSafe holds that what a document says cannot break the digest's own
// Markdown.
func TestRenderIsSafe(t *testing.T) {
	out := Make("# a | b `c` <script>\n\n[x|y](http://a/|b`c)\n", nil).Render(10)
	if strings.Contains(out, "<script>") || strings.Count(out, "\n| ") != 2 || strings.Contains(out, "/|b") {
		t.Errorf("rendered as\n%s", out)
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "a\r\nb\r\n": 2, "a\rb": 2, "\n\n": 2, "\ufeffa": 1} {
		if got := Make(text, nil).Counts.Lines; got != want {
			t.Errorf("%q has %d lines, want %d", text, got, want)
		}
	}
}

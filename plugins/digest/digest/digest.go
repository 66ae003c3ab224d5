package digest

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/plugins/digest/markdown"
)

// Digest is what is in a document.
type Digest struct {
	Title        string   `json:"title"` // "" when the document has no text
	Counts       Counts   `json:"counts"`
	Outline      []Entry  `json:"outline"`
	KeySentences []string `json:"key_sentences"` // in the order of the document
	Links        []Link   `json:"links"`         // the most frequent first
	Notes        []string `json:"notes,omitempty"`
	OutlineTotal int      `json:"outline_total"`
	LinksTotal   int      `json:"links_total"` // different ones
	Form         Form     `json:"form"`
}

// Form says how a document was read.
type Form string

// The forms.
const (
	Markdown Form = "markdown" // it has headings
	Plain    Form = "plain"    // it has none: its outline is how its paragraphs begin
)

// Counts are the numbers of a document. Words of scripts without spaces are
// counted by character.
type Counts struct {
	Bytes          int     `json:"bytes"`
	Characters     int     `json:"characters"`
	Lines          int     `json:"lines"`
	Words          int     `json:"words"`
	Sentences      int     `json:"sentences"`
	Paragraphs     int     `json:"paragraphs"`
	Headings       int     `json:"headings"`
	Tables         int     `json:"tables"`
	CodeBlocks     int     `json:"code_blocks"`
	Links          int     `json:"links"`
	Images         int     `json:"images"`
	ReadingMinutes float64 `json:"reading_minutes"` // rounded to tenths
}

// Entry is a line of the outline.
type Entry struct {
	Level int    `json:"level"` // 1 to 6 for a heading, 0 for a paragraph
	Text  string `json:"text"`
	Line  int    `json:"line"` // in the document, from 1
}

// Link is a link, and how often it is there.
type Link struct {
	Text   string `json:"text"` // of its first use
	Target string `json:"target"`
	Count  int    `json:"count"`
}

// Bounds of a digest. What is beyond them is counted, but not listed.
const (
	MaxOutline   = 5000
	MaxLinks     = 5000
	MaxSentences = 5
	maxEntry     = 120 // characters of an outline entry or link text
)

// Make makes the digest of a document. From time to time it tells how far it is,
// from 0 to 1, and with what; progress may be nil.
func Make(text string, progress func(fraction float64, doing string)) *Digest {
	if progress == nil {
		progress = func(float64, string) {}
	}
	d := &Digest{Form: Plain, Outline: []Entry{}, KeySentences: []string{}, Links: []Link{}}
	d.Counts.Bytes = len(text)
	text = d.clean(text)
	d.Counts.Characters = characters(text)
	progress(0.05, "finding the structure")
	doc := markdown.Parse(text)
	d.Counts.CodeBlocks, d.Counts.Lines = doc.CodeBlocks, doc.Lines
	r := &reading{digest: d, doc: doc, links: map[string]int{}, progress: progress}
	r.readBlocks()
	progress(0.75, "weighing sentences")
	d.KeySentences = keySentences(r.sentences, MaxSentences)
	r.finish()
	progress(1, "done")
	return d
}

// clean makes the text valid UTF-8 without a byte order mark.
func (d *Digest) clean(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
		d.Notes = append(d.Notes, "The document is not valid UTF-8; what could not be read was replaced by \ufffd.")
	}
	return text
}

// reading goes through the blocks of a document.
type reading struct {
	digest    *Digest
	doc       *markdown.Document
	links     map[string]int // index into digest.Links by target
	starts    []Entry        // how paragraphs begin
	sentences []string
	unspaced  int // characters of scripts without spaces
	progress  func(float64, string)
}

func (r *reading) readBlocks() {
	done, step := 0, max(1, len(r.doc.Blocks)/8)
	for _, b := range r.doc.Blocks {
		r.readBlock(b)
		if done++; done%step == 0 {
			r.progress(0.05+0.7*float64(done)/float64(len(r.doc.Blocks)), "reading")
		}
	}
}

func (r *reading) readBlock(b markdown.Block) {
	in := r.doc.Inline(b.Raw)
	c := &r.digest.Counts
	words, unspaced := countWords(in.Text)
	c.Words += words
	r.unspaced += unspaced
	c.Images += in.Images
	for _, l := range in.Links {
		r.addLink(l)
	}
	switch b.Kind {
	case markdown.Heading:
		c.Headings++
		r.digest.addEntry(Entry{Level: b.Level, Text: shorten(in.Text), Line: b.Line})
	case markdown.Table:
		c.Tables++
	default:
		c.Paragraphs++
		r.addParagraph(b, in.Text)
	}
}

func (r *reading) addParagraph(b markdown.Block, text string) {
	if len(r.starts) < MaxOutline {
		line, _, _ := strings.Cut(b.Raw, "\n")
		r.starts = append(r.starts, Entry{Text: shorten(r.doc.Inline(line).Text), Line: b.Line})
	}
	sentences := splitSentences(text)
	r.digest.Counts.Sentences += len(sentences)
	r.sentences = append(r.sentences, sentences...)
}

func (d *Digest) addEntry(e Entry) {
	d.OutlineTotal++
	if len(d.Outline) < MaxOutline {
		d.Outline = append(d.Outline, e)
	}
}

func (r *reading) addLink(l markdown.Link) {
	d := r.digest
	d.Counts.Links++
	if i, known := r.links[l.Target]; known {
		d.Links[i].Count++
		return
	}
	r.links[l.Target] = len(d.Links)
	d.Links = append(d.Links, Link{Text: shorten(l.Text), Target: l.Target, Count: 1})
}

// finish settles what depends on the whole document.
func (r *reading) finish() {
	d := r.digest
	d.LinksTotal = len(d.Links)
	slices.SortStableFunc(d.Links, func(a, b Link) int { return cmp.Compare(b.Count, a.Count) })
	d.Links = d.Links[:min(len(d.Links), MaxLinks)]
	d.Counts.ReadingMinutes = readingMinutes(d.Counts.Words-r.unspaced, r.unspaced)
	if d.Counts.Headings > 0 {
		d.Form = Markdown
	} else {
		d.Outline = append(d.Outline, r.starts...)
		d.OutlineTotal = d.Counts.Paragraphs
	}
	d.Title = title(d.Outline)
}

// title returns the first heading of the highest level among the first few, or how
// the document begins.
func title(outline []Entry) string {
	best := Entry{Level: 7}
	for _, e := range outline[:min(len(outline), 10)] {
		if e.Level < best.Level && e.Text != "" {
			best = e
		}
	}
	return best.Text
}

// readingMinutes assumes 230 words or 500 characters of unspaced scripts a minute.
func readingMinutes(words, characters int) float64 {
	tenths := float64(words)/23 + float64(characters)/50
	return float64(int(tenths+0.5)) / 10
}

// shorten cuts a text to maxEntry characters.
func shorten(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= maxEntry {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > maxEntry {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}

package digest

import (
	"fmt"
	"strings"
)

// Summary returns the digest in one line.
func (d *Digest) Summary() string {
	if d.Counts.Words == 0 {
		return "the document holds no text"
	}
	return fmt.Sprintf("%q: %s, %s, %s, %s to read", clip(d.Title, 60), count(d.Counts.Words, "word"),
		count(d.Counts.Headings, "heading"), count(d.Counts.Links, "link"), minutes(d.Counts.ReadingMinutes))
}

// Render writes the digest as Markdown, with at most the given number of entries in
// the outline and in the table of links.
func (d *Digest) Render(most int) string {
	var b strings.Builder
	title := d.Title
	if title == "" {
		title = "an untitled document"
	}
	fmt.Fprintf(&b, "# Digest of %s\n\n%s\n", escape(title), d.numbers())
	for _, note := range d.Notes {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	d.renderSentences(&b)
	d.renderOutline(&b, most)
	d.renderLinks(&b, most)
	return b.String()
}

// numbers returns the counts in a line. Those of what is not there are left out.
func (d *Digest) numbers() string {
	c := d.Counts
	parts := []string{count(c.Bytes, "byte"), count(c.Characters, "character"), count(c.Words, "word"), count(c.Lines, "line"),
		count(c.Sentences, "sentence")}
	for _, n := range []struct {
		number int
		name   string
	}{{c.Paragraphs, "paragraph"}, {c.Headings, "heading"}, {c.Tables, "table"}, {c.CodeBlocks, "code block"}, {c.Links, "link"}, {c.Images, "image"}} {
		if n.number > 0 {
			parts = append(parts, count(n.number, n.name))
		}
	}
	return strings.Join(append(parts, minutes(c.ReadingMinutes)+" to read"), " · ")
}

func (d *Digest) renderSentences(b *strings.Builder) {
	if len(d.KeySentences) == 0 {
		return
	}
	b.WriteString("\n## Key sentences\n\n")
	for i, s := range d.KeySentences {
		fmt.Fprintf(b, "%d. %s\n", i+1, escape(s))
	}
}

func (d *Digest) renderOutline(b *strings.Builder, most int) {
	if len(d.Outline) == 0 {
		return
	}
	b.WriteString("\n## Outline\n\n")
	shown := d.Outline[:min(len(d.Outline), most)]
	top := 6
	for _, e := range shown {
		top = min(top, e.Level)
	}
	for _, e := range shown {
		text := e.Text
		if text == "" {
			text = "(untitled)"
		}
		fmt.Fprintf(b, "%s- %s (line %s)\n", strings.Repeat("  ", e.Level-top), escape(text), group(e.Line))
	}
	renderRest(b, d.OutlineTotal-len(shown))
}

func (d *Digest) renderLinks(b *strings.Builder, most int) {
	if len(d.Links) == 0 {
		return
	}
	b.WriteString("\n## Links\n\n| text | target | count |\n|---|---|---:|\n")
	shown := d.Links[:min(len(d.Links), most)]
	for _, l := range shown {
		fmt.Fprintf(b, "| %s | %s | %d |\n", escape(l.Text), cell(l.Target), l.Count)
	}
	renderRest(b, d.LinksTotal-len(shown))
}

func renderRest(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "\n… and %s more.\n", group(n))
	}
}

// escape makes a text safe to stand in a line or a table of Markdown.
func escape(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]",
		"<", "\\<", "\n", " ").Replace(s)
}

// cell makes a link target safe to stand in a table, as code: it must not become a
// link that somebody clicks by mistake.
func cell(target string) string {
	target = clip(strings.NewReplacer("|", "%7C", "`", "%60", "\n", " ").Replace(target), 300)
	if target == "" {
		return ""
	}
	return "`" + target + "`"
}

func clip(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}

func count(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return group(n) + " " + name + "s"
}

// group writes a number with a comma before every three digits.
func group(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func minutes(m float64) string {
	switch {
	case m < 1:
		return "less than a minute"
	case m < 1.5:
		return "1 minute"
	case m < 90:
		return fmt.Sprintf("%.0f minutes", m)
	}
	return fmt.Sprintf("%.1f hours", m/60)
}

package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// outline writes a document's structure as text, for tests to compare.
func outline(text string) string {
	d := Parse(text)
	var out []string
	for _, b := range d.Blocks {
		in := d.Inline(b.Raw)
		line := [...]string{"p", "h", "t"}[b.Kind]
		if b.Kind == Heading {
			line += fmt.Sprint(b.Level)
		}
		line += fmt.Sprintf("@%d %q", b.Line, in.Text)
		for _, l := range in.Links {
			line += fmt.Sprintf(" [%s](%s)", l.Text, l.Target)
		}
		if in.Images > 0 {
			line += fmt.Sprintf(" images:%d", in.Images)
		}
		out = append(out, line)
	}
	if d.CodeBlocks > 0 {
		out = append(out, fmt.Sprintf("code:%d/%d", d.CodeBlocks, d.CodeBytes))
	}
	return strings.Join(out, "; ")
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"only space", " \n\t\n", ""},
		{"paragraphs", "one\ntwo\n\nthree", `p@1 "one two"; p@4 "three"`},
		{"windows lines", "# a\r\n\r\nb\r\nc\r\n", `h1@1 "a"; p@3 "b c"`},
		{"old mac lines", "# a\r\rb\rc", `h1@1 "a"; p@3 "b c"`},
		{"headings", "# one #\n## two ##\n####### seven\n#none\n# \\#", `h1@1 "one"; h2@2 "two"; p@3 "####### seven #none"; h1@5 "#"`},
		{"an empty heading", "#\n##  ##", `h1@1 ""; h2@2 ""`},
		{"underlined headings", "one\n===\ntwo\nlines\n---\n\n---\nthree", `h1@1 "one"; h2@3 "two lines"; p@8 "three"`},
		{"a list is no underline", "one\n- two\n- - -\n", `p@1 "one"; p@2 "two"`},
		{"fences", "```go\n# no\n[no](no)\n```\nyes\n~~~\n```\n~~~", `p@5 "yes"; code:2/18`},
		{"a fence without an end", "a\n\n```\n# no", `p@1 "a"; code:1/5`},
		{"a fence in a list", "- a\n  ```\n  # no\n  ```\n- b", `p@1 "a"; p@5 "b"; code:1/5`},
		{"a fence in a quote ends with it", "> ```\n> no\nyes", `p@3 "yes"; code:1/3`},
		{"a longer fence", "````\n```\n````\nx", `p@4 "x"; code:1/4`},
		{"backticks that are no fence", "``` a`b\nx", "p@1 \"``` a`b x\""},
		{"indented code", "a\n\n    # no\n\n    no\n\nb", `p@1 "a"; p@7 "b"; code:1/10`},
		{"indented text of a paragraph", "a\n    b", `p@1 "a b"`},
		{"tabs", "\t# no\n\n-\ta\n\n\tb", `p@3 "a"; p@5 "b"; code:1/6`},
		{"quotes", "> # a\n> b\nlazy\n\nc", `h1@1 "a"; p@2 "b lazy"; p@5 "c"`},
		{"lists", "1. a\n2. b\n   c\n\n   d\n10) e\n\nf", `p@1 "a"; p@2 "b c"; p@5 "d"; p@6 "e"; p@8 "f"`},
		{"a number is no list", "It was in\n1984. Then\n", `p@1 "It was in 1984. Then"`},
		{"nested lists", "- a\n  - b\n    - # c\n- d", `p@1 "a"; p@2 "b"; h1@3 "c"; p@4 "d"`},
		{"emphasis", "**a** _b_ ~~c~~ d*e* 2 * 3 snake_case_name ***x***", `p@1 "a b c de 2 * 3 snake_case_name x"`},
		{"code spans", "`[no](no)` ``a`b`` `open", "p@1 \"[no](no) a`b `open\""},
		{"escapes", `\[no](no) \*a\* \\ \q`, `p@1 "[no](no) *a* \\ \\q"`},
		{"links", `[a](b) [c](<d e> "t") [f](g(h)i 'x') [j]( k )`,
			`p@1 "a c f j" [a](b) [c](d e) [f](g(h)i) [j](k)`},
		{"no links", "[a] (b) [c](d e) [f][g] [h]", `p@1 "[a] (b) [c](d e) [f][g] [h]"`},
		{"references", "[A B][x] [X] [x][] [y]\n\n[x]: /to 'Title'\n[y]:\n  <u v>\n[x]: /second",
			`p@1 "A B X x y" [A B](/to) [X](/to) [x](/to) [y](u v)`},
		{"labels fold case and space", "[Foo\n  Bar]\n\n[foo bar]: /x", `p@1 "Foo Bar" [Foo Bar](/x)`},
		{"a definition with text behind it", "[x]: /to not a title\n[x]", `p@1 "[x]: /to not a title [x]"`},
		{"a heading under definitions", "[x]: /to\nhead\n===\n[x]", `h1@1 "head"; p@4 "x" [x](/to)`},
		{"images", `![a](b) [![c](d)](e) ![f][x] <img src="x">` + "\n\n[x]: /y", `p@1 "a c f" [c](e) images:4`},
		{"links do not nest", "[a [b](c) d](e)", `p@1 "[a b d](e)" [b](c)`},
		{"autolinks", "<https://a.b/c?d=e> <me@a.b> <not a link> <a+b:c>",
			`p@1 "https://a.b/c?d=e me@a.b  a+b:c" [https://a.b/c?d=e](https://a.b/c?d=e) [me@a.b](mailto:me@a.b) [a+b:c](a+b:c)`},
		{"bare links", "See https://a.b/c_(d), (http://e.f). www.g.h! xhttp://no https://",
			`p@1 "See https://a.b/c_(d), (http://e.f). www.g.h! xhttp://no https://" [https://a.b/c_(d)](https://a.b/c_(d)) [http://e.f](http://e.f) [www.g.h](http://www.g.h)`},
		{"a bare link in a link", "[see http://a.b](c) [open http://d.e", `p@1 "see http://a.b [open http://d.e" [see http://a.b](c) [http://d.e](http://d.e)`},
		{"html", "<div>\n# no\n</div>\n\n# yes <b>x</b>\n<!-- a\n\n# no -->\nb <!-- c --> d", `h1@5 "yes x"; p@9 "b  d"`},
		{"a script", "<script>\n\n# no\n</script>\nyes", `p@5 "yes"`},
		{"a table", "| a | b |\n|---|:-:|\n| [c](d) | e |", `t@1 "| a | b | |---|:-:| | c | e |" [c](d)`},
		{"a table after text", "Prose.\n| a |\n|---|\n| b |", `p@1 "Prose."; t@2 "| a | |---| | b |"`},
		{"front matter", "---\ntitle: x\n---\n# a", `h1@4 "a"`},
		{"no front matter", "---\n\na\n\n---\nb", `p@3 "a"; p@6 "b"`},
		{"wide scripts", "# 見出し\n\n[漢字](/漢) 😀 **太字**です", `h1@1 "見出し"; p@3 "漢字 😀 太字です" [漢字](/漢)`},
		{"entities", "a &amp; b &lt;c&gt; &unknown; &", `p@1 "a & b <c> &unknown; &"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := outline(test.text); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestParseHostile makes documents that look far ahead or nest deeply, long enough
// for anything worse than linear to hold up the tests for minutes.
func TestParseHostile(t *testing.T) {
	for _, unit := range []string{
		"[", "]", "[]", "![", "[a](", "[a](b \"", "[a](b (", "[a](<", "[a][", "`", "``` ` ", "<", "<a ", "<a \"", "<!--", "<http:",
		"*", "_a", "~~", "> ", "- ", "1. ", "\n> ", "\t", "&", "\\", "http://", "www.", "http://a)", "((((", "[a]: ", "[a]:\n", "|", "\n", "a\n---\n",
	} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		d := Parse(text + "\n\n[x]: /y")
		for _, b := range d.Blocks {
			d.Inline(b.Raw)
		}
	}
	nested := strings.Repeat("[", 1<<19) + strings.Repeat("[a](b)", 1<<16) + strings.Repeat("]", 1<<19)
	if links := Parse("").Inline(nested).Links; len(links) != 1<<16 {
		t.Errorf("found %d links in many brackets, want %d", len(links), 1<<16)
	}
}

// FuzzParse holds that any text can be read, and that lines add up.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"# a\n\nb [c](d)", "> - 1. ```\n\t# x", "[a]: <b> 'c'\n[a]", "<!-- -->\n|a|\n|-|"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := Parse(text)
		lines := strings.Count(unixLines(text), "\n") + 1
		ordered := slices.IsSortedFunc(d.Blocks, func(a, b Block) int { return a.Line - b.Line })
		if !ordered {
			t.Error("blocks are out of order")
		}
		for _, b := range d.Blocks {
			if b.Line < 1 || b.Line > lines {
				t.Errorf("a block at line %d of %d", b.Line, lines)
			}
			d.Inline(b.Raw)
		}
	})
}

package digest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unspaced reports whether r belongs to a script that is written without spaces
// between words.
func unspaced(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		c := r | 0x20
		return c >= 'a' && c <= 'z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// joins reports whether r keeps a word together when letters follow: don't,
// well-known, 3.14.
func joins(r rune) bool {
	switch r {
	case '\'', '’', '-', '.', '_', ',':
		return true
	}
	return false
}

// eachWord calls f for each word of the text. A character of an unspaced script is
// a word of its own.
func eachWord(text string, f func(word string, single bool)) {
	start := -1
	for i, r := range text {
		single := unspaced(r)
		if wordRune(r) && !single {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && joins(r) && joined(text[i+utf8.RuneLen(r):]) {
			continue
		}
		if start >= 0 {
			f(text[start:i], false)
			start = -1
		}
		if single && wordRune(r) {
			f(text[i:i+utf8.RuneLen(r)], true)
		}
	}
	if start >= 0 {
		f(text[start:], false)
	}
}

// joined reports whether the text goes on with a letter or digit.
func joined(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return wordRune(r) && !unspaced(r)
}

// countWords returns how many words a text has, and how many of them are
// characters of unspaced scripts.
func countWords(text string) (words, singles int) {
	eachWord(text, func(_ string, single bool) {
		words++
		if single {
			singles++
		}
	})
	return words, singles
}

// splitSentences cuts a text into its sentences.
func splitSentences(text string) []string {
	var out []string
	start := 0
	for i := 0; i < len(text); {
		n := sentenceEnd(text, i, start)
		if n == 0 {
			i++
			continue
		}
		out = appendSentence(out, text[start:i+n])
		i += n
		start = i
	}
	return appendSentence(out, text[start:])
}

// appendSentence appends a sentence unless it has no words.
func appendSentence(out []string, s string) []string {
	if s = strings.TrimSpace(s); s == "" || strings.IndexFunc(s, wordRune) < 0 {
		return out
	}
	return append(out, s)
}

// sentenceEnd returns the length of the end of a sentence at i, with the quotes
// and brackets that close it, or 0 if none ends there.
func sentenceEnd(text string, i, start int) int {
	switch c := text[i]; {
	case c == '.' || c == '!' || c == '?':
		n := 1
		for i+n < len(text) && strings.IndexByte(".!?", text[i+n]) >= 0 {
			n++
		}
		n += closers(text[i+n:])
		if !followedByStart(text[i+n:]) || (c == '.' && n == 1 && abbreviated(text[start:i])) {
			return 0
		}
		return n
	case c < utf8.RuneSelf:
		return 0
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	switch r {
	case '。', '！', '？', '｡', '।', '؟':
		return n + closers(text[i+n:])
	case '…':
		if followedByStart(text[i+n:]) {
			return n
		}
	}
	return 0
}

// closers returns the length of the quotes and brackets at the start of the text.
func closers(text string) int {
	for i, r := range text {
		if !strings.ContainsRune(`"')]”’»」』）`, r) {
			return i
		}
	}
	return len(text)
}

// followedByStart reports whether what follows could begin a sentence: white space
// and then anything but a small letter.
func followedByStart(text string) bool {
	rest := strings.TrimLeft(text, " \u00a0\t\n")
	if rest == "" {
		return true
	}
	if len(rest) == len(text) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return !unicode.IsLower(r)
}

// abbreviations end with a full stop that does not end a sentence.
const abbreviations = " mr mrs ms dr prof st jr sr vs etc e.g i.e cf fig no vol pp ed eds al inc ltd co approx dept est " +
	"jan feb mar apr jun jul aug sep sept oct nov dec z.b d.h bzw usw ca nr str u.a u.s u.k p.m a.m "

// abbreviated reports whether the text before a full stop ends with an abbreviation
// or an initial.
func abbreviated(before string) bool {
	word := before[strings.LastIndexAny(before, " \u00a0(\t\n")+1:]
	if len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' {
		return true
	}
	return len(word) <= 6 && word != "" && strings.Contains(abbreviations, " "+strings.ToLower(word)+" ")
}

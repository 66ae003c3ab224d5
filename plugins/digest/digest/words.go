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

// What a byte is to the loops below.
const (
	isWord = 1 << iota // an ASCII letter or digit
	isEnd              // could end a sentence
	isHigh             // part of a character beyond ASCII
)

// classes says what each byte is. A sandbox may look at a guest each time that a
// loop turns, so what is done for every byte is done for several at a time.
var classes = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case c >= utf8.RuneSelf:
			t[c] = isHigh
		case wordRune(rune(c)):
			t[c] = isWord
		}
	}
	t['.'], t['!'], t['?'] = isEnd, isEnd, isEnd
	return t
}()

// asciiEnd returns where the ASCII letters and digits that begin at i end.
func asciiEnd(text string, i int) int {
	for ; i+4 <= len(text); i += 4 {
		switch p := text[i : i+4]; {
		case classes[p[0]]&isWord == 0:
			return i
		case classes[p[1]]&isWord == 0:
			return i + 1
		case classes[p[2]]&isWord == 0:
			return i + 2
		case classes[p[3]]&isWord == 0:
			return i + 3
		}
	}
	for i < len(text) && classes[text[i]]&isWord != 0 {
		i++
	}
	return i
}

// nextOf returns the first place from i on with a byte of one of the classes, or
// the end.
func nextOf(text string, i int, class byte) int {
	for ; i+8 <= len(text); i += 8 {
		p := text[i : i+8]
		if (classes[p[0]]|classes[p[1]]|classes[p[2]]|classes[p[3]]|classes[p[4]]|classes[p[5]]|classes[p[6]]|classes[p[7]])&class != 0 {
			break
		}
	}
	for i < len(text) && classes[text[i]]&class == 0 {
		i++
	}
	return i
}

// characters counts the characters of valid UTF-8.
func characters(text string) int {
	n, i := 0, 0
	for ; i+8 <= len(text); i += 8 {
		p := text[i : i+8]
		n += lead(p[0]) + lead(p[1]) + lead(p[2]) + lead(p[3]) + lead(p[4]) + lead(p[5]) + lead(p[6]) + lead(p[7])
	}
	for ; i < len(text); i++ {
		n += lead(text[i])
	}
	return n
}

// lead is 1 for the first byte of a character and 0 for the others.
func lead(c byte) int {
	if c&0xc0 == 0x80 {
		return 0
	}
	return 1
}

// eachWord calls f for each word of the text. A character of an unspaced script is
// a word of its own.
func eachWord(text string, f func(word string, single bool)) {
	for i := 0; ; {
		if i = nextOf(text, i, isWord|isHigh); i == len(text) {
			return
		}
		if text[i] >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			switch {
			case !wordRune(r):
				i += n
				continue
			case unspaced(r):
				f(text[i:i+n], true)
				i += n
				continue
			}
		}
		end := wordEnd(text, i)
		f(text[i:end], false)
		i = end
	}
}

// wordEnd returns where the word that begins at i ends.
func wordEnd(text string, i int) int {
	for {
		i = asciiEnd(text, i)
		if i == len(text) {
			return i
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !(r >= utf8.RuneSelf && wordRune(r) && !unspaced(r)) && !(joins(r) && joined(text[i+n:])) {
			return i
		}
		i += n
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
	for i := 0; ; {
		if i = nextOf(text, i, isEnd|isHigh); i == len(text) {
			break
		}
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

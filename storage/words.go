package storage

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What of a Memory is found by its words. Beyond that it is kept whole and not
// searched.
const (
	maxWords     = 2048 // distinct words
	maxWordBytes = 64   // of one word; the rest is cut off
)

// WordRules names the rules by which [Words] tells words apart. An index made by other rules is
// made again.
const WordRules = "1 " + unicode.Version

// Query asks for the Memories of an owner by their words.
type Query struct {
	Owner string // a Memory's owner_id
	Terms []Term // all of which a Memory must hold; none finds all
	After string // the id of the last Memory looked at, "" for the beginning
	Limit int    // at least 1
}

// Term is a word to look for.
type Term struct {
	Word   string // as [Words] gives it
	Prefix bool   // any word that begins so will do
}

// Words returns the distinct words of a JSON value, sorted: of its texts, the names
// of its members and its numbers. Anything after malformed JSON is ignored.
func Words(value []byte) []string {
	found := map[string]struct{}{}
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	for len(found) < maxWords {
		token, err := d.ReadToken()
		if err != nil {
			break
		}
		if kind := token.Kind(); kind == '"' || kind == '0' {
			eachWord(token.String(), func(word, _ string) bool {
				found[word] = struct{}{}
				return len(found) < maxWords
			})
		}
	}
	words := make([]string, 0, len(found))
	for word := range found {
		words = append(words, word)
	}
	slices.Sort(words)
	return words
}

// Terms returns what to look for when somebody asks for text: its words, each once.
// A star at the end of a word makes it a prefix.
func Terms(text string) []Term {
	var terms []Term
	eachWord(text, func(word, rest string) bool {
		t := Term{word, strings.HasPrefix(rest, "*")}
		if !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
		return true
	})
	return terms
}

// eachWord calls f with every word of text, in lower case, and what follows it,
// until f returns false. A word is a run of letters, digits and marks; ideographs,
// which are written without spaces, are words by themselves.
func eachWord(text string, f func(word, rest string) bool) {
	for text != "" {
		start := strings.IndexFunc(text, inWord)
		if start < 0 {
			return
		}
		text = text[start:]
		end := wordEnd(text)
		if !f(fold(text[:end]), text[end:]) {
			return
		}
		text = text[end:]
	}
}

func inWord(r rune) bool { return unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark) }

// alone reports whether r is a word by itself.
func alone(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// wordEnd returns the length of the word that text begins with.
func wordEnd(text string) int {
	first, size := utf8.DecodeRuneInString(text)
	if alone(first) {
		return size
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) || alone(r) })
	if end < 0 {
		return len(text)
	}
	return end
}

// fold returns a word in the form in which words are compared.
func fold(word string) string {
	word = strings.ToLower(word)
	if len(word) <= maxWordBytes {
		return word
	}
	end := maxWordBytes
	for !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end]
}

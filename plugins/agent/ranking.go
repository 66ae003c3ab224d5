package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// ranking finds among texts those that are about what is asked, by BM25: a word counts the more the fewer
// texts have it, and the less the longer the text is.
type ranking struct {
	texts  []map[string]float64 // how often each word is there, by weight
	length []float64
	mean   float64
	having map[string]int // how many texts have a word
}

// weighted is a part of a text, whose words count so often.
type weighted struct {
	text   string
	weight float64
}

func (r *ranking) add(parts ...weighted) {
	if r.having == nil {
		r.having = map[string]int{}
	}
	counts, length := map[string]float64{}, 0.0
	for _, p := range parts {
		for _, w := range words(p.text) {
			if counts[w] == 0 {
				r.having[w]++
			}
			counts[w] += p.weight
			length++
		}
	}
	n := float64(len(r.texts))
	r.mean = (r.mean*n + length) / (n + 1)
	r.texts, r.length = append(r.texts, counts), append(r.length, length)
}

// scores returns how much each text is about what is asked; 0 for not at all.
func (r *ranking) scores(asked string) []float64 {
	const k, b = 1.2, 0.75
	scores := make([]float64, len(r.texts))
	terms := words(asked)
	slices.Sort(terms)
	for _, w := range slices.Compact(terms) {
		n := float64(r.having[w])
		if n == 0 {
			continue
		}
		weight := math.Log(1 + (float64(len(r.texts))-n+0.5)/(n+0.5))
		for i, counts := range r.texts {
			if tf := counts[w]; tf > 0 {
				scores[i] += weight * tf * (k + 1) / (tf + k*(1-b+b*r.length[i]/r.mean))
			}
		}
	}
	return scores
}

// ordered returns the places of those that score at all, the best first; those that score alike in their order.
func ordered(scores []float64) []int {
	var places []int
	for i, s := range scores {
		if s > 0 {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return places
}

// words returns the words of a text that say what it is about, also those that a name is made of.
func words(text string) []string {
	var out []string
	var word []rune
	flush := func() {
		if w := stem(strings.ToLower(string(word))); len(word) > 1 && !idle[w] {
			out = append(out, w)
		}
		word = word[:0]
	}
	before := rune(0)
	for _, c := range text {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			flush()
		case unicode.IsUpper(c) && unicode.IsLower(before): // camelCase
			flush()
			word = append(word, c)
		default:
			word = append(word, c)
		}
		before = c
	}
	flush()
	return out
}

// stem takes off what most words of English have in the plural.
func stem(w string) string {
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		return w[:len(w)-1]
	}
	return w
}

// idle are words that say nothing of what a text is about.
var idle = map[string]bool{
	"the": true, "and": true, "or": true, "an": true, "of": true, "to": true, "in": true, "on": true, "for": true, "with": true, "is": true, "it": true,
	"be": true, "are": true, "this": true, "that": true, "when": true, "use": true, "user": true, "from": true, "by": true, "as": true, "at": true,
	"you": true, "your": true, "my": true, "me": true, "we": true, "do": true, "can": true, "please": true, "all": true, "any": true, "new": true, "thi": true,
}

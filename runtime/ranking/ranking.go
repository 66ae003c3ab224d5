package ranking

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
)

// The usual constants of BM25: how soon more of the same word counts for no more, and how much the
// length of a text does.
const (
	saturation = 1.2
	lengths    = 0.75
)

// Words returns the words of a text as they are compared: runs of letters, marks and digits, in lower case.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// Scores returns how well each text fits a query, from 0 (no word of the query is in it) to 1 (no
// text could fit better, among these).
func Scores(query string, texts []string) []float64 {
	scores := make([]float64, len(texts))
	wanted := map[string]bool{}
	for _, w := range Words(query) {
		wanted[w] = true
	}
	in, sizes, mean := counted(wanted, texts)
	best := 0.0
	for _, word := range slices.Sorted(maps.Keys(wanted)) { // sums of floats differ by their order
		weight := weightOf(word, in)
		best += weight * (saturation + 1)
		for i, counts := range in {
			if n := float64(counts[word]); n > 0 {
				scores[i] += weight * n * (saturation + 1) / (n + saturation*(1-lengths+lengths*sizes[i]/mean))
			}
		}
	}
	for i := range scores {
		scores[i] = within(scores[i], best)
	}
	return scores
}

// within returns a share of the best, from 0 to 1.
func within(score, best float64) float64 {
	if best == 0 {
		return 0
	}
	return min(1, max(0, score/best))
}

// counted returns how often each text has each word that is wanted, how long the texts are, and
// how long one is on average.
func counted(wanted map[string]bool, texts []string) (in []map[string]int, sizes []float64, mean float64) {
	for _, text := range texts {
		words, counts := Words(text), map[string]int{}
		for _, w := range words {
			if wanted[w] {
				counts[w]++
			}
		}
		in, sizes = append(in, counts), append(sizes, float64(len(words)))
		mean += float64(len(words)) / float64(len(texts))
	}
	return in, sizes, mean
}

// weightOf returns what a word counts for, which is more than nothing.
func weightOf(word string, in []map[string]int) float64 {
	have := 0.0
	for _, counts := range in {
		if counts[word] > 0 {
			have++
		}
	}
	return math.Log(1 + (float64(len(in))-have+0.5)/(have+0.5))
}

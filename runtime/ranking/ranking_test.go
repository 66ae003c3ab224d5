package ranking_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/runtime/ranking"
)

func TestWhatFitsBetterComesFirst(t *testing.T) {
	texts := []string{"The user likes tea.", "The user likes coffee, coffee and coffee.", "Nothing of it", "", "Straße TEA"}
	got := ranking.Scores("Tea", texts)
	if got[0] <= 0 || got[1] != 0 || got[2] != 0 || got[3] != 0 || got[4] <= got[0] {
		t.Errorf("%v: the shorter text with the word is the better one", got)
	}
	got = ranking.Scores("user coffee", texts)
	if got[1] <= got[0] || got[0] <= 0 {
		t.Errorf("%v: any word fits, and both fit better", got)
	}
	if got := ranking.Scores("...", texts); got[0] != 0 {
		t.Errorf("%v of a query without words", got)
	}
	if got := ranking.Scores("straße", texts); got[4] <= 0 {
		t.Errorf("%v", got)
	}
}

// Scores are from 0 to 1; a text has one above 0 exactly when it has a word of the query.
func TestScoresAreSharesOfTheBest(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "ä", "9"}), 0, 20), func(w []string) string { return strings.Join(w, " ") })
	rapid.Check(t, func(t *rapid.T) {
		query, texts := text.Draw(t, "query"), rapid.SliceOf(text).Draw(t, "texts")
		for i, score := range ranking.Scores(query, texts) {
			has := false
			for _, w := range ranking.Words(texts[i]) {
				has = has || strings.Contains(query, w)
			}
			if score < 0 || score > 1 || (score > 0) != has {
				t.Fatalf("%q has %v of %q", texts[i], score, query)
			}
		}
	})
}

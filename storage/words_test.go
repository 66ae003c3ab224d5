package storage_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/storage"
)

func TestWords(t *testing.T) {
	for value, want := range map[string]string{
		`"The sky, the SKY is blue!"`:                  "blue is sky the",
		`{"fact":"Blue","list":[1.5,"a",true,null]}`:   "1 5 a blue fact list",
		`"na\u00efve Stra\u00dfe \u00c4RGER"`:          "naïve straße ärger",
		`"東京タワー2"`:                                     "タ ワ ー2 京 東",
		`"snake_case kebab-case a.b@c"`:                "a b c case kebab snake",
		`""`:                                           "",
		`"broken`:                                      "",
		`["before", }`:                                 "before",
		`"` + strings.Repeat("x", 70) + `"`:            strings.Repeat("x", 64),
		`"` + strings.Repeat("\u00e4", 40) + `y"`:      strings.Repeat("\u00e4", 32),
		`"` + strings.Repeat("x", 63) + "\u00e4" + `"`: strings.Repeat("x", 63),
	} {
		if got := strings.Join(storage.Words([]byte(value)), " "); sorted(got) != sorted(want) {
			t.Errorf("%s has the words %q, want %q", value, got, want)
		}
	}
}

func sorted(words string) string {
	list := strings.Fields(words)
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestTerms(t *testing.T) {
	got := storage.Terms("Blue sk* blue, * 東京")
	want := []storage.Term{{Word: "blue"}, {Word: "sk", Prefix: true}, {Word: "東"}, {Word: "京"}}
	if !slices.Equal(got, want) {
		t.Errorf("Terms = %v, want %v", got, want)
	}
}

// FuzzWords checks that words are sorted, distinct, short, and found by looking for
// them.
func FuzzWords(f *testing.F) {
	f.Add(`"the sky"`)
	f.Add(`{"a":["\u0130","ﬀ",12e3]}`)
	f.Fuzz(func(t *testing.T, value string) {
		words := storage.Words([]byte(value))
		if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
			t.Fatalf("%q is not sorted and distinct", words)
		}
		for _, word := range words {
			if word == "" || len(word) > 64 || strings.ContainsRune(word, 0) {
				t.Fatalf("%q is no word", word)
			}
			terms := storage.Terms(word)
			if len(terms) != 1 || terms[0] != (storage.Term{Word: word}) {
				t.Fatalf("looking for %q asks for %v", word, terms)
			}
		}
	})
}

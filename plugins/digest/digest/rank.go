package digest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// How key sentences are chosen.
const (
	minTerms    = 5    // shorter sentences say too little by themselves
	maxTerms    = 60   // longer ones are hardly sentences
	maxRead     = 4000 // sentences that are looked at, of a document that has more
	maxRanked   = 120  // sentences that are compared with each other
	damping     = 0.85 // of TextRank
	rounds      = 20
	maxOverlap  = 0.5 // likeness at which a sentence repeats another
	leadBonus   = 0.2 // the beginning of a document says what it is about
	maxSentence = 600 // bytes
)

// candidate is a sentence that could be a key sentence.
type candidate struct {
	index int     // in the document
	terms []int32 // different ones, ascending
	norm  float64
	score float64
}

// vocabulary numbers the terms of a document and counts in how many sentences each
// is.
type vocabulary struct {
	ids  map[string]int32
	in   []int32
	last []int32 // the sentence that counted it last, so that it counts once
}

// keySentences returns up to n sentences that say most, in their order.
func keySentences(sentences []string, n int) []string {
	v := &vocabulary{ids: map[string]int32{}}
	candidates := v.candidates(sentences)
	weights := v.weights(min(len(sentences), maxRead))
	scoreByCentroid(candidates, weights, v.in, len(sentences))
	candidates = best(candidates, maxRanked)
	scoreByRank(candidates, weights)
	chosen := distinct(best(candidates, len(candidates)), weights, n)
	slices.SortFunc(chosen, byIndex)
	out := []string{}
	for _, c := range chosen {
		out = append(out, sentences[c.index])
	}
	return out
}

func byIndex(a, b candidate) int { return cmp.Compare(a.index, b.index) }

// candidates reads sentences into the vocabulary and returns those of a sensible
// length. Of a long document it reads some from every part. A sentence that is there
// twice is a candidate once.
func (v *vocabulary) candidates(sentences []string) []candidate {
	var out []candidate
	seen := map[string]bool{}
	step := max(1, (len(sentences)+maxRead-1)/maxRead)
	for i := 0; i < len(sentences); i += step {
		s := sentences[i]
		terms := v.terms(s, int32(i)+1)
		if len(terms) < minTerms || len(terms) > maxTerms || len(s) > maxSentence || seen[s] {
			continue
		}
		seen[s] = true
		out = append(out, candidate{index: i, terms: terms})
	}
	return out
}

// terms returns the different terms of a sentence: its words without stop words,
// and for unspaced scripts pairs of characters.
func (v *vocabulary) terms(sentence string, number int32) []int32 {
	var out []int32
	var lower []byte
	previous := ""
	eachWord(sentence, func(word string, single bool) {
		term := word
		if single {
			term, previous = previous+word, word
			if len(term) == len(word) {
				return
			}
		} else {
			previous = ""
			lower = appendTerm(lower[:0], word)
			if stopWord(lower) {
				return
			}
			term = string(lower)
		}
		if id := v.count(term, number); id >= 0 {
			out = append(out, id)
		}
	})
	slices.Sort(out)
	return out
}

// count numbers a term, and returns -1 if the sentence had it before.
func (v *vocabulary) count(term string, number int32) int32 {
	id, known := v.ids[term]
	if !known {
		id = int32(len(v.in))
		v.ids[strings.Clone(term)] = id
		v.in = append(v.in, 0)
		v.last = append(v.last, 0)
	}
	if v.last[id] == number {
		return -1
	}
	v.last[id] = number
	v.in[id]++
	return id
}

// appendTerm appends a word in lower case, without an English plural.
func appendTerm(b []byte, word string) []byte {
	for _, r := range word {
		if r < utf8.RuneSelf && r >= 'A' && r <= 'Z' {
			r |= 0x20
		}
		b = utf8.AppendRune(b, r)
	}
	if n := len(b); n > 3 && b[n-1] == 's' && b[n-2] != 's' && b[n-2] != 'u' && b[n-2] != 'i' {
		b = b[:n-1]
	}
	return b
}

// weights returns the inverse document frequency of each term.
func (v *vocabulary) weights(sentences int) []float64 {
	out := make([]float64, len(v.in))
	for id, n := range v.in {
		out[id] = math.Log(float64(sentences+1) / float64(n))
	}
	return out
}

// scoreByCentroid scores each candidate by its likeness to the document: the sum
// over its terms of how many other sentences share each, weighted, per
// logarithm of its length.
func scoreByCentroid(candidates []candidate, weights []float64, in []int32, sentences int) {
	for i := range candidates {
		c := &candidates[i]
		sum, norm := 0.0, 0.0
		for _, t := range c.terms {
			w := weights[t]
			sum += float64(w * w * float64(in[t]-1))
			norm += float64(w * w)
		}
		c.norm = math.Sqrt(norm)
		if norm > 0 {
			c.score = sum / math.Log(1+float64(len(c.terms))) * (1 + leadBonus/(1+10*float64(c.index)/float64(sentences)))
		}
	}
}

// best returns the n highest candidates, highest first.
func best(candidates []candidate, n int) []candidate {
	sorted := slices.Clone(candidates)
	slices.SortFunc(sorted, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), byIndex(a, b))
	})
	return sorted[:min(n, len(sorted))]
}

// scoreByRank replaces the scores by TextRank: a sentence is important when
// important sentences are like it. Where the walk begins follows the old scores.
func scoreByRank(candidates []candidate, weights []float64) {
	n := len(candidates)
	if n == 0 {
		return
	}
	likeness, out := similarities(candidates, weights)
	prior := make([]float64, n)
	total := 0.0
	for _, c := range candidates {
		total += c.score
	}
	for i, c := range candidates {
		prior[i] = 1 / float64(n)
		if total > 0 {
			prior[i] = c.score / total
		}
	}
	rank := slices.Clone(prior)
	for range rounds {
		next := make([]float64, n)
		for i := range n {
			sum := 0.0
			for j := range n {
				if out[j] > 0 {
					sum += float64(likeness[j*n+i] / out[j] * rank[j])
				}
			}
			next[i] = (1-damping)*prior[i] + damping*sum
		}
		rank = next
	}
	for i := range candidates {
		candidates[i].score = rank[i]
	}
}

// similarities returns the likeness of every two candidates, as TextRank has it, and
// the sum for each.
func similarities(candidates []candidate, weights []float64) (likeness, out []float64) {
	n := len(candidates)
	likeness, out = make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range i {
			a, b := &candidates[i], &candidates[j]
			s := common(a, b, weights) / (math.Log(float64(len(a.terms))) + math.Log(float64(len(b.terms))))
			likeness[i*n+j], likeness[j*n+i] = s, s
			out[i] += s
			out[j] += s
		}
	}
	return likeness, out
}

// similarity is the cosine of two sentences.
func similarity(a, b *candidate, weights []float64) float64 {
	if a.norm == 0 || b.norm == 0 {
		return 0
	}
	return common(a, b, weights) / (a.norm * b.norm)
}

// common is the weight of the terms that two sentences share.
func common(a, b *candidate, weights []float64) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(a.terms) && j < len(b.terms); {
		switch s, t := a.terms[i], b.terms[j]; {
		case s < t:
			i++
		case s > t:
			j++
		default:
			sum += float64(weights[s] * weights[s])
			i, j = i+1, j+1
		}
	}
	return sum
}

// distinct returns up to n of the candidates, without those that are much like a
// better one.
func distinct(candidates []candidate, weights []float64, n int) []candidate {
	var out []candidate
	for _, c := range candidates {
		repeats := slices.ContainsFunc(out, func(o candidate) bool { return similarity(&o, &c, weights) > maxOverlap })
		if !repeats && len(out) < n {
			out = append(out, c)
		}
	}
	return out
}

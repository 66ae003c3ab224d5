package plainly

import "iter"

// longestName is the longest name for which others are looked for: comparing takes as much as the
// product of the lengths.
const longestName = 128

// Nearest returns the candidate that differs least from a name, the first of several, and "" when
// none is near.
func Nearest(name string, candidates iter.Seq[string]) string {
	if len(name) > longestName {
		return ""
	}
	best, least := "", len(name)/2+1
	for candidate := range candidates {
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is how many letters to put in, take out, change, or swap with the next make one name
// the other.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

package journal

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Pretty returns JSON over several lines, and any other text as it is.
func Pretty(text []byte) string {
	v := jsontext.Value(text).Clone()
	if v.Indent(jsontext.WithIndent("  ")) != nil {
		return string(text)
	}
	return string(v)
}

// maxDiffLines bounds the sides of a diff: beyond it only the first differing
// line is told, so that no input makes a diff costly.
const maxDiffLines = 400

// Diff returns the lines of both texts: those of a alone marked "-", those of b
// alone "+", and what they share with a blank in front.
func Diff(a, b string) string {
	left, right := lines(a), lines(b)
	if len(left) > maxDiffLines || len(right) > maxDiffLines {
		left, right = firstDifference(left, right)
	}
	var out strings.Builder
	i, j := 0, 0
	common := longest(left, right)
	for i < len(left) || j < len(right) {
		switch {
		case i < len(left) && j < len(right) && left[i] == right[j]:
			out.WriteString(" " + left[i] + "\n")
			i, j = i+1, j+1
		case j == len(right) || i < len(left) && common[i+1][j] >= common[i][j+1]:
			out.WriteString("-" + left[i] + "\n")
			i++
		default:
			out.WriteString("+" + right[j] + "\n")
			j++
		}
	}
	return out.String()
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// longest returns the length of the longest common subsequence of a[i:] and b[j:].
func longest(a, b []string) [][]int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}

// firstDifference returns the few lines around the first ones that differ.
func firstDifference(a, b []string) ([]string, []string) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	from := max(0, n-3)
	return a[from:min(len(a), n+3)], b[from:min(len(b), n+3)]
}

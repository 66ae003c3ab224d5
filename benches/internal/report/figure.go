package report

import (
	"math"
	"slices"
)

// Figure is one quantity, measured once in each round.
type Figure struct {
	Unit    string    `json:"unit"`
	Median  float64   `json:"median"`
	Min     float64   `json:"min"`
	Max     float64   `json:"max"`
	Samples []float64 `json:"samples"`
}

// NewFigure summarizes samples, one a round, in the order of the rounds.
func NewFigure(unit string, samples []float64) Figure {
	f := Figure{Unit: unit, Samples: slices.Clone(samples)}
	if len(samples) == 0 {
		return f
	}
	f.Median, f.Min, f.Max = Median(samples), slices.Min(samples), slices.Max(samples)
	return f
}

// Spread is the distance from the smallest to the largest sample as a share of
// the median, 0 for a figure without one.
func (f Figure) Spread() float64 {
	if f.Median == 0 {
		return 0
	}
	return (f.Max - f.Min) / f.Median
}

// Median returns the middle of samples, the mean of the middle two if their
// number is even, and NaN if there are none. samples stays as it is.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(samples))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return (s[mid-1] + s[mid]) / 2
}

// Ratios divides samples pairwise: what one round measured by the ceiling that
// the same round measured.
func Ratios(what, ceiling []float64) []float64 {
	out := make([]float64, min(len(what), len(ceiling)))
	for i := range out {
		out[i] = what[i] / ceiling[i]
	}
	return out
}

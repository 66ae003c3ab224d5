package quota

import (
	"math"

	"github.com/wharf-dev/wharf/abi"
)

// Kind is what is counted.
type Kind int

// What is counted.
const (
	USD Kind = iota // in billionths
	InputTokens
	OutputTokens
	ToolCalls
	WallTime // in milliseconds
	Tasks
	Concurrent // a level, and no sum: windows leave it alone
	kinds
)

var names = [kinds]string{abi.QuotaUSD, abi.QuotaInputTokens, abi.QuotaOutputTokens, abi.QuotaToolCalls,
	abi.QuotaWallTimeMS, abi.QuotaTasks, abi.QuotaConcurrent}

// String returns the name that limits and usage have in a Quota.
func (k Kind) String() string { return names[k] }

// Amounts are so much of each kind, in whole units, so that sums are exact.
type Amounts [kinds]int64

// Rest stands for an amount that is not known beforehand: all that is left.
const Rest int64 = -1

// Add returns the sum of two amounts, which stops at the largest number there is.
func (a Amounts) Add(b Amounts) Amounts {
	for k := range a {
		sum := a[k] + b[k]
		if sum < 0 && a[k] > 0 && b[k] > 0 {
			sum = math.MaxInt64
		}
		a[k] = sum
	}
	return a
}

// Sub returns the difference, at least 0.
func (a Amounts) Sub(b Amounts) Amounts {
	for k := range a {
		a[k] = max(0, a[k]-b[k])
	}
	return a
}

// parts is what a unit of the kind is divided into.
func (k Kind) parts() float64 {
	if k == USD {
		return 1e9
	}
	return 1
}

// Whole returns the amount of a kind that a number stands for, rounded up; the
// largest for what is larger.
func (k Kind) Whole(n float64) int64 {
	n = math.Ceil(n*k.parts() - 1e-6) // what a double cannot say exactly is no part of its own
	switch {
	case !(n > 0):
		return 0
	case n >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(n)
}

// Number returns an amount of a kind as a number.
func (k Kind) Number(amount int64) float64 { return float64(amount) / k.parts() }

// Lookup returns the kind of a name; ok is false for a name that is none.
func Lookup(name string) (k Kind, ok bool) {
	for i, n := range names {
		if n == name {
			return Kind(i), true
		}
	}
	return 0, false
}

// Names lists the names of all kinds.
func Names() []string { return names[:] }

package share

import (
	"fmt"
	"os"
	"testing"
)

// Variable is the environment variable that names the share: 2/4 is the second of four.
// Without it a run does everything.
const Variable = "WHARF_SHARE"

// Of returns which parts of a test belong to this run's share, by their index.
func Of(t testing.TB) func(i int) bool {
	t.Helper()
	text := os.Getenv(Variable)
	if text == "" {
		return All
	}
	k, n, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return func(i int) bool { return i%n == k-1 }
}

// All is the share of a run that does every part.
func All(int) bool { return true }

// Skip skips a part that belongs to another run's share.
func Skip(t testing.TB, mine func(i int) bool, i int) {
	t.Helper()
	if !mine(i) {
		t.Skipf("belongs to another share than %s: without %s all shares run", os.Getenv(Variable), Variable)
	}
}

// Quarter skips a test that has no parts, and takes long for what it shows, in three runs of four. Which one does
// it follows from i: such tests take turns.
func Quarter(t testing.TB, i int) {
	t.Helper()
	mine := Of(t)
	Skip(t, func(i int) bool { return mine(i) || mine(i+4) }, i%4)
}

func parse(text string) (k, n int, err error) {
	if _, err := fmt.Sscanf(text+"\n", "%d/%d\n", &k, &n); err != nil || k < 1 || k > n {
		return 0, 0, fmt.Errorf("%s=%q: a share is written as 2/4, the second of four", Variable, text)
	}
	return k, n, nil
}

// Alone skips a test of one goroutine where -short asks for tests that the race detector
// learns from: it takes many times as long there, and everywhere else it runs.
func Alone(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("has one goroutine: the race detector learns nothing from it")
	}
}

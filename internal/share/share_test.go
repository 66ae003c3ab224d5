package share

import "testing"

// The shares of a number of runs leave nothing out and do nothing twice.
func TestSharesCoverEverything(t *testing.T) {
	did := make([]int, 10)
	for _, text := range []string{"1/4", "2/4", "3/4", "4/4"} {
		t.Setenv(Variable, text)
		mine := Of(t)
		for i := range did {
			if mine(i) {
				did[i]++
			}
		}
	}
	for i, n := range did {
		if n != 1 {
			t.Errorf("part %d was done %d times", i, n)
		}
	}
}

// A test that takes turns is done by two of eight runs, and by a developer's.
func TestQuarter(t *testing.T) {
	did := make([]int, 4)
	for _, text := range []string{"", "1/8", "2/8", "3/8", "4/8", "5/8", "6/8", "7/8", "8/8"} {
		t.Setenv(Variable, text)
		for i := range did {
			t.Run("part", func(t *testing.T) {
				Quarter(t, i)
				did[i]++
			})
		}
	}
	for i, n := range did {
		if n != 3 {
			t.Errorf("test %d was done %d times, want 3", i, n)
		}
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"0/4", "5/4", "1", "x/4", "1/4x", "-1/4", "1/0"} {
		if _, _, err := parse(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if k, n, err := parse("2/4"); k != 2 || n != 4 || err != nil {
		t.Errorf("2/4 is %d of %d, %v", k, n, err)
	}
}

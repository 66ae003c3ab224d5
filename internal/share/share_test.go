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

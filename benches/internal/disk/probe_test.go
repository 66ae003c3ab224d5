package disk

import (
	"os"
	"testing"
)

func TestAppendsLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	took, err := Appends(dir, 3)
	if err != nil || len(took) != 3 {
		t.Errorf("%v, %v", took, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v is left behind", left)
	}
}

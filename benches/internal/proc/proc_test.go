package proc

import (
	"errors"
	"os"
	"testing"
	"time"
)

func TestThisProcess(t *testing.T) {
	rss, err := RSS(os.Getpid())
	if errors.Is(err, ErrUnsupported) {
		t.Skip("there is no proc file system here")
	}
	if err != nil || rss < 1<<20 {
		t.Errorf("resident memory is %d, %v", rss, err)
	}
	if share, err := Share(os.Getpid()); err != nil || share < 1<<20 {
		t.Errorf("the share of resident memory is %d, %v", share, err)
	}
	if _, err := CPU(os.Getpid()); err != nil {
		t.Error(err)
	}
}

func TestStatLineWithAnAwkwardName(t *testing.T) {
	got, err := parseCPU("42 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 8 0 100")
	if err != nil || got != 2*time.Second {
		t.Errorf("processor time is %v, %v", got, err)
	}
	if _, err := parseCPU("42 (short) S 1"); err == nil {
		t.Error("a short line was accepted")
	}
}

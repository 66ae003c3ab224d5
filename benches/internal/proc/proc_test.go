package proc

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
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
	peak, err := Peak(os.Getpid())
	if err != nil || peak < rss {
		t.Errorf("the peak of resident memory is %d, %v", peak, err)
	}
	if _, err := CPU(os.Getpid()); err != nil {
		t.Error(err)
	}
}

func TestThePeakBeginsAnew(t *testing.T) {
	const large = 256 << 20
	touch := func() []byte {
		b := make([]byte, large)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		return b
	}
	runtime.KeepAlive(touch())
	debug.FreeOSMemory()
	if err := ResetPeak(os.Getpid()); errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	before, err := Peak(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(touch())
	debug.FreeOSMemory()
	if after, err := Peak(os.Getpid()); err != nil || after-before < large/2 {
		t.Errorf("the peak was %d and is %d, %v", before, after, err)
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

package confine

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// asGlutton makes the test's own binary take memory until it is killed.
const asGlutton = "WHARF_BENCH_TEST_GLUTTON"

func TestMain(m *testing.M) {
	if os.Getenv(asGlutton) != "" {
		glut()
		return
	}
	os.Exit(m.Run())
}

// glut takes 256 MiB.
func glut() {
	b := make([]byte, 256<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	os.Exit(int(b[0]) - 1)
}

func TestTheKernelEndsWhatTakesTooMuch(t *testing.T) {
	group, err := Memory(64 << 20)
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer group.Remove()
	args := append(group.Prefix(), os.Args[0])
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), asGlutton+"=1")
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the process ended with %v, not killed", err)
	}
}

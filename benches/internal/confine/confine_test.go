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

// glut waits for a byte and then takes 256 MiB.
func glut() {
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		os.Exit(3)
	}
	b := make([]byte, 256<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	os.Exit(int(b[0]) - 1)
}

func TestTheKernelEndsWhatTakesTooMuch(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asGlutton+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	release, err := Memory(cmd.Process.Pid, 64<<20)
	if errors.Is(err, ErrUnsupported) {
		cmd.Process.Kill()
		cmd.Wait()
		t.Skip(err)
	}
	defer func() { release() }()
	if _, err := in.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the process ended with %v, not killed", err)
	}
}

package ceiling

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/proc"
)

// Process is a ceiling's process: this program, run again.
type Process struct {
	Addr string // where it listens
	cmd  *exec.Cmd
	in   io.WriteCloser
}

// ready is what a ceiling's process prints before its address.
const ready = "ready "

// Start runs this program, a path, as a ceiling and waits until it listens. The
// process ends when its standard input does, hence with this one at the latest.
func Start(ctx context.Context, program string, args ...string) (*Process, error) {
	cmd := exec.CommandContext(ctx, program, append([]string{Command}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("connecting to the ceiling: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("connecting to the ceiling: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the ceiling: %w", err)
	}
	c := &Process{cmd: cmd, in: in}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.Stop()
		return nil, fmt.Errorf("waiting for the ceiling to listen: %w", err)
	}
	c.Addr = strings.TrimSpace(strings.TrimPrefix(line, ready))
	return c, nil
}

// Begin tells the process to do what it waits with.
func (c *Process) Begin() error {
	if _, err := io.WriteString(c.in, "begin\n"); err != nil {
		return fmt.Errorf("starting the ceiling's work: %w", err)
	}
	return nil
}

// CPU returns the processor time that the process has used.
func (c *Process) CPU() (time.Duration, error) { return proc.CPU(c.cmd.Process.Pid) }

// Stop ends the process.
func (c *Process) Stop() {
	c.in.Close()
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

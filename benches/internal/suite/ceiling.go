package suite

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

// server is a ceiling's process: this program, run again.
type server struct {
	addr string
	cmd  *exec.Cmd
	in   io.WriteCloser
}

// ready is what a ceiling's process prints before its address.
const ready = "ready "

// startCeiling runs this program as a ceiling and waits until it listens. The
// process ends when its standard input does, hence with this one at the latest.
func (s *Suite) startCeiling(ctx context.Context, args ...string) (*server, error) {
	cmd := exec.CommandContext(ctx, s.Self, append([]string{CeilingCommand}, args...)...)
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
	c := &server{cmd: cmd, in: in}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("waiting for the ceiling to listen: %w", err)
	}
	c.addr = strings.TrimSpace(strings.TrimPrefix(line, ready))
	return c, nil
}

// begin tells the process to do what it waits with.
func (c *server) begin() error {
	if _, err := io.WriteString(c.in, "begin\n"); err != nil {
		return fmt.Errorf("starting the ceiling's work: %w", err)
	}
	return nil
}

// cpu returns the processor time that the process has used.
func (c *server) cpu() (time.Duration, error) { return proc.CPU(c.cmd.Process.Pid) }

// stop ends the process.
func (c *server) stop() {
	c.in.Close()
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

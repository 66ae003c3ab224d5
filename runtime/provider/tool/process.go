package tool

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"time"
)

// How long a process gets to end when its input has ended, and again when it was
// told to.
const grace = 2 * time.Second

// process is a child that speaks over its standard input and output. It is reaped
// whenever it ends.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	done   chan struct{} // closed when it was reaped, and all that it said was logged
}

// startProcess starts cmd. What it writes to standard error is logged.
func startProcess(cmd *exec.Cmd, log func(line string)) (*process, error) {
	theirIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	stdout, theirOut, err := os.Pipe()
	if err != nil {
		closeAll(theirIn, stdin)
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	lines, stderr := io.Pipe()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, stderr
	cmd.WaitDelay = grace // of what it left behind and holds its standard error
	ownGroup(cmd)
	err = cmd.Start()
	closeAll(theirIn, theirOut)
	if err != nil {
		closeAll(stdin, stdout)
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	p := &process{cmd: cmd, stdin: stdin, stdout: stdout, done: make(chan struct{})}
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		logLines(lines, log)
	}()
	go func() {
		_ = cmd.Wait()
		_ = stderr.Close()
		<-logged
		// What it wrote last is still read; but what it left behind may hold the pipe.
		_ = stdout.SetReadDeadline(time.Now().Add(grace))
		close(p.done)
	}()
	return p, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// maxLine is the longest line of standard error that is logged.
const maxLine = 4 << 10

func logLines(r io.Reader, log func(string)) {
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, _, err := lines.ReadLine()
		if err != nil {
			_, _ = io.Copy(io.Discard, r)
			return
		}
		log(string(line))
	}
}

// stop ends the process: it closes its input, asks it to end, and kills it with
// what it started. When it returns the process was reaped.
func (p *process) stop(log *slog.Logger) {
	_ = p.stdin.Close()
	defer p.stdout.Close()
	if p.gone(grace) {
		return
	}
	terminate(p.cmd)
	if p.gone(grace) {
		return
	}
	log.Warn("a server of tools did not end and was killed", "pid", p.cmd.Process.Pid)
	kill(p.cmd)
	<-p.done
}

func (p *process) gone(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

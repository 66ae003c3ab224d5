package program

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Command is what is run.
type Command struct {
	Argv    []string
	Dir     string            // "" for the folder for temporary files
	Env     map[string]string // beside what every program may need
	Stdin   string
	Timeout time.Duration
	Most    int // bytes that are kept of each output; the rest is dropped
}

// Ended is how a command ended.
type Ended struct {
	ExitCode       int
	Signal         string // that ended it; "" when it ended by itself
	Stdout, Stderr string
	Truncated      bool // not all that it wrote is here
	TimedOut       bool // it was killed, with what it had started
}

// Exec runs a command and returns how it ended. The error says that it was not started, or is the
// cause of ctx's end, with which it is killed.
func Exec(ctx context.Context, c *Command) (*Ended, error) {
	within, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	var e Ended
	out, complaint := &bounded{left: c.Most, over: func() {}}, &bounded{left: c.Most, over: func() {}}
	cmd := exec.CommandContext(within, c.Argv[0], c.Argv[1:]...)
	cmd.Env = Environment(os.Environ())
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(c.Env[name], 0) {
			return nil, errors.New("the environment has names without =, and no bytes 0")
		}
		cmd.Env = append(cmd.Env, name+"="+c.Env[name])
	}
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, strings.NewReader(c.Stdin), out, complaint
	if cmd.Dir == "" {
		cmd.Dir = os.TempDir()
	}
	cmd.WaitDelay = time.Second // of what it left behind and holds its output
	ownGroup(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if cmd.ProcessState == nil {
		return nil, fmt.Errorf("the command was not started: %w", err)
	}
	killGroup(cmd) // what it left behind
	e.ExitCode, e.Signal = cmd.ProcessState.ExitCode(), signalOf(cmd.ProcessState)
	e.Stdout, e.Stderr = out.valid(), complaint.valid()
	e.Truncated, e.TimedOut = out.dropped || complaint.dropped, within.Err() != nil
	return &e, nil
}

// valid returns what was written, as text.
func (b *bounded) valid() string { return strings.ToValidUTF8(b.text.String(), "\uFFFD") }

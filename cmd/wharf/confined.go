package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// confinedEnv tells a process that it is one that is watched.
const confinedEnv = "WHARF_CONFINED"

const (
	defaultMaxMemory = 4096 // MiB: room for the largest records and modules that are right
	defaultTimeout   = 10 * time.Minute
	// looks is how often the memory of a process is looked at: it can grow by some tens
	// of MB between two.
	looks = 20 * time.Millisecond
)

// bounds are what a process that handles what a stranger has written may take.
type bounds struct {
	memory  int64 // in MiB
	timeout time.Duration
}

// outOfBounds says that such a process was ended.
type outOfBounds struct{ what, flag string }

func (e *outOfBounds) Error() string {
	return fmt.Sprintf("it was ended, for it took more than %s: what it was given is hostile or very large", e.what)
}

// confine has a command that handles modules and records of strangers run in a process of
// its own, which is ended when it takes too much memory or time. What it prints and its
// exit codes stay the same.
func (a *app) confine(cmd *cobra.Command) *cobra.Command {
	var b bounds
	cmd.Flags().Int64Var(&b.memory, "max-memory", defaultMaxMemory, "MiB of memory that it may take; on Linux it is ended beyond that")
	cmd.Flags().DurationVar(&b.timeout, "timeout", defaultTimeout, "time that it may take")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.env(confinedEnv) != "" {
			return run(cmd, args)
		}
		if b.memory < 1 || b.timeout <= 0 {
			return usagef("--max-memory and --timeout must be above 0")
		}
		return a.runConfined(cmd.Context(), b)
	}
	return cmd
}

// mostFor returns what a run may have whose record somebody else has made: half of the
// memory that the process may take. Time bounds the rest.
func mostFor(cmd *cobra.Command) sandbox.Limits {
	memory, _ := cmd.Flags().GetInt64("max-memory") // confine has declared it
	return sandbox.Limits{MemoryBytes: uint64(memory) << 20 / 2}
}

// adviseCapped says by which flag a run may have more.
func adviseCapped(err error) error {
	if _, ok := errors.AsType[*replay.Capped](err); ok {
		return fmt.Errorf("%w (a run gets half of --max-memory)", err)
	}
	return err
}

// runConfined runs this very command again in a process that it watches.
func (a *app) runConfined(ctx context.Context, b bounds) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, b.timeout, &outOfBounds{b.timeout.String(), "--timeout"})
	defer stop()
	child := exec.CommandContext(ctx, program)
	child.Args = append(os.Args[:1:1], a.args...)
	child.Stdin, child.Stdout, child.Stderr = a.stdin, a.stdout, a.stderr
	child.Env = append(os.Environ(), confinedEnv+"=1", fmt.Sprintf("GOMEMLIMIT=%dMiB", max(1, b.memory*3/4)))
	if err := child.Start(); err != nil {
		return fmt.Errorf("starting a process: %w", err)
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchMemory(ctx, child.Process.Pid, b.memory<<20, func() {
			cancel(&outOfBounds{show.Bytes(b.memory << 20), "--max-memory"})
		})
	}()
	err = child.Wait()
	cause := context.Cause(ctx)
	cancel(nil)
	<-watched
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil
	case cause != nil:
		return adviseBounds(cause)
	case errors.As(err, &ended) && ended.ExitCode() >= 0:
		return &silentError{ended.ExitCode()}
	}
	return fmt.Errorf("running in a process of its own: %w", err)
}

func adviseBounds(err error) error {
	if over, ok := errors.AsType[*outOfBounds](err); ok {
		return advise(err, "a larger "+over.flag+", if you trust who made it")
	}
	return err
}

// watchMemory calls over, once, when a process has more memory than so many bytes, where
// that can be told. It returns when ctx ends.
func watchMemory(ctx context.Context, pid int, most int64, over func()) {
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if resident(pid) > most {
			over()
			return
		}
	}
}

package tool

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// ErrTooLarge says that a program has written more than it may.
var ErrTooLarge = errors.New("it writes more than is taken")

// RunProgram runs a program, with input on its standard input, and returns what it has written to
// its standard output, of which most bytes are taken. It gets no more of the node's environment
// than every program needs, and ends, with what it has started, when ctx does.
func RunProgram(ctx context.Context, words []string, input []byte, most int) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &bounded{most: most, over: func() { cancel(ErrTooLarge) }}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.WaitDelay = needed(os.Environ()), bytes.NewReader(input), out, grace
	ownGroup(cmd)
	cmd.Cancel = func() error {
		kill(cmd)
		return nil
	}
	err := cmd.Run()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return out.text.Bytes(), err
}

// needed returns of an environment what every program needs.
func needed(environ []string) []string {
	env := []string{} // not nil: that would be all of the node's
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(passedOn, strings.ToUpper(name)) {
			env = append(env, entry)
		}
	}
	return env
}

// bounded keeps what is written to it, and says when that is too much.
type bounded struct {
	text bytes.Buffer
	most int
	over func()
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > b.most {
		b.over()
		return 0, ErrTooLarge
	}
	return b.text.Write(p)
}

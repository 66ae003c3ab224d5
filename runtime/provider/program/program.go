package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// ErrTooLong says that a program has answered more than it may.
var ErrTooLong = errors.New("the program has answered more than it may")

// maxTold is how much of what a program complains of is told.
const maxTold = 512

// Run runs a program and returns what it writes to its standard output, at most so many bytes.
// ctx bounds its time.
func Run(ctx context.Context, command []string, stdin []byte, most int) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out, complaint := &bounded{left: most, over: func() { cancel(ErrTooLong) }}, &bounded{left: maxTold, over: func() {}}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = bytes.NewReader(stdin), out, complaint, Environment(os.Environ())
	cmd.WaitDelay = time.Second // of what it left behind and holds its output
	ownGroup(cmd)
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("%w: %s", err, strings.ToValidUTF8(strings.TrimSpace(complaint.text.String()), "\uFFFD"))
	}
	return out.text.Bytes(), nil
}

// passedOn are the variables that every program may need, and that hold no secrets.
var passedOn = []string{"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER",
	"APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", "WINDIR"}

// Environment returns of an environment what every program may need. It is never nil, which would
// be all of the node's.
func Environment(environ []string) []string {
	env := []string{}
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); slices.Contains(passedOn, strings.ToUpper(name)) {
			env = append(env, entry)
		}
	}
	return env
}

// bounded keeps the first bytes that are written to it, and drops the rest.
type bounded struct {
	text bytes.Buffer // not embedded: it would be read into without a bound
	left int
	over func() // called when something is dropped

	dropped bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.left)]
	if len(kept) < len(p) {
		b.dropped = true
		b.over()
	}
	b.left -= len(kept)
	_, err := b.text.Write(kept)
	return len(p), err
}

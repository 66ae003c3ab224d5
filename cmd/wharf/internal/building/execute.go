package building

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// maxSaid is how much of what a toolchain says is kept: its end.
	maxSaid = 256 << 10
	// lingering is how long a toolchain that was stopped may hold its output open.
	lingering = 3 * time.Second
)

// execute has a command done in the project's folder, by a compiler that stays if there can be one.
func (p *Plan) execute(ctx context.Context, command []string, o Options) ([]byte, error) {
	if o.Resident == nil || p.resident == "" {
		return p.spawn(ctx, command, o)
	}
	c, err := o.Resident.compile(ctx, p.resident, p.folder, command[1:])
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return p.spawn(ctx, command, o)
	case c.Failed:
		return nil, &CompileError{Command: p.Command, Output: c.Said}
	}
	if o.Output != nil {
		_, err = io.WriteString(o.Output, c.Said)
	}
	return nil, err
}

// spawn runs a command in the project's folder and returns what it writes to its standard output.
func (p *Plan) spawn(ctx context.Context, command []string, o Options) ([]byte, error) {
	program := command[0]
	if p.program != "" {
		program = p.program
	}
	if p.own && strings.ContainsAny(program, `/\`) && !filepath.IsAbs(program) {
		program = filepath.Join(p.folder, program)
	}
	cmd := exec.CommandContext(ctx, program, command[1:]...)
	cmd.Dir, cmd.WaitDelay = p.folder, lingering
	cmd.Env = append(os.Environ(), p.Environment...)
	said, stdout := &tail{}, &bytes.Buffer{}
	var errs io.Writer = said
	if o.Output != nil {
		errs = io.MultiWriter(said, o.Output)
	}
	cmd.Stderr, cmd.Stdout = errs, errs
	if p.find != nil { // the program tells us something there, and people what they should know on the other
		cmd.Stdout = stdout
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if _, ran := errors.AsType[*exec.ExitError](err); ran {
		if said.text() == "" {
			return nil, &CompileError{Command: p.Command, Output: fmt.Sprintf("%s ended with %v, and said nothing", quoted(command[:1]), err)}
		}
		return nil, &CompileError{p.Command, said.text(), o.Output != nil}
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return nil, &Missing{What: fmt.Sprintf("there is no program %s", quoted(command[:1])), Get: []string{"to install it, or another build.command in the manifest"}}
	}
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", quoted(command[:1]), err)
	}
	return stdout.Bytes(), nil
}

// tail keeps the end of what is written to it.
type tail struct {
	kept []byte
	cut  bool
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - maxSaid; over > maxSaid {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	return len(b), nil
}

func (t *tail) text() string {
	text := t.kept
	if over := len(text) - maxSaid; over > 0 || t.cut {
		return "…" + strings.ToValidUTF8(string(text[max(0, over):]), "\ufffd")
	}
	return strings.ToValidUTF8(string(text), "\ufffd")
}

// ask runs a program that answers quickly, and returns what it writes.
func ask(ctx context.Context, folder string, command ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.WaitDelay = folder, lingering
	out, err := cmd.Output()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && len(ended.Stderr) > 0 {
		return out, &CompileError{Command: command, Output: string(ended.Stderr)}
	}
	if err != nil {
		return out, fmt.Errorf("running %s: %w", quoted(command[:1]), err)
	}
	return out, nil
}

package hosts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// The most of a terminal's output that is asked for, and what is asked for where nobody says.
const (
	maxOutput     = 1 << 20
	defaultOutput = 64 << 10
)

// releaseTime is how long a client gets to create or release a terminal that nobody waits for any
// more.
const releaseTime = 30 * time.Second

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type createParams struct {
	SessionID string     `json:"sessionId"`
	Command   string     `json:"command"`
	Args      []string   `json:"args,omitzero"`
	Env       []variable `json:"env,omitzero"`
	Cwd       string     `json:"cwd,omitzero"`
	Limit     int        `json:"outputByteLimit"`
}

// terminal names one for the client.
type terminal struct {
	SessionID  string `json:"sessionId"`
	TerminalID string `json:"terminalId"`
}

type exit struct {
	ExitCode *int64  `json:"exitCode"`
	Signal   *string `json:"signal"`
}

// ran is what plugins are told of a command.
type ran struct {
	Output    string  `json:"output"`
	Truncated bool    `json:"truncated"`
	ExitCode  *int64  `json:"exit_code"`
	Signal    *string `json:"signal"`
}

// runTerminal runs a command in a terminal of the client's. The terminal is released, with whatever
// runs in it, when the command has ended and when nobody waits for it any more.
func runTerminal(ctx context.Context, h *Host, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	p, err := readCommand(arguments)
	if err != nil {
		return nil, err
	}
	p.SessionID = h.client.SessionID
	t, err := h.createTerminal(ctx, p)
	if err != nil {
		return failed(ctx, err, abi.ToolRunTerminal, false)
	}
	defer h.release(context.WithoutCancel(ctx), t)
	ended, err := askFor[exit](ctx, h, "terminal/wait_for_exit", t)
	if err != nil {
		return failed(ctx, err, abi.ToolRunTerminal, false)
	}
	out, err := askFor[struct {
		Output    string `json:"output"`
		Truncated bool   `json:"truncated"`
	}](ctx, h, "terminal/output", t)
	if err != nil {
		return failed(ctx, err, abi.ToolRunTerminal, false)
	}
	if cut := len(out.Output) - p.Limit; cut > 0 { // a client need not know the limit
		out.Output, out.Truncated = strings.ToValidUTF8(out.Output[cut:], ""), true
	}
	r := ran{out.Output, out.Truncated, ended.ExitCode, ended.Signal}
	return structured(r, r.words())
}

// words tells a model how a command ended, and what it wrote.
func (r *ran) words() string {
	how := "The command ended."
	switch {
	case r.Signal != nil:
		how = "The command was ended by the signal " + *r.Signal + "."
	case r.ExitCode != nil:
		how = fmt.Sprintf("The command ended with exit code %d.", *r.ExitCode)
	}
	if r.Truncated {
		how += " Of its output this is the end:"
	}
	return how + "\n" + r.Output
}

func readCommand(arguments jsontext.Value) (*createParams, error) {
	a, err := read[struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Cwd     string            `json:"cwd"`
		Env     map[string]string `json:"env"`
		Limit   *int              `json:"output_byte_limit"`
	}](arguments)
	if err == nil && a.Cwd != "" {
		err = checkPath("cwd", a.Cwd)
	}
	switch {
	case err != nil:
		return nil, err
	case a.Command == "":
		return nil, invalid("command is missing")
	case a.Limit != nil && *a.Limit < 1:
		return nil, invalid("output_byte_limit is at least 1")
	}
	p := &createParams{Command: a.Command, Args: a.Args, Cwd: a.Cwd, Limit: defaultOutput}
	if a.Limit != nil {
		p.Limit = min(*a.Limit, maxOutput)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(a.Env[name], 0) {
			return nil, invalid("env has names without =, and no bytes 0")
		}
		p.Env = append(p.Env, variable{name, a.Env[name]})
	}
	return p, nil
}

// createTerminal creates a terminal. One that the client creates after nobody waits for it any more is
// released at once.
func (h *Host) createTerminal(ctx context.Context, p *createParams) (terminal, error) {
	type made struct {
		t   terminal
		err error
	}
	done := make(chan made, 1)
	go func() {
		within, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), releaseTime, errSilent)
		defer cancel()
		got, err := askFor[struct {
			ID string `json:"terminalId"`
		}](within, h, "terminal/create", p)
		if err == nil && got.ID == "" {
			err = &unreadable{"terminal/create", fmt.Errorf("it names no terminal")}
		}
		done <- made{terminal{h.client.SessionID, got.ID}, err}
	}()
	select {
	case m := <-done:
		return m.t, m.err
	case <-ctx.Done():
		go func() {
			if m := <-done; m.err == nil {
				h.release(context.WithoutCancel(ctx), m.t)
			}
		}()
		return terminal{}, context.Cause(ctx)
	}
}

// release has the client end what runs in a terminal, and forget it.
func (h *Host) release(ctx context.Context, t terminal) {
	ctx, cancel := context.WithTimeoutCause(ctx, releaseTime, errSilent)
	defer cancel()
	if _, err := h.ask(ctx, "terminal/release", t); err != nil && h.life.Err() == nil {
		h.all.cfg.Log.Warn("a client has not released a terminal", "session", h.client.Session, "error", cmp.Or(context.Cause(ctx), err))
	}
}

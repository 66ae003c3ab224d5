package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) agentRunCommand() *cobra.Command {
	var harness, session, model string
	return a.node(page{
		use: "run PATH|AGENT TEXT", short: "Have an agent do something, and show what it says",
		long: `Run brings in the agent of a folder or a zip, in place of what was brought in of it
before, or takes one that is there by its id, key or name. What the agent says comes to
standard output while it says it; the tools that it calls, and what it waits for, to
standard error. On a terminal it is asked there what the agent wants to know.

With --json each event is a line. The exit code is 0 when the execution is completed,
and 1 when it failed or was canceled.`,
		example: `  wharf agent run ./my-agent "What is new?"
  wharf agent run my-agent "And then?" --session sess_01K0...`,
		args: twoArgs("the path of an agent or its id, and what to do"),
		flags: func(f *pflag.FlagSet) {
			harnessFlag(f, &harness)
			f.StringVar(&session, "session", "", "the Session to go on with (default a new one)")
			f.StringVar(&model, "model", "", "the model to ask, by the node's name for it")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		agent, err := agentOf(ctx, c, harness, args[0])
		if err != nil {
			return err
		}
		begun, err := client.Do[begunExecution](ctx, c, client.Post(executeRequest{args[1], agent, session, model}, "/v1/harnesses/{}/execute", harness))
		if err != nil {
			return err
		}
		w := showing{app: a, client: c, harness: harness, id: begun.Value.ID, notes: show.NewScreen(a.stderr, a.color, a.env)}
		return w.follow(ctx)
	}))
}

type executeRequest struct {
	Message string `json:"message"`
	Agent   string `json:"agent_id,omitzero"`
	Session string `json:"session_id,omitzero"`
	Model   string `json:"model,omitzero"`
}

type begunExecution struct {
	ID string `json:"execution_id"`
}

// told is an event of an execution.
type told struct {
	Type    string `json:"type"`
	Content string `json:"content"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Error   string `json:"error"`
	Waiting *struct {
		Prompt    string `json:"prompt"`
		RequestID string `json:"request_id"`
	} `json:"waiting"`
}

// showing shows an execution.
type showing struct {
	*app
	client      *client.Client
	harness, id string
	notes       *show.Screen
	open        bool // a line of text has begun
	failed      bool
	answers     *bufio.Reader
}

func (w *showing) follow(ctx context.Context) error {
	const path = "/v1/harnesses/%s/executions/%s/stream"
	for event, err := range w.client.Told(ctx, fmt.Sprintf(path, w.harness, w.id)) {
		if err != nil {
			return err
		}
		var t told
		if err := json.Unmarshal(event, &t); err != nil {
			return fmt.Errorf("reading an event: %w", err)
		}
		if err := w.print(event, func() { w.show(&t) }); err != nil {
			return err
		}
		w.failed = w.failed || t.Type == "error"
		if err := w.answer(ctx, &t); err != nil {
			return err
		}
	}
	w.endLine()
	if w.failed {
		return &silentError{exitFailed}
	}
	return nil
}

func (w *showing) show(t *told) {
	switch {
	case t.Type == "text":
		w.out.Printf("%s", show.Clean(t.Content))
		w.open = true
	case t.Type == "tool_call_start":
		w.note("calls ", t.Name)
	case t.Type == "tool_result" && t.Error != "":
		w.note("the tool failed: ", t.Error)
	case t.Type == "error":
		w.note(w.notes.Paint(show.Red, "failed"), ": ", t.Message)
	case t.Waiting != nil:
		w.note(w.notes.Paint(show.Yellow, "waits"), ": ", t.Waiting.Prompt)
	}
}

func (w *showing) note(parts ...string) {
	w.endLine()
	w.notes.Line(parts...)
}

func (w *showing) endLine() {
	if w.open {
		w.out.Gap()
	}
	w.open = false
}

// answer asks on the terminal, if there is one, what an execution waits for.
func (w *showing) answer(ctx context.Context, t *told) error {
	in, ok := w.stdin.(*os.File)
	if t.Waiting == nil || !ok || !term.IsTerminal(int(in.Fd())) {
		return nil
	}
	if w.answers == nil {
		w.answers = bufio.NewReader(in)
	}
	w.notes.Printf("> ")
	line, err := w.answers.ReadString('\n')
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return w.client.Send(ctx, client.Post(map[string]string{"data": line[:len(line)-1]}, "/v1/harnesses/{}/executions/{}/input", w.harness, w.id))
}

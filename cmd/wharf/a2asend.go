package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
)

// a2aMessage is what the flags of "a2a send" say.
type a2aMessage struct {
	at      peerFlags
	message agent.Message
	wait    time.Duration
	noWait  bool
}

func (a *app) a2aSendCommand() *cobra.Command {
	var m a2aMessage
	return a.peerCommand(page{
		use: "send URL|NAME TEXT", short: "Send a message to an agent, and show what comes of it",
		long: `Send sends TEXT, or what standard input holds when it is "-". What the agent says, and
the texts that it makes, come to standard output as they come; how its task stands, to
standard error. On a terminal it is asked there what the agent wants to know; elsewhere
the command ends, and says how to answer with --task.

It waits for the end of the task, or for as long as --wait says; the task goes on. With
--no-wait it says no more than which task that is. A message that is sent again with its
--message-id is the same message.

With --json each thing that the agent tells is a line. The exit code is 0 when the task is
completed or waits for an answer, 1 when it failed or was canceled or rejected, and 5 when
the time of --wait was up.`,
		example: `  wharf a2a send https://agent.example.com "When is high water?"
  cat report.md | wharf a2a send http://127.0.0.1:8080 -
  wharf a2a send coder "And the other one?" --context 7f3b...
  wharf a2a send coder "yes" --task task_01K0...`,
		args: twoArgs(aPeer + ", and a text between quotes"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&m.message.ContextID, "context", "", "the context to go on with (default a new one)")
			f.StringVar(&m.message.TaskID, "task", "", "the task to answer, or to tell something")
			f.StringVar(&m.message.ID, "message-id", "", "the id of the message (default a new one)")
			f.DurationVar(&m.wait, "wait", 0, "wait so long (default until the task has ended)")
			f.BoolVar(&m.noWait, "no-wait", false, "do not wait: say which task it is")
		},
		check: func(*cobra.Command, []string) error {
			switch {
			case m.wait < 0:
				return usagef("--wait cannot be negative")
			case m.noWait && m.wait > 0:
				return usagef("give --wait or --no-wait")
			}
			return nil
		},
	}, &m.at, func(cmd *cobra.Command, args []string) error { return a.a2aSend(cmd.Context(), &m, args[0], args[1]) })
}

func (a *app) a2aSend(ctx context.Context, m *a2aMessage, at, text string) error {
	given := submission{text: text}
	if err := a.readText(&given); err != nil {
		return err
	}
	m.message.Text, m.message.ID = given.text, cmp.Or(m.message.ID, rand.Text())
	p, err := m.at.peer(a, at)
	if err != nil {
		return err
	}
	defer p.Close()
	card, err := p.Card(ctx, "")
	if err != nil {
		return peerFailed(err)
	}
	t := talking{app: a, peer: p, card: card, at: at, notes: show.NewScreen(a.stderr, a.color, a.env), shown: map[string]bool{}}
	if m.noWait {
		return t.say(ctx, &m.message)
	}
	if m.wait > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, m.wait, errTimeUp)
		defer cancel()
	}
	return t.converse(ctx, &m.message)
}

// talking shows what an agent says.
type talking struct {
	*app
	peer    *agent.Peer
	card    *agent.Card
	at      string
	notes   *show.Screen
	last    *agent.Update
	shown   map[string]bool // texts that were shown: an agent may tell one thing in several ways
	state   string
	open    bool // a line of text has begun
	answers *bufio.Reader
}

// say sends a message and shows which task it is.
func (t *talking) say(ctx context.Context, m *agent.Message) error {
	all, err := t.peer.Say(ctx, t.card, m)
	if err != nil {
		return peerFailed(err)
	}
	for u := range all {
		t.hear(u)
	}
	t.endLine()
	if t.last.TaskID != "" && !t.json {
		t.out.Line(show.OneLine(t.last.TaskID))
	}
	return nil
}

// converse sends a message, and what the person at the terminal answers.
func (t *talking) converse(ctx context.Context, m *agent.Message) error {
	for {
		for u, err := range t.peer.Talk(ctx, t.card, m) {
			if err != nil {
				t.endLine()
				return t.broken(err)
			}
			t.hear(u)
		}
		t.endLine()
		if !t.last.Waits() {
			break
		}
		answer, err := t.ask()
		if answer == "" || err != nil {
			return err
		}
		m = &agent.Message{ID: rand.Text(), Text: answer, ContextID: t.last.ContextID, TaskID: t.last.TaskID}
	}
	if !t.last.Completed() {
		return &silentError{exitFailed}
	}
	return nil
}

// broken says what to do about an error while an agent was listened to.
func (t *talking) broken(err error) error {
	if errors.Is(err, errTimeUp) {
		if t.last != nil && t.last.TaskID != "" {
			t.notes.Line("the task ", show.OneLine(t.last.TaskID), " has not ended, and goes on")
		}
		return &silentError{exitTimeUp}
	}
	return peerFailed(err)
}

// hear shows one thing that an agent tells.
func (t *talking) hear(u *agent.Update) {
	first := t.last == nil
	t.last = u
	if t.json {
		if u.JSON != nil {
			t.out.JSON(u.JSON)
		}
		return
	}
	if first && u.TaskID != "" {
		t.note("task ", show.OneLine(u.TaskID), "  context ", show.OneLine(u.ContextID))
	}
	switch {
	case u.Progress:
		t.note("  ", show.OneLine(textOf(u.Content)))
	case u.Waits():
		t.note(t.notes.Paint(show.Yellow, "waits"), ": ", show.OneLine(textOf(u.Content)))
	default:
		t.content(u)
	}
	if u.State == t.state || u.State == "" || u.Waits() {
		return
	}
	t.state = u.State
	style := show.Green
	if u.Over() && !u.Completed() {
		style = show.Red
	}
	if u.Over() {
		t.note(t.notes.Paint(style, u.State))
	} else {
		t.note(u.State)
	}
}

// content shows texts, and names what is none. Of data there is a text where nothing else was said.
func (t *talking) content(u *agent.Update) {
	for i := range u.Content {
		c := &u.Content[i]
		text, known := c.Text, cmp.Or(c.URI, c.Text)
		if c.Type != "text" {
			text = "[" + strings.Join(strings.Fields(show.OneLine(fmt.Sprintf("%s %s %s", u.Name, c.MimeType, c.URI))), " ") + sized(c) + "]"
		}
		if text == "" || i > 0 && strings.HasPrefix(text, "{") || known != "" && t.shown[known] && !u.More {
			continue
		}
		t.shown[known] = true
		if !u.More {
			t.endLine()
		}
		t.out.Printf("%s", show.Clean(text))
		t.open = !strings.HasSuffix(text, "\n")
	}
}

func sized(c *abi.ToolContent) string {
	if len(c.Data) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d bytes", len(c.Data))
}

func textOf(all []abi.ToolContent) string {
	var texts []string
	for _, c := range all {
		if c.Text != "" {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, " ")
}

func (t *talking) note(parts ...string) {
	t.endLine()
	t.notes.Line(parts...)
}

func (t *talking) endLine() {
	if t.open {
		t.out.Gap()
	}
	t.open = false
}

// ask asks on the terminal what an agent wants to know, and elsewhere says how to answer; "" for no
// answer.
func (t *talking) ask() (string, error) {
	in, ok := t.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || t.json {
		if !t.json {
			t.notes.Pairs([2]string{"answer it", fmt.Sprintf("%s a2a send %s TEXT --task %s", self(), t.at, show.OneLine(t.last.TaskID))})
		}
		return "", nil
	}
	if t.answers == nil {
		t.answers = bufio.NewReader(in)
	}
	t.notes.Printf("> ")
	line, err := t.answers.ReadString('\n')
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	return strings.TrimSpace(line), nil
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
)

// submission is what the flags and arguments of a submit say.
type submission struct {
	text, file, session, workspace, persona, skill, key string
	jsonInput, follow                                   bool
	wait, deadline                                      time.Duration

	run  abi.RunOptions
	heat string // the temperature
}

func (a *app) taskSubmitCommand() *cobra.Command {
	var s submission
	return a.node(page{
		use:   "submit [TEXT | -]",
		short: "Submit a Task",
		long: `Submit sends a Task: TEXT, or what standard input holds when it is "-", or the
file that --file names, or both text and file. It returns as soon as the node
has the Task on disk; --wait waits for its end, --follow shows its events too.

A file of text of up to 256 KiB goes into the Task; anything else is uploaded as
an Artifact that the Task refers to. With --json-input the input is the JSON
object given instead of a Message.

Without --session the Task gets a Session of its own, in --workspace or else in
the Workspace that was made first. An --idempotency-key makes it safe to send
the same submit twice: the second is answered with the first's Task.

--skill names a Skill, by its name or its id: its Persona runs the Task, whose input
is held against the Skill's schema before it is accepted, and what it gives out
against the other. A text is the member "text" of such an input.

--model, --instructions, --temperature and --max-tokens count for this Task alone,
before what its Persona and the node's configuration say.

With --wait or --follow the exit code is 0 when the Task is COMPLETED, 1 when
it FAILED or was CANCELED, and 5 when the time of --wait was up.`,
		example: `  wharf task submit "Hello"
  wharf task submit --file report.md --follow
  git log -n 50 | wharf task submit - --wait=1m
  wharf task submit --json-input '{"text": "Hello"}' --persona echo
  wharf task submit --skill units --json-input '{"value": 6, "from": "ft", "to": "m"}'
  wharf task submit "Hello" --model small --instructions "Answer in French."
  wharf task submit "once" --idempotency-key order-17`,
		args:  optionalArg,
		flags: s.flags,
		check: s.check,
	}, steps(func(ctx context.Context, c *client.Client, _ []string) error { return a.submit(ctx, c, s) }))
}

func (s *submission) flags(f *pflag.FlagSet) {
	f.StringVar(&s.file, "file", "", "send this file")
	f.BoolVar(&s.jsonInput, "json-input", false, "the input is a JSON object, not text")
	f.StringVar(&s.persona, "persona", "", "the Persona to run, by its name or its id (default: the Session's, else the node's)")
	f.StringVar(&s.skill, "skill", "", "the Skill to call, by its name or its id")
	f.StringVar(&s.session, "session", "", "the Session to submit to (default: a new one)")
	f.StringVar(&s.workspace, "workspace", "", "the Workspace of a new Session")
	f.StringVar(&s.key, "idempotency-key", "", "sends the same submit again without a second Task")
	f.DurationVar(&s.deadline, "deadline", 0, "the Task fails when it has not ended after so long")
	f.StringVar(&s.run.Model, "model", "", "the model to ask, by the node's name for it")
	f.StringVar(&s.run.Instructions, "instructions", "", "what the plugin is to do, in place of its own instructions")
	f.StringVar(&s.heat, "temperature", "", "of the model, 0 to 1 (default: the plugin's or the model's own)")
	f.StringSliceVar(&s.run.Skills, "skill-bundle", nil, "a skill bundle that the Task is to have, by its name (see \"wharf skill list\")")
	f.IntVar(&s.run.MaxTokens, "max-tokens", 0, "the most tokens of one answer of a model")
	f.BoolVar(&s.follow, "follow", false, "show events until the Task ends, then its Outcome")
	waitFlag(f, &s.wait)
}

func (s *submission) check(_ *cobra.Command, args []string) error {
	hasText := len(args) == 1
	if hasText {
		s.text = args[0]
	}
	switch {
	case !hasText && s.file == "":
		return usagef("there is nothing to submit: give TEXT, - or --file")
	case s.jsonInput && hasText && s.file != "":
		return usagef("with --json-input give the object once: as an argument or with --file")
	case s.session != "" && s.workspace != "":
		return usagef("--session names a Session that has its Workspace already: leave --workspace out")
	case s.waitsBySpace():
		return advise(usagef("--wait takes its time after =, and %q would be the text of the Task", s.text), "--wait="+s.text+", and then what to do")
	case s.wait < 0 || s.deadline < 0:
		return usagef("--wait and --deadline cannot be negative")
	case s.follow && s.wait > 0:
		return usagef("--follow waits for the end already: leave --wait out")
	case s.heat == "":
		return nil
	}
	heat, err := strconv.ParseFloat(s.heat, 64)
	if err != nil {
		return usagef("--temperature is a number from 0 to 1, not %q", s.heat)
	}
	s.run.Temperature = &heat
	return nil
}

// waitsBySpace reports whether the text is the time of a --wait that was given without =.
func (s *submission) waitsBySpace() bool {
	_, err := time.ParseDuration(s.text)
	return err == nil && s.wait.String() == defaultWait && s.file == ""
}

// options returns what the Task wants otherwise than its Persona; nil for nothing.
func (s *submission) options() *abi.RunOptions {
	if reflect.ValueOf(s.run).IsZero() {
		return nil
	}
	return &s.run
}

func (a *app) submit(ctx context.Context, c *client.Client, s submission) error {
	if err := a.readText(&s); err != nil {
		return err
	}
	metadata, err := skillNamed(ctx, c, s.skill)
	if err == nil {
		s.persona, err = personaID(ctx, c, s.persona)
	}
	if err != nil {
		return err
	}
	session := s.session
	if session == "" {
		doc, err := newSession(ctx, c, abi.CreateSessionRequest{WorkspaceID: s.workspace}, s.key)
		if err != nil {
			return err
		}
		session = doc.Value.ID
	}
	input, err := buildInput(ctx, c, s, session)
	if err != nil {
		return err
	}
	sent := time.Now()
	task, err := c.Submit(ctx, abi.SubmitTaskRequest{
		Input: input, SessionID: session, PersonaID: s.persona, Metadata: metadata, DeadlineSeconds: s.deadline.Seconds(), Run: s.options(),
	}, client.SubmitOptions{Wait: s.wait, IdempotencyKey: s.key})
	if err != nil {
		return err
	}
	if s.follow {
		return a.followToEnd(ctx, c, task)
	}
	return a.begun(ctx, c, task, s.wait, sent)
}

// skillNamed returns the metadata of a Task that calls a Skill: none for the name "".
func skillNamed(ctx context.Context, c *client.Client, name string) (jsontext.Value, error) {
	if name == "" {
		return nil, nil
	}
	id := name
	if !strings.HasPrefix(name, abi.IDPrefix(abi.ObjectSkill)) {
		var err error
		if id, err = skillID(ctx, c, name); err != nil {
			return nil, err
		}
	}
	return json.Marshal(map[string]string{"skill_id": id})
}

// skillID finds the Skill with a name. Those of the node's own plugins have it in their ids, too.
func skillID(ctx context.Context, c *client.Client, name string) (string, error) {
	all, err := client.List[abi.Skill](ctx, c, client.Get("/v1/skills"))
	if err != nil {
		return "", err
	}
	var ids, names []string
	for i := range all {
		s := &all[i].Value
		names = append(names, s.Name)
		if s.Name == name || s.ID == abi.IDPrefix(abi.ObjectSkill)+name {
			ids = append(ids, s.ID)
		}
	}
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		slices.Sort(names)
		return "", advise(fmt.Errorf("there is no Skill %q", name), "one of "+strings.Join(slices.Compact(names), ", "))
	}
	return "", fmt.Errorf("there are several Skills %q: name one by its id, %s", name, strings.Join(ids, " or "))
}

// readText replaces "-" by standard input.
func (a *app) readText(s *submission) error {
	if s.text != "-" {
		return nil
	}
	text, err := io.ReadAll(a.stdin)
	if err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	if !utf8.Valid(text) {
		return usagef("standard input is not UTF-8 text: put it into a file and use --file")
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return usagef("standard input is empty: there is nothing to submit")
	}
	s.text = string(text)
	return nil
}

// newSession starts a Session, in the Workspace that was made first if req names none.
// A second call with the same idempotency key returns the same Session.
func newSession(ctx context.Context, c *client.Client, req abi.CreateSessionRequest, key string) (client.Doc[abi.Session], error) {
	if req.WorkspaceID == "" {
		all, err := c.Workspaces(ctx)
		if err != nil {
			return client.Doc[abi.Session]{}, err
		}
		if len(all) == 0 {
			return client.Doc[abi.Session]{}, errors.New("this key sees no Workspace to start a Session in")
		}
		req.WorkspaceID = all[len(all)-1].Value.ID
	}
	return c.CreateSession(ctx, req, key)
}

// buildInput makes the input of a Task, uploading the file if it is not small text.
func buildInput(ctx context.Context, c *client.Client, s submission, session string) (jsontext.Value, error) {
	if s.jsonInput {
		return jsonInput(s)
	}
	var parts []abi.Part
	if s.text != "" || s.file == "" {
		parts = append(parts, textPart(s.text))
	}
	if s.file != "" {
		part, err := filePart(ctx, c, s, session)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	input, err := json.Marshal(abi.MessageInput{Role: abi.RoleUser, Parts: parts})
	if err != nil {
		return nil, fmt.Errorf("encoding the input: %w", err)
	}
	return input, nil
}

func jsonInput(s submission) (jsontext.Value, error) {
	text := []byte(s.text)
	if s.file != "" {
		var err error
		if text, err = os.ReadFile(s.file); err != nil {
			return nil, fmt.Errorf("reading the input: %w", err)
		}
	}
	v := jsontext.Value(bytes.TrimSpace(text))
	if !v.IsValid() || v.Kind() != '{' {
		return nil, usagef("--json-input: the input is not a JSON object")
	}
	return v, nil
}

func textPart(text string) abi.Part {
	return abi.Part{Type: abi.PartText, Text: &text, Visibility: abi.VisibilityPublic}
}

// maxInline is the largest file whose text goes into the Task itself.
const maxInline = 256 << 10

func filePart(ctx context.Context, c *client.Client, s submission, session string) (abi.Part, error) {
	f, err := os.Open(s.file)
	if err != nil {
		return abi.Part{}, fmt.Errorf("opening the input: %w", err)
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxInline+1))
	if err != nil {
		return abi.Part{}, fmt.Errorf("reading the input: %w", err)
	}
	if len(head) <= maxInline && utf8.Valid(head) {
		return textPart(string(head)), nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return abi.Part{}, fmt.Errorf("reading the input: %w", err)
	}
	return uploadPart(ctx, c, f, session, s.key)
}

func uploadPart(ctx context.Context, c *client.Client, f *os.File, session, key string) (abi.Part, error) {
	info, err := f.Stat()
	if err != nil {
		return abi.Part{}, fmt.Errorf("reading the input: %w", err)
	}
	artifact, err := c.UploadArtifact(ctx, client.Upload{
		Name: filepath.Base(f.Name()), MimeType: mimeType(f.Name()), SessionID: session,
		Size: info.Size(), Content: f, IdempotencyKey: key,
	})
	if err != nil {
		return abi.Part{}, err
	}
	return abi.Part{Type: abi.PartArtifactRef, ArtifactID: artifact.Value.ID, Visibility: abi.VisibilityPublic}, nil
}

// mimeType guesses from the name, the same on every machine for the kinds of
// documents that Personas read.
func mimeType(name string) string {
	switch ext := filepath.Ext(name); ext {
	case ".md", ".markdown":
		return "text/markdown"
	case ".txt", ".log", "":
		return "text/plain"
	default:
		return cmp.Or(mime.TypeByExtension(ext), "application/octet-stream")
	}
}

// followToEnd shows the events of a Task and then its Outcome.
func (a *app) followToEnd(ctx context.Context, c *client.Client, task client.Doc[abi.Task]) error {
	if _, err := a.follow(ctx, c, task.Value.ID, followOptions{since: task.Value.CreatedAt}); err != nil {
		return err
	}
	return a.finish(ctx, c, task.Value.ID, false)
}

// waitForEnd waits until the Task ends or the time is up. The node has waited
// already as long as it was willing to.
func (a *app) waitForEnd(ctx context.Context, c *client.Client, task client.Doc[abi.Task], until time.Time) error {
	if !task.Value.Status.Terminal() {
		bounded, cancel := context.WithDeadlineCause(ctx, until, errTimeUp)
		defer cancel()
		_, err := a.follow(bounded, c, task.Value.ID, followOptions{quiet: true})
		if errors.Is(err, errTimeUp) {
			return a.timeUp(ctx, c, task.Value.ID)
		}
		if err != nil {
			return err
		}
	}
	return a.finish(ctx, c, task.Value.ID, true)
}

var errTimeUp = errors.New("the time is up")

// timeUp shows a Task as it is now: it may wait for an answer.
func (a *app) timeUp(ctx context.Context, c *client.Client, id string) error {
	task, err := c.Task(ctx, id)
	if err != nil {
		return err
	}
	if err := a.print(task.JSON, func() {
		a.showTask(&task.Value, [2]string{"not ended", self() + " task tail " + task.Value.ID})
	}); err != nil {
		return err
	}
	return &silentError{exitTimeUp}
}

// finish shows how a Task ended: with --json the Task, if withTask, and the
// Outcome.
func (a *app) finish(ctx context.Context, c *client.Client, id string, withTask bool) error {
	task, err := c.Task(ctx, id)
	if err != nil {
		return err
	}
	outcome, err := c.Outcome(ctx, task.Value.OutcomeID)
	if err != nil {
		return err
	}
	if withTask {
		if err := a.print(task.JSON, func() { a.showTask(&task.Value) }); err != nil {
			return err
		}
	}
	if err := a.print(outcome.JSON, func() { a.showOutcome(&outcome.Value) }); err != nil {
		return err
	}
	return endCode(task.Value.Status)
}

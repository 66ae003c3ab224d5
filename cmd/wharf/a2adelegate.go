package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
)

// delegating is what the flags of "a2a delegate" say, and what follows from them.
type delegating struct {
	*app
	at                        peerFlags
	budget                    abi.DelegationBudget
	scope, context, key, plan string
	yes                       bool

	name  string
	peer  *agent.Peer
	card  *agent.Card
	work  agent.Work
	keeps string // the file that keeps what was approved
	notes *show.Screen
}

func (a *app) a2aDelegateCommand() *cobra.Command {
	d := delegating{app: a}
	return a.peerCommand(page{
		use: "delegate URL|NAME TASK", short: "Have an agent do paid work, once its plan is approved",
		long: `Delegate asks an agent what it would do for TASK, shows that, and has it do the work when
you say so: on a terminal it asks, elsewhere --yes approves whatever the plan is. Then it
waits for the end, and shows what the agent hands over and what it has used.

What was approved is kept, with the key of the work, in your folder for settings, before
anything is sent. The same command again is the same work: it is not done, nor paid, twice,
and shows what came of it. Other work by the same words takes a --key of its own.

The agent's card has to promise that it keeps to a budget, tells repeated work and hands
over what can be reviewed ("wharf a2a card" shows it). docs/delegation.md has the rest;
there a plugin's own delegations are described, which Quotas and receipts count.

The exit code is 0 when the work is done, and 1 when it is not, was not approved, or used
more than it was allowed.`,
		example: `  wharf a2a delegate coder "Fix the flaky test in pkg/queue" --budget-usd 2 --budget-seconds 1800
  wharf a2a delegate https://agent.example.com "Sum up the log" --budget-tokens 50000 --yes --json`,
		args:  twoArgs(aPeer + ", and the task between quotes"),
		flags: d.flags,
		check: d.check,
	}, &d.at, func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args[0], args[1]) })
}

func (d *delegating) flags(f *pflag.FlagSet) {
	f.Float64Var(&d.budget.USD, "budget-usd", 0, "the most that it may cost, in dollars")
	f.Int64Var(&d.budget.Tokens, "budget-tokens", 0, "the most tokens that it may use")
	f.Float64Var(&d.budget.Seconds, "budget-seconds", 0, "the longest that it may take")
	f.Int64Var(&d.budget.ToolCalls, "budget-tool-calls", 0, "the most calls of tools")
	f.StringVar(&d.scope, "scope", "", "what may come of it, as text")
	f.StringVar(&d.context, "context", "", "what the agent should know: a JSON object")
	f.StringVar(&d.key, "key", "", "the key of the work (default one that follows from the agent and the task)")
	f.StringVar(&d.plan, "plan", "", "the plan, as text, for an agent that makes none")
	f.BoolVar(&d.yes, "yes", false, "approve the plan, whatever it is")
}

func (d *delegating) check(_ *cobra.Command, args []string) error {
	b := &d.budget
	switch {
	case !(b.USD >= 0) || !(b.Seconds >= 0) || b.Tokens < 0 || b.ToolCalls < 0 || b.Seconds > abi.MaxWaitSeconds:
		return usagef("a budget cannot be negative, and its time is at most %d seconds", int64(abi.MaxWaitSeconds))
	case *b == abi.DelegationBudget{}:
		return advise(usagef("paid work needs a budget"), "--budget-usd, --budget-tokens, --budget-seconds or --budget-tool-calls")
	case strings.TrimSpace(args[1]) == "":
		return usagef("the task is empty: say what to do")
	}
	d.work = agent.Work{Task: args[1], Budget: d.budget}
	if d.context != "" {
		v, err := jsonFlag("--context", d.context)
		if err != nil || v.Kind() != '{' {
			return usagef("--context: this is not a JSON object")
		}
		d.work.Context = v
	}
	var err error
	if d.scope != "" {
		d.work.ExpectedScope, err = json.Marshal(d.scope)
	}
	return err
}

func (d *delegating) run(ctx context.Context, at, _ string) (err error) {
	d.notes, d.name = show.NewScreen(d.stderr, d.color, d.env), at
	if d.peer, err = d.at.peer(d.app, at); err != nil {
		return err
	}
	defer d.peer.Close()
	if d.card, err = d.peer.Card(ctx, ""); err != nil {
		return peerFailed(err)
	}
	if lacks := d.card.External.Lacks(); len(lacks) > 0 {
		return advise(&peerError{"the agent takes no paid work: its card does not promise " + strings.Join(lacks, ", "), exitFailed},
			fmt.Sprintf("%s a2a send %s TEXT, which costs what the agent likes", self(), at))
	}
	if err := d.named(); err != nil {
		return err
	}
	before, err := d.kept()
	if err != nil {
		return err
	}
	if before == nil {
		if before, err = d.approved(ctx); err != nil {
			return err
		}
	}
	d.work = before.Work
	return d.dispatch(ctx)
}

// named gives the work its key, and the file that keeps it.
func (d *delegating) named() error {
	asked, err := json.Marshal([]any{d.card.Endpoint, d.work.Task, d.scope, d.work.Context}, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encoding the work: %w", err)
	}
	d.work.IdempotencyKey = cmp.Or(d.key, hashed(string(asked)))
	dir, err := os.UserConfigDir()
	if err != nil {
		return fmt.Errorf("finding the folder for settings, where delegations are kept: %w", err)
	}
	d.keeps = filepath.Join(dir, "wharf", "delegations", hashed(d.card.Endpoint+"\n"+d.work.IdempotencyKey)+".json")
	return nil
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// keptWork is work that was approved.
type keptWork struct {
	Work     agent.Work `json:"work"` // as it is dispatched
	Endpoint string     `json:"endpoint"`
	At       time.Time  `json:"approved_at"`
}

// kept returns the work that was approved before by this key; nil for none.
func (d *delegating) kept() (*keptWork, error) {
	text, err := os.ReadFile(d.keeps)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was approved before: %w", err)
	}
	k := &keptWork{}
	if err := json.Unmarshal(text, k); err != nil {
		return nil, advise(fmt.Errorf("%s cannot be read: %w", d.keeps, err), "another --key; the file is of work that may have been done")
	}
	same := k.Work.Task == d.work.Task && string(k.Work.ExpectedScope) == string(d.work.ExpectedScope) && string(k.Work.Context) == string(d.work.Context)
	switch {
	case !same:
		return nil, usagef("the key %q stands for other work, approved at %s", d.work.IdempotencyKey, stamp(k.At))
	case k.Work.Budget != d.budget:
		return nil, advise(usagef("this work was dispatched at %s with another budget: %s", stamp(k.At), budgetText(&k.Work.Budget)),
			"that budget, to see what came of it, or another --key for work anew")
	}
	d.notes.Line("this work was dispatched at ", stamp(k.At), ": asking what came of it (other work takes a --key)")
	return k, nil
}

// keep writes what was approved to the disk. Of two that do so at once the first counts for both.
func (d *delegating) keep(k *keptWork) (*keptWork, error) {
	text, err := json.Marshal(k, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encoding what was approved: %w", err)
	}
	dir := filepath.Dir(d.keeps)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keeping what was approved: %w", err)
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return nil, fmt.Errorf("keeping what was approved: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Link(f.Name(), d.keeps)
	}
	if errors.Is(err, fs.ErrExist) {
		return d.kept()
	}
	if err != nil {
		return nil, fmt.Errorf("keeping what was approved: %w", err)
	}
	return k, nil
}

// approved asks for the plan and whether it is approved, and keeps it.
func (d *delegating) approved(ctx context.Context) (*keptWork, error) {
	checkpoint, err := d.peer.Plan(ctx, "", d.card, &d.work)
	if errors.Is(err, agent.ErrNoPlan) {
		checkpoint, err = d.ownPlan()
	}
	if err != nil {
		return nil, peerFailed(err)
	}
	if err := d.print(checkpoint, func() { d.showPlan(checkpoint) }); err != nil {
		return nil, err
	}
	if !d.yes {
		if err := d.ask(); err != nil {
			return nil, err
		}
	}
	checkpoint.Approved = true
	k := &keptWork{Work: d.work, Endpoint: d.card.Endpoint, At: time.Now().UTC()}
	k.Work.Checkpoint = checkpoint
	d.notes.Line("dispatched; the same command again is the same work")
	return d.keep(k)
}

// ownPlan is the plan that --plan says.
func (d *delegating) ownPlan() (*abi.DelegationCheckpoint, error) {
	if d.plan == "" {
		return nil, advise(&peerError{"the agent makes no plan", exitFailed}, "--plan TEXT, with a plan of your own")
	}
	text, err := json.Marshal(d.plan)
	if err != nil {
		return nil, fmt.Errorf("encoding the plan: %w", err)
	}
	return &abi.DelegationCheckpoint{CheckpointID: "local:" + hashed(d.plan), Plan: text, Local: true, AllowLocalFallback: true}, nil
}

func (d *delegating) showPlan(c *abi.DelegationCheckpoint) {
	d.out.Title("the plan of " + show.OneLine(cmp.Or(d.card.Name, d.name)))
	d.showTold(c.Plan)
	d.out.Pairs([2]string{"budget", budgetText(&d.budget)}, [2]string{"where", d.card.Endpoint}, [2]string{"card", d.card.SHA256},
		[2]string{"key", d.work.IdempotencyKey})
}

// toldWork is what is understood of a plan, and of what is handed over: both are the agent's own.
type toldWork struct {
	Summary   string             `json:"summary"`
	Says      string             `json:"says"`
	Outcome   string             `json:"outcome"`
	Proposals []abi.WithheldCall `json:"proposals"`
	Failure   *abi.Failure       `json:"failure"`
}

// showTold shows a plan, or what is handed over: a text, what is understood, or JSON.
func (d *delegating) showTold(v jsontext.Value) {
	var text string
	var told toldWork
	switch {
	case json.Unmarshal(v, &text) == nil:
		d.out.Block("  ", text)
		return
	case json.Unmarshal(v, &told) != nil || told.Summary+told.Says == "":
		v = v.Clone()
		_ = v.Indent(jsontext.WithIndent("  "))
		d.out.Block("  ", string(v))
		return
	}
	d.out.Block("  ", show.OneLine(told.Summary))
	if says := strings.TrimSpace(told.Says); says != "" && says != strings.TrimSpace(told.Summary) {
		d.out.Gap()
		d.out.Block("  ", says)
	}
	for _, p := range told.Proposals {
		d.out.Block("  - ", show.OneLine(fmt.Sprintf("%s %s %s", p.Call, p.Action, p.Arguments)))
	}
	if told.Failure != nil {
		d.out.Block("  ", show.OneLine(told.Failure.Code+": "+told.Failure.Message))
	}
	d.out.Gap()
}

// ask asks on the terminal whether the plan is approved.
func (d *delegating) ask() error {
	in, ok := d.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return advise(&peerError{"the plan is not approved: nothing was dispatched", exitFailed}, "the same again on a terminal, or with --yes")
	}
	d.notes.Printf("Dispatch it? [y/N] ")
	line, err := bufio.NewReader(in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
		return nil
	}
	if err == nil || line == "" {
		return &peerError{"the plan is not approved: nothing was dispatched", exitFailed}
	}
	return fmt.Errorf("reading the answer: %w", err)
}

// dispatch has the work done and shows what came of it.
func (d *delegating) dispatch(ctx context.Context) error {
	r, err := d.peer.Dispatch(ctx, "", d.card, &d.work)
	if _, refused := errors.AsType[*agent.RefusedError](err); refused { // then a later plan may be another
		return errors.Join(peerFailed(err), os.Remove(d.keeps))
	}
	if err != nil {
		return advise(peerFailed(err), "the same command again, which finds out what became of the work")
	}
	if r.IdempotencyKey != "" && r.IdempotencyKey != d.work.IdempotencyKey || len(r.Handoff) == 0 || r.Handoff.Kind() == 'n' {
		return &peerError{"the agent has answered for other work, or hands over nothing: nobody knows what became of it", exitFailed}
	}
	exceeded := d.exceeded(r)
	if err := d.print(r, func() { d.showResult(r, exceeded) }); err != nil {
		return err
	}
	if !doneWell(r) || len(exceeded) > 0 {
		return &silentError{exitFailed}
	}
	return nil
}

// doneWell reports whether the work is done. Of work that was done before the status says no more than
// that.
func doneWell(r *agent.Result) bool {
	var told toldWork
	_ = json.Unmarshal(r.Handoff, &told)
	return (r.Status == string(abi.DelegationCompleted) || r.Repeated()) && (told.Outcome == "" || told.Outcome == string(abi.OutcomeSucceeded))
}

// exceeded lists what of the budget the agent has used more of than it was allowed.
func (d *delegating) exceeded(r *agent.Result) (all []string) {
	b := &d.work.Budget
	for _, u := range []struct {
		name string
		used *float64
		most float64
	}{{"usd", r.Used.USD, b.USD}, {"tokens", r.Used.Tokens, float64(b.Tokens)}, {"seconds", r.Used.Seconds, b.Seconds}, {"tool_calls", r.Used.ToolCalls, float64(b.ToolCalls)}} {
		if u.used != nil && u.most > 0 && *u.used > u.most {
			all = append(all, u.name)
		}
	}
	return all
}

func (d *delegating) showResult(r *agent.Result, exceeded []string) {
	style := show.Green
	if !doneWell(r) || len(exceeded) > 0 {
		style = show.Red
	}
	d.out.Title("handed over")
	d.showTold(r.Handoff)
	status := d.out.Paint(style, show.OneLine(r.Status))
	if r.Repeated() {
		status += ": it was done before, and not again"
	}
	d.out.Pairs([2]string{"status", status}, [2]string{"used", usedText(r)}, [2]string{"allowed", budgetText(&d.work.Budget)},
		[2]string{"exceeded", strings.Join(exceeded, ", ")}, [2]string{"task", show.OneLine(r.TaskID)}, [2]string{"artifacts", named(r.Artifacts, "name", "id")},
		[2]string{"receipts", named(r.Receipts, "receipt_id", "id")})
	if patch := r.Patched(); patch != "" {
		d.out.Gap()
		d.out.Block("", patch)
	}
}

// named lists entries of a list by the first of some members.
func named(list jsontext.Value, members ...string) string {
	var all []map[string]jsontext.Value
	if json.Unmarshal(list, &all) != nil {
		return ""
	}
	var names []string
	for _, entry := range all {
		for _, m := range members {
			var name string
			if json.Unmarshal(entry[m], &name) == nil && name != "" {
				names = append(names, show.OneLine(name))
				break
			}
		}
	}
	return strings.Join(names, ", ")
}

func usedText(r *agent.Result) string {
	b := abi.DelegationBudget{}
	for _, u := range []struct {
		from *float64
		set  func(float64)
	}{{r.Used.USD, func(v float64) { b.USD = v }}, {r.Used.Tokens, func(v float64) { b.Tokens = int64(v) }},
		{r.Used.Seconds, func(v float64) { b.Seconds = v }}, {r.Used.ToolCalls, func(v float64) { b.ToolCalls = int64(v) }}} {
		if u.from != nil {
			u.set(*u.from)
		}
	}
	return cmp.Or(budgetText(&b), "it does not say")
}

func budgetText(b *abi.DelegationBudget) string {
	var all []string
	add := func(is bool, format string, v any) {
		if is {
			all = append(all, fmt.Sprintf(format, v))
		}
	}
	add(b.USD > 0, "%g USD", b.USD)
	add(b.Tokens > 0, "%d tokens", b.Tokens)
	add(b.Seconds > 0, "%g s", b.Seconds)
	add(b.ToolCalls > 0, "%d calls of tools", b.ToolCalls)
	return strings.Join(all, ", ")
}

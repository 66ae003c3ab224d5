package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

// page is the manual page of a command, and what the command takes.
type page struct {
	use, short, long, example string

	args  cobra.PositionalArgs // nil takes none
	flags func(*pflag.FlagSet) // nil for none of its own
	// check refuses what is wrong with the command line as a whole; nil for nothing.
	check func(cmd *cobra.Command, args []string) error
}

func (p page) command(run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: p.use, Short: p.short, Long: p.long, Example: p.example, Args: p.args, RunE: run}
	if p.check != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if err := p.check(cmd, args); err != nil {
				return err
			}
			return run(cmd, args)
		}
	}
	if p.args == nil {
		cmd.Args = noArgs
	}
	if p.flags != nil {
		p.flags(cmd.Flags())
	}
	return cmd
}

// action is what a command does with a node: an [ask], a [list], or [steps] of its own. What
// is wrong with the command line it refuses before it needs a node.
type action interface {
	run(a *app, cmd *cobra.Command, args []string) error
}

// node makes a command that speaks to a node.
func (a *app) node(p page, do action) *cobra.Command {
	return a.remote(p.command(func(cmd *cobra.Command, args []string) error { return do.run(a, cmd, args) }))
}

// caller says what is sent for a command line.
type caller func(cmd *cobra.Command, args []string) (client.Call, error)

// sends is a caller for what the arguments alone say.
func sends(call func(args []string) client.Call) caller {
	return func(_ *cobra.Command, args []string) (client.Call, error) { return call(args), nil }
}

// gets is a caller that reads what is at a path, in which {} stands for an argument.
func gets(path string) caller {
	return sends(func(args []string) client.Call { return client.Get(path, args...) })
}

// ready returns what a command line asks for, and of whom.
func (c caller) ready(a *app, cmd *cobra.Command, args []string) (call client.Call, node *client.Client, err error) {
	if call, err = c(cmd, args); err == nil {
		node, err = a.client()
	}
	return call, node, err
}

// ask sends one request, and shows the resource that answers it.
type ask[T any] struct {
	call caller
	text func(*T) // writes it for people
	tips tips
}

func (k ask[T]) run(a *app, cmd *cobra.Command, args []string) error {
	call, c, err := k.call.ready(a, cmd, args)
	if err != nil {
		return err
	}
	doc, err := client.Do[T](cmd.Context(), c, call)
	if err != nil {
		return k.tips.on(err, args)
	}
	return a.print(doc.JSON, func() { k.text(&doc.Value) })
}

// list reads a list, and shows a row for each entry.
type list[T any] struct {
	call   caller
	titles []string
	row    func(*T) []show.Cell
	none   string            // what is said of an empty one, "" to show the titles
	sort   func(a, b *T) int // nil leaves the node's order
	tips   tips
}

func (l list[T]) run(a *app, cmd *cobra.Command, args []string) error {
	call, c, err := l.call.ready(a, cmd, args)
	if err != nil {
		return err
	}
	docs, err := client.List[T](cmd.Context(), c, call)
	if err != nil {
		return l.tips.on(err, args)
	}
	if l.sort != nil {
		slices.SortStableFunc(docs, func(x, y client.Doc[T]) int { return l.sort(&x.Value, &y.Value) })
	}
	return a.printRows(l.titles, l.none, rowsOf(docs, l.row))
}

// rowsOf are the entries of a list as [app.printRows] wants them.
func rowsOf[T any](docs []client.Doc[T], row func(*T) []show.Cell) iter.Seq2[any, []show.Cell] {
	return func(yield func(any, []show.Cell) bool) {
		for i := range docs {
			if !yield(docs[i].JSON, row(&docs[i].Value)) {
				return
			}
		}
	}
}

// byArgs are actions by how many arguments are given.
type byArgs map[int]action

func (b byArgs) run(a *app, cmd *cobra.Command, args []string) error {
	return b[len(args)].run(a, cmd, args)
}

// byFlag is one of two actions, as a flag says.
type byFlag struct {
	flag          *bool
	with, without action
}

func (b byFlag) run(a *app, cmd *cobra.Command, args []string) error {
	if *b.flag {
		return b.with.run(a, cmd, args)
	}
	return b.without.run(a, cmd, args)
}

// steps is an action that is more than one request.
type steps func(ctx context.Context, c *client.Client, args []string) error

func (s steps) run(a *app, cmd *cobra.Command, args []string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	return s(cmd.Context(), c, args)
}

// judgement is an action that ends with 1 to say no, and else with what [undecided] says.
type judgement struct{ action }

func (j judgement) run(a *app, cmd *cobra.Command, args []string) error {
	return undecided(j.action.run(a, cmd, args))
}

// tips are what to try when a node refuses, by the code of the refusal. {} stands for the
// first argument.
type tips map[abi.ErrorCode]string

// absent are the tips of a command for what may not be there.
func absent(try string) tips { return tips{abi.CodeResourceNotFound: try} }

// on puts the tip to an error that there is one for.
func (t tips) on(err error, args []string) error {
	refused, ok := errors.AsType[*client.Refused](err)
	if !ok || t[refused.Answer.Code] == "" {
		return err
	}
	return advise(err, strings.ReplaceAll(t[refused.Answer.Code], "{}", strings.Join(args[:min(1, len(args))], "")))
}

// print writes a result: as JSON, or for people by text. Together with printRows it is the one
// place that decides which.
func (a *app) print(v any, text func()) error {
	if !a.json {
		text()
		return nil
	}
	raw, ok := v.(jsontext.Value)
	if !ok {
		var err error
		if raw, err = json.Marshal(v, json.Deterministic(true)); err != nil {
			return fmt.Errorf("encoding the answer: %w", err)
		}
	}
	a.out.JSON(raw)
	return nil
}

// printRows writes results as JSON, a line each, or for people as a table. none is what is
// said when there are none, "" for a table without rows.
func (a *app) printRows(titles []string, none string, results iter.Seq2[any, []show.Cell]) error {
	var rows [][]show.Cell
	for v, cells := range results {
		if !a.json {
			rows = append(rows, cells)
		} else if err := a.print(v, nil); err != nil {
			return err
		}
	}
	switch {
	case a.json:
	case len(rows) == 0 && none != "":
		a.out.Line(none)
	default:
		a.out.Table(titles, rows)
	}
	return nil
}

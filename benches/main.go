package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/ceiling"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/benches/internal/suite"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "benches:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == ceiling.Command {
		return ceiling.Main(args[1:], os.Stdin, os.Stdout)
	}
	if len(args) > 0 && args[0] == suite.ProbeCommand {
		return suite.ProbeMain(context.Background(), args[1:], os.Stdout)
	}
	if len(args) > 0 && args[0] == suite.InstancesCommand {
		return suite.InstancesMain(context.Background(), os.Stdout)
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := measure(ctx, o)
	if err != nil {
		return err
	}
	return o.write(r)
}

// options are what the command line says.
type options struct {
	config         suite.Config
	measurements   []suite.Measurement
	json, markdown string
	binary, note   string
}

func parse(args []string) (*options, error) {
	o := &options{}
	c := &o.config
	flags := flag.NewFlagSet("benches", flag.ContinueOnError)
	only := flags.String("only", "", "measure only these, separated by commas")
	flags.IntVar(&c.Rounds, "rounds", 5, "samples of each figure")
	flags.DurationVar(&c.Duration, "duration", 2*time.Second, "length of each measured window")
	flags.DurationVar(&c.Warmup, "warmup", time.Second, "load before each measured window")
	flags.IntVar(&c.Conns, "connections", 64, "connections of the throughput measurements")
	flags.IntVar(&c.Readers, "readers", 500, "readers of the fan-out")
	flags.IntVar(&c.Sessions, "sessions", 10_000, "idle Sessions of the memory measurement")
	flags.IntVar(&c.Parked, "parked", 10_000, "waiting Tasks of the parked measurement")
	flags.IntVar(&c.Calls, "calls", 10_000, "host calls of the Task that is replayed")
	flags.Int64Var(&c.Events, "events", 1_000_000, "events that the scale measurements fill the log with; ten million takes long")
	flags.IntVar(&c.Executions, "executions", 1_000_000, "executions of the longest list of the harness-lists measurement")
	flags.IntVar(&c.Backlog, "backlog", 200_000, "deliveries that wait when the normalize measurement begins")
	flags.DurationVar(&c.Attack, "attack", 5*time.Minute, "how long the strangers measurement attacks")
	flags.StringVar(&c.Attacks, "attacks", "", "make only these attacks of strangers, by parts of their names, separated by commas")
	flags.IntVar(&c.Ended, "ended", 1_000_000, "ended Tasks that the retention measurement has removed")
	flags.Int64Var(&c.IDs, "ids", 10_000_000, "deliveries in the window of the dedupe measurement; a hundred million take minutes and 4 GB")
	flags.StringVar(&c.Dir, "dir", "", "where data folders are made (default: a temporary folder)")
	flags.StringVar(&c.Profiles, "cpuprofile", "", "save processor and allocation profiles of the node in this folder")
	flags.StringVar(&o.binary, "binary", "", "measure this wharf binary (default: build the source tree's)")
	flags.StringVar(&o.json, "json", "", "also write the result as JSON to this file")
	flags.StringVar(&o.markdown, "markdown", "", "also write the result as Markdown to this file")
	flags.StringVar(&o.note, "note", "", "a sentence about this run for the report, such as what else the machine does")
	flags.Usage = func() { usage(flags) }
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if c.Rounds < 1 || c.Conns < 1 || c.Readers < 1 || c.Sessions < 1 || c.Parked < 1 || c.Backlog < 1 || c.Executions < 1 || c.Attack <= 0 || c.Ended < 1 || c.Calls < 1 || c.IDs < 1000 || c.Duration <= 0 {
		return nil, errors.New("rounds, connections, readers, sessions, parked, calls and duration must be positive, and there must be a thousand ids")
	}
	c.Progress = os.Stderr
	var err error
	o.measurements, err = suite.Select(strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }))
	return o, err
}

func usage(flags *flag.FlagSet) {
	out := flags.Output()
	fmt.Fprint(out, "Usage: go run ./benches [flags]\n\nMeasurements:\n")
	for _, m := range suite.Measurements() {
		when := ""
		if m.Long {
			when = " (only when asked for)"
		}
		fmt.Fprintf(out, "  %-13s %s%s\n", m.Name, m.Doc, when)
	}
	fmt.Fprint(out, "\nFlags:\n")
	flags.PrintDefaults()
}

// measure prepares folders and binaries, runs the measurements and cleans up.
func measure(ctx context.Context, o *options) (*report.Report, error) {
	c := o.config
	work, err := os.MkdirTemp(c.Dir, "wharf-bench-*")
	if err != nil {
		return nil, fmt.Errorf("making a folder to work in: %w", err)
	}
	defer os.RemoveAll(work)
	c.Dir = work
	if c.Self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	if c.Binary, err = o.prepare(ctx, work); err != nil {
		return nil, err
	}
	r := &report.Report{
		Started: time.Now(), Machine: report.ThisMachine(), Revision: revision(ctx),
		Rounds: c.Rounds, Duration: c.Duration.String(), Note: o.note,
	}
	s := &suite.Suite{Config: c}
	if err := s.Run(ctx, o.measurements, r); err != nil {
		return nil, err
	}
	r.Took = time.Since(r.Started).Round(time.Second).String()
	return r, nil
}

// prepare makes the folder for profiles and returns the binary to measure.
func (o *options) prepare(ctx context.Context, dir string) (string, error) {
	if o.config.Profiles != "" {
		if err := os.MkdirAll(o.config.Profiles, 0o700); err != nil {
			return "", fmt.Errorf("making the folder for profiles: %w", err)
		}
	}
	if o.binary != "" {
		return filepath.Abs(o.binary)
	}
	return node.Build(ctx, dir)
}

// write prints the result and saves it where it was asked for.
func (o *options) write(r *report.Report) error {
	if err := r.WriteTable(os.Stdout); err != nil {
		return err
	}
	return errors.Join(save(o.json, r.WriteJSON), save(o.markdown, r.WriteMarkdown))
}

// save writes a file; an empty path saves nothing.
func save(path string, write func(w io.Writer) error) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("saving the result: %w", err)
	}
	return errors.Join(write(f), f.Close())
}

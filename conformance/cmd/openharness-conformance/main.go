package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/conformance/openharness"
)

// The exit codes.
const (
	exitConforms = 0
	exitBroken   = 1
	exitUnusable = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code, err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "openharness-conformance:", err)
	}
	stop()
	os.Exit(code)
}

// options is what the command line says.
type options struct {
	config openharness.Config
	json   bool
	strict bool
}

func parse(args []string) (options, error) {
	var o options
	only := ""
	flags := flag.NewFlagSet("openharness-conformance", flag.ContinueOnError)
	flags.StringVar(&o.config.BaseURL, "server", envOr("WHARF_SERVER", "http://127.0.0.1:8080"), "base URL of the server, without /v1 (WHARF_SERVER)")
	flags.StringVar(&o.config.APIKey, "api-key", os.Getenv("WHARF_API_KEY"), "API key (WHARF_API_KEY)")
	flags.StringVar(&o.config.Harness, "harness", "wharf", "id of the harness to check")
	flags.DurationVar(&o.config.Timeout, "timeout", 0, "longest time that one check may take (default 30s)")
	flags.StringVar(&only, "only", "", "ids of checks, or beginnings of them such as a domain, separated by commas")
	flags.BoolVar(&o.config.Quick, "quick", false, "leave out what is slow")
	flags.BoolVar(&o.json, "json", false, "print the report as JSON")
	flags.BoolVar(&o.strict, "strict", false, "count as broken whatever failed or could not be checked")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("reading the command line: %w", err)
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if only != "" {
		o.config.Only = strings.Split(only, ",")
	}
	return o, nil
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

func run(ctx context.Context, args []string, out io.Writer) (exit int, err error) {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return exitConforms, err
	}
	if err != nil {
		return exitUnusable, err
	}
	report, err := openharness.Run(ctx, o.config, nil)
	if err != nil {
		return exitUnusable, err
	}
	if err := write(out, &report, o.json); err != nil {
		return exitUnusable, err
	}
	if report.Violations > 0 || o.strict && report.Verdict() != openharness.VerdictPass {
		return exitBroken, nil
	}
	return exitConforms, nil
}

func write(out io.Writer, report *openharness.Report, asJSON bool) error {
	if !asJSON {
		return report.WriteText(out)
	}
	if err := json.MarshalWrite(out, report, jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	_, err := io.WriteString(out, "\n")
	return err
}

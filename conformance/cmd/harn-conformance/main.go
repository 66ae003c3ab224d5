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

	"github.com/wharf-dev/wharf/conformance"
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
		fmt.Fprintln(os.Stderr, "harn-conformance:", err)
	}
	stop()
	os.Exit(code)
}

// options is what the command line says.
type options struct {
	config conformance.Config
	level  string
	only   string
	json   bool
	strict bool
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("harn-conformance", flag.ContinueOnError)
	flags.StringVar(&o.config.BaseURL, "server", envOr("WHARF_SERVER", "http://127.0.0.1:8080"), "base URL of the server, without /v1 (WHARF_SERVER)")
	flags.StringVar(&o.config.APIKey, "api-key", os.Getenv("WHARF_API_KEY"), "API key (WHARF_API_KEY)")
	flags.StringVar(&o.config.WorkspaceID, "workspace", "", "Workspace to make Sessions in (default: the first one listed)")
	flags.StringVar(&o.config.PersonaID, "persona", "", "Persona to give Tasks to (default: the server's)")
	flags.StringVar(&o.config.AskingPersonaID, "asking-persona", "", "Persona whose Tasks ask for input, for the checks of level extended that need one")
	flags.StringVar(&o.config.AskingInput, "asking-input", "", "what its Tasks are given, as JSON (default: a Message)")
	flags.StringVar(&o.config.ClientID, "client-id", "", "OAuth2 client, for the checks of level extended that need one")
	flags.StringVar(&o.config.ClientSecret, "client-secret", os.Getenv("WHARF_CLIENT_SECRET"), "its secret (WHARF_CLIENT_SECRET)")
	flags.DurationVar(&o.config.Timeout, "timeout", 0, "longest time that one check may take (default 30s)")
	flags.StringVar(&o.level, "level", "core", "conformance level to check: core, extended, receipts, replay or all")
	flags.StringVar(&o.only, "only", "", "ids of checks, or beginnings of them, separated by commas")
	flags.BoolVar(&o.json, "json", false, "print the report as JSON")
	flags.BoolVar(&o.strict, "strict", false, "count a SHOULD that is not kept as a failure")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("reading the command line: %w", err)
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.only != "" {
		o.config.Only = strings.Split(o.only, ",")
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
	report, err := conformance.Run(ctx, o.config, conformance.Level(o.level))
	if err != nil {
		return exitUnusable, err
	}
	if err := write(out, &report, o.json); err != nil {
		return exitUnusable, err
	}
	if !report.Conforms(o.strict) {
		return exitBroken, nil
	}
	return exitConforms, nil
}

func write(out io.Writer, report *conformance.Report, asJSON bool) error {
	if !asJSON {
		return report.WriteText(out)
	}
	if err := json.MarshalWrite(out, report, jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	_, err := io.WriteString(out, "\n")
	return err
}

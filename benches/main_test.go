package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/benches/internal/suite"
	"github.com/wharf-dev/wharf/internal/share"
)

// TestMain lets the test's binary be the ceilings' process, as the real one is.
// TestMain is the program when the program starts itself, as it does for what has to be
// measured in a process of its own: go test gives only flags.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestEveryMeasurementRuns runs the program over the real binary, on a scale on
// which the figures mean nothing: what is held is that there are figures.
func TestEveryMeasurementRuns(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("builds and runs the real binary for a minute; set WHARF_LONG=1")
	}
	out := filepath.Join(t.TempDir(), "out.json")
	names := measured(t)
	err := run([]string{
		"--only", strings.Join(names, ","), "--rounds", "1", "--duration", "200ms",
		"--warmup", "100ms", "--connections", "8", "--readers", "10", "--sessions", "50", "--parked", "50", "--calls", "100", "--events", "3000", "--backlog", "10000", "--ids", "100000", "--executions", "11000",
		"--dir", t.TempDir(), "--json", out,
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Failed) > 0 {
		t.Errorf("not measured: %v", r.Failed)
	}
	if len(r.Checks) == 0 {
		t.Error("nothing that was counted was looked for in the log")
	}
	rows := map[string]int{}
	for _, row := range r.Rows {
		rows[row.Measurement]++
		if row.Wharf.Median <= 0 && !row.Difference {
			t.Errorf("%s is %v", row.What, row.Wharf.Median)
		}
	}
	for _, name := range names {
		if rows[name] == 0 {
			t.Errorf("%s has no row", name)
		}
	}
}

// measured names the measurements of this run's share that need nothing but this repository,
// no control group for a node that may be killed, and no minutes until Tasks are old. The first is always among them: what it
// counts is looked for in the log.
func measured(t *testing.T) []string {
	mine := share.Of(t)
	var names []string
	for i, m := range suite.Measurements() {
		if m.Name != "compare" && m.Name != "strangers" && m.Name != "retention" && (i == 0 || mine(i)) {
			names = append(names, m.Name)
		}
	}
	return names
}

func TestBadFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"--only", "nothing"}, {"--rounds", "0"}, {"leftover"}, {"--duration", "soon"}} {
		if err := run(args); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}

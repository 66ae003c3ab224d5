package suite

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/benches/internal/report"
)

func TestSelect(t *testing.T) {
	all, err := Select(nil)
	if err != nil || slices.ContainsFunc(all, func(m Measurement) bool { return m.Long }) {
		t.Errorf("by default %v, %v", all, err)
	}
	two, err := Select([]string{"scale", "accept"})
	if err != nil || len(two) != 2 || two[0].Name != "scale" {
		t.Errorf("by name %v, %v", two, err)
	}
	family, err := Select([]string{"sandbox"})
	if err != nil || len(family) < 2 || !strings.HasPrefix(family[1].Name, "sandbox-") {
		t.Errorf("a family %v, %v", family, err)
	}
	if exact, err := Select([]string{"steps-read"}); err != nil || len(exact) != 1 {
		t.Errorf("by a name that begins like others %v, %v", exact, err)
	}
	if _, err := Select([]string{"nothing"}); err == nil {
		t.Error("an unknown name was accepted")
	}
}

func TestRoundsAreInterleavedBothWays(t *testing.T) {
	var order []string
	take := func(name string) step {
		return step{name, func(context.Context) (float64, error) { order = append(order, name); return float64(len(order)), nil }}
	}
	s := &Suite{Config: Config{Rounds: 2, Progress: io.Discard}}
	got, err := s.interleave(t.Context(), []step{take("a"), take("b"), take("c")})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(order, "") != "abccba" || !slices.Equal(got["a"], []float64{1, 6}) {
		t.Errorf("the order is %v, the samples %v", order, got)
	}
}

func TestAFailedMeasurementKeepsNoOtherFromRunning(t *testing.T) {
	row := report.Row{What: "x"}
	s := &Suite{Config: Config{Progress: io.Discard}}
	var r report.Report
	err := s.measure(t.Context(), []Measurement{
		{Name: "bad", run: func(context.Context, *Suite) ([]report.Row, error) { return nil, errors.New("broken") }},
		{Name: "good", run: func(context.Context, *Suite) ([]report.Row, error) { return []report.Row{row}, nil }},
	}, &r)
	if err != nil || len(r.Failed) != 1 || len(r.Rows) != 1 || r.Rows[0].Measurement != "good" {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestLastFramesLeavesCommentsAndThePastOut(t *testing.T) {
	stream := []byte("id: 1\ndata: a\n\n: still here\n\nid: 2\ndata: b\n\nid: 3\ndata: c\n\n")
	if got := string(lastFrames(stream, 2)); got != "id: 2\ndata: b\n\nid: 3\ndata: c\n\n" {
		t.Errorf("got %q", got)
	}
}

func TestTheRateOfABenchmarkIsRead(t *testing.T) {
	const out = "goos: linux\nBenchmarkTally-2 \t 10\t 5 ns/op\nBenchmarkReceipt \t   53500\t     50000 ns/op\t 2048 bytes/receipt\nPASS\n"
	if got, err := benchmarkRate([]byte(out), "BenchmarkReceipt"); err != nil || got != 20_000 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := benchmarkRate([]byte("--- FAIL"), "BenchmarkReceipt"); err == nil {
		t.Error("a benchmark that did not run has a rate")
	}
}

func TestTheNewestFileOfTheLogIsWeighed(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := walFile(dir); err == nil {
		t.Error("a folder without a log has one")
	}
	if err := os.Mkdir(filepath.Join(dir, databaseFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"000002.log": 9, "000011.log": 5, "000012.sst": 7} {
		if err := os.WriteFile(filepath.Join(dir, databaseFolder, name), append(bytes.Repeat([]byte{7}, size), 0, 0), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if name, written, err := walFile(dir); err != nil || filepath.Base(name) != "000011.log" || written != 5 {
		t.Errorf("got %s, %d, %v", name, written, err)
	}
}

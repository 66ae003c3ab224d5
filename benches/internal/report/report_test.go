package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/benches/internal/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

func sample() *report.Report {
	accept := report.Row{Measurement: "accept", What: "accepted", Wharf: report.NewFigure("a second", []float64{6500, 7000, 6000}), Note: "a note"}
	latency := report.Row{Measurement: "latency", What: "seen", Wharf: report.NewFigure("µs", []float64{900})}
	memory := report.Row{Measurement: "memory", What: "resident", Wharf: report.NewFigure("MB", []float64{61, 62})}
	return &report.Report{
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Took: "1s", Revision: "revision abc", Rounds: 3, Duration: "3s", Note: "A quiet machine.",
		Machine: report.Machine{OS: "linux", Arch: "amd64", Cores: 2, Go: "go1.26"},
		Rows: []report.Row{
			accept.Against("bare", report.NewFigure("a second", []float64{10000, 10000, 12000})).Must(report.AtLeast, 0.6),
			latency.Against("two syncs", report.NewFigure("µs", []float64{250})).Must(report.AtMost, 5),
			memory.Must(report.AtMost, 60),
			report.Row{Measurement: "steps", What: "both", Wharf: report.NewFigure("µs", []float64{150})}.
				Against("bare", report.NewFigure("µs", []float64{30})).MustBe(report.AtMost, 200),
			{Measurement: "memory", What: "for information", Wharf: report.NewFigure("MB", []float64{7})},
		},
		Checks: []string{"all is there"}, Failed: []string{"fanout: no reader came"},
	}
}

func TestWhatIsWritten(t *testing.T) {
	for name, write := range map[string]func(*report.Report, *strings.Builder) error{
		"report.md":   func(r *report.Report, b *strings.Builder) error { return r.WriteMarkdown(b) },
		"report.txt":  func(r *report.Report, b *strings.Builder) error { return r.WriteTable(b) },
		"report.json": func(r *report.Report, b *strings.Builder) error { return r.WriteJSON(b) },
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := write(sample(), &b); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", b.String(), want)
			}
		})
	}
}

func TestJSONCanBeReadBack(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got report.Report
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Rows[0].Ratio.Median != sample().Rows[0].Ratio.Median || got.Rows[1].Verdict() != "met" {
		t.Errorf("the report reads back as %+v", got)
	}
}

func TestVerdictIsOfTheMedianRatio(t *testing.T) {
	row := func(wharf, ceiling []float64) report.Row {
		return report.Row{Wharf: report.NewFigure("x", wharf)}.Against("c", report.NewFigure("x", ceiling))
	}
	tests := map[string]struct {
		row  report.Row
		want string
	}{
		"one slow round does not decide":   {row([]float64{10, 60, 70}, []float64{100, 100, 100}).Must(report.AtLeast, 0.6), "met"},
		"each round has its own ceiling":   {row([]float64{50, 50, 50}, []float64{100, 50, 100}).Must(report.AtLeast, 0.6), "missed"},
		"a latency must not be above":      {row([]float64{6}, []float64{1}).Must(report.AtMost, 5), "missed"},
		"without a ceiling the unit's own": {report.Row{Wharf: report.NewFigure("ms", []float64{150})}.Must(report.AtMost, 150), "met"},
		"a goal in the unit, with a ceiling": {report.Row{Wharf: report.NewFigure("x", []float64{7})}.
			Against("c", report.NewFigure("x", []float64{100})).MustBe(report.AtLeast, 6), "met"},
		"no goal, no verdict": {row([]float64{1}, []float64{1}), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.row.Verdict(); got != tt.want {
				t.Errorf("verdict %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	for want, samples := range map[float64][]float64{2: {3, 1, 2}, 2.5: {4, 1, 3, 2}, 7: {7}} {
		if got := report.Median(samples); got != want {
			t.Errorf("median of %v is %v, want %v", samples, got, want)
		}
	}
}

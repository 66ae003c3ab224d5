package suite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	// goalSeen is how many microseconds a look-up may take at the 99th percentile, and
	// goalSeenBytes what an id may take on disk.
	goalSeen      = 1_000
	goalSeenBytes = 60
	// seenLookups is how many look-ups are made of each kind.
	seenLookups = "200000x"
)

// measureDedupe runs the store's own benchmark of look-ups among as many deliveries as
// Config.IDs says. Filling takes longest, and so there is one round.
func measureDedupe(ctx context.Context, s *Suite) ([]report.Row, error) {
	dir, remove, err := s.folder("dedupe")
	if err != nil {
		return nil, err
	}
	defer remove()
	out, err := s.seenBenchmark(ctx, dir)
	if err != nil {
		return nil, err
	}
	one, err := benchmarkMetrics(out, "BenchmarkSeen/1")
	if err != nil {
		return nil, err
	}
	many, err := benchmarkMetrics(out, "BenchmarkSeen/64")
	if err != nil {
		return nil, err
	}
	among := fmt.Sprintf(", %d ids in the window", s.IDs)
	row := func(what, unit string, v float64) report.Row {
		return report.Row{What: what + among, Wharf: report.NewFigure(unit, []float64{v})}
	}
	first := row("dedupe check, one after the other, p99", "µs", one["p99-us"]).Must(report.AtMost, goalSeen)
	first.Note = fmt.Sprintf("p50 %.0f µs; processor time alone: p50 %.0f µs, p99 %.0f µs", one["p50-us"], one["busy-p50-us"], one["busy-p99-us"])
	second := row("dedupe check, 64 callers, 20,000 a second, p99", "µs", many["p99-us"]).Must(report.AtMost, goalSeen)
	second.Note = fmt.Sprintf("p50 %.0f µs; processor time alone: p50 %.0f µs, p99 %.0f µs", many["p50-us"], many["busy-p50-us"], many["busy-p99-us"])
	return []report.Row{first, second, row("an id on disk", "bytes", one["bytes/id"]).Must(report.AtMost, goalSeenBytes)}, nil
}

func (s *Suite) seenBenchmark(ctx context.Context, dir string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkSeen$", "-benchtime", seenLookups, "-timeout", "2h",
		"github.com/wharf-dev/wharf/storage/pebble", "-ids", strconv.FormatInt(s.IDs, 10))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "TMPDIR="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("running the benchmark of look-ups: %w\n%s", err, bytes.TrimSpace(out))
	}
	return out, nil
}

// benchmarkMetrics reads the figures that a benchmark has told, by their units.
func benchmarkMetrics(out []byte, name string) (map[string]float64, error) {
	line := regexp.MustCompile(`(?m)^` + name + `(?:-\d+)?\s+\d+\s+(.*)$`).FindSubmatch(out)
	if line == nil {
		return nil, fmt.Errorf("go test said nothing of %s:\n%s", name, out)
	}
	fields, metrics := bytes.Fields(line[1]), map[string]float64{}
	for i := 0; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(string(fields[i]), 64)
		if err != nil {
			return nil, fmt.Errorf("reading the figures of %s: %w", name, err)
		}
		metrics[string(fields[i+1])] = v
	}
	return metrics, nil
}

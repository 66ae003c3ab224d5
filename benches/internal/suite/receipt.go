package suite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/report"
)

// goalReceipts is how many receipts one core should make a second.
const goalReceipts = 10_000

// measureReceipt runs the receipts' own benchmark on one core: a receipt built,
// canonicalized, hashed and signed.
func measureReceipt(ctx context.Context, s *Suite) ([]report.Row, error) {
	got, err := s.interleave(ctx, []step{{"receipt", s.receiptRound}})
	if err != nil {
		return nil, err
	}
	return []report.Row{report.Row{
		What: "receipt built, canonicalized, hashed and signed, one core", Wharf: report.NewFigure(perSecond, got["receipt"]),
	}.Must(report.AtLeast, goalReceipts)}, nil
}

func (s *Suite) receiptRound(ctx context.Context) (float64, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkReceipt$", "-cpu", "1", "-count", "1",
		"-benchtime", s.Duration.String(), "github.com/wharf-dev/wharf/runtime/receipt")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("running the receipts' benchmark: %w\n%s", err, bytes.TrimSpace(out))
	}
	return benchmarkRate(out, "BenchmarkReceipt")
}

// benchmarkRate reads what go test says of a benchmark.
func benchmarkRate(out []byte, name string) (perSecond float64, err error) {
	line := regexp.MustCompile(`(?m)^` + name + `(?:-\d+)?\s+\d+\s+([0-9.]+) ns/op`).FindSubmatch(out)
	if line == nil {
		return 0, fmt.Errorf("go test said nothing of %s:\n%s", name, out)
	}
	nanos, err := strconv.ParseFloat(string(line[1]), 64)
	if err != nil {
		return 0, fmt.Errorf("reading the time of %s: %w", name, err)
	}
	return float64(time.Second) / nanos, nil
}

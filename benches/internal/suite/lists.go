package suite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/wharf-dev/wharf/benches/internal/report"
)

// goalList is how many times longer a page of a long list may take than one of a short list.
const goalList = 1.5

// measureLists runs the store's own benchmark of pages of 50, of lists of a thousand and of a
// million.
func measureLists(ctx context.Context, s *Suite) ([]report.Row, error) {
	dir, remove, err := s.folder("lists")
	if err != nil {
		return nil, err
	}
	defer remove()
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkListPage$", "-benchtime", "500x", "-timeout", "1h",
		"github.com/wharf-dev/wharf/storage/pebble")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "TMPDIR="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("running the benchmark of lists: %w\n%s", err, bytes.TrimSpace(out))
	}
	var rows []report.Row
	for _, scope := range []string{"tenant", "workspace"} {
		short, err := benchmarkMetrics(out, "BenchmarkListPage/1000/"+scope+"/newest")
		if err != nil {
			return nil, err
		}
		for _, page := range []string{"newest", "oldest", "forward", "backward", "offset-900", "offset-10000"} {
			long, err := benchmarkMetrics(out, "BenchmarkListPage/1000000/"+scope+"/"+page)
			if err != nil {
				return nil, err
			}
			row := report.Row{What: "a page of 50 of 1,000,000, " + scope + ", " + page + ", in first pages of 50 of 1,000",
				Wharf: report.NewFigure("times", []float64{long["p50-us"] / short["p50-us"]})}.Must(report.AtMost, goalList)
			row.Note = fmt.Sprintf("p50 %.0f µs, and %.0f µs", long["p50-us"], short["p50-us"])
			rows = append(rows, row)
		}
	}
	return rows, nil
}

package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/benches/internal/load"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	// fewExecutions are those of the list that a long one is compared with.
	fewExecutions = 1_000
	listedWarmup  = 20
	listedSamples = 200
	listedLimit   = 10 * time.Second // of a round of a page, however few it has read by then
)

// listPage is a page of 50: its query, and that of the page of a short list that it is compared
// with.
type listPage struct {
	what, path, short string
	goal              bool
}

// measureHarnessLists measures pages of the list of executions, through two nodes of which one has
// a million and the other a thousand. Each request to one is followed by the same to the other.
func measureHarnessLists(ctx context.Context, s *Suite) ([]report.Row, error) {
	full, remove, err := s.dataFolder("full")
	if err != nil {
		return nil, err
	}
	defer remove()
	small, removeSmall, err := s.dataFolder("small")
	if err != nil {
		return nil, err
	}
	defer removeSmall()
	if err := s.execute(ctx, small, fewExecutions); err != nil {
		return nil, err
	}
	if err := s.execute(ctx, full, s.Executions); err != nil {
		return nil, err
	}
	return s.listBoth(ctx, full, small)
}

// execute completes executions on a folder.
func (s *Suite) execute(ctx context.Context, dir string, count int) error {
	n, err := s.start(ctx, dir)
	if err != nil {
		return err
	}
	for done := 0; done < count; {
		plan := s.plan(n.Addr, []string{""}, shape{wait: true, fresh: true})
		plan.Warmup, plan.Measure, plan.MaxRequests = 0, fillSlice, int64(count-done)
		result, err := load.Run(ctx, plan)
		if err == nil && len(result.IDs) == 0 {
			err = fmt.Errorf("nothing was executed; an answer was %s", result.Example)
		}
		if err != nil {
			n.Kill()
			return withOutput(err, n)
		}
		if done += len(result.IDs); count > fewExecutions {
			s.say("  %d of %d executions", done, count)
		}
	}
	return n.Stop()
}

// listBoth reads pages of the lists of both folders.
func (s *Suite) listBoth(ctx context.Context, full, small string) ([]report.Row, error) {
	long, err := s.start(ctx, full)
	if err != nil {
		return nil, err
	}
	defer long.Kill()
	short, err := s.start(ctx, small)
	if err != nil {
		return nil, err
	}
	defer short.Kill()
	pages, err := listPages(long)
	if err != nil {
		return nil, err
	}
	var rows []report.Row
	for _, p := range pages {
		many, few, err := s.pageOfBoth(ctx, p, long, short)
		if err != nil {
			return nil, err
		}
		row := report.Row{What: fmt.Sprintf("a page of 50 of %d executions, %s, p50", s.Executions, p.what), Wharf: report.NewFigure("µs", many)}.
			Against(fmt.Sprintf("of %d", fewExecutions), report.NewFigure("µs", few))
		if p.goal {
			row = row.Must(report.AtMost, goalList)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// listPages are the pages that are read. Where a short list has none of the kind, its newest page
// is compared.
func listPages(long *node.Node) ([]listPage, error) {
	const list = harnessPath + "/executions?limit=50"
	deep := list + "&offset=10000"
	var page struct {
		Total  int    `json:"total"`
		Cursor string `json:"cursor"`
	}
	if err := long.Call("GET", deep, nil, &page); err != nil {
		return nil, err
	}
	if page.Cursor == "" {
		return nil, fmt.Errorf("a list of %d has nothing behind 10,000", page.Total)
	}
	return []listPage{
		{"newest", list, list, true},
		{"offset 900", list + "&offset=900", list + "&offset=900", true},
		{"offset 10,000", deep, list, true},
		{"by cursor from there on", list + "&cursor=" + page.Cursor, list, true},
		{"by an agent, newest", list + "&agent_id=" + persona, list + "&agent_id=" + persona, false},
		{"of the completed ones, newest", list + "&status=completed", list + "&status=completed", false},
		{"of the failed ones, of which there are none", list + "&status=failed", list + "&status=failed", false},
		{"Harn's list of Tasks, newest", "/v1/tasks?limit=50", "/v1/tasks?limit=50", false},
	}, nil
}

// pageOfBoth returns what a page takes, p50 of each round, in µs.
func (s *Suite) pageOfBoth(ctx context.Context, p listPage, long, short *node.Node) (many, few []float64, err error) {
	for range s.Rounds {
		var tookMany, tookFew []time.Duration
		begun := time.Now()
		for i := 0; i < listedWarmup+listedSamples && (len(tookMany) == 0 || time.Since(begun) < listedLimit); i++ {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			a, err := page(long, p.path)
			if err != nil {
				return nil, nil, withOutput(err, long)
			}
			b, err := page(short, p.short)
			if err != nil {
				return nil, nil, withOutput(err, short)
			}
			if i >= listedWarmup || time.Since(begun) > listedLimit/2 {
				tookMany, tookFew = append(tookMany, a), append(tookFew, b)
			}
		}
		many, few = append(many, micros(quantile(tookMany, 0.5))), append(few, micros(quantile(tookFew, 0.5)))
	}
	s.say("  %s: %.0f µs, %.0f µs of a short list", p.what, report.Median(many), report.Median(few))
	return many, few, nil
}

// page reads a page, and returns how long that took.
func page(n *node.Node, path string) (time.Duration, error) {
	start := time.Now()
	status, body, err := n.Do("GET", path, nil)
	took := time.Since(start)
	if err != nil {
		return 0, err
	}
	var got struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if status != 200 || json.Unmarshal(body, &got) != nil {
		return 0, fmt.Errorf("%s was answered with %d: %.300s", path, status, body)
	}
	return took, nil
}

package pebble

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// listedTasks fills a store with Tasks of one Workspace, which have ended, and reopens it.
func listedTasks(b *testing.B, n int) *Store {
	b.Helper()
	dir := b.TempDir()
	s := openBench(b, dir)
	var last storage.Commit
	for i := range n {
		r := abi.ResourcePointer{Object: abi.ObjectTask, ID: listedTask(i)}
		state := fmt.Appendf(nil, `{"id":%q,"object":"task","workspace_id":"ws_default","persona_id":"persona_echo","metadata":{},"padding":"%0*d"}`, r.ID, 400, 0)
		last = s.Append(&storage.Batch{Frame: storage.Frame{Tenant: 1, WorkspaceID: "ws_default", TaskID: r.ID, Records: []storage.Record{
			{Kind: abi.EventTaskSubmitted, Resource: r, Created: true, State: state},
			{Kind: abi.EventTaskCompleted, Resource: r, Sequence: 1, State: state},
		}}})
	}
	if _, err := last.Wait(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return openBench(b, dir)
}

// listedTask returns the id of a Task: there is one in each millisecond.
func listedTask(i int) string {
	return abi.LeastID(abi.ObjectTask, time.UnixMilli(1_700_000_000_000+int64(i)))
}

func openBench(b *testing.B, dir string) *Store {
	b.Helper()
	s, err := Open(dir, benchOptions())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkListTotal counts a list of a thousand and of a million, all of it and between two times.
func BenchmarkListTotal(b *testing.B) {
	for _, n := range []int{1_000, 1_000_000} {
		s := listedTasks(b, n)
		for name, p := range map[string]storage.Page{"all": {}, "half": {Least: listedTask(n / 4), Below: listedTask(n/4 + n/2)}} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				p.Limit = 2 * n
				for b.Loop() {
					if got, _, err := s.Count(b.Context(), 1, abi.ObjectTask, storage.Scope{}, p); err != nil || got != n && got != n/2 {
						b.Fatal(got, err)
					}
				}
			})
		}
	}
}

// BenchmarkListPage reads pages of 50 of a list of a thousand and of a million.
func BenchmarkListPage(b *testing.B) {
	for _, n := range []int{1_000, 1_000_000} {
		s := listedTasks(b, n)
		middle := listedTask(n / 2)
		for _, p := range []struct {
			name string
			page storage.Page
		}{
			{"newest", storage.Page{}}, {"oldest", storage.Page{Oldest: true}},
			{"forward", storage.Page{After: middle}}, {"backward", storage.Page{After: middle, Oldest: true}},
			{"offset-900", storage.Page{Offset: 900}}, {"offset-10000", storage.Page{Offset: storage.MaxOffset}},
		} {
			for _, scope := range []storage.Scope{{}, {Object: abi.ObjectWorkspace, ID: "ws_default"}} {
				if p.page.Offset > n {
					continue
				}
				p.page.Limit = 50
				b.Run(fmt.Sprintf("%d/%s/%s", n, cmp.Or(scope.Object, abi.ObjectTenant), p.name), func(b *testing.B) {
					var took []time.Duration
					for b.Loop() {
						began := time.Now()
						list, _, err := s.List(b.Context(), 1, abi.ObjectTask, scope, p.page)
						if err != nil || len(list) != 50 {
							b.Fatal(len(list), err)
						}
						took = append(took, time.Since(began))
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-us")
				})
			}
		}
	}
}

package suite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/engines"
	"github.com/wharf-dev/wharf/benches/internal/guests"
	"github.com/wharf-dev/wharf/benches/internal/languages"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// spoken is the plugin in one language, with one kit.
type spoken struct {
	name  string
	bytes int // of the module, without what debuggers read
	// ask does a Task of so many calls, and returns what it took the guest.
	ask func(ctx context.Context, calls int) (time.Duration, error)
}

// measureLanguages measures the module and the host calls of one plugin in each language: with the SDKs of Wharf in its
// sandbox, and with Extism's kits in Extism's SDK. What a call takes is what a Task of a thousand takes more than one
// of a single call, by each; it includes what the kit does with the JSON.
func measureLanguages(ctx context.Context, s *Suite) ([]report.Row, error) {
	var rows []report.Row
	for _, l := range languages.All() {
		wasm, err := l.Build(ctx, s.Binary, s.Dir)
		if err != nil { // its tools may be missing
			s.say("%s is left out: %v", l.Name, err)
			continue
		}
		more, err := s.language(ctx, l, wasm)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func (s *Suite) language(ctx context.Context, l languages.Language, wasm []byte) ([]report.Row, error) {
	ours, done, err := speakWharf(ctx, l.Name, wasm)
	if err != nil {
		return nil, err
	}
	defer done()
	subjects := []*spoken{ours}
	if wasm, err = l.Extism(); err != nil {
		return nil, err
	}
	if wasm != nil {
		theirs, done, err := speakExtism(ctx, l.Name, wasm)
		if err != nil {
			return nil, err
		}
		defer done()
		subjects = append(subjects, theirs)
	}
	var steps []step
	for _, subject := range subjects {
		steps = append(steps, step{subject.name, func(ctx context.Context) (float64, error) { return s.callOf(ctx, subject) }})
	}
	got, err := s.interleave(ctx, steps)
	if err != nil {
		return nil, err
	}
	return languageRows(l, subjects, got), nil
}

func languageRows(l languages.Language, subjects []*spoken, got map[string][]float64) []report.Row {
	const extism = "Extism's kit"
	size := report.Row{What: l.Name + ": the module, stripped", Wharf: kilobytes(subjects[0])}
	call := report.Row{What: l.Name + ": a host call, 100 bytes in and out", Wharf: report.NewFigure("µs", got[subjects[0].name])}
	if len(subjects) > 1 {
		size = size.Against(extism, kilobytes(subjects[1]))
		call = call.Against(extism, report.NewFigure("µs", got[subjects[1].name]))
	}
	if l.Bare {
		call.Note = "Extism's kit has no JSON here: its plugin takes the bytes as they are"
	}
	return []report.Row{size, call}
}

func kilobytes(s *spoken) report.Figure {
	return report.NewFigure("KB", []float64{float64(s.bytes) / 1000})
}

func speakWharf(ctx context.Context, name string, wasm []byte) (*spoken, func(), error) {
	size, err := languages.Stripped(wasm)
	if err != nil {
		return nil, nil, err
	}
	module, done, err := compiled(ctx, wasm)
	if err != nil {
		return nil, nil, err
	}
	host := engines.NewHost()
	return &spoken{name + " wharf", size, func(ctx context.Context, calls int) (time.Duration, error) {
		host.Forget()
		host.Ask(strconv.Itoa(calls))
		usage, err := module.Run(ctx, abi.DefaultExport, host, sandbox.Limits{})
		if err == nil {
			err = host.Made(calls)
		}
		return usage.Run, err
	}}, done, nil
}

func speakExtism(ctx context.Context, name string, wasm []byte) (*spoken, func(), error) {
	size, err := languages.Stripped(wasm)
	if err != nil {
		return nil, nil, err
	}
	host := engines.NewHost()
	p, err := engines.NewExtism(ctx, wasm, host)
	if err != nil {
		return nil, nil, err
	}
	return &spoken{name + " extism", size, func(ctx context.Context, calls int) (time.Duration, error) {
		host.Forget()
		took, err := engines.ExtismRun(ctx, p, strconv.Itoa(calls))
		if err == nil {
			err = host.Made(calls)
		}
		return took, err
	}}, func() { p.Close(context.WithoutCancel(ctx)) }, nil
}

// callOf makes host calls for a while, and yields what one took, in µs: by the medians of Tasks.
func (s *Suite) callOf(ctx context.Context, subject *spoken) (float64, error) {
	var one, many []time.Duration
	for start := time.Now(); time.Since(start) < s.Duration || len(many) < 3; {
		for _, n := range []int{1, 1 + guests.Calls} {
			took, err := subject.ask(ctx, n)
			if err != nil {
				return 0, err
			}
			if n == 1 {
				one = append(one, took)
			} else {
				many = append(many, took)
			}
		}
	}
	slices.Sort(one)
	slices.Sort(many)
	return micros(quantile(many, 0.5)-quantile(one, 0.5)) / guests.Calls, nil
}

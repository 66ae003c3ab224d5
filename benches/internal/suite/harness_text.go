package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/model"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/plugins"
)

const (
	textWarmup  = 10
	textSamples = 100
	textLimit   = time.Minute // of one execution
	// goalText is how many ms the first text may come later than it does on Harn's stream.
	goalText = 1
)

// harnessPath is where the Open Harness API has the harness that every tenant has.
const harnessPath = "/v1/harnesses/wharf"

// measureHarnessText measures how long after a model's first piece a client reads the first text:
// on execute/stream, and on the stream of a Session that a Task is submitted to. Both ask the
// bundled agent, and both streams are open before the model says anything.
func measureHarnessText(ctx context.Context, s *Suite) ([]report.Row, error) {
	p99 := map[string][]float64{}
	of := func(name string, ask asking) step {
		return step{name, func(ctx context.Context) (float64, error) {
			took, err := s.firstTexts(ctx, ask)
			if err != nil {
				return 0, err
			}
			p99[name] = append(p99[name], micros(quantile(took, 0.99)))
			return micros(quantile(took, 0.5)), nil
		}}
	}
	got, err := s.interleave(ctx, []step{of("harn", askHarn), of("harness", askHarness)})
	if err != nil {
		return nil, err
	}
	later := make([]float64, len(got["harness"]))
	for i := range later {
		later[i] = (got["harness"][i] - got["harn"][i]) / 1000
	}
	of99 := func(name string) string { return fmt.Sprintf("p99 %.0f µs", report.Median(p99[name])) }
	return []report.Row{
		report.Row{What: "first text of execute/stream later than on Harn's stream, p50", Wharf: report.NewFigure("ms", later), Difference: true}.Must(report.AtMost, goalText),
		report.Row{What: "first text of execute/stream after the model's first piece, p50", Wharf: report.NewFigure("µs", got["harness"]), Note: of99("harness")}.
			Against("Harn's stream of a Session", report.NewFigure("µs", got["harn"])),
		{What: "the same on Harn's stream of a Session", Wharf: report.NewFigure("µs", got["harn"]), Note: of99("harn")},
	}, nil
}

// asking begins one execution with a stream on which its text comes; text is the kind of the events
// that have some, and over that of the last one. close ends what is no longer needed.
type asking func(ctx context.Context, n *node.Node) (stream *node.Stream, text, over string, err error)

func askHarness(ctx context.Context, n *node.Node) (*node.Stream, string, string, error) {
	stream, err := n.PostStream(ctx, harnessPath+"/execute/stream", shape{harness: true, persona: plugins.PersonaAgent}.body())
	return stream, "text", "done", err
}

func askHarn(ctx context.Context, n *node.Node) (*node.Stream, string, string, error) {
	sessions, err := n.CreateSessions(1, plugins.PersonaAgent)
	if err != nil {
		return nil, "", "", err
	}
	stream, err := n.Stream(ctx, "/v1/sessions/"+sessions[0]+"/events/stream")
	if err != nil {
		return nil, "", "", err
	}
	_, err = n.Submit(sessions[0], taskFor(plugins.PersonaAgent), "")
	return stream, string(abi.EventMessageDelta), string(abi.EventTaskCompleted), err
}

// firstTexts runs one execution after the other on a fresh node, and returns how long after the
// model's first piece the client had the first text of each.
func (s *Suite) firstTexts(ctx context.Context, ask asking) ([]time.Duration, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return nil, err
	}
	defer remove()
	provider := model.New()
	defer provider.Close()
	config, err := provider.WriteConfig(dir)
	if err != nil {
		return nil, err
	}
	n, err := s.startWith(ctx, dir, []string{"--config", config}, nil)
	if err != nil {
		return nil, err
	}
	defer n.Kill()
	var took []time.Duration
	for range textWarmup + textSamples {
		one, err := firstText(ctx, n, provider, ask)
		if err != nil {
			return nil, withOutput(err, n)
		}
		took = append(took, one)
	}
	return took[textWarmup:], nil
}

func firstText(ctx context.Context, n *node.Node, provider *model.Provider, ask asking) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, textLimit)
	defer cancel()
	stream, text, over, err := ask(ctx, n)
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	provider.Begin()
	first, err := until(stream, text)
	if err != nil {
		return 0, err
	}
	read := time.Now()
	if said, _, _ := strings.Cut(model.Text(), "."); !bytes.Contains(first.Data, []byte(said)) {
		return 0, fmt.Errorf("the first text was %.300s", first.Data)
	}
	begun, err := provider.Begun(ctx)
	if err != nil {
		return 0, err
	}
	_, err = until(stream, over)
	return read.Sub(begun), err
}

// until reads a stream to the next event of a kind.
func until(stream *node.Stream, kind string) (node.Frame, error) {
	for {
		f, err := stream.Next()
		if err != nil || f.Event == kind {
			return f, err
		}
		if f.Event == "error" || f.Event == string(abi.EventTaskFailed) {
			return f, errors.New("the stream tells of a failure: " + string(f.Data))
		}
	}
}

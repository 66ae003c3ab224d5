package suite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/ceiling"
	"github.com/wharf-dev/wharf/benches/internal/fanout"
	"github.com/wharf-dev/wharf/benches/internal/load"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	fanoutEvents = 2000 // live events that every reader gets
	fanoutLimit  = time.Minute
	bulkWrite    = 32 << 10 // bytes a write of the coalescing ceiling
)

// messageBody is one event of the fan-out as its author sends it.
const messageBody = `{"message":{"role":"user","parts":[{"type":"text","text":"Depot 14 reports two trailers less than planned for the evening run; the orders from Monday are still waiting for a slot.","visibility":"public"}]}}`

// measureFanout measures how many events reach many readers of one Session while
// they happen. The ceiling writes the very bytes that a reader of the node got.
func measureFanout(ctx context.Context, s *Suite) ([]report.Row, error) {
	frames := filepath.Join(s.Dir, "frames")
	defer os.Remove(frames)
	if _, err := s.fanoutNode(ctx, frames); err != nil { // also the warm-up
		return nil, err
	}
	bare := func(write int) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) { return s.fanoutBare(ctx, frames, write) }
	}
	got, err := s.interleave(ctx, []step{
		{"bare", bare(0)},
		{"fanout", func(ctx context.Context) (float64, error) { return s.fanoutNode(ctx, frames) }},
		{"bare, coalesced", bare(bulkWrite)},
	})
	if err != nil {
		return nil, err
	}
	row := report.Row{What: fmt.Sprintf("events delivered over SSE, %d readers of one session", s.Readers), Wharf: report.NewFigure(perSecond, got["fanout"])}
	bulk := report.Row{What: "the same, against large writes", Wharf: row.Wharf,
		Note: fmt.Sprintf("a ceiling that has all events beforehand and writes %d KiB at a time; no server of live events can", bulkWrite>>10)}
	return []report.Row{
		row.Against("bare writer loop, one write an event", report.NewFigure(perSecond, got["bare"])).Must(report.AtLeast, 0.5),
		bulk.Against("bare writer loop, large writes", report.NewFigure(perSecond, got["bare, coalesced"])),
	}, nil
}

// fanoutNode has readers follow a Session of a node, live, and saves the events
// that one of them got to a file.
func (s *Suite) fanoutNode(ctx context.Context, frames string) (float64, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return 0, err
	}
	defer remove()
	args, profile, err := s.profiled("fanout")
	if err != nil {
		return 0, err
	}
	n, err := s.startWith(ctx, dir, args, nil)
	if err != nil {
		return 0, err
	}
	defer n.Kill()
	defer profile(ctx)()
	rate, stream, err := s.follow(ctx, n)
	if err != nil {
		return 0, withOutput(err, n)
	}
	return rate, os.WriteFile(frames, stream, 0o600)
}

// follow opens the readers, publishes, and waits until all of them have seen all
// of it. It returns the deliveries a second and the bytes of the live events.
func (s *Suite) follow(ctx context.Context, n *node.Node) (float64, []byte, error) {
	sessions, err := n.CreateSessions(1, persona)
	if err != nil {
		return 0, nil, err
	}
	path := "/v1/sessions/" + sessions[0]
	history, err := n.CountEvents(path)
	if err != nil {
		return 0, nil, err
	}
	var stream bytes.Buffer
	deadline := time.Now().Add(fanoutLimit)
	readers, err := fanout.Open(ctx, n.Addr, s.Readers, n.StreamRequest(path+"/events/stream"), fanout.EveryEvent, history+fanoutEvents, deadline, &stream)
	if err != nil {
		return 0, nil, err
	}
	defer readers.Close()
	if err := awaitSeen(ctx, readers, history, deadline); err != nil {
		return 0, nil, err
	}
	start := time.Now()
	if err := s.publish(ctx, n, path+"/messages"); err != nil {
		return 0, nil, err
	}
	last, err := readers.Wait()
	if err != nil {
		return 0, nil, err
	}
	return rate(s.Readers, last.Sub(start)), lastFrames(stream.Bytes(), fanoutEvents), nil
}

// rate is the deliveries a second when every reader got everything in took.
func rate(readers int, took time.Duration) float64 {
	return float64(readers) * fanoutEvents / took.Seconds()
}

// awaitSeen returns when every reader has seen so many events.
func awaitSeen(ctx context.Context, r *fanout.Readers, events int, deadline time.Time) error {
	for r.Seen() < events {
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("a reader has seen %d of %d events", r.Seen(), events)
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// publish appends the Messages that the readers wait for, over enough connections
// that the readers and not the disk decide how long it takes.
func (s *Suite) publish(ctx context.Context, n *node.Node, path string) error {
	result, err := load.Run(ctx, load.Plan{
		Addr: n.Addr, Conns: s.Conns, Measure: fanoutLimit, MaxRequests: fanoutEvents,
		Counts: func(status int, _ []byte) bool { return status/100 == 2 },
		Requests: func(int) *load.Request {
			return load.NewRequest("POST", n.Addr, path, node.Headers(), false, []byte(messageBody))
		},
	})
	if err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	if len(result.Refused) > 0 {
		return fmt.Errorf("publishing was refused: %v, such as %s", result.Refused, result.Example)
	}
	return nil
}

// lastFrames returns the last n events of a stream, comments left out.
func lastFrames(stream []byte, n int) []byte {
	var frames [][]byte
	for len(stream) > 0 {
		end := ceiling.FrameEnd(stream, 0)
		if bytes.Contains(stream[:end], []byte("\ndata:")) {
			frames = append(frames, stream[:end])
		}
		stream = stream[end:]
	}
	return bytes.Join(frames[max(0, len(frames)-n):], nil)
}

// fanoutBare has the same readers follow the bare writer loop.
func (s *Suite) fanoutBare(ctx context.Context, frames string, write int) (float64, error) {
	server, err := ceiling.Start(ctx, s.Self, "write", "-readers", fmt.Sprint(s.Readers), "-frames", frames, "-write", fmt.Sprint(write))
	if err != nil {
		return 0, err
	}
	defer server.Stop()
	request := []byte("GET / HTTP/1.1\r\nHost: bare\r\n\r\n")
	readers, err := fanout.Open(ctx, server.Addr, s.Readers, request, fanout.EveryEvent, fanoutEvents, time.Now().Add(fanoutLimit), nil)
	if err != nil {
		return 0, err
	}
	defer readers.Close()
	start := time.Now()
	if err := server.Begin(); err != nil {
		return 0, err
	}
	last, err := readers.Wait()
	if err != nil {
		return 0, err
	}
	return rate(s.Readers, last.Sub(start)), nil
}

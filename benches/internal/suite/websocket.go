package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fasthttp/websocket"

	"github.com/wharf-dev/wharf/benches/internal/ceiling"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/benches/internal/socket"
)

// The commands that are measured, and what their answers begin with. The ceiling
// sends the text of the second back.
const (
	pingFrame    = `{"type":"ping","id":"c1"}`
	readFrame    = `{"type":"session.get","id":"c1"}`
	messageFrame = `{"type":"message","id":"c1","message":{"role":"user","parts":[{"type":"text","text":"Depot 14 reports two trailers less than planned.","visibility":"public"}]}}`
	pongFrame    = `{"type":"pong"`
	ackFrame     = `{"type":"ack"`
)

// measureEcho measures commands over WebSockets against a server that sends every
// message back.
func measureEcho(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	of := func(name, frame, answer string) step {
		return c.step(name, func(ctx context.Context) (sample, error) { return s.commands(ctx, frame, answer) })
	}
	got, err := s.interleave(ctx, []step{
		c.step("ceiling", s.echoes),
		of("read", readFrame, ackFrame), of("ping", pingFrame, pongFrame), of("message", messageFrame, ackFrame),
	})
	if err != nil {
		return nil, err
	}
	ceiling := report.NewFigure(perSecond, got["ceiling"])
	row := func(name, what string) report.Row {
		r := report.Row{What: what, Wharf: report.NewFigure(perSecond, got[name]), Note: c.note(name)}
		return r.Against("bare echo", ceiling)
	}
	of64 := fmt.Sprintf(", %d WebSockets", s.Conns)
	return []report.Row{
		row("read", "command answered with a Session (session.get)"+of64).Must(report.AtLeast, 0.4),
		row("ping", "command answered with nothing (ping)"+of64).Must(report.AtLeast, 0.4),
		row("message", "command durable and acknowledged (message), its event delivered too"+of64),
	}, nil
}

// echoes measures the bare server.
func (s *Suite) echoes(ctx context.Context) (sample, error) {
	server, err := ceiling.Start(ctx, s.Self, "echo")
	if err != nil {
		return sample{}, err
	}
	defer server.Stop()
	conns, err := socket.OpenAll(server.Addr, s.Conns, func(int) string { return "/" }, nil)
	if err != nil {
		return sample{}, err
	}
	defer socket.CloseAll(conns)
	return s.runSockets(ctx, conns, readFrame, readFrame, server.CPU)
}

// commands measures a node, with a Session for each socket.
func (s *Suite) commands(ctx context.Context, frame, answer string) (sample, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return sample{}, err
	}
	defer remove()
	args, profile, err := s.profiled("websocket")
	if err != nil {
		return sample{}, err
	}
	n, err := s.startWith(ctx, dir, args, nil)
	if err != nil {
		return sample{}, err
	}
	defer n.Kill()
	defer profile(ctx)()
	conns, err := s.sessionSockets(n, s.Conns)
	if err != nil {
		return sample{}, withOutput(err, n)
	}
	defer socket.CloseAll(conns)
	got, err := s.runSockets(ctx, conns, frame, answer, n.CPU)
	if err != nil {
		return sample{}, withOutput(err, n)
	}
	return got, nil
}

// sessionSockets connects to as many Sessions.
func (s *Suite) sessionSockets(n *node.Node, count int) ([]*websocket.Conn, error) {
	sessions, err := n.CreateSessions(count, persona)
	if err != nil {
		return nil, err
	}
	return socket.OpenAll(n.Addr, count, func(i int) string { return "/v1/sessions/" + sessions[i] + "/connect" }, node.Headers())
}

func (s *Suite) runSockets(ctx context.Context, conns []*websocket.Conn, frame, answer string, cpu func() (time.Duration, error)) (sample, error) {
	var used [2]time.Duration
	count, took, err := socket.Run(ctx, conns, socket.Plan{
		Frame: []byte(frame), Answer: []byte(answer), Warmup: s.Warmup, Measure: s.Duration,
		Window: func(open bool) {
			if spent, err := cpu(); err == nil && open {
				used[0] = spent
			} else if err == nil {
				used[1] = spent
			}
		},
	})
	if err != nil {
		return sample{}, err
	}
	if count == 0 {
		return sample{}, errors.New("nothing was answered within the window")
	}
	return sample{rate: float64(count) / took.Seconds(), cpu: (used[1] - used[0]) / time.Duration(count)}, nil
}

// idleSockets is how many are left open.
const idleSockets = 5000

// measureIdleSockets measures what open WebSockets that say nothing keep resident,
// each that of a Session of its own.
func measureIdleSockets(ctx context.Context, s *Suite) ([]report.Row, error) {
	var total, each []float64
	for round := range min(s.Rounds, memoryRounds) {
		before, with, err := s.idleSocketsRound(ctx)
		if err != nil {
			return nil, err
		}
		s.say("  round %d: %.1f MB before, %.1f MB with sockets", round+1, before, with)
		total = append(total, with)
		each = append(each, (with-before)*megabyte/1000/idleSockets)
	}
	return []report.Row{
		report.Row{What: fmt.Sprintf("resident memory with %d idle WebSockets", idleSockets), Wharf: report.NewFigure("MB", total)}.Must(report.AtMost, 150),
		{What: "what each of them adds", Wharf: report.NewFigure("KB", each)},
	}, nil
}

func (s *Suite) idleSocketsRound(ctx context.Context) (before, with float64, err error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return 0, 0, err
	}
	defer remove()
	n, err := s.start(ctx, dir, fmt.Sprint("WHARF_LIMITS_STREAMS=", idleSockets+100))
	if err != nil {
		return 0, 0, err
	}
	defer n.Kill()
	if before, err = settled(ctx, n); err != nil {
		return 0, 0, err
	}
	conns, err := s.sessionSockets(n, idleSockets)
	if err != nil {
		return 0, 0, withOutput(err, n)
	}
	defer socket.CloseAll(conns)
	for _, c := range conns {
		go func() {
			for {
				if _, _, err := c.ReadMessage(); err != nil {
					return
				}
			}
		}()
	}
	time.Sleep(2 * settle) // every socket has been pinged by then, or is about to be
	with, err = settled(ctx, n)
	return before, with, err
}

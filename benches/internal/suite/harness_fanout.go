package suite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/fanout"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

// goalHarnessFanout is how much of Harn's rate is reached.
const goalHarnessFanout = 0.8

// talkedAtOnce is how many Messages the Task says before it waits for its readers to have all of
// them: they decide the pace, and what they read is live.
const talkedAtOnce = 100

// talkingTask waits for input, and then says something, as often as readers are to be told.
func talkingTask(atOnce int) []byte {
	const asks = `{"call":"input.request","request":{"prompt":"Which depot is meant?"}}`
	const says = `{"call":"message.append","request":{"role":"assistant","parts":[{"type":"text","text":"Depot 14 reports two trailers less than planned for the evening run; the orders from Monday are still waiting for a slot.","visibility":"public"}]},"repeat":%d}`
	once := asks + "," + fmt.Sprintf(says, atOnce)
	program := strings.Repeat(once+",", fanoutEvents/atOnce-1) + once
	return fmt.Appendf(nil, `{"input":{"program":[%s]},"persona_id":%q}`, program, personaCalls)
}

// told is a stream of a Task: where it is, and what each of its events that tell a Message has in it.
type told struct {
	name, before, after, mark string
	atOnce                    int // Messages that are said at once
}

// saidByTask is in each Message of the talking Task, once.
const saidByTask = "Depot 14 reports two trailers"

// measureHarnessFanout measures how many Messages of one Task reach many readers of its stream
// while the Task says them, by execution streams and by Harn's streams of the Task.
func measureHarnessFanout(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	of := func(t told) step {
		return c.step(t.name, func(ctx context.Context) (sample, error) { return s.talk(ctx, t) })
	}
	got, err := s.interleave(ctx, []step{
		of(told{"fanout-harn", "/v1/tasks/", "/stream", fanout.EventsOf(string(abi.EventAgentMessage)), talkedAtOnce}),
		of(told{"fanout-harness", harnessPath + "/executions/", "/stream", fanout.EventsOf("text"), talkedAtOnce}),
	})
	if err != nil {
		return nil, err
	}
	row := report.Row{What: fmt.Sprintf("texts delivered over SSE, %d readers of one execution", s.Readers), Wharf: report.NewFigure(perSecond, got["fanout-harness"]),
		Note: fmt.Sprintf("processor time of the server for each: %.2f µs (Harn's: %.2f µs)", report.Median(c.cpu["fanout-harness"]), report.Median(c.cpu["fanout-harn"]))}
	return []report.Row{row.Against("Harn's streams of the Task", report.NewFigure(perSecond, got["fanout-harn"])).Must(report.AtLeast, goalHarnessFanout)}, nil
}

// talk has readers follow a Task that waits, lets it go on, and measures until all of them have
// been told everything.
func (s *Suite) talk(ctx context.Context, t told) (sample, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return sample{}, err
	}
	defer remove()
	args, profile, err := s.profiled(t.name)
	if err != nil {
		return sample{}, err
	}
	n, err := s.startWith(ctx, dir, args, s.withPlugins())
	if err != nil {
		return sample{}, err
	}
	defer n.Kill()
	got, err := s.talkOn(ctx, n, t, profile)
	if err != nil {
		return sample{}, withOutput(err, n)
	}
	return got, nil
}

func (s *Suite) talkOn(ctx context.Context, n *node.Node, t told, profile profiler) (sample, error) {
	sessions, err := n.CreateSessions(1, personaCalls)
	if err != nil {
		return sample{}, err
	}
	id, err := n.Submit(sessions[0], talkingTask(t.atOnce), "")
	if err != nil {
		return sample{}, err
	}
	if err := n.Await(ctx, id, "INPUT_REQUIRED", time.Minute, parkEvery); err != nil {
		return sample{}, err
	}
	readers, err := fanout.Open(ctx, n.Addr, s.Readers, n.StreamRequest(t.before+id+t.after), t.mark, fanoutEvents, time.Now().Add(fanoutLimit), nil)
	if err != nil {
		return sample{}, err
	}
	defer readers.Close()
	defer profile(ctx)()
	if err := calm(ctx, n); err != nil { // what came before was told
		return sample{}, err
	}
	before, err := n.CPU()
	if err != nil {
		return sample{}, err
	}
	start := time.Now()
	for said := 0; said < fanoutEvents; said += t.atOnce {
		if err := awaitSeen(ctx, readers, said, time.Now().Add(fanoutLimit)); err != nil {
			return sample{}, err
		}
		if err := n.Await(ctx, id, "INPUT_REQUIRED", fanoutLimit, time.Millisecond); err != nil {
			return sample{}, err
		}
		if err := goOn(n, id); err != nil {
			return sample{}, err
		}
	}
	last, err := readers.Wait()
	if err != nil {
		return sample{}, err
	}
	after, err := n.CPU()
	return sample{rate: rate(s.Readers, last.Sub(start)), cpu: (after - before) / time.Duration(s.Readers*fanoutEvents)}, err
}

// goOn answers a Task that waits for input.
func goOn(n *node.Node, id string) error {
	const input = `{"kind":"input","message":{"role":"user","parts":[{"type":"text","text":"The northern one.","visibility":"public"}]}}`
	status, answer, err := n.Do("POST", "/v1/tasks/"+id+"/messages", []byte(input))
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("answering a waiting Task was answered with %d: %.300s", status, answer)
	}
	return err
}

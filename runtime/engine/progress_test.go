package engine_test

import (
	"context"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// chatty performs calls during which it says so often how far they are.
type chatty struct{ often int }

func (c chatty) Prepare(_ context.Context, call *provider.Call) (provider.Plan, error) {
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) {
		for range c.often {
			call.Progress(abi.Progress{Message: "on"})
		}
		return []byte(`{"content":[]}`), nil
	}}, nil
}

// What performers say meanwhile is told in order, between the beginning of the call and its end, and
// bounded; it takes nothing of what the plugin may tell, and a replay neither needs nor tells it.
func TestProgressOfPerformers(t *testing.T) {
	ask := op{abi.CallToolCall, `{"server":"s","name":"t"}`}
	own := op{abi.CallProgress, `{"fraction":0.5}`}
	p := newProgram(ask, own, ask, own)
	n := boot(t, crashtest.NewDisk(), enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallToolCall: chatty{engine.MaxHints - 5}}
	})
	defer n.Stop(t)
	id := n.Submit(t, n.Session(t), "persona_program")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	tools, owns, open := 0, 0, false
	for after, more := desk.Position(0), true; more; {
		var events []desk.Event
		var err error
		if events, more, err = n.Events(t.Context(), n.Root, desk.Filter{TaskID: id}, after, 1000); err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			after = ev.Position()
			switch rec := ev.Record(); {
			case rec.Kind == abi.EventToolRequested:
				open = true
			case rec.Kind == abi.EventToolCompleted:
				open = false
			case rec.Kind != abi.EventProgress:
			case rec.Restricted:
				if tools++; !open {
					t.Error("it is told of no call")
				}
			default:
				owns++
			}
		}
	}
	if tools != engine.MaxHints || owns != 2 {
		t.Errorf("%d are told of tools, and %d of the plugin", tools, owns)
	}
	again := n.replay(t, id, abi.ReplayTaskRequest{})
	if again.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", again.Status, again.Failure)
	}
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{TaskID: again.ID}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if ev.Record().Kind == abi.EventProgress {
			t.Error("a replay tells it")
		}
	}
}

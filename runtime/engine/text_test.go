package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// speaker is a model that says the same each time, piece by piece where it is asked to.
type speaker struct {
	pieces []string

	mu    sync.Mutex
	stop  int           // before which piece the first call waits for its end; 0 for none
	there chan struct{} // it waits
}

func (s *speaker) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.ModelRequest
	if err := json.Unmarshal(c.Request, &req); err != nil {
		return provider.Plan{}, provider.Malformed(err)
	}
	return provider.Plan{Effect: abi.EffectRead, Do: func(ctx context.Context, emit func(string)) ([]byte, error) {
		s.mu.Lock()
		stop := s.stop
		s.stop = 0
		s.mu.Unlock()
		for i, piece := range s.pieces {
			if stop > 0 && i == stop {
				close(s.there)
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			if req.Stream {
				emit(piece)
			}
		}
		return json.Marshal(&abi.ModelAnswer{Provider: "acme", Model: "m", StopReason: abi.StopEnd, Text: strings.Join(s.pieces, "")})
	}}, nil
}

func speaking(s *speaker) enginetest.Configure {
	return func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallLLMComplete: s}
	}
}

// told is an event that matters to whoever reads along.
type told struct {
	kind abi.EventKind
	abi.MessageDelta
	message abi.Message
}

// readAlong returns what somebody who reads along is told of a Task: its record's events, its text
// and its Messages.
func (n *node) readAlong(t testing.TB, id string) (all []told) {
	t.Helper()
	events, more, err := n.Events(t.Context(), n.Root, desk.Filter{TaskID: id}, 0, 1000)
	if err != nil || more {
		t.Fatal(err, more)
	}
	for _, ev := range events {
		rec := ev.Record()
		one := told{kind: rec.Kind}
		switch rec.Kind {
		case abi.EventMessageDelta:
			err = json.Unmarshal(rec.Payload, &one.MessageDelta)
		case abi.EventAgentMessage:
			err = json.Unmarshal(rec.State, &one.message)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// pieces puts the pieces together that were told of a Message in one attempt, and holds that they
// follow each other.
func pieces(t testing.TB, all []told, message string, attempt int) (text string) {
	t.Helper()
	for _, one := range all {
		if one.kind != abi.EventMessageDelta || one.MessageID != message || one.Attempt != attempt {
			continue
		}
		if one.Offset != len(text) {
			t.Errorf("a piece is at %d, after %d bytes", one.Offset, len(text))
		}
		text += one.Text
	}
	return text
}

var stream = op{abi.CallLLMComplete, `{"messages":[],"stream":true}`}

// Whoever reads along is told the text of a model, and that of a plugin, before the Message that it
// becomes, under that Message's id, and after all that was recorded before it.
func TestTextIsToldBeforeItsMessage(t *testing.T) {
	s := &speaker{pieces: []string{"hello ", "wörld ", "世界"}}
	whole := strings.Join(s.pieces, "")
	piece := func(text string) op { return op{abi.CallMessageDelta, `{"text":"` + text + `"}`} }
	p := newProgram(op{abi.CallEventEmit, `{"kind":"com.example.before"}`}, stream, say(whole), piece("by "), piece("itself"),
		op{abi.CallEventEmit, `{"kind":"com.example.between"}`}, say("by itself"), stream, say("something else"),
		op{abi.CallLLMComplete, `{"messages":[]}`}, say(whole))
	n := boot(t, crashtest.NewDisk(), enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, speaking(s))
	defer n.Stop(t)
	id := n.Submit(t, n.Session(t), "persona_program")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	all := n.readAlong(t, id)
	var texts, messages []string
	seen := map[string]bool{}
	for i, one := range all {
		seen[string(one.kind)] = true
		switch one.kind {
		case abi.EventMessageDelta:
			if !seen["com.example.before"] {
				t.Error("the text overtakes what was recorded before it")
			}
			if one.Offset == 0 {
				texts = append(texts, pieces(t, all[:i+8], one.MessageID, 1))
			}
		case abi.EventAgentMessage:
			messages = append(messages, pieces(t, all[:i], one.message.ID, 1))
		}
	}
	if got := strings.Join(texts, "|"); got != whole+"|by itself|"+whole {
		t.Errorf("texts are told as %q", got)
	}
	if got := strings.Join(messages, "|"); got != whole+"|by itself||" {
		t.Errorf("before their Messages there were %q", got)
	}
	n.wantReplay(t, id)
	if now := n.readAlong(t, id); len(now) != len(all) {
		t.Errorf("a replay tells %d events more", len(now)-len(all))
	}
}

// A text that a crash has cut is told again from its beginning, as another attempt at the same
// Message.
func TestATextThatIsWrittenAgain(t *testing.T) {
	s := &speaker{pieces: []string{"once ", "upon ", "a time"}, stop: 2, there: make(chan struct{})}
	whole := strings.Join(s.pieces, "")
	p := newProgram(op{abi.CallStateSet, `{"key":"a","value":1}`}, stream, say(whole))
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g, speaking(s))
	id := n.Submit(t, n.Session(t), "persona_program")
	<-s.there
	n.yield(t)
	n = boot(t, n.Disk.Crash(1, 0), g, speaking(s))
	defer n.Stop(t)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted || task.Attempt != 2 {
		t.Fatalf("%d, %+v", task.Attempt, task.Failure)
	}
	all := n.readAlong(t, id)
	message := all[len(all)-1]
	for _, one := range all {
		if one.kind == abi.EventAgentMessage {
			message = one
		}
	}
	if got := pieces(t, all, message.message.ID, 2); got != whole {
		t.Errorf("the second attempt tells %q", got)
	}
	if got := pieces(t, all, message.message.ID, 1); !strings.HasPrefix(whole, got) {
		t.Errorf("the first attempt has told %q", got)
	}
}

// A Message that is appended after a crash has the id that its text was told under before it.
func TestAMessageKeepsTheIDOfItsTextOverACrash(t *testing.T) {
	s := &speaker{pieces: []string{"before ", "the crash"}}
	whole := strings.Join(s.pieces, "")
	p := newProgram(stream, op{abi.CallMessageDelta, `{"text":"own"}`}, op{abi.CallInputRequest, `{"prompt":"?"}`},
		op{abi.CallMessageDelta, `{"text":" text"}`}, say("own text"), say(whole))
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g, speaking(s))
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	n = boot(t, n.Disk.Crash(1, 0), g, speaking(s))
	defer n.Stop(t)
	n.answer(t, id)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	heard := map[string]string{}
	for _, one := range n.readAlong(t, id) {
		switch one.kind {
		case abi.EventMessageDelta:
			if one.Offset != len(heard[one.MessageID]) {
				t.Errorf("%q is told at %d, after %q", one.Text, one.Offset, heard[one.MessageID])
			}
			heard[one.MessageID] += one.Text
		case abi.EventAgentMessage:
			if got, want := heard[one.message.ID], *one.message.Parts[0].Text; got != want {
				t.Errorf("of the Message %q was told %q", want, got)
			}
		}
	}
}

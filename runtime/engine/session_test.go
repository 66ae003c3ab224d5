package engine_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

func (n *node) say(t testing.TB, session, words string) {
	t.Helper()
	_, err := n.AppendMessage(t.Context(), n.Root, nil, session, abi.AppendMessageRequest{Message: message(words)})
	if err != nil {
		t.Fatal(err)
	}
}

func message(words string) *abi.MessageInput {
	return &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: &words}}}
}

// transcript returns the texts of a Session, page by page.
func (n *node) transcript(t testing.TB, session string) (texts []string) {
	t.Helper()
	after := ""
	for {
		list, err := n.Messages(t.Context(), n.Root, session, desk.Page{After: after, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range list.Docs {
			part := enginetest.As[abi.Message](t, doc).Parts[0]
			if part.Text == nil {
				value := string(part.Value)
				part.Text = &value
			}
			texts = append(texts, *part.Text)
		}
		if !list.More {
			return texts
		}
		after = list.Next
	}
}

func TestClosedSessionTakesNothing(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	n.say(t, session, "one")
	doc, err := n.CloseSession(t.Context(), n.Root, nil, session)
	if err != nil || enginetest.As[abi.Session](t, doc).State != abi.SessionClosed {
		t.Fatalf("%s %v", doc.JSON, err)
	}
	_, err = n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("hi")})
	enginetest.WantCode(t, err, abi.CodeConflict)
	_, err = n.AppendMessage(t.Context(), n.Root, nil, session, abi.AppendMessageRequest{Message: message("two")})
	enginetest.WantCode(t, err, abi.CodeConflict)
	_, err = n.CloseSession(t.Context(), n.Root, nil, session)
	enginetest.WantCode(t, err, abi.CodeInvalidStateTransition)
	if got := n.transcript(t, session); !slices.Equal(got, []string{"one"}) {
		t.Errorf("%q", got)
	}
}

func TestTruncateAndFork(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	var ids []string
	for i := range 5 {
		n.say(t, session, fmt.Sprint(i))
		events, _, err := n.Events(t.Context(), n.Root, desk.Filter{SessionID: session}, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, events[len(events)-1].Position().String())
	}
	fork := func(at string) string {
		t.Helper()
		doc, err := n.ForkSession(t.Context(), n.Root, nil, session, abi.ForkSessionRequest{AtEventID: at})
		if err != nil {
			t.Fatal(err)
		}
		child := enginetest.As[abi.Session](t, doc)
		if child.ParentSessionID != session || child.RootSessionID != session || child.BranchID == "" {
			t.Errorf("lineage of the fork: %+v", child)
		}
		return child.ID
	}
	whole, part := fork(""), fork(ids[2])

	keep := 2
	if _, err := n.TruncateSession(t.Context(), n.Root, nil, session, abi.TruncateSessionRequest{KeepTurns: &keep}); err != nil {
		t.Fatal(err)
	}
	n.say(t, session, "new")
	n.say(t, part, "other")
	for id, want := range map[string][]string{
		session: {"0", "1", "new"},
		whole:   {"0", "1", "2", "3", "4"},
		part:    {"0", "1", "2", "other"},
	} {
		if got := n.transcript(t, id); !slices.Equal(got, want) {
			t.Errorf("transcript %q, want %q", got, want)
		}
	}
	_, err := n.ForkSession(t.Context(), n.Root, nil, part, abi.ForkSessionRequest{AtEventID: ids[0]})
	if err != nil {
		t.Errorf("an event of the parent is one of the fork's lineage: %v", err)
	}
	other := n.Session(t)
	_, err = n.ForkSession(t.Context(), n.Root, nil, other, abi.ForkSessionRequest{AtEventID: ids[0]})
	enginetest.WantCode(t, err, abi.CodeInvalidRequest)
}

func TestTruncateArguments(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	n.say(t, session, "one")
	minus, zero, many := -1, 0, 99
	for name, req := range map[string]abi.TruncateSessionRequest{"none": {}, "negative": {Keep: &minus}} {
		_, err := n.TruncateSession(t.Context(), n.Root, nil, session, req)
		if enginetest.WantCode(t, err, abi.CodeInvalidRequest).Param != "keep_turns" {
			t.Errorf("%s: the error does not name keep_turns", name)
		}
	}
	if _, err := n.TruncateSession(t.Context(), n.Root, nil, session, abi.TruncateSessionRequest{Turns: &many}); err != nil {
		t.Fatal(err)
	}
	if got := n.transcript(t, session); len(got) != 1 {
		t.Errorf("keeping more turns than there are dropped some: %q", got)
	}
	if _, err := n.TruncateSession(t.Context(), n.Root, nil, session, abi.TruncateSessionRequest{Keep: &zero}); err != nil {
		t.Fatal(err)
	}
	if got := n.transcript(t, session); len(got) != 0 {
		t.Errorf("keeping none kept %q", got)
	}
}

// Messages, truncations, forks and closes from many goroutines keep a transcript
// that the order of the log explains, and every Message that was acknowledged
// after the last truncation is there.
func TestSessionsUnderConcurrency(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 20 {
				words := fmt.Sprintf("%d.%d", worker, i)
				if worker == 0 && i%5 == 4 {
					keep := 3
					if _, err := n.TruncateSession(t.Context(), n.Root, nil, session, abi.TruncateSessionRequest{KeepTurns: &keep}); err != nil {
						t.Error(err)
					}
					continue
				}
				if _, err := n.AppendMessage(t.Context(), n.Root, nil, session, abi.AppendMessageRequest{Message: message(words)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	want := n.replayTranscript(t, session)
	if got := n.transcript(t, session); !slices.Equal(got, want) {
		t.Errorf("the transcript is not what the log says:\n%q\n%q", got, want)
	}
}

// replayTranscript derives a transcript from the events alone.
func (n *node) replayTranscript(t testing.TB, session string) (texts []string) {
	t.Helper()
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{SessionID: session}, 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		rec := ev.Record()
		switch rec.Kind {
		case abi.EventUserMessage:
			texts = append(texts, *enginetest.As[abi.Message](t, desk.Doc{JSON: rec.State}).Parts[0].Text)
		case abi.EventSessionTruncated:
			var p struct {
				Keep int `json:"keep_turns"`
			}
			p = enginetest.As[struct {
				Keep int `json:"keep_turns"`
			}](t, desk.Doc{JSON: rec.Payload})
			texts = texts[:min(p.Keep, len(texts))]
		}
	}
	return texts
}

// A Session's sequence numbers have no gap, whatever happens to it, also when it
// is dropped from memory in between.
func TestSessionSequence(t *testing.T) {
	n := newNode(t, enginetest.Guests{}, func(c *engine.Config, _ *engine.Parts) { c.IdleSessions = 1 })
	rapid.Check(t, func(r *rapid.T) {
		session, other := n.Session(t), n.Session(t)
		for range rapid.IntRange(1, 10).Draw(r, "steps") {
			var err error
			switch rapid.IntRange(0, 3).Draw(r, "what") {
			case 0:
				summary := "s"
				_, err = n.UpdateSession(t.Context(), n.Root, nil, session, abi.UpdateSessionRequest{Summary: abi.ChangeTo(summary)})
			case 1:
				_, err = n.ForkSession(t.Context(), n.Root, nil, session, abi.ForkSessionRequest{})
			case 2:
				n.say(t, session, "x")
			case 3:
				n.say(t, other, "x")
			}
			if err != nil {
				r.Fatal(err)
			}
		}
		events, _, err := n.Events(t.Context(), n.Root, desk.Filter{SessionID: session}, 0, 1000)
		if err != nil {
			r.Fatal(err)
		}
		want := uint64(0)
		for _, ev := range events {
			if ev.Record().Resource.ID != session {
				continue
			}
			if ev.Record().Sequence != want {
				r.Fatalf("sequence %d, want %d", ev.Record().Sequence, want)
			}
			want++
		}
	})
}

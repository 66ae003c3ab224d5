package deltas_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/deltas"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// watcher puts together what it is told.
type watcher struct {
	t     interface{ Fatalf(string, ...any) }
	times []time.Time
	texts map[string]string
}

func (w *watcher) told(now time.Time, p deltas.Piece, ok bool) {
	if !ok {
		return
	}
	w.times = append(w.times, now)
	if n := len(w.times); n > deltas.PerSecond && now.Sub(w.times[n-1-deltas.PerSecond]) < time.Second {
		w.t.Fatalf("%d pieces within %s", deltas.PerSecond+1, now.Sub(w.times[n-1-deltas.PerSecond]))
	}
	if p.Offset != len(w.texts[p.MessageID]) || p.Says == "" || !utf8.ValidString(p.Says) {
		w.t.Fatalf("%q at %d, and %d bytes were told", p.Says, p.Offset, len(w.texts[p.MessageID]))
	}
	w.texts[p.MessageID] += p.Says
}

// Whatever comes when: what is told of a text is how it begins, without hole or overlap; no second
// has more than it may; what waits is told when it is due; and a text that is not hurried is told whole.
func TestTextIsToldOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &watcher{t: t, texts: map[string]string{}}
		var teller deltas.Teller
		now := began
		for n := range rapid.IntRange(1, 6).Draw(t, "texts") {
			text := deltas.TextOf("task_a", n, began)
			own := rapid.Bool().Draw(t, "own")
			if !own {
				teller.Begin(text)
			}
			said := ""
			for range rapid.IntRange(0, 80).Draw(t, "pieces") {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(90*time.Millisecond)).Draw(t, "pause")))
				if due, ok := teller.Due(); ok && !now.Before(due) {
					p, ok := teller.Poll(now)
					if !ok {
						t.Fatalf("nothing is told at %s, and %s was due", now, due)
					}
					w.told(now, p, ok)
				}
				says := rapid.SampledFrom([]string{"", "a", "ü", "世界 ", "one more word ", strings.Repeat("x", 5000)}).Draw(t, "says")
				said += says
				var p deltas.Piece
				var ok bool
				if own {
					p, ok = teller.Writes(func() deltas.Text { return text }, now, says, false)
				} else {
					p, ok = teller.Add(now, says)
				}
				w.told(now, p, ok)
				if due, ok := teller.Due(); ok && due.Sub(now) > time.Second {
					t.Fatalf("what waits is due in %s", due.Sub(now))
				}
			}
			p, ok := teller.End(now)
			w.told(now, p, ok)
			heard := w.texts[text.MessageID]
			if !strings.HasPrefix(said, heard) {
				t.Fatalf("told %q, and it is %q", heard, said)
			}
			if p, ok := teller.Add(now.Add(time.Hour), "late"); ok {
				t.Fatalf("after its end %q is told", p.Says)
			}
			teller.Appended("")
		}
	})
}

// At the pace of people's reading nothing of a text is left out.
func TestATextIsToldWhole(t *testing.T) {
	w := &watcher{t: t, texts: map[string]string{}}
	var teller deltas.Teller
	now, said := began, ""
	text := deltas.TextOf("task_a", 3, began)
	teller.Begin(text)
	for n := range 2000 { // a word every 10 ms
		word := fmt.Sprintf("word%d ", n)
		said += word
		p, ok := teller.Add(now, word)
		if n == 0 && !ok {
			t.Error("the first piece waits")
		}
		w.told(now, p, ok)
		now = now.Add(10 * time.Millisecond)
	}
	p, ok := teller.End(now)
	w.told(now, p, ok)
	if w.texts[text.MessageID] != said {
		t.Errorf("%d bytes of %d are told", len(w.texts[text.MessageID]), len(said))
	}
	if most := int(now.Sub(began)/(time.Second/16)) + 2; len(w.times) > most {
		t.Errorf("2,000 words are told in %d pieces, more than %d", len(w.times), most)
	}
}

// A text that comes faster than it may be told, in one go and without end, ends early, in bounded
// memory; the next one is told again.
func TestAFloodEndsEarly(t *testing.T) {
	w := &watcher{t: t, texts: map[string]string{}}
	var teller deltas.Teller
	flood := deltas.TextOf("task_a", 0, began)
	teller.Begin(flood)
	part := strings.Repeat("x", 40<<10)
	for range 1000 {
		p, ok := teller.Add(began, part)
		w.told(began, p, ok)
	}
	p, ok := teller.End(began)
	w.told(began, p, ok)
	if n := len(w.texts[flood.MessageID]); n == 0 || n > deltas.PerSecond*3*len(part) {
		t.Errorf("%d bytes are told within one moment", n)
	}
	next := deltas.TextOf("task_a", 1, began)
	teller.Begin(next)
	p, ok = teller.Add(began.Add(time.Second), "on")
	w.told(began.Add(time.Second), p, ok)
	if w.texts[next.MessageID] != "on" {
		t.Error("the next text is not told")
	}
}

// A clock that is set back makes nobody wait.
func TestAClockThatIsSetBack(t *testing.T) {
	var teller deltas.Teller
	teller.Begin(deltas.TextOf("task_a", 0, began))
	if _, ok := teller.Add(began, "a"); !ok {
		t.Fatal("the first piece waits")
	}
	if p, ok := teller.Add(began.Add(-time.Hour), "b"); !ok || p.Offset != 1 {
		t.Errorf("after the step %v, %v", p, ok)
	}
}

func message(role abi.Role, texts ...string) *abi.MessageInput {
	m := &abi.MessageInput{Role: role}
	for _, text := range texts {
		m.Parts = append(m.Parts, abi.Part{Type: abi.PartText, Text: &text})
	}
	return m
}

// The Message that has a text has the id that the text was told under, and no other Message has.
func TestTheMessageOfAText(t *testing.T) {
	told, own := deltas.TextOf("task_a", 4, began), deltas.TextOf("task_a", 7, began)
	always := func() bool { return true }
	answer := []byte(`{"text":"hello w\u00f6rld","stop_reason":"end"}`)
	for name, c := range map[string]struct {
		do   func(*deltas.Teller)
		m    *abi.MessageInput
		want string
	}{
		"of a model":      {func(x *deltas.Teller) { x.Answered(always, answer, told.MessageID) }, message(abi.RoleAssistant, "hello wörld"), told.MessageID},
		"as an agent":     {func(x *deltas.Teller) { x.Answered(always, answer, told.MessageID) }, message(abi.RoleAgent, "hello wörld"), told.MessageID},
		"of another role": {func(x *deltas.Teller) { x.Answered(always, answer, told.MessageID) }, message(abi.RoleTool, "hello wörld"), ""},
		"another text":    {func(x *deltas.Teller) { x.Answered(always, answer, told.MessageID) }, message(abi.RoleAssistant, "hello"), ""},
		"more text":       {func(x *deltas.Teller) { x.Answered(always, answer, told.MessageID) }, message(abi.RoleAssistant, "hello wörld", "!"), ""},
		"in two parts":    {func(x *deltas.Teller) { x.Answered(always, answer, told.MessageID) }, message(abi.RoleAssistant, "hello ", "wörld"), told.MessageID},
		"with a tool call": {func(x *deltas.Teller) { x.Answered(always, answer, told.MessageID) }, &abi.MessageInput{Role: abi.RoleAssistant,
			Parts: append(message(abi.RoleAssistant, "hello wörld").Parts, abi.Part{Type: abi.PartToolCall, Name: "a__b"})}, told.MessageID},
		"not streamed": {func(x *deltas.Teller) { x.Answered(func() bool { return false }, answer, told.MessageID) }, message(abi.RoleAssistant, "hello wörld"), ""},
		"no text":      {func(x *deltas.Teller) { x.Answered(always, []byte(`{"text":""}`), told.MessageID) }, message(abi.RoleAssistant, ""), ""},
		"appended before": {func(x *deltas.Teller) {
			x.Answered(always, answer, told.MessageID)
			x.Appended(told.MessageID)
		}, message(abi.RoleAssistant, "hello wörld"), ""},
		"after another Message": {func(x *deltas.Teller) {
			x.Answered(always, answer, told.MessageID)
			x.Appended("msg_other")
		}, message(abi.RoleAssistant, "hello wörld"), told.MessageID},
		"of the plugin": {func(x *deltas.Teller) {
			x.Writes(func() deltas.Text { return own }, began, "a", true)
			x.Writes(nil, began, "b", false)
		}, message(abi.RoleAssistant, "ab"), own.MessageID},
		"a part of it": {func(x *deltas.Teller) {
			x.Writes(func() deltas.Text { return own }, began, "a", false)
			x.Writes(nil, began, "b", false)
		}, message(abi.RoleAssistant, "a"), ""},
		"what was before the last Message": {func(x *deltas.Teller) {
			x.Writes(func() deltas.Text { return own }, began, "a", false)
			x.Appended("msg_other")
		}, message(abi.RoleAssistant, "a"), ""},
	} {
		var teller deltas.Teller
		c.do(&teller)
		if got := teller.MessageID(c.m); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What an earlier life has told is not told again, and counts.
func TestWhatWasToldBefore(t *testing.T) {
	var teller deltas.Teller
	own := deltas.TextOf("task_a", 7, began)
	if p, ok := teller.Writes(func() deltas.Text { return own }, began, "told ", true); ok {
		t.Errorf("%q is told again", p.Says)
	}
	if p, ok := teller.Writes(nil, began, "on", false); !ok || p.Offset != 5 || p.Says != "on" || p.MessageID != own.MessageID {
		t.Errorf("it goes on with %+v, %v", p, ok)
	}
	if a, b := deltas.TextOf("task_a", 1, began), deltas.TextOf("task_b", 1, began); a.MessageID == b.MessageID ||
		a != deltas.TextOf("task_a", 1, began) || a.MessageID == deltas.TextOf("task_a", 2, began).MessageID {
		t.Error("ids of texts do not follow from the Task and the place")
	}
}

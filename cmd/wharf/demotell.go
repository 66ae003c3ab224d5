package main

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

// demoStep is one line of the demo.
type demoStep struct {
	name string // for programs
	slow string // what is said while it takes long
	// do does it, and returns the line that says so: at most [demoText] characters.
	do func(ctx context.Context) (string, error)
}

const (
	// demoText is the room for what a step says, between its mark and its time, on a line of 80.
	demoText = 68
	// demoPatience is how long a step may take before the user is told what it waits for.
	demoPatience = time.Second
)

// demoTeller says how the demo goes.
type demoTeller struct {
	*app
	record strings.Builder // what is shown, without colours and times
}

func newDemoTeller(a *app) *demoTeller { return &demoTeller{app: a} }

// demoTold is a step as it is told to programs.
type demoTold struct {
	Step    string  `json:"step"`
	Text    string  `json:"text,omitzero"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitzero"`
}

// line writes a line for people.
func (t *demoTeller) line(parts ...string) { t.both(strings.Join(parts, ""), "") }

func (t *demoTeller) title(text string) {
	t.line()
	t.record.WriteString(text + "\n")
	if !t.json {
		t.out.Line(t.out.Paint(show.Bold, text))
	}
}

// both writes a line for people, at whose end stands what the record leaves out.
func (t *demoTeller) both(text, end string) {
	t.record.WriteString(strings.TrimRight(text, " ") + "\n")
	if !t.json {
		t.out.Line(text, end)
	}
}

func (t *demoTeller) recorded() []byte { return []byte(t.record.String()) }

// aside says what is no part of the story, on standard error.
func (t *demoTeller) aside(text string) { fmt.Fprintln(t.stderr, text) }

// step does a step, and says how it went.
func (t *demoTeller) step(ctx context.Context, s demoStep) error {
	began := time.Now()
	calm := t.worry(s.slow, began)
	text, err := s.do(ctx)
	calm()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	told := demoTold{Step: s.name, Text: text, Seconds: time.Since(began).Round(time.Millisecond).Seconds()}
	if err != nil {
		told.Error = err.Error()
	}
	_ = t.print(told, func() { // strings and numbers can always be written
		t.mark(s, text, told.Seconds, err)
	})
	return err
}

func (t *demoTeller) mark(s demoStep, text string, seconds float64, err error) {
	if err != nil {
		t.both("  "+t.out.Paint(show.Red, "✗")+" "+s.slow, "")
		return
	}
	text += strings.Repeat(" ", max(0, demoText-utf8.RuneCountInString(text)))
	t.record.WriteString(strings.TrimRight("  ✓ "+text, " ") + "\n")
	t.out.Line("  ", t.out.Paint(show.Green, "✓"), " ", text, t.out.Paint(show.Dim, fmt.Sprintf("%6.1f s", seconds)))
}

// worry says after a while what is being waited for, and on a terminal for how long. The function that is returned
// ends it.
func (t *demoTeller) worry(what string, began time.Time) (calm func()) {
	screen := t.errorScreen()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(demoPatience)
		defer tick.Stop()
		for told := false; ; told = true {
			select {
			case <-done:
				if told && screen.Terminal() {
					screen.Printf("\r\x1b[K")
				}
				return
			case <-tick.C:
			}
			switch {
			case screen.Terminal():
				screen.Printf("\r\x1b[K  … %s (%.0f s)", what, time.Since(began).Seconds())
			case !told:
				screen.Line("  … ", what)
			}
		}
	}()
	return func() { close(done); <-ended }
}

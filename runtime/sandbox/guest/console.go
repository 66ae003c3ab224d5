package guest

import (
	"bytes"
	"context"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Work charges the guest for bytes that the host moves for it, and lets it be stopped:
// without, a guest could keep the host busy at no price.
func (r *Run) Work(bytes int) {
	r.meter.spend(int64(bytes / BytesPerGas))
	if r.moved += bytes; r.moved < MoveBytes {
		return // the guest comes by before that takes long
	}
	r.moved = 0
	r.CheckGas()
	r.CheckStop()
}

// MoveBytes is how much the host moves for a guest, at least, before it looks whether it
// is to go on: some 10 µs.
const MoveBytes = 64 << 10

// BytesPerGas is how many bytes the host moves for a unit of gas, as within the guest.
const BytesPerGas = 8

// clock tells a guest the Host's time, and nothing of the machine's. Its monotonic
// time moves on with every reading, and by what was slept, also when the Host's
// clock stands still: a guest that waits for it always gets there.
type clock struct {
	start time.Time
	base  int64 // where the monotonic time begins
	last  int64
}

// Walltime returns the time in ns.
func (r *Run) Walltime() int64 {
	now := r.host.Now()
	return now.Unix()*int64(time.Second) + int64(now.Nanosecond())
}

// Monotonic returns the guest's monotonic time in ns, and moves it on.
func (r *Run) Monotonic() int64 {
	c, now := &r.clock, r.host.Now()
	if c.start.IsZero() {
		c.start = now
	}
	c.last = max(c.last, c.last+1, c.base+now.Sub(c.start).Nanoseconds())
	return c.last
}

// Sleep lets the Host decide how long it takes, as long as there is time. A guest that
// wants to sleep for longer than it may is stopped when its time is up.
func (r *Run) Sleep(ns int64) {
	asked, rest := time.Duration(ns), r.wall.rest()
	ctx, cancel := context.WithTimeout(r.Context, rest)
	r.leaveTurn()
	r.host.Sleep(ctx, asked)
	over := asked > rest && ctx.Err() != nil
	cancel()
	if over || r.Err() != nil {
		r.wall.left = 0
		panic(errStopped)
	}
	r.wall.count(asked)
	r.clock.last += min(ns, math.MaxInt64-r.clock.last)
}

// MaxLine is the longest line that is passed on in one piece, in bytes.
const MaxLine = 4096

// console turns what a guest writes to stdout and stderr into log host calls, a
// line each.
type console struct {
	lines     [3][]byte // what is not complete yet, by descriptor
	complaint string    // the first line on stderr, to explain an exit
	last      []string  // of stderr: the last lines, or the first ones of a panic
	panicked  bool
}

// levels are those of the log entries, by descriptor.
var levels = [3]string{1: "info", 2: "warn"}

// Write takes what a guest writes to stdout or stderr, or ends the Run.
func (r *Run) Write(fd int, p []byte) {
	r.Work(len(p))
	for len(p) > MoveBytes {
		r.writeLines(fd, p[:MoveBytes])
		p = p[MoveBytes:]
		r.CheckStop()
	}
	r.writeLines(fd, p)
}

func (r *Run) writeLines(fd int, p []byte) {
	line := &r.console.lines[fd]
	for {
		if len(*line) == 0 {
			p = bytes.TrimLeft(p, "\n") // empty lines are not passed on
		}
		if len(p) == 0 {
			return
		}
		end := bytes.IndexByte(p, '\n')
		piece := p
		if end >= 0 {
			piece = p[:end]
		}
		if room := MaxLine - len(*line); len(piece) > room {
			*line = append(*line, piece[:room]...)
			p = p[room:]
			r.log(fd)
			continue
		}
		*line = append(*line, piece...)
		p = p[len(piece):]
		if end >= 0 {
			r.log(fd)
		}
	}
}

// log passes the line of a descriptor on and empties it.
func (r *Run) log(fd int) {
	c := &r.console
	text := c.lines[fd]
	c.lines[fd] = text[:0]
	if len(text) == 0 {
		return
	}
	if fd == 2 {
		c.complain(text)
	}
	request := LogRequest(levels[fd], text)
	r.Admit(LogCall, int64(len(request)))
	r.Ask(abi.CallLog, request)
}

// What is kept of stderr, to explain a trap: a panic says in some lines what it is about.
const (
	lastLines = 6
	lastBytes = 400 // of a line
)

// complain keeps a line of stderr.
func (c *console) complain(line []byte) {
	if c.complaint == "" {
		c.complaint = validUTF8(line)
	}
	text := validUTF8(line[:min(len(line), lastBytes)])
	if panicText.MatchString(text) {
		c.last, c.panicked = c.last[:0], true
	}
	if len(c.last) == lastLines && c.panicked {
		return
	}
	if len(c.last) == lastLines {
		c.last = append(c.last[:0], c.last[1:]...)
	}
	c.last = append(c.last, text)
}

// panicText is how a panic begins on stderr, in languages that print a stack behind it.
var panicText = regexp.MustCompile(`^panic: |^fatal error: |^thread .* panicked at |^Assertion failed|^Traceback `)

func validUTF8(text []byte) string { return string(bytes.ToValidUTF8(text, []byte("\uFFFD"))) }

// lastWords returns the last lines on stderr, with what has no end yet, or those that a panic
// begins with.
func (r *Run) lastWords() string {
	c := &r.console
	if rest := c.lines[2]; len(rest) > 0 {
		c.complain(rest)
	}
	return strings.Join(c.last, "\n")
}

// LogCall is the host call that lines become.
var LogCall = &HostCall{Name: abi.CallLog, output: true}

// LogRequest is the request of the host call log for a text, which need not be UTF-8.
func LogRequest(level string, text []byte) []byte {
	request := append([]byte(`{"level":"`), level...)
	request = append(request, `","message":`...)
	quoted, err := jsontext.AppendQuote(request, bytes.ToValidUTF8(text, []byte("\uFFFD")))
	if err != nil {
		panic(err) // valid UTF-8 can always be quoted
	}
	return append(quoted, '}')
}

// flush passes on lines without an end. It runs outside of the guest, where a
// limit that is reached comes as an error.
func (r *Run) flush() error {
	if !r.HalfLine() {
		return nil
	}
	return Caught(func() {
		r.log(1)
		r.log(2)
	})
}

// HalfLine reports whether the guest has written a line without an end.
func (r *Run) HalfLine() bool { return len(r.console.lines[1])+len(r.console.lines[2]) > 0 }

// Random fills b with the guest's randomness.
func (r *Run) Random(b []byte) { r.host.Random(b) }

// IsClosed reports whether the guest has closed a standard stream.
func (r *Run) IsClosed(fd int) bool { return r.closed[fd] }

// AnyClosed reports whether the guest has closed a standard stream at all.
func (r *Run) AnyClosed() bool { return r.closed != [3]bool{} }

// CloseStream closes a standard stream until the end of the Run.
func (r *Run) CloseStream(fd int) { r.closed[fd] = true }

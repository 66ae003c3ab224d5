package sandbox

import (
	"bytes"
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wharf-dev/wharf/abi"
)

// wasiConfig connects WASI to the Host. There are no files, no environment and no
// standard input; the one argument is what C programs take for their own name.
func (r *run) wasiConfig() wazero.ModuleConfig {
	clock := &clock{run: r}
	r.console = console{run: r, out: line{level: "info"}, err: line{level: "warn"}}
	return plainConfig.
		WithArgs("plugin").
		WithStdout(stream{&r.console, &r.console.out}).
		WithStderr(stream{&r.console, &r.console.err}).
		WithRandSource(random{r}).
		WithWalltime(clock.wall, sys.ClockResolution(time.Microsecond)).
		WithNanotime(clock.monotonic, 1).
		WithNanosleep(clock.sleep)
}

// random reads randomness from the Host.
type random struct{ run *run }

// Read implements io.Reader.
func (s random) Read(p []byte) (int, error) {
	s.run.host.Random(p)
	return len(p), nil
}

// clock tells a guest the Host's time, and nothing of the machine's. Its monotonic
// time moves on with every reading, and by what was slept, also when the Host's
// clock stands still: a guest that waits for it always gets there.
type clock struct {
	run   *run
	start time.Time
	last  int64
}

func (c *clock) wall() (int64, int32) {
	now := c.run.host.Now()
	return now.Unix(), int32(now.Nanosecond())
}

func (c *clock) monotonic() int64 {
	now := c.run.host.Now()
	if c.start.IsZero() {
		c.start = now
	}
	c.last = max(c.last, c.last+1, now.Sub(c.start).Nanoseconds())
	return c.last
}

// sleep lets the Host decide how long it takes.
func (c *clock) sleep(ns int64) {
	c.run.host.Sleep(c.run, time.Duration(ns))
	if c.run.Err() != nil {
		panic(errStopped)
	}
	c.last += min(ns, math.MaxInt64-c.last)
}

// maxLine is the longest line that is passed on in one piece, in bytes.
const maxLine = 4096

// console turns what a guest writes to stdout and stderr into log host calls, a
// line each. The zero console, of a guest without WASI, has nothing to flush.
type console struct {
	run       *run
	out, err  line
	complaint string // the first line on stderr, to explain an exit
}

// line is a line that is not complete yet.
type line struct {
	level string
	text  []byte
}

// stream is a file that a guest writes to.
type stream struct {
	console *console
	line    *line
}

// Write implements io.Writer. It always takes everything, or ends the Run.
func (s stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		piece := p
		if end >= 0 {
			piece = p[:end]
		}
		room := maxLine - len(s.line.text)
		if len(piece) > room {
			s.line.text = append(s.line.text, piece[:room]...)
			p = p[room:]
			s.console.log(s.line)
			continue
		}
		s.line.text = append(s.line.text, piece...)
		p = p[len(piece):]
		if end >= 0 {
			p = p[1:]
			s.console.log(s.line)
		}
	}
	return n, nil
}

// log passes a line on and empties it.
func (c *console) log(l *line) {
	text := l.text
	l.text = l.text[:0]
	if len(text) == 0 {
		return
	}
	if l == &c.err && c.complaint == "" {
		c.complaint = string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	}
	request := logRequest(l.level, text)
	c.run.admit(hostCall{name: abi.CallLog, output: true}, int64(len(request)))
	c.run.ask(abi.CallLog, request)
}

func logRequest(level string, text []byte) []byte {
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
func (c *console) flush() (err error) {
	if c.run == nil {
		return nil
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = p
		default:
			panic(p)
		}
	}()
	c.log(&c.out)
	c.log(&c.err)
	return nil
}

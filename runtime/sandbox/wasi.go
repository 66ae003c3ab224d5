package sandbox

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wharf-dev/wharf/abi"
)

// WASI's own numbers for errors.
const (
	errnoSuccess = 0
	errnoBadf    = 8
)

// offerWASI offers the engine's WASI, but for the two functions through which a guest
// could leave something behind in an instance that others use after it: proc_exit would
// close the instance, and fd_close a descriptor of it. Nothing else changes the
// descriptors that there are: the engine neither renumbers nor opens any.
func offerWASI(ctx context.Context, engine wazero.Runtime) (api.Module, error) {
	i32 := api.ValueTypeI32
	builder := engine.NewHostModuleBuilder(wasiModule)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(builder)
	builder.NewFunctionBuilder().WithName("proc_exit").
		WithGoFunction(api.GoFunc(procExit), []api.ValueType{i32}, nil).Export("proc_exit")
	builder.NewFunctionBuilder().WithName("fd_close").
		WithGoFunction(api.GoFunc(fdClose), []api.ValueType{i32}, []api.ValueType{i32}).Export("fd_close")
	return builder.Instantiate(ctx)
}

// procExit unwinds the guest.
func procExit(_ context.Context, stack []uint64) { panic(sys.NewExitError(uint32(stack[0]))) }

// fdClose closes a standard stream until the end of the Run.
func fdClose(ctx context.Context, stack []uint64) {
	r, fd := runOf(ctx), uint32(stack[0])
	if fd >= uint32(len(r.closed)) || r.closed[fd] {
		stack[0] = errnoBadf
		return
	}
	r.closed[fd] = true
	stack[0] = errnoSuccess
}

// wasiConfig connects WASI to the Host. There are no files, no environment and no
// standard input; the one argument is what C programs take for their own name. All of
// it finds in r whatever Run is under way.
func (r *run) wasiConfig() wazero.ModuleConfig {
	return plainConfig.
		WithArgs("plugin").
		WithStdin(stdin{r}).
		WithStdout(stream{r, 1}).
		WithStderr(stream{r, 2}).
		WithRandSource(random{r}).
		WithWalltime(r.walltime, sys.ClockResolution(time.Microsecond)).
		WithNanotime(r.monotonic, 1).
		WithNanosleep(r.sleep)
}

// random reads randomness from the Host.
type random struct{ run *run }

// Read implements io.Reader.
func (s random) Read(p []byte) (int, error) {
	s.run.work(len(p))
	s.run.host.Random(p)
	return len(p), nil
}

// work charges the guest for bytes that the host moves for it, and lets it be stopped:
// without, a guest could keep the host busy at no price.
func (r *run) work(bytes int) {
	r.meter.spend(int64(bytes / bytesPerGas))
	if r.moved += bytes; r.moved < moveBytes {
		return // the guest comes by before that takes long
	}
	r.moved = 0
	r.checkGas()
	r.checkStop()
}

// moveBytes is how much the host moves for a guest, at least, before it looks whether it
// is to go on: some 10 µs.
const moveBytes = 64 << 10

// bytesPerGas is how many bytes the host moves for a unit of gas, as within the guest.
const bytesPerGas = 8

// clock tells a guest the Host's time, and nothing of the machine's. Its monotonic
// time moves on with every reading, and by what was slept, also when the Host's
// clock stands still: a guest that waits for it always gets there.
type clock struct {
	start time.Time
	base  int64 // where the monotonic time begins
	last  int64
}

func (r *run) walltime() (int64, int32) {
	now := r.host.Now()
	return now.Unix(), int32(now.Nanosecond())
}

func (r *run) monotonic() int64 {
	c, now := &r.clock, r.host.Now()
	if c.start.IsZero() {
		c.start = now
	}
	c.last = max(c.last, c.last+1, c.base+now.Sub(c.start).Nanoseconds())
	return c.last
}

// sleep lets the Host decide how long it takes, as long as there is time. A guest that
// wants to sleep for longer than it may is stopped when its time is up.
func (r *run) sleep(ns int64) {
	asked, rest := time.Duration(ns), r.wall.rest()
	ctx, cancel := context.WithTimeout(r.Context, rest)
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

// stdin has nothing to read.
type stdin struct{ run *run }

// Read implements io.Reader.
func (s stdin) Read([]byte) (int, error) {
	if s.run.closed[0] {
		return 0, fs.ErrClosed
	}
	return 0, io.EOF
}

// maxLine is the longest line that is passed on in one piece, in bytes.
const maxLine = 4096

// console turns what a guest writes to stdout and stderr into log host calls, a
// line each.
type console struct {
	lines     [3][]byte // what is not complete yet, by descriptor
	complaint string    // the first line on stderr, to explain an exit
}

// levels are those of the log entries, by descriptor.
var levels = [3]string{1: "info", 2: "warn"}

// stream is a file that a guest writes to.
type stream struct {
	run *run
	fd  int
}

// Write implements io.Writer. It takes everything, or ends the Run; a closed stream
// takes nothing.
func (s stream) Write(p []byte) (int, error) {
	if s.run.closed[s.fd] {
		return 0, fs.ErrClosed
	}
	s.run.work(len(p))
	line := &s.run.console.lines[s.fd]
	n := len(p)
	for {
		if len(*line) == 0 {
			p = bytes.TrimLeft(p, "\n") // empty lines are not passed on
		}
		if len(p) == 0 {
			return n, nil
		}
		end := bytes.IndexByte(p, '\n')
		piece := p
		if end >= 0 {
			piece = p[:end]
		}
		if room := maxLine - len(*line); len(piece) > room {
			*line = append(*line, piece[:room]...)
			p = p[room:]
			s.run.log(s.fd)
			continue
		}
		*line = append(*line, piece...)
		p = p[len(piece):]
		if end >= 0 {
			s.run.log(s.fd)
		}
	}
}

// log passes the line of a descriptor on and empties it.
func (r *run) log(fd int) {
	c := &r.console
	text := c.lines[fd]
	c.lines[fd] = text[:0]
	if len(text) == 0 {
		return
	}
	if fd == 2 && c.complaint == "" {
		c.complaint = string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	}
	request := logRequest(levels[fd], text)
	r.admit(logCall, int64(len(request)))
	r.ask(abi.CallLog, request)
}

var logCall = &hostCall{name: abi.CallLog, output: true}

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
func (r *run) flush() error {
	if len(r.console.lines[1])+len(r.console.lines[2]) == 0 {
		return nil
	}
	return caught(func() {
		r.log(1)
		r.log(2)
	})
}

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

const wasiModule = "wasi_snapshot_preview1"

// errno is one of WASI's own numbers for errors.
type errno uint32

const (
	errnoSuccess     errno = 0
	errnoBadf        errno = 8
	errnoFault       errno = 21
	errnoInval       errno = 28
	errnoNametoolong errno = 37
	errnoNosys       errno = 52
	errnoNotdir      errno = 54
	errnoNotsup      errno = 58
)

// wasiFunction is a function of WASI. Guests have three standard streams, a clock,
// randomness and one argument: no files, no sockets, no environment. All of it finds in
// the run whatever the Host gives.
//
// The upper halves of i32 parameters are garbage: do cuts them off. It looks at no more
// of memory than it charges for, and at no path at all.
type wasiFunction struct {
	sig signature
	do  func(r *run, m api.Memory, p []uint64) errno
}

// wasiFunctions are all that there are, by name.
var wasiFunctions = map[string]wasiFunction{
	"args_get":                {returning(typeI32 + typeI32), argsGet},
	"args_sizes_get":          {returning(typeI32 + typeI32), argsSizesGet},
	"environ_get":             {returning(typeI32 + typeI32), environGet},
	"environ_sizes_get":       {returning(typeI32 + typeI32), environSizesGet},
	"clock_res_get":           {returning(typeI32 + typeI32), clockResGet},
	"clock_time_get":          {returning(typeI32 + typeI64 + typeI32), clockTimeGet},
	"fd_advise":               {returning(typeI32 + typeI64 + typeI64 + typeI32), fdAdvise},
	"fd_allocate":             {returning(typeI32 + typeI64 + typeI64), fdAllocate},
	"fd_close":                {returning(typeI32), fdClose},
	"fd_datasync":             {returning(typeI32), ofStream(errnoSuccess)},
	"fd_fdstat_get":           {returning(typeI32 + typeI32), fdFdstatGet},
	"fd_fdstat_set_flags":     {returning(typeI32 + typeI32), fdFdstatSetFlags},
	"fd_fdstat_set_rights":    {returning(typeI32 + typeI64 + typeI64), answering(errnoNosys)},
	"fd_filestat_get":         {returning(typeI32 + typeI32), fdFilestatGet},
	"fd_filestat_set_size":    {returning(typeI32 + typeI64), ofStream(errnoNosys)},
	"fd_filestat_set_times":   {returning(typeI32 + typeI64 + typeI64 + typeI32), fdFilestatSetTimes},
	"fd_pread":                {returning(typeI32 + typeI32 + typeI32 + typeI64 + typeI32), fdPread},
	"fd_prestat_get":          {returning(typeI32 + typeI32), fdPrestatGet},
	"fd_prestat_dir_name":     {returning(typeI32 + typeI32 + typeI32), fdPrestatDirName},
	"fd_pwrite":               {returning(typeI32 + typeI32 + typeI32 + typeI64 + typeI32), fdPwrite},
	"fd_read":                 {returning(typeI32 + typeI32 + typeI32 + typeI32), fdRead},
	"fd_readdir":              {returning(typeI32 + typeI32 + typeI32 + typeI64 + typeI32), fdReaddir},
	"fd_renumber":             {returning(typeI32 + typeI32), fdRenumber},
	"fd_seek":                 {returning(typeI32 + typeI64 + typeI32 + typeI32), ofStream(errnoNosys)},
	"fd_sync":                 {returning(typeI32), ofStream(errnoSuccess)},
	"fd_tell":                 {returning(typeI32 + typeI32), ofStream(errnoNosys)},
	"fd_write":                {returning(typeI32 + typeI32 + typeI32 + typeI32), fdWrite},
	"path_create_directory":   {returning(typeI32 + typeI32 + typeI32), path(0, 1)},
	"path_filestat_get":       {returning(typeI32 + typeI32 + typeI32 + typeI32 + typeI32), path(0, 2)},
	"path_filestat_set_times": {returning(typeI32 + typeI32 + typeI32 + typeI32 + typeI64 + typeI64 + typeI32), pathFilestatSetTimes},
	"path_link":               {returning(typeI32 + typeI32 + typeI32 + typeI32 + typeI32 + typeI32 + typeI32), path(0, 2)},
	"path_open":               {returning(typeI32 + typeI32 + typeI32 + typeI32 + typeI32 + typeI64 + typeI64 + typeI32 + typeI32), path(0, 2)},
	"path_readlink":           {returning(typeI32 + typeI32 + typeI32 + typeI32 + typeI32 + typeI32), pathReadlink},
	"path_remove_directory":   {returning(typeI32 + typeI32 + typeI32), path(0, 1)},
	"path_rename":             {returning(typeI32 + typeI32 + typeI32 + typeI32 + typeI32 + typeI32), path(0, 1)},
	"path_symlink":            {returning(typeI32 + typeI32 + typeI32 + typeI32 + typeI32), pathSymlink},
	"path_unlink_file":        {returning(typeI32 + typeI32 + typeI32), path(0, 1)},
	"poll_oneoff":             {returning(typeI32 + typeI32 + typeI32 + typeI32), pollOneoff},
	"proc_exit":               {signature{params: typeI32}, procExit},
	"proc_raise":              {returning(typeI32), answering(errnoNosys)},
	"random_get":              {returning(typeI32 + typeI32), randomGet},
	"sched_yield":             {returning(""), answering(errnoSuccess)},
	"sock_accept":             {returning(typeI32 + typeI32 + typeI32), answering(errnoBadf)},
	"sock_recv":               {returning(typeI32 + typeI32 + typeI32 + typeI32 + typeI32 + typeI32), answering(errnoBadf)},
	"sock_send":               {returning(typeI32 + typeI32 + typeI32 + typeI32 + typeI32), sockSend},
	"sock_shutdown":           {returning(typeI32 + typeI32), answering(errnoBadf)},
}

func returning(params string) signature { return signature{params: params, results: typeI32} }

// offerWASI offers WASI to the guests of an engine.
func offerWASI(ctx context.Context, engine wazero.Runtime) (api.Module, error) {
	builder := engine.NewHostModuleBuilder(wasiModule)
	for name, f := range wasiFunctions {
		call := func(ctx context.Context, m api.Module, stack []uint64) { f.call(runOf(ctx), m.Memory(), stack) }
		builder.NewFunctionBuilder().WithName(name).
			WithGoModuleFunction(api.GoModuleFunc(call), []api.ValueType(f.sig.params), []api.ValueType(f.sig.results)).
			Export(name)
	}
	return builder.Instantiate(ctx)
}

// call answers a guest, unless the Run is to stop: a guest that does little but call
// comes by nowhere else for long.
func (f wasiFunction) call(r *run, m api.Memory, stack []uint64) {
	r.checkStop()
	r.countInitial()
	answer := f.do(r, m, stack)
	if f.sig.results != "" {
		stack[0] = uint64(answer)
	}
}

// initialCalls is how many functions of WASI an initialization that is done once may call.
// It bounds what the host does for it, as initialGas bounds what it does itself.
const initialCalls = 1 << 18

var errInitialCalls = errors.New("sandbox: too many calls of WASI in an initialization")

// countInitial ends an initialization that calls too often.
func (r *run) countInitial() {
	if r.initialCalls == 0 {
		return // it is none
	}
	if r.initialCalls--; r.initialCalls == 0 {
		panic(errInitialCalls)
	}
}

const (
	// maxBuffers is how many buffers one call can read into or write from: as many as
	// a call of POSIX.
	maxBuffers = 1024
	// freeBuffers is how many of them cost nothing. Compilers of all languages pass one
	// to three.
	freeBuffers  = 8
	gasPerBuffer = 4 // of the others, which is about the time that they take
	// maxSubscriptions is what one call can wait for. Guests wait for one or two things.
	maxSubscriptions = 64
)

// buffers charges for a list of buffers beyond what is free, and returns what it holds.
func (r *run) buffers(m api.Memory, at, count uint32) ([]byte, errno) {
	if count > maxBuffers {
		return nil, errnoInval
	}
	list, ok := m.Read(at, count*8)
	if !ok {
		return nil, errnoFault
	}
	if count > freeBuffers {
		r.meter.spend(int64(count-freeBuffers) * gasPerBuffer)
		r.checkGas()
	}
	return list, errnoSuccess
}

// answering gives the same answer to everything.
func answering(answer errno) func(*run, api.Memory, []uint64) errno {
	return func(*run, api.Memory, []uint64) errno { return answer }
}

// isStream reports whether a parameter is the descriptor of a standard stream. No others
// are ever open; one that the guest has closed still is, but for reading and writing.
func isStream(p uint64) bool { return uint32(p) <= 2 }

// ofStream gives an answer for standard streams.
func ofStream(answer errno) func(*run, api.Memory, []uint64) errno {
	return func(_ *run, _ api.Memory, p []uint64) errno {
		if !isStream(p[0]) {
			return errnoBadf
		}
		return answer
	}
}

// The one argument is what C programs take for their own name.
const argument = "plugin\x00"

func argsGet(_ *run, m api.Memory, p []uint64) errno {
	list, ok := m.Read(uint32(p[0]), 4)
	if !ok {
		return errnoFault
	}
	text, ok := m.Read(uint32(p[1]), uint32(len(argument)))
	if !ok {
		return errnoFault
	}
	binary.LittleEndian.PutUint32(list, uint32(p[1]))
	copy(text, argument)
	return errnoSuccess
}

func argsSizesGet(_ *run, m api.Memory, p []uint64) errno {
	return sizes(m, p, 1, uint32(len(argument)))
}

func environGet(_ *run, m api.Memory, p []uint64) errno {
	for _, at := range p[:2] {
		if _, ok := m.Read(uint32(at), 0); !ok {
			return errnoFault
		}
	}
	return errnoSuccess
}

func environSizesGet(_ *run, m api.Memory, p []uint64) errno { return sizes(m, p, 0, 0) }

func sizes(m api.Memory, p []uint64, count, bytes uint32) errno {
	if !m.WriteUint32Le(uint32(p[0]), count) || !m.WriteUint32Le(uint32(p[1]), bytes) {
		return errnoFault
	}
	return errnoSuccess
}

// The clocks that there are.
const (
	clockRealtime  = 0
	clockMonotonic = 1
)

func clockResGet(_ *run, m api.Memory, p []uint64) errno {
	resolution := uint64(1)
	switch uint32(p[0]) {
	case clockRealtime:
		resolution = uint64(time.Microsecond)
	case clockMonotonic:
	default:
		return errnoInval
	}
	return writeUint64(m, p[1], resolution)
}

func clockTimeGet(r *run, m api.Memory, p []uint64) errno {
	var now int64
	switch uint32(p[0]) {
	case clockRealtime:
		now = r.walltime()
	case clockMonotonic:
		now = r.monotonic()
	default:
		return errnoInval
	}
	return writeUint64(m, p[2], uint64(now))
}

func writeUint64(m api.Memory, at, v uint64) errno {
	if !m.WriteUint64Le(uint32(at), v) {
		return errnoFault
	}
	return errnoSuccess
}

func writeUint32(m api.Memory, at uint64, v uint32) errno {
	if !m.WriteUint32Le(uint32(at), v) {
		return errnoFault
	}
	return errnoSuccess
}

// randomGet asks the Host in pieces, after which the Run can be stopped. They are a
// multiple of what the Host's generator makes at a time, so that the bytes are the same.
func randomGet(r *run, m api.Memory, p []uint64) errno {
	b, ok := m.Read(uint32(p[0]), uint32(p[1]))
	if !ok {
		return errnoFault
	}
	r.work(len(b))
	for len(b) > moveBytes {
		r.host.Random(b[:moveBytes])
		b = b[moveBytes:]
		r.checkStop()
	}
	if len(b) > 0 {
		r.host.Random(b)
	}
	return errnoSuccess
}

// procExit unwinds the guest. The instance is not closed: others use it after it.
func procExit(_ *run, _ api.Memory, p []uint64) errno { panic(sys.NewExitError(uint32(p[0]))) }

func sockSend(_ *run, _ api.Memory, p []uint64) errno {
	if uint32(p[3]) != 0 {
		return errnoNotsup
	}
	return errnoBadf
}

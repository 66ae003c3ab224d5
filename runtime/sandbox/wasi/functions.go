package wasi

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// Module is what guests import the functions from.
const Module = "wasi_snapshot_preview1"

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

// Function is a function of WASI. Guests have three standard streams, a clock,
// randomness and one argument: no files, no sockets, no environment. All of it finds in
// the run whatever the Host gives.
//
// The upper halves of i32 parameters are garbage: do cuts them off. It looks at no more
// of memory than it charges for, and at no path at all.
type Function struct {
	rewrite.Signature
	do func(r *guest.Run, m api.Memory, p []uint64) errno
}

// functions are all that there are, by name.
var functions = map[string]Function{
	"args_get":                {returning(i32 + i32), argsGet},
	"args_sizes_get":          {returning(i32 + i32), argsSizesGet},
	"environ_get":             {returning(i32 + i32), environGet},
	"environ_sizes_get":       {returning(i32 + i32), environSizesGet},
	"clock_res_get":           {returning(i32 + i32), clockResGet},
	"clock_time_get":          {returning(i32 + i64 + i32), clockTimeGet},
	"fd_advise":               {returning(i32 + i64 + i64 + i32), fdAdvise},
	"fd_allocate":             {returning(i32 + i64 + i64), fdAllocate},
	"fd_close":                {returning(i32), fdClose},
	"fd_datasync":             {returning(i32), ofStream(errnoSuccess)},
	"fd_fdstat_get":           {returning(i32 + i32), fdFdstatGet},
	"fd_fdstat_set_flags":     {returning(i32 + i32), fdFdstatSetFlags},
	"fd_fdstat_set_rights":    {returning(i32 + i64 + i64), answering(errnoNosys)},
	"fd_filestat_get":         {returning(i32 + i32), fdFilestatGet},
	"fd_filestat_set_size":    {returning(i32 + i64), ofStream(errnoNosys)},
	"fd_filestat_set_times":   {returning(i32 + i64 + i64 + i32), fdFilestatSetTimes},
	"fd_pread":                {returning(i32 + i32 + i32 + i64 + i32), fdPread},
	"fd_prestat_get":          {returning(i32 + i32), fdPrestatGet},
	"fd_prestat_dir_name":     {returning(i32 + i32 + i32), fdPrestatDirName},
	"fd_pwrite":               {returning(i32 + i32 + i32 + i64 + i32), fdPwrite},
	"fd_read":                 {returning(i32 + i32 + i32 + i32), fdRead},
	"fd_readdir":              {returning(i32 + i32 + i32 + i64 + i32), fdReaddir},
	"fd_renumber":             {returning(i32 + i32), fdRenumber},
	"fd_seek":                 {returning(i32 + i64 + i32 + i32), ofStream(errnoNosys)},
	"fd_sync":                 {returning(i32), ofStream(errnoSuccess)},
	"fd_tell":                 {returning(i32 + i32), ofStream(errnoNosys)},
	"fd_write":                {returning(i32 + i32 + i32 + i32), fdWrite},
	"path_create_directory":   {returning(i32 + i32 + i32), path(0, 1)},
	"path_filestat_get":       {returning(i32 + i32 + i32 + i32 + i32), path(0, 2)},
	"path_filestat_set_times": {returning(i32 + i32 + i32 + i32 + i64 + i64 + i32), pathFilestatSetTimes},
	"path_link":               {returning(i32 + i32 + i32 + i32 + i32 + i32 + i32), path(0, 2)},
	"path_open":               {returning(i32 + i32 + i32 + i32 + i32 + i64 + i64 + i32 + i32), path(0, 2)},
	"path_readlink":           {returning(i32 + i32 + i32 + i32 + i32 + i32), pathReadlink},
	"path_remove_directory":   {returning(i32 + i32 + i32), path(0, 1)},
	"path_rename":             {returning(i32 + i32 + i32 + i32 + i32 + i32), path(0, 1)},
	"path_symlink":            {returning(i32 + i32 + i32 + i32 + i32), pathSymlink},
	"path_unlink_file":        {returning(i32 + i32 + i32), path(0, 1)},
	"poll_oneoff":             {returning(i32 + i32 + i32 + i32), pollOneoff},
	"proc_exit":               {rewrite.Signature{Params: i32}, procExit},
	"proc_raise":              {returning(i32), answering(errnoNosys)},
	"random_get":              {returning(i32 + i32), randomGet},
	"sched_yield":             {returning(""), answering(errnoSuccess)},
	"sock_accept":             {returning(i32 + i32 + i32), answering(errnoBadf)},
	"sock_recv":               {returning(i32 + i32 + i32 + i32 + i32 + i32), answering(errnoBadf)},
	"sock_send":               {returning(i32 + i32 + i32 + i32 + i32), sockSend},
	"sock_shutdown":           {returning(i32 + i32), answering(errnoBadf)},
}

const (
	i32 = string(rune(api.ValueTypeI32))
	i64 = string(rune(api.ValueTypeI64))
)

func returning(params string) rewrite.Signature {
	return rewrite.Signature{Params: params, Results: i32}
}

// Lookup returns a function by its name, and false when there is none.
func Lookup(name string) (Function, bool) {
	f, ok := functions[name]
	return f, ok
}

// Names are the names of all functions, sorted.
func Names() []string { return slices.Sorted(maps.Keys(functions)) }

// Offer offers WASI to the native guests of an engine.
func Offer(ctx context.Context, engine wazero.Runtime) (api.Module, error) {
	builder := engine.NewHostModuleBuilder(Module)
	for name, f := range functions {
		call := func(ctx context.Context, m api.Module, stack []uint64) { f.Call(guest.RunOf(ctx), m.Memory(), stack) }
		builder.NewFunctionBuilder().WithName(name).
			WithGoModuleFunction(api.GoModuleFunc(call), []api.ValueType(f.Params), []api.ValueType(f.Results)).
			Export(name)
	}
	return builder.Instantiate(ctx)
}

// Call answers a guest, unless the Run is to stop: a guest that does little but call
// comes by nowhere else for long.
func (f Function) Call(r *guest.Run, m api.Memory, stack []uint64) {
	r.CheckStop()
	r.CountCall()
	answer := f.do(r, m, stack)
	if f.Results != "" {
		stack[0] = uint64(answer)
	}
}

const (
	// MaxBuffers is how many buffers one call can read into or write from: as many as
	// a call of POSIX.
	MaxBuffers = 1024
	// freeBuffers is how many of them cost nothing. Compilers of all languages pass one
	// to three.
	freeBuffers  = 8
	gasPerBuffer = 4 // of the others, which is about the time that they take
	// MaxSubscriptions is what one call can wait for. Guests wait for one or two things.
	MaxSubscriptions = 64
)

// buffers charges for a list of buffers beyond what is free, and returns what it holds.
func buffers(r *guest.Run, m api.Memory, at, count uint32) ([]byte, errno) {
	if count > MaxBuffers {
		return nil, errnoInval
	}
	list, ok := m.Read(at, count*8)
	if !ok {
		return nil, errnoFault
	}
	if count > freeBuffers {
		r.Charge(int64(count-freeBuffers) * gasPerBuffer)
	}
	return list, errnoSuccess
}

// answering gives the same answer to everything.
func answering(answer errno) func(*guest.Run, api.Memory, []uint64) errno {
	return func(*guest.Run, api.Memory, []uint64) errno { return answer }
}

// isStream reports whether a parameter is the descriptor of a standard stream. No others
// are ever open; one that the guest has closed still is, but for reading and writing.
func isStream(p uint64) bool { return uint32(p) <= 2 }

// ofStream gives an answer for standard streams.
func ofStream(answer errno) func(*guest.Run, api.Memory, []uint64) errno {
	return func(_ *guest.Run, _ api.Memory, p []uint64) errno {
		if !isStream(p[0]) {
			return errnoBadf
		}
		return answer
	}
}

// The one argument is what C programs take for their own name.
const argument = "plugin\x00"

func argsGet(_ *guest.Run, m api.Memory, p []uint64) errno {
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

func argsSizesGet(_ *guest.Run, m api.Memory, p []uint64) errno {
	return sizes(m, p, 1, uint32(len(argument)))
}

func environGet(_ *guest.Run, m api.Memory, p []uint64) errno {
	for _, at := range p[:2] {
		if _, ok := m.Read(uint32(at), 0); !ok {
			return errnoFault
		}
	}
	return errnoSuccess
}

func environSizesGet(_ *guest.Run, m api.Memory, p []uint64) errno { return sizes(m, p, 0, 0) }

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

func clockResGet(_ *guest.Run, m api.Memory, p []uint64) errno {
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

func clockTimeGet(r *guest.Run, m api.Memory, p []uint64) errno {
	var now int64
	switch uint32(p[0]) {
	case clockRealtime:
		now = r.Walltime()
	case clockMonotonic:
		now = r.Monotonic()
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
func randomGet(r *guest.Run, m api.Memory, p []uint64) errno {
	b, ok := m.Read(uint32(p[0]), uint32(p[1]))
	if !ok {
		return errnoFault
	}
	r.Work(len(b))
	for len(b) > guest.MoveBytes {
		r.Random(b[:guest.MoveBytes])
		b = b[guest.MoveBytes:]
		r.CheckStop()
	}
	if len(b) > 0 {
		r.Random(b)
	}
	return errnoSuccess
}

// procExit unwinds the guest. The instance is not closed: others use it after it.
func procExit(_ *guest.Run, _ api.Memory, p []uint64) errno { panic(sys.NewExitError(uint32(p[0]))) }

func sockSend(_ *guest.Run, _ api.Memory, p []uint64) errno {
	if uint32(p[3]) != 0 {
		return errnoNotsup
	}
	return errnoBadf
}

package wasi

import (
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
)

// What is said of a standard stream.
const (
	filetypeBlockDevice = 1
	// streamRights are all that there are for files: to read, write, seek, tell, sync,
	// allocate, advise and poll, and to get and set what is known of it.
	streamRights = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<21 | 1<<22 | 1<<23 | 1<<27
)

// Flags of a descriptor.
const (
	fdflagDsync    = 1 << 1
	fdflagNonblock = 1 << 2
	fdflagRsync    = 1 << 3
	fdflagSync     = 1 << 4
)

func fdAdvise(_ *guest.Run, _ api.Memory, p []uint64) errno {
	const kinds = 6
	switch {
	case !isStream(p[0]):
		return errnoBadf
	case byte(p[3]) >= kinds:
		return errnoInval
	}
	return errnoSuccess
}

func fdAllocate(_ *guest.Run, _ api.Memory, p []uint64) errno {
	size := int64(p[1] + p[2])
	switch {
	case !isStream(p[0]):
		return errnoBadf
	case size < 0:
		return errnoInval
	case size > 0:
		return errnoNosys
	}
	return errnoSuccess
}

// fdClose closes a standard stream until the end of the Run.
func fdClose(r *guest.Run, _ api.Memory, p []uint64) errno {
	if !isStream(p[0]) || r.IsClosed(int(uint32(p[0]))) {
		return errnoBadf
	}
	r.CloseStream(int(uint32(p[0])))
	return errnoSuccess
}

// streamStat returns the room that a guest has for what is told of a standard stream,
// emptied.
func streamStat(m api.Memory, p []uint64, size uint32) ([]byte, errno) {
	stat, ok := m.Read(uint32(p[1]), size)
	if !ok {
		return nil, errnoFault
	}
	if !isStream(p[0]) {
		return nil, errnoBadf
	}
	clear(stat)
	return stat, errnoSuccess
}

func fdFdstatGet(_ *guest.Run, m api.Memory, p []uint64) errno {
	stat, err := streamStat(m, p, 24)
	if err != errnoSuccess {
		return err
	}
	stat[0] = filetypeBlockDevice
	binary.LittleEndian.PutUint64(stat[8:], streamRights)
	return errnoSuccess
}

func fdFdstatSetFlags(_ *guest.Run, _ api.Memory, p []uint64) errno {
	flags := uint16(p[1])
	switch {
	case flags&(fdflagDsync|fdflagRsync|fdflagSync) != 0:
		return errnoInval
	case !isStream(p[0]):
		return errnoBadf
	case flags&fdflagNonblock != 0:
		return errnoNosys
	}
	return errnoSuccess
}

func fdFilestatGet(_ *guest.Run, m api.Memory, p []uint64) errno {
	stat, err := streamStat(m, p, 64)
	if err != errnoSuccess {
		return err
	}
	const filetype, links = 16, 24
	stat[filetype], stat[links] = filetypeBlockDevice, 1
	return errnoSuccess
}

func fdFilestatSetTimes(r *guest.Run, _ api.Memory, p []uint64) errno {
	if !isStream(p[0]) {
		return errnoBadf
	}
	if !readTimes(r, uint16(p[3])) {
		return errnoInval
	}
	return errnoNosys
}

// readTimes reads the clock as setting a file's times does, which moves it on. It returns
// false where the flags contradict each other.
func readTimes(r *guest.Run, flags uint16) bool {
	read := false
	for range 2 { // the time of access, and of modification
		set, now := flags&1 != 0, flags&2 != 0
		switch {
		case set && now:
			return false
		case now && !read:
			r.Walltime()
			read = true
		}
		flags >>= 2
	}
	return true
}

// fdRead finds nothing on the standard input.
func fdRead(r *guest.Run, m api.Memory, p []uint64) errno {
	answer := errnoBadf
	if uint32(p[0]) == 0 && !r.IsClosed(0) {
		answer = errnoSuccess
	}
	return read(r, m, p, p[3], answer)
}

func fdPread(r *guest.Run, m api.Memory, p []uint64) errno { return read(r, m, p, p[4], errnoBadf) }

// read reads nothing into the first buffer that has room. answer is what that gives.
func read(r *guest.Run, m api.Memory, p []uint64, result uint64, answer errno) errno {
	if !isStream(p[0]) {
		return errnoBadf
	}
	list, bad := buffers(r, m, uint32(p[1]), uint32(p[2]))
	if bad != errnoSuccess {
		return bad
	}
	for ; len(list) > 0; list = list[8:] {
		at, size := buffer(list)
		if size == 0 {
			continue
		}
		if _, ok := m.Read(at, size); !ok {
			return errnoFault
		}
		if answer != errnoSuccess {
			return answer
		}
		break
	}
	return writeUint32(m, result, 0)
}

// buffer reads the first entry of a list of buffers.
func buffer(list []byte) (at, size uint32) {
	return binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:])
}

func fdWrite(r *guest.Run, m api.Memory, p []uint64) errno {
	fd := uint32(p[0])
	return writeAll(r, m, p, p[3], func(b []byte) errno {
		if fd == 0 || r.IsClosed(int(fd)) {
			return errnoBadf
		}
		if len(b) > 0 {
			r.Write(int(fd), b)
		}
		return errnoSuccess
	})
}

func fdPwrite(r *guest.Run, m api.Memory, p []uint64) errno {
	return writeAll(r, m, p, p[4], func(b []byte) errno {
		if len(b) > 0 {
			return errnoBadf
		}
		return errnoSuccess
	})
}

func writeAll(r *guest.Run, m api.Memory, p []uint64, result uint64, write func([]byte) errno) errno {
	if !isStream(p[0]) {
		return errnoBadf
	}
	list, bad := buffers(r, m, uint32(p[1]), uint32(p[2]))
	if bad != errnoSuccess {
		return bad
	}
	written := uint32(0)
	for ; len(list) > 0; list = list[8:] {
		b, ok := m.Read(buffer(list))
		if !ok {
			return errnoFault
		}
		if bad := write(b); bad != errnoSuccess {
			return bad
		}
		written += uint32(len(b))
	}
	return writeUint32(m, result, written)
}

// fdPrestatGet says that a standard stream is a folder without a name, and that there is
// no other: guests ask from 3 on.
func fdPrestatGet(_ *guest.Run, m api.Memory, p []uint64) errno {
	if !isStream(p[0]) {
		return errnoBadf
	}
	return writeUint64(m, p[1], 0)
}

func fdPrestatDirName(_ *guest.Run, m api.Memory, p []uint64) errno {
	switch {
	case !isStream(p[0]):
		return errnoBadf
	case uint32(p[2]) > 0:
		return errnoNametoolong
	}
	if _, ok := m.Read(uint32(p[1]), 0); !ok {
		return errnoFault
	}
	return errnoSuccess
}

func fdReaddir(_ *guest.Run, _ api.Memory, p []uint64) errno {
	const header = 24
	if uint32(p[2]) < header {
		return errnoInval
	}
	return errnoBadf
}

func fdRenumber(_ *guest.Run, _ api.Memory, p []uint64) errno {
	if !isStream(p[0]) || int32(p[1]) < 0 {
		return errnoBadf
	}
	return errnoNotsup
}

// path answers what wants a file by its path. fd and at are where the descriptor of the
// folder and the address of the path are among the parameters.
func path(fd, at int) func(*guest.Run, api.Memory, []uint64) errno {
	return func(_ *guest.Run, m api.Memory, p []uint64) errno { return noFolder(m, p[fd], p[at:]) }
}

// noFolder says that a path within memory leads nowhere, for no descriptor is a folder.
func noFolder(m api.Memory, fd uint64, path []uint64) errno {
	if _, ok := m.Read(uint32(path[0]), uint32(path[1])); !ok {
		return errnoFault
	}
	if !isStream(fd) {
		return errnoBadf
	}
	return errnoNotdir
}

func pathFilestatSetTimes(r *guest.Run, m api.Memory, p []uint64) errno {
	if !readTimes(r, uint16(p[6])) {
		return errnoInval
	}
	return noFolder(m, p[0], p[2:])
}

func pathReadlink(_ *guest.Run, m api.Memory, p []uint64) errno {
	if uint32(p[2]) == 0 || uint32(p[4]) == 0 {
		return errnoInval
	}
	return noFolder(m, p[0], p[1:])
}

func pathSymlink(_ *guest.Run, _ api.Memory, p []uint64) errno {
	if !isStream(p[2]) {
		return errnoBadf
	}
	return errnoNotdir
}

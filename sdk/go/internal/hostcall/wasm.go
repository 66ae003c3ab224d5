//go:build wasip1

package hostcall

import (
	"runtime"
	"unsafe"
)

//go:wasmimport wharf read
func hostRead(ptr unsafe.Pointer, size uint32) uint32

//go:wasmimport wharf input
func hostInput(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf output
func hostOutput(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf message.append
func hostMessageAppend(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf log
func hostLog(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf progress
func hostProgress(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf clock
func hostClock(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf random
func hostRandom(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf artifact.put
func hostArtifactPut(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf artifact.get
func hostArtifactGet(ptr unsafe.Pointer, size uint32) uint64

// Input makes the host call "input".
func Input(request []byte) (uint32, []byte) { return call(hostInput, request) }

// Output makes the host call "output".
func Output(request []byte) (uint32, []byte) { return call(hostOutput, request) }

// MessageAppend makes the host call "message.append".
func MessageAppend(request []byte) (uint32, []byte) { return call(hostMessageAppend, request) }

// Log makes the host call "log".
func Log(request []byte) (uint32, []byte) { return call(hostLog, request) }

// Progress makes the host call "progress".
func Progress(request []byte) (uint32, []byte) { return call(hostProgress, request) }

// Clock makes the host call "clock".
func Clock(request []byte) (uint32, []byte) { return call(hostClock, request) }

// Random makes the host call "random".
func Random(request []byte) (uint32, []byte) { return call(hostRandom, request) }

// ArtifactPut makes the host call "artifact.put".
func ArtifactPut(request []byte) (uint32, []byte) { return call(hostArtifactPut, request) }

// ArtifactGet makes the host call "artifact.get".
func ArtifactGet(request []byte) (uint32, []byte) { return call(hostArtifactGet, request) }

// call makes a host call and fetches its answer. The status is in the upper and
// the length of the answer in the lower 32 bits of the result.
func call(host func(unsafe.Pointer, uint32) uint64, request []byte) (uint32, []byte) {
	result := host(unsafe.Pointer(unsafe.SliceData(request)), uint32(len(request)))
	runtime.KeepAlive(request)
	size := uint32(result)
	if size == 0 {
		return uint32(result >> 32), nil
	}
	answer := make([]byte, size)
	size = hostRead(unsafe.Pointer(unsafe.SliceData(answer)), size)
	return uint32(result >> 32), answer[:size]
}

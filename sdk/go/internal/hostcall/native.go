//go:build !wasip1

package hostcall

import "sync"

// Host answers host calls in a native test.
type Host func(call string, request []byte) (status uint32, answer []byte)

var (
	serving sync.Mutex // held while a host is in place
	host    Host
)

// Serve runs f with the given host in place. Calls of Serve wait for each other.
func Serve(h Host, f func()) {
	serving.Lock()
	defer serving.Unlock()
	host = h
	defer func() { host = nil }()
	f()
}

func call(name string, request []byte) (uint32, []byte) {
	if host == nil {
		return Unavailable, []byte(`{"code":"no_host","message":"there is no host: run the handler with wharftest"}`)
	}
	return host(name, request)
}

// Input makes the host call "input".
func Input(request []byte) (uint32, []byte) { return call(NameInput, request) }

// Output makes the host call "output".
func Output(request []byte) (uint32, []byte) { return call(NameOutput, request) }

// MessageAppend makes the host call "message.append".
func MessageAppend(request []byte) (uint32, []byte) { return call(NameMessageAppend, request) }

// Log makes the host call "log".
func Log(request []byte) (uint32, []byte) { return call(NameLog, request) }

// Progress makes the host call "progress".
func Progress(request []byte) (uint32, []byte) { return call(NameProgress, request) }

// Clock makes the host call "clock".
func Clock(request []byte) (uint32, []byte) { return call(NameClock, request) }

// Random makes the host call "random".
func Random(request []byte) (uint32, []byte) { return call(NameRandom, request) }

// ArtifactPut makes the host call "artifact.put".
func ArtifactPut(request []byte) (uint32, []byte) { return call(NameArtifactPut, request) }

// ArtifactGet makes the host call "artifact.get".
func ArtifactGet(request []byte) (uint32, []byte) { return call(NameArtifactGet, request) }

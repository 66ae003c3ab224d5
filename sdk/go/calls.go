package wharf

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
	"github.com/wharf-dev/wharf/sdk/go/internal/scan"
)

// Status says how the host answered a call that failed. It is an error, so that
//
//	errors.Is(err, wharf.StatusTimeout)
//
// tells one failure from another.
type Status uint32

// The statuses of a failed host call.
const (
	StatusInvalid     = Status(hostcall.Invalid)     // the request is malformed
	StatusDenied      = Status(hostcall.Denied)      // policy forbids it
	StatusNotFound    = Status(hostcall.NotFound)    // what it names does not exist, or not for this Task
	StatusTooLarge    = Status(hostcall.TooLarge)    // a limit on size or count
	StatusUnavailable = Status(hostcall.Unavailable) // the host could not do it now
	// StatusIndeterminate: the node died while it was done, nobody knows whether it
	// was, and doing it again is not safe.
	StatusIndeterminate = Status(hostcall.Indeterminate)
	StatusTimeout       = Status(hostcall.Timeout) // nobody answered, or nothing happened, in time
)

// Error implements the error interface.
func (s Status) Error() string {
	switch s {
	case StatusInvalid:
		return "the request is malformed"
	case StatusDenied:
		return "policy forbids it"
	case StatusNotFound:
		return "it does not exist"
	case StatusTooLarge:
		return "it is too large"
	case StatusUnavailable:
		return "the host could not do it now"
	case StatusIndeterminate:
		return "it is not known whether it was done"
	case StatusTimeout:
		return "it took too long"
	}
	return fmt.Sprintf("the host answered with the status %d", uint32(s))
}

// Error is a host call that failed.
type Error struct {
	Call    string
	Status  Status
	Code    string // machine-readable
	Message string
}

// Error implements the error interface.
func (e *Error) Error() string { return e.Call + ": " + e.Message + " (" + e.Code + ")" }

// Unwrap returns the Status.
func (e *Error) Unwrap() error { return e.Status }

// check turns the status of a host call into an error.
func check(call string, status uint32, answer []byte) error {
	if status == hostcall.OK {
		return nil
	}
	var reason struct{ Code, Message string }
	if json.Unmarshal(answer, &reason) != nil || reason.Message == "" {
		reason.Message = Status(status).Error()
	}
	return &Error{Call: call, Status: Status(status), Code: reason.Code, Message: reason.Message}
}

// decode checks the answer of a host call and stores it in v.
func decode(call string, status uint32, answer []byte, v any) error {
	if err := check(call, status, answer); err != nil {
		return err
	}
	if err := json.Unmarshal(answer, v); err != nil {
		return fmt.Errorf("%s: reading the answer: %w", call, err)
	}
	return nil
}

// hostCall is one of the functions of package hostcall.
type hostCall func(request []byte) (status uint32, answer []byte)

// ask makes a host call with a request that is encoded as JSON, and stores its
// answer in v unless that is nil.
func ask(name string, call hostCall, request, v any) error {
	text, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("%s: writing the request: %w", name, err)
	}
	status, answer := call(text)
	if v == nil {
		return check(name, status, answer)
	}
	return decode(name, status, answer, v)
}

// seconds is how long to wait, as host calls take it; 0 is for ever.
func seconds(d time.Duration) float64 { return d.Seconds() }

// Input returns the Task that the plugin was started for.
func Input() (*Task, error) {
	status, answer := hostcall.Input(nil)
	if err := check(hostcall.NameInput, status, answer); err != nil {
		return nil, err
	}
	task, err := readInput(answer)
	if err != nil {
		return nil, fmt.Errorf("input: reading the answer: %w", err)
	}
	return task, nil
}

// output is the request of the host call "output".
type output struct {
	Summary    string
	Metrics    map[string]float64
	Failure    *Failure
	StopReason StopReason `json:"stop_reason"`
}

func (o output) send() error {
	request, err := o.append(nil)
	if err != nil {
		return fmt.Errorf("%s: writing the request: %w", hostcall.NameOutput, err)
	}
	status, answer := hostcall.Output(request)
	return check(hostcall.NameOutput, status, answer)
}

// Output says what the Task results in. [Run] does this: call Output only in an
// export that does without Run, and once.
func Output(r Result) error {
	return output{Summary: r.Summary, Metrics: r.Metrics, StopReason: r.StopReason}.send()
}

// Fail makes the Task fail, whatever the export returns. Like [Output] it is
// called once, and by [Run].
func Fail(f *Failure) error { return output{Failure: f}.send() }

// AppendMessage appends a Message to the Session's transcript and returns its id;
// m.ID is not looked at. The Message becomes visible with the next call that reaches
// outside the Task, at the latest when the Task ends.
func AppendMessage(m Message) (id string, err error) {
	status, answer := hostcall.MessageAppend(m.append(nil))
	if err := check(hostcall.NameMessageAppend, status, answer); err != nil {
		return "", err
	}
	err = scan.Members(answer, func(key string, value []byte) (err error) {
		if key == "message_id" {
			id, err = scan.String(value)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%s: reading the answer: %w", hostcall.NameMessageAppend, err)
	}
	return id, nil
}

// Reply appends an assistant Message with one text part and returns its id.
func Reply(text string) (id string, err error) {
	return AppendMessage(Message{Role: "assistant", Parts: []Part{TextPart(text)}})
}

// Level is the severity of a log line.
type Level string

// The levels.
const (
	LevelDebug Level = "debug"
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// Log writes a line to the Task's event stream.
func Log(level Level, format string, args ...any) error {
	return ask(hostcall.NameLog, hostcall.Log, struct {
		Level   Level  `json:"level"`
		Message string `json:"message"`
	}{level, fmt.Sprintf(format, args...)}, nil)
}

// Progress tells watchers how far the Task is, from 0 to 1.
func Progress(fraction float64, message string) error {
	return ask(hostcall.NameProgress, hostcall.Progress, progress{fraction, message}, nil)
}

type progress struct {
	Fraction float64 `json:"fraction"`
	Message  string  `json:"message,omitempty"`
}

// labeled is the request of calls that take only a name for themselves.
type labeled struct {
	CallID string `json:"call_id,omitempty"`
}

// Now returns the wall clock. time.Now does not: what it tells is made up from the
// times of the answers in the Task's record, and of a fixed step for every reading.
func Now() (time.Time, error) { return NowAs("") }

// NowAs is [Now] under a name: a replay can be given another time for it, with the
// override key time: and the name.
func NowAs(callID string) (time.Time, error) {
	var answer struct {
		UnixNano string `json:"unix_nano"`
	}
	if err := ask(hostcall.NameClock, hostcall.Clock, labeled{callID}, &answer); err != nil {
		return time.Time{}, err
	}
	nanos, err := strconv.ParseInt(answer.UnixNano, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("clock: reading the answer: %w", err)
	}
	return time.Unix(0, nanos).UTC(), nil
}

const maxRandom = 65536

// Random fills p with randomness fit for keys.
func Random(p []byte) error {
	for len(p) > 0 {
		n := min(len(p), maxRandom)
		status, answer := hostcall.Random(binary.LittleEndian.AppendUint32(nil, uint32(n)))
		if err := check(hostcall.NameRandom, status, answer); err != nil {
			return err
		}
		if len(answer) != n {
			return &Error{Call: hostcall.NameRandom, Status: StatusUnavailable, Message: "the host gave too few bytes"}
		}
		copy(p, answer)
		p = p[n:]
	}
	return nil
}

// Artifact describes content to store.
type Artifact struct {
	Kind       string `json:"kind"` // file, patch, image, log, diff, dataset, other, …
	MimeType   string `json:"mime_type"`
	Visibility string `json:"visibility,omitempty"` // default public
	Name       string `json:"name,omitempty"`
}

// StoredArtifact says where content went.
type StoredArtifact struct {
	ID     string `json:"artifact_id"`
	SHA256 string `json:"sha256"` // hex
}

// PutArtifact stores an Artifact of this Task. It becomes visible with the next call
// that reaches outside the Task, at the latest when the Task ends.
func PutArtifact(a Artifact, content []byte) (StoredArtifact, error) {
	request, err := json.Marshal(a)
	if err != nil {
		return StoredArtifact{}, err
	}
	request = append(append(request, '\n'), content...)
	var answer StoredArtifact
	status, raw := hostcall.ArtifactPut(request)
	err = decode(hostcall.NameArtifactPut, status, raw, &answer)
	return answer, err
}

// ReadArtifact returns length bytes of an Artifact's content from offset on, fewer
// only at the end.
func ReadArtifact(id string, offset, length int64) ([]byte, error) {
	request, err := json.Marshal(struct {
		ArtifactID string `json:"artifact_id"`
		Offset     int64  `json:"offset,omitempty"`
		Length     int64  `json:"length,omitempty"`
	}{id, offset, length})
	if err != nil {
		return nil, err
	}
	status, answer := hostcall.ArtifactGet(request)
	if err := check(hostcall.NameArtifactGet, status, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// artifactChunk is how much [OpenArtifact] reads at a time.
const artifactChunk = 1 << 20

// OpenArtifact returns a reader of an Artifact's content, which it fetches in
// pieces. That the Artifact does not exist shows at the first read.
func OpenArtifact(id string) io.Reader { return &artifactReader{id: id} }

type artifactReader struct {
	id     string
	offset int64
	chunk  bytes.Reader
	ended  bool
}

// Read implements io.Reader.
func (r *artifactReader) Read(p []byte) (int, error) {
	if r.chunk.Len() == 0 && !r.ended {
		if err := r.fetch(); err != nil {
			return 0, err
		}
	}
	return r.chunk.Read(p)
}

func (r *artifactReader) fetch() error {
	chunk, err := ReadArtifact(r.id, r.offset, artifactChunk)
	if err != nil {
		return err
	}
	r.offset += int64(len(chunk))
	r.ended = len(chunk) < artifactChunk
	r.chunk.Reset(chunk)
	return nil
}

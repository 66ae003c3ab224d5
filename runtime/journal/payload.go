package journal

import (
	"fmt"
	"time"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/storage"
)

// MaxInline is the largest request or answer that an event holds itself, in
// bytes. A larger one is a blob, and the event holds its hash.
const MaxInline = 16 << 10

// Phase says what an event tells of a host call.
type Phase int

// The phases.
const (
	// Whole tells a call and its answer.
	Whole Phase = iota
	// Intent tells that a call is about to happen, or waits.
	Intent
	// Result tells the answer of a call whose intent was told before.
	Result
)

// Refs are the hashes of a request and an answer that are kept as blobs; zero for
// those that are not.
type Refs struct {
	Request, Answer abi.Hash
}

// prefix is what the payload of every recorded call begins with.
const prefix = `{"call":"`

// AppendPayload appends the payload of the event that tells e in the given phase.
// Texts longer than [MaxInline] must have their hash in refs. What the event's
// State tells already is left out: see [implied].
func (e *Entry) AppendPayload(b []byte, phase Phase, refs Refs) []byte {
	o := jsonw.Begin(b)
	o.Text("call", e.Call)
	o.Int("index", int64(e.Index))
	o.Int("at_us", e.At.UnixMicro())
	o.Optional("effect", string(e.Effect))
	o.Optional("key", e.Key)
	switch phase {
	case Intent:
		o.Text("phase", "intent")
	case Result:
		o.Text("phase", "result")
	}
	o.Count("status", int(e.Status))
	if phase != Result && !implied(e.Call, e.Status) {
		writeText(&o, "request", e.Request, refs.Request)
	}
	if phase != Intent && !implied(e.Call, e.Status) {
		writeText(&o, "answer", e.Answer, refs.Answer)
	}
	return o.End()
}

// writeText writes a text in the most readable form that keeps its bytes: as the
// JSON that it is, as a string, or in base64. An empty text is left out.
func writeText(o *jsonw.Object, name string, text []byte, ref abi.Hash) {
	switch {
	case len(text) == 0:
	case ref != abi.Hash{}:
		o.Hash(name+"_blob", (*[32]byte)(&ref))
	case compact(text):
		o.JSON(name, text)
	case utf8.Valid(text):
		o.Name(name + "_text")
		o.B = append(jsonw.UTF8(o.B, text), ',')
	default:
		o.Base64(name+"_base64", text)
	}
}

// compact reports whether text is a JSON text without white space between its
// tokens, which the log gives back byte for byte. One that is too deep is not: with
// what it is put in, it might be more than can be read again.
func compact(text []byte) bool {
	return !jsonw.Spaced(text) && abi.TooDeep(text, abi.MaxDepth) < 0 && jsontext.Value(text).IsValid()
}

// Recorded reports whether an event tells a host call.
func Recorded(r *storage.Record) bool {
	return !r.Hint && len(r.Payload) > len(prefix) && string(r.Payload[:len(prefix)]) == prefix && tells[r.Kind]
}

// tells lists the kinds of events that tell host calls.
var tells = map[abi.EventKind]bool{
	abi.EventCall: true, abi.EventCallIntent: true, abi.EventStateSet: true,
	abi.EventSpanStarted: true, abi.EventSpanCompleted: true, abi.EventSpanFailed: true,
	abi.EventToolRequested: true, abi.EventToolCompleted: true, abi.EventToolFailed: true,
	abi.EventToolApprovalRequired: true, abi.EventToolApproved: true, abi.EventToolDenied: true,
	abi.EventAgentMemoryRead: true, abi.EventAgentMemoryWrite: true, abi.EventAgentHandoff: true,
	abi.EventAgentMessage: true, abi.EventUserMessage: true, abi.EventSessionMessageAppended: true,
	abi.EventArtifactCreated: true, abi.EventUserInputSubmitted: true,
}

// Kind returns the kind of the event that tells a call in the given phase. For
// message.append and artifact.put it is that of the Message and the Artifact,
// which the caller knows.
func Kind(call string, phase Phase, status abi.CallStatus) abi.EventKind {
	switch call {
	case abi.CallLLMComplete, abi.CallHTTPFetch:
		return phased(phase, status, abi.EventSpanStarted, abi.EventSpanCompleted, abi.EventSpanFailed)
	case abi.CallToolCall:
		return phased(phase, status, abi.EventToolRequested, abi.EventToolCompleted, abi.EventToolFailed)
	case abi.CallApprovalRequest, abi.CallGate:
		return phased(phase, status, abi.EventToolApprovalRequired, abi.EventToolApproved, abi.EventToolDenied)
	}
	switch done := doneBy[call]; {
	case phase == Intent:
		return abi.EventCallIntent
	case status == abi.CallOK && done != "":
		return done
	}
	return abi.EventCall
}

// doneBy lists the kinds that tell what calls have done. There is one such event for
// each: neither what is about to happen nor what was refused has happened.
var doneBy = map[string]abi.EventKind{
	abi.CallMemoryQuery: abi.EventAgentMemoryRead, abi.CallMemoryWrite: abi.EventAgentMemoryWrite, abi.CallHandoff: abi.EventAgentHandoff,
	abi.CallStateSet: abi.EventStateSet, abi.CallArtifactPut: abi.EventArtifactCreated,
	abi.CallInputRequest: abi.EventUserInputSubmitted, abi.CallAuthRequest: abi.EventUserInputSubmitted,
}

// phased picks the kind that tells a phase of a call.
func phased(phase Phase, status abi.CallStatus, intent, done, failed abi.EventKind) abi.EventKind {
	switch {
	case phase == Intent:
		return intent
	case status != abi.CallOK:
		return failed
	}
	return done
}

// wire is a payload as it is read back.
type wire struct {
	Call          string         `json:"call"`
	Index         int            `json:"index"`
	AtMicros      int64          `json:"at_us"`
	Effect        abi.Effect     `json:"effect"`
	Key           string         `json:"key"`
	Phase         string         `json:"phase"`
	Status        abi.CallStatus `json:"status"`
	Request       jsontext.Value `json:"request"`
	RequestText   string         `json:"request_text"`
	RequestBase64 []byte         `json:"request_base64"`
	RequestBlob   string         `json:"request_blob"`
	Answer        jsontext.Value `json:"answer"`
	AnswerText    string         `json:"answer_text"`
	AnswerBase64  []byte         `json:"answer_base64"`
	AnswerBlob    string         `json:"answer_blob"`
}

// Blobs returns the content of a blob that an entry refers to.
type Blobs func(abi.Hash) ([]byte, error)

// Decode reads what an event tells of a host call.
func Decode(r *storage.Record, blobs Blobs) (Entry, Phase, error) {
	var w wire
	if err := json.Unmarshal(r.Payload, &w); err != nil {
		return Entry{}, Whole, fmt.Errorf("reading a recorded call: %w", err)
	}
	e := Entry{Index: w.Index, Call: w.Call, Effect: w.Effect, Key: w.Key,
		At: time.UnixMicro(w.AtMicros).UTC(), Status: w.Status, Resource: r.Resource}
	var err error
	if e.Request, err = text(w.Request, w.RequestText, w.RequestBase64, w.RequestBlob, blobs); err != nil {
		return e, Whole, fmt.Errorf("reading the request of call %d, %s: %w", w.Index, w.Call, err)
	}
	if e.Answer, err = text(w.Answer, w.AnswerText, w.AnswerBase64, w.AnswerBlob, blobs); err != nil {
		return e, Whole, fmt.Errorf("reading the answer of call %d, %s: %w", w.Index, w.Call, err)
	}
	if implied(e.Call, e.Status) {
		if err := e.imply(r); err != nil {
			return e, Whole, err
		}
	}
	switch w.Phase {
	case "intent":
		e.Open = true
		return e, Intent, nil
	case "result":
		return e, Result, nil
	}
	return e, Whole, nil
}

func text(raw jsontext.Value, plain string, encoded []byte, blob string, blobs Blobs) (Text, error) {
	switch {
	case raw != nil:
		return Text(raw), nil
	case plain != "":
		return Text(plain), nil
	case blob != "":
		h, err := ParseHash(blob)
		if err != nil {
			return nil, err
		}
		return blobs(h)
	}
	return encoded, nil
}

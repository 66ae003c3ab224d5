package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
)

// run is one run of a Task's plugin: it answers the host calls and collects what
// they made. Nothing of it is visible before the Task ends, when all of it goes
// into the batch that ends the Task; so a run that is cut short leaves no trace
// but hints, and can be started again.
//
// It is used by the goroutine of the guest alone.
type run struct {
	engine  *Engine
	task    *task
	persona *persona
	input   jsontext.Value
	began   time.Time
	usage   sandbox.Usage

	messages  []*abi.Message
	artifacts []*abi.Artifact
	output    *abi.CallOutputRequest
	hints     int
}

// maxHints bounds the log lines and progress reports that a run may write.
const maxHints = 10_000

// Now implements [sandbox.Host].
func (r *run) Now() time.Time { return r.engine.now() }

// Random implements [sandbox.Host].
func (r *run) Random(p []byte) {
	if _, err := io.ReadFull(r.engine.entropy, p); err != nil {
		panic("engine: reading randomness: " + err.Error())
	}
}

// Sleep implements [sandbox.Host].
func (r *run) Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Call implements [sandbox.Host].
func (r *run) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	status, answer := r.perform(ctx, call, request)
	return status, answer, nil
}

func (r *run) perform(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte) {
	switch call {
	case abi.CallInput:
		return r.callInput()
	case abi.CallOutput:
		return r.callOutput(request)
	case abi.CallMessageAppend:
		return r.callMessageAppend(request)
	case abi.CallLog:
		return r.callLog(request)
	case abi.CallProgress:
		return r.callProgress(request)
	case abi.CallClock:
		return abi.CallOK, []byte(`{"unix_nano":"` + strconv.FormatInt(r.Now().UnixNano(), 10) + `"}`)
	case abi.CallRandom:
		return r.callRandom(request)
	case abi.CallArtifactPut:
		return r.callArtifactPut(ctx, request)
	case abi.CallArtifactGet:
		return r.callArtifactGet(ctx, request)
	}
	return refuse(abi.CallInvalid, "unknown_call", "there is no host call "+call)
}

// refuse answers a host call that could not be done.
func refuse(status abi.CallStatus, code, message string) (abi.CallStatus, []byte) {
	answer, err := json.Marshal(abi.CallError{Code: code, Message: message})
	if err != nil { // message is not UTF-8
		answer = []byte(`{"code":"` + code + `","message":"unreadable"}`)
	}
	return status, answer
}

// malformed answers a request that is not what the call's definition says.
func malformed(err error) (abi.CallStatus, []byte) {
	var invalid *abi.Error
	if errors.As(err, &invalid) {
		return refuse(abi.CallInvalid, string(invalid.Code), invalid.Message)
	}
	return refuse(abi.CallInvalid, string(abi.CodeInvalidRequest), err.Error())
}

func answer(v any) (abi.CallStatus, []byte) {
	text, err := json.Marshal(v)
	if err != nil {
		return refuse(abi.CallUnavailable, "internal_error", err.Error())
	}
	return abi.CallOK, text
}

// callInput answers with a [abi.CallInputAnswer]. Its parts are JSON already, so
// they are joined and not encoded again.
func (r *run) callInput() (abi.CallStatus, []byte) {
	task := r.task.lastState()
	answer := make([]byte, 0, len(task)+len(r.input)+len(r.persona.text)+128)
	answer = append(answer, `{"task":`...)
	answer = append(answer, task[:len(task)-1]...)
	answer = append(answer, `,"input":`...)
	answer = append(answer, r.input...)
	answer = append(answer, `},"persona":`...)
	answer = append(answer, r.persona.text...)
	answer = append(answer, `,"session_id":"`...)
	answer = append(answer, r.task.about.SessionID...)
	return abi.CallOK, append(answer, '"', '}')
}

// lastState returns the Task as the log states it last, without its input.
func (t *task) lastState() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

func (r *run) callOutput(request []byte) (abi.CallStatus, []byte) {
	if r.output != nil {
		return refuse(abi.CallInvalid, "output_given", "the task has its output already; output is called once")
	}
	var out abi.CallOutputRequest
	if err := json.Unmarshal(request, &out); err != nil {
		return malformed(err)
	}
	if out.Failure != nil && out.Failure.Code == "" {
		out.Failure.Code = abi.FailurePluginError
	}
	r.output = &out
	return abi.CallOK, nil
}

func (r *run) callMessageAppend(request []byte) (abi.CallStatus, []byte) {
	var in abi.MessageInput
	if err := json.Unmarshal(request, &in); err != nil {
		return malformed(err)
	}
	m, err := r.engine.message(&in, r.task.about.SessionID, r.task.id)
	if err != nil {
		return malformed(err)
	}
	r.messages = append(r.messages, m)
	return abi.CallOK, []byte(`{"message_id":"` + m.ID + `"}`)
}

func (r *run) callLog(request []byte) (abi.CallStatus, []byte) {
	var line abi.CallLogRequest
	if err := json.Unmarshal(request, &line); err != nil {
		return malformed(err)
	}
	if err := checkOneOf("level", line.Level, "debug", "info", "warn", "error"); err != nil {
		return malformed(err)
	}
	return r.hint(abi.EventLog, &line)
}

func (r *run) callProgress(request []byte) (abi.CallStatus, []byte) {
	var p abi.CallProgressRequest
	if err := json.Unmarshal(request, &p); err != nil {
		return malformed(err)
	}
	if p.Fraction < 0 || p.Fraction > 1 {
		return malformed(abi.InvalidParam("fraction", "fraction must be between 0 and 1"))
	}
	return r.hint(abi.EventProgress, &p)
}

// hint appends telemetry. It is not waited for, and dropped beyond maxHints.
func (r *run) hint(kind abi.EventKind, payload any) (abi.CallStatus, []byte) {
	r.hints++
	if r.hints > maxHints {
		return abi.CallOK, nil
	}
	e, t := r.engine, r.task
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.Status.Terminal() {
		return abi.CallOK, nil
	}
	records, err := encode(record{kind: kind, object: abi.ObjectTask, id: t.id, seq: t.seq, hint: true, payload: payload})
	if err != nil {
		return malformed(err)
	}
	e.store.Append(&storage.Batch{Frame: taskFrame(t.tenant, &t.about, t.about.PersonaID, e.now(), records)})
	t.seq++
	return abi.CallOK, nil
}

// maxRandom is the most randomness that one call gives, in bytes.
const maxRandom = 1 << 16

func (r *run) callRandom(request []byte) (abi.CallStatus, []byte) {
	if len(request) != 4 {
		return malformed(errors.New("the request of random is 4 bytes: how many, little-endian"))
	}
	n := binary.LittleEndian.Uint32(request)
	if n > maxRandom {
		return refuse(abi.CallTooLarge, string(abi.CodePayloadTooLarge), "at most 65,536 random bytes at once")
	}
	p := make([]byte, n)
	r.Random(p)
	return abi.CallOK, p
}

func (r *run) callArtifactPut(ctx context.Context, request []byte) (abi.CallStatus, []byte) {
	header, content, found := bytes.Cut(request, []byte("\n"))
	if !found {
		return malformed(errors.New("artifact.put takes a line of JSON, a newline, and the content"))
	}
	var put abi.CallArtifactPutRequest
	if err := json.Unmarshal(header, &put); err != nil {
		return malformed(err)
	}
	setDefault(&put.Visibility, abi.VisibilityPublic)
	reg := abi.RegisterArtifactRequest{Kind: put.Kind, MimeType: put.MimeType, Visibility: put.Visibility, Name: put.Name}
	if err := checkArtifact(&reg); err != nil {
		return malformed(err)
	}
	hash, size, err := r.engine.store.Blobs().Put(ctx, bytes.NewReader(content), nil)
	if err != nil {
		return refuse(abi.CallUnavailable, string(abi.CodeInternalError), "the artifact could not be stored")
	}
	a := r.engine.newArtifact(&reg, hex.EncodeToString(hash[:]), size)
	a.WorkspaceID, a.SessionID, a.TaskID = r.task.about.WorkspaceID, r.task.about.SessionID, r.task.id
	r.artifacts = append(r.artifacts, a)
	return answer(map[string]string{"artifact_id": a.ID, "sha256": *a.SHA256})
}

func (r *run) callArtifactGet(ctx context.Context, request []byte) (abi.CallStatus, []byte) {
	var get abi.CallArtifactGetRequest
	if err := json.Unmarshal(request, &get); err != nil {
		return malformed(err)
	}
	if get.Offset < 0 || get.Length < 0 {
		return malformed(abi.InvalidParam("offset", "offset and length must not be negative"))
	}
	a, err := r.artifact(ctx, get.ArtifactID)
	if err != nil {
		return refuse(abi.CallNotFound, string(abi.CodeResourceNotFound), "no artifact "+strconv.Quote(get.ArtifactID)+" is visible to this task")
	}
	content, err := r.engine.readArtifact(ctx, a, get.Offset, get.Length, int64(r.engine.config.Limits.PayloadBytes))
	if err != nil {
		return refuse(abi.CallUnavailable, string(abi.CodeInternalError), err.Error())
	}
	return abi.CallOK, content
}

// artifact finds one of this run's Artifacts, or one of the Task's Workspace.
func (r *run) artifact(ctx context.Context, id string) (*abi.Artifact, error) {
	for _, a := range r.artifacts {
		if a.ID == id {
			return a, nil
		}
	}
	res, err := r.engine.find(ctx, r.task.tenant, abi.ObjectArtifact, id)
	if err != nil {
		return nil, err
	}
	var a abi.Artifact
	if err := decode(res.State, &a); err != nil {
		return nil, err
	}
	if a.WorkspaceID != r.task.about.WorkspaceID {
		return nil, abi.NotFound(abi.ObjectArtifact, id)
	}
	return &a, nil
}

// produced returns the records of what a run made, in the order in which it did.
func (r *run) produced(t *task) []record {
	records := make([]record, 0, len(r.messages)+len(r.artifacts)+2)
	for _, a := range r.artifacts {
		records = append(records, record{kind: abi.EventArtifactCreated, object: abi.ObjectArtifact, id: a.ID, created: true, state: a})
	}
	for _, m := range r.messages {
		records = append(records, messageRecord(m))
	}
	return records
}

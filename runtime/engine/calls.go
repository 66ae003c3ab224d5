package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/artifacts"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/storage"
)

// hostCall answers a call at once.
type hostCall func(r *run, ctx context.Context, c *liveCall) (answer []byte, err error)

// immediate are the calls that the engine answers by itself, at once. A
// *provider.Refusal is an answer for the guest; any other error fails the Task.
// What a call states or tells besides goes into c.states and c.extra: it is
// written in one batch with the call's own event, so neither is there without the
// other.
var immediate = map[string]hostCall{
	abi.CallOutput:         (*run).callOutput,
	abi.CallClock:          (*run).callClock,
	abi.CallRandom:         (*run).callRandom,
	abi.CallID:             (*run).callID,
	abi.CallMessageAppend:  (*run).callMessageAppend,
	abi.CallTranscriptRead: (*run).callTranscriptRead,
	abi.CallMemoryQuery:    (*run).callMemoryQuery,
	abi.CallMemoryWrite:    (*run).callMemoryWrite,
	abi.CallArtifactPut:    (*run).callArtifactPut,
	abi.CallArtifactGet:    (*run).callArtifactGet,
	abi.CallStateGet:       (*run).callStateGet,
	abi.CallStateSet:       (*run).callStateSet,
	abi.CallEventEmit:      (*run).callEventEmit,
	abi.CallHostFact:       (*run).callHostFact,
	abi.CallNormalized:     (*run).callNormalized,
}

// immediately returns what answers a call at once; nil for a call that is not answered so.
func (e *Engine) immediately(call string) hostCall {
	if served := e.served[call]; served != nil {
		return served
	}
	return immediate[call]
}

func (r *run) callOutput(_ context.Context, c *liveCall) ([]byte, error) {
	if r.outputs.Output != nil {
		return nil, provider.Refuse(abi.CallInvalid, "output_given", "the task has its output already; output is called once")
	}
	out, err := ask[abi.CallOutputRequest](c)
	if err != nil {
		return nil, err
	}
	if out.Failure != nil && out.Failure.Code == "" {
		return nil, provider.Malformed(abi.InvalidParam("failure.code", "a failure needs a code"))
	}
	return nil, nil
}

func (r *run) callClock(context.Context, *liveCall) ([]byte, error) {
	return []byte(`{"unix_nano":"` + strconv.FormatInt(r.engine.now().UnixNano(), 10) + `"}`), nil
}

func (r *run) callRandom(_ context.Context, c *liveCall) ([]byte, error) {
	if len(c.request) != 4 {
		return nil, provider.Malformed(errors.New("the request of random is 4 bytes: how many, little-endian"))
	}
	n := binary.LittleEndian.Uint32(c.request)
	if n > abi.MaxRandom {
		return nil, provider.Refuse(abi.CallTooLarge, string(abi.CodePayloadTooLarge), "at most 65,536 random bytes at once")
	}
	p := make([]byte, n)
	if _, err := io.ReadFull(r.engine.entropy, p); err != nil {
		return nil, fmt.Errorf("reading randomness: %w", err)
	}
	return p, nil
}

func (r *run) callID(context.Context, *liveCall) ([]byte, error) {
	return []byte(`{"id":"` + r.engine.ids.New("") + `"}`), nil
}

func (r *run) callMessageAppend(ctx context.Context, c *liveCall) (answer []byte, err error) {
	err = r.engine.turns.Do(ctx, len(c.request), func() error {
		answer, err = r.append(c)
		return err
	})
	return answer, err
}

// append describes the Message that a call appends.
func (r *run) append(c *liveCall) ([]byte, error) {
	m, err := r.appended(c)
	if err != nil {
		c.entry.Request = bytes.Clone(journal.Canonical(c.entry.Call, c.request))
		return nil, err
	}
	c.entry.Request = journal.CanonicalMessage(m)
	rec := sessions.MessageRecord(m)
	c.states = &rec
	return journal.MessageAnswer(m.ID), nil
}

// appended returns the Message that a call appends.
func (r *run) appended(c *liveCall) (*abi.Message, error) {
	in, err := ask[abi.MessageInput](c)
	if err != nil {
		return nil, err
	}
	m, err := r.engine.NewMessage(&in, r.task.about.SessionID, r.task.id)
	if err != nil {
		return nil, provider.Malformed(err)
	}
	return m, nil
}

// maxTranscript is how many Messages transcript.read gives at most.
const maxTranscript = 200

func (r *run) callTranscriptRead(ctx context.Context, c *liveCall) ([]byte, error) {
	req, err := ask[abi.CallTranscriptReadRequest](c)
	if err != nil {
		return nil, err
	}
	req.Last = cmp.Or(req.Last, 50)
	if req.Last < 0 || req.Last > maxTranscript {
		return nil, provider.Malformed(abi.InvalidParam("last", "last is 1 to %d", maxTranscript))
	}
	if err := r.flush(true); err != nil { // so that it sees its own Messages
		return nil, err
	}
	return r.engine.lastMessages(ctx, r.task, req.Last)
}

func (r *run) callArtifactPut(ctx context.Context, c *liveCall) ([]byte, error) {
	header, content, found := bytes.Cut(c.request, []byte("\n"))
	if !found {
		return nil, provider.Malformed(errors.New("artifact.put takes a line of JSON, a newline, and the content"))
	}
	var put abi.CallArtifactPutRequest
	if err := json.Unmarshal(header, &put); err != nil {
		return nil, provider.Malformed(err)
	}
	put.Visibility = cmp.Or(put.Visibility, abi.VisibilityPublic)
	reg := abi.RegisterArtifactRequest{Kind: put.Kind, MimeType: put.MimeType, Visibility: put.Visibility, Name: put.Name}
	if err := artifacts.CheckArtifact(&reg); err != nil {
		return nil, provider.Malformed(err)
	}
	a, err := r.engine.artifactOf(ctx, &r.task.about, &reg, content)
	if err != nil {
		return nil, err
	}
	c.states = &ledger.Record{Kind: abi.EventArtifactCreated, Object: abi.ObjectArtifact, ID: a.ID, Created: true, State: a}
	return json.Marshal(abi.CallArtifactPutAnswer{ArtifactID: a.ID, SHA256: *a.SHA256})
}

// artifactOf stores what a Task has put and returns its Artifact.
func (e *Engine) artifactOf(ctx context.Context, t *abi.Task, reg *abi.RegisterArtifactRequest, content []byte) (*abi.Artifact, error) {
	hash, size, err := e.store.Blobs().Put(ctx, bytes.NewReader(content), nil)
	if err != nil {
		return nil, fmt.Errorf("storing an artifact: %w", err)
	}
	a := e.NewArtifact(reg, hex.EncodeToString(hash[:]), size)
	a.WorkspaceID, a.SessionID, a.TaskID = t.WorkspaceID, t.SessionID, t.ID
	return a, nil
}

func (r *run) callArtifactGet(ctx context.Context, c *liveCall) ([]byte, error) {
	get, err := ask[abi.CallArtifactGetRequest](c)
	if err != nil {
		return nil, err
	}
	if get.Offset < 0 || get.Length < 0 {
		return nil, provider.Malformed(abi.InvalidParam("offset", "offset and length must not be negative"))
	}
	if slices.Contains(r.outputs.ArtifactIDs(), get.ArtifactID) {
		if err := r.flush(true); err != nil { // it was put by this very run
			return nil, err
		}
	}
	a, err := r.artifact(ctx, get.ArtifactID)
	if err != nil {
		return nil, provider.Refuse(abi.CallNotFound, string(abi.CodeResourceNotFound), "no artifact "+strconv.Quote(get.ArtifactID)+" is visible to this task")
	}
	if a.Visibility == abi.VisibilityReceiptOnly {
		return nil, provider.Refuse(abi.CallDenied, string(abi.CodePermissionDenied), "the content of this artifact is for receipts only")
	}
	content, err := r.engine.ReadArtifact(ctx, a, get.Offset, get.Length, int64(r.engine.config.Limits.PayloadBytes))
	if errors.Is(err, artifacts.ErrNoContent) {
		return nil, provider.Refuse(abi.CallUnavailable, "no_content", err.Error())
	}
	return content, err
}

// artifact finds an Artifact of the Task's Workspace.
func (r *run) artifact(ctx context.Context, id string) (*abi.Artifact, error) {
	res, err := r.engine.ledger.Find(ctx, r.task.tenant, abi.ObjectArtifact, id)
	if err != nil {
		return nil, err
	}
	var a abi.Artifact
	if err := ledger.Decode(res.State, &a); err != nil {
		return nil, err
	}
	if a.WorkspaceID != r.task.about.WorkspaceID {
		return nil, abi.NotFound(abi.ObjectArtifact, id)
	}
	return &a, nil
}

// maxStateKey is the longest key of a Session's value, in bytes.
const maxStateKey = 128

func (r *run) stateID(key string) (string, error) {
	id := sessions.StateID(r.task.about.SessionID, key)
	if key == "" || len(key) > maxStateKey || !abi.ValidName(key) {
		return "", provider.Malformed(abi.InvalidParam("key", "a key is 1 to %d characters A-Z a-z 0-9 _ - .", maxStateKey))
	}
	return id, nil
}

func (r *run) callStateGet(ctx context.Context, c *liveCall) ([]byte, error) {
	req, err := ask[abi.CallStateGetRequest](c)
	if err != nil {
		return nil, err
	}
	id, err := r.stateID(req.Key)
	if err != nil {
		return nil, err
	}
	state, err := r.engine.stateOf(ctx, ledger.Key{Tenant: r.task.tenant, ID: id})
	if err == nil && state == nil {
		return []byte(`{"value":null}`), nil
	}
	var kept abi.CallStateSetRequest
	if err == nil {
		err = ledger.Decode(state, &kept)
	}
	if err == nil && kept.Value == nil {
		err = ledger.Nonsense(abi.ObjectState, id, "it has no value")
	}
	if ledger.IsUnreadable(err) {
		return nil, provider.Refuse(abi.CallUnavailable, "unreadable", "what was kept under "+strconv.Quote(req.Key)+" cannot be read")
	}
	if err != nil {
		return nil, err
	}
	return append(append([]byte(`{"value":`), kept.Value...), '}'), nil
}

// stateOf returns what was kept under a key, nil when nothing was.
func (e *Engine) stateOf(ctx context.Context, key ledger.Key) ([]byte, error) {
	if v, ok := e.values.get(key); ok && v.read {
		return v.state, nil
	}
	// Whoever sets the value meanwhile waits, or is waited for: what is remembered is
	// never older than what was answered.
	unlock := e.ledger.Lock(key.Tenant, key.ID)
	defer unlock()
	res, err := e.store.Get(ctx, key.Tenant, abi.ObjectState, key.ID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		e.values.set(key, value{read: true})
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the session's state: %w", err)
	}
	e.values.set(key, value{next: res.Sequence + 1, known: true, read: true, state: res.State})
	return res.State, nil
}

// callStateSet keeps the request itself as the value's state: it is stored once,
// and a replay compares with it.
func (r *run) callStateSet(ctx context.Context, c *liveCall) ([]byte, error) {
	req, err := ask[abi.CallStateSetRequest](c)
	if err != nil {
		return nil, err
	}
	id, err := r.stateID(req.Key)
	if err != nil {
		return nil, err
	}
	if len(req.Value) == 0 {
		return nil, provider.Malformed(abi.InvalidParam("value", `missing required member "value"; null removes the key`))
	}
	e, key := r.engine, ledger.Key{Tenant: r.task.tenant, ID: id}
	// Until the value is on disk, nobody else sets it: its events are in order.
	unlock := e.ledger.Lock(key.Tenant, key.ID)
	seq, known, err := e.stateSequence(ctx, key)
	if err != nil {
		unlock()
		return nil, err
	}
	c.states = &ledger.Record{Kind: abi.EventStateSet, Object: abi.ObjectState, ID: id, Created: !known, Sequence: seq, State: jsontext.Value(c.entry.Request)}
	c.release = func(err error) {
		if err != nil { // it may have been written, or not
			e.values.forget(key)
		} else {
			e.values.set(key, value{next: seq + 1, known: true, read: true, state: c.entry.Request})
		}
		unlock()
	}
	return nil, nil
}

// stateSequence returns the sequence of the next event of a Session's value, and
// whether there has been one.
func (e *Engine) stateSequence(ctx context.Context, key ledger.Key) (next uint64, known bool, err error) {
	if v, ok := e.values.get(key); ok {
		return v.next, v.known, nil
	}
	res, err := e.store.Get(ctx, key.Tenant, abi.ObjectState, key.ID)
	if errors.Is(err, storage.ErrDamaged) { // the value to come takes its place
		res.Sequence, _, err = e.store.Sequence(ctx, key.Tenant, abi.ResourcePointer{Object: abi.ObjectState, ID: key.ID})
	}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("reading the session's state: %w", err)
	}
	return res.Sequence + 1, true, nil
}

// stateTable remembers some of the values that Sessions keep, as they are on disk.
// Only this engine writes them, under the value's lock.
type stateTable struct {
	mu   lockrank.RWMutex[lockrank.Table]
	kept map[ledger.Key]value
}

// value is what is remembered of one.
type value struct {
	next  uint64 // the sequence of its next event
	known bool   // there has been one
	read  bool   // state is what is kept, or nil for nothing; else only the rest is known
	state []byte
}

// The bounds of a stateTable: at most 16 MB.
const (
	maxStates    = 1 << 14
	maxStateSize = 1 << 10
)

func (s *stateTable) get(key ledger.Key) (value, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.kept[key]
	return v, ok
}

func (s *stateTable) set(key ledger.Key, v value) {
	if len(v.state) > maxStateSize {
		v.read, v.state = false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[ledger.Key]value{}
	}
	if _, known := s.kept[key]; !known && len(s.kept) >= maxStates {
		for other := range s.kept { // any will do
			delete(s.kept, other)
			break
		}
	}
	s.kept[key] = v
}

// forget drops what is remembered of a value whose event may not be written.
func (s *stateTable) forget(key ledger.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, key)
}

func (r *run) callEventEmit(_ context.Context, c *liveCall) ([]byte, error) {
	req, err := ask[abi.CallEventEmitRequest](c)
	if err != nil {
		return nil, err
	}
	if len(req.Payload) == 0 {
		req.Payload = abi.EmptyObject()
	}
	if refused := abi.CheckPluginKind(req.Kind); refused != nil {
		return nil, provider.Malformed(refused)
	}
	if req.Payload.Kind() != '{' {
		return nil, provider.Malformed(abi.InvalidParam("payload", "payload must be a JSON object"))
	}
	c.extra = []ledger.Record{{Kind: req.Kind, Object: abi.ObjectTask, ID: r.task.id, Payload: req.Payload.Clone()}}
	return nil, nil
}

func (r *run) callHostFact(_ context.Context, c *liveCall) ([]byte, error) {
	req, err := ask[abi.CallHostFactRequest](c)
	if err != nil {
		return nil, err
	}
	e, t := r.engine, &r.task.about
	facts := map[string]string{
		"wharf.version": e.version, "abi.version": abi.ABIVersion, "os": goruntime.GOOS, "arch": goruntime.GOARCH,
		"tenant": e.tenants.IDOf(r.task.tenant), "workspace": t.WorkspaceID, "session": t.SessionID, "task": t.ID, "deadline": "",
	}
	if !t.DeadlineAt.IsZero() {
		facts["deadline"] = t.DeadlineAt.Format(time.RFC3339Nano)
	}
	value, known := facts[req.Name]
	if !known {
		return nil, provider.Refuse(abi.CallNotFound, "unknown_fact", "there is no host fact "+strconv.Quote(req.Name))
	}
	return json.Marshal(abi.CallHostFactAnswer{Value: value})
}

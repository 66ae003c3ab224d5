package pebble

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/oklog/ulid/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// recorded makes the batches of Tasks whose calls are recorded, as a node writes
// them: ids, hashes, signatures and what the plugin says are random.
type recorded struct {
	rng                *rand.Rand
	now                time.Time
	workspace, session string
	module, persona    string // hashes
}

func newRecorded(seed uint64) *recorded {
	r := &recorded{rng: rand.New(rand.NewPCG(seed, 1)), now: epoch.Add(time.Duration(seed) * time.Second)}
	r.workspace, r.session = r.id(abi.ObjectWorkspace), r.id(abi.ObjectSession)
	r.module, r.persona = r.hash(), r.hash()
	return r
}

func (r *recorded) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.rng.Uint32())
	}
	return b
}

func (r *recorded) id(o abi.Object) string {
	var u ulid.ULID
	copy(u[6:], r.bytes(10))
	_ = u.SetTime(uint64(r.now.UnixMilli()))
	return abi.IDPrefix(o) + u.String()
}

func (r *recorded) hash() string { return fmt.Sprintf("sha256:%x", r.bytes(32)) }

// words returns some text of n bytes, none of which a dictionary could know.
func (r *recorded) words(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz      "[r.rng.IntN(32)]
	}
	return string(b)
}

func (r *recorded) tick() time.Time {
	r.now = r.now.Add(time.Duration(r.rng.IntN(900_000)) * time.Microsecond / 1000)
	return r.now
}

func (r *recorded) envelope(o abi.Object, id string) abi.Envelope {
	return abi.NewEnvelope(o, id, r.now, nil)
}

func (r *recorded) frame(task string, records ...storage.Record) *storage.Batch {
	return &storage.Batch{Frame: storage.Frame{Tenant: 1, Time: r.tick(), WorkspaceID: r.workspace,
		SessionID: r.session, TaskID: task, Actor: "key:first", Records: records}}
}

// steps is how many calls a Task of this kind makes.
const steps = 5

// task returns the batches of one Task: its acceptance and start, one for each
// step, and its end with Outcome and Receipt.
func (r *recorded) task() []*storage.Batch {
	t := &abi.Task{Envelope: r.envelope(abi.ObjectTask, r.id(abi.ObjectTask)), SessionID: r.session, WorkspaceID: r.workspace,
		CreatedBy: "key:first", PersonaID: "persona_echo", Status: abi.TaskSubmitted}
	batches := []*storage.Batch{r.accepted(t)}
	for i := range steps {
		batches = append(batches, r.step(t, i))
	}
	return append(batches, r.ended(t))
}

func (r *recorded) accepted(t *abi.Task) *storage.Batch {
	text := r.words(60)
	m := &abi.Message{Envelope: r.envelope(abi.ObjectMessage, r.id(abi.ObjectMessage)), Role: abi.RoleUser,
		Parts:     []abi.Part{{Type: abi.PartText, Text: &text, Visibility: abi.VisibilityPublic}},
		SessionID: r.session, TaskID: t.ID}
	t.InputMessageID = m.ID
	submitted := t.AppendJSON(nil)
	t.Status, t.Attempt, t.StartedAt, t.Module = abi.TaskWorking, 1, abi.At(r.now), r.module
	program := fmt.Appendf(nil, `{"program":{"type":"program","visibility":"internal","plugin":"steps","module":%q,"export":"run",`+
		`"abi":"wharf-abi-1","persona":%q,"seed":%q,"limits":{"memory_bytes":268435456,`+
		`"host_calls":100000,"payload_bytes":33554432,"output_bytes":67108864},"engine":"wazero-1.12.0","arch":"amd64"}}`,
		r.module, r.persona, base64.StdEncoding.EncodeToString(r.bytes(16)))
	task := ptr(abi.ObjectTask, t.ID)
	return r.frame(t.ID,
		storage.Record{Kind: abi.EventUserMessage, Resource: ptr(abi.ObjectMessage, m.ID), Created: true, State: m.AppendJSON(nil),
			Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}},
		storage.Record{Kind: abi.EventTaskSubmitted, Resource: task, Created: true, State: submitted},
		storage.Record{Kind: abi.EventTaskStarted, Resource: task, Sequence: 1, State: t.AppendJSON(nil), Payload: program})
}

func (r *recorded) step(t *abi.Task, i int) *storage.Batch {
	key := fmt.Sprintf("step-%d", i)
	payload := fmt.Appendf(nil, `{"call":"state.set","index":%d,"at_us":%d}`, i, r.tick().UnixMicro())
	state := fmt.Appendf(nil, `{"key":%q,"value":{"text":%q}}`, key, r.words(200-len(`{"key":"step-0","value":{"text":""}}`)))
	return r.frame(t.ID, storage.Record{Kind: abi.EventStateSet,
		Resource: ptr(abi.ObjectState, fmt.Sprintf("state_%s.%s", r.session[len("sess_"):], key)), Created: i == 0, Sequence: uint64(i),
		State: state, Payload: payload})
}

func (r *recorded) ended(t *abi.Task) *storage.Batch {
	out := &abi.Outcome{Envelope: r.envelope(abi.ObjectOutcome, r.id(abi.ObjectOutcome)), TaskID: t.ID, Status: abi.OutcomeSucceeded,
		Summary: "completed", MessageIDs: []string{}, ArtifactIDs: []string{},
		Metrics: fmt.Appendf(nil, `{"queue_ms":%.3f,"instantiate_ms":%.3f,"run_ms":%.3f,"host_calls":7,"memory_bytes":2097152}`,
			r.rng.Float64(), r.rng.Float64()/10, r.rng.Float64()*4)}
	receipt := r.id(abi.ObjectReceipt)
	t.Status, t.OutcomeID, t.ReceiptID, t.CompletedAt, t.UpdatedAt = abi.TaskCompleted, out.ID, receipt, abi.At(r.now), abi.At(r.now)
	issued := fmt.Appendf(nil, `{"id":%q,"object":"receipt","created_at":%q,"updated_at":%q,"metadata":{"chain_number":41},"subject":{"object":"task","id":%q},`+
		`"format":"receipt-2026-04-25","summary":"SUCCEEDED: %s","issued_at":%q,"issuer":"wharf","task_id":%q,"workspace_id":%q,"session_id":%q,"wire":%s}`,
		receipt, r.stamp(), r.stamp(), t.ID, t.ID, r.stamp(), t.ID, r.workspace, r.session, r.receipt(receipt, t))
	return r.frame(t.ID,
		storage.Record{Kind: abi.EventOutcomeCreated, Resource: ptr(abi.ObjectOutcome, out.ID), Created: true, State: out.AppendJSON(nil)},
		storage.Record{Kind: abi.EventReceiptIssued, Resource: ptr(abi.ObjectReceipt, receipt), Created: true, State: issued},
		storage.Record{Kind: abi.EventTaskCompleted, Resource: ptr(abi.ObjectTask, t.ID), Sequence: 2, State: t.AppendJSON(nil)})
}

func (r *recorded) stamp() string { return r.now.UTC().Format(time.RFC3339Nano) }

// receipt returns a Receipt in its canonical form, some 2.3 KB.
func (r *recorded) receipt(id string, t *abi.Task) []byte {
	return fmt.Appendf(nil, `{"autonomy_budget":{"consumed":{"input_tokens":0,"output_tokens":0,"tool_calls":0,"usd":0,"wall_time_ms":4}},`+
		`"chain":{"merkle_root":%q,"previous_receipt_hash":%q,"receipt_hash":%q},"cost":{"currency":"USD","provider_breakdown":[],"total":0},"final_artifacts":[],`+
		`"identifiers":{"persona_ref":"persona_echo@1.0.0","session_id":%q,"task_id":%q,"tenant_id":"tenant_01KQHPHXG00000000000000002","workspace_ref":%q},`+
		`"issued_at":%q,"issuer":{"id":"wharf","kind":"harness","name":"Wharf","public_key_id":"sig_5f1c0d9be2a74400b1de","version":"agents-protocol-2026-04-25"},`+
		`"lifecycle":{"completed_at":%q,"created_at":%q,"final_state":"SUCCEEDED","started_at":%q},`+
		`"metadata":{"abi":"wharf-abi-1","arch":"amd64","engine":"wazero-1.12.0","module":%q,"node_version":"0.3.0","plugin":"steps","program_sha256":%q,"record_length":5},`+
		`"model_route":{"alternatives_considered":[],"chosen_model":{"model":"none","provider":"none"},"route_policy_reason":"no model was called"},"receipt_id":%q,`+
		`"replay_input":{"determinism":"byte_deterministic","materials":[{"id":%q,"kind":"event_log","sha256":%q,"uri":"wharf:record/%s"},`+
		`{"content_type":"application/wasm","id":"module","kind":"artifact","sha256":%q,"uri":"wharf:module/steps"},{"content_type":"application/json","id":"input","kind":"artifact","sha256":%q,"uri":"wharf:input/%s"}]},`+
		`"schema":"receipt-2026-04-25","side_effects":{"a2a_handoffs":[],"fs_writes":[],"network_egress":[],"tool_calls":[]},`+
		`"signatures":[{"algorithm":"ed25519","key_id":"sig_5f1c0d9be2a74400b1de","signature":"base64:%s"}],`+
		`"subject":{"id":%q,"object":"task"},"trust":{"end_tier":"act_auto","start_tier":"act_auto"}}`,
		r.hash(), r.hash(), r.hash(), r.session, t.ID, r.workspace, r.stamp(), r.stamp(), r.stamp(), r.stamp(), r.module, r.hash(), id,
		t.ID, r.hash(), t.ID, r.module, r.hash(), t.ID, base64.StdEncoding.EncodeToString(r.bytes(64)), t.ID)
}

// TestRecordedTaskIsReadBack reads a recorded Task's events, lists and resources,
// before and after a restart.
func TestRecordedTaskIsReadBack(t *testing.T) {
	fs := vfs.NewMem()
	r := newRecorded(1)
	other, batches := newRecorded(2).task(), r.task()
	s := openTest(t, fs)
	for i, b := range batches {
		mustAppend(t, s, b)
		mustAppend(t, s, other[i])
	}
	mustHoldRecorded(t, s, r, batches)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, fs)
	mustHoldRecorded(t, s, r, batches)
	mustBeSound(t, s)
}

func mustHoldRecorded(t *testing.T, s *Store, r *recorded, batches []*storage.Batch) {
	t.Helper()
	ctx, task := context.Background(), batches[0].Frame.TaskID
	var want []storage.Record
	for _, b := range batches {
		want = append(want, b.Frame.Records...)
	}
	events, more, err := s.Events(ctx, 1, storage.Scope{Object: abi.ObjectTask, ID: task}, 0, 100)
	if err != nil || more || len(events) != len(want) {
		t.Fatalf("%d events of %d, %v, %v", len(events), len(want), more, err)
	}
	for i, e := range events {
		if !reflect.DeepEqual(*e.Record(), want[i]) {
			t.Errorf("event %d is %+v, want %+v", i, e.Record(), want[i])
		}
	}
	receipt := want[len(want)-2]
	for _, scope := range []storage.Scope{{}, {Object: abi.ObjectWorkspace, ID: r.workspace},
		{Object: abi.ObjectSession, ID: r.session}, {Object: abi.ObjectTask, ID: task}} {
		list, _, err := s.List(ctx, 1, abi.ObjectReceipt, scope, storage.Page{Limit: 9})
		if err != nil || !holds(list, receipt) || (scope.ID != "" && len(list) != 1) {
			t.Errorf("receipts by %v: %d, %v", scope, len(list), err)
		}
	}
	state := want[len(want)-4]
	got, err := s.Get(ctx, 1, abi.ObjectState, state.Resource.ID)
	if err != nil || !bytes.Equal(got.State, state.State) {
		t.Errorf("Get(%s) = %s, %v", state.Resource.ID, got.State, err)
	}
}

func holds(list []storage.Resource, r storage.Record) bool {
	for _, res := range list {
		if res.ID == r.Resource.ID && bytes.Equal(res.State, r.State) {
			return true
		}
	}
	return false
}

func TestMemoriesAreListed(t *testing.T) {
	ctx, s := context.Background(), openTest(t, vfs.NewMem())
	f := accept(1, 1).Frame
	id := newID(abi.ObjectMemory, 1)
	f.Records = []storage.Record{{Kind: abi.EventAgentMemoryWrite, Resource: ptr(abi.ObjectMemory, id), Created: true, State: state(id, 0)}}
	mustAppend(t, s, &storage.Batch{Frame: f})
	for _, scope := range []storage.Scope{{}, {Object: abi.ObjectWorkspace, ID: f.WorkspaceID}, {Object: abi.ObjectSession, ID: f.SessionID}} {
		if list, _, err := s.List(ctx, 1, abi.ObjectMemory, scope, storage.Page{Limit: 9}); err != nil || len(list) != 1 || list[0].ID != id {
			t.Errorf("by %v: %v, %v", scope, list, err)
		}
	}
}

// TestRecordedTaskIsSmall holds what a recorded Task of five steps, each in a batch
// of its own, costs in the log: the promise of benches/README.md.
func TestRecordedTaskIsSmall(t *testing.T) {
	const most = 6 << 10
	o := testOptions(vfs.NewMem())
	o.MaxInlineBytes = 0 // the default, under which a Receipt lies in the log
	s, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustAppend(t, s, accept(1, 1))
	before := s.Metrics().WALBytesWritten
	for _, b := range newRecorded(3).task() {
		mustAppend(t, s, b)
	}
	if n := s.Metrics().WALBytesWritten - before; n > most {
		t.Errorf("a recorded Task takes %d bytes of the log, more than %d", n, most)
	}
}

// TestPacking checks that what is packed is smaller and comes back, and that what
// does not get smaller stays as it is.
func TestPacking(t *testing.T) {
	r := newRecorded(4)
	noise := r.bytes(5000)
	text := r.task()[6].Frame.Records[1].State
	for name, c := range map[string]struct {
		fields []byte
		how    byte
	}{
		"nothing": {nil, packedNot}, "little": {text[:minPacked-1], packedNot}, "noise": {noise, packedNot},
		"text": {text, packedS2}, "a lot": {bytes.Repeat(append(text, noise...), 100), packedS2},
	} {
		packed := pack([]byte("before"), c.fields)[len("before"):]
		got, err := unpack(packed)
		if err != nil || !bytes.Equal(got, c.fields) || packed[0] != c.how {
			t.Errorf("%s: packed by %d, %v", name, packed[0], err)
		}
		if c.how == packedS2 && len(packed) >= len(c.fields)/2+len(noise) {
			t.Errorf("%s: %d bytes are packed into %d", name, len(c.fields), len(packed))
		}
	}
}

// TestUnpackingIsBounded gives blocks that say that they unpack to far more than a
// frame may hold, and ones that are cut off.
func TestUnpackingIsBounded(t *testing.T) {
	packed := pack(nil, newRecorded(5).task()[6].Frame.Records[1].State)
	for n := range len(packed) {
		if _, err := unpack(packed[:n]); err == nil {
			t.Fatalf("a block cut off after %d bytes is unpacked", n)
		}
	}
	for _, size := range []uint64{maxFrameBytes + 1, 1 << 31, 1 << 40, 1 << 63} {
		block := binary.AppendUvarint([]byte{packedS2}, size)
		if _, err := unpack(append(block, packed[3:]...)); err == nil {
			t.Errorf("%d bytes are unpacked", size)
		}
	}
	if _, err := unpack([]byte{packedS2 + 1, 0}); err == nil {
		t.Error("a packing that is not known is unpacked")
	}
}

package proofs

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

const workspace = "ws_test"

var (
	module  = []byte("\x00asm")
	content = []byte("a patch")
	persona = &personas.Persona{Persona: abi.Persona{Envelope: abi.Envelope{ID: "persona_test"}, Version: "3", ReceiptPolicy: abi.ReceiptOptional,
		AutonomyTier: abi.TierActAuto}, Text: []byte(`{"id":"persona_test"}`)}
)

// room is a keeper by itself: the test plays who runs Tasks, and has their records.
type room struct {
	*Keeper
	disk    *memory.Store
	store   storage.Store // what the keeper reads: the disk, unless a test stands in between
	desk    *desk.Desk
	ledger  *ledger.Ledger
	root    *desk.Caller
	keys    *receipt.Keyring // nil: the node signs nothing
	records map[string]*journal.Record
}

func newRoom(t *testing.T) *room {
	t.Helper()
	keys, err := receipt.OpenKeyring(t.TempDir(), "wharf:test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := &room{disk: memory.New(time.Now), keys: keys, records: map[string]*journal.Record{},
		root: &desk.Caller{Tenant: 1, Actor: "test", Scopes: []string{abi.ScopeAll}}}
	r.store = r.disk
	r.open()
	t.Cleanup(func() { _ = r.disk.Close() })
	r.tell(t, ledger.Record{Kind: abi.EventWorkspaceCreated, Object: abi.ObjectWorkspace, ID: workspace, Created: true,
		State: &abi.Workspace{Envelope: abi.NewEnvelope(abi.ObjectWorkspace, workspace, time.Now(), nil)}})
	if _, _, err := r.disk.Blobs().Put(t.Context(), bytes.NewReader(content), nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// open makes a keeper that knows nothing but what the store has.
func (r *room) open() {
	log := slog.New(slog.DiscardHandler)
	r.ledger = ledger.New(ledger.Config{Store: r.store, Now: time.Now, Log: log, KeepKeys: time.Hour, IdleSessions: 10})
	r.desk = desk.New(r.store, r.ledger, time.Now, nil)
	r.Keeper = NewKeeper(Parts{
		Parts:   desk.Parts{Store: r.store, Ledger: r.ledger, Desk: r.desk, IDs: abi.NewIDs(time.Now, rand.Reader), Now: time.Now, Log: log},
		Tenants: oneTenant{}, Keys: r.keys, Version: "test", Task: r.task, TaskRecord: r.record, PersonaAt: personaAt, Modules: oneModule{},
	})
}

// restart is the next life of the node.
func (r *room) restart() {
	r.disk = r.disk.Reopen()
	r.store = r.disk
	r.open()
}

type oneTenant struct{}

func (oneTenant) IDOf(storage.Tenant) string { return "tenant_test" }

type oneModule struct{}

func (oneModule) Wasm(_ context.Context, digest string) ([]byte, error) {
	if digest != journal.HashOf(module) {
		return nil, &abi.Failure{Code: abi.FailurePluginMissing, Message: "there is no module " + digest}
	}
	return module, nil
}

func personaAt(context.Context, storage.Tenant, string, string) (*personas.Persona, error) {
	return persona, nil
}

// bare returns a hash as plugins are told it.
func bare(content []byte) string { return journal.HashOf(content)[len("sha256:"):] }

func (r *room) task(ctx context.Context, t storage.Tenant, id string) (*abi.Task, error) {
	res, err := r.ledger.Find(ctx, t, abi.ObjectTask, id)
	if err != nil {
		return nil, err
	}
	about := &abi.Task{}
	return about, ledger.Decode(res.State, about)
}

func (r *room) record(_ context.Context, _ storage.Tenant, about *abi.Task) (*journal.Record, error) {
	if rec := r.records[about.ID]; rec != nil {
		return rec, nil
	}
	return nil, &abi.Failure{Code: abi.FailureReplayMissing, Message: "the record is no longer there"}
}

func (r *room) tell(t *testing.T, records ...ledger.Record) {
	t.Helper()
	if _, err := r.desk.Commit(r.root, "", workspace, nil, 0, records...); err != nil {
		t.Fatal(err)
	}
}

// runs starts a Task, whose plugin puts an Artifact.
func (r *room) runs(t *testing.T) *abi.Task {
	t.Helper()
	id := r.parts.IDs.New(abi.ObjectTask)
	now := abi.At(time.Now())
	about := &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, id, now, nil), WorkspaceID: workspace, SessionID: "sess_test",
		PersonaID: persona.ID, PersonaVersion: persona.Version, Status: abi.TaskWorking, StartedAt: now, Input: jsontext.Value(`{}`)}
	header, err := json.Marshal(&abi.CallArtifactPutRequest{Kind: abi.ArtifactPatch, MimeType: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	put := journal.Entry{Call: abi.CallArtifactPut, Effect: abi.EffectWrite, At: now, Request: append(append(header, '\n'), content...),
		Answer: fmt.Appendf(nil, `{"artifact_id":"art_%s","sha256":"%s"}`, id, bare(content))}
	r.records[id] = &journal.Record{TaskID: id, CreatedAt: now, StartedAt: now, Input: journal.Text(`{}`), Entries: []journal.Entry{put},
		Program: journal.Program{Plugin: "test", Module: journal.HashOf(module), Export: "run", ABI: abi.ABIVersion,
			Persona: journal.HashOf(persona.Text), Seed: make([]byte, 16), Engine: "test", Rewriter: "wharf-1"}}
	r.tell(t, ledger.Record{Kind: abi.EventTaskSubmitted, Object: abi.ObjectTask, ID: id, Created: true, State: about})
	return about
}

// facts returns what a Task's record says, as a run that has ended knows it.
func (r *room) facts(t *testing.T, id string) *Facts {
	t.Helper()
	rec := r.records[id]
	f := &Facts{Persona: &persona.Persona, Tally: receipt.NewTally(&rec.Program, rec.Input, id)}
	if err := f.TakeAll(rec.Entries); err != nil {
		t.Fatal(err)
	}
	return f
}

// ends ends a Task, and returns why it has no receipt, if it was to have one.
func (r *room) ends(t *testing.T, about *abi.Task, f *Facts) error {
	t.Helper()
	return r.endsWith(t, about, f, func(b *storage.Batch) error { return r.hand(b) })
}

func (r *room) hand(b *storage.Batch) error {
	_, err := r.ledger.Durable(r.ledger.Append(b))
	return err
}

// endsWith ends a Task in the batch that hand hands over.
func (r *room) endsWith(t *testing.T, about *abi.Task, f *Facts, hand func(*storage.Batch) error) error {
	t.Helper()
	now := time.Now()
	about.Status, about.CompletedAt, about.OutcomeID = abi.TaskCompleted, abi.At(now), r.parts.IDs.New(abi.ObjectOutcome)
	if rec := r.records[about.ID]; rec != nil {
		rec.EndedAt, rec.End = about.CompletedAt, &journal.End{Status: about.Status, Calls: len(rec.Entries)}
	}
	o := &abi.Outcome{Envelope: abi.NewEnvelope(abi.ObjectOutcome, about.OutcomeID, now, nil), TaskID: about.ID, Status: abi.OutcomeSucceeded, Summary: "done"}
	i := r.NewIssue(r.root.Tenant, f)
	i.Ends(about, o)
	records := i.Tell([]ledger.Record{{Kind: abi.EventOutcomeCreated, Object: abi.ObjectOutcome, ID: o.ID, Created: true, State: o}})
	if err := i.Build(now); err != nil {
		return err
	}
	_, known, err := r.store.Sequence(t.Context(), r.root.Tenant, abi.ResourcePointer{Object: abi.ObjectTask, ID: about.ID})
	if err != nil {
		t.Fatal(err)
	}
	end := ledger.Record{Kind: abi.EventTaskCompleted, Object: abi.ObjectTask, ID: about.ID, Created: !known, State: about}
	if known {
		end.Sequence = 1
	}
	encoded, err := ledger.Encode(append(records, end)...)
	if err != nil {
		t.Fatal(err)
	}
	b := &storage.Batch{Frame: storage.Frame{Tenant: r.root.Tenant, Time: now, WorkspaceID: workspace, SessionID: about.SessionID, TaskID: about.ID,
		Actor: desk.HostActor, Records: encoded}}
	return i.Seal(b, func() error { return hand(b) })
}

// done runs a Task to its end.
func (r *room) done(t *testing.T) *abi.Task {
	t.Helper()
	about := r.runs(t)
	if err := r.ends(t, about, r.facts(t, about.ID)); err != nil {
		t.Fatal(err)
	}
	return about
}

// stored returns the receipt of a Task: the resource, its place in the chain, and what it
// says.
func (r *room) stored(t *testing.T, about *abi.Task) (abi.ReceiptResource, *uint64, receipt.Receipt) {
	t.Helper()
	stored, _, err := desk.Find[abi.ReceiptResource](t.Context(), r.desk, r.root, abi.ObjectReceipt, about.ReceiptID)
	if err != nil {
		t.Fatal(err)
	}
	var metadata struct {
		Number *uint64 `json:"chain_number"`
	}
	var wire receipt.Receipt
	if err := errors.Join(json.Unmarshal(stored.Metadata, &metadata), json.Unmarshal(stored.Wire, &wire)); err != nil {
		t.Fatal(err)
	}
	return stored, metadata.Number, wire
}

// checks verifies a Task's receipt, and returns what each check found.
func (r *room) checks(t *testing.T, about *abi.Task) (abi.ReceiptVerification, map[string]receipt.CheckStatus) {
	t.Helper()
	v, err := r.VerifyReceipt(t.Context(), r.root, nil, about.ReceiptID, abi.VerifyReceiptRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var details struct {
		Checks []receipt.Check `json:"checks"`
	}
	if err := json.Unmarshal(v.Details, &details); err != nil {
		t.Fatal(err)
	}
	found := map[string]receipt.CheckStatus{}
	for _, c := range details.Checks {
		found[c.Name] = c.Status
	}
	return v, found
}

// kinds counts the events of the Workspace by their kind.
func (r *room) kinds(t *testing.T) map[abi.EventKind]int {
	t.Helper()
	counts := map[abi.EventKind]int{}
	for after, more := storage.Position(0), true; more; {
		var page []storage.Event
		var err error
		if page, more, err = r.store.Events(t.Context(), r.root.Tenant, desk.Scope{Object: abi.ObjectWorkspace, ID: workspace}, after, 200); err != nil {
			t.Fatal(err)
		}
		for _, ev := range page {
			after = ev.Position()
			counts[ev.Record().Kind]++
		}
	}
	return counts
}

// wantCode fails unless err answers with a code.
func wantCode(t *testing.T, err error, code abi.ErrorCode) {
	t.Helper()
	if answer, ok := errors.AsType[*abi.Error](err); !ok || answer.Code != code {
		t.Errorf("the error is %v, want one with the code %s", err, code)
	}
}

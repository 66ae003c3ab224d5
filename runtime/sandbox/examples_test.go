package sandbox_test

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

func members(text []byte) map[string]jsontext.Value {
	var all map[string]jsontext.Value
	_ = json.Unmarshal(text, &all)
	return all
}

// run submits the Task of the examples, gives it what it waits for, and returns it when it has ended.
func (n *shopNode) run(t *testing.T) abi.Task {
	t.Helper()
	persona, err := n.CreatePersona(t.Context(), n.Root, nil, abi.CreatePersonaRequest{Name: "shopkeeper", Version: "1.0.0", EntryWorkflow: shop, Description: new(""),
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptRequired, WorkspaceID: tenancy.DefaultWorkspace, Agent: &abi.Agent{}})
	if err != nil {
		t.Fatal(err)
	}
	session := n.Session(t)
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: persona.ID,
		Input: enginetest.Text("tea"), Run: &abi.RunOptions{Skills: []string{"brewing"}}})
	if err != nil {
		t.Fatal(err)
	}
	return n.ended(t, doc.ID)
}

// ended answers whatever a Task waits for until it has ended.
func (n *shopNode) ended(t *testing.T, id string) abi.Task {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	sub, err := n.Subscribe(ctx, n.Root, desk.Filter{TaskID: id}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for answered := -1; ; {
		events, err := sub.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			var task abi.Task
			if rec := ev.Record(); rec.Resource.ID != id || rec.State == nil || json.Unmarshal(rec.State, &task) != nil {
				continue
			}
			if task.Status.Terminal() {
				return n.Wait(t, id)
			}
			if task.Waiting != nil && task.Waiting.Index > answered {
				answered = task.Waiting.Index
				n.answer(t, &task)
			}
		}
	}
}

// answer gives a Task what it waits for.
func (n *shopNode) answer(t *testing.T, task *abi.Task) {
	t.Helper()
	say := func(kind abi.TaskMessageKind, part abi.Part) error {
		_, err := n.AppendTaskMessage(t.Context(), n.Root, nil, task.ID, abi.AppendTaskMessageRequest{Kind: kind,
			Message: &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{part}}})
		return err
	}
	inJSON := func(text string) abi.Part { return abi.Part{Type: abi.PartJSON, Value: jsontext.Value(text)} }
	var err error
	switch call := task.Waiting.Call; {
	case task.Waiting.Gate, call == abi.CallApprovalRequest:
		n.othersEnd(t, task.ID)
		err = say(abi.TaskMessageToolConfirmation, inJSON(`{"decision":"approved"}`))
	case call == abi.CallSleep:
		n.dateFiles(t)
		n.clock.forward(100 * time.Millisecond)
	case call == abi.CallInboxTake:
		_, err = n.Inject(t.Context(), n.Root, nil, task.SessionID, abi.InjectRequest{Mode: abi.InjectSteer, Parts: []abi.Part{{Type: abi.PartText, Text: new("Green tea, please.")}}})
	case call == abi.CallInputRequest, call == abi.CallAuthRequest:
		err = say(abi.TaskMessageInput, inJSON(`{"tea":"green"}`))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dateFiles gives the files that were written the time of the clock: theirs is the file system's.
func (n *shopNode) dateFiles(t *testing.T) {
	t.Helper()
	err := fs.WalkDir(n.files.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return n.files.Chtimes(path, n.clock.read(), n.clock.read())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// othersEnd waits for the end of all Tasks but one. A Task that was handed over begins when
// this one waits, for the node runs one at a time: so both always do things in the same order.
func (n *shopNode) othersEnd(t *testing.T, but string) {
	t.Helper()
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range list.Docs {
		if doc.ID != but {
			n.Wait(t, doc.ID)
		}
	}
}

// poll has a Connector poll with the plugin, and returns the Tasks that poll and that come of what was
// found.
func (n *shopNode) poll(t *testing.T) (polls, meant abi.Task) {
	t.Helper()
	sub, err := n.Subscribe(t.Context(), n.Root, desk.Filter{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	doc, err := n.CreateConnector(t.Context(), n.Root, nil, abi.CreateConnectorRequest{Provider: "cron", Plugin: shop + "#normalize", TargetPersonaID: "persona_echo",
		Polling: &abi.Polling{Schedule: "* * * * *", Export: "poll"}})
	if err != nil {
		t.Fatal(err)
	}
	n.clock.forward(time.Minute)
	n.LookForDuePolls()
	var submitted abi.DeliverySubmitted
	for submitted.TaskID == "" {
		events, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			rec := ev.Record()
			if rec.Kind == abi.EventConnectorFailed {
				t.Fatalf("the Connector has failed: %s", rec.Payload)
			}
			if rec.Kind == abi.EventConnectorTaskSubmitted && json.Unmarshal(rec.Payload, &submitted) != nil {
				t.Fatalf("a delivery is told with %s", rec.Payload)
			}
		}
	}
	about, err := n.GetConnector(t.Context(), n.Root, doc.ID)
	if err != nil {
		t.Fatal(err)
	}
	return n.Wait(t, enginetest.As[abi.Connector](t, about).Polling.LastTask), n.Wait(t, submitted.TaskID)
}

// told is what a node says of the Tasks of a plugin.
type told struct {
	module  string            // its digest
	imports []string          // the calls that it can make
	texts   map[string]string // documents and records, without what is put aside
	proofs  map[string]*proof // by Task
}

// proof is the receipt of a Task, and the program that it is of.
type proof struct {
	*receipt.Receipt
	program journal.Program
	calls   []string // that were recorded
	follows *proof   // the receipt before it in the chain, where that is of the plugin, too
}

// putAside are the members that say what a run has cost and where its events lie in the log: hints,
// which nothing replays, and other Tasks move them. Nothing else may differ, but for the module's digest.
var putAside = regexp.MustCompile(`"(instantiate_ms|run_ms|memory_bytes|gas|event_id)": [^,\n]+`)

// told runs the exports of a plugin, and says what the node tells of them then.
func (w *world) told(t *testing.T, language string) *told {
	t.Helper()
	wasm := sandbox.BuildExamples(t, language)
	n := w.node(t, wasm)
	all := &told{module: journal.HashOf(wasm), imports: n.plugin.Imports(), texts: map[string]string{}, proofs: map[string]*proof{}}
	keep := func(name string, text []byte) {
		plain := strings.ReplaceAll(journal.Pretty(text), all.module, "the module")
		all.texts[name] = putAside.ReplaceAllString(plain, `"$1": "put aside"`)
	}
	run := n.run(t)
	polls, meant := n.poll(t)
	for name, task := range map[string]abi.Task{"run": run, "poll": polls} {
		if task.Status != abi.TaskCompleted {
			t.Fatalf("%s: %s %+v", name, task.Status, task.Failure)
		}
		keep(name+": the Task", n.shown(t, abi.ObjectTask, task.ID))
		keep(name+": its Outcome", n.shown(t, abi.ObjectOutcome, task.OutcomeID))
		rec, wire := n.record(t, task.ID), n.wire(t, task.ReceiptID)
		text, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		keep(name+": its record", text)
		all.proofs[name] = proofOf(t, rec, wire)
	}
	all.proofs["poll"].follows = all.proofs["run"]
	// Its id follows from where the delivery lies in the log.
	keep("what a delivery becomes", bytes.ReplaceAll(n.shown(t, abi.ObjectTask, meant.ID), []byte(meant.ID), []byte("task")))
	for kind, payloads := range n.events(t) {
		keep("events "+kind, []byte("["+strings.Join(payloads, ",")+"]"))
	}
	return all
}

func (n *shopNode) shown(t *testing.T, o abi.Object, id string) []byte {
	t.Helper()
	doc, err := n.Get(t.Context(), n.Root, o, id)
	if err != nil {
		t.Fatal(err)
	}
	return doc.JSON
}

func (n *shopNode) record(t *testing.T, id string) *journal.Record {
	t.Helper()
	rec, err := n.TaskRecord(t.Context(), n.Root, id)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func (n *shopNode) wire(t *testing.T, id string) []byte {
	t.Helper()
	wire, err := n.ReceiptWire(t.Context(), n.Root, id)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// events returns what hints say and what plugins emit, by kind, in the order in which it was told.
func (n *shopNode) events(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	events, more, err := n.Events(t.Context(), n.Root, desk.Filter{}, 0, 1000)
	if err != nil || more {
		t.Fatal(err, more)
	}
	for _, ev := range events {
		if rec := ev.Record(); rec.Hint || strings.HasPrefix(string(rec.Kind), "vendor."+shop) {
			all[string(rec.Kind)] = append(all[string(rec.Kind)], string(rec.Payload))
		}
	}
	return all
}

// proofOf reads a receipt, whose bytes must be canonical.
func proofOf(t *testing.T, rec *journal.Record, wire []byte) *proof {
	t.Helper()
	canonical, err := jcs.Transform(wire)
	if err != nil || !bytes.Equal(canonical, wire) {
		t.Fatalf("a receipt is not canonical (%v): %s", err, wire)
	}
	r, err := receipt.Parse(wire)
	if err != nil {
		t.Fatal(err)
	}
	p := &proof{Receipt: r, program: rec.Program}
	for _, e := range rec.Entries {
		p.calls = append(p.calls, e.Call)
	}
	return p
}

// as returns the canonical bytes of a receipt with another's module, and what that costs, in the place
// of its own, hashed again. A signature is over the hash.
func (p *proof) as(other *proof) string {
	r, program := *p.Receipt, p.program
	program.Module = other.program.Module
	r.Metadata.Module, r.Metadata.Gas, r.Metadata.ProgramSHA256 = program.Module, other.Metadata.Gas, receipt.ProgramHash(&program)
	r.ReplayInput.Materials = slices.Clone(r.ReplayInput.Materials)
	for i := range r.ReplayInput.Materials {
		if m := &r.ReplayInput.Materials[i]; m.ID == "module" {
			m.SHA256 = program.Module
		}
	}
	if r.Chain.PreviousReceiptHash != nil && p.follows != nil && *r.Chain.PreviousReceiptHash == p.follows.Chain.ReceiptHash {
		r.Chain.PreviousReceiptHash = other.Chain.PreviousReceiptHash
	}
	r.Chain.ReceiptHash, r.Signatures = receipt.Hash(&r), nil
	return journal.Pretty(r.AppendCanonical(nil))
}

// wantEvery wants that each host call was made: by the records, or by the imports where none is kept of it.
func (a *told) wantEvery(t *testing.T) {
	t.Helper()
	made := slices.Concat(a.proofs["run"].calls, a.proofs["poll"].calls)
	for _, call := range abi.HostCalls() {
		unrecorded := call.Effect == abi.EffectHint || call.Effect == abi.EffectGiven || call.Name == abi.CallOutput || call.Name == abi.CallNormalized
		if !slices.Contains(a.imports, call.Name) || !unrecorded && !slices.Contains(made, call.Name) {
			t.Errorf("the examples do not make the call %s", call.Name)
		}
	}
}

func (a *told) wantSame(t *testing.T, want *told) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want.texts)) {
		if a.texts[name] != want.texts[name] {
			t.Errorf("%s:\n%s", name, journal.Diff(want.texts[name], a.texts[name]))
		}
	}
	if len(a.texts) != len(want.texts) {
		t.Errorf("it tells %q, want %q", slices.Sorted(maps.Keys(a.texts)), slices.Sorted(maps.Keys(want.texts)))
	}
	for name, p := range want.proofs {
		if got, canonical := a.proofs[name].as(p), p.as(p); got != canonical {
			t.Errorf("%s: its receipt:\n%s", name, journal.Diff(canonical, got))
		}
	}
}

// TestExamplesAreTheSameInEveryLanguage runs the examples of all host calls on a node, as one plugin in each
// language, with a real answer to every call. Outputs, records, what watchers are told and the canonical
// receipts are the same: with the one module's digest and gas in the place of the other's, the receipts
// have the same hash.
func TestExamplesAreTheSameInEveryLanguage(t *testing.T) {
	share.Alone(t)
	w := newWorld(t)
	want := w.told(t, "go")
	want.wantEvery(t)
	for _, language := range []string{"c", "python", "typescript", "assemblyscript", "rust"} {
		t.Run(language, func(t *testing.T) {
			if language == "rust" && os.Getenv("WHARF_LONG") == "" {
				t.Skip("compiles for a minute: set WHARF_LONG=1")
			}
			got := w.told(t, language)
			got.wantEvery(t)
			got.wantSame(t, want)
		})
	}
}

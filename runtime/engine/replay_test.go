package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// model is a provider that counts how often it is asked.
type model struct{ asked chan struct{} }

func (m model) Prepare(context.Context, *provider.Call) (provider.Plan, error) {
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) {
		m.asked <- struct{}{}
		return []byte(`{"provider":"test","model":"m1","text":"approved","stop_reason":"end","usage":{"input_tokens":10,"output_tokens":2},"cost":0.5,"currency":"USD","route":"configured default"}`), nil
	}}, nil
}

// judge asks a model and hands out what it says.
func judge(ctx context.Context, h sandbox.Host) error {
	if _, _, err := h.Call(ctx, abi.CallClock, []byte(`{"call_id":"begun"}`)); err != nil {
		return err
	}
	_, answer, err := h.Call(ctx, abi.CallLLMComplete, []byte(`{"call_id":"main:1","messages":[{"role":"user","text":"what say you?"}]}`))
	if err != nil {
		return err
	}
	var said abi.ModelAnswer
	if err := json.Unmarshal(answer, &said); err != nil {
		return err
	}
	for _, o := range []op{say(said.Text), {abi.CallStateSet, fmt.Sprintf(`{"key":"verdict","value":%q}`, said.Text)},
		{abi.CallArtifactPut, "{\"kind\":\"dataset\",\"mime_type\":\"application/json\"}\n" + said.Text},
		{abi.CallOutput, fmt.Sprintf(`{"summary":%q}`, said.Text)}} {
		if _, _, err := h.Call(ctx, o.call, []byte(o.request)); err != nil {
			return err
		}
	}
	return nil
}

// judged returns a node on which a judge has judged.
func judged(t *testing.T) (*node, abi.Task, model) {
	t.Helper()
	m := model{make(chan struct{}, 100)}
	n := newNode(t, enginetest.Guests{"judge": judge, "echo": enginetest.Echo}, func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallLLMComplete: m}
	})
	task := n.Wait(t, n.Submit(t, n.Session(t), "persona_judge"))
	if task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	<-m.asked
	return n, task, m
}

// replays a Task and returns the replay when it has ended.
func (n *node) replay(t testing.TB, id string, req abi.ReplayTaskRequest) abi.Task {
	t.Helper()
	doc, err := n.ReplayTask(context.Background(), n.Root, nil, id, req)
	if err != nil {
		t.Fatal(err)
	}
	return n.Wait(t, doc.ID)
}

func (n *node) wire(t testing.TB, task abi.Task) (r receipt.Receipt) {
	t.Helper()
	text, err := n.ReceiptWire(context.Background(), n.Root, task.ReceiptID)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (n *node) marks(t testing.TB, task string) (marks []abi.ReplayMarks) {
	t.Helper()
	events, _, err := n.Events(context.Background(), n.Root, desk.Filter{TaskID: task}, 0, 200)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if ev.Record().Kind != abi.EventReplayEventReplayed {
			continue
		}
		var p struct {
			Replay abi.ReplayMarks `json:"replay"`
		}
		if err := json.Unmarshal(ev.Record().Payload, &p); err != nil {
			t.Fatal(err)
		}
		marks = append(marks, p.Replay)
	}
	return marks
}

// An exact replay asks nobody, touches nothing, and says of each call where it
// comes from.
func TestExactReplay(t *testing.T) {
	n, source, m := judged(t)
	before := n.transcript(t, source.SessionID)
	again := n.replay(t, source.ID, abi.ReplayTaskRequest{})
	if again.Status != abi.TaskCompleted || again.ParentTaskID != source.ID || again.SessionID != source.SessionID ||
		again.WorkspaceID != source.WorkspaceID || string(again.Input) != string(source.Input) {
		t.Fatalf("%+v", again)
	}
	if len(m.asked) != 0 {
		t.Error("a replay asked the model")
	}
	if got := n.transcript(t, source.SessionID); len(got) != len(before) {
		t.Errorf("a replay changed the transcript: %q", got)
	}
	marks := n.marks(t, again.ID)
	rec := n.recordOf(t, source.ID)
	if len(marks) != len(rec.Entries) {
		t.Fatalf("%d events replayed, %d recorded", len(marks), len(rec.Entries))
	}
	for i, mark := range marks {
		if mark.SourceTaskID != source.ID || mark.ReplayTaskID != again.ID || mark.OriginalEventID != rec.Entries[i].EventID ||
			mark.Mode != abi.ReplayExact || mark.ReplayCursor == "" {
			t.Errorf("%+v", mark)
		}
	}
	r, s := n.wire(t, again), n.wire(t, source)
	if r.Subject.Object != "replay_segment" || *r.Chain.PreviousReceiptHash != s.Chain.ReceiptHash || r.Cost.Total != 0 ||
		r.Chain.MerkleRoot != s.Chain.MerkleRoot || r.Lifecycle != s.Lifecycle {
		t.Errorf("the replay's receipt: %+v", r)
	}
}

// The receipt of a run says what its record says.
func TestReceiptOfARun(t *testing.T) {
	n, task, _ := judged(t)
	r := n.wire(t, task)
	if r.Subject.ID != task.ID || r.Lifecycle.FinalState != receipt.Succeeded || r.Cost.Total != 0.5 ||
		r.ModelRoute.ChosenModel.Provider != "test" || *r.AutonomyBudget.Consumed.InputTokens != 10 ||
		len(r.FinalArtifacts) != 1 || len(r.ReplayInput.Materials) != 4 || r.Identifiers.PersonaRef != "persona_judge@1" {
		t.Errorf("%+v", r)
	}
	docs, err := n.TaskReceipts(t.Context(), n.Root, task.ID)
	if err != nil || len(docs) != 1 || docs[0].ID != task.ReceiptID {
		t.Fatalf("%v %v", docs, err)
	}
	v, err := n.VerifyReceipt(t.Context(), n.Root, nil, task.ReceiptID, abi.VerifyReceiptRequest{})
	if err != nil || !v.Valid {
		t.Errorf("%+v %v", v, err)
	}
	v, err = n.VerifyReceipt(t.Context(), n.Root, nil, task.ReceiptID, abi.VerifyReceiptRequest{TrustAnchor: "nobody"})
	if err != nil || v.Valid || !strings.Contains(v.Reason, "anchor") {
		t.Errorf("%+v %v", v, err)
	}
}

// Receipts of a Workspace form a chain, also over a restart, and are sealed in
// batches.
func TestReceiptChain(t *testing.T) {
	g := enginetest.Guests{"echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g)
	session := n.Session(t)
	const tasks = receipt.BatchSize + 20
	var last abi.Task
	for i := range tasks {
		if i == tasks-10 {
			n.Stop(t)
			n = boot(t, n.Disk, g)
			defer n.Stop(t)
		}
		last = n.Wait(t, n.Submit(t, session, ""))
		if i == receipt.BatchSize-1 { // the one whose receipt fills the batch
			own, _, err := n.Events(t.Context(), n.Root, desk.Filter{TaskID: last.ID}, 0, 200)
			if err != nil || own[len(own)-1].Record().Kind != abi.EventTaskCompleted {
				t.Fatalf("the task's events are %v (%v)", n.Kinds(t, desk.Filter{TaskID: last.ID}), err)
			}
			rest, _, err := n.Events(t.Context(), n.Root, desk.Filter{WorkspaceID: tenancy.DefaultWorkspace}, own[len(own)-1].Position(), 200)
			if err != nil || len(rest) != 1 || rest[0].Record().Kind != abi.EventReceiptsSealed {
				t.Errorf("the workspace has %d events more (%v), want that of the batch", len(rest), err)
			}
		}
	}
	links := map[string]string{} // previous → hash
	list, err := n.List(t.Context(), n.Root, abi.ObjectReceipt, desk.Filter{}, desk.Page{Limit: 200})
	for err == nil {
		for _, doc := range list.Docs {
			stored := enginetest.As[abi.ReceiptResource](t, doc)
			var w receipt.Receipt
			if err := json.Unmarshal(stored.Wire, &w); err != nil {
				t.Fatal(err)
			}
			previous := ""
			if w.Chain.PreviousReceiptHash != nil {
				previous = *w.Chain.PreviousReceiptHash
			}
			links[previous] = w.Chain.ReceiptHash
		}
		if !list.More {
			break
		}
		list, err = n.List(t.Context(), n.Root, abi.ObjectReceipt, desk.Filter{}, desk.Page{Limit: 200, After: list.Next})
	}
	at, length := "", 0
	for links[at] != "" {
		at = links[at]
		length++
	}
	if length != tasks || at != n.wire(t, last).Chain.ReceiptHash {
		t.Errorf("a chain of %d receipts, want %d", length, tasks)
	}
	var batch receipt.Batch
	sealed, err := n.Store.Get(t.Context(), n.Root.Tenant, abi.ObjectReceiptBatch, abi.IDPrefix(abi.ObjectReceiptBatch)+tenancy.DefaultWorkspace+"_0")
	if err == nil {
		err = ledger.Decode(sealed.State, &batch)
	}
	if err != nil || batch.Count != receipt.BatchSize {
		t.Fatalf("%+v %v", batch, err)
	}
}

// Overrides change what the run is told; the receipt says what was replaced.
func TestReplayWithOverrides(t *testing.T) {
	n, source, m := judged(t)
	value := jsontext.Value(`{"id":"chatcmpl_1","choices":[{"message":{"role":"assistant","content":"denied"}}]}`)
	req := abi.ReplayTaskRequest{Mode: abi.ReplayWithOverrides, Override: map[string]abi.ReplayOverride{
		"llm:main:1":      {Kind: abi.OverrideModel, Value: value, Reason: "what if"},
		"time:started_at": {Kind: abi.OverrideTime, Value: jsontext.Value(`"2026-04-25T19:16:14Z"`)},
	}}
	again := n.replay(t, source.ID, req)
	if again.Status != abi.TaskCompleted || len(m.asked) != 0 {
		t.Fatalf("%s %+v", again.Status, again.Failure)
	}
	doc, err := n.Get(t.Context(), n.Root, abi.ObjectOutcome, again.OutcomeID)
	if err != nil {
		t.Fatal(err)
	}
	outcome := enginetest.As[abi.Outcome](t, doc)
	if outcome.Summary != "denied" || len(outcome.Messages) != 1 || !strings.Contains(string(outcome.Messages[0]), "denied") {
		t.Errorf("%s", doc.JSON)
	}
	r := n.wire(t, again)
	if len(r.Deltas) != 2 || r.Lifecycle.StartedAt.Year() != 2026 || r.Lifecycle.StartedAt.Month() != 4 {
		t.Fatalf("%+v", r.Deltas)
	}
	byKey := map[string]receipt.Delta{}
	for _, d := range r.Deltas {
		byKey[d.OverrideKey] = d
	}
	rec := n.recordOf(t, source.ID)
	if d := byKey["llm:main:1"]; d.BeforeSHA256 != journal.HashOf(rec.Entries[1].Answer) || d.AfterSHA256 == "" || d.EventID != rec.Entries[1].EventID || d.Reason != "what if" {
		t.Errorf("%+v", d)
	}
	if other := n.wire(t, n.replay(t, source.ID, req)); other.Chain.ReceiptHash != r.Chain.ReceiptHash {
		t.Error("the same replay gave another receipt")
	}
	found := false
	for _, mark := range n.marks(t, again.ID) {
		found = found || mark.OverrideKey == "llm:main:1" && mark.ReceiptDeltaID == byKey["llm:main:1"].DeltaID
	}
	if !found {
		t.Error("no replayed event names its override")
	}
}

// An override of an Artifact's content is the same as its value.
func TestReplayWithAnArtifact(t *testing.T) {
	n, source, _ := judged(t)
	a, err := n.RegisterArtifact(t.Context(), n.Root, nil, abi.RegisterArtifactRequest{Kind: abi.ArtifactOther, MimeType: "application/json",
		Visibility: abi.VisibilityPublic}, strings.NewReader(`{"text":"from a file","stop_reason":"end"}`))
	if err != nil {
		t.Fatal(err)
	}
	again := n.replay(t, source.ID, abi.ReplayTaskRequest{Mode: abi.ReplayWithOverrides, Override: map[string]abi.ReplayOverride{
		"llm:main:1": {Kind: abi.OverrideModel, ArtifactID: a.ID}}})
	doc, err := n.Get(t.Context(), n.Root, abi.ObjectOutcome, again.OutcomeID)
	if err != nil || enginetest.As[abi.Outcome](t, doc).Summary != "from a file" {
		t.Errorf("%s %v", doc.JSON, err)
	}
}

func TestReplayRefusals(t *testing.T) {
	n, source, _ := judged(t)
	over := func(key string, o abi.ReplayOverride) abi.ReplayTaskRequest {
		return abi.ReplayTaskRequest{Mode: abi.ReplayWithOverrides, Override: map[string]abi.ReplayOverride{key: o}}
	}
	yes := jsontext.Value(`{"text":"yes","stop_reason":"end"}`)
	for _, test := range []struct {
		name string
		req  abi.ReplayTaskRequest
		says string
	}{
		{"unknown mode", abi.ReplayTaskRequest{Mode: "backwards"}, "mode"},
		{"unknown key", over("llm:other", abi.ReplayOverride{Kind: abi.OverrideModel, Value: yes}), "time:begun, llm:main:1"},
		{"wrong hash", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel, Value: yes, SHA256: "sha256:" + strings.Repeat("a", 64)}), "sha256"},
		{"no hash", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel, Value: yes, SHA256: "aaaa"}), "hash"},
		{"no value", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel}), "artifact_id"},
		{"not an answer", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel, Value: jsontext.Value(`{"x":1}`)}), "choices"},
		{"no kind", over("llm:main:1", abi.ReplayOverride{Value: yes}), "kind"},
		{"overrides in exact", abi.ReplayTaskRequest{Override: map[string]abi.ReplayOverride{"llm:main:1": {Kind: abi.OverrideModel, Value: yes}}}, "with_overrides"},
		{"no checkpoint", abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint}, "checkpoint_event_id"},
		{"unknown checkpoint", abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointID: "call:99"}, "call:6"},
		{"checkpoint in exact", abi.ReplayTaskRequest{CheckpointID: "call:1"}, "from_checkpoint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := n.ReplayTask(t.Context(), n.Root, nil, source.ID, test.req)
			if refused := enginetest.WantCode(t, err, abi.CodeInvalidRequest); !strings.Contains(refused.Message+refused.Param, test.says) {
				t.Errorf("%q says nothing of %q", refused.Message, test.says)
			}
		})
	}
	again := n.replay(t, source.ID, abi.ReplayTaskRequest{})
	_, err := n.ReplayTask(t.Context(), n.Root, nil, again.ID, abi.ReplayTaskRequest{})
	enginetest.WantCode(t, err, abi.CodeInvalidRequest)
	_, err = n.ReplayTask(t.Context(), n.Root, nil, "task_none", abi.ReplayTaskRequest{})
	enginetest.WantCode(t, err, abi.CodeResourceNotFound)
}

// From a checkpoint on, calls are replayed and told; what lies before is restored.
func TestReplayFromCheckpoint(t *testing.T) {
	n, source, _ := judged(t)
	rec := n.recordOf(t, source.ID)
	for calls := range len(rec.Entries) + 1 {
		req := abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointID: fmt.Sprintf("call:%d", calls)}
		if calls > 0 && calls%2 == 1 {
			req = abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointEventID: rec.Entries[calls-1].EventID}
		}
		again := n.replay(t, source.ID, req)
		if again.Status != abi.TaskCompleted {
			t.Fatalf("%d: %+v", calls, again.Failure)
		}
		if got := len(n.marks(t, again.ID)); got != len(rec.Entries)-calls {
			t.Errorf("after %d calls: %d replayed, want %d", calls, got, len(rec.Entries)-calls)
		}
	}
}

// A fork shares the record up to an event, and is live from there: at 0, in the
// middle, and at the end.
func TestFork(t *testing.T) {
	n, source, m := judged(t)
	rec := n.recordOf(t, source.ID)
	for calls := range len(rec.Entries) + 1 {
		at := "0"
		if calls > 0 {
			at = rec.Entries[calls-1].EventID
		}
		doc, err := n.ForkTask(t.Context(), n.Root, nil, source.ID, abi.ForkTaskRequest{AtEventID: at})
		if err != nil {
			t.Fatal(err)
		}
		fork := n.Wait(t, doc.ID)
		if fork.Status != abi.TaskCompleted || fork.SessionID == source.SessionID || fork.Fork.Calls != calls || fork.ReceiptID == "" {
			t.Fatalf("fork after %d calls: %s %+v %+v", calls, fork.Status, fork.Failure, fork.Fork)
		}
		asked := 0
		if calls < 2 {
			<-m.asked
			asked = 1
		}
		if len(m.asked) != 0 {
			t.Errorf("after %d calls: the model was asked again (%d wanted)", calls, asked)
		}
		got := n.recordOf(t, fork.ID)
		if len(got.Entries) != len(rec.Entries) {
			t.Fatalf("%d calls in the fork's record, want %d", len(got.Entries), len(rec.Entries))
		}
		for i := range calls {
			if string(got.Entries[i].Answer) != string(rec.Entries[i].Answer) || got.Entries[i].EventID != rec.Entries[i].EventID {
				t.Errorf("call %d of the fork is not the source's", i)
			}
		}
		if n.wantReplay(t, fork.ID); len(n.transcript(t, fork.SessionID)) != 2 {
			t.Errorf("after %d calls: the fork's transcript is %q", calls, n.transcript(t, fork.SessionID))
		}
	}
	if got := n.transcript(t, source.SessionID); len(got) != 2 {
		t.Errorf("the source's transcript is %q", got)
	}
}

// A Session that was truncated or forked still replays, Task by Task.
func TestReplaySession(t *testing.T) {
	n, source, _ := judged(t)
	second := n.Wait(t, n.Submit(t, source.SessionID, ""))
	one := 1
	if _, err := n.TruncateSession(t.Context(), n.Root, nil, source.SessionID, abi.TruncateSessionRequest{KeepTurns: &one}); err != nil {
		t.Fatal(err)
	}
	list, err := n.ReplaySession(t.Context(), n.Root, nil, source.SessionID, abi.ReplaySessionRequest{}, "")
	if err != nil || len(list.Docs) != 2 {
		t.Fatalf("%v %v", list, err)
	}
	for i, want := range []string{source.ID, second.ID} {
		if again := n.Wait(t, list.Docs[i].ID); again.Status != abi.TaskCompleted || again.ParentTaskID != want {
			t.Errorf("%s %+v", again.Status, again.Failure)
		}
	}
}

// A module that does something else diverges at the first call that differs.
func TestReplayDivergence(t *testing.T) {
	p := newProgram(op{abi.CallClock, ""}, say("one"), say("two"))
	n := newNode(t, enginetest.Guests{"program": p.run})
	id := n.Submit(t, n.Session(t), "persona_program")
	n.Wait(t, id)
	p.mu.Lock()
	p.ops = []op{p.ops[0], say("another"), p.ops[2]}
	p.mu.Unlock()
	again := n.replay(t, id, abi.ReplayTaskRequest{})
	if again.Status != abi.TaskFailed || again.Failure.Code != abi.FailureDivergence {
		t.Fatalf("%s %+v", again.Status, again.Failure)
	}
	var d journal.Divergence
	if err := json.Unmarshal(again.Failure.Details, &d); err != nil {
		t.Fatal(err)
	}
	if d.Index != 1 || !strings.Contains(d.Diff, "one") || !strings.Contains(d.Diff, "another") {
		t.Errorf("%+v", d)
	}
	kinds := strings.Join(n.Kinds(t, desk.Filter{TaskID: again.ID}), " ")
	if !strings.Contains(kinds, string(abi.EventReplayFailed)) || again.ReceiptID == "" {
		t.Errorf("events %s, receipt %q", kinds, again.ReceiptID)
	}
}

// What is for receipts only is not told to the plugin, and the receipt, that of a
// replay too, holds the hash that proves it.
func TestReceiptOfWithheldContent(t *testing.T) {
	p := newProgram(op{abi.CallInput, ""}, op{abi.CallTranscriptRead, `{}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), PersonaID: "persona_program",
		Input: jsontext.Value(`{"role":"user","parts":[{"type":"text","text":"open"},{"type":"text","text":"the sealed proof","visibility":"receipt_only"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	task := n.Wait(t, doc.ID)
	for i, told := range p.runs()[0] {
		if strings.Contains(told, "sealed") || !strings.Contains(told, "open") {
			t.Errorf("call %d told the plugin %s", i, told)
		}
	}
	want := journal.HashOf([]byte(`{"text":"the sealed proof","type":"text","visibility":"receipt_only"}`))
	for _, id := range []abi.Task{task, n.replay(t, task.ID, abi.ReplayTaskRequest{})} {
		r := n.wire(t, id)
		if len(r.Redactions) != 1 || r.Redactions[0].ProofHash != want || !strings.HasSuffix(r.Redactions[0].Field, "/parts/1") {
			t.Errorf("%+v", r.Redactions)
		}
	}
	var bundle strings.Builder
	if err := n.ExportTask(t.Context(), n.Root, task.ID, &bundle); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(bundle.String(), "sealed") {
		t.Error("the bundle holds what is for receipts only")
	}
}

// A replay whose record is no longer there fails and names what is missing.
func TestReplayOfWhatRetentionRemoved(t *testing.T) {
	n, source, _ := judged(t)
	if _, err := n.Store.Retain(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	again := n.replay(t, source.ID, abi.ReplayTaskRequest{})
	if again.Status != abi.TaskFailed || again.Failure.Code != abi.FailureReplayMissing {
		t.Fatalf("%s %+v", again.Status, again.Failure)
	}
	var details struct {
		Missing abi.ResourcePointer `json:"missing"`
	}
	if err := json.Unmarshal(again.Failure.Details, &details); err != nil || details.Missing.Object != abi.ObjectEvent || details.Missing.ID == "" {
		t.Errorf("the failure names %s (%v)", again.Failure.Details, err)
	}
	_, err := n.ForkTask(t.Context(), n.Root, nil, source.ID, abi.ForkTaskRequest{})
	enginetest.WantCode(t, err, abi.CodeConflict)
}

// A checkpoint has one spelling, and is an event that completed a call of the Task.
func TestCheckpoints(t *testing.T) {
	n, source, _ := judged(t)
	other := n.Wait(t, n.Submit(t, source.SessionID, ""))
	rec, foreign := n.recordOf(t, source.ID), n.recordOf(t, other.ID)
	at := rec.Entries[1].EventID
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{TaskID: source.ID}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, event string
		code      abi.ErrorCode // "" when it is one
		says      string
	}{
		{"call:2", at, "", ""}, {"call:2", "", "", ""}, {"", at, "", ""}, {"call:0", "", "", ""},
		{"call:1x", "", abi.CodeInvalidRequest, `"call:1x"`}, {"call:03", "", abi.CodeInvalidRequest, `"call:03"`},
		{"call:+1", "", abi.CodeInvalidRequest, `"call:+1"`}, {"call: 1", "", abi.CodeInvalidRequest, `"call: 1"`},
		{"call:1 ", "", abi.CodeInvalidRequest, `"call:1 "`}, {"call:-0", "", abi.CodeInvalidRequest, `"call:-0"`},
		{"call:", "", abi.CodeInvalidRequest, `"call:"`}, {"1", "", abi.CodeInvalidRequest, `"1"`}, {"nope", at, abi.CodeInvalidRequest, `"nope"`},
		{"call:99999999999999999999", "", abi.CodeInvalidRequest, "call:0 to call:6"}, {"call:1", at, abi.CodeInvalidRequest, "event " + at},
		{"", "999999999", abi.CodeResourceNotFound, "999999999"}, {"", "nope", abi.CodeInvalidRequest, "nope"}, {"", "0", abi.CodeResourceNotFound, "0"},
		{"", foreign.Entries[0].EventID, abi.CodeInvalidRequest, "event " + foreign.Entries[0].EventID},
		{"", events[0].Position().String(), abi.CodeInvalidRequest, "event " + events[0].Position().String()},
	} {
		doc, err := n.ReplayTask(t.Context(), n.Root, nil, source.ID, abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointID: c.id, CheckpointEventID: c.event})
		if c.code == "" {
			if err != nil {
				t.Errorf("%q %q: %v", c.id, c.event, err)
				continue
			}
			if again := n.Wait(t, doc.ID); again.Status != abi.TaskCompleted {
				t.Errorf("%q %q: %+v", c.id, c.event, again.Failure)
			}
			continue
		}
		if err == nil {
			t.Errorf("%q %q is taken for a checkpoint", c.id, c.event)
			continue
		}
		if refused := enginetest.WantCode(t, err, c.code); !strings.Contains(refused.Message, c.says) {
			t.Errorf("%q %q: %q does not say %s", c.id, c.event, refused.Message, c.says)
		}
	}
	for _, at := range []string{"999999999", "nope"} {
		for _, same := range []bool{false, true} {
			if _, err := n.ForkTask(t.Context(), n.Root, nil, source.ID, abi.ForkTaskRequest{AtEventID: at, SameSession: same}); err == nil {
				t.Errorf("a fork at event %s, same session %v", at, same)
			}
		}
	}
}

// What a replay or a fork is answered with is the Task as it is read, with its input.
func TestAnswersHaveTheInput(t *testing.T) {
	n, source, _ := judged(t)
	inJSON, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: source.SessionID, Input: jsontext.Value(`{"x":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	n.Wait(t, inJSON.ID)
	for _, id := range []string{source.ID, inJSON.ID} {
		replayed, err := n.ReplayTask(t.Context(), n.Root, nil, id, abi.ReplayTaskRequest{})
		if err != nil {
			t.Fatal(err)
		}
		forked, err := n.ForkTask(t.Context(), n.Root, nil, id, abi.ForkTaskRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range []desk.Doc{replayed, forked} {
			n.Wait(t, doc.ID)
			read, err := n.Get(t.Context(), n.Root, abi.ObjectTask, doc.ID)
			if err != nil {
				t.Fatal(err)
			}
			if is, want := enginetest.As[abi.Task](t, doc), enginetest.As[abi.Task](t, read); len(is.Input) == 0 || string(is.Input) != string(want.Input) || doc.Restricted != read.Restricted {
				t.Errorf("answered with the input %s, restricted %v; read with %s, %v", is.Input, doc.Restricted, want.Input, read.Restricted)
			}
		}
	}
}

// A replay that is killed midway goes on where it was: nothing is told twice.
func TestReplayKilledMidway(t *testing.T) {
	const total = 1500 // which is told in two batches
	there, hold := make(chan struct{}, 1), false
	g := enginetest.Guests{"many": func(ctx context.Context, h sandbox.Host) error {
		for i := range total {
			if hold && i == total-1 {
				there <- struct{}{}
				<-ctx.Done()
				return context.Cause(ctx)
			}
			if _, _, err := h.Call(ctx, abi.CallClock, nil); err != nil {
				return err
			}
		}
		return nil
	}}
	first := boot(t, crashtest.NewDisk(), g)
	id := first.Submit(t, first.Session(t), "persona_many")
	first.Wait(t, id)
	hold = true
	doc, err := first.ReplayTask(t.Context(), first.Root, nil, id, abi.ReplayTaskRequest{})
	if err != nil {
		t.Fatal(err)
	}
	<-there
	disk := first.Disk.Crash(1, 1)
	first.abandon()
	hold = false
	n := boot(t, disk, g)
	defer n.Stop(t)
	if again := n.Wait(t, doc.ID); again.Status != abi.TaskCompleted || again.Attempt != 2 {
		t.Fatalf("%s in attempt %d: %+v", again.Status, again.Attempt, again.Failure)
	}
	started, next := 0, 0
	for after, more := desk.Position(0), true; more; {
		var events []desk.Event
		if events, more, err = n.Events(t.Context(), n.Root, desk.Filter{TaskID: doc.ID}, after, 1000); err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			after = ev.Position()
			switch rec := ev.Record(); rec.Kind {
			case abi.EventReplayStarted:
				started++
			case abi.EventReplayEventReplayed:
				if want := fmt.Sprintf(`"replayed_index":%d,`, next); !strings.Contains(string(rec.Payload), want) {
					t.Fatalf("%s is told where %s should be", rec.Payload, want)
				}
				next++
			}
		}
	}
	if started != 1 || next != total {
		t.Errorf("it was started %d times, and told %d calls of %d", started, next, total)
	}
}

package proofs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/bundle"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// A receipt that is in the store as it was issued holds, and one that was changed there
// does not. Either is told, once for each Idempotency-Key.
func TestAChangedReceiptDoesNotHold(t *testing.T) {
	for what, c := range map[string]struct{ old, new, fails string }{
		"nothing":             {},
		"what it says":        {`"final_state":"SUCCEEDED"`, `"final_state":"FAILED"`, receipt.CheckNameHash},
		"its signature":       {`"signature":"base64:`, `"signature":"base64:AAAA`, receipt.CheckNameSignatures},
		"a member of its own": {`{"autonomy_budget"`, `{"aside":1,"autonomy_budget"`, receipt.CheckNameSchema},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRoom(t)
			r.done(t)
			about := r.done(t)
			stored, _, _ := r.stored(t, about)
			changed := bytes.Replace(stored.Wire, []byte(c.old), []byte(c.new), 1)
			if c.fails != "" && bytes.Equal(changed, stored.Wire) {
				t.Fatalf("nothing of %s was changed", stored.Wire)
			}
			stored.Wire = changed
			r.tell(t, ledger.Record{Kind: abi.EventReceiptIssued, Object: abi.ObjectReceipt, ID: stored.ID, Sequence: 1, State: &stored})
			v, checks := r.checks(t, about)
			if v.Valid != (c.fails == "") || c.fails != "" && checks[c.fails] != receipt.CheckFailed {
				t.Errorf("valid is %v: %s, %v", v.Valid, v.Reason, checks)
			}
			told := abi.EventReceiptVerified
			if !v.Valid {
				told = abi.EventReceiptVerificationFailed
			}
			retry := &desk.Retry{Key: "k", Scope: "POST /verify"}
			for range 2 {
				again, err := r.VerifyReceipt(t.Context(), r.root, retry, about.ReceiptID, abi.VerifyReceiptRequest{})
				if err != nil || again.Valid != v.Valid || again.Reason != v.Reason {
					t.Errorf("again it is %+v (%v)", again, err)
				}
			}
			if n := r.kinds(t)[told]; n != 2 {
				t.Errorf("%d events tell of it, want 2", n)
			}
		})
	}
}

// A receipt that holds by itself does not where the node knows that another one is before it.
func TestAReceiptInAnotherPlace(t *testing.T) {
	r := newRoom(t)
	r.done(t)
	about := r.done(t)
	r.done(t)
	stored, _, wire := r.stored(t, about)
	receipt.Seal(&wire, journal.HashOf([]byte("another")), r.keys.Current(), wire.IssuedAt)
	stored.Wire = wire.AppendCanonical(nil)
	r.tell(t, ledger.Record{Kind: abi.EventReceiptIssued, Object: abi.ObjectReceipt, ID: stored.ID, Sequence: 1, State: &stored})
	if v, checks := r.checks(t, about); v.Valid || checks[receipt.CheckNameHash] != receipt.CheckOK || checks[receipt.CheckNameChain] != receipt.CheckFailed {
		t.Errorf("%s, %v", v.Reason, checks)
	}
}

// A receipt outlives the record that it is about: then that is not checked.
func TestAReceiptWithoutItsRecord(t *testing.T) {
	r := newRoom(t)
	about := r.done(t)
	delete(r.records, about.ID)
	if v, checks := r.checks(t, about); !v.Valid || checks[receipt.CheckNameMerkle] != receipt.CheckNotChecked {
		t.Errorf("%s, %v", v.Reason, checks)
	}
	other := r.done(t)
	r.records[about.ID] = r.records[other.ID] // which put another Artifact
	if v, checks := r.checks(t, about); v.Valid || checks[receipt.CheckNameMerkle] != receipt.CheckFailed {
		t.Errorf("with another record: %s, %v", v.Reason, checks)
	}
}

// Whoever may not see a Task sees none of its receipts.
func TestReceiptsAreShownToWhomTheyBelong(t *testing.T) {
	r := newRoom(t)
	running, about := r.runs(t), r.done(t)
	if docs, err := r.TaskReceipts(t.Context(), r.root, running.ID); err != nil || len(docs) != 0 {
		t.Errorf("a task that runs has %d receipts (%v)", len(docs), err)
	}
	docs, err := r.TaskReceipts(t.Context(), r.root, about.ID)
	if err != nil || len(docs) != 1 || docs[0].ID != about.ReceiptID {
		t.Errorf("the task has the receipts %v (%v)", docs, err)
	}
	wire, err := r.ReceiptWire(t.Context(), r.root, about.ReceiptID)
	if canonical, err := receipt.Canonicalize(wire); err != nil || !bytes.Equal(wire, canonical) {
		t.Errorf("its bytes are %s (%v)", wire, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	stranger := &desk.Caller{Tenant: 1, Actor: "stranger", Scopes: []string{abi.ScopeAll}, Workspaces: []string{"ws_other"}}
	_, err = r.TaskReceipts(t.Context(), stranger, about.ID)
	wantCode(t, err, abi.CodeResourceNotFound)
	_, err = r.ReceiptWire(t.Context(), stranger, about.ReceiptID)
	wantCode(t, err, abi.CodeResourceNotFound)
	_, err = r.VerifyReceipt(t.Context(), stranger, nil, about.ReceiptID, abi.VerifyReceiptRequest{})
	wantCode(t, err, abi.CodeResourceNotFound)
}

// Keys are rotated by whoever has the node's scope for all Workspaces; what an old key has
// signed holds.
func TestRotation(t *testing.T) {
	r := newRoom(t)
	old := r.done(t)
	for _, c := range []*desk.Caller{
		{Tenant: 1, Actor: "a", Scopes: []string{abi.ScopeEventsInternal}},
		{Tenant: 1, Actor: "b", Scopes: []string{abi.ScopeNode}, Workspaces: []string{workspace}},
	} {
		_, err := r.RotateSigningKey(t.Context(), c)
		wantCode(t, err, abi.CodePermissionDenied)
	}
	before := r.SigningKeys()
	if len(before.Keys) != 1 {
		t.Fatalf("%+v", before)
	}
	after, err := r.RotateSigningKey(t.Context(), &desk.Caller{Tenant: 1, Actor: "c", Scopes: []string{abi.ScopeNode}})
	if err != nil || len(after.Keys) != 2 || after.Keys[1].KeyID != before.Keys[0].KeyID || after.Keys[1].RetiredAt.IsZero() {
		t.Fatalf("%+v (%v)", after, err)
	}
	fresh := r.done(t)
	for about, key := range map[*abi.Task]string{old: after.Keys[1].KeyID, fresh: after.Keys[0].KeyID} {
		_, _, wire := r.stored(t, about)
		if v, _ := r.checks(t, about); !v.Valid || wire.Signatures[0].KeyID != key {
			t.Errorf("it is signed by %s, want %s: %s", wire.Signatures[0].KeyID, key, v.Reason)
		}
	}
}

// A node without a key issues no receipts and signs nothing: Tasks end all the same, but
// those whose Persona requires a receipt are not begun.
func TestWithoutAKey(t *testing.T) {
	r := newRoom(t)
	r.keys = nil
	r.open()
	about := r.done(t)
	if about.ReceiptID != "" || r.kinds(t)[abi.EventTaskCompleted] != 1 || r.kinds(t)[abi.EventReceiptIssued] != 0 {
		t.Errorf("the task has the receipt %q: %v", about.ReceiptID, r.kinds(t))
	}
	if docs, err := r.TaskReceipts(t.Context(), r.root, about.ID); err != nil || len(docs) != 0 {
		t.Errorf("%v, %v", docs, err)
	}
	if keys := r.SigningKeys(); keys.Keys == nil || len(keys.Keys) != 0 {
		t.Errorf("the keys are %+v", keys)
	}
	if signed, err := r.SignDocument([]byte(`{}`), "https://example.com/keys"); signed != nil || err != nil {
		t.Errorf("%+v, %v", signed, err)
	}
	_, err := r.RotateSigningKey(t.Context(), r.root)
	wantCode(t, err, abi.CodeNotImplemented)
	wantCode(t, r.ExportTask(t.Context(), r.root, about.ID, &bytes.Buffer{}), abi.CodeNotImplemented)
	for policy, refused := range map[abi.ReceiptPolicy]bool{abi.ReceiptDisabled: false, abi.ReceiptOptional: false, abi.ReceiptRequired: true} {
		if err := r.CheckReceipts(&abi.Persona{ReceiptPolicy: policy}); (err != nil) != refused {
			t.Errorf("a persona whose receipts are %s: %v", policy, err)
		}
	}
}

// replayed ends a replay of a Task, which came to facts, and returns the replay.
func (r *room) replayed(t *testing.T, source *abi.Task, f *Facts) (*abi.Task, error) {
	t.Helper()
	about := r.runs(t)
	about.Replay = &abi.TaskReplay{SourceTaskID: source.ID, Mode: abi.ReplayExact, ReplayID: "task_replay_1"}
	made, err := r.ReceiptOfReplay(t.Context(), r.root.Tenant, about.Replay, source, r.records[source.ID], nil)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := r.HoldReceipt(r.root.Tenant, made)
	defer unlock()
	if err != nil {
		t.Fatal(err)
	}
	delete(r.records, about.ID)
	f.Replay = made
	return about, r.ends(t, about, f)
}

// The same replay has the same receipt, however often it is done: one that follows its
// source's and is in no chain. A replay that came to something else has none.
func TestTheReceiptOfAReplay(t *testing.T) {
	r := newRoom(t)
	source := r.done(t)
	_, _, before := r.stored(t, source)
	first, err := r.replayed(t, source, r.facts(t, source.ID))
	if err != nil {
		t.Fatal(err)
	}
	stored, number, wire := r.stored(t, first)
	if number != nil || *wire.Chain.PreviousReceiptHash != before.Chain.ReceiptHash || !strings.HasSuffix(stored.ID, "task_replay_1") {
		t.Errorf("%s has the number %v and follows %v", stored.ID, number, wire.Chain.PreviousReceiptHash)
	}
	if v, checks := r.checks(t, first); !v.Valid || checks[receipt.CheckNameChain] != receipt.CheckOK {
		t.Errorf("%s, %v", v.Reason, checks)
	}
	again, err := r.replayed(t, source, r.facts(t, source.ID))
	if err != nil || again.ReceiptID != first.ReceiptID {
		t.Fatalf("the same replay has the receipt %s, and %s before (%v)", again.ReceiptID, first.ReceiptID, err)
	}
	if same, _, _ := r.stored(t, again); !bytes.Equal(same.Wire, stored.Wire) {
		t.Errorf("the receipt was %s, and is %s", stored.Wire, same.Wire)
	}
	other := r.facts(t, source.ID)
	other.Artifacts = nil
	if _, err := r.replayed(t, source, other); err == nil || !strings.Contains(err.Error(), "the same replay had the receipt") {
		t.Errorf("another replay: %v", err)
	}
	r.restart()
	if _, number, wire := r.stored(t, r.done(t)); *number != 1 || *wire.Chain.PreviousReceiptHash != before.Chain.ReceiptHash {
		t.Errorf("after a replay the chain goes on with %d, which follows %s", *number, *wire.Chain.PreviousReceiptHash)
	}
}

// What is exported of a Task can be verified by a stranger, who has its Artifacts and the
// proof that its receipt is in the chain.
func TestExport(t *testing.T) {
	r := newRoom(t)
	r.done(t)
	about := r.done(t)
	r.done(t)
	var file bytes.Buffer
	if err := r.ExportTask(t.Context(), r.root, about.ID, &file); err != nil {
		t.Fatal(err)
	}
	report := bundle.Verify(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len()), bundle.Options{ChainOnly: true, TrustKeys: r.SigningKeys().Keys})
	if !report.Valid {
		t.Error(report.Reason())
	}
	found := map[string]receipt.CheckStatus{}
	for _, c := range report.Checks {
		found[c.Name] = c.Status
	}
	for _, name := range []string{bundle.CheckNameArtifacts, bundle.CheckNameBatch, bundle.CheckNameModule} {
		if found[name] != receipt.CheckOK {
			t.Errorf("%s is %q: %v", name, found[name], found)
		}
	}
}

// An export that is refused has written nothing.
func TestExportRefusals(t *testing.T) {
	r := newRoom(t)
	source, running := r.done(t), r.runs(t)
	again, err := r.replayed(t, source, r.facts(t, source.ID))
	if err != nil {
		t.Fatal(err)
	}
	gone, otherModule, lost := r.done(t), r.done(t), r.done(t)
	delete(r.records, gone.ID)
	r.records[otherModule.ID].Program.Module = "sha256:00"
	put := &r.records[lost.ID].Entries[0]
	put.Answer = bytes.Replace(put.Answer, []byte(bare(content)), []byte(bare([]byte("another patch"))), 1)
	for what, c := range map[string]struct {
		caller *desk.Caller
		id     string
		code   abi.ErrorCode
		says   string
	}{
		"one that runs":             {r.root, running.ID, abi.CodeConflict, "has not ended yet"},
		"a replay":                  {r.root, again.ID, abi.CodeConflict, "the record is that of its source, " + source.ID},
		"without the scope":         {&desk.Caller{Tenant: 1, Actor: "a", Scopes: []string{abi.ScopeNode}}, source.ID, abi.CodePermissionDenied, ""},
		"one that is not there":     {r.root, "task_none", abi.CodeResourceNotFound, ""},
		"without its record":        {r.root, gone.ID, abi.CodeConflict, "no longer there"},
		"without its module":        {r.root, otherModule.ID, abi.CodeConflict, "there is no module"},
		"without an artifact of it": {r.root, lost.ID, abi.CodeConflict, "the artifact art_" + lost.ID + " is no longer there"},
	} {
		t.Run(what, func(t *testing.T) {
			var file bytes.Buffer
			err := r.ExportTask(t.Context(), c.caller, c.id, &file)
			wantCode(t, err, c.code)
			if err == nil || !strings.Contains(err.Error(), c.says) || file.Len() != 0 {
				t.Errorf("after %d bytes: %v", file.Len(), err)
			}
		})
	}
}

// What policy and node say decides who gets a receipt.
func TestWhoGetsAReceipt(t *testing.T) {
	r := newRoom(t)
	for _, only := range []bool{false, true} {
		r.parts.RequiredOnly = only
		for policy, want := range map[abi.ReceiptPolicy]bool{abi.ReceiptDisabled: false, abi.ReceiptOptional: !only, abi.ReceiptRequired: true} {
			i := r.NewIssue(storage.Tenant(1), &Facts{Persona: &abi.Persona{ReceiptPolicy: policy}})
			if (i != nil) != want {
				t.Errorf("receipts are %s, required ones only %v: %v", policy, only, i)
			}
		}
	}
}

package engine

import (
	"context"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// facts is what the receipt of a Task is made from besides the Task itself.
type facts struct {
	persona        *personas.Persona
	tally          *receipt.Tally
	artifacts      []receipt.ArtifactRef
	withheld       []receipt.Redaction
	gas            uint64 // as journal.End has it
	irreproducible string
	replay         *replayFacts // set for a replay
}

// unreadableRecord says why a receipt cannot be made again.
const unreadableRecord = "the Task's record could not be read"

// issue is a receipt on its way into the batch that ends its Task.
type issue struct {
	id      string
	facts   *facts
	tenant  storage.Tenant
	task    *abi.Task    // as it ends
	outcome *abi.Outcome // as it is told
	record  int          // the place of its record in the batch
	key     *receipt.Key // signs it
	at      time.Time    // when it is issued
	built   *receipt.Receipt
	chain   *receipt.Chain // nil for a replay, whose receipt follows that of its source
}

// newIssue prepares the receipt of a Task that ends; nil when it gets none. The
// caller holds t.mu.
func (e *Engine) newIssue(t *task, outside *facts) *issue {
	f := outside
	if t.run != nil && t.about.Replay == nil {
		f = &t.run.facts
		if err := t.run.takeRest(); err != nil {
			e.log.Error("a task's record could not be taken over: its receipt says so", "task", t.id, "error", err)
			f.irreproducible = unreadableRecord
		}
	}
	if f == nil {
		f = &facts{tally: receipt.NewTally(nil, nil, t.id)}
	}
	if f.persona == nil {
		p, err := e.Persona(context.Background(), t.tenant, t.about.PersonaID)
		if err != nil {
			return nil // the Task failed for want of its Persona: there is no policy to issue under
		}
		f.persona = p
	}
	if e.signing == nil || f.persona.ReceiptPolicy == abi.ReceiptDisabled ||
		e.config.RequiredReceiptsOnly && f.persona.ReceiptPolicy != abi.ReceiptRequired {
		return nil
	}
	i := &issue{id: e.ids.New(abi.ObjectReceipt), facts: f, tenant: t.tenant}
	if f.replay != nil {
		i.id = f.replay.receiptID
	}
	return i
}

// factsOf reads what the receipt of a Task without a running plugin is made from, and
// the sequence of the Task's next event at that time. nil means that a Task never
// started, or that its run knows.
func (e *Engine) factsOf(ctx context.Context, t *task) (f *facts, asOf uint64, err error) {
	t.mu.Lock()
	told, asOf, handed := t.toldByLog(), t.seq, t.handed
	t.mu.Unlock()
	if !told {
		return nil, asOf, nil
	}
	f = &facts{tally: receipt.NewTally(nil, nil, t.id), irreproducible: unreadableRecord}
	if handed != nil { // else it is durable already
		if _, err := handed.Wait(context.Background()); err != nil {
			return f, asOf, err
		}
	}
	return f, asOf, e.readFacts(ctx, t, f)
}

// readFacts fills in what the log tells. What is left after an error says that the
// record could not be read.
func (e *Engine) readFacts(ctx context.Context, t *task, f *facts) error {
	h, err := e.history(ctx, t.tenant, &t.about)
	if err != nil {
		return err
	}
	if h.program == nil {
		if h.lastStart != 0 && len(h.entries) == 0 { // there was nothing to run
			f.irreproducible = ""
		}
		return nil
	}
	input, about, withheld, err := e.givenTo(ctx, t)
	if err != nil {
		return err
	}
	f.withheld = withheld
	if f.persona, err = e.personaAt(ctx, t.tenant, t.about.PersonaID, h.program.Persona); err != nil {
		return err
	}
	f.tally = receipt.NewTally(h.program, given(about, input, f.persona.Text), t.id)
	for i := range h.entries {
		entry := &h.entries[i]
		if entry.Open {
			break
		}
		if err := f.take(entry); err != nil {
			return err
		}
	}
	f.irreproducible = ""
	return nil
}

// told is the event of the receipt, whose state is filled in when it is sealed. A
// replay that was done before has its receipt already: it is issued again, and is
// the same resource.
func (i *issue) told() ledger.Record {
	rec := ledger.Record{Kind: abi.EventReceiptIssued, Object: abi.ObjectReceipt, ID: i.id, Created: true}
	if r := i.facts.replay; r != nil && r.issued != nil {
		rec.Created, rec.Sequence = false, r.sequence
	}
	return rec
}

// build makes the receipt, but for its place in the chain; i may be nil.
func (e *Engine) build(i *issue, now time.Time) (err error) {
	if i == nil {
		return nil
	}
	i.key, i.at = e.signing.Signer(now)
	if i.built, err = receipt.Build(e.receiptFacts(i, now), i.facts.tally); err != nil {
		return err
	}
	if r := i.facts.replay; r != nil {
		return r.check(i.built)
	}
	i.chain, err = e.chains.of(e, ledger.Key{Tenant: i.tenant, ID: i.task.WorkspaceID})
	return err
}

// check reports a replay that has another receipt than the same replay had before:
// then one of the two was not exact.
func (r *replayFacts) check(built *receipt.Receipt) error {
	if r.issued == nil {
		return nil
	}
	var before struct {
		Wire receipt.Receipt `json:"wire"`
	}
	if err := ledger.Decode(r.issued, &before); err != nil {
		return err
	}
	again := *built
	receipt.Seal(&again, r.previous, nil, built.IssuedAt)
	if was, is := before.Wire.Chain.ReceiptHash, again.Chain.ReceiptHash; was != is {
		return fmt.Errorf("the same replay had the receipt %s before, and has %s now", was, is)
	}
	return nil
}

// seal puts the receipt into the batch and hands that over, in the order of the
// Workspace's chain.
func (e *Engine) seal(i *issue, b *storage.Batch, hand func() error) error {
	put := func(text []byte, number uint64, sealed *receipt.Batch) error {
		lockrank.Enter[lockrank.Chain]() // the chain's own lock is held until put returns
		defer lockrank.Leave[lockrank.Chain]()
		b.Frame.Records[i.record].State = i.resource(text, number)
		if sealed != nil {
			state, err := json.Marshal(sealed)
			if err != nil {
				return fmt.Errorf("encoding a batch of receipts: %w", err)
			}
			b.Frame.Records = append(b.Frame.Records, storage.Record{
				Kind: abi.EventReceiptsSealed, Resource: abi.ResourcePointer{Object: abi.ObjectReceiptBatch, ID: sealed.ID},
				Created: true, State: state,
			})
		}
		return hand()
	}
	if r := i.facts.replay; r != nil {
		if receipt.Seal(i.built, r.previous, i.key, i.at); r.issued != nil {
			b.Frame.Records[i.record].State = r.issued
			return hand()
		}
		return put(i.built.AppendCanonical(nil), 0, nil)
	}
	return i.chain.Seal(i.built, i.key, i.at, put)
}

func (e *Engine) receiptFacts(i *issue, now time.Time) *receipt.Facts {
	t, p := i.task, i.facts.persona
	f := &receipt.Facts{
		ReceiptID: i.id, IssuerID: e.signing.Public().Issuer, IssuerName: "Wharf", IssuerVersion: abi.ProtocolVersion,
		TenantID: e.tenants.IDOf(i.tenant), PersonaRef: p.ID + "@" + p.Version,
		WorkspaceID: t.WorkspaceID, SessionID: t.SessionID, TaskID: t.ID, BranchID: t.BranchID,
		CreatedAt: t.CreatedAt, StartedAt: t.StartedAt, CompletedAt: abi.At(now), IssuedAt: i.at,
		Status: t.Status, Failure: i.outcome.Failure, Gas: i.facts.gas, StartTier: p.AutonomyTier, EndTier: p.AutonomyTier,
		Artifacts: i.facts.artifacts, Redactions: i.facts.withheld, NodeVersion: e.version, Irreproducible: i.facts.irreproducible,
	}
	if t.PersonaVersion != "" { // else it never began, or did so before policy was enforced
		f.PolicyRef, f.Limit = f.PersonaRef, limitOf(p.Budget)
	}
	if i.facts.replay != nil {
		i.facts.replay.apply(f)
	}
	return f
}

// resource is the receipt as a REST resource, in JSON. text is the receipt's own JSON, and
// number its place in the Workspace's chain; a replay's receipt has none.
func (i *issue) resource(text []byte, number uint64) []byte {
	r, o := i.built, jsonw.Begin(make([]byte, 0, len(text)+1024))
	o.Text("id", i.id)
	o.Text("object", string(abi.ObjectReceipt))
	o.Time("created_at", r.IssuedAt)
	o.Time("updated_at", r.IssuedAt)
	o.Name("metadata")
	metadata := jsonw.Begin(o.B)
	if i.facts.replay == nil {
		metadata.Uint("chain_number", number)
	}
	o.B = append(metadata.End(), ',')
	o.Name("subject")
	subject := jsonw.Begin(o.B)
	subject.Text("object", r.Subject.Object)
	subject.Text("id", r.Subject.ID)
	o.B = append(subject.End(), ',')
	o.Text("format", abi.ReceiptSchema)
	o.Text("summary", string(i.outcome.Status)+": "+i.outcome.Summary)
	o.Time("issued_at", r.IssuedAt)
	o.Text("issuer", r.Issuer.ID)
	o.Text("task_id", i.task.ID)
	o.Text("workspace_id", i.task.WorkspaceID)
	o.Text("session_id", i.task.SessionID)
	o.JSON("wire", text)
	return o.End()
}

// chainTable holds the chains of receipts that are being added to.
type chainTable struct {
	mu   lockrank.Mutex[lockrank.Table]
	byID map[ledger.Key]*chainEntry
}

type chainEntry struct {
	once  lockrank.Mutex[lockrank.ChainRead]
	chain *receipt.Chain
}

// of returns the chain of a Workspace, read from the log on first use.
func (c *chainTable) of(e *Engine, workspace ledger.Key) (*receipt.Chain, error) {
	c.mu.Lock()
	if c.byID == nil {
		c.byID = map[ledger.Key]*chainEntry{}
	}
	entry := c.byID[workspace]
	if entry == nil {
		entry = &chainEntry{}
		c.byID[workspace] = entry
	}
	c.mu.Unlock()
	entry.once.Lock()
	defer entry.once.Unlock()
	if entry.chain != nil {
		return entry.chain, nil
	}
	state, err := e.chainState(context.Background(), workspace)
	if err != nil {
		return nil, err
	}
	entry.chain = receipt.NewChain(workspace.ID, state)
	return entry.chain, nil
}

// chainLink is what a stored receipt says of its place.
type chainLink struct {
	Subject  abi.ResourcePointer `json:"subject"`
	Metadata struct {
		Number *uint64 `json:"chain_number"`
	} `json:"metadata"`
	Wire struct {
		Chain receipt.ChainLink `json:"chain"`
	} `json:"wire"`
}

// chainState reads where a Workspace's chain stands: its last receipt, and the
// hashes of those that are not sealed in a batch yet. Lists are in the order of
// ids, which is almost that of the chain, so a little more is read than needed.
func (e *Engine) chainState(ctx context.Context, workspace ledger.Key) (receipt.ChainState, error) {
	hashes := map[uint64]string{}
	last, any := uint64(0), false
	page := storage.Page{Limit: 200}
	for enough := false; !enough; {
		list, more, err := e.store.List(ctx, workspace.Tenant, abi.ObjectReceipt, desk.Scope{Object: abi.ObjectWorkspace, ID: workspace.ID}, page)
		if err != nil {
			return receipt.ChainState{}, e.ledger.Failed("reading the chain of receipts", err)
		}
		for _, res := range list {
			page.After = res.ID
			var link chainLink
			if err := ledger.Decode(res.State, &link); err != nil {
				return receipt.ChainState{}, err
			}
			if link.Metadata.Number == nil {
				continue // a replay's
			}
			n := *link.Metadata.Number
			hashes[n] = link.Wire.Chain.ReceiptHash
			last, any = max(last, n), true
		}
		enough = !more || len(hashes) >= 2*receipt.BatchSize
	}
	if !any {
		return receipt.ChainState{}, nil
	}
	state := receipt.ChainState{Previous: hashes[last], Count: last + 1}
	for n := state.Count - state.Count%receipt.BatchSize; n < state.Count; n++ {
		if hashes[n] == "" {
			return state, fmt.Errorf("receipt %d of workspace %s is missing", n, workspace.ID)
		}
		state.Pending = append(state.Pending, hashes[n])
	}
	return state, nil
}

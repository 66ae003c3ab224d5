package proofs

import (
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// Issue is a receipt on its way into the batch that ends its Task. A nil one stands for a Task
// that gets none. The caller that ends the Task takes its steps in this order, under the Task's
// lock: [Issue.Ends], [Issue.Tell], [Issue.Build], [Issue.Seal].
type Issue struct {
	room    *Keeper
	id      string
	facts   *Facts
	tenant  storage.Tenant
	task    *abi.Task    // as it ends
	outcome *abi.Outcome // as it is told
	place   int          // the place of its record in the batch
	key     *receipt.Key // signs it
	at      time.Time    // when it is issued
	built   *receipt.Receipt
	chain   *receipt.Chain // nil for a replay, whose receipt follows that of its source
}

// CheckReceipts refuses a Task for a Persona that requires receipts when the node cannot sign
// any: work is not begun without the proof that policy asks for.
func (k *Keeper) CheckReceipts(p *abi.Persona) error {
	if k.parts.Keys == nil && p.ReceiptPolicy == abi.ReceiptRequired {
		return abi.Errorf(abi.CodePolicyViolation, "persona %s requires receipts, and this node has no key to sign them with", p.ID)
	}
	return nil
}

// NewIssue prepares the receipt of a Task that ends; nil when policy or the node issues none.
func (k *Keeper) NewIssue(t storage.Tenant, f *Facts) *Issue {
	policy := f.Persona.ReceiptPolicy
	if k.parts.Keys == nil || policy == abi.ReceiptDisabled || k.parts.RequiredOnly && policy != abi.ReceiptRequired {
		return nil
	}
	i := &Issue{room: k, id: k.parts.IDs.New(abi.ObjectReceipt), facts: f, tenant: t}
	if f.Replay != nil {
		i.id = f.Replay.receiptID
	}
	return i
}

// Ends names the receipt in the Task as it ends and in its Outcome, both of which the issue
// reads until it is sealed.
func (i *Issue) Ends(t *abi.Task, o *abi.Outcome) {
	if i == nil {
		return
	}
	o.ReceiptID, t.ReceiptID = i.id, i.id
	i.task, i.outcome = t, o
}

// Tell appends the event of the receipt to the records of the batch that ends the Task, of
// which they are the first. Its state is filled in when it is sealed. A replay that was done
// before has its receipt already: it is issued again, and is the same resource.
func (i *Issue) Tell(records []ledger.Record) []ledger.Record {
	if i == nil {
		return records
	}
	rec := ledger.Record{Kind: abi.EventReceiptIssued, Object: abi.ObjectReceipt, ID: i.id, Created: true}
	if r := i.facts.Replay; r != nil && r.issued != nil {
		rec.Created, rec.Sequence = false, r.sequence
	}
	i.place = len(records)
	return append(records, rec)
}

// Build makes the receipt, except for its place in the chain.
func (i *Issue) Build(now time.Time) (err error) {
	if i == nil {
		return nil
	}
	i.key, i.at = i.room.parts.Keys.Signer(now)
	if i.built, err = receipt.Build(i.says(now), i.facts.Tally); err != nil {
		return err
	}
	if r := i.facts.Replay; r != nil {
		return r.check(i.built)
	}
	i.chain, err = i.room.chain(ledger.Key{Tenant: i.tenant, ID: i.task.WorkspaceID})
	return err
}

// Seal puts the receipt into the batch and calls hand, which hands that over, in the order of
// the Workspace's chain: hand is called under the chain's lock.
func (i *Issue) Seal(b *storage.Batch, hand func() error) error {
	if i == nil {
		return hand()
	}
	put := func(text []byte, number uint64, sealed *receipt.Batch) error {
		lockrank.Enter[lockrank.Chain]() // the chain's own lock is held until put returns
		defer lockrank.Leave[lockrank.Chain]()
		b.Frame.Records[i.place].State = i.resource(text, number)
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
	if r := i.facts.Replay; r != nil {
		if receipt.Seal(i.built, r.previous, i.key, i.at); r.issued != nil {
			b.Frame.Records[i.place].State = r.issued
			return hand()
		}
		return put(i.built.AppendCanonical(nil), 0, nil)
	}
	return i.chain.Seal(i.built, i.key, i.at, put)
}

// says returns what the receipt is built from.
func (i *Issue) says(now time.Time) *receipt.Facts {
	k, t, p := i.room, i.task, i.facts.Persona
	f := &receipt.Facts{
		ReceiptID: i.id, IssuerID: k.parts.Keys.Public().Issuer, IssuerName: "Wharf", IssuerVersion: abi.ProtocolVersion,
		TenantID: k.parts.Tenants.IDOf(i.tenant), PersonaRef: p.ID + "@" + p.Version,
		WorkspaceID: t.WorkspaceID, SessionID: t.SessionID, TaskID: t.ID, BranchID: t.BranchID,
		CreatedAt: t.CreatedAt, StartedAt: t.StartedAt, CompletedAt: abi.At(now), IssuedAt: i.at,
		Status: t.Status, Failure: i.outcome.Failure, Gas: i.facts.Gas, StartTier: p.AutonomyTier, EndTier: p.AutonomyTier,
		Artifacts: i.facts.Artifacts, Redactions: i.facts.Withheld, NodeVersion: k.parts.Version, Irreproducible: i.facts.Irreproducible,
	}
	if t.PersonaVersion != "" { // else it never began, or did so before policy was enforced
		f.PolicyRef, f.Limit = f.PersonaRef, i.facts.limit()
	}
	if i.facts.Replay != nil {
		i.facts.Replay.apply(f)
	}
	return f
}

// resource is the receipt as a REST resource, in JSON. text is the receipt's own JSON, and
// number its place in the Workspace's chain; a replay's receipt has none.
func (i *Issue) resource(text []byte, number uint64) []byte {
	r, o := i.built, jsonw.Begin(make([]byte, 0, len(text)+1024))
	o.Text("id", i.id)
	o.Text("object", string(abi.ObjectReceipt))
	o.Time("created_at", r.IssuedAt)
	o.Time("updated_at", r.IssuedAt)
	o.Name("metadata")
	metadata := jsonw.Begin(o.B)
	if i.facts.Replay == nil {
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

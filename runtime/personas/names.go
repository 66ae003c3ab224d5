package personas

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// The kinds of references that agents have. No Session has one of these: they are no names.
const (
	refName = "agent name"
	refKey  = "agent key"
)

// AgentName and AgentKey are what an agent of a Workspace is found by. Those of subagents are
// told apart by the agent that they are of, "" for none.
func AgentName(workspace, parent, name string) AgentRef {
	return AgentRef{workspace, refName, parent + " " + name}
}

// AgentKey is what an agent is found by wherever it comes from.
func AgentKey(workspace, parent, vendorKey, key string) AgentRef {
	return AgentRef{workspace, refKey, parent + " " + vendorKey + "/" + key}
}

// AgentRef is one of the references of an agent: no two of a Workspace have the same.
type AgentRef struct{ workspace, kind, text string }

func (r AgentRef) id() string {
	h := sha256.New()
	for _, part := range []string{r.workspace, r.kind, r.text} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part) // lengths keep the parts apart
	}
	return abi.IDPrefix(abi.ObjectReference) + hex.EncodeToString(h.Sum(nil))
}

// refsOf returns the references that a Persona has: none unless it is an agent that is there.
func refsOf(p *abi.Persona) (refs []AgentRef) {
	if p == nil || p.Agent == nil || !p.DeletedAt.IsZero() {
		return nil
	}
	refs = append(refs, AgentName(p.WorkspaceID, p.Agent.ParentID, p.Name))
	if p.Agent.AgentKey != "" {
		refs = append(refs, AgentKey(p.WorkspaceID, p.Agent.ParentID, p.Agent.VendorKey, p.Agent.AgentKey))
	}
	return refs
}

// rename returns the records with which a Persona takes the references that it has from now on,
// and gives back those that it has no more. What the ledger expects of them is that nobody takes
// one meanwhile. One that another agent has is an abi.CodeConflict, which names that agent.
func (k *Keeper) rename(ctx context.Context, t storage.Tenant, before, next *abi.Persona) (records []ledger.Record, err error) {
	had, has := refsOf(before), refsOf(next)
	for _, ref := range has {
		if slices.Contains(had, ref) {
			continue
		}
		rec, err := k.takeRef(ctx, t, ref, next.ID)
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	for _, ref := range had {
		if slices.Contains(has, ref) {
			continue
		}
		rec, err := k.freeRef(ctx, t, ref)
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	return records, nil
}

func (k *Keeper) takeRef(ctx context.Context, t storage.Tenant, ref AgentRef, persona string) (ledger.Record, error) {
	id := ref.id()
	rec := ledger.Record{Kind: abi.EventReferenceTaken, Object: abi.ObjectReference, ID: id, Created: true,
		State: &abi.Reference{Envelope: abi.NewEnvelope(abi.ObjectReference, id, k.parts.Now(), nil),
			OutsideRef: abi.OutsideRef{Kind: ref.kind, Ref: ref.text}, WorkspaceID: ref.workspace, PersonaID: persona}}
	before, res, err := k.findRef(ctx, t, id)
	switch {
	case ledger.IsNotFound(err):
		return rec, nil
	case err != nil:
		return rec, err
	case before.PersonaID != "":
		return rec, AgentTaken(ref, before.PersonaID)
	}
	rec.Created, rec.Sequence = false, res.Sequence+1
	return rec, nil
}

func (k *Keeper) freeRef(ctx context.Context, t storage.Tenant, ref AgentRef) (ledger.Record, error) {
	before, res, err := k.findRef(ctx, t, ref.id())
	if err != nil {
		return ledger.Record{}, err
	}
	before.PersonaID, before.UpdatedAt = "", abi.At(k.parts.Now())
	return ledger.Record{Kind: abi.EventReferenceFreed, Object: abi.ObjectReference, ID: res.ID, Sequence: res.Sequence + 1, State: &before}, nil
}

// AgentTaken is what a caller is told who wants a reference that an agent has. The caller sees the
// Workspace, and so the agent.
func AgentTaken(ref AgentRef, persona string) error {
	what := "name"
	if ref.kind == refKey {
		what = "key"
	}
	refused := abi.Errorf(abi.CodeConflict, "agent %s has this %s already", persona, what)
	refused.Details, _ = json.Marshal(map[string]string{"agent_id": persona, "taken": what}, json.Deterministic(true)) // strings can be marshaled
	return refused
}

func (k *Keeper) findRef(ctx context.Context, t storage.Tenant, id string) (r abi.Reference, res storage.Resource, err error) {
	if res, err = k.parts.Ledger.Find(ctx, t, abi.ObjectReference, id); err != nil {
		return r, res, err
	}
	return r, res, ledger.Naming(abi.ObjectReference, id, ledger.Decode(res.State, &r))
}

// AgentOf returns the id of the agent that has a reference; "" when there is none, or none that
// the caller sees.
func (k *Keeper) AgentOf(ctx context.Context, c *desk.Caller, ref AgentRef) (string, error) {
	if !c.Sees(ref.workspace) {
		return "", nil
	}
	r, _, err := k.findRef(ctx, c.Tenant, ref.id())
	if ledger.IsNotFound(err) {
		return "", nil
	}
	return r.PersonaID, err
}

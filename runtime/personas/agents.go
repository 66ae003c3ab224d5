package personas

import (
	"cmp"
	"context"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// AgentWrite is an agent that is to be written. One whose id is there is changed; any other is made,
// with this id, which is a new one. Of what is changed, envelope and version are those it has.
type AgentWrite struct{ abi.Persona }

// WriteAgents writes agents of a Workspace in one batch, all of them or none, and answers with the
// first. draft says which; where another writer was faster, it is called again. A subagent stands
// behind its parent.
func (k *Keeper) WriteAgents(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace string, draft func() ([]AgentWrite, error)) (desk.Doc, error) {
	if err := k.mayPlace(ctx, c, workspace); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, "agents of "+workspace, func() (desk.Doc, error) {
			writes, err := draft()
			if err != nil {
				return desk.Doc{}, err
			}
			return k.writeAgents(ctx, c, idem, workspace, writes)
		})
	})
}

func (k *Keeper) writeAgents(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, workspace string, writes []AgentWrite) (desk.Doc, error) {
	var records, refs []ledger.Record
	for i := range writes {
		p := &writes[i].Persona
		p.WorkspaceID = workspace
		stated, taken, err := k.draftAgent(ctx, c, p, writes[:i])
		if err != nil {
			return desk.Doc{}, err
		}
		records, refs = append(records, stated), append(refs, taken...)
	}
	if twice := sameTwice(refs); twice != "" {
		return desk.Doc{}, abi.Errorf(abi.CodeConflict, "two of these agents have the same name or key: %s", twice)
	}
	doc, err := k.parts.Desk.Commit(c, "", workspace, idem, desk.StatusCreated, append(records, refs...)...)
	if err != nil {
		return desk.Doc{}, err
	}
	k.families.forget(c.Tenant, workspace)
	for i := range records {
		if !records[i].Created {
			k.cache.drop(ledger.Key{Tenant: c.Tenant, ID: records[i].ID})
		}
	}
	return doc, nil
}

// sameTwice returns what two records state, "" when none do.
func sameTwice(refs []ledger.Record) string {
	seen := map[string]bool{}
	for i := range refs {
		if seen[refs[i].ID] {
			return refs[i].State.(*abi.Reference).Ref
		}
		seen[refs[i].ID] = true
	}
	return ""
}

// draftAgent returns the record that states an agent, and those of its references. others stand
// before it in its batch.
func (k *Keeper) draftAgent(ctx context.Context, c *desk.Caller, p *abi.Persona, others []AgentWrite) (stated ledger.Record, refs []ledger.Record, err error) {
	before, res, err := desk.Find[abi.Persona](ctx, k.parts.Desk, c, abi.ObjectPersona, p.ID)
	if ledger.IsNotFound(err) {
		p.Envelope = abi.NewEnvelope(abi.ObjectPersona, p.ID, k.parts.Now(), p.Metadata)
		p.Version = firstVersion
		if err := cmp.Or(k.checkEntry(ctx, p.EntryWorkflow), k.checkAmong(ctx, c, p, others)); err != nil {
			return stated, nil, err
		}
		refs, err = k.rename(ctx, c.Tenant, nil, p)
		return created(p), refs, err
	}
	if err != nil {
		return stated, nil, err
	}
	p.Envelope, p.Version = before.Envelope, before.Version
	p.UpdatedAt = abi.At(k.parts.Now())
	if err := cmp.Or(mayGovern(c, before.WorkspaceID), keepsParent(&before, p), k.checkAmong(ctx, c, p, others), k.nameVersion(ctx, c, &before, p, res.Position, false)); err != nil {
		return stated, nil, err
	}
	refs, err = k.rename(ctx, c.Tenant, &before, p)
	return updated(p, &res), refs, err
}

// checkAmong is checkPersona for an agent whose parent may be written with it.
func (k *Keeper) checkAmong(ctx context.Context, c *desk.Caller, p *abi.Persona, others []AgentWrite) error {
	with := func(w AgentWrite) bool { return p.Agent != nil && w.ID == p.Agent.ParentID }
	if !slices.ContainsFunc(others, with) {
		return k.checkPersona(ctx, c, p)
	}
	alone, own := *p, *p.Agent
	own.ParentID = ""
	alone.Agent = &own
	return k.checkPersona(ctx, c, &alone)
}

// FindAgent returns an agent of a Workspace that the caller sees.
func (k *Keeper) FindAgent(ctx context.Context, c *desk.Caller, workspace, id string) (abi.Persona, error) {
	p, _, err := k.findAgent(ctx, c, workspace, id)
	return p, err
}

func (k *Keeper) findAgent(ctx context.Context, c *desk.Caller, workspace, id string) (abi.Persona, storage.Resource, error) {
	p, res, err := desk.Find[abi.Persona](ctx, k.parts.Desk, c, abi.ObjectPersona, id)
	if err == nil && (p.Agent == nil || p.WorkspaceID != workspace) {
		err = abi.NotFound(abi.ObjectPersona, id)
	}
	return p, res, err
}

// RemoveAgent deletes an agent, its subagents too, unless free refuses one of them. What free returns
// of each is written in the same batch; it may be asked again. Tasks that have begun go on, and what
// was recorded stays; whatever newly names it does not find it.
func (k *Keeper) RemoveAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id string, free func(*abi.Persona) ([]ledger.Record, error)) error {
	_, err := k.parts.Desk.Once(ctx, c, r, workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, "agents of "+workspace, func() (desk.Doc, error) {
			return k.removeAgent(ctx, c, idem, workspace, id, free)
		})
	})
	return err
}

func (k *Keeper) removeAgent(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, workspace, id string, free func(*abi.Persona) ([]ledger.Record, error)) (desk.Doc, error) {
	p, res, err := k.findAgent(ctx, c, workspace, id)
	if err := cmp.Or(err, mayGovern(c, p.WorkspaceID)); err != nil {
		return desk.Doc{}, err
	}
	family, err := k.below(ctx, c, workspace, id)
	if err != nil {
		return desk.Doc{}, err
	}
	var records, others []ledger.Record
	for _, of := range append([]stated{{p, res}}, family...) {
		with, err := free(&of.Persona)
		if err != nil {
			return desk.Doc{}, err
		}
		gone := k.gone(of.Persona)
		freed, err := k.rename(ctx, c.Tenant, &of.Persona, gone)
		if err != nil {
			return desk.Doc{}, err
		}
		records, others = append(records, removed(gone, &of.res)), append(append(others, freed...), with...)
	}
	doc, err := k.parts.Desk.Commit(c, "", workspace, idem, desk.StatusNoContent, append(records, others...)...)
	if err == nil {
		k.families.forget(c.Tenant, workspace)
		for i := range records {
			k.cache.drop(ledger.Key{Tenant: c.Tenant, ID: records[i].ID})
		}
	}
	return doc, err
}

// stated is an agent and how it was stated.
type stated struct {
	abi.Persona
	res storage.Resource
}

// AgentsBelow returns the subagents of an agent, and theirs, each behind its parent.
func (k *Keeper) AgentsBelow(ctx context.Context, c *desk.Caller, workspace, id string) (family []abi.Persona, err error) {
	all, err := k.below(ctx, c, workspace, id)
	for i := range all {
		family = append(family, all[i].Persona)
	}
	return family, err
}

// below returns the subagents of an agent, and theirs.
func (k *Keeper) below(ctx context.Context, c *desk.Caller, workspace, id string) (family []stated, err error) {
	byParent := map[string][]storage.Resource{}
	err = k.eachAgent(ctx, c, workspace, func(parent string, res *storage.Resource) bool {
		if parent != "" {
			byParent[parent] = append(byParent[parent], *res)
		}
		return true
	})
	for next := []string{id}; err == nil && len(next) > 0; next = next[1:] {
		for _, res := range byParent[next[0]] {
			of := stated{res: res}
			if err := readPersona(&res, &of.Persona); err != nil {
				return nil, err
			}
			family, next = append(family, of), append(next, res.ID)
		}
	}
	return family, err
}

// eachAgent calls visit for the agents of a Workspace, newest first, until it returns false: with
// the agent whose subagent it is. One that cannot be read is left out.
func (k *Keeper) eachAgent(ctx context.Context, c *desk.Caller, workspace string, visit func(parent string, res *storage.Resource) bool) error {
	if err := k.parts.Desk.CheckWorkspace(ctx, c, workspace); err != nil {
		return err
	}
	scope := storage.Scope{Object: abi.ObjectWorkspace, ID: workspace}
	for page := (storage.Page{Limit: 200}); ; {
		list, more, err := k.parts.Store.List(ctx, c.Tenant, abi.ObjectPersona, scope, page)
		if err != nil {
			return k.parts.Ledger.Failed("listing agents", err)
		}
		for i := range list {
			page.After = list[i].ID
			var p struct {
				Agent *struct {
					ParentID string `json:"parent_id"`
				} `json:"agent"`
				DeletedAt abi.Time `json:"deleted_at"`
			}
			if ledger.ReadListed(&list[i], &p) != nil || p.Agent == nil || !p.DeletedAt.IsZero() {
				continue
			}
			if !visit(p.Agent.ParentID, &list[i]) {
				return nil
			}
		}
		if !more {
			return nil
		}
	}
}

// ListAgents lists the agents of a Workspace that have a parent, "" for those that have none,
// newest first: a page by its offset or its cursor. It looks at each Persona of the Workspace to
// count them.
func (k *Keeper) ListAgents(ctx context.Context, c *desk.Caller, workspace, parent string, p desk.Page) (list desk.DocList, err error) {
	skip := p.Offset
	err = k.eachAgent(ctx, c, workspace, func(of string, a *storage.Resource) bool {
		if of != parent {
			return true
		}
		list.Total++
		switch {
		case p.After != "" && a.ID >= p.After:
		case skip > 0:
			skip--
		case list.Full(p.Limit):
			list.More = true
		default:
			list.Add(desk.Doc{ID: a.ID, JSON: a.State}, p.Limit)
			list.Next = a.ID
		}
		return p.Total || !list.More
	})
	if !list.More {
		list.Next = ""
	}
	return list, err
}

// AgentVersions calls visit for the versions of an agent before the one that it has, newest first,
// until it returns false: as each was last stated.
func (k *Keeper) AgentVersions(ctx context.Context, c *desk.Caller, workspace, id string, visit func(*abi.Persona) bool) error {
	p, res, err := k.findAgent(ctx, c, workspace, id)
	if err != nil {
		return err
	}
	last, bad := p.Version, error(nil)
	err = k.eachPersona(ctx, c.Tenant, id, res.Position, func(stated *personaStated) bool {
		if stated.version == last {
			return true
		}
		last = stated.version
		var older abi.Persona
		older, bad = stated.persona()
		return bad == nil && visit(&older)
	})
	return cmp.Or(err, bad)
}

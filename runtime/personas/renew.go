package personas

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// renewPersona makes a bundled Persona that a tenant has what this program says of it:
// what an older one said may be too little for the plugin of this one. A Persona that a
// client has changed stays as it is. So does the version of one whose policy had to be given another
// name than the program's: that is the name of a policy of before. One that was deleted while its plugin
// was gone is there again.
func (k *Keeper) renewPersona(ctx context.Context, t storage.Tenant, res *storage.Resource, bundled *abi.Persona) error {
	var before abi.Persona
	if err := readPersona(res, &before); err != nil {
		return err
	}
	next := *bundled
	next.Envelope = abi.NewEnvelope(abi.ObjectPersona, before.ID, before.CreatedAt, bundled.Metadata)
	next.UpdatedAt, next.Version = before.UpdatedAt, before.Version
	same, err := equalJSON(&before, &next)
	if err != nil || same && before.Version == bundled.Version {
		return err
	}
	own, err := k.unchanged(ctx, t, res, &before)
	if err != nil || !own && before.DeletedAt.IsZero() {
		return err
	}
	c := &desk.Caller{Tenant: t, Actor: desk.HostActor}
	next.UpdatedAt, next.Version = abi.At(k.parts.Now()), bundled.Version
	if err := k.nameVersion(ctx, c, &before, &next, res.Position, false); err != nil {
		return err
	}
	if same && next.Version != bundled.Version {
		return nil // or each start would find it another name
	}
	if err := k.restate(t, res, &next); err != nil {
		return err
	}
	k.parts.Log.Info("a persona of the node was brought up to date", "persona", next.ID, "before", before.Version, "now", next.Version)
	return nil
}

// restate states a Persona anew for the node; res is how it was stated before.
func (k *Keeper) restate(t storage.Tenant, res *storage.Resource, p *abi.Persona) error {
	doc, err := k.parts.Desk.Commit(&desk.Caller{Tenant: t, Actor: desk.HostActor}, "", "", nil, 0,
		ledger.Record{Kind: abi.EventPersonaUpdated, Object: abi.ObjectPersona, ID: p.ID, Sequence: res.Sequence + 1,
			State: p, Payload: abi.PersonaVersion{Version: p.Version, Previous: res.Position.String(), Bundled: true}})
	if err == nil {
		k.cache.set(ledger.Key{Tenant: t, ID: p.ID}, &Persona{Persona: *p, Text: doc.JSON})
	}
	return err
}

// unchanged reports whether a bundled Persona is as the node has stated it. Where
// retention has removed the event that says so, only one that was never stated again
// is.
func (k *Keeper) unchanged(ctx context.Context, t storage.Tenant, res *storage.Resource, p *abi.Persona) (bool, error) {
	ev, err := k.parts.Store.Event(ctx, t, res.Position)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrCursorExpired) {
		return p.UpdatedAt.Equal(p.CreatedAt), nil
	}
	if err != nil {
		return false, k.parts.Ledger.Failed("reading the event of persona "+p.ID, err)
	}
	rec := ev.Record()
	if rec.Kind == abi.EventPersonaCreated {
		return true, nil
	}
	var told abi.PersonaVersion
	if len(rec.Payload) > 0 {
		err = ledger.Decode(rec.Payload, &told)
	}
	return told.Bundled, err
}

// renewSkill makes a Skill of the node what this program says of it; clients cannot
// change those.
func (k *Keeper) renewSkill(t storage.Tenant, res *storage.Resource, bundled *abi.Skill) error {
	var before abi.Skill
	if err := ledger.Decode(res.State, &before); err != nil {
		return ledger.Naming(abi.ObjectSkill, res.ID, err)
	}
	if err := ledger.CheckEnvelope(&before.Envelope, abi.ObjectSkill, res.ID); err != nil {
		return err
	}
	next := *bundled
	next.Envelope = before.Envelope
	next.Metadata = bundled.Metadata
	if same, err := equalJSON(&before, &next); err != nil || same {
		return err
	}
	next.UpdatedAt = abi.At(k.parts.Now())
	_, err := k.parts.Desk.Commit(&desk.Caller{Tenant: t, Actor: desk.HostActor}, "", "", nil, 0, skillRecord(abi.EventSkillUpdated, &next, res.Sequence+1))
	return err
}

// equalJSON reports whether two values are the same JSON.
func equalJSON(a, b any) (bool, error) {
	x, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		return false, fmt.Errorf("encoding what is stored: %w", err)
	}
	y, err := json.Marshal(b, json.Deterministic(true))
	if err != nil {
		return false, fmt.Errorf("encoding what comes with the node: %w", err)
	}
	return bytes.Equal(x, y), nil
}

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// renewPersona makes a bundled Persona that a tenant has what this program says of it:
// what an older one said may be too little for the plugin of this one. A Persona that a
// client has changed stays as it is. A version names a policy, so it alone is no reason.
func (e *Engine) renewPersona(ctx context.Context, t storage.Tenant, res *storage.Resource, bundled *abi.Persona) error {
	var before abi.Persona
	if err := readPersona(res, &before); err != nil {
		return err
	}
	next := *bundled
	next.Envelope = abi.NewEnvelope(abi.ObjectPersona, before.ID, before.CreatedAt, bundled.Metadata)
	next.UpdatedAt, next.Version = before.UpdatedAt, before.Version
	if same, err := equalJSON(&before, &next); err != nil || same {
		return err
	}
	own, err := e.unchanged(ctx, t, res, &before)
	if err != nil || !own {
		return err
	}
	c := &Caller{Tenant: t, Actor: hostActor}
	next.UpdatedAt, next.Version = abi.At(e.now()), bundled.Version
	if err := e.nameVersion(ctx, c, &before, &next, res.Position, false); err != nil {
		return err
	}
	doc, err := e.commit(c, "", "", nil, 0, record{kind: abi.EventPersonaUpdated, object: abi.ObjectPersona, id: next.ID, seq: res.Sequence + 1,
		state: &next, payload: personaPayload{Version: next.Version, Previous: res.Position.String(), Bundled: true}})
	if err != nil {
		return err
	}
	e.tenants.setPersona(owner{t, next.ID}, &persona{Persona: next, text: doc.JSON})
	e.log.Info("a bundled persona was brought up to date", "persona", next.ID, "before", before.Version, "now", next.Version)
	return nil
}

// unchanged reports whether a bundled Persona is as the node has stated it. Where
// retention has removed the event that says so, only one that was never stated again
// is.
func (e *Engine) unchanged(ctx context.Context, t storage.Tenant, res *storage.Resource, p *abi.Persona) (bool, error) {
	ev, err := e.store.Event(ctx, t, res.Position)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrCursorExpired) {
		return p.UpdatedAt.Equal(p.CreatedAt), nil
	}
	if err != nil {
		return false, e.failed("reading the event of persona "+p.ID, err)
	}
	rec := ev.Record()
	if rec.Kind == abi.EventPersonaCreated {
		return true, nil
	}
	var told personaPayload
	if len(rec.Payload) > 0 {
		err = decode(rec.Payload, &told)
	}
	return told.Bundled, err
}

// renewSkill makes a Skill of the node what this program says of it; clients cannot
// change those.
func (e *Engine) renewSkill(t storage.Tenant, res *storage.Resource, bundled *abi.Skill) error {
	var before abi.Skill
	if err := decode(res.State, &before); err != nil {
		return naming(abi.ObjectSkill, res.ID, err)
	}
	if err := checkEnvelope(&before.Envelope, abi.ObjectSkill, res.ID); err != nil {
		return err
	}
	next := *bundled
	next.Envelope = before.Envelope
	if same, err := equalJSON(&before, &next); err != nil || same {
		return err
	}
	next.UpdatedAt = abi.At(e.now())
	_, err := e.commit(&Caller{Tenant: t, Actor: hostActor}, "", "", nil, 0, skillRecord(abi.EventSkillUpdated, &next, res.Sequence+1))
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

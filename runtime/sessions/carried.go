package sessions

import (
	"cmp"
	"context"
	"maps"
	"slices"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/memories"
	"github.com/wharf-dev/wharf/storage"
)

// maxCarriedBytes bounds what a fork of a Session begins with, besides its transcript:
// it is written in the batch that makes the fork.
const maxCarriedBytes = 8 << 20

// carried is what a Session kept at one position of the log, by id.
type carried struct {
	session  string
	states   map[string]jsontext.Value
	memories map[string]abi.Memory
}

// carriedAt reads what a Session kept at a position, up to which all is durable. What
// retention has removed from the log is not carried.
func (k *Keeper) carriedAt(ctx context.Context, c *desk.Caller, s *abi.Session, at desk.Position) (*carried, error) {
	s, err := k.sessionAt(ctx, c, s, at)
	if err != nil {
		return nil, err
	}
	kept := &carried{session: s.ID, states: map[string]jsontext.Value{}, memories: map[string]abi.Memory{}}
	for after, more := desk.Position(0), true; more; {
		var page []storage.Event
		if page, more, err = k.parts.Store.Events(ctx, c.Tenant, desk.Scope{Object: abi.ObjectSession, ID: s.ID}, after, pageOfEvents); err != nil {
			return nil, k.parts.Ledger.Failed("reading what the session kept", err)
		}
		for _, ev := range page {
			if after = ev.Position(); after > at {
				return kept, nil
			}
			if err := kept.note(ev.Record()); err != nil {
				return nil, err
			}
		}
	}
	return kept, nil
}

// sessionAt returns the Session of a fork's lineage that there was at a position.
func (k *Keeper) sessionAt(ctx context.Context, c *desk.Caller, s *abi.Session, at desk.Position) (*abi.Session, error) {
	for s.ParentSessionID != "" {
		res, err := k.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectSession, s.ID)
		if err != nil || res.Origin <= at {
			return s, err
		}
		parent, _, err := desk.Find[abi.Session](ctx, k.parts.Desk, c, abi.ObjectSession, s.ParentSessionID)
		if err != nil {
			return nil, err
		}
		s = &parent
	}
	return s, nil
}

// note takes over what an event states of the Session.
func (k *carried) note(rec *storage.Record) error {
	switch {
	case len(rec.State) == 0:
	case rec.Resource.Object == abi.ObjectState:
		k.states[rec.Resource.ID] = rec.State
	case rec.Resource.Object == abi.ObjectMemory:
		var m abi.Memory
		if err := ledger.Decode(rec.State, &m); err != nil {
			return err
		}
		if m.Scope == abi.MemorySession && m.OwnerID == k.session {
			k.memories[m.ID] = m
		}
	}
	return nil
}

// carriedRecords returns the records by which a fork begins with what was kept. A Memory
// that was redacted since, or has expired, is not brought back.
func (k *Keeper) carriedRecords(ctx context.Context, c *desk.Caller, kept *carried, fork *abi.Session) (records []ledger.Record, err error) {
	size := 0
	for _, id := range slices.Sorted(maps.Keys(kept.states)) {
		state := kept.states[id]
		var set abi.CallStateSetRequest
		if err := ledger.Decode(state, &set); err != nil {
			return nil, err
		}
		size += len(state)
		records = append(records, ledger.Record{Kind: abi.EventStateSet, Object: abi.ObjectState, ID: StateID(fork.ID, set.Key),
			Created: true, Restricted: true, State: state})
	}
	for _, id := range slices.Sorted(maps.Keys(kept.memories)) { // in the order in which they were made
		m, _, err := desk.Find[abi.Memory](ctx, k.parts.Desk, c, abi.ObjectMemory, id)
		if ledger.IsNotFound(err) || err == nil && !memories.Alive(&m, k.parts.Now()) {
			continue
		}
		if err != nil {
			return nil, err
		}
		m = kept.memories[id]
		m.ID, m.OwnerID, m.SessionID = k.parts.IDs.New(abi.ObjectMemory), fork.ID, fork.ID
		if m.Provenance, err = copiedFrom(m.Provenance, id); err != nil {
			return nil, err
		}
		size += len(m.Content)
		records = append(records, ledger.Record{Kind: abi.EventMemoryCreated, Object: abi.ObjectMemory, ID: m.ID, Created: true,
			Restricted: m.Visibility != abi.VisibilityPublic, State: &m})
	}
	if size > maxCarriedBytes {
		return nil, abi.Errorf(abi.CodePayloadTooLarge, "session %s keeps %d bytes of state and memories: a fork takes over %d at most", kept.session, size, maxCarriedBytes)
	}
	return records, nil
}

// copiedFrom adds to a provenance which Memory was copied.
func copiedFrom(provenance jsontext.Value, id string) (jsontext.Value, error) {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal([]byte(cmp.Or(string(provenance), "{}")), &members); err != nil {
		return nil, err
	}
	members["copied_from"] = jsonw.String(nil, id)
	return json.Marshal(members, json.Deterministic(true))
}

package desk

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// What the records of first answers hold: HTTP's statuses, as the first builds wrote them. No
// answer says them; an adapter knows how it answers a write.
const (
	StatusOK        = 200
	StatusCreated   = 201
	StatusAccepted  = 202
	StatusNoContent = 204
)

// Commit writes records of a Session (or, with an empty session, of a
// Workspace), waits for the disk and answers with the first one's resource.
func (d *Desk) Commit(c *Caller, session, workspace string, idem *storage.Idempotency, status int, records ...ledger.Record) (Doc, error) {
	doc, commit, err := d.Append(c, session, workspace, idem, status, records...)
	if err != nil {
		return Doc{}, err
	}
	position, err := d.ledger.Durable(commit)
	if err != nil {
		return Doc{}, err
	}
	if records[0].Object == abi.ObjectSession {
		doc.JSON = withLastEvent(doc.JSON, position+Position(len(records)-1))
	}
	return doc, nil
}

// CommitLasting is [Desk.Commit] for what outlives its Session: once that is erased, the records are the Workspace's.
func (d *Desk) CommitLasting(c *Caller, session, workspace string, idem *storage.Idempotency, status int, records ...ledger.Record) (Doc, error) {
	doc, err := d.Commit(c, session, workspace, idem, status, records...)
	if session == "" || !ledger.IsNotFound(err) {
		return doc, err
	}
	return d.Commit(c, "", workspace, idem, status, records...)
}

// Append is [Desk.Commit] without waiting for the disk.
func (d *Desk) Append(c *Caller, session, workspace string, idem *storage.Idempotency, status int, records ...ledger.Record) (Doc, storage.Commit, error) {
	f := storage.Frame{Tenant: c.Tenant, WorkspaceID: workspace, SessionID: session, Actor: c.Actor}
	state, commit, err := d.ledger.HandOver(f, idem, status, records...)
	if err != nil {
		return Doc{}, nil, err
	}
	return Doc{ID: records[0].ID, JSON: state, Restricted: records[0].Restricted}, commit, nil
}

// CommitNext is [Desk.Commit] for one record, whose sequence is the next of its resource. The
// frame lacks time and records.
func (d *Desk) CommitNext(ctx context.Context, f storage.Frame, idem *storage.Idempotency, status int, rec ledger.Record) (Doc, error) {
	state, err := d.ledger.AppendNext(ctx, f, idem, status, rec)
	if err != nil {
		return Doc{}, err
	}
	return Doc{ID: rec.ID, JSON: state}, nil
}

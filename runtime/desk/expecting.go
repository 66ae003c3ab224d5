package desk

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// CommitExpecting is [Desk.Commit] for records that leave nothing unless something holds when
// they take effect. Then the error holds a *storage.ConflictError.
func (d *Desk) CommitExpecting(c *Caller, session, workspace string, idem *storage.Idempotency, status int,
	expect []storage.Expectation, records ...ledger.Record) (Doc, error) {
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return Doc{}, err
	}
	f := storage.Frame{Tenant: c.Tenant, Time: d.now(), WorkspaceID: workspace, SessionID: session, Actor: c.Actor, Records: encoded}
	b := ledger.Batch(f, idem, status, 0)
	b.Expect = append(b.Expect, expect...)
	doc := Doc{ID: records[0].ID, JSON: encoded[0].State, Restricted: records[0].Restricted}
	position, err := d.ledger.Durable(d.ledger.Append(b))
	if err == nil && records[0].Object == abi.ObjectSession {
		doc.JSON = withLastEvent(doc.JSON, position+Position(len(records)-1))
	}
	return doc, err
}

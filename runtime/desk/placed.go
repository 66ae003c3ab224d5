package desk

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// What follows from elsewhere is not kept in each resource: it is put in when a
// resource is shown, so that those of before have it too, and what a plugin is told
// and a receipt is made from stays as it is.

// Placed returns a stored Message or Outcome with where it belongs
// (docs/protocol.md, 3.3). Any other resource says so itself, and is returned as it is.
func Placed(o abi.Object, state []byte, workspace, session string) []byte {
	switch {
	case len(state) < 2 || o != abi.ObjectMessage && o != abi.ObjectOutcome:
		return state
	case o == abi.ObjectOutcome && session != "":
		state = WithMember(state, "session_id", jsonw.String(nil, session))
	}
	if workspace == "" {
		return state
	}
	return WithMember(state, "workspace_id", jsonw.String(nil, workspace))
}

// ReceiptOf returns the id of the receipt that an event is about, or that was issued with the
// end that the event records; "" for none.
func ReceiptOf(ev Event) string {
	rec := ev.Record()
	if rec.Resource.Object == abi.ObjectReceipt {
		return rec.Resource.ID
	}
	switch rec.Kind {
	case abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled, abi.EventOutcomeCreated,
		abi.EventReplayCompleted, abi.EventReplayFailed:
	default:
		return ""
	}
	for i := range ev.Frame.Records {
		if told := &ev.Frame.Records[i]; told.Kind == abi.EventReceiptIssued {
			return told.Resource.ID
		}
	}
	return ""
}

// receiptOf returns the id of the receipt of the Task that an Artifact was made in.
// One that was made after the Task's end is in no receipt.
func (d *Desk) receiptOf(ctx context.Context, t storage.Tenant, artifact storage.Resource) (string, error) {
	var of owners
	if err := ledger.Decode(artifact.State, &of); err != nil || of.TaskID == "" {
		return "", err
	}
	res, err := d.ledger.Find(ctx, t, abi.ObjectTask, of.TaskID)
	if err != nil || artifact.Origin > res.Position {
		return "", err
	}
	var about struct {
		ReceiptID string `json:"receipt_id"`
	}
	return about.ReceiptID, ledger.Decode(res.State, &about)
}

// withReceipt returns an Artifact with the receipt that it is in.
func withReceipt(artifact []byte, id string) []byte {
	if id == "" {
		return artifact
	}
	return WithMember(artifact, "receipt_id", jsonw.String(nil, id))
}

// sessionOf returns the owners of the Session that a resource belongs to.
func (d *Desk) sessionOf(ctx context.Context, t storage.Tenant, state []byte) (owners, error) {
	var of owners
	if err := ledger.Decode(state, &of); err != nil || of.SessionID == "" {
		return owners{}, err
	}
	return d.ownersOf(ctx, t, abi.ObjectSession, of.SessionID)
}

func (d *Desk) ownersOf(ctx context.Context, t storage.Tenant, o abi.Object, id string) (of owners, err error) {
	res, err := d.ledger.Find(ctx, t, o, id)
	if err != nil {
		return of, err
	}
	return of, ledger.Decode(res.State, &of)
}

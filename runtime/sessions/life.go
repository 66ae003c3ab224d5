package sessions

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// PauseSession has a Session take no new Tasks until it is resumed. Those that it has taken
// already run on.
func (k *Keeper) PauseSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error) {
	return k.changeSession(ctx, c, r, id, func(s *abi.Session) (ledger.Record, error) {
		if s.State != abi.SessionActive && s.State != abi.SessionIdle {
			return ledger.Record{}, abi.Errorf(abi.CodeInvalidStateTransition, "session %s is %s and cannot be paused", id, s.State)
		}
		s.State = abi.SessionPaused
		return ledger.Record{Kind: abi.EventSessionPaused}, nil
	})
}

// ResumeSession has a paused Session take Tasks again.
func (k *Keeper) ResumeSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error) {
	return k.changeSession(ctx, c, r, id, func(s *abi.Session) (ledger.Record, error) {
		if s.State != abi.SessionPaused {
			return ledger.Record{}, abi.Errorf(abi.CodeInvalidStateTransition, "session %s is %s and cannot be resumed", id, s.State)
		}
		s.State = abi.SessionActive
		return ledger.Record{Kind: abi.EventSessionResumed}, nil
	})
}

// DropSession closes a Session, has it shown to nobody any more, frees its references, and has it erased. A retry with
// the key of the first time succeeds, although the Session is gone. admit is asked before anything is written, and what it returns
// is called once that is.
func (k *Keeper) DropSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, admit func(*abi.Session) (release func(), err error)) (desk.Doc, error) {
	// What is gone has no Workspace any more that could scope its Idempotency-Keys.
	return k.parts.Desk.Once(ctx, c, r, "", func(idem *storage.Idempotency) (doc desk.Doc, err error) {
		s, release, err := k.parts.Desk.OpenSession(ctx, c, id)
		if err != nil {
			return desk.Doc{}, err
		}
		defer release()
		err = s.Change(ctx, func(next *abi.Session, sequence uint64) error {
			if !next.DeletedAt.IsZero() {
				return abi.NotFound(abi.ObjectSession, id)
			}
			release, err := admit(next)
			if err != nil {
				return err
			}
			defer release()
			freed, err := k.refs.Free(ctx, c.Tenant, next)
			if err != nil {
				return err
			}
			next.State, next.DeletedAt, next.Refs = abi.SessionClosed, abi.At(k.parts.Now()), nil
			next.UpdatedAt = next.DeletedAt
			rec := ledger.Record{Kind: abi.EventSessionDeleted, Object: abi.ObjectSession, ID: id, Sequence: sequence, State: next}
			history := ledger.Record{Kind: abi.EventHistoryDeleted, Object: abi.ObjectSession, ID: id, Sequence: sequence + 1}
			doc, err = k.parts.Desk.Commit(c, id, next.WorkspaceID, idem, desk.StatusNoContent, append([]ledger.Record{rec, history}, freed...)...)
			return err
		})
		return doc, err
	})
}

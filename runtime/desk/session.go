package desk

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

// OpenSession returns a Session that the caller may see, loaded and acquired.
func (d *Desk) OpenSession(ctx context.Context, c *Caller, id string) (*ledger.Session, func(), error) {
	s, release, err := d.ledger.Open(ctx, ledger.Key{Tenant: c.Tenant, ID: id})
	if err != nil {
		return nil, nil, err
	}
	if !c.Sees(s.Workspace()) {
		release()
		return nil, nil, abi.NotFound(abi.ObjectSession, id)
	}
	return s, release, nil
}

// SessionOpen refuses what a closed Session does not take any more.
func SessionOpen(s *abi.Session) error {
	if s.State == abi.SessionClosed || s.State == abi.SessionFailed {
		return abi.Errorf(abi.CodeConflict, "session %s is %s", s.ID, s.State)
	}
	return nil
}

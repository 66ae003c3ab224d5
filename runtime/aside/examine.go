package aside

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// ExamineTenants reads what a start brings up to date of each tenant: its Personas and Skills, and
// its default Workspace. What cannot be read is left out; the error is one of the store itself.
func (s *Shelf) ExamineTenants(ctx context.Context, tenants []*abi.Tenant) error {
	for _, t := range tenants {
		number := storage.Tenant(t.Number)
		_, err := s.parts.Ledger.Find(ctx, number, abi.ObjectWorkspace, t.DefaultWorkspaceID)
		if ledger.IsUnreadable(err) {
			s.LeaveOut(number, abi.ObjectWorkspace, t.DefaultWorkspaceID, err)
		}
		for _, o := range []abi.Object{abi.ObjectPersona, abi.ObjectSkill} {
			if err := s.examineAll(ctx, number, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Shelf) examineAll(ctx context.Context, tenant storage.Tenant, o abi.Object) error {
	for page := (storage.Page{Limit: 200}); ; {
		list, more, err := s.parts.Store.List(ctx, tenant, o, desk.Scope{}, page)
		if err != nil {
			return fmt.Errorf("listing every %s: %w", o, err)
		}
		for _, res := range list {
			page.After = res.ID
			if err := examine(&res, o); err != nil {
				s.LeaveOut(tenant, o, res.ID, ledger.Naming(o, res.ID, err))
			}
		}
		if !more {
			return nil
		}
	}
}

func examine(res *storage.Resource, o abi.Object) error {
	var of abi.Envelope
	var into any = &abi.Persona{}
	if o == abi.ObjectSkill {
		into = &abi.Skill{}
	}
	if err := ledger.ReadListed(res, into); err != nil {
		return err
	}
	if err := ledger.ReadListed(res, &of); err != nil {
		return err
	}
	return ledger.CheckEnvelope(&of, o, res.ID)
}

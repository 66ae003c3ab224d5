package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Unreadable reads what a start of a node reads, and returns what it would set aside. It
// writes nothing. The error is one of the store itself.
func Unreadable(ctx context.Context, store storage.Store) ([]SetAside, error) {
	e := &Engine{store: store, now: time.Now, log: slog.New(slog.DiscardHandler), answering: answering{calls: abi.HostCallsByName()}}
	e.config = e.config.withDefaults()
	e.furnish(&Parts{})
	for _, read := range []func(context.Context) error{e.LoadTenants, e.book.Load, e.LoadConnectors, e.examinePersonas, e.examineTasks} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	return e.aside.list(), nil
}

// list returns what was set aside, in the order of tenants, kinds and ids.
func (t *asideTable) list() []SetAside {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]SetAside, 0, len(t.all))
	for _, a := range t.all {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b SetAside) int { return strings.Compare(a.key(), b.key()) })
	return list
}

func (a *SetAside) key() string { return fmt.Sprintf("%010d %s %s", a.Tenant, a.Object, a.ID) }

// examinePersonas reads what a start brings up to date: the Personas and Skills of each
// tenant, and its default Workspace.
func (e *Engine) examinePersonas(ctx context.Context) error {
	for _, t := range e.tenants.All() {
		tenant := storage.Tenant(t.Number)
		_, err := e.ledger.Find(ctx, tenant, abi.ObjectWorkspace, t.DefaultWorkspaceID)
		if ledger.IsUnreadable(err) {
			e.leaveOut(tenant, abi.ObjectWorkspace, t.DefaultWorkspaceID, err)
		}
		for _, o := range []abi.Object{abi.ObjectPersona, abi.ObjectSkill} {
			if err := e.examineAll(ctx, tenant, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Engine) examineAll(ctx context.Context, tenant storage.Tenant, o abi.Object) error {
	for page := (storage.Page{Limit: 200}); ; {
		list, more, err := e.store.List(ctx, tenant, o, desk.Scope{}, page)
		if err != nil {
			return fmt.Errorf("listing every %s: %w", o, err)
		}
		for _, res := range list {
			page.After = res.ID
			if err := examine(&res, o); err != nil {
				e.leaveOut(tenant, o, res.ID, ledger.Naming(o, res.ID, err))
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

// examineTasks reads every Task that has not ended, and what it needs to go on.
func (e *Engine) examineTasks(ctx context.Context) error {
	return e.store.Active(ctx, func(tenant storage.Tenant, id string) error {
		about, err := e.activeTask(ctx, tenant, id)
		if err == nil {
			err = e.book.Reenroll(ctx, tenant, about)
		}
		if err == nil && about.Waiting == nil {
			err = e.ledger.CheckSession(ctx, ledger.Key{Tenant: tenant, ID: about.SessionID})
		}
		switch {
		case err == nil:
		case e.ledger.Halted(ctx, err):
			return fmt.Errorf("reading task %s: %w", id, err)
		default:
			e.aside.put(SetAside{Tenant: tenant, Object: abi.ObjectTask, ID: id, Err: ledger.Naming(abi.ObjectTask, id, err)})
		}
		return nil
	})
}

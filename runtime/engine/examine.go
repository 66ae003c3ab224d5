package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// Unreadable reads what a start of a node reads, and returns what it would set aside. It
// writes nothing. The error is one of the store itself.
func Unreadable(ctx context.Context, store storage.Store) ([]SetAside, error) {
	e := &Engine{store: store, now: time.Now, log: slog.New(slog.DiscardHandler), calls: abi.HostCallsByName()}
	e.config = e.config.withDefaults()
	for _, read := range []func(context.Context) error{e.loadTenants, e.loadQuotas, e.loadSources, e.examinePersonas, e.examineTasks} {
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
	for _, t := range e.tenants.all() {
		tenant := storage.Tenant(t.Number)
		_, err := e.find(ctx, tenant, abi.ObjectWorkspace, t.DefaultWorkspaceID)
		if isUnreadable(err) {
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
		list, more, err := e.store.List(ctx, tenant, o, Scope{}, page)
		if err != nil {
			return fmt.Errorf("listing every %s: %w", o, err)
		}
		for _, res := range list {
			page.After = res.ID
			if err := examine(&res, o); err != nil {
				e.leaveOut(tenant, o, res.ID, naming(o, res.ID, err))
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
	if err := readListed(res, into); err != nil {
		return err
	}
	if err := readListed(res, &of); err != nil {
		return err
	}
	return checkEnvelope(&of, o, res.ID)
}

// examineTasks reads every Task that has not ended, and what it needs to go on.
func (e *Engine) examineTasks(ctx context.Context) error {
	return e.store.Active(ctx, func(tenant storage.Tenant, id string) error {
		about, err := e.activeTask(ctx, tenant, id)
		if err == nil {
			err = e.reenroll(ctx, tenant, about)
		}
		if err == nil && about.Waiting == nil {
			err = e.loadSession(ctx, tenant, about.SessionID, &session{})
		}
		switch {
		case err == nil:
		case e.halted(ctx, err):
			return fmt.Errorf("reading task %s: %w", id, err)
		default:
			e.aside.put(SetAside{Tenant: tenant, Object: abi.ObjectTask, ID: id, Err: naming(abi.ObjectTask, id, err)})
		}
		return nil
	})
}

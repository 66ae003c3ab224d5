package desk

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Load reads the resources of one kind that some tenants have, for a keeper that holds them in
// memory, and gives each to use. One that cannot be read is left out, and the log says so.
func Load[T any](ctx context.Context, p Parts, tenants []*abi.Tenant, o abi.Object, use func(storage.Tenant, *T)) error {
	for _, t := range tenants {
		if err := load(ctx, p, storage.Tenant(t.Number), o, use); err != nil {
			return p.Ledger.Failed("reading every "+string(o), err)
		}
	}
	return nil
}

func load[T any](ctx context.Context, p Parts, t storage.Tenant, o abi.Object, use func(storage.Tenant, *T)) error {
	for page, more := (storage.Page{Limit: 100}), true; more; {
		list, rest, err := p.Store.List(ctx, t, o, Scope{}, page)
		if err != nil {
			return err
		}
		for _, res := range list {
			page.After = res.ID
			about := new(T)
			if err := ledger.ReadListed(&res, about); err != nil {
				cmp.Or(p.Log, slog.Default()).Warn("what is stored cannot be read, and is left out", string(o), res.ID, "error", err)
				continue
			}
			use(t, about)
		}
		more = rest
	}
	return nil
}

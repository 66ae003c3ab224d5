package main

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/storage"
)

// examineStart adds what a start of the node would set aside, because it cannot be read.
// A node that starts without something is not well, however sound its log is.
func (e *examination) examineStart(ctx context.Context, store storage.Store) error {
	found, err := engine.Unreadable(ctx, store)
	if err != nil {
		return fmt.Errorf("reading what a start reads: %w", err)
	}
	e.SetAside = make([]string, 0, len(found))
	for _, a := range found {
		e.SetAside = append(e.SetAside, fmt.Sprintf("tenant %d: %s %s: %v", a.Tenant, a.Object, a.ID, a.Err))
	}
	e.OK = e.OK && len(found) == 0
	return nil
}

// showSetAside lists what a start would set aside.
func (a *app) showSetAside(e *examination) {
	if len(e.SetAside) == 0 {
		return
	}
	a.out.Line(a.out.Paint(show.Red, fmt.Sprintf("%d resources cannot be read: a node starts without them", len(e.SetAside))))
	for _, s := range e.SetAside {
		a.out.Line("  ", show.OneLine(s))
	}
}

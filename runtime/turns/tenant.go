package turns

import "context"

// tenant is a context that says whose work is done.
type tenant struct {
	context.Context
	number uint64
}

type tenantKey struct{}

// PlacedKey is the key of a context's value that is true while whoever has the context has
// a place.
type PlacedKey struct{}

// For returns a context for the work of the tenant with that number; 0 is nobody's.
func For(ctx context.Context, number uint64) context.Context { return &tenant{ctx, number} }

// Value implements [context.Context].
func (t *tenant) Value(key any) any {
	if key == (tenantKey{}) {
		return t
	}
	return t.Context.Value(key)
}

func tenantOf(ctx context.Context) uint64 {
	if t, ok := ctx.Value(tenantKey{}).(*tenant); ok {
		return t.number
	}
	return 0
}

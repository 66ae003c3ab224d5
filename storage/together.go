package storage

import (
	"context"
	"sync"
)

type togetherKey struct{}

// together is what an engine keeps during one reading.
type together struct {
	once sync.Once
	kept any
}

// Together returns a context for reading several resources of one tenant that were written together: an
// engine reads once what they share, and keeps some of it as long as the context is used. So it is for one
// answer to a caller, and not for a stream. What is read is the same with it and without.
func Together(ctx context.Context) context.Context {
	if ctx.Value(togetherKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, togetherKey{}, &together{})
}

// KeptTogether returns what the engine keeps in a context of [Together], which begins as first returns it;
// in any other context that is for one call alone.
func KeptTogether(ctx context.Context, first func() any) any {
	t, ok := ctx.Value(togetherKey{}).(*together)
	if !ok {
		return first()
	}
	t.once.Do(func() { t.kept = first() })
	return t.kept
}

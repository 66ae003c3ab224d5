package storage

import "context"

// Holder hears of large values before they are read into memory. When it returns an error, the
// value is not read.
type Holder interface {
	Hold(ctx context.Context, bytes int64) error
}

// HolderKey is the context key under which reads find their [Holder].
type HolderKey struct{}

// WithHolder returns a context whose reads tell h what they read.
func WithHolder(ctx context.Context, h Holder) context.Context {
	return context.WithValue(ctx, HolderKey{}, h)
}

// Hold tells the Holder of ctx, if it has one, how many bytes are about to be read.
func Hold(ctx context.Context, bytes int64) error {
	if h, ok := ctx.Value(HolderKey{}).(Holder); ok {
		return h.Hold(ctx, bytes)
	}
	return nil
}

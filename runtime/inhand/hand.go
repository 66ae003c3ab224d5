package inhand

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// Small is the largest document that takes nothing.
	Small = 256 << 10
	// patience is how long a request waits for its share.
	patience = 10 * time.Second
)

// ErrLater is what a Hand that does not wait says when there is no room for its share.
var ErrLater = errors.New("there is no room for a large document now")

// Kind says what a Hand does when there is no room for its share.
type Kind int

const (
	Counts Kind = iota // counts what it holds and goes on: it may hold a lock
	Waits              // waits a while, and is then told that the node is crowded
	Defers             // gets ErrLater, and asks again with [Hand.Later]
	Stays              // waits for as long as its context lasts
)

// Hand is what one request or run holds of a Budget. It implements [storage.Holder] and is
// safe for concurrent use. The zero value, and one of a nil Budget, hold nothing.
type Hand struct {
	budget *Budget
	tenant storage.Tenant
	copies int64
	kind   Kind

	wants int64 // that it got ErrLater for

	mu    sync.Mutex
	held  int64
	ended bool
}

// Key is the key of a context's value by which reads find the hand they read into.
type Key = storage.HolderKey

var _ storage.Holder = (*Hand)(nil)

// Into returns a context whose reads tell h of what is large before they read it.
func Into(ctx context.Context, h storage.Holder) context.Context {
	return storage.WithHolder(ctx, h)
}

// Init makes h an empty hand. Each document that is put in it is held so many times.
func (h *Hand) Init(b *Budget, t storage.Tenant, copies int64, kind Kind) {
	h.budget, h.tenant, h.copies, h.kind = b, t, copies, kind
}

// Hold implements [storage.Holder]: it takes a share for a document of so many bytes.
func (h *Hand) Hold(ctx context.Context, bytes int64) error {
	if h == nil || h.budget == nil || bytes <= Small {
		return nil
	}
	share := h.budget.share(bytes * h.copies)
	if h.kind != Counts && !h.Holds() {
		return h.first(ctx, share)
	}
	if h.more(share) {
		h.budget.add(h.tenant, share)
	}
	return nil
}

// more counts bytes that h holds, unless it has ended.
func (h *Hand) more(bytes int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return false
	}
	h.held += bytes
	return true
}

// first takes the share for a hand that is empty, which alone may wait.
func (h *Hand) first(ctx context.Context, share int64) error {
	switch h.kind {
	case Defers:
		return h.try(share)
	case Waits:
		short, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		ctx = short
	}
	if err := h.budget.take(ctx, h.tenant, share); err != nil {
		return h.refused(err)
	}
	if !h.more(share) {
		h.budget.add(h.tenant, -share)
	}
	return nil
}

// refused is what becomes of a hand that had to wait for too long.
func (h *Hand) refused(err error) error {
	if h.kind != Waits {
		return err
	}
	crowded := abi.Errorf(abi.CodeServiceUnavailable, "the node has too many large documents in hand at once")
	crowded.RetryAfter = 1
	return crowded
}

func (h *Hand) try(share int64) error {
	if leave := h.budget.enter(h.tenant, share, func() {}); leave() {
		h.wants = share
		return ErrLater
	}
	h.more(share)
	return nil
}

// Begin makes h one that counts and goes on: what has begun cannot ask again. It may be
// called on nil.
func (h *Hand) Begin() {
	if h != nil {
		h.kind = Counts
	}
}

// Later calls then once h holds the share that it got ErrLater for. Until then nothing
// else is done with h.
func (h *Hand) Later(then func()) {
	h.budget.enter(h.tenant, h.wants, func() {
		h.more(h.wants)
		then()
	})
}

// Keep gives back all but what one document of so many bytes takes that is held once, and
// counts that if h holds less.
func (h *Hand) Keep(bytes int64) {
	if h.budget == nil {
		return
	}
	if bytes <= Small {
		bytes = 0
	}
	h.budget.add(h.tenant, h.become(h.budget.share(bytes), false))
}

// Holds reports whether h holds anything.
func (h *Hand) Holds() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held > 0
}

// End gives everything back. A hand that has ended takes nothing. It may be called again,
// and on nil.
func (h *Hand) End() {
	if h != nil && h.budget != nil {
		h.budget.add(h.tenant, h.become(0, true))
	}
}

// become changes what h holds, and returns by how much.
func (h *Hand) become(bytes int64, ended bool) (by int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return 0
	}
	by = bytes - h.held
	h.held, h.ended = bytes, ended
	return by
}

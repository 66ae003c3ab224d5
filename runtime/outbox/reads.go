package outbox

import (
	"context"

	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// keptReads is of how many queues the log keeps what they have read last.
const keptReads = 16

// reads are the contexts in which the busiest queues read what they send: of events that were written
// together each is sent by itself, and their frame is read once. It is safe for concurrent use; the zero
// value is ready.
type reads struct {
	mu   lockrank.Mutex[lockrank.Table]
	kept []queueReads // the one that was used last is last
}

type queueReads struct {
	of  ledger.Key
	ctx context.Context
}

// in returns the context in which a queue reads.
func (r *reads) in(ctx context.Context, of ledger.Key) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, kept := range r.kept {
		if kept.of == of {
			copy(r.kept[i:], r.kept[i+1:])
			r.kept[len(r.kept)-1] = kept
			return kept.ctx
		}
	}
	if len(r.kept) == keptReads {
		copy(r.kept, r.kept[1:])
		r.kept = r.kept[:keptReads-1]
	}
	r.kept = append(r.kept, queueReads{of, storage.Together(ctx)})
	return r.kept[len(r.kept)-1].ctx
}

// forget drops what a queue has read, which has nothing more to send.
func (r *reads) forget(of ledger.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, kept := range r.kept {
		if kept.of == of {
			r.kept = append(r.kept[:i], r.kept[i+1:]...)
			return
		}
	}
}

package pebble

import (
	"context"
	"sync"

	"github.com/wharf-dev/wharf/storage"
)

// frames are those that were read last on the way through several resources: what was stated together is
// taken out of them. They belong to one reading. They are safe for concurrent use; the zero value is ready.
type frames struct {
	mu   sync.Mutex
	kept [4]framed // the newest first
}

// framed is a frame as the log has it, which does not change: nobody may change it.
type framed struct {
	tenant storage.Tenant
	frame  *storage.Frame // nil for none
	refs   outline        // those of its values that are blobs, and were not read
}

// mostKept is how large a frame is that is kept beside others, in bytes. A larger one is kept alone, up
// to mostAlone.
const (
	mostKept  = 64 << 10
	mostAlone = 4 << 20
)

// framesOf returns what was read so far in a context.
func framesOf(ctx context.Context) *frames {
	f, ok := storage.KeptTogether(ctx, func() any { return &frames{} }).(*frames)
	if !ok { // another engine's
		return &frames{}
	}
	return f
}

// at returns the frame at a position.
func (in *frames) at(s *Store, t storage.Tenant, first storage.Position) (*storage.Frame, outline, error) {
	if f := in.find(t, first); f.frame != nil {
		return f.frame, f.refs, nil
	}
	text, err := s.frameText(t, first)
	if err != nil {
		return nil, nil, err
	}
	f, refs, err := decodeFrame(t, first, text)
	if err != nil {
		return nil, nil, err
	}
	in.keep(framed{t, f, refs}, len(text))
	return f, refs, nil
}

func (in *frames) find(t storage.Tenant, first storage.Position) framed {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, f := range in.kept {
		if f.frame != nil && f.tenant == t && f.frame.First == first {
			return f
		}
	}
	return framed{}
}

// with returns the frame with an event, if it is kept with all of its values; nil otherwise.
func (in *frames) with(t storage.Tenant, p storage.Position) *storage.Frame {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, f := range in.kept {
		if f.frame != nil && f.tenant == t && len(f.refs) == 0 && f.frame.First <= p && p <= lastOf(f.frame) {
			return f.frame
		}
	}
	return nil
}

func (in *frames) keep(f framed, size int) {
	if size > mostAlone {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if size > mostKept {
		in.kept = [4]framed{f}
		return
	}
	copy(in.kept[1:], in.kept[:])
	in.kept[0] = f
}

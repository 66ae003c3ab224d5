package api

import (
	"context"
	"hash/maphash"
	"sync/atomic"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

const (
	// MaxCounted is up to where the Messages of a Session are counted.
	MaxCounted = 1000
	// countedAtOnce is how many are read at once, and again when the Session has changed.
	countedAtOnce = 50
	// keptCounts is of how many Sessions the counts are kept.
	keptCounts = 1 << 13
)

// counted is how many Messages a Session has, and from where to count again.
type counted struct {
	tenant  uint64
	session string
	event   string // the newest event of the Session when it was counted
	said    int
	more    bool
	from    before
}

// before is what was counted before some Message of a transcript. A transcript loses Messages at its
// end alone, so that all before one that is there is as it was.
type before struct {
	after   string // the cursor that leads to the Message
	message string
	said    int
	read    int
}

// countCache keeps the counts of some Sessions. It is safe for concurrent use.
type countCache struct {
	seed  maphash.Seed
	slots []atomic.Pointer[counted]
}

func newCountCache(n int) *countCache {
	return &countCache{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[counted], n)}
}

func (c *countCache) slot(session string) *atomic.Pointer[counted] {
	return &c.slots[maphash.String(c.seed, session)%uint64(len(c.slots))]
}

// Said counts the Messages of a Session, which the caller was shown, without those in which tools
// answer. It reads at most [MaxCounted] of them all, and says whether there are more; of a Session that was
// counted before it reads none when nothing has happened in it, and else what is new.
func (a *API) Said(ctx context.Context, c *Caller, s *abi.Session) (n int, more bool, err error) {
	slot := a.counts.slot(s.ID)
	known := slot.Load()
	if known == nil || known.session != s.ID || known.tenant != uint64(c.Tenant) {
		known = &counted{tenant: uint64(c.Tenant), session: s.ID}
	}
	if known.event != "" && known.event == s.LastEventID {
		return known.said, known.more, nil
	}
	next := *known
	whole, err := a.countOn(ctx, c, &next)
	if err == nil && !whole { // what was counted is there no more
		next.from = before{}
		_, err = a.countOn(ctx, c, &next)
	}
	if ledger.IsNotFound(err) { // it was deleted since it was shown
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	next.event = s.LastEventID
	slot.Store(&next)
	return next.said, next.more, nil
}

// countOn counts what a transcript has from where it was counted before. It reports false when
// the transcript has lost that.
func (a *API) countOn(ctx context.Context, c *Caller, k *counted) (bool, error) {
	at := k.from
	k.said = at.said
	for after, read := at.after, at.read; ; {
		list, err := a.core.Messages(ctx, c, k.session, desk.Page{After: after, Limit: min(countedAtOnce, MaxCounted-read)})
		if err != nil {
			return false, err
		}
		first := ""
		if len(list.Docs) > 0 {
			first = list.Docs[0].ID
		}
		if at.message != "" && after == at.after && first != at.message {
			return false, nil
		}
		if first != "" {
			k.from = before{after: after, message: first, said: k.said, read: read}
		}
		k.said, k.more = k.said+saidIn(list.Docs), list.More
		if read += len(list.Docs) + len(list.Unreadable); !list.More || read >= MaxCounted {
			return true, nil
		}
		after = list.Next
	}
}

// saidIn counts the Messages in which no tool answers.
func saidIn(docs []desk.Doc) (n int) {
	for _, doc := range docs {
		var m struct {
			Role abi.Role `json:"role"`
		}
		if json.Unmarshal(doc.JSON, &m) == nil && m.Role != abi.RoleTool {
			n++
		}
	}
	return n
}

package storagetest

import (
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

func transcriptTests() []test {
	return []test{
		{"a transcript is read from both ends", bothEnds},
		{"a truncated transcript ends earlier, and goes on", truncated},
		{"a copy has what was handed over just before", copied},
	}
}

// transcript returns where the Messages of a Session are, read in pages from either end.
func (h *harness) transcript(session string, limit int, newest bool) (all []storage.Position) {
	h.Helper()
	p := storage.Page{Limit: limit, Newest: newest}
	for more := true; more; {
		var list []storage.Resource
		var err error
		if list, more, err = h.store.Transcript(ctx, 1, session, p); err != nil || len(list) > limit || more && len(list) == 0 {
			h.Fatalf("Transcript: %d, %v, %v", len(list), more, err)
		}
		for _, m := range list {
			if m.Err != nil || m.State == nil {
				h.Fatalf("Message %s: %v", m.ID, m.Err)
			}
			p.After = m.Origin.String()
			all = append(all, m.Origin)
		}
	}
	return all
}

// wantTranscript checks a transcript in all directions, and its turns.
func (h *harness) wantTranscript(session string, want ...storage.Position) {
	h.Helper()
	reversed := slices.Clone(want)
	slices.Reverse(reversed)
	for _, limit := range []int{1, 2, 100} {
		if got := h.transcript(session, limit, false); !slices.Equal(got, want) {
			h.Errorf("%s, %d at a time: %v, want %v", session, limit, got, want)
		}
		if got := h.transcript(session, limit, true); !slices.Equal(got, reversed) {
			h.Errorf("%s from its end, %d at a time: %v, want %v", session, limit, got, reversed)
		}
	}
	for n := range len(want) + 1 {
		p, ok, err := h.store.Turn(ctx, 1, session, n)
		if err != nil || ok != (n < len(want)) || ok && p != want[n] {
			h.Errorf("turn %d of %s is %s, %v, %v", n, session, p, ok, err)
		}
	}
}

func bothEnds(h *harness) {
	session := id(abi.ObjectSession, 1)
	h.wantTranscript(session)
	var want []storage.Position
	for n := range 7 {
		want = append(want, h.append(submit(n)))
	}
	h.wantTranscript(session, want...)
	h.crash()
	h.wantTranscript(session, want...)
	h.wantTranscript(id(abi.ObjectSession, 2))
	_, _, err := h.store.Transcript(ctx, 1, session, storage.Page{After: "x", Limit: 1})
	h.want("a page after what is no position", err, storage.ErrNotFound)
}

// truncate returns a batch that drops a Session's Messages from a position on.
func truncate(session string, from storage.Position) *storage.Batch {
	b := frame(0, "", storage.Record{Kind: abi.EventSessionTruncated, Resource: pointer(abi.ObjectSession, session), State: state(session, 1),
		Transcript: storage.TranscriptOp{Kind: storage.TranscriptTruncate, At: from}})
	b.Frame.SessionID = session
	return b
}

// fork returns a batch that makes a Session with the Messages of Session 1 up to a position.
func fork(session string, upTo storage.Position) *storage.Batch {
	b := frame(0, "", storage.Record{Kind: abi.EventSessionCreated, Resource: pointer(abi.ObjectSession, session), Created: true, State: state(session, 0),
		Transcript: storage.TranscriptOp{Kind: storage.TranscriptCopy, From: id(abi.ObjectSession, 1), At: upTo}})
	b.Frame.SessionID = session
	return b
}

func truncated(h *harness) {
	session := id(abi.ObjectSession, 1)
	for n := range 4 {
		h.store.Append(submit(n)) // Messages at 1, 3, 5 and 7
	}
	h.store.Append(truncate(session, 4)) // 9
	h.append(submit(5))                  // 10
	h.wantTranscript(session, 1, 3, 10)
	h.crash()
	h.wantTranscript(session, 1, 3, 10)
	h.append(truncate(session, 0))
	h.wantTranscript(session)
	h.sound()
}

func copied(h *harness) {
	session := id(abi.ObjectSession, 2)
	for n := range 3 {
		h.store.Append(submit(n)) // Messages at 1, 3 and 5
	}
	h.store.Append(fork(session, 3))
	h.store.Append(truncate(id(abi.ObjectSession, 1), 0))
	b := submit(4) // 9
	b.Frame.SessionID = session
	h.append(b)
	h.wantTranscript(session, 1, 3, 9)
	h.wantTranscript(id(abi.ObjectSession, 1))
	h.crash()
	h.wantTranscript(session, 1, 3, 9)
	h.sound()
}

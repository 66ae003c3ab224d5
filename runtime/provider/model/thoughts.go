package model

import "time"

// How thoughts are told: so that there are not as many events as pieces, and not more than anybody
// reads of a server that thinks without end.
const (
	thoughtPause = 100 * time.Millisecond // between two pieces
	thoughtPiece = 16 << 10               // bytes that do not wait
	maxThoughts  = 1 << 20                // bytes of an attempt; what comes beyond is dropped
)

// thoughts takes what a model thinks in one attempt, piece by piece, and tells watchers in larger ones,
// without the key. It is no part of the answer. A nil one takes nothing.
type thoughts struct {
	tell  func(string)
	now   func() time.Time
	runes runeFilter
	keys  keyFilter
	kept  []byte
	last  time.Time // when it told
	took  int
}

// thoughtsOf returns what tells the thoughts of one further attempt; nil when the model is not to think aloud.
func thoughtsOf(a *ask, thinks *watcher) *thoughts {
	if a.thinking == 0 || !thinks.on {
		return nil
	}
	return &thoughts{tell: thinks.attempt(), now: time.Now, keys: keyFilter{key: a.key}}
}

// write takes the next piece.
func (t *thoughts) write(piece string) {
	if t == nil || piece == "" || t.took >= maxThoughts {
		return
	}
	t.took += len(piece)
	t.kept = append(t.kept, t.keys.write(t.runes.write(piece))...)
	if now := t.now(); len(t.kept) >= thoughtPiece || now.Sub(t.last) >= thoughtPause {
		t.flush()
		t.last = now
	}
}

// flush tells what waits: something else comes now.
func (t *thoughts) flush() {
	if t == nil || len(t.kept) == 0 {
		return
	}
	t.tell(string(t.kept))
	t.kept = t.kept[:0]
}

// close takes the end of the attempt.
func (t *thoughts) close() {
	if t == nil {
		return
	}
	t.kept = append(t.kept, t.keys.write(t.runes.close())+t.keys.close()...)
	t.flush()
}

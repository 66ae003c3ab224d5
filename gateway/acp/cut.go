package acp

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// piece is what a session has of a Session: of its own, which is the last piece, all, and of those that
// it was forked from the events up to the fork.
type piece struct {
	session string
	until   api.Cursor // 0: all
}

// dropped is the parts of the log whose turns were dropped when a Session was truncated. Whoever loads the
// session is not told them.
type dropped struct {
	parts []part
	// settings are the events in them that are no turns: of what the Session is called, and the like.
	settings map[api.Cursor]bool
}

// part is the events between two, without both.
type part struct{ after, before api.Cursor }

func (d *dropped) has(at api.Cursor) bool {
	within := func(p part) bool { return at > p.after && at < p.before }
	return slices.ContainsFunc(d.parts, within) && !d.settings[at]
}

// uncut is told without what was dropped. What was is found out when the first thing is to be told, for
// who is told nothing of before does not need it.
func (o *opened) uncut(ctx context.Context, pieces []piece, told func(mark) bool) func(mark) bool {
	var found *dropped
	return func(m mark) bool {
		if !told(m) {
			return false
		}
		if found == nil {
			found = o.findDropped(ctx, pieces)
		}
		return !found.has(m.event)
	}
}

// findDropped reads the log once for itself, and keeps of it where the turns are that were there at each
// time.
func (o *opened) findDropped(ctx context.Context, pieces []piece) *dropped {
	t := transcript{dropped: dropped{settings: map[api.Cursor]bool{}}}
	for _, p := range pieces {
		stream, err := o.conn.adapter.core.Follow(ctx, o.caller, api.Filter{SessionID: p.session}, 0)
		if err != nil {
			continue // then nothing of it is told
		}
		t.read(ctx, stream, p.until)
		stream.Close()
	}
	return &t.dropped
}

// transcript is where the turns of a session are in the log, and what was dropped of them.
type transcript struct {
	turns   []api.Cursor
	dropped dropped
}

func (t *transcript) read(ctx context.Context, s *api.Stream, until api.Cursor) {
	for {
		entries, err := s.Poll(ctx, func() {})
		if err != nil || len(entries) == 0 {
			return
		}
		for _, entry := range entries {
			if until != 0 && entry.At() > until {
				return
			}
			t.take(entry)
		}
	}
}

func (t *transcript) take(entry api.Entry) {
	switch entry.Kind() {
	case abi.EventUserMessage, abi.EventAgentMessage, abi.EventSessionMessageAppended:
		t.turns = append(t.turns, entry.At())
	case abi.EventSessionUpdated:
		t.dropped.settings[entry.At()] = true
	case abi.EventSessionTruncated:
		var of abi.Truncated
		if json.Unmarshal(entry.Show().Payload(), &of) == nil {
			t.keep(of.KeepTurns, entry.At())
		}
	}
}

// keep drops what comes after so many turns: with them the calls and the pieces of text that have led to
// the first that is dropped.
func (t *transcript) keep(turns int, at api.Cursor) {
	if turns < 0 || turns >= len(t.turns) {
		return
	}
	last := api.Cursor(0)
	if turns > 0 {
		last = t.turns[turns-1]
	}
	t.turns = t.turns[:turns]
	t.dropped.parts = append(t.dropped.parts, part{last, at})
}

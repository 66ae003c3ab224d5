package blocks

import (
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/memories"
	"github.com/wharf-dev/wharf/runtime/ranking"
)

// The bounds of a search.
const (
	maxQuery = 1000 // characters
	maxFound = 100
)

// Search asks what a Persona knows.
type Search struct {
	Query   string // any word of it may be in what is found
	Archive bool   // the archive is searched, too
	Limit   int    // at most so many are found; 0 for 10
}

// Found is a block, or an entry of the archive, that fits a query.
type Found struct {
	Label string // of a block; "" for an entry
	Text  string
	Score float64 // from 0 to 1
}

// SearchMemory returns what a Persona knows that fits a query, the best first: of its blocks, and of
// as many of its archive's entries as [memories.Keeper.Archive] returns.
func (k *Keeper) SearchMemory(ctx context.Context, c *desk.Caller, persona string, s Search) ([]Found, error) {
	s.Limit = cmp.Or(s.Limit, 10)
	if n := utf8.RuneCountInString(s.Query); n < 1 || n > maxQuery {
		return nil, abi.InvalidParam("query", "query has 1 to %d characters", maxQuery)
	}
	if s.Limit < 1 || s.Limit > maxFound {
		return nil, abi.InvalidParam("limit", "limit is 1 to %d", maxFound)
	}
	all, err := k.searched(ctx, c, persona, s.Archive)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].Text
	}
	for i, score := range ranking.Scores(s.Query, texts) {
		all[i].Score = score
	}
	all = slices.DeleteFunc(all, func(f Found) bool { return f.Score == 0 })
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Compare(b.Score, a.Score) })
	return all[:min(s.Limit, len(all))], nil
}

// searched returns what a search looks at.
func (k *Keeper) searched(ctx context.Context, c *desk.Caller, persona string, archive bool) (all []Found, err error) {
	m, err := k.of(ctx, c, persona)
	if err != nil {
		return nil, err
	}
	for _, b := range m.Blocks {
		all = append(all, Found{Label: b.Label, Text: b.Value})
	}
	if !archive {
		return all, nil
	}
	entries, err := k.Archive(ctx, c, persona)
	for i := range entries {
		all = append(all, Found{Text: memories.TextOf(&entries[i])})
	}
	return all, err
}

// ArchiveOf returns the entries of a Persona's archive, newest first: as many as
// [memories.Keeper.Archive] does.
func (k *Keeper) ArchiveOf(ctx context.Context, c *desk.Caller, persona string) ([]abi.Memory, error) {
	if _, err := k.of(ctx, c, persona); err != nil {
		return nil, err
	}
	return k.Archive(ctx, c, persona)
}

package tool

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
)

// kept is a list of what a server has, kept until the server says that it has changed. It
// goes with its connection. It is safe for concurrent use; the zero value is ready.
type kept[T any] struct {
	mu      sync.Mutex
	items   []T         // nil when they are not known
	changes int         // how often the server said that they changed
	asked   *listing[T] // that is under way; nil for none
}

// listing is a list that is being read, for all who wait for it.
type listing[T any] struct {
	done  chan struct{} // closed when the rest is set
	items []T
	err   error
}

// ask returns the listing that is under way, and whether the caller has to begin it.
func (k *kept[T]) ask() (asked *listing[T], first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked != nil {
		return k.asked, false
	}
	k.asked = &listing[T]{done: make(chan struct{})}
	return k.asked, true
}

func (k *kept[T]) answered(asked *listing[T], items []T, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	asked.items, asked.err = items, err
	k.asked = nil
	close(asked.done)
}

func (k *kept[T]) known() []T {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.items
}

func (k *kept[T]) version() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes
}

// keep keeps a list, unless the server has changed it while it was read.
func (k *kept[T]) keep(items []T, version int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changes == version {
		k.items = items
	}
}

func (k *kept[T]) changed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.items = nil
	k.changes++
}

// listed returns a list of a server: as it is kept, or asked for by read.
func listed[T any](ctx context.Context, m *MCP, of func(*link) *kept[T], read func(context.Context, *link) ([]T, error)) ([]T, error) {
	l, err := m.connected(ctx)
	if err != nil {
		return nil, err
	}
	k := of(l)
	if items := k.known(); items != nil {
		return items, nil
	}
	asked, first := k.ask()
	if first {
		go answerAll(m, l, k, asked, read)
	}
	select {
	case <-asked.done:
		return asked.items, asked.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answerAll reads a list for all who wait for it. It belongs to none of them.
func answerAll[T any](m *MCP, l *link, k *kept[T], asked *listing[T], read func(context.Context, *link) ([]T, error)) {
	a := &answering{budget: m.config.Budget}
	defer a.end()
	ctx, cancel := context.WithTimeout(context.WithValue(m.life, answeringKey{}, a), limitsOf(m).Timeout)
	defer cancel()
	version := k.version()
	items, err := read(ctx, l)
	if err != nil {
		err = m.failed(ctx, l, err)
	} else {
		k.keep(items, version)
	}
	k.answered(asked, items, err)
}

// pages reads the pages of a list of something, as far as there is room for them.
func (m *MCP) pages(what string, read func(cursor string) (next string, full bool, err error)) error {
	cursor := ""
	for page := 1; ; page++ {
		next, full, err := read(cursor)
		switch {
		case err != nil || next == "":
			return err
		case full || page == maxPages || next == cursor:
			m.log.Warn("a server has more than is taken", "what", what, "pages", page)
			return nil
		}
		cursor = next
	}
}

// taken is what of a list is offered to plugins.
type taken[T any] struct {
	log   *slog.Logger
	what  string // one of them, for the log
	items []T
	names map[string]bool
	bytes int
	full  bool
}

func newTaken[T any](log *slog.Logger, what string) *taken[T] {
	return &taken[T]{log: log, what: what, items: []T{}, names: map[string]bool{}}
}

// take takes an item of so many bytes, or says in the log why not. wrong says what is wrong
// with it.
func (k *taken[T]) take(item T, name string, size int, wrong error) {
	if len(k.items) == maxListed || k.bytes+size > maxListing {
		k.full = true
		return
	}
	if wrong == nil && k.names[name] {
		wrong = fmt.Errorf("the server has two of the name %q", name)
	}
	if wrong != nil {
		k.log.Warn("what a server lists is not offered", "what", k.what, "error", wrong)
		return
	}
	k.names[name], k.bytes = true, k.bytes+size
	k.items = append(k.items, item)
}

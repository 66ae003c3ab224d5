package desk

import (
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
)

// places are Workspaces that were found: each write in one asks for it. No Workspace is ever deleted,
// so what is remembered stays true; it only saves reads, and is bounded. It is safe for concurrent use.
type places struct {
	mu    lockrank.RWMutex[lockrank.Table]
	found map[ledger.Key]struct{}
}

// maxPlaces bounds what is remembered: some 100 bytes each.
const maxPlaces = 10_000

func (p *places) has(key ledger.Key) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	_, found := p.found[key]
	return found
}

func (p *places) put(key ledger.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil || len(p.found) >= maxPlaces {
		p.found = map[ledger.Key]struct{}{}
	}
	p.found[key] = struct{}{}
}

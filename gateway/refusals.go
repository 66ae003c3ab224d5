package gateway

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	// refusedClients is of how many clients refusals are told apart, and refusedEvery how often
	// those are counted together that came after the first.
	refusedClients = 1024
	refusedEvery   = time.Minute
)

// refusals logs that clients were refused: the first time at once, and then how often within each
// interval, so that who guesses at credentials floods neither the log nor the memory. It is safe for
// concurrent use.
type refusals struct {
	log *slog.Logger

	mu     sync.Mutex
	again  map[netip.Prefix]int // by client: how often after its first line
	others int                  // of clients beyond those
	timer  *time.Timer          // nil while there is nothing to count
}

// note tells of a refusal; attrs is called if it is the first of its client.
func (f *refusals) note(client net.IP, attrs func() []slog.Attr) {
	from := network(client)
	if !f.first(from) {
		return
	}
	f.log.LogAttrs(context.Background(), slog.LevelWarn, "access refused", append([]slog.Attr{slog.String("client", client.String())}, attrs()...)...)
}

// first reports whether a client was not refused before in this interval, and counts it.
func (f *refusals) first(from netip.Prefix) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer == nil {
		f.again = map[netip.Prefix]int{}
		f.timer = time.AfterFunc(refusedEvery, f.tell)
	}
	n, known := f.again[from]
	switch {
	case known:
		f.again[from] = n + 1
	case len(f.again) == refusedClients:
		f.others++
	default:
		f.again[from] = 0
		return true
	}
	return false
}

// tell logs what was counted, and begins anew.
func (f *refusals) tell() {
	f.mu.Lock()
	again, others := f.again, f.others
	if f.timer != nil {
		f.timer.Stop()
	}
	f.again, f.others, f.timer = nil, 0, nil
	f.mu.Unlock()
	for from, n := range again {
		if n > 0 {
			f.log.Warn("access refused again", "client", shownNetwork(from), "times", n, "within", refusedEvery.String())
		}
	}
	if others > 0 {
		f.log.Warn("access refused to many more clients", "times", others, "within", refusedEvery.String())
	}
}

// network returns what is taken for one client: an address, or all of those that a client has of
// version 6.
func network(client net.IP) netip.Prefix {
	addr, _ := netip.AddrFromSlice(client)
	addr = addr.Unmap()
	if addr.Is6() {
		whole, _ := addr.Prefix(64)
		return whole
	}
	return netip.PrefixFrom(addr, addr.BitLen())
}

func shownNetwork(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

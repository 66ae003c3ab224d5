package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alone"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/runtime/spelling"
)

// granted is what an author lets a run reach.
type granted struct {
	live  map[string]alone.Live
	close func()
}

// httpMethods are those that a grant may name.
var httpMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// readGrants reads what --grant says. The caller closes it.
func readGrants(grants []string, plugin string) (*granted, error) {
	g := &granted{live: map[string]alone.Live{}, close: func() {}}
	var hosts []web.Grant
	for _, grant := range grants {
		call, what, named := strings.Cut(grant, "=")
		switch {
		case call == abi.CallHTTPFetch && named && what != "":
			host, err := readHostGrant(what)
			if err != nil {
				return nil, err
			}
			hosts = append(hosts, host)
		case call == abi.CallHTTPFetch:
			return nil, usagef("--grant %s: which host? http.fetch=HOST, or http.fetch=POST:HOST for more than reading", grant)
		case named && abi.HostCallsByName()[call] != nil:
			return nil, usagef("--grant %s: only http.fetch takes a value", grant)
		case call == abi.CallClock:
			g.live[call] = liveClock
		case call == abi.CallRandom:
			g.live[call] = liveRandom
		default:
			return nil, refuseGrant(call)
		}
	}
	if hosts == nil {
		return g, nil
	}
	w := web.New(web.Config{Grants: map[string][]web.Grant{plugin: hosts}})
	g.close = func() { _ = w.Close() } // it closes connections that are idle, and does not fail
	g.live[abi.CallHTTPFetch] = liveFetch(w, plugin)
	return g, nil
}

// refuseGrant says why a call cannot be granted.
func refuseGrant(call string) error {
	def := abi.HostCallsByName()[call]
	switch {
	case def == nil:
		return usagef("--grant: there is no host call %q; clock, random and http.fetch=HOST can be granted", call)
	case alone.MadeByHost(call) || def.Effect == abi.EffectGiven || def.Effect == abi.EffectHint:
		return usagef("--grant: %s needs no grant, for the run itself answers it", call)
	}
	return usagef("--grant: %s needs a node: say in a file of --answers what it answers", call)
}

// readHostGrant reads HOST, METHOD:HOST, each with a port or without.
func readHostGrant(text string) (web.Grant, error) {
	g := web.Grant{Methods: []string{http.MethodGet, http.MethodHead}}
	host := text
	if method, rest, ok := strings.Cut(text, ":"); ok && slices.Contains(httpMethods, method) {
		g.Methods, host = []string{method}, rest
	}
	if err := spelling.CheckHost(host); err != nil {
		return g, usagef("--grant http.fetch=%s: %w", text, err)
	}
	g.Hosts, g.Private = []string{host}, isPrivate(host)
	return g, nil
}

// isPrivate reports whether an author has named a machine that is not public: this one, or an address
// of a network of one's own.
func isPrivate(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && web.CheckAddress(address, false) != nil
}

func liveClock(context.Context, []byte) ([]byte, error) {
	return json.Marshal(abi.CallClockAnswer{UnixNano: strconv.FormatInt(time.Now().UnixNano(), 10)})
}

func liveRandom(_ context.Context, request []byte) ([]byte, error) {
	n, err := alone.HowRandom(request)
	if err != nil {
		return nil, err
	}
	p := make([]byte, n)
	if _, err := rand.Read(p); err != nil {
		return nil, fmt.Errorf("reading the machine's randomness: %w", err)
	}
	return p, nil
}

// liveFetch answers http.fetch as a node does.
func liveFetch(w *web.Web, plugin string) alone.Live {
	return func(ctx context.Context, request []byte) ([]byte, error) {
		plan, err := w.Prepare(ctx, &provider.Call{Name: abi.CallHTTPFetch, Request: request, Plugin: plugin, Tenant: "alone"})
		if err != nil {
			return nil, err
		}
		return plan.Do(ctx, func(string) {})
	}
}

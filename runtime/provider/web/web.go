package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

// The codes of refusals.
const (
	CodeInvalid     = "invalid_request"
	CodeDenied      = "http_denied"      // no grant covers the request, or the address is not public
	CodeTooLarge    = "http_too_large"   // a limit on size or count
	CodeUnavailable = "http_unavailable" // the host did not answer
	CodeTimeout     = "http_timeout"
)

// Limits of every request.
const (
	maxURL       = 8 << 10
	maxHeaders   = 100
	maxHeader    = 64 << 10 // bytes of all names and values, each way
	maxRedirects = 10
)

// Secrets puts values in requests.
type Secrets interface {
	// Granted returns nil when the plugin may use the secret, else a
	// *provider.Refusal.
	Granted(plugin, name string) error
	// Value returns a secret that the plugin was granted; its error is a
	// *provider.Refusal.
	Value(ctx context.Context, plugin, name string) (secret.Value, error)
	// Hosts returns the hosts that the secret may be sent to, as a [Grant] has
	// them; nil for any.
	Hosts(name string) []string
}

// Config says what plugins may reach. The zero value of a limit is its default.
type Config struct {
	Grants   map[string][]Grant // by plugin; a plugin without any may reach nothing
	Secrets  Secrets            // nil: there are none
	Timeout  time.Duration      // the longest that a request may take, redirects and body included; default 30 s
	Request  int64              // bytes of a request's body; default 8 MiB
	Response int64              // bytes of an answer's body; default 8 MiB
	Agent    string             // the User-Agent of requests that state none; default wharf
	Resolver *net.Resolver      // default net.DefaultResolver
	TLS      *tls.Config        // for https; default the machine's roots
}

// Web answers abi.CallHTTPFetch. It is safe for concurrent use.
type Web struct {
	config   Config
	regrants provider.Regrants[Grant]
	// A connection that was made under a grant of private addresses must never
	// carry the request of a plugin without one: there are two pools.
	public, private *http.Transport
	lanes           *provider.Lanes // which bound the connections, to whatever host
	// reached sees every address after it was checked and before it is connected
	// to; nil outside of tests.
	reached func(netip.AddrPort) error
}

var _ provider.Performer = (*Web)(nil)

// New returns a Web. Close it to close its connections.
func New(c Config) *Web {
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.Request = cmp.Or(c.Request, 8<<20)
	c.Response = cmp.Or(c.Response, 8<<20)
	c.Agent = cmp.Or(c.Agent, "wharf")
	w := &Web{config: c, lanes: provider.NewLanes(provider.MaxCalls)}
	w.public, w.private = w.transport(false), w.transport(true)
	return w
}

// Regrant says what plugins may reach from now on.
func (w *Web) Regrant(grants map[string][]Grant) { w.regrants.Replace(grants) }

// Close closes idle connections. Requests under way go on.
func (w *Web) Close() error {
	w.public.CloseIdleConnections()
	w.private.CloseIdleConnections()
	return nil
}

func (w *Web) transport(private bool) *http.Transport {
	return Transport(Reach{Private: private, Resolver: w.config.Resolver, TLS: w.config.TLS, PerHost: 8,
		reached: func(target netip.AddrPort) error {
			if w.reached != nil {
				return w.reached(target)
			}
			return nil
		}})
}

// Prepare implements [provider.Performer].
func (w *Web) Prepare(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	r, err := w.parse(c)
	if err != nil {
		return provider.Plan{}, err
	}
	if _, err := w.grantFor(r.plugin, r.method, r.target); err != nil {
		return provider.Plan{}, err
	}
	plan := provider.Plan{Effect: abi.EffectWrite, Repeatable: r.repeatable}
	if r.method == http.MethodGet || r.method == http.MethodHead {
		plan.Effect, plan.Repeatable = abi.EffectRead, false
	}
	if err := w.checkSecrets(ctx, c, r); err != nil {
		return provider.Plan{}, err
	}
	plan.Do = func(ctx context.Context, _ func(string)) ([]byte, error) {
		return w.lanes.Do(ctx, c.Tenant, func() ([]byte, error) { return w.fetch(ctx, r) })
	}
	return plan, nil
}

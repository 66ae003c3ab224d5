package identity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/runtime/provider/web"
)

const (
	// maxDocument bounds what an issuer may answer with.
	maxDocument = 1 << 20
	// fetchTimeout bounds one attempt to get an issuer's keys.
	fetchTimeout = 10 * time.Second
	// pause is the least time between two attempts, whatever tokens are shown: whoever
	// makes up key ids must not be able to make the node hammer the issuer.
	pause = 10 * time.Second
	// keep is how long keys are used while the issuer cannot be reached.
	keep = 24 * time.Hour

	defaultRefresh = 15 * time.Minute
)

// remoteKeys are the keys of an issuer elsewhere. They are fetched again and again, and
// once for a key that is not known, since issuers rotate them.
type remoteKeys struct {
	name          string
	outside       Outside
	client        *http.Client
	now           func() time.Time
	log           *slog.Logger
	refresh, wait time.Duration

	mu      sync.Mutex
	text    []byte // what keys were read from
	keys    []publicKey
	changes uint64        // how often keys have changed
	fetched time.Time     // when they were known to be right
	tried   time.Time     // when the last attempt began
	flight  chan struct{} // closed at the end of the attempt that runs; nil when none does
	failing bool
}

func newRemoteKeys(name string, o Outside, c Config) *remoteKeys {
	refresh := o.Refresh
	if refresh == 0 {
		refresh = defaultRefresh
	}
	return &remoteKeys{name: name, outside: o, client: c.Client, now: c.Now, log: c.Log, refresh: refresh, wait: pause}
}

// newClient returns a client that gives an issuer little time, and follows it nowhere.
// It keeps no connections: what a request may connect to is decided when it does.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	dialer := &net.Dialer{Timeout: fetchTimeout, ControlContext: reachable}
	transport.DialContext = dialer.DialContext
	return &http.Client{
		Transport:     transport,
		Timeout:       fetchTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// run keeps the keys fresh until ctx ends.
func (r *remoteKeys) run(ctx context.Context) {
	for {
		r.attempt(ctx)
		next := time.NewTimer(r.untilNext())
		select {
		case <-next.C:
		case <-ctx.Done():
			next.Stop()
			return
		}
	}
}

// untilNext is the time to the next attempt: soon when the last has failed.
func (r *remoteKeys) untilNext() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failing {
		return min(3*r.wait, r.refresh)
	}
	return r.refresh
}

func (r *remoteKeys) epoch() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

func (r *remoteKeys) find(ctx context.Context, kid string) ([]publicKey, uint64, error) {
	if keys, epoch, _ := r.known(kid); len(keys) > 0 {
		return keys, epoch, nil
	}
	r.attempt(ctx)
	return r.known(kid)
}

// known returns the keys with the id; none is an error only when no keys are known.
func (r *remoteKeys) known(kid string) ([]publicKey, uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil || r.now().Sub(r.fetched) > keep {
		return nil, 0, ErrUnavailable
	}
	return withID(r.keys, kid), r.changes, nil
}

// attempt fetches the keys, unless that was just tried, or waits for whoever does so.
func (r *remoteKeys) attempt(ctx context.Context) {
	r.mu.Lock()
	done := r.flight
	if done == nil {
		if !r.tried.IsZero() && r.now().Sub(r.tried) < r.wait {
			r.mu.Unlock()
			return
		}
		done = make(chan struct{})
		r.flight, r.tried = done, r.now()
		go r.fetch(done)
	}
	r.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// fetch belongs to nobody who waits: the end of one request does not spoil it for the
// others.
func (r *remoteKeys) fetch(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	text, err := r.get(ctx)
	var keys []publicKey
	if err == nil {
		keys, err = parseKeys(text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	defer close(done)
	r.flight = nil
	r.takeOver(text, keys, err)
}

// takeOver keeps what an attempt has brought.
func (r *remoteKeys) takeOver(text []byte, keys []publicKey, err error) {
	if err != nil {
		if !r.failing {
			r.log.Warn("the keys of a token issuer cannot be fetched; those that are known are kept for a day",
				"issuer", r.name, "error", err)
		}
		r.failing = true
		return
	}
	if r.failing {
		r.log.Info("the keys of a token issuer were fetched again", "issuer", r.name)
	}
	r.failing, r.fetched = false, r.now()
	if !bytes.Equal(text, r.text) {
		r.text, r.keys = text, keys
		r.changes++
	}
}

func (r *remoteKeys) get(ctx context.Context) ([]byte, error) {
	if from := r.outside.JWKSURL; from != "" {
		return r.document(ctx, from)
	}
	from, to, err := r.discover(ctx)
	if err != nil {
		return nil, err
	}
	to.follow()
	return r.document(context.WithValue(ctx, reachKey{}, to), from)
}

// reach is what the requests for one issuer's keys may connect to. What the operator
// named may be anywhere. What the issuer names is on the public internet, unless its
// metadata came from a place that is not.
type reach struct {
	mu       sync.Mutex
	named    bool // the issuer names where
	public   bool // the request for the metadata has tried a public address
	internal bool // and one that is not
}

type reachKey struct{}

// reachable is called with the very address that a request is about to connect to.
func reachable(ctx context.Context, _, address string, _ syscall.RawConn) error {
	to, ok := ctx.Value(reachKey{}).(*reach)
	if !ok {
		return nil
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return to.allow(web.CheckAddress(target.Addr(), false))
}

// allow takes why an address is not public, or nil.
func (r *reach) allow(notPublic error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.named && notPublic != nil && (r.public || !r.internal):
		return fmt.Errorf("the issuer's metadata name an internal place, and the issuer is in none (set jwks_url if that is right): %w", notPublic)
	case r.named:
		return nil
	case notPublic == nil:
		r.public = true
	default:
		r.internal = true
	}
	return nil
}

// follow says that from now on the issuer names where requests go.
func (r *reach) follow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.named = true
}

// discover returns where the issuer's metadata say that its keys are, and what the
// request for them connected to.
func (r *remoteKeys) discover(ctx context.Context) (string, *reach, error) {
	var failed error
	for _, at := range metadataURLs(r.outside.Issuer) {
		to := &reach{}
		text, err := r.document(context.WithValue(ctx, reachKey{}, to), at)
		if err == nil {
			from, err := r.keysAt(text)
			return from, to, err
		}
		failed = errors.Join(failed, err)
	}
	return "", nil, failed
}

// metadataURLs are the places of an issuer's metadata: OpenID Connect Discovery puts its
// path before the well-known one, RFC 8414 behind it.
func metadataURLs(issuer string) []string {
	issuer = strings.TrimSuffix(issuer, "/")
	all := []string{issuer + "/.well-known/openid-configuration", issuer + "/.well-known/oauth-authorization-server"}
	if u, err := url.Parse(issuer); err == nil && u.Path != "" {
		path := u.Path
		u.Path = "/.well-known/oauth-authorization-server" + path
		all = append(all, u.String())
	}
	return all
}

// keysAt reads metadata, which must be those of this issuer.
func (r *remoteKeys) keysAt(metadata []byte) (string, error) {
	var m struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(metadata, &m); err != nil {
		return "", fmt.Errorf("reading the issuer's metadata: %w", err)
	}
	if m.Issuer != r.outside.Issuer {
		return "", fmt.Errorf("the metadata are those of %q and not of %q", m.Issuer, r.outside.Issuer)
	}
	if err := CheckURL(m.JWKSURI); err != nil {
		return "", fmt.Errorf("the place of the issuer's keys: %w", err)
	}
	return m.JWKSURI, nil
}

func (r *remoteKeys) document(ctx context.Context, at string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	answer, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %d", at, answer.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", at, err)
	}
	if len(text) > maxDocument {
		return nil, fmt.Errorf("%s answers with more than %d bytes", at, maxDocument)
	}
	return text, nil
}

// CheckURL returns an error unless keys may be fetched from there: over TLS, or over
// loopback. Whoever can change an issuer's keys on their way can be anybody.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return fmt.Errorf("%q is not a URL such as https://id.example.com", text)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%q is not https, and not on loopback", text)
}

package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

// request is a checked request of a plugin. Its texts hold handles, not values.
type request struct {
	plugin     string
	method     string
	target     *url.URL
	header     map[string]string // by canonical name
	body       []byte
	timeout    time.Duration
	names      []string                         // of the secrets that it uses
	vaulted    map[string]*provider.VaultSecret // those of Vaults, once they were checked
	repeatable bool
	// tellUse is the call's NodeSecret, never nil.
	tellUse func(ctx context.Context, name, host string, refused *provider.Refusal) error
}

// untold is for calls whose use of secrets nobody wants to know.
func untold(context.Context, string, string, *provider.Refusal) error { return nil }

func invalid(format string, args ...any) error {
	plainly.Put(args)
	return provider.Refuse(abi.CallInvalid, CodeInvalid, fmt.Sprintf(format, args...))
}

func tooLarge(format string, args ...any) error {
	return provider.Refuse(abi.CallTooLarge, CodeTooLarge, fmt.Sprintf(format, args...))
}

func denied(format string, args ...any) error {
	return provider.Refuse(abi.CallDenied, CodeDenied, fmt.Sprintf(format, args...))
}

func (w *Web) parse(c *provider.Call) (*request, error) {
	var asked abi.CallHTTPFetchRequest
	if err := json.Unmarshal(c.Request, &asked); err != nil {
		return nil, invalid("the request of http.fetch cannot be read: %v", err)
	}
	r := &request{plugin: c.Plugin, method: asked.Method, body: asked.Body, header: map[string]string{}, tellUse: untold}
	if c.NodeSecret != nil {
		r.tellUse = c.NodeSecret
	}
	if r.method == "" {
		r.method = http.MethodGet
	}
	if err := r.setTarget(asked.URL); err != nil {
		return nil, err
	}
	if err := r.setHeader(asked.Header); err != nil {
		return nil, err
	}
	if err := r.setKey(asked.IdempotencyHeader, c.IdempotencyKey); err != nil {
		return nil, err
	}
	if err := r.setBody(&asked, w.config.Request); err != nil {
		return nil, err
	}
	r.timeout = time.Duration(asked.TimeoutMS) * time.Millisecond
	if asked.TimeoutMS < 0 || r.timeout/time.Millisecond != time.Duration(asked.TimeoutMS) {
		return nil, invalid("a timeout of %d ms is none", asked.TimeoutMS)
	}
	if r.timeout == 0 || r.timeout > w.config.Timeout {
		r.timeout = w.config.Timeout
	}
	r.findSecrets()
	return r, nil
}

func (r *request) setTarget(raw string) error {
	if len(raw) > maxURL {
		return tooLarge("the URL has %d bytes; it may have %d", len(raw), maxURL)
	}
	if !token(r.method) || r.method != strings.ToUpper(r.method) {
		return invalid("%q is no method; they are written in capitals", r.method)
	}
	if r.method == http.MethodConnect || r.method == http.MethodTrace {
		return invalid("requests of the method %s cannot be made", r.method)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return invalid("the URL is malformed")
	}
	r.target = u
	return checkTarget(u)
}

// checkTarget refuses URLs that no request may go to.
func checkTarget(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return invalid("the URL begins with neither http:// nor https://")
	case u.User != nil:
		return invalid("the URL holds a user or password; use a header")
	case u.Hostname() == "" || !asciiHost(u.Hostname()):
		return invalid("the URL has no host, or one that is not written in ASCII")
	case len(secret.Names(u.Path)) > 0 || len(secret.Names(u.Host)) > 0:
		return invalid("secrets belong into headers or the query, not into the rest of the URL")
	}
	u.Fragment, u.RawFragment = "", ""
	return nil
}

func asciiHost(host string) bool {
	for i := range len(host) {
		c := host[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._:", c) >= 0
		if !ok {
			return false
		}
	}
	return true
}

// token reports whether s is a token (RFC 9110, 5.6.2).
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
		if !ok {
			return false
		}
	}
	return s != ""
}

// fieldValue reports whether s can be the value of a header (RFC 9110, 5.5).
func fieldValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// unsafe are headers that belong to the connection, or that the host writes.
var unsafe = []string{"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Http2-Settings", "Keep-Alive",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authorization", "Proxy-Connection"}

func (r *request) setHeader(header map[string]string) error {
	if len(header) > maxHeaders {
		return tooLarge("it has %d headers; it may have %d", len(header), maxHeaders)
	}
	size := 0
	for name, value := range header {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !token(name):
			return invalid("%q is no name for a header", name)
		case slices.Contains(unsafe, canonical):
			return invalid("the header %s is the host's to write", canonical)
		case !fieldValue(value):
			return invalid("the value of the header %s has characters that no header may have", canonical)
		}
		if _, twice := r.header[canonical]; twice {
			return invalid("the header %s is there twice", canonical)
		}
		r.header[canonical] = value
		size += len(name) + len(value)
	}
	if size > maxHeader {
		return tooLarge("the headers have %d bytes; they may have %d", size, maxHeader)
	}
	return nil
}

// setKey names the call to its target, so that it can be told from a new one when
// it is made again.
func (r *request) setKey(name, key string) error {
	if name == "" {
		return nil
	}
	if _, twice := r.header[http.CanonicalHeaderKey(name)]; twice {
		return invalid("the header %s is to hold the idempotency key, and has a value already", name)
	}
	r.repeatable = true
	return r.setHeader(map[string]string{name: key})
}

func (r *request) setBody(asked *abi.CallHTTPFetchRequest, most int64) error {
	if asked.Text != "" {
		if len(asked.Body) > 0 {
			return invalid("it has both a text and a body")
		}
		r.body = []byte(asked.Text)
	}
	if int64(len(r.body)) > most {
		return tooLarge("the body has %d bytes; it may have %d", len(r.body), most)
	}
	return nil
}

func (r *request) findSecrets() {
	texts := []string{r.target.RawQuery}
	if query, err := url.QueryUnescape(r.target.RawQuery); err == nil {
		texts = append(texts, query)
	}
	for _, value := range r.header {
		texts = append(texts, value)
	}
	for _, text := range texts {
		for _, name := range secret.Names(text) {
			if !slices.Contains(r.names, name) {
				r.names = append(r.names, name)
			}
		}
	}
	slices.Sort(r.names)
}

// grantFor returns the grant that covers a request; its error says which is
// missing. Of several it is one that allows private addresses, if there is such.
func (w *Web) grantFor(plugin, method string, u *url.URL) (*Grant, error) {
	var found *Grant
	hostKnown := false
	grants := w.regrants.Or(w.config.Grants)[plugin]
	for i := range grants {
		g := &grants[i]
		hostKnown = hostKnown || matchesAny(g.Hosts, u)
		if g.allows(method, u) && (found == nil || g.Private) {
			found = g
		}
	}
	switch {
	case found != nil:
		return found, nil
	case hostKnown:
		return nil, denied("the plugin %q may not send %s requests to %s: no entry of grants.%s.http has the host and the method",
			plugin, method, u.Host, plugin)
	}
	return nil, denied("the plugin %q may not send requests to %s: no entry of grants.%s.http has the host", plugin, u.Host, plugin)
}

// checkSecrets refuses secrets that were not granted, or that do not belong to the
// host. It reads no values: policy is decided before anything is recorded.
func (w *Web) checkSecrets(ctx context.Context, c *provider.Call, r *request) error {
	for _, name := range r.names {
		if err := w.checkSecret(ctx, c, r, name); err != nil {
			return err
		}
	}
	return nil
}

func (w *Web) checkSecret(ctx context.Context, c *provider.Call, r *request, name string) error {
	if secret.InVault(name) {
		return w.checkVaulted(ctx, c, r, name)
	}
	if w.config.Secrets == nil {
		return unknown(name)
	}
	if err := w.config.Secrets.Granted(r.plugin, name); err != nil {
		return err
	}
	elsewhere := fmt.Sprintf("the secret %q may not be sent to %s: secrets.%s.hosts does not have the host", name, r.target.Host, name)
	if refusal := w.checkPlace(r, w.config.Secrets.Hosts(name), elsewhere); refusal != nil {
		return refuseTold(refusal, r.tellUse(ctx, name, r.target.Host, refusal))
	}
	return nil
}

// checkVaulted checks a secret of a Vault, and has it told when its value would be
// sent where it must not.
func (w *Web) checkVaulted(ctx context.Context, c *provider.Call, r *request, name string) error {
	if c.Vault == nil {
		return unknown(name)
	}
	v, err := c.Vault(ctx, name)
	if err != nil {
		return err
	}
	elsewhere := fmt.Sprintf("the secret %q may not be sent to %s: it is not one of the secret's hosts", name, r.target.Host)
	if refusal := w.checkPlace(r, v.Hosts, elsewhere); refusal != nil {
		return refuseTold(refusal, v.Refused(ctx, r.target.Host, refusal))
	}
	if r.vaulted == nil {
		r.vaulted = map[string]*provider.VaultSecret{}
	}
	r.vaulted[name] = v
	return nil
}

// refuseTold returns a refusal once it was told; failed says that it could not be.
func refuseTold(refusal *provider.Refusal, failed error) error {
	if failed != nil {
		return failed
	}
	return refusal
}

// checkPlace refuses to send a secret to a host that it does not belong to, or for
// everybody on the way to read.
func (w *Web) checkPlace(r *request, hosts []string, elsewhere string) *provider.Refusal {
	if hosts != nil && !matchesAny(hosts, r.target) {
		return provider.Refuse(abi.CallDenied, CodeDenied, elsewhere)
	}
	if g, err := w.grantFor(r.plugin, r.method, r.target); err == nil && r.target.Scheme != "https" && !g.Private {
		return provider.Refuse(abi.CallDenied, CodeDenied, "secrets are sent over https, or to hosts whose grant has private: true")
	}
	return nil
}

func unknown(name string) error {
	return provider.Refuse(abi.CallNotFound, secret.CodeUnknown, fmt.Sprintf("there is no secret %q", name))
}

package web

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Reach says which addresses a [Transport] connects to.
type Reach struct {
	Private  bool          // loopback, private and link-local ones, too
	Resolver *net.Resolver // default net.DefaultResolver
	TLS      *tls.Config   // for https; default the machine's roots
	PerHost  int           // idle connections that are kept to one host

	reached func(netip.AddrPort) error // sees each address that was checked
}

// Transport returns what makes requests and connects to no address that lies outside of r,
// whatever a name leads to at the moment. It follows no redirects and uses no proxy.
func Transport(r Reach) *http.Transport {
	dialer := &net.Dialer{
		Timeout: 10 * time.Second, Resolver: r.Resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error { return r.control(address) },
	}
	return &http.Transport{
		DialContext: dialer.DialContext, Proxy: nil, TLSClientConfig: r.TLS, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: r.PerHost, MaxIdleConns: 16 * r.PerHost, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
	}
}

// control is called with the very address that is about to be connected to.
func (r *Reach) control(address string) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &addressError{"malformed"}
	}
	if err := CheckAddress(target.Addr(), r.Private); err != nil {
		return err
	}
	if r.reached != nil {
		return r.reached(target)
	}
	return nil
}

// Denied returns why a [Transport] has not connected to an address, "" when it failed for
// another reason. It does not tell the address.
func Denied(err error) string {
	if refused, ok := errors.AsType[*addressError](err); ok {
		return refused.Error()
	}
	return ""
}

// Reason returns why a request failed, without URL or address: net/http repeats them in its
// errors.
func Reason(err error) string { return reason(err) }

// TimedOut reports whether a request took too long.
func TimedOut(err error) bool { return timedOut(err) }

package gateway

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

// authority signs certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	next int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t), next: 1}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign}
	a.cert = parsed(t, template, template, a.key, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func parsed(t *testing.T, template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// issue returns a certificate and its key, in PEM.
func (a *authority) issue(t *testing.T) (cert, key []byte) {
	t.Helper()
	a.next++
	private := newKey(t)
	made := parsed(t, &x509.Certificate{SerialNumber: big.NewInt(a.next), Subject: pkix.Name{CommonName: "leaf"}, DNSNames: []string{"wharf.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, a.cert, private, a.key)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func put(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// lines is a log that a test waits for.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newLines() *lines { return &lines{more: make(chan struct{}, 1000)} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.more <- struct{}{} }()
	return l.text.Write(p)
}

func (l *lines) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

func (l *lines) wait(t *testing.T, words string) {
	t.Helper()
	for l.count(words) == 0 {
		select {
		case <-l.more:
		case <-time.After(30 * time.Second):
			t.Fatalf("nothing is logged of %q:\n%s", words, &l.text)
		}
	}
}

// startTLS serves one route over TLS on a listener.
func startTLS(t *testing.T, ln net.Listener, cfg TLSConfig, log io.Writer) *Server {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(log, nil))
	secure, err := NewTLS(cfg, logger)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{TLS: secure}, keyless{}, logger, oneRoute{func(r *Request) error {
		r.Send(200, []byte(`"`+r.BaseURL()+`"`))
		return nil
	}})
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served, secure.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func loopback(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// ask makes a request over a connection of its own and returns the certificate that the
// server showed.
func ask(t *testing.T, addr string, c *tls.Config) (*x509.Certificate, string, error) {
	t.Helper()
	c.ServerName = "wharf.test"
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}}
	resp, err := client.Post("https://"+addr+"/x", "", nil)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.TLS.PeerCertificates[0], string(body), err
}

// A certificate that is replaced is shown to the next connection. A bad one is
// reported once, and the one from before stays.
func TestCertificateFilesAreReadAgain(t *testing.T) {
	a, dir, log, ln := newAuthority(t), t.TempDir(), newLines(), loopback(t)
	cert, key := a.issue(t)
	cfg := TLSConfig{Cert: put(t, dir, "tls.crt", cert), Key: put(t, dir, "tls.key", key)}
	startTLS(t, ln, cfg, log)
	addr := ln.Addr().String()
	shown := func() int64 {
		t.Helper()
		leaf, body, err := ask(t, addr, &tls.Config{RootCAs: a.pool()})
		if err != nil {
			t.Fatal(err)
		}
		if body != `"https://`+addr+`"` {
			t.Errorf("the node is reached by %s", body)
		}
		return leaf.SerialNumber.Int64()
	}
	if n := shown(); n != 2 {
		t.Errorf("certificate %d", n)
	}
	put(t, dir, "tls.crt", []byte("no certificate"))
	log.wait(t, "cannot be used")
	if n := shown(); n != 2 {
		t.Errorf("certificate %d instead of that from before", n)
	}
	cert, key = a.issue(t)
	put(t, dir, "tls.key", key)
	put(t, dir, "tls.crt", cert)
	log.wait(t, "were read again")
	if n := shown(); n != 3 {
		t.Errorf("certificate %d after it was replaced", n)
	}
	if _, _, err := ask(t, addr, &tls.Config{RootCAs: a.pool(), MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
}

// What is bad is told once, however often it is looked at.
func TestBadFilesAreReportedOnce(t *testing.T) {
	a, dir, log := newAuthority(t), t.TempDir(), newLines()
	cert, key := a.issue(t)
	secure, err := NewTLS(TLSConfig{Cert: put(t, dir, "tls.crt", cert), Key: put(t, dir, "tls.key", key)}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := secure.Close(); err != nil { // so that the test alone reloads
		t.Fatal(err)
	}
	for _, change := range []func(){
		func() { put(t, dir, "tls.crt", []byte("nothing")) },
		func() { _ = os.Remove(filepath.Join(dir, "tls.key")) },
	} {
		change()
		before := log.count("cannot be used")
		for range 3 {
			secure.reload()
		}
		if n := log.count("cannot be used") - before; n != 1 {
			t.Errorf("told %d times", n)
		}
	}
}

func TestNewTLSRefuses(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	cert, key := a.issue(t)
	_, other := a.issue(t)
	good, its, another := put(t, dir, "c", cert), put(t, dir, "k", key), put(t, dir, "o", other)
	empty := put(t, dir, "e", nil)
	for name, cfg := range map[string]TLSConfig{
		"no file": {Cert: filepath.Join(dir, "none"), Key: its}, "another key": {Cert: good, Key: another}, "no key": {Cert: good, Key: empty},
		"no roots": {Cert: good, Key: its, ClientCA: empty, ClientAuth: ClientAuthRequired},
	} {
		if _, err := NewTLS(cfg, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestClientCertificates(t *testing.T) {
	a, stranger, dir := newAuthority(t), newAuthority(t), t.TempDir()
	cert, key := a.issue(t)
	cfg := TLSConfig{Cert: put(t, dir, "c", cert), Key: put(t, dir, "k", key), ClientCA: put(t, dir, "ca", a.pem())}
	of := func(a *authority) []tls.Certificate {
		pair, err := tls.X509KeyPair(a.issue(t))
		if err != nil {
			t.Fatal(err)
		}
		return []tls.Certificate{pair}
	}
	for _, c := range []struct {
		name               string
		auth               ClientAuth
		none, known, other bool
	}{
		{"off", ClientAuthOff, true, true, true}, {"optional", ClientAuthOptional, true, true, false}, {"required", ClientAuthRequired, false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg.ClientAuth = c.auth
			ln := loopback(t)
			startTLS(t, ln, cfg, io.Discard)
			for shown, one := range map[string]struct {
				certificates []tls.Certificate
				let          bool
			}{"none": {nil, c.none}, "known": {of(a), c.known}, "another's": {of(stranger), c.other}} {
				// The client is made to show it, though the server names those it believes.
				give := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					if one.certificates == nil {
						return &tls.Certificate{}, nil
					}
					return &one.certificates[0], nil
				}
				_, _, err := ask(t, ln.Addr().String(), &tls.Config{RootCAs: a.pool(), GetClientCertificate: give})
				if (err == nil) != one.let {
					t.Errorf("%s: %v", shown, err)
				}
			}
		})
	}
}

// A client that leaves is noticed, also when it says goodbye before.
func TestGoneOverTLS(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	cert, key := a.issue(t)
	secure, err := NewTLS(TLSConfig{Cert: put(t, dir, "c", cert), Key: put(t, dir, "k", key)}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer secure.Close()
	ln := secure.Listener(loopback(t))
	defer ln.Close()
	accepted := make(chan net.Conn)
	go func() {
		c, _ := ln.Accept()
		var one [1]byte
		_, _ = c.Read(one[:])
		accepted <- &conn{Conn: c, listener: &listener{}}
	}()
	client, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{RootCAs: a.pool(), ServerName: "wharf.test"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	server := <-accepted
	defer server.Close()
	if gone(server) {
		t.Error("an idle peer is taken for gone")
	}
	client.Close()
	for end := time.Now().Add(30 * time.Second); !gone(server); {
		if time.Now().After(end) {
			t.Skip("this system does not tell that a TLS peer has left before a write fails")
		}
	}
}

// acmeServer is a certificate authority on loopback: Let's Encrypt's own for tests.
type acmeServer struct {
	directory, roots string // a URL and a file
	issued           *x509.CertPool
}

// newACMEServer starts one that asks for proof at the given ports.
func newACMEServer(t *testing.T, httpPort, tlsPort int) *acmeServer {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	quiet := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	issuing := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "default"}})
	proving := va.New(quiet, httpPort, tlsPort, false, nameServer(t), store)
	front := wfe.New(quiet, store, proving, issuing, []string{"ca.test"}, false, false, 1, 1)
	server := httptest.NewTLSServer(front.Handler())
	t.Cleanup(server.Close)
	s := &acmeServer{directory: server.URL + wfe.DirectoryPath, issued: x509.NewCertPool()}
	s.roots = put(t, t.TempDir(), "roots.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	s.issued.AppendCertsFromPEM(issuing.GetRootCert(0).PEM())
	return s
}

// nameServer starts one for which every name is this machine.
func nameServer(t *testing.T) string {
	t.Helper()
	ln := loopback(t)
	server := &dns.Server{Listener: ln, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			m.Answer = append(m.Answer, &dns.A{A: net.IPv4(127, 0, 0, 1),
				Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}})
		}
		_ = w.WriteMsg(m)
	})}
	started := make(chan struct{})
	server.NotifyStartedFunc = func() { close(started) }
	go func() { _ = server.ActivateAndServe() }()
	<-started
	t.Cleanup(func() { _ = server.Shutdown() })
	return ln.Addr().String()
}

func port(ln net.Listener) int { return ln.Addr().(*net.TCPAddr).Port }

// A node gets its certificate from an authority by either challenge, keeps it, and asks
// clients for theirs all the same.
func TestACME(t *testing.T) {
	for _, challenge := range []string{"tls-alpn-01", "http-01"} {
		t.Run(challenge, func(t *testing.T) {
			ln, challenges := loopback(t), loopback(t)
			tlsPort := port(ln)
			if challenge == "http-01" {
				closed := loopback(t)
				tlsPort = port(closed)
				closed.Close()
			}
			authority := newACMEServer(t, port(challenges), tlsPort)
			clients, cache := newAuthority(t), t.TempDir()
			cfg := TLSConfig{
				ACME: &ACMEConfig{Domains: []string{"wharf.test"}, Email: "ops@wharf.test", Directory: authority.directory, Roots: authority.roots,
					Cache: cache, HTTP: challenges},
				ClientCA: put(t, t.TempDir(), "clients.pem", clients.pem()), ClientAuth: ClientAuthRequired,
			}
			startTLS(t, ln, cfg, io.Discard)
			pair, err := tls.X509KeyPair(clients.issue(t))
			if err != nil {
				t.Fatal(err)
			}
			leaf, body, err := ask(t, ln.Addr().String(), &tls.Config{RootCAs: authority.issued, Certificates: []tls.Certificate{pair}})
			if err != nil || leaf.VerifyHostname("wharf.test") != nil || !strings.Contains(body, "https://") {
				t.Fatalf("%v %s", err, body)
			}
			if kept, err := os.ReadDir(cache); err != nil || len(kept) < 2 {
				t.Errorf("kept: %v %v", kept, err)
			}
			if _, _, err := ask(t, ln.Addr().String(), &tls.Config{RootCAs: authority.issued}); err == nil {
				t.Error("a client without a certificate is let in")
			}
			bypass := &tls.Config{RootCAs: authority.issued, NextProtos: []string{acmeProtocol}}
			if _, body, err := ask(t, ln.Addr().String(), bypass); err == nil {
				t.Errorf("a client that says it is the authority is let in: %s", body)
			}
		})
	}
}

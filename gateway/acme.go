package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// ACMEConfig says where certificates come from, and what for.
type ACMEConfig struct {
	Domains   []string
	Email     string
	Directory string // a URL
	Roots     string // the path of certificates to believe the directory by; "" for the system's
	Cache     string // the folder that certificates are kept in
	// HTTP is where the challenge http-01 is answered; nil for tls-alpn-01 alone. It is
	// owned.
	HTTP net.Listener
}

// acmeProtocol is the application protocol of the challenge tls-alpn-01.
const acmeProtocol = acme.ALPNProto

// acmeCertificates are certificates that an authority issues when they are needed.
type acmeCertificates struct {
	manager *autocert.Manager
	log     *slog.Logger
	http    *http.Server // nil without http-01
	failed  chan error
}

func newACME(c ACMEConfig, log *slog.Logger) (*acmeCertificates, error) {
	client := &acme.Client{DirectoryURL: c.Directory, UserAgent: "wharf"}
	if c.Roots != "" {
		trusting, err := trusting(c.Roots)
		if err != nil {
			return nil, err
		}
		client.HTTPClient = trusting
	}
	a := &acmeCertificates{log: log, manager: &autocert.Manager{
		Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(c.Domains...),
		Cache: autocert.DirCache(c.Cache), Email: c.Email, Client: client,
	}}
	if c.HTTP != nil {
		a.answer(c.HTTP)
	}
	return a, nil
}

// trusting returns a client that believes the certificates in a file, and no others.
func trusting(path string) (*http.Client, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the roots of the certificate authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", path)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: transport, Timeout: time.Minute}, nil
}

// certificate returns the certificate for a connection, and has it issued if need be.
func (a *acmeCertificates) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	certificate, err := a.manager.GetCertificate(hello)
	if err != nil && hello.ServerName != "" && a.manager.HostPolicy(hello.Context(), hello.ServerName) == nil {
		a.log.Warn("no certificate could be had", "domain", hello.ServerName, "error", err)
	}
	return certificate, err
}

// answer serves the challenge http-01, and redirects everything else to HTTPS.
func (a *acmeCertificates) answer(ln net.Listener) {
	a.http = &http.Server{
		Handler:     withoutPort(a.manager.HTTPHandler(nil)),
		ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, IdleTimeout: 30 * time.Second,
		MaxHeaderBytes: 8 << 10,
		ErrorLog:       slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	a.failed = make(chan error, 1)
	go func() { a.failed <- a.http.Serve(ln) }()
}

// withoutPort hides the port that the client has asked: the authority's policy is about
// names, and HTTPS is at a port of its own.
func withoutPort(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, err := net.SplitHostPort(r.Host); err == nil {
			r.Host = host
		}
		h.ServeHTTP(w, r)
	})
}

// Close ends the answering of challenges.
func (a *acmeCertificates) Close() error {
	if a.http == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := a.http.Shutdown(ctx)
	if served := <-a.failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("answering challenges of the certificate authority: %w", served))
	}
	return err
}

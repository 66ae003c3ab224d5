package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TLSConfig says how a node speaks TLS: with a certificate from files, or with those
// that [ACMEConfig] gets.
type TLSConfig struct {
	Cert, Key string // paths of PEM files
	ACME      *ACMEConfig

	// ClientCA is the path of the certificates, in PEM, that sign those of clients; ClientAuth
	// says whether clients need one.
	ClientCA   string
	ClientAuth ClientAuth
}

// ClientAuth says whether clients show a certificate.
type ClientAuth uint8

// The ways to treat certificates of clients. One that is shown is always verified.
const (
	ClientAuthOff ClientAuth = iota
	ClientAuthOptional
	ClientAuthRequired
)

// TLS is a node's side of TLS. Files are read again when they change; a change that
// does not hold together is reported once, and what was there before stays in use.
type TLS struct {
	cfg    TLSConfig
	log    *slog.Logger
	acme   *acmeCertificates // nil when the certificate is in files
	base   *tls.Config
	now    atomic.Pointer[tls.Config]
	seen   [sha256.Size]byte // of what was read last, sound or not
	cancel context.CancelFunc
	done   sync.WaitGroup
	every  time.Duration
}

// filesPoll is how often files are looked at, besides when the system says that they
// have changed: on some file systems it never does.
const filesPoll = time.Minute

// filesSettle is how long files have to be left alone before they are read: a
// certificate and its key are not replaced in one moment.
const filesSettle = 200 * time.Millisecond

// NewTLS reads the files and begins to watch them. [TLS.Close] ends that.
func NewTLS(cfg TLSConfig, log *slog.Logger) (*TLS, error) {
	t := &TLS{cfg: cfg, log: log, every: filesPoll, base: &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"}, // fasthttp has no HTTP/2
	}}
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	if cfg.ACME != nil {
		var err error
		if t.acme, err = newACME(*cfg.ACME, log); err != nil {
			cancel()
			return nil, err
		}
		t.base.GetCertificate = t.acme.certificate
		t.base.NextProtos = append(t.base.NextProtos, acmeProtocol)
	}
	files, err := t.read()
	if err == nil {
		err = t.use(files)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	t.watch(ctx)
	return t, nil
}

// Close ends what NewTLS began. Connections that are open stay so.
func (t *TLS) Close() error {
	t.cancel()
	t.done.Wait()
	if t.acme != nil {
		return t.acme.Close()
	}
	return nil
}

// Listener returns a listener that speaks TLS over ln. It owns ln.
func (t *TLS) Listener(ln net.Listener) net.Listener {
	return &secureListener{ln, &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: t.configFor}}
}

// configFor returns what a connection gets. A certificate authority that asks for proof
// shows no certificate of its own: see [secureConn.Read].
func (t *TLS) configFor(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	if t.acme != nil && slices.Contains(hello.SupportedProtos, acmeProtocol) {
		return t.base, nil
	}
	return t.now.Load(), nil
}

// pems are the contents of the files.
type pems struct{ cert, key, clients []byte }

func (p *pems) hash() [sha256.Size]byte {
	return sha256.Sum256(bytes.Join([][]byte{p.cert, p.key, p.clients}, []byte{0}))
}

func (t *TLS) read() (p pems, err error) {
	for path, at := range map[string]*[]byte{t.cfg.Cert: &p.cert, t.cfg.Key: &p.key, t.cfg.ClientCA: &p.clients} {
		if path == "" {
			continue
		}
		content, failed := os.ReadFile(path)
		err = errors.Join(err, failed)
		*at = content
	}
	if err != nil {
		return p, fmt.Errorf("reading the files of TLS: %w", err)
	}
	return p, nil
}

// use makes the files' content what the next connections get.
func (t *TLS) use(p pems) error {
	t.seen = p.hash()
	c := t.base.Clone()
	if t.acme == nil {
		pair, err := tls.X509KeyPair(p.cert, p.key)
		if err != nil {
			return fmt.Errorf("the certificate %s and the key %s: %w", t.cfg.Cert, t.cfg.Key, err)
		}
		c.Certificates = []tls.Certificate{pair}
		t.warn(pair.Leaf)
	}
	if err := t.askClients(c, p.clients); err != nil {
		return err
	}
	t.now.Store(c)
	return nil
}

func (t *TLS) askClients(c *tls.Config, roots []byte) error {
	switch t.cfg.ClientAuth {
	case ClientAuthOff:
		return nil
	case ClientAuthOptional:
		c.ClientAuth = tls.VerifyClientCertIfGiven
	case ClientAuthRequired:
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	c.ClientCAs = x509.NewCertPool()
	if !c.ClientCAs.AppendCertsFromPEM(roots) {
		return fmt.Errorf("%s holds no certificate", t.cfg.ClientCA)
	}
	// A resumed session would be believed by what was believed when it began.
	c.SessionTicketsDisabled = true
	return nil
}

func (t *TLS) warn(leaf *x509.Certificate) {
	if leaf != nil && time.Now().After(leaf.NotAfter) {
		t.log.Warn("the certificate has expired", "file", t.cfg.Cert, "not_after", leaf.NotAfter)
	}
}

// reload uses the files if they have changed since they were read last.
func (t *TLS) reload() {
	files, err := t.read()
	if err == nil {
		if files.hash() == t.seen {
			return
		}
		err = t.use(files)
	} else if unread := sha256.Sum256([]byte(err.Error())); unread != t.seen {
		t.seen = unread
	} else {
		return
	}
	if err != nil {
		t.log.Error("the changed files of TLS cannot be used; what was there before is", "error", err)
		return
	}
	t.log.Info("the files of TLS were read again")
}

// watch reloads whenever files change, until ctx ends.
func (t *TLS) watch(ctx context.Context) {
	if t.cfg.Cert == "" && t.cfg.ClientCA == "" {
		return
	}
	changes := t.notices()
	t.done.Go(func() {
		defer changes.close()
		tick := time.NewTicker(t.every)
		defer tick.Stop()
		settled := time.NewTimer(t.every)
		defer settled.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-changes.events:
				settled.Reset(filesSettle)
			case <-changes.errors: // what was lost is found by looking
			case <-tick.C:
				t.reload()
			case <-settled.C:
				t.reload()
			}
		}
	})
}

// notices are what the system tells of changed files. Without any, its channels are nil
// and nothing ever comes.
type notices struct {
	events <-chan fsnotify.Event
	errors <-chan error
	close  func() error
}

// notices watches the files' folders: files are replaced by new ones, and in Kubernetes
// the folder that they are in is.
func (t *TLS) notices() notices {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.log.Warn("changed files of TLS are noticed by looking once a minute", "error", err)
		return notices{close: func() error { return nil }}
	}
	for _, path := range []string{t.cfg.Cert, t.cfg.Key, t.cfg.ClientCA} {
		if path == "" {
			continue
		}
		if err := w.Add(filepath.Dir(path)); err != nil {
			t.log.Warn("changes of a file of TLS are noticed by looking once a minute", "file", path, "error", err)
		}
	}
	return notices{w.Events, w.Errors, w.Close}
}

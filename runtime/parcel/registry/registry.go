package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	orasregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/wharf-dev/wharf/runtime/parcel"
)

// Reference names an artefact: REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@DIGEST.
type Reference struct{ ref orasregistry.Reference }

// ParseReference reads a reference, which has to state a tag or a digest.
func ParseReference(text string) (Reference, error) {
	ref, err := orasregistry.ParseReference(text)
	if err != nil {
		return Reference{}, fmt.Errorf("%q is no reference, such as registry.example.com/plugins/triage:1.2.0: %w", text, err)
	}
	if ref.Reference == "" {
		return Reference{}, fmt.Errorf("%q names no version: write %s:TAG or %s@DIGEST", text, text, text)
	}
	return Reference{ref}, nil
}

// String returns the reference as it is written.
func (r Reference) String() string { return r.ref.String() }

// Digest returns the digest that the reference states; "" when it states a tag.
func (r Reference) Digest() string {
	if d, err := r.ref.Digest(); err == nil {
		return d.String()
	}
	return ""
}

// At returns a reference to the same repository by a digest.
func (r Reference) At(digest string) Reference {
	r.ref.Reference = digest
	return r
}

// Loopback reports whether the registry is on this machine.
func (r Reference) Loopback() bool {
	host := r.ref.Host()
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// Credential is what a registry knows somebody by.
type Credential struct{ User, Password string }

// Options say how a registry is spoken to.
type Options struct {
	PlainHTTP bool
	// Credential is used in place of what the configuration of docker has; the zero one is none.
	Credential Credential
	// DockerConfig is the file with credentials; "" is docker's own.
	DockerConfig string
	// Stall is how long may pass without a byte; 0 is a minute.
	Stall time.Duration
	// Progress is told of each blob when it is done; nil tells nobody. It may be called at once by several.
	Progress  func(Progress)
	UserAgent string
}

// Progress tells that a blob was moved.
type Progress struct {
	Path  string // in the package; "" for what the artefact has besides
	Bytes int64
	There bool // the registry had it already
}

// Pushed is an artefact in a registry.
type Pushed struct {
	Reference string // as it was asked for
	Digest    string // of the artefact
}

// stall is how long may pass without a byte where nobody says otherwise.
const stall = time.Minute

// repository returns where a reference points to.
func (o *Options) repository(r Reference) (*remote.Repository, error) {
	store, err := o.store()
	if err != nil {
		return nil, fmt.Errorf("reading the credentials of docker: %w", err)
	}
	client := &auth.Client{Client: &http.Client{Transport: o.transport(), CheckRedirect: o.redirect(r)},
		Cache: auth.NewCache(), Credential: credentials.Credential(store)}
	if o.Credential != (Credential{}) {
		client.Credential = auth.StaticCredential(r.ref.Host(), auth.Credential{Username: o.Credential.User, Password: o.Credential.Password})
	}
	if r.Loopback() {
		client.BlockedRealmPrefixes = []netip.Prefix{} // what makes its tokens is on this machine, too
	}
	client.SetUserAgent(o.UserAgent)
	return &remote.Repository{Client: client, Reference: r.ref, PlainHTTP: o.PlainHTTP, MaxMetadataBytes: maxManifest}, nil
}

func (o *Options) store() (credentials.Store, error) {
	if o.DockerConfig != "" {
		return credentials.NewStore(o.DockerConfig, credentials.StoreOptions{})
	}
	return credentials.NewStoreFromDocker(credentials.StoreOptions{})
}

// redirect follows no redirect that leaves TLS. The client itself takes credentials off where one leaves the registry.
func (o *Options) redirect(r Reference) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return errors.New("it redirects in circles")
		}
		if req.URL.Scheme != "https" && !o.PlainHTTP {
			return fmt.Errorf("%s redirects to %s in the clear, which is not followed", r.ref.Host(), req.URL.Host)
		}
		return nil
	}
}

// transport is one whose connections are ended when nothing comes.
func (o *Options) transport() http.RoundTripper {
	limit := o.stall()
	dialer := &net.Dialer{Timeout: min(limit, 30*time.Second)}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout, t.MaxResponseHeaderBytes = limit, limit, 256<<10
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &watched{c, limit}, nil
	}
	return t
}

func (o *Options) stall() time.Duration {
	if o.Stall > 0 {
		return o.Stall
	}
	return stall
}

// watched is a connection on which no read and no write takes longer than limit.
type watched struct {
	net.Conn
	limit time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.SetReadDeadline(time.Now().Add(w.limit)); err != nil {
		return 0, err
	}
	return w.Conn.Read(p)
}

// Write gives the answer more time, too, which is waited for while a long request is sent.
func (w *watched) Write(p []byte) (int, error) {
	if err := w.SetDeadline(time.Now().Add(w.limit)); err != nil {
		return 0, err
	}
	return w.Conn.Write(p)
}

func (o *Options) told(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

// Push brings a package to a registry, the manifest of the artefact last: nobody sees a part of it.
func Push(ctx context.Context, r Reference, p *parcel.Package, o Options) (Pushed, error) {
	blobs, top, err := artefact(p)
	if err != nil {
		return Pushed{}, err
	}
	if d := r.Digest(); d != "" && d != top.Digest.String() {
		return Pushed{}, fmt.Errorf("the package is the artefact %s, and not %s: push it by a tag", top.Digest, d)
	}
	repo, err := o.repository(r)
	if err != nil {
		return Pushed{}, err
	}
	for _, b := range blobs {
		if err := o.pushBlob(ctx, repo, b); err != nil {
			return Pushed{}, said(r, err)
		}
	}
	if err := repo.PushReference(ctx, top.Descriptor, reader(top), r.ref.Reference); err != nil {
		return Pushed{}, said(r, fmt.Errorf("pushing the manifest: %w", err))
	}
	o.told(Progress{Bytes: top.Size})
	return Pushed{r.String(), top.Digest.String()}, nil
}

func (o *Options) pushBlob(ctx context.Context, repo *remote.Repository, b blob) error {
	path := b.Annotations[ocispec.AnnotationTitle]
	there, err := repo.Exists(ctx, b.Descriptor)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", b.Digest, err)
	}
	if !there {
		if err := repo.Push(ctx, b.Descriptor, reader(b)); err != nil && !errors.Is(err, errdef.ErrAlreadyExists) {
			return fmt.Errorf("pushing %s: %w", b.Digest, err)
		}
	}
	o.told(Progress{path, b.Size, there})
	return nil
}

// Resolve returns the digest of the artefact that a reference stands for now.
func Resolve(ctx context.Context, r Reference, o Options) (string, error) {
	if d := r.Digest(); d != "" {
		return d, nil
	}
	repo, err := o.repository(r)
	if err != nil {
		return "", err
	}
	d, err := repo.Resolve(ctx, r.ref.Reference)
	if err != nil {
		return "", said(r, err)
	}
	return d.Digest.String(), nil
}

// Pull fetches the package that a reference with a digest names. What is not a package as it was
// pushed is a [*parcel.Refused].
func Pull(ctx context.Context, r Reference, o Options) (*parcel.Package, error) {
	if r.Digest() == "" {
		return nil, fmt.Errorf("%s names no digest", r)
	}
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	text, err := fetchManifest(ctx, repo, r)
	if err != nil {
		return nil, said(r, err)
	}
	list, err := layers(text)
	if err != nil {
		return nil, about(r, err)
	}
	p, err := parcel.New(named(list, func(d ocispec.Descriptor) ([]byte, error) {
		b, err := content.FetchAll(ctx, repo, d)
		if err != nil {
			return nil, said(r, fmt.Errorf("fetching %s: %w", d.Digest, err))
		}
		o.told(Progress{d.Annotations[ocispec.AnnotationTitle], d.Size, false})
		return b, nil
	}))
	return p, about(r, err)
}

// fetchManifest fetches the manifest of an artefact by its digest.
func fetchManifest(ctx context.Context, repo *remote.Repository, r Reference) (_ []byte, err error) {
	d, body, err := repo.FetchReference(ctx, r.Digest())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	switch {
	case d.MediaType != ocispec.MediaTypeImageManifest:
		return nil, refuse("its manifest is a %s, and none of a plugin", clip(d.MediaType))
	case d.Size > maxManifest:
		return nil, refuse("its manifest has %d bytes, and at most %d are read", d.Size, maxManifest)
	case d.Digest.String() != r.Digest():
		return nil, refuse("the registry has sent %s in its place", clip(d.Digest.String()))
	}
	return content.ReadAll(io.LimitReader(body, maxManifest+1), d)
}

// about says which artefact was refused.
func about(r Reference, err error) error {
	refused, ok := errors.AsType[*parcel.Refused](err)
	if ok && !strings.HasPrefix(refused.Reason, r.String()) {
		return &parcel.Refused{Reason: r.String() + ": " + refused.Reason, Problems: refused.Problems}
	}
	return err
}

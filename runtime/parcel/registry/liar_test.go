package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

const sound = `name = "triage"
version = "1.2.0"
kind = "skill"
description = "Says which team a ticket belongs to."
module = "triage.wasm"
`

// plugin is a signed package.
func plugin(t *testing.T) *parcel.Package {
	t.Helper()
	files := map[string]string{"wharf.toml": sound, "triage.wasm": "\x00asm\x01\x00\x00\x00", "README.md": "# Triage"}
	p, err := parcel.New(func(yield func(filetree.Named, error) bool) {
		for path, content := range files {
			if !yield(filetree.Named{Path: path, Content: strings.NewReader(content)}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Sign(receipt.NewKey(bytes.Repeat([]byte{1}, 32)))
	return p
}

// liar is a registry that has one package under the tag 1, and says of it what a test wants.
type liar struct {
	*httptest.Server
	digest string
	mu     sync.Mutex
	seen   []*http.Request
}

// answer is what a liar does with a request; false leaves it to what is right.
type answer func(w http.ResponseWriter, r *http.Request, content []byte) bool

func newLiar(t *testing.T, p *parcel.Package, change func(*ocispec.Manifest), lie answer) *liar {
	t.Helper()
	blobs, top, err := artefact(p)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		var m ocispec.Manifest
		if err := json.Unmarshal(top.content, &m); err != nil {
			t.Fatal(err)
		}
		change(&m)
		text, err := json.Marshal(m, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		top = newBlob(ocispec.MediaTypeImageManifest, "", text)
	}
	l := &liar{digest: top.Digest.String()}
	held := map[string][]byte{"manifests/1": top.content, "manifests/" + l.digest: top.content}
	for _, b := range blobs {
		held["blobs/"+b.Digest.String()] = b.content
	}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.seen = append(l.seen, r)
		l.mu.Unlock()
		content, ok := held[strings.TrimPrefix(r.URL.Path, "/v2/triage/")]
		if lie != nil && lie(w, r, content) {
			return
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		give(w, r, content)
	}))
	t.Cleanup(l.Close)
	return l
}

func give(w http.ResponseWriter, r *http.Request, content []byte) {
	if strings.Contains(r.URL.Path, "/manifests/") {
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", digest.FromBytes(content).String())
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content) // a client that has gone
	}
}

// reference names what a liar has.
func (l *liar) reference(t *testing.T, reference string) Reference {
	t.Helper()
	r, err := ParseReference(strings.TrimPrefix(l.URL, "http://") + "/triage" + reference)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// options keep from the credentials of whoever runs the tests.
func options(t *testing.T) Options {
	return Options{PlainHTTP: true, DockerConfig: filepath.Join(t.TempDir(), "config.json"), Stall: time.Minute}
}

func blobs(lie answer) answer {
	return func(w http.ResponseWriter, r *http.Request, content []byte) bool {
		return strings.Contains(r.URL.Path, "/blobs/") && lie(w, r, content)
	}
}

func TestWhatARegistryHasIsPulled(t *testing.T) {
	p := plugin(t)
	l := newLiar(t, p, nil, nil)
	o := options(t)
	found, err := Resolve(t.Context(), l.reference(t, ":1"), o)
	if err != nil || found != l.digest {
		t.Fatalf("%s, %v", found, err)
	}
	var moved []string
	o.Progress = func(p Progress) { moved = append(moved, p.Path) }
	got, err := Pull(t.Context(), l.reference(t, "@"+found), o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != p.Digest || len(got.Signatures) != 1 || len(moved) != 5 {
		t.Errorf("pulled %s with %d signatures in %q", got.Digest, len(got.Signatures), moved)
	}
}

// A package is one artefact. When this digest changes, what was pushed before is pushed anew.
func TestTheArtefactIsTheSameEachTime(t *testing.T) {
	_, top, err := artefact(plugin(t))
	if err != nil {
		t.Fatal(err)
	}
	if want := "sha256:5cfe189f45a89dad188928c316ce3579325627ed988354816e593df1f8990929"; top.Digest.String() != want {
		t.Errorf("the artefact is %s, and was %s:\n%s", top.Digest, want, top.content)
	}
}

func TestRegistriesThatLie(t *testing.T) {
	layer := func(i int, change func(*ocispec.Descriptor)) func(*ocispec.Manifest) {
		return func(m *ocispec.Manifest) { change(&m.Layers[i]) }
	}
	titled := func(title string) func(*ocispec.Manifest) {
		return func(m *ocispec.Manifest) {
			for i := range m.Layers {
				if m.Layers[i].Annotations[ocispec.AnnotationTitle] == "README.md" {
					m.Layers[i].Annotations[ocispec.AnnotationTitle] = title
				}
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*ocispec.Manifest)
		lie    answer
		words  string
	}{
		"a layer of another digest": {lie: blobs(func(w http.ResponseWriter, r *http.Request, content []byte) bool {
			give(w, r, bytes.Repeat([]byte("x"), len(content)))
			return true
		}), words: "not what its digest says"},
		"a layer that is cut off": {lie: blobs(func(w http.ResponseWriter, r *http.Request, content []byte) bool {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = w.Write(content[:len(content)/2])
			return true
		}), words: "unexpected EOF"},
		"a layer of another length": {lie: blobs(func(w http.ResponseWriter, r *http.Request, content []byte) bool {
			give(w, r, append(bytes.Clone(content), "more"...))
			return true
		}), words: "mismatch"},
		"a layer without an end": {lie: blobs(func(w http.ResponseWriter, r *http.Request, content []byte) bool {
			for _, err := w.Write(content); err == nil && r.Context().Err() == nil; {
				_, err = w.Write(make([]byte, 1<<16))
			}
			return true
		}), words: "not what its digest says"},
		"a manifest of another digest": {lie: func(w http.ResponseWriter, r *http.Request, content []byte) bool {
			if strings.Contains(r.URL.Path, "/manifests/") {
				give(w, r, append(bytes.Clone(content), ' '))
			}
			return strings.Contains(r.URL.Path, "/manifests/")
		}, words: "igest"},
		"a manifest without an end": {lie: func(w http.ResponseWriter, r *http.Request, content []byte) bool {
			if !strings.Contains(r.URL.Path, "/manifests/") || r.Method == http.MethodHead {
				return false
			}
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			for err := error(nil); err == nil && r.Context().Err() == nil; {
				_, err = w.Write(bytes.Repeat([]byte(" "), 1<<16))
			}
			return true
		}, words: ""},
		"a huge manifest": {lie: func(w http.ResponseWriter, r *http.Request, content []byte) bool {
			if strings.Contains(r.URL.Path, "/manifests/") {
				w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
				w.Header().Set("Docker-Content-Digest", digest.FromBytes(content).String())
				_, _ = w.Write(make([]byte, 2*maxManifest))
			}
			return strings.Contains(r.URL.Path, "/manifests/")
		}, words: ""},
		"a manifest of images": {lie: func(w http.ResponseWriter, r *http.Request, content []byte) bool {
			if strings.Contains(r.URL.Path, "/manifests/") {
				w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
				w.Header().Set("Content-Length", fmt.Sprint(len(content)))
				_, _ = w.Write(content)
			}
			return strings.Contains(r.URL.Path, "/manifests/")
		}, words: "none of a plugin"},
		"an image":                      {change: func(m *ocispec.Manifest) { m.Config.MediaType = ocispec.MediaTypeImageConfig }, words: "no WebAssembly"},
		"a layer of an image":           {change: layer(0, func(d *ocispec.Descriptor) { d.MediaType = ocispec.MediaTypeImageLayerGzip }), words: "first layer is no application/wasm"},
		"no layer":                      {change: func(m *ocispec.Manifest) { m.Layers = nil }, words: "first layer is no application/wasm"},
		"a module alone":                {change: func(m *ocispec.Manifest) { m.Layers = m.Layers[:1] }, words: "no package of a plugin"},
		"too many layers":               {change: func(m *ocispec.Manifest) { m.Layers = append(m.Layers, make([]ocispec.Descriptor, 1000)...) }, words: "at most 1002"},
		"a layer that is too large":     {change: layer(1, func(d *ocispec.Descriptor) { d.Size = parcel.MaxModule + 1 }), words: "67108864"},
		"a layer below nothing":         {change: layer(1, func(d *ocispec.Descriptor) { d.Size = -1 }), words: "-1 bytes"},
		"layers too large together":     {change: func(m *ocispec.Manifest) { m.Layers[1].Size, m.Layers[2].Size = 60<<20, 60<<20 }, words: "100663296"},
		"a digest that is none":         {change: layer(1, func(d *ocispec.Descriptor) { d.Digest = "sha256:../../../etc/passwd" }), words: "no sha256"},
		"a weak digest":                 {change: layer(1, func(d *ocispec.Descriptor) { d.Digest = "md5:d41d8cd98f00b204e9800998ecf8427e" }), words: "no sha256"},
		"a title that leads out":        {change: titled("../../README.md"), words: "leads out of the folder"},
		"a title that is absolute":      {change: titled("/etc/passwd"), words: "begins with a /"},
		"a title that is there twice":   {change: titled("wharf.toml"), words: "there twice"},
		"no title":                      {change: titled(""), words: "empty"},
		"a file under another name":     {change: titled("LIESMICH.md"), words: "not in the table of contents"},
		"a layer that is not there":     {change: layer(1, func(d *ocispec.Descriptor) { d.Digest = digest.FromString("x") }), words: "not in the registry"},
		"an answer that is no registry": {lie: func(w http.ResponseWriter, _ *http.Request, _ []byte) bool { fmt.Fprint(w, "<html>"); return true }, words: ""},
		"a redirect in circles": {lie: func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
			return true
		}, words: "circles"},
		"a denial": {lie: func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.WriteHeader(http.StatusForbidden)
			return true
		}, words: "denies"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLiar(t, plugin(t), c.change, c.lie)
			p, err := Pull(t.Context(), l.reference(t, "@"+l.digest), options(t))
			if err == nil || !strings.Contains(err.Error(), c.words) {
				t.Errorf("pulled %v, %v; want %q", p, err, c.words)
			}
		})
	}
}

// A registry that says nothing more, and keeps the connection, is left.
func TestRegistriesThatStall(t *testing.T) {
	for name, begin := range map[string]func(w http.ResponseWriter, content []byte){
		"before the answer": func(http.ResponseWriter, []byte) {},
		"in the middle": func(w http.ResponseWriter, content []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = w.Write(content[:1])
			_ = http.NewResponseController(w).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			over := make(chan struct{})
			l := newLiar(t, plugin(t), nil, blobs(func(w http.ResponseWriter, r *http.Request, content []byte) bool {
				begin(w, content)
				<-over
				return true
			}))
			o := options(t)
			o.Stall = 50 * time.Millisecond
			_, err := Pull(t.Context(), l.reference(t, "@"+l.digest), o)
			close(over)
			if failure, ok := errors.AsType[*Failure](err); !ok || !strings.Contains(failure.Error(), "does not go on") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestPullsAreGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := newLiar(t, plugin(t), nil, blobs(func(http.ResponseWriter, *http.Request, []byte) bool {
		cancel()
		return false
	}))
	if _, err := Pull(ctx, l.reference(t, "@"+l.digest), options(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
}

// What the password of a registry is sent to is that registry, and nobody that it names.
func TestPasswordsStayWithTheirRegistry(t *testing.T) {
	var mu sync.Mutex
	var elsewhere []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		elsewhere = append(elsewhere, r.Header.Get("Authorization")+r.Header.Get("Cookie"))
		w.WriteHeader(http.StatusNotFound)
	}))
	told := func() []string {
		mu.Lock()
		defer mu.Unlock()
		all := elsewhere
		elsewhere = nil
		return all
	}
	defer other.Close()
	ask := func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "me" && password == "secret" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	l := newLiar(t, plugin(t), nil, func(w http.ResponseWriter, r *http.Request, content []byte) bool {
		if ask(w, r) {
			return true
		}
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}
		return strings.Contains(r.URL.Path, "/blobs/")
	})
	o := options(t)
	o.Credential = Credential{"me", "secret"}
	if _, err := Pull(t.Context(), l.reference(t, "@"+l.digest), o); err == nil {
		t.Error("what lies elsewhere was found")
	}
	if all := told(); len(all) == 0 || strings.Join(all, "") != "" {
		t.Errorf("of %d requests elsewhere it was told %q", len(all), all)
	}
	u, err := url.Parse(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseReference(u.Host + "/triage:1")
	if err != nil {
		t.Fatal(err)
	}
	o.Credential = Credential{}
	if err := os.WriteFile(o.DockerConfig, fmt.Appendf(nil, `{"auths":{%q:{"auth":"bWU6c2VjcmV0"}}}`, strings.TrimPrefix(l.URL, "http://")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Resolve(t.Context(), r, o); err == nil || strings.Join(told(), "") != "" {
		t.Errorf("another registry was told of the password: %v", err)
	}
	if _, err := Resolve(t.Context(), l.reference(t, ":1"), o); err != nil {
		t.Errorf("with what docker has kept: %v", err)
	}
}

// An upload is not sent to where a registry points that is somebody else.
func TestUploadsStayWithTheirRegistry(t *testing.T) {
	var asked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer other.Close()
	l := newLiar(t, plugin(t), nil, func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.Method == http.MethodPost {
			w.Header().Set("Location", other.URL+"/upload")
			w.WriteHeader(http.StatusAccepted)
			return true
		}
		http.NotFound(w, r)
		return true
	})
	_, err := Push(t.Context(), l.reference(t, ":2"), plugin(t), options(t))
	if err == nil || asked.Load() || !strings.Contains(err.Error(), "different host") {
		t.Errorf("asked %v, %v", asked.Load(), err)
	}
}

func TestPlainHTTPIsAskedFor(t *testing.T) {
	l := newLiar(t, plugin(t), nil, nil)
	o := options(t)
	o.PlainHTTP = false
	if _, err := Resolve(t.Context(), l.reference(t, ":1"), o); err == nil || len(l.seen) > 0 {
		t.Errorf("%d requests in the clear, %v", len(l.seen), err)
	}
	for text, want := range map[string]bool{"localhost:5000/a:1": true, "127.0.0.1:5000/a:1": true, "127.9.9.9/a:1": true, "[::1]:5000/a:1": true,
		"registry.example.com/a:1": false, "localhost.example.com/a:1": false, "10.0.0.1:5000/a:1": false, "127.0.0.1.example.com/a:1": false} {
		r, err := ParseReference(text)
		if err != nil || r.Loopback() != want {
			t.Errorf("%s: %v, %v", text, r.Loopback(), err)
		}
	}
}

func TestReferences(t *testing.T) {
	for _, text := range []string{"", "triage", "registry.example.com/triage", "registry.example.com/Triage:1", "registry.example.com/../x:1", "registry.example.com/a:1 2",
		"https://registry.example.com/a:1", "registry.example.com/a@sha256:1"} {
		if r, err := ParseReference(text); err == nil {
			t.Errorf("%q is the reference %v", text, r)
		}
	}
}

func TestLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	one, two := digest.FromString("1").String(), digest.FromString("2").String()
	a, err := ParseReference("registry.example.com/a:1")
	if err != nil {
		t.Fatal(err)
	}
	b, err := ParseReference("registry.example.com/b:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		r Reference
		l Locked
	}{{b, Locked{one, two}}, {a, Locked{one, one}}, {a, Locked{two, two}}} {
		if err := Keep(path, k.r, k.l); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := ReadLock(path)
	if err != nil || len(lock.Packages) != 2 || lock.Packages[a.String()] != (Locked{two, two}) || lock.Packages[b.String()] != (Locked{one, two}) {
		t.Errorf("%+v, %v", lock, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	for text, words := range map[string]string{"": "is no lock", "[]": "is no lock", `{"format":"wharf-lock-2"}`: "format",
		`{"format":"wharf-lock-1","packages":{"a":{"artefact":"x","package":"y"}}}`: "a digest that is none",
		strings.Repeat(" ", maxLock+1):                                              "more than"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadLock(path); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if err := os.WriteFile(path, []byte(`{"format":"wharf-lock-1","packages":null}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Keep(path, a, Locked{one, two}); err != nil {
		t.Error(err)
	}
}

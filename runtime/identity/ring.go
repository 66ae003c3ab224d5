package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jwk"

	"github.com/wharf-dev/wharf/runtime/keyfile"
)

// ringFormat is the version of the format of the keys' file.
const ringFormat = "wharf-token-keys-1"

// ring holds the keys that the node signs tokens with: the current one first, and those
// before it as long as what they signed has not expired. The private half of an old key
// is gone.
type ring struct {
	path      string
	keys      []*ownKey
	rotations uint64
}

// ownKey is a key of the node's issuer.
type ownKey struct {
	id       string
	private  *ecdsa.PrivateKey // of the current key
	verifier *ecdsa.PublicKey
	created  time.Time
	until    time.Time // when a key that signs no more is forgotten; zero for the current one
}

// ringFile is the form of the file.
type ringFile struct {
	Format string      `json:"format"`
	Keys   []storedKey `json:"keys"`
}

type storedKey struct {
	Key       jsontext.Value `json:"jwk"`
	CreatedAt time.Time      `json:"created_at"`
	Until     time.Time      `json:"until,omitzero"`
}

// open reads the keys, or makes the first.
func (r *ring) open(now time.Time) error {
	content, unreadable := keyfile.Read(r.path)
	switch {
	case errors.Is(unreadable, fs.ErrNotExist):
		return r.rotate(now, now)
	case content == nil:
		return fmt.Errorf("reading the keys that sign tokens: %w", unreadable)
	}
	if err := r.load(content); err != nil {
		return fmt.Errorf("%s is damaged: %w. Put it back from a backup, or remove it to have a new key made; tokens that were issued before are then refused", r.path, err)
	}
	return unreadable
}

func (r *ring) load(content []byte) error {
	var f ringFile
	if err := json.Unmarshal(content, &f, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if f.Format != ringFormat {
		return fmt.Errorf("its format is %q, not %q", f.Format, ringFormat)
	}
	for _, s := range f.Keys {
		k, err := s.open()
		if err != nil {
			return err
		}
		r.keys = append(r.keys, k)
	}
	if len(r.keys) == 0 || r.keys[0].private == nil {
		return errors.New("it lacks the key that signs")
	}
	return nil
}

func (s *storedKey) open() (*ownKey, error) {
	k, err := jwk.ParseKey(s.Key)
	if err != nil {
		return nil, fmt.Errorf("reading a key: %w", err)
	}
	var raw any
	if err := jwk.Export(k, &raw); err != nil {
		return nil, fmt.Errorf("reading a key: %w", err)
	}
	switch key := raw.(type) {
	case *ecdsa.PrivateKey:
		return newOwnKey(&key.PublicKey, key, s.CreatedAt, s.Until)
	case *ecdsa.PublicKey:
		return newOwnKey(key, nil, s.CreatedAt, s.Until)
	}
	return nil, fmt.Errorf("it holds a %T", raw)
}

// newOwnKey returns a key whose id is its thumbprint (RFC 7638).
func newOwnKey(public *ecdsa.PublicKey, private *ecdsa.PrivateKey, created, until time.Time) (*ownKey, error) {
	if public.Curve != elliptic.P256() {
		return nil, fmt.Errorf("it holds a key on %s", public.Curve.Params().Name)
	}
	k, err := jwk.Import(public)
	if err != nil {
		return nil, err
	}
	thumbprint, err := k.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	return &ownKey{id: base64.RawURLEncoding.EncodeToString(thumbprint), private: private, verifier: public, created: created, until: until}, nil
}

// current returns the key that signs.
func (r *ring) current() *ownKey { return r.keys[0] }

// rotate puts a new key first. The one before is known until the given time, and its
// private half is forgotten.
func (r *ring) rotate(now, until time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making a key that signs tokens: %w", err)
	}
	fresh, err := newOwnKey(&private.PublicKey, private, now, time.Time{})
	if err != nil {
		return fmt.Errorf("making a key that signs tokens: %w", err)
	}
	keys := []*ownKey{fresh}
	for i, k := range r.valid(now) {
		old := *k
		if i == 0 {
			old.private, old.until = nil, until
		}
		keys = append(keys, &old)
	}
	if err := r.write(keys); err != nil {
		return fmt.Errorf("writing the keys that sign tokens: %w", err)
	}
	r.keys = keys
	r.rotations++
	return nil
}

// valid returns the keys of which tokens may still be in use.
func (r *ring) valid(now time.Time) (keys []*ownKey) {
	for _, k := range r.keys {
		if k.until.IsZero() || now.Before(k.until) {
			keys = append(keys, k)
		}
	}
	return keys
}

func (r *ring) write(keys []*ownKey) error {
	f := ringFile{Format: ringFormat}
	for _, k := range keys {
		text, err := k.stored()
		if err != nil {
			return err
		}
		f.Keys = append(f.Keys, storedKey{text, k.created.UTC(), k.until.UTC()})
	}
	content, err := json.Marshal(&f, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return keyfile.Write(r.path, append(content, '\n'))
}

// stored returns the key as a JWK, with its private half if it has one.
func (k *ownKey) stored() ([]byte, error) {
	var raw any = k.verifier
	if k.private != nil {
		raw = k.private
	}
	key, err := jwk.Import(raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(key)
}

func (r *ring) public(now time.Time) (keys []publicKey) {
	for _, k := range r.valid(now) {
		keys = append(keys, publicKey{k.id, ownAlgorithm, k.verifier})
	}
	return keys
}

func (r *ring) jwks(now time.Time) ([]byte, error) {
	set := jwk.NewSet()
	for _, k := range r.valid(now) {
		key, err := jwk.Import(k.verifier)
		if err != nil {
			return nil, err
		}
		for name, value := range map[string]any{jwk.KeyIDKey: k.id, jwk.AlgorithmKey: ownAlgorithm, jwk.KeyUsageKey: "sig"} {
			if err := key.Set(name, value); err != nil {
				return nil, err
			}
		}
		if err := set.AddKey(key); err != nil {
			return nil, err
		}
	}
	return json.Marshal(set)
}

package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// Header is the header of a delivery.
type Header interface {
	// Get returns the value of the header of the given name, in any case, nil when
	// there is none.
	Get(name string) []byte
}

// Reason says in a word why a delivery is refused.
type Reason string

// The reasons.
const (
	Missing   Reason = "missing"   // there is no signature, or nothing that it needs
	Malformed Reason = "malformed" // the signature is none of the scheme's
	Expired   Reason = "expired"   // its time is too far from now
	Mismatch  Reason = "mismatch"  // no secret gives this signature
	NoSecret  Reason = "no_secret" // there is nothing to check it with
)

// Error says why a delivery is refused. It holds neither secrets nor signatures.
type Error struct {
	Reason Reason
	Detail string
}

func (e *Error) Error() string { return "the signature is refused: " + e.Detail }

func refuse(reason Reason, format string, args ...any) error {
	return &Error{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// DefaultTolerance is how far a signed time may be from now.
const DefaultTolerance = 5 * time.Minute

// What is looked at, at most.
const (
	maxHeader     = 4096 // bytes of a header with signatures
	maxSignatures = 16   // signatures in it
	maxID         = 255  // bytes of a delivery id that is signed
	maxSeconds    = 12   // digits of a time
)

// Verifier checks the deliveries of one Connector. It is safe for concurrent use, and
// cheap to use again: the secrets' part of each hash is computed once.
type Verifier struct {
	auth      abi.WebhookAuth
	tolerance time.Duration
	keys      []*key
}

// New returns what checks deliveries that are signed with any of the secrets. The
// scheme must be stated: the caller fills the provider's in.
func New(auth abi.WebhookAuth, secrets [][]byte) (*Verifier, error) {
	if err := Check(auth); err != nil {
		return nil, err
	}
	v := &Verifier{auth: auth, tolerance: DefaultTolerance}
	if auth.ToleranceSeconds > 0 {
		v.tolerance = time.Duration(auth.ToleranceSeconds) * time.Second
	}
	for _, secret := range secrets {
		if len(secret) > 0 {
			v.keys = append(v.keys, newKey(auth, secret))
		}
	}
	return v, nil
}

// Verify returns what is signed of a delivery that one of the secrets signed, else an
// [Error].
func (v *Verifier) Verify(h Header, body []byte, now time.Time) (Signed, error) {
	if v.auth.Scheme == abi.SchemeNone {
		return Signed{}, nil
	}
	if len(v.keys) == 0 {
		return Signed{}, refuse(NoSecret, "the connector has no secret to check signatures with")
	}
	claim, err := v.read(h, now)
	if err != nil {
		return Signed{}, err
	}
	for _, k := range v.keys {
		if k.signs(claim, body) {
			return Signed{claim.before}, nil
		}
	}
	return Signed{}, refuse(Mismatch, "no secret of the connector gives this signature")
}

// Signed is what a signature covers besides the body: with most schemes, a time.
type Signed struct{ before [3][]byte }

// With returns a hash of all that a signature covers, of the SHA-256 of the body.
func (s *Signed) With(body [sha256.Size]byte) [sha256.Size]byte {
	if !slices.ContainsFunc(s.before[:], func(part []byte) bool { return len(part) > 0 }) {
		return body
	}
	sum := sha256.New()
	for _, part := range s.before {
		sum.Write(part)
	}
	sum.Write(body[:])
	return [sha256.Size]byte(sum.Sum(nil))
}

// Tolerance is how far a signed time may be from now.
func (v *Verifier) Tolerance() time.Duration { return v.tolerance }

// claim is what a delivery's header says: what is signed before the body, and the
// signatures, any of which may hold.
type claim struct {
	before     [3][]byte // parts that are signed before the body, each as it is
	signatures [][sha512.Size]byte
	size       int // bytes of each signature
}

// Check reports what is wrong with how a Connector wants its deliveries checked.
func Check(auth abi.WebhookAuth) error {
	schemes := []abi.SignatureScheme{abi.SchemeNone, abi.SchemeStandard, abi.SchemeGitHub, abi.SchemeStripe, abi.SchemeSlack, abi.SchemeHMAC}
	switch {
	case !slices.Contains(schemes, auth.Scheme):
		return fmt.Errorf("the signature scheme %q is none of %s", auth.Scheme, joined(schemes))
	case auth.ToleranceSeconds < 0 || auth.ToleranceSeconds > 24*60*60:
		return fmt.Errorf("tolerance_seconds is %d; it must be between 0 and a day", auth.ToleranceSeconds)
	case auth.Scheme != abi.SchemeHMAC:
		return checkOthers(auth)
	case auth.Header == "":
		return fmt.Errorf("the scheme hmac needs the header that holds the signature")
	case auth.Hash != "" && auth.Hash != "sha256" && auth.Hash != "sha512":
		return fmt.Errorf("the hash %q is neither sha256 nor sha512", auth.Hash)
	case auth.Encoding != "" && auth.Encoding != "hex" && auth.Encoding != "base64":
		return fmt.Errorf("the encoding %q is neither hex nor base64", auth.Encoding)
	}
	return nil
}

func checkOthers(auth abi.WebhookAuth) error {
	if auth.Header+auth.Hash+auth.Encoding+auth.Prefix+auth.TimestampHeader != "" {
		return fmt.Errorf("header, hash, encoding, prefix and timestamp_header belong to the scheme hmac, not to %s", auth.Scheme)
	}
	return nil
}

func joined(schemes []abi.SignatureScheme) string {
	var words []string
	for _, s := range schemes {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// key is a secret, ready to sign with.
type key struct{ states sync.Pool }

// state is a hash that has taken the secret in.
type state struct {
	hash.Hash
	sum []byte
}

func newKey(auth abi.WebhookAuth, secret []byte) *key {
	secret = secretOf(auth.Scheme, secret)
	algorithm := sha256.New
	if auth.Hash == "sha512" {
		algorithm = sha512.New
	}
	return &key{states: sync.Pool{New: func() any {
		return &state{Hash: hmac.New(algorithm, secret), sum: make([]byte, 0, sha512.Size)}
	}}}
}

// secretOf returns the bytes that sign. Those of Standard Webhooks are handed out in
// base64, mostly after whsec_; what is not base64 is meant as it stands.
func secretOf(scheme abi.SignatureScheme, secret []byte) []byte {
	if scheme != abi.SchemeStandard {
		return slices.Clone(secret)
	}
	text := strings.TrimPrefix(string(secret), "whsec_")
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil && len(raw) > 0 {
		return raw
	}
	return slices.Clone(secret)
}

// signs reports whether one of the claimed signatures is this key's.
func (k *key) signs(c *claim, body []byte) bool {
	s := k.states.Get().(*state)
	defer k.states.Put(s)
	s.Reset()
	for _, part := range c.before {
		s.Write(part)
	}
	s.Write(body)
	s.sum = s.Sum(s.sum[:0])
	good := false
	for i := range c.signatures {
		good = hmac.Equal(s.sum, c.signatures[i][:c.size]) || good
	}
	return good
}

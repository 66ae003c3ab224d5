package signature

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// read takes from the header what the scheme signs with.
func (v *Verifier) read(h Header, now time.Time) (*claim, error) {
	switch v.auth.Scheme {
	case abi.SchemeStandard:
		return v.standard(h, now)
	case abi.SchemeGitHub:
		return v.github(h)
	case abi.SchemeStripe:
		return v.stripe(h, now)
	case abi.SchemeSlack:
		return v.slack(h, now)
	}
	return v.own(h, now)
}

// standard reads the headers of Standard Webhooks: "ID.TIME.BODY" is signed, and the
// signatures stand in "v1,BASE64", separated by spaces.
func (v *Verifier) standard(h Header, now time.Time) (*claim, error) {
	id, at, signatures := h.Get("webhook-id"), h.Get("webhook-timestamp"), h.Get("webhook-signature")
	if len(id) == 0 || len(at) == 0 || len(signatures) == 0 {
		return nil, refuse(Missing, "webhook-id, webhook-timestamp and webhook-signature belong together")
	}
	if len(id) > maxID || len(signatures) > maxHeader {
		return nil, refuse(Malformed, "webhook-id or webhook-signature is too long")
	}
	if bytes.IndexByte(id, '.') >= 0 {
		// "a.T" with the body B signs the same as "a" with the time T and the body "T.B".
		return nil, refuse(Malformed, "webhook-id has a dot, which also separates it from the time")
	}
	if err := v.recent(at, now); err != nil {
		return nil, err
	}
	c := &claim{size: sha256.Size}
	c.before = [3][]byte{joinDot(id, at)}
	for part := range bytes.SplitSeq(signatures, []byte(" ")) {
		if text, ok := bytes.CutPrefix(part, []byte("v1,")); ok {
			c.add(text, "base64")
		}
	}
	return c.some("webhook-signature")
}

// joinDot returns "a.b.".
func joinDot(a, b []byte) []byte {
	out := make([]byte, 0, len(a)+len(b)+2)
	out = append(append(out, a...), '.')
	return append(append(out, b...), '.')
}

// github reads X-Hub-Signature-256. The older X-Hub-Signature is SHA-1, and no proof.
func (v *Verifier) github(h Header) (*claim, error) {
	signature := h.Get("X-Hub-Signature-256")
	if len(signature) == 0 && len(h.Get("X-Hub-Signature")) > 0 {
		return nil, refuse(Missing, "X-Hub-Signature with SHA-1 is not enough: X-Hub-Signature-256 is missing")
	}
	return v.one(signature, "X-Hub-Signature-256", "sha256=", "hex", sha256.Size)
}

// stripe reads Stripe-Signature: "t=TIME,v1=HEX,v1=HEX,v0=…"; "TIME.BODY" is signed.
func (v *Verifier) stripe(h Header, now time.Time) (*claim, error) {
	header := h.Get("Stripe-Signature")
	if len(header) == 0 {
		return nil, refuse(Missing, "Stripe-Signature is missing")
	}
	if len(header) > maxHeader {
		return nil, refuse(Malformed, "Stripe-Signature is too long")
	}
	c := &claim{size: sha256.Size}
	var at []byte
	for part := range bytes.SplitSeq(header, []byte(",")) {
		name, value, _ := bytes.Cut(part, []byte("="))
		switch string(name) {
		case "t":
			if at != nil {
				return nil, refuse(Malformed, "Stripe-Signature states two times")
			}
			at = value
		case "v1":
			c.add(value, "hex")
		}
	}
	if err := v.recent(at, now); err != nil {
		return nil, err
	}
	c.before = [3][]byte{at, []byte(".")}
	return c.some("Stripe-Signature")
}

// slack reads X-Slack-Signature: "v0=HEX"; "v0:TIME:BODY" is signed.
func (v *Verifier) slack(h Header, now time.Time) (*claim, error) {
	at := h.Get("X-Slack-Request-Timestamp")
	if len(at) == 0 {
		return nil, refuse(Missing, "X-Slack-Request-Timestamp is missing")
	}
	if err := v.recent(at, now); err != nil {
		return nil, err
	}
	c, err := v.one(h.Get("X-Slack-Signature"), "X-Slack-Signature", "v0=", "hex", sha256.Size)
	if err != nil {
		return nil, err
	}
	c.before = [3][]byte{[]byte("v0:"), at, []byte(":")}
	return c, nil
}

// own reads the header that the Connector names. With a header for the time,
// "TIME.BODY" is signed, else the body.
func (v *Verifier) own(h Header, now time.Time) (*claim, error) {
	size, encoding := sha256.Size, v.auth.Encoding
	if v.auth.Hash == "sha512" {
		size = sha512.Size
	}
	if encoding == "" {
		encoding = "hex"
	}
	c, err := v.one(h.Get(v.auth.Header), v.auth.Header, v.auth.Prefix, encoding, size)
	if err != nil || v.auth.TimestampHeader == "" {
		return c, err
	}
	at := h.Get(v.auth.TimestampHeader)
	if len(at) == 0 {
		return nil, refuse(Missing, "%s is missing", v.auth.TimestampHeader)
	}
	if err := v.recent(at, now); err != nil {
		return nil, err
	}
	c.before = [3][]byte{at, []byte(".")}
	return c, nil
}

// one reads a header with one signature.
func (v *Verifier) one(signature []byte, name, prefix, encoding string, size int) (*claim, error) {
	if len(signature) == 0 {
		return nil, refuse(Missing, "%s is missing", name)
	}
	if len(signature) > maxHeader {
		return nil, refuse(Malformed, "%s is too long", name)
	}
	text, ok := bytes.CutPrefix(signature, []byte(prefix))
	if !ok {
		return nil, refuse(Malformed, "%s does not begin with %q", name, prefix)
	}
	c := &claim{size: size}
	c.add(text, encoding)
	return c.some(name)
}

// add takes a signature in. What is none is left out: others may stand beside it.
func (c *claim) add(text []byte, encoding string) {
	if len(c.signatures) == maxSignatures {
		return
	}
	var room [sha512.Size + 2]byte // the decoder of base64 may write padding past the end
	n, err := 0, error(nil)
	switch {
	case encoding == "hex" && len(text) == hex.EncodedLen(c.size):
		n, err = hex.Decode(room[:], text)
	case encoding == "base64" && len(text) == base64.StdEncoding.EncodedLen(c.size):
		n, err = base64.StdEncoding.Decode(room[:], text)
	}
	if err == nil && n == c.size {
		c.signatures = append(c.signatures, [sha512.Size]byte(room[:]))
	}
}

func (c *claim) some(header string) (*claim, error) {
	if len(c.signatures) == 0 {
		return nil, refuse(Malformed, "%s holds no signature of this scheme", header)
	}
	return c, nil
}

// recent checks a time in seconds.
func (v *Verifier) recent(text []byte, now time.Time) error {
	seconds, ok := parseSeconds(text)
	if !ok {
		return refuse(Malformed, "its time is no number of seconds")
	}
	// In seconds, for the difference of times saturates.
	if age, most := now.Unix()-seconds, int64(v.tolerance/time.Second); age > most || -age > most {
		return refuse(Expired, "its time is more than %s from now", v.tolerance)
	}
	return nil
}

func parseSeconds(text []byte) (int64, bool) {
	if len(text) == 0 || len(text) > maxSeconds {
		return 0, false
	}
	var n int64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

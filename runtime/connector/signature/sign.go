package signature

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// Sign returns the headers with which a provider sends a body that it signs with the
// secret: what [Verify] takes. For the scheme none there are none.
func Sign(auth abi.WebhookAuth, secret []byte, id string, body []byte, now time.Time) (map[string]string, error) {
	if err := Check(auth); err != nil {
		return nil, err
	}
	k, at := newKey(auth, secret), strconv.FormatInt(now.Unix(), 10)
	switch auth.Scheme {
	case abi.SchemeNone:
		return map[string]string{}, nil
	case abi.SchemeStandard:
		return map[string]string{"webhook-id": id, "webhook-timestamp": at,
			"webhook-signature": "v1," + base64.StdEncoding.EncodeToString(k.sign(id, ".", at, ".", string(body)))}, nil
	case abi.SchemeGitHub:
		return map[string]string{"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(k.sign(string(body)))}, nil
	case abi.SchemeStripe:
		return map[string]string{"Stripe-Signature": "t=" + at + ",v1=" + hex.EncodeToString(k.sign(at, ".", string(body)))}, nil
	case abi.SchemeSlack:
		return map[string]string{"X-Slack-Request-Timestamp": at,
			"X-Slack-Signature": "v0=" + hex.EncodeToString(k.sign("v0:", at, ":", string(body)))}, nil
	}
	return signOwn(auth, k, at, string(body)), nil
}

func signOwn(auth abi.WebhookAuth, k *key, at, body string) map[string]string {
	headers, parts := map[string]string{}, []string{body}
	if auth.TimestampHeader != "" {
		headers[auth.TimestampHeader] = at
		parts = []string{at, ".", body}
	}
	encode := hex.EncodeToString
	if auth.Encoding == "base64" {
		encode = base64.StdEncoding.EncodeToString
	}
	headers[auth.Header] = auth.Prefix + encode(k.sign(parts...))
	return headers
}

// sign returns the hash of the parts.
func (k *key) sign(parts ...string) []byte {
	s := k.states.Get().(*state)
	defer k.states.Put(s)
	s.Reset()
	for _, part := range parts {
		s.Write([]byte(part))
	}
	return s.Sum(nil)
}

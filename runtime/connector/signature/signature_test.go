package signature

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// headers are those of a test's delivery.
type headers map[string]string

func (h headers) Get(name string) []byte {
	for key, value := range h {
		if strings.EqualFold(key, name) {
			return []byte(value)
		}
	}
	return nil
}

func at(seconds int64) time.Time { return time.Unix(seconds, 0) }

// vectors are examples that the providers publish. Stripe publishes none.
var vectors = []struct {
	name, secret, body string
	auth               abi.WebhookAuth
	header             headers
	now                int64
}{
	{"standard webhooks", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`, abi.WebhookAuth{Scheme: abi.SchemeStandard},
		headers{"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330", "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}, 1614265330},
	{"github", "It's a Secret to Everybody", "Hello, World!", abi.WebhookAuth{Scheme: abi.SchemeGitHub},
		headers{"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}, 0},
	{"slack", "8f742231b10e8888abcd99yyyzzz85a5", "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
		abi.WebhookAuth{Scheme: abi.SchemeSlack}, headers{"X-Slack-Request-Timestamp": "1531420618", "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"}, 1531420618},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		if err := verify(v.auth, [][]byte{[]byte(v.secret)}, v.header, []byte(v.body), at(v.now)); err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		signed, err := Sign(v.auth, []byte(v.secret), v.header["webhook-id"], []byte(v.body), at(v.now))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range signed {
			if v.header[name] != value {
				t.Errorf("%s: %s is signed as %s, want %s", v.name, name, value, v.header[name])
			}
		}
	}
}

var schemes = []abi.WebhookAuth{
	{Scheme: abi.SchemeStandard}, {Scheme: abi.SchemeGitHub}, {Scheme: abi.SchemeStripe}, {Scheme: abi.SchemeSlack},
	{Scheme: abi.SchemeHMAC, Header: "X-Signature"},
	{Scheme: abi.SchemeHMAC, Header: "X-Signature", Hash: "sha512", Encoding: "base64", Prefix: "sig=", TimestampHeader: "X-Time"},
}

// TestSchemes holds for each scheme that what is signed with any of the secrets is
// taken, and that nothing else is, and why.
func TestSchemes(t *testing.T) {
	now, body := at(1_700_000_000), []byte(`{"a":1}`)
	secrets := [][]byte{[]byte("old secret"), nil, []byte("new secret")}
	for _, auth := range schemes {
		name := string(auth.Scheme) + auth.Hash
		v, err := New(auth, secrets)
		if err != nil {
			t.Fatal(err)
		}
		signed := func(secret string, when time.Time) headers {
			h, err := Sign(auth, []byte(secret), "id_1", body, when)
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		want := func(what string, h headers, body []byte, reason Reason) {
			t.Helper()
			var refused *Error
			_, err := v.Verify(h, body, now)
			if reason == "" && err == nil {
				return
			}
			if !errors.As(err, &refused) || refused.Reason != reason {
				t.Errorf("%s: %s: %v, want %q", name, what, err, reason)
			}
			if err != nil && (strings.Contains(err.Error(), "secret\"") || strings.Contains(err.Error(), "old secret")) {
				t.Errorf("%s: the error tells: %v", name, err)
			}
		}
		want("the new secret", signed("new secret", now), body, "")
		want("the old secret", signed("old secret", now), body, "")
		want("another secret", signed("no secret", now), body, Mismatch)
		want("an empty secret", signed("", now), body, Mismatch)
		want("another body", signed("new secret", now), append([]byte(" "), body...), Mismatch)
		want("no header", headers{}, body, Missing)
		if timed := auth.Scheme != abi.SchemeGitHub && (auth.Scheme != abi.SchemeHMAC || auth.TimestampHeader != ""); timed {
			want("as old as may be", signed("new secret", now.Add(-DefaultTolerance)), body, "")
			want("too old", signed("new secret", now.Add(-DefaultTolerance-time.Second)), body, Expired)
			want("of the future", signed("new secret", now.Add(DefaultTolerance+time.Second)), body, Expired)
			want("of the far future", signed("new secret", at(999_999_999_999)), body, Expired)
		}
		for key, value := range signed("new secret", now) {
			for _, bad := range []string{value[:len(value)-1], value + "0", "x" + value, strings.Repeat("a", 10_000), strings.Repeat(value+" ", 1000), "=", ",", "t=,v1=", "\xff\xfe"} {
				h := signed("new secret", now)
				h[key] = bad
				if _, err := v.Verify(h, body, now); err == nil {
					t.Errorf("%s: %s: %.60q is taken", name, key, bad)
				}
			}
			h := signed("new secret", now)
			delete(h, key)
			if _, err := v.Verify(h, body, now); err == nil {
				t.Errorf("%s: taken without %s", name, key)
			}
		}
	}
}

func TestSeveralSignatures(t *testing.T) {
	now, body, secret := at(1_700_000_000), []byte("x"), []byte("secret")
	good := func(auth abi.WebhookAuth) headers {
		h, err := Sign(auth, secret, "id", body, now)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	standard, stripe := good(schemes[0]), good(schemes[2])
	standard["webhook-signature"] = "v1a,xxx v1,AAAA v1," + strings.Repeat("A", 43) + "= " + standard["webhook-signature"]
	stripe["Stripe-Signature"] = strings.Replace(stripe["Stripe-Signature"], ",v1=", ",v0=00,v1="+strings.Repeat("0", 64)+",v1=zz,v1=", 1)
	for name, err := range map[string]error{
		"standard": verify(schemes[0], [][]byte{secret}, standard, body, now), "stripe": verify(schemes[2], [][]byte{secret}, stripe, body, now),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	stripe["Stripe-Signature"] += ",t=1"
	if verify(schemes[2], [][]byte{secret}, stripe, body, now) == nil {
		t.Error("a header with two times is taken")
	}
}

func TestRefused(t *testing.T) {
	reason := func(err error) Reason {
		if refused, ok := errors.AsType[*Error](err); ok {
			return refused.Reason
		}
		return ""
	}
	if err := verify(abi.WebhookAuth{Scheme: abi.SchemeNone}, nil, headers{}, nil, at(0)); err != nil {
		t.Errorf("none: %v", err)
	}
	if got := reason(verify(schemes[1], [][]byte{nil}, vectors[1].header, nil, at(0))); got != NoSecret {
		t.Errorf("without a secret: %q", got)
	}
	err := verify(schemes[1], [][]byte{[]byte("s")}, headers{"X-Hub-Signature": "sha1=0123"}, nil, at(0))
	if reason(err) != Missing || !strings.Contains(err.Error(), "SHA-1") {
		t.Errorf("SHA-1: %v", err)
	}
	for _, auth := range []abi.WebhookAuth{{}, {Scheme: "md5"}, {Scheme: abi.SchemeHMAC}, {Scheme: abi.SchemeHMAC, Header: "X", Hash: "md5"}, {Scheme: abi.SchemeHMAC, Header: "X", Encoding: "raw"},
		{Scheme: abi.SchemeGitHub, Prefix: "x"}, {Scheme: abi.SchemeSlack, ToleranceSeconds: -1}, {Scheme: abi.SchemeSlack, ToleranceSeconds: 1e9}} {
		if Check(auth) == nil {
			t.Errorf("%+v is taken", auth)
		}
	}
}

// fuzzScheme holds for any header that nothing panics, and that nothing is taken that
// the secret has not signed.
func fuzzScheme(f *testing.F, auth abi.WebhookAuth, names ...string) {
	now, body := at(1_700_000_000), []byte("body")
	signed, err := Sign(auth, []byte("the secret"), "id", body, now)
	if err != nil {
		f.Fatal(err)
	}
	seed := [3]string{}
	for i, name := range names {
		seed[i] = signed[name]
	}
	f.Add(seed[0], seed[1], seed[2])
	f.Add("v1, v1,=", "t=1,v1=", "-1")
	v, err := New(auth, [][]byte{[]byte("another secret")})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		h := headers{}
		for i, value := range []string{a, b, c}[:len(names)] {
			h[names[i]] = value
		}
		var refused *Error
		if _, err := v.Verify(h, body, now); !errors.As(err, &refused) {
			t.Fatalf("%q: %v", h, err)
		}
	})
}

func FuzzStandard(f *testing.F) {
	fuzzScheme(f, schemes[0], "webhook-id", "webhook-timestamp", "webhook-signature")
}
func FuzzGitHub(f *testing.F) { fuzzScheme(f, schemes[1], "X-Hub-Signature-256") }
func FuzzStripe(f *testing.F) { fuzzScheme(f, schemes[2], "Stripe-Signature") }
func FuzzSlack(f *testing.F) {
	fuzzScheme(f, schemes[3], "X-Slack-Signature", "X-Slack-Request-Timestamp")
}
func FuzzOwn(f *testing.F) { fuzzScheme(f, schemes[5], "X-Signature", "X-Time") }

func BenchmarkVerify(b *testing.B) {
	now, body := at(1_700_000_000), []byte(strings.Repeat("x", 1024))
	for _, auth := range schemes[:4] {
		b.Run(string(auth.Scheme), func(b *testing.B) {
			signed, err := Sign(auth, []byte("the secret"), "id", body, now)
			if err != nil {
				b.Fatal(err)
			}
			v, err := New(auth, [][]byte{[]byte("the secret")})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(headers(signed), body, now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// verify is [New] and [Verifier.Verify].
func verify(auth abi.WebhookAuth, secrets [][]byte, h Header, body []byte, now time.Time) error {
	v, err := New(auth, secrets)
	if err != nil {
		return err
	}
	_, err = v.Verify(h, body, now)
	return err
}

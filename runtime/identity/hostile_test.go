package identity

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"strings"
	"testing"

	"github.com/lestrrat-go/jwx/v3/jwa"
)

// rsaKey is a JWK with a modulus of so many bits.
func rsaKey(bits int, e int64) string {
	n := make([]byte, bits/8)
	_, _ = rand.Read(n)
	n[0], n[len(n)-1] = n[0]|0x80, n[len(n)-1]|1
	encode := base64.RawURLEncoding.EncodeToString
	return fmt.Sprintf(`{"kty":"RSA","kid":"k","n":%q,"e":%q}`, encode(n), encode(big.NewInt(e).Bytes()))
}

// A key whose signatures cost more than any issuer's would is no key.
func TestKeysThatCostTooMuch(t *testing.T) {
	for _, try := range []struct {
		bits int
		e    int64
		ok   bool
	}{
		{2048, 65537, true}, {8192, 3, true}, {4096, 1<<31 - 1, true},
		{1024, 65537, false}, {8200, 65537, false}, {780 << 10 << 3, 65537, false},
		{2048, 1, false}, {2048, 2, false}, {2048, 65536, false}, {2048, 1<<31 + 1, false}, {2048, 1<<62 + 1, false},
	} {
		if _, err := parseKeys([]byte(`{"keys":[` + rsaKey(try.bits, try.e) + `]}`)); (err == nil) != try.ok {
			t.Errorf("%d bits with exponent %d: %v", try.bits, try.e, err)
		}
	}
}

// However many keys an issuer lists, reading them takes a few times their bytes.
func TestVeryManyKeys(t *testing.T) {
	for _, filler := range []string{`{}`, `{"kty":"RSA"}`, `0`, `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`} {
		text := []byte(`{"keys":[` + strings.Repeat(filler+",", maxDocument/(len(filler)+1)-8) + filler + `]}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		keys, _ := parseKeys(text)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*maxDocument || len(keys) > maxKeys {
			t.Errorf("%s: %d keys, %d bytes for %d", filler, len(keys), took, len(text))
		}
	}
}

// A token that does not say with which key it was signed is believed if the issuer has
// only one.
func TestATokenWithoutAKeyID(t *testing.T) {
	c := newClock()
	p := newProvider(t)
	tokens := trusting(t, p, c, p.outside())
	token := sign(t, p.claims(c, nil), jwa.ES256(), p.keys["k1"], nil)
	if _, err := tokens.Verify(t.Context(), token); err != nil {
		t.Errorf("the issuer's only key: %v", err)
	}
	several := newProvider(t)
	several.keys["k2"] = newES256(t)
	tokens = trusting(t, several, c, several.outside())
	token = sign(t, several.claims(c, nil), jwa.ES256(), several.keys["k1"], nil)
	if _, err := tokens.Verify(t.Context(), token); !errors.Is(err, ErrInvalid) {
		t.Errorf("one of two keys: %v", err)
	}
}

// A signature of another length than the key's is refused before it is computed with.
func TestLengthsOfSignatures(t *testing.T) {
	key := &publicKey{key: &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 2047), E: 3}}
	for length, want := range map[int]bool{0: false, 255: false, 256: true, 257: false, 8192: false} {
		if got := key.signs(length); got != want {
			t.Errorf("%d bytes: %v", length, got)
		}
		text := "a.b." + base64.RawURLEncoding.EncodeToString(make([]byte, length))
		if got := (&token{text: text}).signatureLength(); got != length {
			t.Errorf("%d bytes are taken for %d", length, got)
		}
	}
}

// Only so many signatures are checked at one time, and who waits can leave.
func TestSignaturesAtOneTime(t *testing.T) {
	c := newClock()
	p := newProvider(t)
	tokens := trusting(t, p, c, p.outside())
	token := p.sign(t, c, "k1", nil)
	tokens.slots = make(chan struct{}, 1)
	tokens.slots <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tokens.Verify(ctx, token); !errors.Is(err, context.Canceled) {
		t.Errorf("without a slot: %v", err)
	}
	<-tokens.slots
	if _, err := tokens.Verify(t.Context(), token); err != nil || len(tokens.slots) != 0 {
		t.Errorf("with a slot: %v, %d are taken", err, len(tokens.slots))
	}
}

// An issuer on the public internet cannot send the node to its own network, also not
// by names that lead to several places.
func TestWhereMetadataMaySendTheNode(t *testing.T) {
	const public, loopback, private = "93.184.216.34:443", "127.0.0.1:80", "10.0.0.7:443"
	for _, try := range []struct {
		metadata []string // what the request for the metadata tried to connect to
		keys     string
		ok       bool
	}{
		{[]string{public}, public, true}, {[]string{public}, loopback, false}, {[]string{public}, private, false},
		{[]string{public}, "[::ffff:127.0.0.1]:80", false}, {[]string{public}, "169.254.169.254:80", false},
		{[]string{loopback, public}, loopback, false}, {[]string{public, private}, private, false},
		{[]string{private}, private, true}, {[]string{loopback}, loopback, true}, {[]string{private}, public, true},
		{nil, private, false},
	} {
		to := &reach{}
		ctx := context.WithValue(t.Context(), reachKey{}, to)
		for _, address := range try.metadata {
			if err := reachable(ctx, "tcp", address, nil); err != nil {
				t.Errorf("the operator's issuer at %s: %v", address, err)
			}
		}
		to.follow()
		if err := reachable(ctx, "tcp", try.keys, nil); (err == nil) != try.ok {
			t.Errorf("metadata from %v, keys at %s: %v", try.metadata, try.keys, err)
		}
	}
}

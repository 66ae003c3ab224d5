package receipt_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"

	"github.com/wharf-dev/wharf/runtime/receipt"
)

// TestJWS holds that a library for JWS finds that the node's key has signed the canonical
// form of a document, and names the key and where to get it.
func TestJWS(t *testing.T) {
	key := receipt.NewKey(bytes.Repeat([]byte{7}, 32))
	protected, signature, err := key.JWS([]byte(`{"b":1.0, "a":"x"}`), "https://node/keys")
	if err != nil {
		t.Fatal(err)
	}
	public, err := base64.StdEncoding.DecodeString(key.Public(time.Now()).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	by := jws.WithKey(jwa.EdDSA(), ed25519.PublicKey(public))
	compact := func(document string) []byte {
		return []byte(protected + "." + base64.RawURLEncoding.EncodeToString([]byte(document)) + "." + signature)
	}
	if _, err := jws.Verify(compact(`{"a":"x","b":1}`), by); err != nil {
		t.Error(err)
	}
	if _, err := jws.Verify(compact(`{"a":"y","b":1}`), by); err == nil {
		t.Error("another document is taken for signed")
	}
	var header struct {
		Alg string `json:"alg"`
		Kid string `json:"kid"`
		Jku string `json:"jku"`
	}
	text, err := base64.RawURLEncoding.DecodeString(protected)
	if err != nil || json.Unmarshal(text, &header) != nil || header.Alg != "EdDSA" || header.Kid != key.ID || header.Jku != "https://node/keys" {
		t.Errorf("the header is %s (%v)", text, err)
	}
	if _, _, err := key.JWS([]byte("{"), ""); err == nil {
		t.Error("what is not JSON was signed")
	}
}

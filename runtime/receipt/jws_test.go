package receipt_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

func TestJWS(t *testing.T) {
	key := receipt.NewKey(bytes.Repeat([]byte{7}, 32))
	keys := []abi.SigningKey{key.Public(time.Now())}
	protected, signature, err := key.JWS([]byte(`{"b":1.0,"a":"x"}`), "https://node/keys")
	if err != nil {
		t.Fatal(err)
	}
	if id, err := receipt.VerifyJWS(keys, []byte("{ \"a\": \"x\",\n\"b\": 1 }"), protected, signature); err != nil || id != key.ID {
		t.Errorf("%s, %v", id, err)
	}
	for name, bad := range map[string][3]string{
		"another document": {`{"a":"y","b":1}`, protected, signature},
		"no document":      {`{`, protected, signature},
		"another header":   {`{"a":"x","b":1}`, strings.Replace(protected, "e", "f", 1), signature},
		"no header":        {`{"a":"x","b":1}`, "", signature},
		"no signature":     {`{"a":"x","b":1}`, protected, ""},
		"none":             {`{"a":"x","b":1}`, "eyJhbGciOiJub25lIn0", ""},
	} {
		if _, err := receipt.VerifyJWS(keys, []byte(bad[0]), bad[1], bad[2]); err == nil {
			t.Errorf("%s is taken for signed", name)
		}
	}
	if _, err := receipt.VerifyJWS(nil, []byte(`{"a":"x","b":1}`), protected, signature); err == nil {
		t.Error("a signature by an unknown key is taken for good")
	}
}

// FuzzVerifyJWS checks that nothing but what was signed verifies.
func FuzzVerifyJWS(f *testing.F) {
	key := receipt.NewKey(bytes.Repeat([]byte{7}, 32))
	protected, signature, err := key.JWS([]byte(`{"a":"x"}`), "")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"a":"x"}`, protected, signature)
	f.Add(`{"a":"y"}`, protected, signature)
	f.Fuzz(func(t *testing.T, document, header, signed string) {
		_, err := receipt.VerifyJWS([]abi.SigningKey{key.Public(time.Unix(0, 0))}, []byte(document), header, signed)
		if err == nil && (header != protected || signed != signature || !strings.Contains(document, `"x"`) && !strings.Contains(document, `\u`)) {
			t.Errorf("%q, %q, %q verifies", document, header, signed)
		}
	})
}

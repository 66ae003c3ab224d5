package receipt

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// ErrNoKeys says that a file holds no published keys.
var ErrNoKeys = errors.New("it holds no published keys")

// TrustedKeys reads keys that somebody trusts: each value is a public key in base64, or the name of a
// file with published keys. A key that is given in base64 has no id.
func TrustedKeys(values []string) (keys []abi.SigningKey, err error) {
	for _, value := range values {
		if public, ok := inBase64(value); ok {
			keys = append(keys, abi.SigningKey{Algorithm: Algorithm, PublicKey: public})
			continue
		}
		text, err := os.ReadFile(value)
		if err != nil {
			return nil, fmt.Errorf("reading trusted keys (this is no public key in base64 either): %w", err)
		}
		var published abi.SigningKeys
		if err := json.Unmarshal(text, &published); err != nil || len(published.Keys) == 0 {
			return nil, fmt.Errorf("%s: %w", value, ErrNoKeys)
		}
		keys = append(keys, published.Keys...)
	}
	return keys, nil
}

// inBase64 returns a public key as it is published.
func inBase64(value string) (string, bool) {
	public, err := parsePublic(&abi.SigningKey{Algorithm: Algorithm, PublicKey: value})
	return base64.StdEncoding.EncodeToString(public), err == nil
}

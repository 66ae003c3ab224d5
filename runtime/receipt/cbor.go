package receipt

import (
	"fmt"
	"math"
	"sync"

	"github.com/fxamacker/cbor/v2"
	json "github.com/go-json-experiment/json"
)

// The archive form of a receipt is the same data in deterministic CBOR (RFC 8949,
// section 4.2.1): numbers that are integers are written as such, the others in the
// shortest float that holds them. Going there and back gives the same canonical
// JSON, so that the hash of a receipt never depends on its encoding.

// maxDepth bounds how deep the values of a receipt are nested.
const maxDepth = 64

var cborEncoding = sync.OnceValues(cbor.CoreDetEncOptions().EncMode)

// ToCBOR returns the archive form of a receipt that is given in JSON.
func ToCBOR(wire []byte) ([]byte, error) {
	var doc any
	if err := json.Unmarshal(wire, &doc); err != nil {
		return nil, fmt.Errorf("reading the receipt: %w", err)
	}
	doc, err := integers(doc, 0)
	if err != nil {
		return nil, fmt.Errorf("writing the receipt as CBOR: %w", err)
	}
	mode, err := cborEncoding()
	if err != nil {
		return nil, err
	}
	return mode.Marshal(doc)
}

// integers replaces the numbers that are exact integers by integers.
func integers(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	var err error
	switch v := v.(type) {
	case float64:
		if math.Trunc(v) == v && math.Abs(v) <= maxExact {
			return int64(v), nil
		}
	case []any:
		for i := range v {
			if v[i], err = integers(v[i], depth+1); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], err = integers(v[name], depth+1); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

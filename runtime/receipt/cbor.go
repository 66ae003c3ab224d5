package receipt

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"

	"github.com/fxamacker/cbor/v2"
	json "github.com/go-json-experiment/json"
	"github.com/gowebpki/jcs"
)

// The archive form of a receipt is the same data in deterministic CBOR (RFC 8949,
// section 4.2.1): numbers that are integers are written as such, the others in the
// shortest float that holds them. Going there and back gives the same canonical
// JSON, so that the hash of a receipt never depends on its encoding.

// maxDepth bounds how deep the values of a receipt are nested.
const maxDepth = 64

var cborEncoding = sync.OnceValues(cbor.CoreDetEncOptions().EncMode)

var cborDecoding = sync.OnceValues(cbor.DecOptions{
	DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
	MaxNestedLevels: maxDepth, UTF8: cbor.UTF8RejectInvalid, IntDec: cbor.IntDecConvertSignedOrFail,
	NaN: cbor.NaNDecodeForbidden, Inf: cbor.InfDecodeForbidden,
	DefaultMapType: reflect.TypeFor[map[string]any](),
}.DecMode)

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

// FromCBOR returns the canonical JSON of a receipt in its archive form. Anything
// but the one deterministic encoding is an error.
func FromCBOR(archive []byte) ([]byte, error) {
	mode, err := cborDecoding()
	if err != nil {
		return nil, err
	}
	var doc any
	if err := mode.Unmarshal(archive, &doc); err != nil {
		return nil, fmt.Errorf("reading the CBOR: %w", err)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("reading the CBOR: %w", err)
	}
	wire, err := jcs.Transform(text)
	if err != nil {
		return nil, fmt.Errorf("reading the CBOR: %w", err)
	}
	if again, err := ToCBOR(wire); err != nil || !bytes.Equal(again, archive) {
		return nil, errors.Join(errors.New("the CBOR is not in the deterministic form of RFC 8949, section 4.2.1"), err)
	}
	return wire, nil
}

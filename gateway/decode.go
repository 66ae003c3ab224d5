package gateway

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
)

// decode reads a JSON text into v, strictly: duplicate names, invalid UTF-8,
// wrong types and numbers out of range are errors; unknown members are ignored unless
// an option says otherwise. charge takes what the members of lists become out of a
// budget. The error is an *abi.Error whose Param is the dotted path of the member and
// whose Details hold byte_offset and, where it is known, the JSON Pointer.
func decode(body []byte, v any, charge func(int64) bool, options ...json.Options) error {
	weight, err := weigh(body, v)
	if err != nil {
		return err
	}
	if !charge(weight) {
		return errCrowded()
	}
	return unmarshal(body, v, options...)
}

// unmarshal decodes what was weighed.
func unmarshal(body []byte, v any, options ...json.Options) error {
	if err := json.Unmarshal(body, v, options...); err != nil {
		return refused(err)
	}
	return nil
}

// weigh returns what a text takes that is about to be decoded into v, beside its bytes,
// or refuses it for having too much in it.
func weigh(body []byte, v any) (int64, error) {
	if offset := abi.TooDeep(body, abi.MaxDepth); offset >= 0 {
		return 0, located(int64(offset), "", "the JSON text nests deeper than "+strconv.Itoa(abi.MaxDepth)+" levels")
	}
	n, err := abi.Weigh(body, reflect.TypeOf(v))
	crowded, ok := errors.AsType[*abi.CrowdedError](err)
	if !ok {
		return n, err
	}
	shown := located(crowded.Offset, crowded.Pointer, crowded.Error())
	if crowded.Whole {
		shown.Code = abi.CodePayloadTooLarge
	}
	return 0, shown
}

// refused says what is wrong with a text that could not be decoded.
func refused(err error) error {
	if fault, ok := plainly.Of(err); ok {
		return located(fault.Offset, fault.Pointer, fault.Words)
	}
	return abi.Errorf(abi.CodeInvalidRequest, "the request's body is no JSON text")
}

// located returns an invalid_request error about the given place of a JSON text.
func located(offset int64, pointer jsontext.Pointer, message string) *abi.Error {
	err := abi.Errorf(abi.CodeInvalidRequest, "%s, at byte %d", message, offset)
	err.Param = dotted(pointer)
	details := struct {
		ByteOffset int64  `json:"byte_offset"`
		Pointer    string `json:"pointer,omitzero"`
	}{offset, string(pointer)}
	err.Details, _ = json.Marshal(details)
	return err
}

// dotted writes a JSON Pointer as the error envelope's param: message.parts[0].
func dotted(p jsontext.Pointer) string {
	var path strings.Builder
	for token := range p.Tokens() {
		switch _, err := strconv.ParseUint(token, 10, 32); {
		case err == nil:
			path.WriteString("[" + token + "]")
		case path.Len() > 0:
			path.WriteString("." + token)
		default:
			path.WriteString(token)
		}
	}
	return strings.ToValidUTF8(path.String(), "\uFFFD")
}

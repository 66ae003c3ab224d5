package desk

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Denied says which scope is missing.
func Denied(scope string) error {
	if scope == abi.ScopeNode || scope == abi.ScopeMetrics {
		return abi.Errorf(abi.CodePermissionDenied, "this key lacks the scope %q, which no key has that is bound to workspaces", scope)
	}
	return abi.Errorf(abi.CodePermissionDenied, "this key lacks the scope %q", scope)
}

// CheckMetadata accepts no metadata, null, or an object.
func CheckMetadata(m *jsontext.Value) error {
	switch {
	case len(*m) == 0 || m.Kind() == 'n':
		*m = nil
		return nil
	case m.Kind() != '{':
		return abi.InvalidParam("metadata", "metadata must be a JSON object")
	}
	return nil
}

// CheckPlainMetadata is [CheckMetadata] for metadata that plugins get.
func CheckPlainMetadata(m *jsontext.Value) error {
	if err := CheckMetadata(m); err != nil || *m == nil {
		return err
	}
	plain, err := abi.Plain(*m)
	if err != nil || abi.TooDeep(plain, abi.MaxDepth) >= 0 {
		return abi.InvalidParam("metadata", "metadata must be well-formed JSON of at most %d levels", abi.MaxDepth)
	}
	*m = plain
	return nil
}

// CheckOneOf accepts the listed values of an enumeration.
func CheckOneOf[T ~string](param string, got T, allowed ...T) error {
	for _, a := range allowed {
		if got == a {
			return nil
		}
	}
	if got == "" {
		return abi.InvalidParam(param, "missing required member %q: one of %s", param, allowed)
	}
	return abi.InvalidParam(param, "%q is not a %s: one of %s", got, param, allowed)
}

// CheckPresent demands a member.
func CheckPresent(param, value string) error {
	if value == "" {
		return abi.InvalidParam(param, "missing required member %q", param)
	}
	return nil
}

// Within prefixes an error's param with the path of the enclosing value.
func Within(at string, err error) error {
	if own, ok := err.(*abi.Error); ok && own.Param != "" {
		own.Param = at + "." + own.Param
	}
	return err
}

// CheckVisibility accepts the visibilities of content.
func CheckVisibility(param string, v abi.Visibility) error {
	return CheckOneOf(param, v, abi.VisibilityPublic, abi.VisibilityInternal, abi.VisibilityReceiptOnly)
}

// Refusal turns what a Task would fail with, such as that its record cannot be read, into
// an answer to a caller. Other errors stay as they are.
func Refusal(err error) error {
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		refused := abi.Errorf(abi.CodeConflict, "%s", failure.Message)
		refused.Details = failure.Details
		return refused
	}
	return err
}

// MaxClientID is the longest id of a live client.
const MaxClientID = 128

// CheckClientID accepts what a live client may call itself: one line of text.
func CheckClientID(param, id string) error {
	if id == "" {
		return CheckPresent(param, id)
	}
	if utf8.RuneCountInString(id) > MaxClientID || !utf8.ValidString(id) || strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return abi.InvalidParam(param, "the id of a client is 1 to %d characters of text in one line", MaxClientID)
	}
	return nil
}

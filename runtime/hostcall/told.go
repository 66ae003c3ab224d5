package hostcall

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// MaxTold is how many bytes of Messages or Memories one call tells. The newest is told,
// however large it is.
const MaxTold = 16 << 20

// MaxListed is how deeply a resource may nest in a list that a plugin is told. The
// answer is two levels around it, and is not deeper than a request may be: the plugin
// can pass on what it is told.
const MaxListed = abi.MaxDepth - 2

// Flatten replaces a value that nests deeper than so many levels with what says so.
func Flatten(v *jsontext.Value, levels int) {
	if abi.TooDeep(*v, levels) >= 0 {
		*v = jsontext.Value(`{"redacted":true,"reason":"unreadable"}`)
	}
}

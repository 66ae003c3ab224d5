package hostcall

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// MaxTold is how many bytes of Messages or Memories one call returns. The newest is returned,
// however large it is.
const MaxTold = 16 << 20

// MaxListed is how deeply a resource may nest in a list that a plugin gets. The answer adds two
// levels around it, and is not deeper than a request may be: the plugin can pass on what it
// gets.
const MaxListed = abi.MaxDepth - 2

// Flatten replaces a value that nests deeper than so many levels with a value that says so.
func Flatten(v *jsontext.Value, levels int) {
	if abi.TooDeep(*v, levels) >= 0 {
		*v = jsontext.Value(`{"redacted":true,"reason":"unreadable"}`)
	}
}

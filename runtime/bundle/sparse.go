package bundle

import (
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// What a file that is read into Go values may hold. Whoever wrote the bundle chooses
// what it is full of: a list of empty objects takes a hundred times its bytes. What a
// node writes has names, ids and hashes, and is far from these bounds.
const (
	freeValues    = 1024 // that any file may have
	bytesForValue = 12   // on the average, of the others
)

// readSparse reads JSON that is not denser than what a node writes.
func readSparse(text []byte, into any) error {
	if err := checkSparse(text); err != nil {
		return err
	}
	return json.Unmarshal(text, into, json.RejectUnknownMembers(true))
}

// checkSparse refuses a text with more values than so many bytes of JSON have.
func checkSparse(text []byte) error {
	if n := abi.Values(text); n > freeValues+len(text)/bytesForValue {
		return fmt.Errorf("%d values in %d bytes are more than a file of a bundle has", n, len(text))
	}
	return nil
}

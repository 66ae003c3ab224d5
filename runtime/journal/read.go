package journal

import (
	"bytes"
	"fmt"
	"slices"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// minEntry is less than any entry has as JSON, in bytes: its members that are always
// there have more. It keeps a record from listing more entries than it has bytes for.
const minEntry = 64

// ReadRecord reads a record, whoever wrote it, in a few times the memory that the text
// has. Members that are not known are an error if strict.
func ReadRecord(text []byte, strict bool) (*Record, error) {
	var r Record
	err := json.Unmarshal(text, &r, json.RejectUnknownMembers(strict),
		json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, all *[]Entry) error {
			return readEntries(d, all, strict)
		})))
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// readEntries reads a list of entries one by one, into as much memory as they take.
func readEntries(d *jsontext.Decoder, all *[]Entry, strict bool) error {
	if d.PeekKind() == 'n' {
		*all = nil
		return d.SkipValue()
	}
	list, err := d.ReadValue()
	if err != nil {
		return err
	}
	n, err := countEntries(list)
	if err != nil {
		return err
	}
	*all = make([]Entry, 0, n)
	return eachEntry(list, func(v jsontext.Value) error {
		*all = slices.Grow(*all, 1)[:len(*all)+1]
		return json.Unmarshal(v, &(*all)[len(*all)-1], json.RejectUnknownMembers(strict))
	})
}

func countEntries(list jsontext.Value) (n int, err error) {
	err = eachEntry(list, func(v jsontext.Value) error {
		if n++; len(v) < minEntry {
			return fmt.Errorf("entry %d has %d bytes, which are too few for a call", n-1, len(v))
		}
		return nil
	})
	return n, err
}

func eachEntry(list jsontext.Value, do func(jsontext.Value) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(list))
	if kind := d.PeekKind(); kind != '[' {
		return fmt.Errorf("the entries of a record are a list, not %s", kind)
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err == nil {
			err = do(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

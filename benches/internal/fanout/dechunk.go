package fanout

import (
	"bytes"
	"fmt"
	"strconv"
)

// dechunker takes the chunked framing of HTTP off a stream that arrives in
// pieces of any size.
type dechunker struct {
	left  int    // bytes of the current chunk that are still to come
	skip  int    // bytes of framing that are still to be dropped
	digit []byte // the part of a size line that has arrived
	ended bool   // the last chunk has come, behind which is nothing of the stream
}

// feed calls f with the payload in data.
func (d *dechunker) feed(data []byte, f func([]byte)) error {
	for len(data) > 0 && !d.ended {
		switch {
		case d.left > 0:
			n := min(d.left, len(data))
			f(data[:n])
			data, d.left = data[n:], d.left-n
			if d.left == 0 {
				d.skip = len("\r\n")
			}
		case d.skip > 0:
			n := min(d.skip, len(data))
			data, d.skip = data[n:], d.skip-n
		default:
			rest, err := d.size(data)
			if err != nil {
				return err
			}
			data = rest
		}
	}
	return nil
}

// size reads a size line, or the part of it that is in data.
func (d *dechunker) size(data []byte) (rest []byte, err error) {
	line, rest, whole := bytes.Cut(data, []byte{'\n'})
	d.digit = append(d.digit, line...)
	if !whole {
		return nil, nil
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(d.digit)), 16, 31)
	if err != nil {
		return nil, fmt.Errorf("reading a chunk's size: %w", err)
	}
	d.left, d.digit, d.ended = int(n), d.digit[:0], n == 0
	return rest, nil
}

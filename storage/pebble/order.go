package pebble

import (
	"bytes"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// order puts the operations of many drafts into the order of their keys: a memtable
// takes keys that are neighbours far faster than keys from all over. Operations on one
// key stay in the order in which they came.
type order struct {
	ops    []drafted
	ranges bool // some operation is on more than its key
}

// drafted is an operation and where it is from.
type drafted struct {
	draft *draft
	op    op
	turn  int
}

// add adds the operations of a draft, which is placed, save for keys that are there
// already.
func (o *order) add(d *draft, known *chunkKeys) {
	for _, op := range d.ops {
		if op.kind == opSetOnce && known.known(d.buf[op.key:op.value]) {
			continue
		}
		o.ops = append(o.ops, drafted{d, op, len(o.ops)})
		o.ranges = o.ranges || op.kind == opDeleteRange
	}
}

// apply adds the operations to a batch, which must not be indexed, and forgets them.
func (o *order) apply(b *pebble.Batch) {
	if !o.ranges {
		slices.SortFunc(o.ops, func(x, y drafted) int {
			if c := bytes.Compare(x.key(), y.key()); c != 0 {
				return c
			}
			return x.turn - y.turn
		})
	}
	for _, d := range o.ops {
		d.draft.apply(b, d.op)
	}
	clear(o.ops)
	o.ops, o.ranges = o.ops[:0], false
}

func (d *drafted) key() []byte { return d.draft.buf[d.op.key:d.op.value] }

package pebble

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// intakeOps has an operation of each kind, with an id that has a compact form and with
// one that has none.
func intakeOps() map[string]storage.IntakeOp {
	key := storage.DeliveryKey{1, 2, 3, 15: 0xff}
	return map[string]storage.IntakeOp{
		"receive":          {Kind: storage.IntakeReceive, Connector: testConnector, Delivery: key},
		"receive-stranger": {Kind: storage.IntakeReceive, Connector: "a stranger's", Delivery: key},
		"pend":             {Kind: storage.IntakePend, Connector: testConnector},
		"settle":           {Kind: storage.IntakeSettle, Connector: testConnector, At: 900, Tally: "\x01\x80\x01"},
		"drop":             {Kind: storage.IntakeDrop, Connector: testConnector},
		"tally":            {Kind: storage.IntakeTally, Connector: testConnector, Tally: "counted"},
	}
}

func intakeFrame(op storage.IntakeOp) storage.Frame {
	f := intakeBatch(epoch, 1, op).Frame
	f.First = 1000
	return f
}

// TestGoldenIntake holds frames with each operation on deliveries, and the keys that
// follow from them, against files.
func TestGoldenIntake(t *testing.T) {
	for name, op := range intakeOps() {
		f := intakeFrame(op)
		key, value := encodeAt(&f, nil)
		d := newDraft()
		d.addIntake(&f, 0)
		d.place(f.First)
		text := fmt.Sprintf("%x\n%x\n", key, value)
		for _, o := range d.ops {
			text += fmt.Sprintf("%02x %x %x\n", o.kind, d.buf[o.key:o.value], d.buf[o.value:o.end])
		}
		d.free()
		file := fmt.Sprintf("intake-v%d/%s.txt", frameVersion, name)
		compareGolden(t, file, text)
		stored := readGolden(t, file, "")
		got, refs, err := decodeFrame(tenantOf(stored[0]), lastPosition(stored[0]), stored[1])
		if err != nil || refs != nil || !reflect.DeepEqual(*got, f) {
			t.Errorf("%s decodes to %+v, %v, %v", name, got, refs, err)
		}
	}
}

// FuzzDecodeIntake gives the decoders of operations on deliveries, and of what is kept
// of their keys, arbitrary bytes. What they accept has one encoding.
func FuzzDecodeIntake(f *testing.F) {
	for _, op := range intakeOps() {
		b := appendIntake(nil, op)
		f.Add(b[0]-intakeCode, b[1:])
	}
	f.Add(byte(9), append(appendPosition(nil, 7), 0, 1, 2, 3))
	f.Fuzz(func(t *testing.T, kind byte, rest []byte) {
		d := &decoder{rest: rest}
		op := d.intake(storage.IntakeKind(kind))
		if d.end() == nil {
			if again := appendIntake(nil, op); !bytes.Equal(again[1:], rest) || again[0] != intakeCode+kind || op.Kind == storage.IntakeNone {
				t.Fatalf("kind %d, %x is encoded again as %x", kind, rest, again)
			}
		}
		if s, err := decodeSeen(rest); err == nil {
			if again := binary.BigEndian.AppendUint32(appendPosition(nil, s.position), s.at); !bytes.Equal(again, rest) {
				t.Fatalf("what is kept of a key, %x, is encoded again as %x", rest, again)
			}
		}
	})
}

// TestDamagedIntakeIsRefused cuts operations short, and gives them what they have not.
func TestDamagedIntakeIsRefused(t *testing.T) {
	for name, op := range intakeOps() {
		b := appendIntake(nil, op)
		for cut := range len(b) - 1 {
			d := &decoder{rest: b[1 : 1+cut]}
			if d.intake(op.Kind); d.end() == nil {
				t.Errorf("%s is accepted when it is cut off after %d bytes", name, cut)
			}
		}
		d := &decoder{rest: append(clone(b[1:]), 0)}
		if d.intake(op.Kind); d.end() == nil {
			t.Errorf("%s is accepted with a byte behind it", name)
		}
	}
	for _, kind := range []storage.IntakeKind{storage.IntakeNone, storage.IntakeTally + 1, 255} {
		d := &decoder{rest: appendID(nil, newID(abi.ObjectConnector, 1))}
		if d.intake(kind); d.end() == nil {
			t.Errorf("kind %d is accepted", kind)
		}
	}
}

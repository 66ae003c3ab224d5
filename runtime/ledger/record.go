package ledger

import (
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// Record is one event that states a resource, before it is encoded.
type Record struct {
	Kind       abi.EventKind
	Object     abi.Object
	ID         string
	Sequence   uint64
	Created    bool   // it brings the resource into being
	Hint       bool   // it may be lost with the node
	Restricted bool   // it holds parts that are not public
	State      any    // encoded as JSON; nil when the event states nothing
	Payload    any    // encoded as JSON; nil for {}
	Text       []byte // the payload when it is encoded already
	Transcript storage.TranscriptOp
	Intake     storage.IntakeOp
	Erase      *storage.Erasure
	// Read is the event that stated the resource as its writer has read it: the batch takes
	// effect only if nothing has stated it since. 0 expects nothing.
	Read storage.Position
	// Unseen is since when no delivery may have come with the key of the one that the record
	// takes in. The zero time expects nothing.
	Unseen time.Time
}

// Encode encodes what a record states and tells, so that it can be handed over.
func (r *Record) Encode() error {
	state, err := encodeState(r.State)
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", r.Object, r.ID, err)
	}
	if state != nil {
		r.State = jsontext.Value(state)
	}
	if r.Payload == nil {
		return nil
	}
	if r.Text, err = json.Marshal(r.Payload); err != nil {
		return fmt.Errorf("encoding the payload of %s: %w", r.Kind, err)
	}
	r.Payload = nil
	return nil
}

// Size is how many bytes of what an encoded record states and tells the log is to hold.
func (r *Record) Size() int {
	state, _ := r.State.(jsontext.Value)
	return len(state) + len(r.Text)
}

// Encode turns records into what the log holds.
func Encode(records ...Record) ([]storage.Record, error) {
	out := make([]storage.Record, len(records))
	for i, r := range records {
		out[i] = storage.Record{
			Kind: r.Kind, Resource: abi.ResourcePointer{Object: r.Object, ID: r.ID}, Sequence: r.Sequence,
			Created: r.Created, Hint: r.Hint, Restricted: r.Restricted, Transcript: r.Transcript, Intake: r.Intake, Erase: r.Erase,
		}
		var err error
		if out[i].State, err = encodeState(r.State); err != nil {
			return nil, fmt.Errorf("encoding %s %s: %w", r.Object, r.ID, err)
		}
		out[i].Payload = r.Text
		if r.Payload != nil {
			if out[i].Payload, err = json.Marshal(r.Payload); err != nil {
				return nil, fmt.Errorf("encoding the payload of %s: %w", r.Kind, err)
			}
		}
	}
	return out, nil
}

// appender is a resource that is encoded by hand, for speed.
type appender interface{ AppendJSON([]byte) []byte }

func encodeState(state any) ([]byte, error) {
	switch s := state.(type) {
	case nil:
		return nil, nil
	case appender:
		return s.AppendJSON(make([]byte, 0, 768)), nil
	case jsontext.Value:
		return s, nil
	}
	return json.Marshal(state)
}

// Decode reads what the log holds of a resource. The error is an [*UnreadableError].
func Decode(state []byte, into any) error {
	if err := CheckObject(state); err != nil {
		return err
	}
	if err := json.Unmarshal(state, into); err != nil {
		return &UnreadableError{Err: fmt.Errorf("decoding a stored resource: %w", err)}
	}
	return nil
}

// CheckObject reports whether what the log holds of a resource begins as one.
func CheckObject(state []byte) error {
	if jsontext.Value(state).Kind() != '{' {
		return &UnreadableError{Err: &invalidError{"it is not a JSON object"}}
	}
	return nil
}

// Batch returns a batch whose idempotency record, if any, answers with the
// record number answer and the given status. It takes effect only as the first with its
// key at the time of the frame.
func Batch(f storage.Frame, idem *storage.Idempotency, status, answer int) *storage.Batch {
	b := &storage.Batch{Frame: f, Idempotency: idem}
	if idem != nil {
		idem.Status, idem.Record = status, answer
		f.Records[answer].IdempotencyKey = idem.ClientKey
		b.Expect = []storage.Expectation{{Kind: storage.ExpectNoAnswer, Key: idem.Key, Time: f.Time}}
	}
	return b
}

// Prepend puts records before those of a batch. What answers its idempotency key stays the same record.
func Prepend(b *storage.Batch, records ...Record) error {
	encoded, err := Encode(records...)
	if err != nil {
		return err
	}
	b.Frame.Records = append(encoded, b.Frame.Records...)
	if b.Idempotency != nil {
		b.Idempotency.Record += len(encoded)
	}
	return nil
}

package engine

import (
	"context"
	"errors"
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// HTTP statuses that first responses are kept with.
const (
	statusOK        = 200
	statusCreated   = 201
	statusAccepted  = 202
	statusNoContent = 204
)

// record describes one event that states a resource.
type record struct {
	kind       abi.EventKind
	object     abi.Object
	id         string
	seq        uint64
	created    bool
	hint       bool
	restricted bool
	state      any    // encoded as JSON; nil when the event states nothing
	payload    any    // encoded as JSON; nil for {}
	text       []byte // the payload when it is encoded already
	transcript storage.TranscriptOp
	intake     storage.IntakeOp
}

// encode encodes what a record states and tells, so that it can be handed over.
func (r *record) encode() error {
	state, err := encodeState(r.state)
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", r.object, r.id, err)
	}
	if state != nil {
		r.state = jsontext.Value(state)
	}
	if r.payload == nil {
		return nil
	}
	if r.text, err = json.Marshal(r.payload); err != nil {
		return fmt.Errorf("encoding the payload of %s: %w", r.kind, err)
	}
	r.payload = nil
	return nil
}

// encode turns records into what the log holds.
func encode(records ...record) ([]storage.Record, error) {
	out := make([]storage.Record, len(records))
	for i, r := range records {
		out[i] = storage.Record{
			Kind: r.kind, Resource: abi.ResourcePointer{Object: r.object, ID: r.id}, Sequence: r.seq,
			Created: r.created, Hint: r.hint, Restricted: r.restricted, Transcript: r.transcript, Intake: r.intake,
		}
		var err error
		if out[i].State, err = encodeState(r.state); err != nil {
			return nil, fmt.Errorf("encoding %s %s: %w", r.object, r.id, err)
		}
		out[i].Payload = r.text
		if r.payload != nil {
			if out[i].Payload, err = json.Marshal(r.payload); err != nil {
				return nil, fmt.Errorf("encoding the payload of %s: %w", r.kind, err)
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

func decode(state []byte, into any) error {
	if jsontext.Value(state).Kind() != '{' {
		return &UnreadableError{Err: &invalidError{"it is not a JSON object"}}
	}
	if err := json.Unmarshal(state, into); err != nil {
		return &UnreadableError{Err: fmt.Errorf("decoding a stored resource: %w", err)}
	}
	return nil
}

// batch returns a batch whose idempotency record, if any, answers with the
// record number answer and the given status.
func batch(f storage.Frame, idem *storage.Idempotency, status, answer int) *storage.Batch {
	if idem != nil {
		idem.Status, idem.Record = status, answer
		f.Records[answer].IdempotencyKey = idem.ClientKey
	}
	return &storage.Batch{Frame: f, Idempotency: idem}
}

// find reads a resource; the error of one that is not there is [abi.NotFound].
func (e *Engine) find(ctx context.Context, t storage.Tenant, o abi.Object, id string) (storage.Resource, error) {
	if !abi.ValidID(o, id) {
		return storage.Resource{}, abi.NotFound(o, id)
	}
	res, err := e.store.Get(ctx, t, o, id)
	if errors.Is(err, storage.ErrNotFound) {
		return res, abi.NotFound(o, id)
	}
	if errors.Is(err, storage.ErrDamaged) {
		return res, &UnreadableError{Object: o, ID: id, Err: err}
	}
	return res, e.failed("reading "+string(o), err)
}

// findAs reads a resource that the caller may see into a typed value.
func findAs[T any](ctx context.Context, e *Engine, c *Caller, o abi.Object, id string) (T, storage.Resource, error) {
	var v T
	res, err := e.find(ctx, c.Tenant, o, id)
	if err != nil {
		return v, res, err
	}
	if err := decode(res.State, &v); err != nil {
		return v, res, naming(o, id, err)
	}
	if !c.seesState(res.State) {
		return v, res, abi.NotFound(o, id)
	}
	return v, res, nil
}

// errDenied says which scope is missing.
func errDenied(scope string) error {
	if scope == abi.ScopeNode {
		return abi.Errorf(abi.CodePermissionDenied, "this key lacks the scope %q, which no key has that is bound to workspaces", scope)
	}
	return abi.Errorf(abi.CodePermissionDenied, "this key lacks the scope %q", scope)
}

// checkMetadata accepts no metadata, null, or an object.
func checkMetadata(m *jsontext.Value) error {
	switch {
	case len(*m) == 0 || m.Kind() == 'n':
		*m = nil
		return nil
	case m.Kind() != '{':
		return abi.InvalidParam("metadata", "metadata must be a JSON object")
	}
	return nil
}

// plainMetadata is [checkMetadata] for what plugins are told.
func plainMetadata(m *jsontext.Value) error {
	if err := checkMetadata(m); err != nil || *m == nil {
		return err
	}
	plain, err := abi.Plain(*m)
	if err != nil || abi.TooDeep(plain, abi.MaxDepth) >= 0 {
		return abi.InvalidParam("metadata", "metadata must be well-formed JSON of at most %d levels", abi.MaxDepth)
	}
	*m = plain
	return nil
}

// checkOneOf accepts the listed values of an enumeration.
func checkOneOf[T ~string](param string, got T, allowed ...T) error {
	for _, a := range allowed {
		if got == a {
			return nil
		}
	}
	if got == "" {
		return abi.InvalidParam(param, "missing required member %q: one of %v", param, allowed)
	}
	return abi.InvalidParam(param, "%q is not a %s: one of %v", got, param, allowed)
}

func checkPresent(param, value string) error {
	if value == "" {
		return abi.InvalidParam(param, "missing required member %q", param)
	}
	return nil
}

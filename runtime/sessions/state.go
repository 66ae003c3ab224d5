package sessions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// StateID returns the id of a Session's value.
func StateID(session, key string) string {
	return abi.IDPrefix(abi.ObjectState) + strings.TrimPrefix(session, abi.IDPrefix(abi.ObjectSession)) + "." + key
}

// maxStateKey is the longest key of a Session's value, in bytes.
const maxStateKey = 128

// stateKey returns where a value of the Session of a call is kept.
func stateKey(c *hostcall.Call, key string) (ledger.Key, error) {
	if key == "" || len(key) > maxStateKey || !abi.ValidName(key) {
		return ledger.Key{}, provider.Malformed(abi.InvalidParam("key", "a key is 1 to %d characters A-Z a-z 0-9 _ - .", maxStateKey))
	}
	return ledger.Key{Tenant: c.Tenant, ID: StateID(c.Task.SessionID, key)}, nil
}

func (k *Keeper) stateFor(ctx context.Context, c *hostcall.Call, req *abi.CallStateGetRequest) (hostcall.Answer, error) {
	at, err := stateKey(c, req.Key)
	if err != nil {
		return hostcall.Answer{}, err
	}
	state, err := k.stateOf(ctx, at)
	if err == nil && state == nil {
		return hostcall.Answer{JSON: []byte(`{"value":null}`)}, nil
	}
	var kept abi.CallStateSetRequest
	if err == nil {
		err = ledger.Decode(state, &kept)
	}
	if err == nil && kept.Value == nil {
		err = ledger.Nonsense(abi.ObjectState, at.ID, "it has no value")
	}
	if ledger.IsUnreadable(err) {
		return hostcall.Answer{}, provider.Refuse(abi.CallUnavailable, "unreadable", "what was kept under "+strconv.Quote(req.Key)+" cannot be read")
	}
	if err != nil {
		return hostcall.Answer{}, err
	}
	return hostcall.Answer{JSON: append(append([]byte(`{"value":`), kept.Value...), '}')}, nil
}

// stateOf returns what was kept under a key, nil when nothing was.
func (k *Keeper) stateOf(ctx context.Context, key ledger.Key) ([]byte, error) {
	if v, ok := k.values.get(key); ok && v.read {
		return v.state, nil
	}
	// Whoever sets the value meanwhile waits, or is waited for: what is remembered is
	// never older than what was answered.
	unlock := k.parts.Ledger.Lock(key.Tenant, key.ID)
	defer unlock()
	res, err := k.parts.Store.Get(ctx, key.Tenant, abi.ObjectState, key.ID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		k.values.set(key, value{read: true})
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the session's state: %w", err)
	}
	k.values.set(key, value{next: res.Sequence + 1, known: true, read: true, state: res.State})
	return res.State, nil
}

// setStateFor keeps the request itself as the value's state: it is stored once,
// and a replay compares with it.
func (k *Keeper) setStateFor(ctx context.Context, c *hostcall.Call, req *abi.CallStateSetRequest) (hostcall.Answer, error) {
	key, err := stateKey(c, req.Key)
	if err != nil {
		return hostcall.Answer{}, err
	}
	if len(req.Value) == 0 {
		return hostcall.Answer{}, provider.Malformed(abi.InvalidParam("value", `missing required member "value"; null removes the key`))
	}
	// Until the value is on disk, nobody else sets it: its events are in order.
	unlock := k.parts.Ledger.Lock(key.Tenant, key.ID)
	seq, known, err := k.stateSequence(ctx, key)
	if err != nil {
		unlock()
		return hostcall.Answer{}, err
	}
	state := c.Kept
	return hostcall.Answer{
		States: &ledger.Record{Kind: abi.EventStateSet, Object: abi.ObjectState, ID: key.ID, Created: !known, Sequence: seq, State: jsontext.Value(state)},
		Release: func(err error) {
			if err != nil { // it may have been written, or not
				k.values.forget(key)
			} else {
				k.values.set(key, value{next: seq + 1, known: true, read: true, state: state})
			}
			unlock()
		},
	}, nil
}

// stateSequence returns the sequence of the next event of a Session's value, and
// whether there has been one.
func (k *Keeper) stateSequence(ctx context.Context, key ledger.Key) (next uint64, known bool, err error) {
	if v, ok := k.values.get(key); ok {
		return v.next, v.known, nil
	}
	res, err := k.parts.Store.Get(ctx, key.Tenant, abi.ObjectState, key.ID)
	if errors.Is(err, storage.ErrDamaged) { // the value to come takes its place
		res.Sequence, _, err = k.parts.Store.Sequence(ctx, key.Tenant, abi.ResourcePointer{Object: abi.ObjectState, ID: key.ID})
	}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("reading the session's state: %w", err)
	}
	return res.Sequence + 1, true, nil
}

// stateTable remembers some of the values that Sessions keep, as they are on disk.
// Only the keeper writes them, under the value's lock.
type stateTable struct {
	mu   lockrank.RWMutex[lockrank.Table]
	kept map[ledger.Key]value
}

// value is what is remembered of one.
type value struct {
	next  uint64 // the sequence of its next event
	known bool   // there has been one
	read  bool   // state is what is kept, or nil for nothing; else only the rest is known
	state []byte
}

// The bounds of a stateTable: at most 16 MB.
const (
	maxStates    = 1 << 14
	maxStateSize = 1 << 10
)

func (s *stateTable) get(key ledger.Key) (value, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.kept[key]
	return v, ok
}

func (s *stateTable) set(key ledger.Key, v value) {
	if len(v.state) > maxStateSize {
		v.read, v.state = false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[ledger.Key]value{}
	}
	if _, known := s.kept[key]; !known && len(s.kept) >= maxStates {
		for other := range s.kept { // any will do
			delete(s.kept, other)
			break
		}
	}
	s.kept[key] = v
}

// forget drops what is remembered of a value whose event may not be written.
func (s *stateTable) forget(key ledger.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, key)
}

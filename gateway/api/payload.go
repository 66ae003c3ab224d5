package api

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/redact"
)

// shownPayload returns the payload of an event as a reader may see it, and the
// marks of an event that a replay did again, nil for any other.
func (l Links) shownPayload(ev desk.Event, internal bool) (payload, marks []byte, err error) {
	rec := ev.Record()
	told := rec.Payload
	if len(told) > 0 && jsontext.Value(told).Kind() != '{' {
		return nil, nil, errNotAnObject
	}
	if rec.Kind == abi.EventReplayEventReplayed {
		if told, marks, err = cutMember(told, "replay"); err != nil {
			return nil, nil, fmt.Errorf("reading the marks of a replayed event: %w", err)
		}
	}
	if marks != nil || rec.Restricted || journal.Recorded(rec) {
		if told, err = redact.Call(told, internal); err != nil {
			return nil, nil, err
		}
	}
	if rec.Kind == abi.EventComposition {
		if told, err = redact.Composition(told, internal); err != nil {
			return nil, nil, err
		}
	}
	o, frame := rec.Resource.Object, ev.Frame
	state := desk.Placed(o, redact.State(o, rec.State, internal), frame.WorkspaceID, frame.SessionID)
	payload = appendPayload(nil, string(o), l.linked(o, state), told)
	if rec.Restricted {
		payload, err = redact.Document(payload, internal)
	}
	return payload, marks, err
}

var errNotAnObject = errors.New("the payload is not a JSON object")

// cutMember takes a member out of a JSON object. The value is nil when there is no
// such member.
func cutMember(text []byte, name string) (rest, value []byte, err error) {
	if len(text) == 0 {
		return text, nil, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	if _, err := dec.ReadToken(); err != nil {
		return nil, nil, err
	}
	rest = []byte{'{'}
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return nil, nil, err
		}
		member := key.String()
		content, err := dec.ReadValue()
		switch {
		case err != nil:
			return nil, nil, err
		case member == name:
			value = content.Clone()
			continue
		case len(rest) > 1:
			rest = append(rest, ',')
		}
		rest = append(append(jsonw.String(rest, member), ':'), content...)
	}
	return append(rest, '}'), value, nil
}

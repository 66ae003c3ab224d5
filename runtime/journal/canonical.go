package journal

import (
	"bytes"
	"fmt"
	"reflect"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// Canonical returns a request in the form in which it is recorded and compared:
// the bytes that the plugin passed, but for two calls. Of artifact.put the content
// is replaced by its hash and size; message.append is put into the form in which
// the Message is kept. What is malformed stays as it is, and so does what nests too deep
// or has too much in it to be decoded.
func Canonical(call string, request []byte) []byte {
	switch call {
	case abi.CallArtifactPut:
		return canonicalArtifact(request)
	case abi.CallMessageAppend:
		var in abi.MessageInput
		if _, err := abi.Weigh(request, reflect.TypeOf(in)); err != nil || json.Unmarshal(request, &in) != nil {
			return request
		}
		for i := range in.Parts {
			in.Parts[i].Normalize()
		}
		m := abi.Message{Envelope: abi.Envelope{Metadata: in.Metadata}, Role: in.Role, Parts: in.Parts}
		return CanonicalMessage(&m)
	}
	return request
}

func canonicalArtifact(request []byte) []byte {
	header, content, found := bytes.Cut(request, []byte("\n"))
	if !found {
		return request
	}
	return fmt.Appendf(bytes.Clone(header), "\n%s %d bytes", HashOf(content), len(content))
}

// CanonicalMessage returns the form of [Canonical] of the request that appended m.
func CanonicalMessage(m *abi.Message) []byte {
	b := append(make([]byte, 0, 256), `{"role":"`...)
	b = append(append(b, m.Role...), `","parts":[`...)
	for i := range m.Parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = m.Parts[i].AppendJSON(b)
	}
	b = append(b, ']')
	if len(m.Metadata) > 0 && string(m.Metadata) != "{}" && string(m.Metadata) != "null" {
		if compacted := m.Metadata.Clone(); compacted.Compact() == nil && string(compacted) != "{}" {
			b = append(append(b, `,"metadata":`...), compacted...)
		}
	}
	return append(b, '}')
}

// implied reports whether the event of a call states a resource that tells
// request and answer: a step's value is stored once.
func implied(call string, status abi.CallStatus) bool {
	return status == abi.CallOK && (call == abi.CallMessageAppend || call == abi.CallStateSet)
}

// imply fills in what the state of an event tells.
func (e *Entry) imply(r *storage.Record) error {
	if e.Call == abi.CallStateSet {
		e.Request = Text(r.State)
		return nil
	}
	var m abi.Message
	if err := json.Unmarshal(r.State, &m); err != nil {
		return fmt.Errorf("reading the message of call %d: %w", e.Index, err)
	}
	e.Request, e.Answer = CanonicalMessage(&m), MessageAnswer(m.ID)
	return nil
}

// MessageAnswer returns the answer of message.append.
func MessageAnswer(id string) []byte { return []byte(`{"message_id":"` + id + `"}`) }

package engine

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/storage"
)

// maxListed is how deeply a resource may nest in a list that a plugin is told. The
// answer is two levels around it, and is not deeper than a request may be: the plugin
// can pass on what it is told.
const maxListed = abi.MaxDepth - 2

// notTold stands where a plugin would be told what nests too deeply.
func notTold() jsontext.Value { return jsontext.Value(`{"redacted":true,"reason":"unreadable"}`) }

// toldMessages returns the answer of transcript.read about stored Messages: those that
// cannot be read are named in it.
func toldMessages(stored []storage.Resource, earlier bool) abi.CallTranscriptReadAnswer {
	answer := abi.CallTranscriptReadAnswer{Messages: []abi.Message{}, Earlier: earlier}
	for i := range stored {
		m, err := toldMessage(&stored[i])
		if err != nil {
			answer.Unreadable = append(answer.Unreadable, stored[i].ID)
			continue
		}
		answer.Messages = append(answer.Messages, m)
	}
	return answer
}

// toldMessage returns a stored Message as a plugin is told it in a list. The error says
// that it cannot be read.
func toldMessage(res *storage.Resource) (m abi.Message, err error) {
	if res.Err != nil {
		return m, &ledger.UnreadableError{Object: abi.ObjectMessage, ID: res.ID, Err: res.Err}
	}
	state, err := redact.ForPlugins(res.State)
	if err != nil {
		return m, &ledger.UnreadableError{Object: abi.ObjectMessage, ID: res.ID, Err: err}
	}
	if err := ledger.Decode(state, &m); err != nil {
		return m, ledger.Naming(abi.ObjectMessage, res.ID, err)
	}
	if err := ledger.CheckEnvelope(&m.Envelope, abi.ObjectMessage, res.ID); err != nil {
		return m, err
	}
	if abi.TooDeep(state, maxListed) < 0 {
		return m, nil
	}
	flatten(&m.Metadata, maxListed-1)
	for i := range m.Parts { // which lie in a list and an object
		p := &m.Parts[i]
		for _, v := range []*jsontext.Value{&p.Value, &p.Input, &p.Output} {
			flatten(v, maxListed-3)
		}
	}
	return m, nil
}

// toldMemory returns a stored Memory as a plugin is told it in a list.
func toldMemory(res *storage.Resource) (m abi.Memory, err error) {
	if err := ledger.ReadListed(res, &m); err != nil {
		return m, ledger.Naming(abi.ObjectMemory, res.ID, err)
	}
	if abi.TooDeep(res.State, maxListed) >= 0 {
		for _, v := range []*jsontext.Value{&m.Content, &m.Metadata, &m.Provenance} {
			flatten(v, maxListed-1)
		}
	}
	return m, nil
}

// flatten replaces a value that nests deeper than so many levels.
func flatten(v *jsontext.Value, levels int) {
	if abi.TooDeep(*v, levels) >= 0 {
		*v = notTold()
	}
}

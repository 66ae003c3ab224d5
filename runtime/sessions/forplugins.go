package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/storage"
)

// HostCalls are the calls of plugins that the keeper answers.
func (k *Keeper) HostCalls() map[string]hostcall.Func {
	return map[string]hostcall.Func{
		abi.CallTranscriptRead: hostcall.Of(k.transcriptFor),
		abi.CallStateGet:       hostcall.Of(k.stateFor),
		abi.CallStateSet:       hostcall.Of(k.setStateFor),
	}
}

// maxTranscript is how many Messages transcript.read gives at most.
const maxTranscript = 200

func (k *Keeper) transcriptFor(ctx context.Context, c *hostcall.Call, req *abi.CallTranscriptReadRequest) (hostcall.Answer, error) {
	req.Last = cmp.Or(req.Last, 50)
	if req.Last < 0 || req.Last > maxTranscript {
		return hostcall.Answer{}, provider.Malformed(abi.InvalidParam("last", "last is 1 to %d", maxTranscript))
	}
	if err := c.Run.Flush(); err != nil { // so that it sees its own Messages
		return hostcall.Answer{}, err
	}
	newest, err := k.newest(ctx, c.Tenant, c.Task.SessionID, req.Last)
	if err != nil {
		return hostcall.Answer{}, err
	}
	return hostcall.Encoded(newest)
}

// newest returns the newest Messages of a Session, oldest first. What it reads does not
// grow with the Session.
func (k *Keeper) newest(ctx context.Context, tenant storage.Tenant, session string, last int) (abi.CallTranscriptReadAnswer, error) {
	var stored []storage.Resource // the newest first
	size, earlier := 0, true
	for page := (storage.Page{Newest: true}); earlier && len(stored) < last && size <= hostcall.MaxTold; {
		page.Limit = last - len(stored)
		list, more, err := k.parts.Store.Transcript(ctx, tenant, session, page)
		if err != nil {
			return abi.CallTranscriptReadAnswer{}, fmt.Errorf("reading the transcript: %w", err)
		}
		for _, res := range list {
			page.After = res.Origin.String()
			stored, size = append(stored, res), size+len(res.State)
		}
		earlier = more
	}
	slices.Reverse(stored)
	over := tooMuch(stored)
	return messagesForPlugin(stored[over:], earlier || over > 0), nil
}

// tooMuch returns how many of the oldest are left out, for those after them are enough.
func tooMuch(stored []storage.Resource) int {
	size := 0
	for i, res := range slices.Backward(stored) {
		if size += len(res.State); size > hostcall.MaxTold {
			return min(i+1, len(stored)-1)
		}
	}
	return 0
}

// messagesForPlugin returns the answer of transcript.read about stored Messages: those that
// cannot be read are named in it.
func messagesForPlugin(stored []storage.Resource, earlier bool) abi.CallTranscriptReadAnswer {
	answer := abi.CallTranscriptReadAnswer{Messages: []abi.Message{}, Earlier: earlier}
	for i := range stored {
		m, err := messageForPlugin(&stored[i])
		if err != nil {
			answer.Unreadable = append(answer.Unreadable, stored[i].ID)
			continue
		}
		answer.Messages = append(answer.Messages, m)
	}
	return answer
}

// ForPlugin returns a Message as a plugin is told it in a list.
func ForPlugin(m *abi.Message) (abi.Message, error) {
	return messageForPlugin(&storage.Resource{ID: m.ID, State: m.AppendJSON(nil)})
}

// messageForPlugin returns a stored Message as a plugin is told it in a list. The error says
// that it cannot be read.
func messageForPlugin(res *storage.Resource) (m abi.Message, err error) {
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
	if abi.TooDeep(state, hostcall.MaxListed) < 0 {
		return m, nil
	}
	hostcall.Flatten(&m.Metadata, hostcall.MaxListed-1)
	for i := range m.Parts { // which lie in a list and an object
		p := &m.Parts[i]
		for _, v := range []*jsontext.Value{&p.Value, &p.Input, &p.Output} {
			hostcall.Flatten(v, hostcall.MaxListed-3)
		}
	}
	return m, nil
}

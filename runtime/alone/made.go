package alone

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

// made answers what follows from the run itself: what the plugin hands out, and facts that are made
// from the seed.
type made struct {
	host      *host
	calls     map[string]func(request []byte) (any, error)
	count     int
	artifacts map[string][]byte
	state     map[string]jsontext.Value
}

func newMade(h *host) *made {
	m := &made{host: h, artifacts: map[string][]byte{}, state: map[string]jsontext.Value{}}
	m.calls = map[string]func([]byte) (any, error){
		abi.CallClock:         m.clock,
		abi.CallRandom:        m.random,
		abi.CallID:            func([]byte) (any, error) { return abi.CallIDAnswer{ID: m.id("")}, nil },
		abi.CallSleep:         m.sleep,
		abi.CallOutput:        m.output,
		abi.CallMessageAppend: m.message,
		abi.CallMemoryWrite:   func([]byte) (any, error) { return abi.CallMemoryWriteAnswer{MemoryID: m.id(abi.ObjectMemory)}, nil },
		abi.CallArtifactPut:   m.putArtifact,
		abi.CallArtifactGet:   m.getArtifact,
		abi.CallStateGet:      m.getState,
		abi.CallStateSet:      m.setState,
		abi.CallEventEmit:     m.emit,
		abi.CallConfigGet:     m.config,
		abi.CallHostFact:      m.fact,
		abi.CallNormalized:    func([]byte) (any, error) { return nil, nil },
	}
	return m
}

// MadeByHost reports whether a call needs no answer: it follows from the run itself.
func MadeByHost(call string) bool { return newMade(nil).calls[call] != nil }

func (m *made) answer(def *abi.HostCall, request []byte) ([]byte, error) {
	perform := m.calls[def.Name]
	if name := secretIn(def, request); slices.Contains(m.host.options.Secrets, name) {
		return json.Marshal(abi.CallSecretUseAnswer{Handle: secret.Handle(name)})
	}
	if perform == nil {
		return nil, missing(def, request)
	}
	answer, err := perform(bytes.Clone(request))
	switch answer := answer.(type) {
	case nil:
		return nil, err
	case []byte:
		return answer, err
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// secretIn returns the name of the secret that a call asks for, "" for none.
func secretIn(def *abi.HostCall, request []byte) string {
	var asked abi.CallSecretUseRequest
	if def.Name != abi.CallSecretUse || json.Unmarshal(bytes.Clone(request), &asked) != nil {
		return ""
	}
	return asked.Name
}

// id makes an id, the same in each run.
func (m *made) id(object abi.Object) string {
	m.count++
	return abi.DerivedID(object, m.host.options.Started, fmt.Sprintf("alone %d", m.count))
}

func (m *made) clock([]byte) (any, error) {
	return abi.CallClockAnswer{UnixNano: strconv.FormatInt(m.host.ground.Now().UnixNano(), 10)}, nil
}

func (m *made) random(request []byte) (any, error) {
	n, err := HowRandom(request)
	if err != nil {
		return nil, err
	}
	p := make([]byte, n)
	m.host.ground.Random(p)
	return p, nil
}

// HowRandom reads the request of abi.CallRandom. Its error is a *provider.Refusal.
func HowRandom(request []byte) (int, error) {
	if len(request) != 4 {
		return 0, provider.Malformed(errors.New("the request of random is 4 bytes: how many, little-endian"))
	}
	n := binary.LittleEndian.Uint32(request)
	if n > abi.MaxRandom {
		return 0, provider.Refuse(abi.CallTooLarge, string(abi.CodePayloadTooLarge), "at most 65,536 random bytes at once")
	}
	return int(n), nil
}

// sleep moves the time on, and waits for nobody.
func (m *made) sleep(request []byte) (any, error) {
	var asked abi.CallSleepRequest
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, provider.Malformed(err)
	}
	const most = int64(1<<63-1) / int64(time.Millisecond)
	m.host.ground.Sleep(time.Duration(min(max(asked.Milliseconds, 0), most)) * time.Millisecond)
	return nil, nil
}

func (m *made) output(request []byte) (any, error) {
	if m.host.report.Output != nil {
		return nil, provider.Refuse(abi.CallInvalid, "output_given", "the task has its output already; output is called once")
	}
	var out abi.CallOutputRequest
	if err := json.Unmarshal(request, &out); err != nil {
		return nil, provider.Malformed(err)
	}
	if wrong := out.Check(); wrong != nil {
		return nil, provider.Malformed(wrong)
	}
	return nil, nil
}

func (m *made) message(request []byte) (any, error) {
	var in abi.MessageInput
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, provider.Malformed(err)
	}
	if in.Parts == nil {
		return nil, provider.Malformed(abi.InvalidParam("parts", `missing required member "parts"`))
	}
	return abi.CallMessageAppendAnswer{MessageID: m.id(abi.ObjectMessage)}, nil
}

func (m *made) putArtifact(request []byte) (any, error) {
	_, content, found := bytes.Cut(request, []byte("\n"))
	if !found {
		return nil, provider.Malformed(errors.New("the request of artifact.put is a line of JSON, a newline, and the content"))
	}
	id := m.id(abi.ObjectArtifact)
	m.artifacts[id] = content
	return abi.CallArtifactPutAnswer{ArtifactID: id, SHA256: fmt.Sprintf("%x", sha256.Sum256(content))}, nil
}

func (m *made) getArtifact(request []byte) (any, error) {
	var asked abi.CallArtifactGetRequest
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, provider.Malformed(err)
	}
	content, known := m.artifacts[asked.ArtifactID]
	if !known {
		return nil, missing(m.host.defs[abi.CallArtifactGet], request)
	}
	if asked.Offset < 0 || asked.Length < 0 {
		return nil, provider.Malformed(abi.InvalidParam("offset", "offset and length cannot be negative"))
	}
	content = content[min(asked.Offset, int64(len(content))):]
	if asked.Length > 0 {
		content = content[:min(asked.Length, int64(len(content)))]
	}
	return content, nil
}

func (m *made) getState(request []byte) (any, error) {
	var asked abi.CallStateGetRequest
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, provider.Malformed(err)
	}
	return abi.CallStateGetAnswer{Value: orNull(m.state[asked.Key])}, nil
}

func (m *made) setState(request []byte) (any, error) {
	var asked abi.CallStateSetRequest
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, provider.Malformed(err)
	}
	m.state[asked.Key] = asked.Value
	return nil, nil
}

func orNull(v jsontext.Value) jsontext.Value {
	if v == nil {
		return jsontext.Value("null")
	}
	return v
}

func (m *made) emit(request []byte) (any, error) {
	var asked abi.CallEventEmitRequest
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, provider.Malformed(err)
	}
	if refused := abi.CheckPluginKind(asked.Kind); refused != nil {
		return nil, provider.Malformed(refused)
	}
	return nil, nil
}

func (m *made) config(request []byte) (any, error) {
	var asked abi.CallConfigGetRequest
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, provider.Malformed(err)
	}
	var value jsontext.Value
	if a := m.host.options.Answers; a != nil {
		value = a.config[asked.Name]
	}
	if value == nil {
		value = m.host.options.Config[asked.Name]
	}
	return abi.CallConfigGetAnswer{Value: orNull(value)}, nil
}

// fact answers with facts of no machine.
func (m *made) fact(request []byte) (any, error) {
	var asked abi.CallHostFactRequest
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, provider.Malformed(err)
	}
	var given abi.CallInputAnswer
	if m.host.options.Given != nil {
		if err := json.Unmarshal(m.host.options.Given, &given); err != nil {
			return nil, fmt.Errorf("reading what the plugin is given: %w", err)
		}
	}
	facts := map[string]string{"wharf.version": "alone", "abi.version": abi.ABIVersion, "os": "none", "arch": "none", "tenant": "alone",
		"workspace": given.Task.WorkspaceID, "session": given.SessionID, "task": given.Task.ID, "deadline": "", "client.protocol": "",
		"client.name": "", "client.version": "", "client.capabilities": ""}
	value, known := facts[asked.Name]
	if !known {
		return nil, provider.Refuse(abi.CallNotFound, "unknown_fact", "there is no host fact "+strconv.Quote(asked.Name))
	}
	return abi.CallHostFactAnswer{Value: value}, nil
}

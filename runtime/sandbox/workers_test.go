package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/plugintest/workers"
)

// workHost is the Host of a worker. All that it tells follows from what it was asked
// before, and it writes everything down.
type workHost struct {
	virtual
	input  []byte
	state  jsontext.Value
	output string
}

func newWorkHost(t testing.TB, work workers.Work) *workHost {
	t.Helper()
	text, err := json.Marshal(work, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return &workHost{virtual: *newVirtual(), input: newTask(t, string(text)).input, state: jsontext.Value("null")}
}

// Call implements Host.
func (h *workHost) Call(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	h.log = append(h.log, fmt.Sprintf("call %s %q", call, request))
	switch call {
	case abi.CallInput:
		return abi.CallOK, h.input, nil
	case abi.CallClock:
		return abi.CallOK, fmt.Appendf(nil, `{"unix_nano":"%d"}`, h.now.UnixNano()+int64(len(h.log))), nil
	case abi.CallRandom:
		return abi.CallOK, bytes.Repeat([]byte{byte(len(h.log))}, 16), nil
	case abi.CallStateSet:
		var set abi.CallStateSetRequest
		if err := json.Unmarshal(request, &set); err != nil {
			return 0, nil, err
		}
		h.virtual.state++
		h.state = bytes.Clone(set.Value)
	case abi.CallStateGet:
		return abi.CallOK, fmt.Appendf(nil, `{"value":%s}`, h.state), nil
	case abi.CallOutput:
		var output abi.CallOutputRequest
		if err := json.Unmarshal(request, &output); err != nil {
			return 0, nil, err
		}
		h.output = output.Summary
		if output.Failure != nil {
			h.output = output.Failure.Error()
		}
	}
	return abi.CallOK, nil, nil
}

// ending tells how a Run ended: the code and the words of a failure are part of it.
func ending(err error) string {
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		return fmt.Sprintf("%s: %s %s", failure.Code, failure.Message, failure.Details)
	}
	return fmt.Sprint(err)
}

// doWork has a worker do something, and fails the test when that fails.
func doWork(t testing.TB, m *Module, work workers.Work) *workHost {
	t.Helper()
	h := newWorkHost(t, work)
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatalf("%s: %v", work.Work, err)
	}
	return h
}

// TestWorkersAgree holds that what is the same in every language comes to the same
// in every language, the bits of every NaN included.
func TestWorkersAgree(t *testing.T) {
	for _, engine := range engines() {
		engine.config.CacheDir = cacheDir
		r := newRuntime(t, engine.config)
		found := map[string]map[string][]string{}
		for _, w := range workers.All() {
			m := compile(t, r, w.Wasm)
			for _, work := range []workers.Work{{Work: "floats", Times: 500}, {Work: "sort", Times: 5000}, {Work: "recurse", Times: 300}} {
				if w.Can(work.Work) {
					note(found, work.Work, doWork(t, m, work).output, w.Name)
				}
			}
		}
		for work, results := range found {
			if len(results) != 1 {
				t.Errorf("%s on the %s: %v", work, engine.name, results)
			}
		}
	}
}

func note(found map[string]map[string][]string, work, result, by string) {
	if found[work] == nil {
		found[work] = map[string][]string{}
	}
	found[work][result] = append(found[work][result], by)
}

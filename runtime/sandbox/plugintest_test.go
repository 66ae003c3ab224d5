package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/plugintest"
)

// programHost answers input with a program, and every other call by what it is
// told to.
func programHost(t testing.TB, program any, answers func(call string, request []byte) (abi.CallStatus, []byte, error)) *host {
	t.Helper()
	text, err := json.Marshal(program, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	input := newTask(t, string(text)).input
	given := false
	return &host{keep: true, answer: func(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
		if call == abi.CallInput && !given {
			given = true
			return abi.CallOK, input, nil
		}
		return answers(call, request)
	}}
}

func named(call string, _ []byte) (abi.CallStatus, []byte, error) {
	return abi.CallOK, fmt.Appendf(nil, `{"name":%q}`, call), nil
}

func text(s string) *string                           { return &s }
func number(n uint32) *uint32                         { return &n }
func program(s ...plugintest.Step) plugintest.Program { return plugintest.Program{Program: s} }

// TestCallsReachesEveryCall holds that the plugin calls makes each host call there
// is, in the order and with the bytes of its program.
func TestCallsReachesEveryCall(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), plugintest.Calls())
	var steps []plugintest.Step
	var want []asked
	for i, def := range abi.HostCalls() {
		request := fmt.Sprintf(`{"n":%d,"a":["\"}",{}]}`, i)
		steps = append(steps, plugintest.Step{Call: def.Name, Request: jsontext.Value(request)})
		want = append(want, asked{def.Name, request})
		if !slices.Contains(m.Imports(), def.Name) {
			t.Errorf("the plugin does not import %s", def.Name)
		}
	}
	h := programHost(t, program(steps...), named)
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	if got := h.asked[1:]; !slices.Equal(got, want) {
		t.Errorf("the host was asked\n%q, want\n%q", got, want)
	}
}

// TestCallsFillsRequests holds that later requests can be made of earlier answers,
// and that an answer that changed changes what is asked after it.
func TestCallsFillsRequests(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), plugintest.Calls())
	p := program(
		plugintest.Step{Call: abi.CallTaskSpawn, Request: jsontext.Value(`{"input":{}}`)},
		plugintest.Step{Call: abi.CallTaskAwait, Request: jsontext.Value(`{"task_id":"$task_id"}`)},
		plugintest.Step{Call: abi.CallArtifactPut, Text: text("{\"kind\":\"file\"}\nline $n\t\"é\"\\")},
		plugintest.Step{Call: abi.CallRandom, Bytes: number(300)},
		plugintest.Step{Call: abi.CallStateSet, Request: jsontext.Value(`{"value":"$digest"}`), Repeat: 2},
	)
	run := func(id string) []asked {
		h := programHost(t, p, func(call string, _ []byte) (abi.CallStatus, []byte, error) {
			if call == abi.CallTaskSpawn {
				return abi.CallOK, []byte(`{"task_id":"` + id + `"}`), nil
			}
			return abi.CallUnavailable, nil, nil
		})
		if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			t.Fatal(err)
		}
		return h.asked
	}
	one, two := run("task_1"), run("task_2")
	for i, want := range []string{2: `{"task_id":"task_1"}`, 3: "{\"kind\":\"file\"}\nline 2\t\"é\"\\", 4: "\x2c\x01\x00\x00"} {
		if want != "" && one[i].request != want {
			t.Errorf("call %d was %q, want %q", i, one[i].request, want)
		}
	}
	if len(one) != 8 || one[5] == one[6] || one[5] == two[5] || one[7] == two[7] {
		t.Errorf("the digest does not follow the answers:\n%q\n%q", one, two)
	}
	if !strings.HasPrefix(one[7].request, `{"summary":"6 calls, digest `) {
		t.Errorf("the output is %s", one[7].request)
	}
}

// TestCallsEnds holds that a program can end a run in every way.
func TestCallsEnds(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), plugintest.Calls())
	for _, test := range []struct {
		step plugintest.Step
		code string
	}{
		{plugintest.Step{Call: "trap"}, abi.FailurePluginTrap},
		{plugintest.Step{Call: "return", Bytes: number(9)}, abi.FailurePluginError},
		{plugintest.Step{Call: "no such word"}, abi.FailurePluginError},
		{plugintest.Step{Call: "spin"}, abi.FailurePluginTimeout},
		{plugintest.Step{Call: abi.CallClock, Repeat: 100}, abi.FailureHostCalls},
	} {
		_, err := m.Run(t.Context(), abi.DefaultExport, programHost(t, program(test.step), named),
			Limits{WallTime: soon().WallTime, HostCalls: 50})
		checkFailure(t, err, test.code, "")
	}
}

// slowHost takes longer over each clock than a run may take.
type slowHost struct {
	*host
	takes time.Duration
}

func (h slowHost) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	if call == abi.CallClock {
		select {
		case <-time.After(h.takes):
		case <-ctx.Done():
			return 0, nil, context.Cause(ctx)
		}
	}
	return h.host.Call(ctx, call, request)
}

// TestTheHostsTimeIsNotTheGuests holds that a slow model does not use up the time
// of the plugin that asked it.
func TestTheHostsTimeIsNotTheGuests(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), plugintest.Calls())
	h := programHost(t, program(plugintest.Step{Call: abi.CallClock, Repeat: 3}), named)
	limit := time.Second
	if _, err := m.Run(t.Context(), abi.DefaultExport, slowHost{h, limit / 2}, Limits{WallTime: limit}); err != nil {
		t.Fatal(err)
	}
}

func TestSteps(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), plugintest.Steps())
	for _, test := range []struct {
		input plugintest.StepsInput
		call  string
		bytes int
	}{
		{plugintest.StepsInput{Steps: 5, Kind: "durable", Bytes: 200}, abi.CallStateSet, 200},
		{plugintest.StepsInput{Steps: 3, Kind: "read", Bytes: 100}, abi.CallStateGet, len(`{"key":""}`) + 100},
		{plugintest.StepsInput{Steps: 1, Kind: "read", Bytes: 1000}, abi.CallStateGet, len(`{"key":""}`) + 128},
	} {
		h := programHost(t, test.input, named)
		if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			t.Fatal(err)
		}
		if len(h.asked) != test.input.Steps+2 {
			t.Errorf("%+v made the calls %q", test.input, h.asked)
		}
		for _, a := range h.asked[1 : len(h.asked)-1] {
			if a.call != test.call || len(a.request) != test.bytes || !jsontext.Value(a.request).IsValid() {
				t.Errorf("%+v made the call %q of %d bytes", test.input, a, len(a.request))
			}
		}
	}
}

func TestFixture(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), plugintest.Fixture())
	for status, verdict := range map[abi.CallStatus]string{abi.CallOK: "denied", abi.CallUnavailable: "approved"} {
		h := programHost(t, map[string]string{"message": "ship \"it\"?"}, func(call string, _ []byte) (abi.CallStatus, []byte, error) {
			if call == abi.CallLLMComplete {
				return status, []byte(`{"provider":"p","text":"denied"}`), nil
			}
			return abi.CallOK, nil, nil
		})
		if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			t.Fatal(err)
		}
		want := []asked{
			{abi.CallInput, ""}, {abi.CallClock, `{"call_id":"started_at"}`},
			{abi.CallLLMComplete, `{"call_id":"main:1","messages":[{"role":"user","text":"ship \"it\"?"}]}`},
			{abi.CallArtifactPut, `{"kind":"dataset","mime_type":"application/json","name":"verdict.json"}` + "\n" + `{"message":"ship \"it\"?","verdict":"` + verdict + `"}`},
			{abi.CallOutput, `{"summary":"` + verdict + `"}`},
		}
		if !slices.Equal(h.asked, want) {
			t.Errorf("the host was asked\n%q, want\n%q", h.asked, want)
		}
	}
}

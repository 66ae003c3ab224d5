package journal

import (
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// The keys by which people name the calls of a Task, in the order of the calls.
func TestKeys(t *testing.T) {
	type asked struct{ call, request, want string }
	for name, calls := range map[string][]asked{
		"the labels of the plugin": {
			{abi.CallClock, `{"call_id":"begun"}`, "time:begun"},
			{abi.CallLLMComplete, `{"messages":[],"call_id":"main:1"}`, "llm:main:1"},
			{abi.CallToolCall, `{"call_id":"c1","server":"github","name":"search"}`, "mcp:github:c1"},
			{abi.CallMemoryQuery, `{"call_id":"é \" /"}`, "host:memory.query:é \" /"},
		},
		"numbers, by form": {
			{abi.CallClock, ``, "time:1"}, {abi.CallLLMComplete, `{}`, "llm:1"}, {abi.CallClock, `{}`, "time:2"},
			{abi.CallClock, `{"call_id":"x"}`, "time:x"}, {abi.CallClock, `{"call_id":""}`, "time:3"},
			{abi.CallRandom, "\x04\x00\x00\x00", "host:random:1"}, {abi.CallRandom, "\x04\x00\x00\x00", "host:random:2"},
			{abi.CallID, ``, "host:id:1"}, {abi.CallLLMComplete, `{"messages":[]}`, "llm:2"},
		},
		"numbers of each server": {
			{abi.CallToolCall, `{"server":"a","name":"x"}`, "mcp:a:1"}, {abi.CallToolCall, `{"server":"b","name":"x"}`, "mcp:b:1"},
			{abi.CallToolCall, `{"server":"a","name":"y"}`, "mcp:a:2"}, {abi.CallToolCall, `{"name":"y"}`, "mcp::1"},
		},
		"what is read of servers": {
			{abi.CallToolCall, `{"server":"a","name":"x"}`, "mcp:a:1"}, {abi.CallResourceRead, `{"server":"a","uri":"x"}`, "mcp:a:resource.read:1"},
			{abi.CallResourceRead, `{"server":"b","uri":"x"}`, "mcp:b:resource.read:1"}, {abi.CallResourceList, `{"server":"a"}`, "mcp:a:resource.list:1"},
			{abi.CallPromptGet, `{"server":"a","name":"p"}`, "mcp:a:prompt.get:1"}, {abi.CallResourceRead, `{"server":"a","uri":"y"}`, "mcp:a:resource.read:2"},
			{abi.CallToolCall, `{"server":"a","name":"x","call_id":"c"}`, "mcp:a:c"}, {abi.CallPromptGet, `{"server":"a","name":"p","call_id":"c"}`, "mcp:a:prompt.get:c"},
			{abi.CallToolCall, `{"server":"a","name":"x"}`, "mcp:a:2"},
		},
		"names": {
			{abi.CallSecretUse, `{"name":"token"}`, "secret:token"}, {abi.CallSecretUse, `{"name":"token"}`, "secret:token"},
			{abi.CallConfigGet, `{"name":"a.b"}`, "host:config.get:a.b"}, {abi.CallHostFact, `{"name":"os"}`, "host:host.fact:os"},
			{abi.CallHostFact, `{}`, "host:host.fact:"},
		},
		"names written with escapes": {
			{abi.CallLLMComplete, `{"call_\u0069d":"a"}`, "llm:a"},
			{abi.CallClock, `{"\u0063all_id":"\u0062"}`, "time:b"},
			{abi.CallToolCall, `{"s\u0065rver":"s","call\u005fid":"c"}`, "mcp:s:c"},
			{abi.CallSecretUse, `{"n\u0061me":"t"}`, "secret:t"},
		},
		"what only looks like a name": {
			{abi.CallLLMComplete, `{"messages":[{"role":"user","text":"call_id"}]}`, "llm:1"},
			{abi.CallLLMComplete, `{"CALL_ID":"x"}`, "llm:2"},
			{abi.CallLLMComplete, `{"messages":[{"call_id":"inner"}]}`, "llm:3"},
			{abi.CallRandom, `{"call_id":"x"}`, "host:random:1"},
			{abi.CallClock, `{"call_id":5}`, "time:1"},
		},
		"malformed requests": {
			{abi.CallLLMComplete, `{`, "llm:1"}, {abi.CallLLMComplete, `[]`, "llm:2"}, {abi.CallLLMComplete, "\xff", "llm:3"},
			{abi.CallLLMComplete, `null`, "llm:4"}, {abi.CallToolCall, `nonsense`, "mcp::1"}, {abi.CallSecretUse, ``, "secret:"},
		},
		"calls that cannot be replaced": {
			{abi.CallOutput, `{"call_id":"x"}`, ""}, {abi.CallMessageAppend, `{"call_id":"x"}`, ""}, {abi.CallSleep, `{}`, ""},
			{abi.CallArtifactPut, "{}\n", ""}, {abi.CallStateSet, `{}`, ""}, {abi.CallTaskSpawn, `{}`, ""}, {abi.CallEventEmit, `{}`, ""},
		},
	} {
		var keys Keys
		for i, c := range calls {
			def, ok := abi.LookupHostCall(c.call)
			if !ok {
				t.Fatal(c.call)
			}
			if got := keys.Next(&def, []byte(c.request)); got != c.want {
				t.Errorf("%s: call %d, %s %s: %q, want %q", name, i, c.call, c.request, got, c.want)
			}
		}
	}
}

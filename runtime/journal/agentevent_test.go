package journal

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// What an agent tells has the members of its kind, and no others.
func TestAgentEvents(t *testing.T) {
	for _, c := range []struct{ kind, data, told string }{
		{"skill_activated", `{"iteration":2,"skill_name":"pdf","reason":"named"}`, `{"skill_name":"pdf","iteration":2,"reason":"named"}`},
		{"skill_deactivated", `{"iteration":3,"skill_name":"pdf"}`, `{"skill_name":"pdf","iteration":3}`},
		{"skill_scope_tools", `{"skill_name":"pdf","allowed_tools":["Read"]}`, `{"skill_name":"pdf","allowed_tools":["Read"]}`},
		{"skill_narrow", `{"reason":"skills","removed_tools":["a"],"remaining_tools":[],"removed_tool_details":[{"name":"a","reason":"r"}]}`,
			`{"reason":"skills","removed_tools":["a"],"remaining_tools":[],"removed_tool_details":[{"name":"a","reason":"r"}]}`},
		{"tool_search_query", `{"tool_use_id":"c","name":"tool_search","query":"q","strategy":"bm25","mode":"client"}`,
			`{"tool_use_id":"c","name":"tool_search","query":"q","strategy":"bm25","mode":"client"}`},
		{"tool_search_result", `{"tool_use_id":"c","promoted":["a"],"strategy":"bm25","mode":"client"}`,
			`{"tool_use_id":"c","promoted":["a"],"strategy":"bm25","mode":"client"}`},
		{"transcript_compacted", `{"strategy":"summarize","archived_messages":3,"estimated_tokens_before":9,"compaction_policy":{"at":0.8}}`,
			`{"mode":"","reason":"","strategy":"summarize","archived_messages":3,"estimated_tokens_before":9,"estimated_tokens_after":0,"compaction_policy":{"at":0.8}}`},
		{"transcript_projected", `{"policy":"p","reclaimed_tokens":7}`,
			`{"policy":"p","reason":"","prefix_hash":"","kept_count":0,"dropped_count":0,"provider_safety_blocked":0,"redacted_count":0,"reclaimed_tokens":7}`},
		{"turn_started", `{"iteration":1}`, `{"iteration":1}`},
		{"turn_ended", `{"iteration":1,"stop_reason":"end","tool_calls":2}`, `{"iteration":1,"stop_reason":"end","tool_calls":2}`},
	} {
		kind, payload, err := ReadHint(abi.CallAgentEvent, []byte(`{"kind":"`+c.kind+`","data":`+c.data+`}`))
		if err != nil || kind != abi.EventAgentEvent {
			t.Errorf("%s: %s, %v", c.kind, kind, err)
			continue
		}
		if told := payload.(*abi.AgentEvent); string(told.Kind) != c.kind || string(told.Data) != c.told {
			t.Errorf("%s is told as %s", told.Kind, told.Data)
		}
	}
	for _, request := range []string{
		`{"kind":"skill_matched","data":{}}`, `{"kind":"","data":{}}`, `{"data":{}}`, `{"kind":"turn_started"}`, `{"kind":"turn_started","data":[]}`,
		`{"kind":"turn_started","data":{"iteration":-1}}`, `{"kind":"turn_started","data":{"iteration":1.5}}`, `{"kind":"turn_started","data":{"turn":1}}`,
		`{"kind":"skill_activated","data":{"iteration":1}}`, `{"kind":"skill_activated","data":{"skillName":"a"}}`, `{"kind":"tool_search_query","data":{}}`,
		`{"kind":"turn_started","data":{"iteration":1,"iteration":2}}`, ``, `{"kind":"turn_ended","data":{"stop_reason":"` + strings.Repeat("x", abi.MaxAgentEvent) + `"}}`,
	} {
		if _, _, err := ReadHint(abi.CallAgentEvent, []byte(request)); err == nil {
			t.Errorf("%.80s is accepted", request)
		}
	}
}

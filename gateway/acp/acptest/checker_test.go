package acptest_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/gateway/acp/acptest"
)

const (
	stock = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}`
	aware = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"_meta":{"harn":{"extensions":"v1"}}}}}`
)

func update(of string) string {
	return `A{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + of + `,"_meta":{"harn":{"eventId":"7.0"}}}}`
}

// Each conversation is told to the checker after initialize. Lines begin with the side that sends them.
// What is wrong, if anything, is wrong with the last line.
func TestConversations(t *testing.T) {
	asks := `"params":{"sessionId":"s","toolCall":{"toolCallId":"t","title":"x","status":"pending"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]`
	for name, c := range map[string]struct {
		lines        []string
		stock, aware string // what an error says; "" for none
	}{
		"an answer":                   {[]string{`A{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"_meta":{"harn":{}}},"authMethods":[]}}`}, "", ""},
		"an unknown capability":       {[]string{`A{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"fork":{}}}}}`}, "fork", "fork"},
		"an answer to nothing":        {[]string{`A{"jsonrpc":"2.0","id":7,"result":{}}`}, "nobody has asked", "nobody has asked"},
		"two answers":                 {[]string{`A{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"no"}}`, `A{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"no"}}`}, "nobody has asked", "nobody has asked"},
		"an error to what is unread":  {[]string{`A{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no","data":{"a":1}}}`}, "", ""},
		"another version":             {[]string{`A{"jsonrpc":"1.0","id":0,"result":{}}`}, "jsonrpc", "jsonrpc"},
		"a batch":                     {[]string{`A[]`}, "no message", "no message"},
		"a duplicate member":          {[]string{`A{"jsonrpc":"2.0","id":0,"id":0,"result":{}}`}, "no message", "no message"},
		"half a line":                 {[]string{`A{"jsonrpc":"2.0"`}, "no message", "no message"},
		"an unknown member":           {[]string{`A{"jsonrpc":"2.0","id":0,"result":{},"_harn":{}}`}, "_harn", "_harn"},
		"text":                        {[]string{update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a","_meta":{"harn":{"visible_text":"a"}}}}`)}, "", ""},
		"text with a member":          {[]string{update(`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"a"}}`)}, "messageId", "messageId"},
		"a block with a member":       {[]string{update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a","visible":1}}`)}, "visible", "visible"},
		"a status that is none":       {[]string{update(`{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","status":"skipped"}`)}, "status", "status"},
		"any input":                   {[]string{update(`{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","rawInput":{"a":[{"b":1}]},"rawOutput":"o"}`)}, "", ""},
		"a tool with a Harn field":    {[]string{update(`{"sessionUpdate":"tool_call_update","toolCallId":"t","_meta":{"harn":{"durationMs":1,"executor":"harn_builtin"}}}`)}, "", ""},
		"a tool with an unknown one":  {[]string{update(`{"sessionUpdate":"tool_call_update","toolCallId":"t","_meta":{"harn":{"duration":1}}}`)}, `"duration"`, `"duration"`},
		"a plan without a priority":   {[]string{update(`{"sessionUpdate":"plan","entries":[{"content":"a","status":"pending"}]}`)}, "priority", "priority"},
		"an extension":                {[]string{update(`{"sessionUpdate":"worker_update","_meta":{"harn":{"workerId":"w"}}}`)}, "sessionUpdate", ""},
		"an extension at the root":    {[]string{update(`{"sessionUpdate":"worker_update","workerId":"w","_meta":{"harn":{}}}`)}, "sessionUpdate", "workerId"},
		"an extension in other words": {[]string{update(`{"sessionUpdate":"worker_update","_meta":{"harn":{"worker_id":"w"}}}`)}, "sessionUpdate", "worker_id"},
		"an extension of no document": {[]string{update(`{"sessionUpdate":"weather","_meta":{"harn":{}}}`)}, "sessionUpdate", "sessionUpdate"},
		"an injected message":         {[]string{update(`{"sessionUpdate":"user_message","messageId":"m","content":[{"type":"text","text":"a"}]}`)}, "sessionUpdate", ""},
		"permission":                  {[]string{`A{"jsonrpc":"2.0","id":1,"method":"session/request_permission",` + asks + `}}`, `C{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}`}, "", ""},
		"permission for Harn":         {[]string{`A{"jsonrpc":"2.0","id":1,"method":"session/request_permission",` + asks + `,"approvalRequest":{}}}`}, "approvalRequest", ""},
		"permission without options":  {[]string{`A{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"}}}`}, "options", "options"},
		"a host's method":             {[]string{`A{"jsonrpc":"2.0","id":1,"method":"host/tools/list","params":{}}`}, "host/tools/list", ""},
		"an event of an agent":        {[]string{`A{"jsonrpc":"2.0","method":"_harn/agentEvent","params":{"kind":"turn_started"}}`}, "agentEvent", ""},
		"a stop reason that is none":  {[]string{`C{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a"}]}}`, `A{"jsonrpc":"2.0","id":"p","result":{"stopReason":"completed"}}`}, "stopReason", "stopReason"},
		"a turn":                      {[]string{`C{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a"}]}}`, `A{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}`}, "", ""},
		"a method of the client":      {[]string{`C{"jsonrpc":"2.0","id":1,"method":"session/attach","params":{"sessionId":"s","clientId":"c"}}`, `A{"jsonrpc":"2.0","id":1,"result":{"client":{}}}`}, "", ""},
	} {
		for begin, want := range map[string]string{stock: c.stock, aware: c.aware} {
			checker, err := acptest.New()
			if err != nil {
				t.Fatal(err)
			}
			if err := checker.Client([]byte(begin)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, line := range c.lines {
				says := checker.Agent
				if line[0] == 'C' {
					says = checker.Client
				}
				err := says([]byte(line[1:]))
				last := i == len(c.lines)-1
				switch {
				case (!last || want == "") && err != nil:
					t.Errorf("%s (aware: %v): %v", name, begin == aware, err)
				case last && want != "" && (err == nil || !strings.Contains(err.Error(), want)):
					t.Errorf("%s (aware: %v): %v, want %q", name, begin == aware, err, want)
				}
			}
		}
	}
}

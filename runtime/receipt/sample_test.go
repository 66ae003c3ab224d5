package receipt

import (
	"bytes"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// start is when the Tasks of these tests were made.
var start = time.Date(2026, 4, 25, 19, 16, 10, 0, time.UTC)

func testKey(n byte) *Key { return NewKey(bytes.Repeat([]byte{n}, 32)) }

func program() *journal.Program {
	return &journal.Program{Plugin: "agent", Module: journal.HashOf([]byte("module")), Export: "run", ABI: abi.ABIVersion,
		Persona: journal.HashOf([]byte("persona")), Seed: bytes.Repeat([]byte{7}, 16), Engine: "wazero", Rewriter: "wharf-1",
		Limits: journal.Limits{MemoryBytes: 1 << 32, HostCalls: 1000, PayloadBytes: 1 << 20, OutputBytes: 1 << 30, Gas: 1e11, Depth: 65536}}
}

// programBefore is a program as it was recorded before modules were rewritten.
func programBefore() *journal.Program {
	p := program()
	p.Rewriter, p.Arch, p.Limits.Gas, p.Limits.Depth = "", "amd64", 0, 0
	return p
}

// entries returns a record: each entry is given its index and its time.
func entries(es ...journal.Entry) []journal.Entry {
	for i := range es {
		es[i].Index = i
		es[i].At = start.Add(time.Duration(i+1) * 1500 * time.Millisecond)
	}
	return es
}

func call(name, key, request, answer string) journal.Entry {
	def, _ := abi.LookupHostCall(name)
	return journal.Entry{Call: name, Effect: def.Effect, Key: key, Request: journal.Text(request), Answer: journal.Text(answer)}
}

// agentRun is the record of a run that does a bit of everything.
func agentRun() []journal.Entry {
	return entries(
		call(abi.CallClock, "time:1", ``, `{"unix_ns":"1777144570000000000"}`),
		call(abi.CallLLMComplete, "llm:main", `{"call_id":"main","messages":[]}`,
			`{"provider":"openai","model":"gpt-5","text":"hm","stop_reason":"tools","usage":{"input_tokens":1800,"output_tokens":420},"cost":0.1842,"currency":"USD","route":"first of the list","considered":[{"provider":"anthropic","model":"opus","reason":"overloaded"}]}`),
		call(abi.CallToolCall, "mcp:files:t1", `{"call_id":"t1","server":"files","name":"read","arguments":{"path":"a"}}`, `{"content":[{"type":"text","text":"x"}]}`),
		call(abi.CallHTTPFetch, "host:http.fetch:1", `{"url":"https://api.example.com/x?key={{secret:k}}","purpose":"open pull request"}`,
			`{"status":200,"url":"https://cdn.example.com/x","header":{},"text":"ok","bytes_sent":2048}`),
		call(abi.CallApprovalRequest, "host:approval.request:1", `{"action":"workspace.patch.apply","prompt":"?"}`,
			`{"decision":"approved","actor":"user_1","decided_at":"2026-04-25T19:17:02Z"}`),
		call(abi.CallHandoff, "", `{"persona_id":"persona_b","input":{}}`, `{"task_id":"task_child"}`),
		call(abi.CallTaskAwait, "host:task.await:1", `{"task_id":"task_child"}`, `{"task_id":"task_child","status":"SUCCEEDED","summary":"","receipt_id":"rcpt_child"}`),
	)
}

func tallyOf(t testing.TB, es []journal.Entry) *Tally {
	t.Helper()
	tally := NewTally(program(), []byte(`{"n":1}`), "task_1")
	for i := range es {
		if err := tally.Add(&es[i]); err != nil {
			t.Fatal(err)
		}
	}
	return tally
}

func facts() *Facts {
	return &Facts{ReceiptID: "rcpt_1", IssuerID: "wharf", IssuerVersion: "0.2.0",
		TenantID: "tenant_1", PersonaRef: "persona_a@1", WorkspaceID: "ws_1", SessionID: "sess_1", TaskID: "task_1",
		CreatedAt: start, StartedAt: start.Add(time.Second), CompletedAt: start.Add(80 * time.Second), IssuedAt: start.Add(80 * time.Second),
		Status: abi.TaskCompleted, Gas: 1_234_567, StartTier: abi.TierActAuto, EndTier: abi.TierActAuto, NodeVersion: "0.2.0",
		Artifacts: []ArtifactRef{{ArtifactID: "art_1", Kind: "patch", URI: ArtifactURI("art_1"), SHA256: journal.HashOf([]byte("patch"))}}}
}

func build(t testing.TB, f *Facts, tally *Tally) *Receipt {
	t.Helper()
	r, err := Build(f, tally)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sealed is a receipt as the node issues it.
func sealed(t testing.TB) *Receipt {
	r := build(t, facts(), tallyOf(t, agentRun()))
	Seal(r, "", testKey(1), r.IssuedAt)
	return r
}

package receipt

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update && !strings.HasPrefix(name, "before/") {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", path, got, want)
	}
}

// pretty is a receipt over several lines.
func pretty(r *Receipt) []byte { return []byte(journal.Pretty(r.AppendCanonical(nil)) + "\n") }

func replayFacts() *Facts {
	f := facts()
	f.ReceiptID = ""
	f.Replay = &Replay{ID: "replay_0123", SourceTaskID: "task_1", Mode: abi.ReplayWithOverrides,
		Deltas: []Delta{{DeltaID: "delta_1", Operation: "replace", Path: "/replay_input/materials/llm:main", OverrideKey: "llm:main",
			EventID: "41", BeforeSHA256: journal.HashOf([]byte("before")), AfterSHA256: journal.HashOf([]byte("after")), Reason: "a test"}}}
	return f
}

// before returns the facts of a run that was not metered.
func before(f *Facts) *Facts {
	unmetered := *f
	unmetered.Gas = 0
	return &unmetered
}

func tallyBefore(t *testing.T, es []journal.Entry) *Tally {
	tally := tallyOf(t, es)
	tally.program = programBefore()
	return tally
}

// TestGolden holds whole receipts against files, and against their schema.
func TestGolden(t *testing.T) {
	never := facts()
	never.StartedAt, never.Status, never.Gas = time.Time{}, abi.TaskCanceled, 0
	failed := facts()
	failed.Status, failed.Failure, failed.Artifacts = abi.TaskFailed, &abi.Failure{Code: "attempts_exhausted", Message: "3 starts"}, nil
	failed.Irreproducible = "the record ends within call 0"
	previous := journal.HashOf([]byte("previous"))
	for name, c := range map[string]struct {
		facts *Facts
		tally *Tally
		key   *Key
	}{
		"task.json":     {facts(), tallyOf(t, agentRun()), testKey(1)},
		"canceled.json": {never, NewTally(nil, nil, "task_1"), testKey(1)},
		"failed.json":   {failed, tallyOf(t, nil), testKey(1)},
		"replay.json":   {replayFacts(), tallyOf(t, agentRun()), nil},

		// Records of before modules were rewritten: these files do not change any more.
		"before/task.json":   {before(facts()), tallyBefore(t, agentRun()), testKey(1)},
		"before/failed.json": {before(failed), tallyBefore(t, nil), testKey(1)},
		"before/replay.json": {before(replayFacts()), tallyBefore(t, agentRun()), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := build(t, c.facts, c.tally)
			Seal(r, previous, c.key, r.IssuedAt)
			golden(t, name, pretty(r))
			if err := CheckSchema(r.AppendCanonical(nil)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBuildingTwiceGivesTheSameBytes(t *testing.T) {
	for name, f := range map[string]*Facts{"task": facts(), "replay": replayFacts()} {
		tally := tallyOf(t, agentRun())
		first := build(t, f, tally).AppendCanonical(nil)
		if again := build(t, f, tally).AppendCanonical(nil); !bytes.Equal(first, again) {
			t.Errorf("%s: the same tally gave\n%s\nand\n%s", name, first, again)
		}
		if other := build(t, f, tallyOf(t, agentRun())).AppendCanonical(nil); !bytes.Equal(first, other) {
			t.Errorf("%s: another tally gave\n%s\nand\n%s", name, first, other)
		}
	}
}

// TestReplayTellsNothingOfTheNode holds that what differs between two nodes is not
// in the receipt of a replay.
func TestReplayTellsNothingOfTheNode(t *testing.T) {
	here, there := replayFacts(), replayFacts()
	there.IssuerID, there.IssuerName, there.IssuerVersion, there.NodeVersion = "other", "Other", "9", "9"
	there.IssuedAt = start.Add(time.Hour)
	there.TaskID = "task_other"
	a, b := build(t, here, tallyOf(t, agentRun())), build(t, there, tallyOf(t, agentRun()))
	Seal(a, "", testKey(1), start)
	Seal(b, "", testKey(2), start.Add(time.Hour))
	if a.Chain.ReceiptHash != b.Chain.ReceiptHash {
		t.Errorf("the receipts differ:\n%s\n%s", a.AppendHashed(nil), b.AppendHashed(nil))
	}
}

// TestExactReplayHasTheRootOfItsSource is what lets a reader compare the two.
func TestExactReplayHasTheRootOfItsSource(t *testing.T) {
	source := build(t, facts(), tallyOf(t, agentRun()))
	replay := build(t, replayFacts(), tallyOf(t, agentRun()))
	if source.Chain.MerkleRoot != replay.Chain.MerkleRoot || source.Chain.MerkleRoot == "" {
		t.Errorf("source %q, replay %q", source.Chain.MerkleRoot, replay.Chain.MerkleRoot)
	}
}

func with(e journal.Entry, status abi.CallStatus) journal.Entry {
	e.Status = status
	if status != abi.CallOK {
		e.Answer = journal.Text(`{"code":"x","message":"y"}`)
	}
	return e
}

func answered(e journal.Entry, answer string) journal.Entry {
	e.Answer = journal.Text(answer)
	return e
}

func TestToolCalls(t *testing.T) {
	tool := call(abi.CallToolCall, "mcp:s:c", `{"server":"s","name":"n","arguments":{}}`, `{"content":[]}`)
	isError := tool
	isError.Answer = journal.Text(`{"content":[],"is_error":true}`)
	for name, c := range map[string]struct {
		entry    journal.Entry
		status   string
		metadata *CallMetadata
		counted  int64
	}{
		"succeeded":     {tool, "succeeded", nil, 1},
		"its own error": {isError, "failed", nil, 1},
		"denied":        {with(tool, abi.CallDenied), "failed", &CallMetadata{CallStatus: "denied"}, 0},
		"held back":     {answered(with(tool, abi.CallDenied), `{"code":"composition_ceiling","message":"m"}`), "failed", &CallMetadata{CallStatus: "denied", DeniedBy: "composition_ceiling"}, 0},
		"said so only":  {answered(tool, `{"code":"composition_ceiling","message":"m"}`), "succeeded", nil, 1},
		"denied else":   {answered(with(tool, abi.CallDenied), `{"code":"tool_denied","message":"m"}`), "failed", &CallMetadata{CallStatus: "denied"}, 0},
		"timeout":       {with(tool, abi.CallTimeout), "failed", &CallMetadata{CallStatus: "timeout"}, 1},
		"indeterminate": {with(tool, abi.CallIndeterminate), "failed", &CallMetadata{CallStatus: "indeterminate", Indeterminate: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := build(t, facts(), tallyOf(t, entries(c.entry)))
			if len(r.SideEffects.ToolCalls) != 1 {
				t.Fatalf("tool calls: %+v", r.SideEffects.ToolCalls)
			}
			got := r.SideEffects.ToolCalls[0]
			want := ToolCall{Tool: "s.n", CallID: "c", Status: c.status, InputHash: journal.HashOf([]byte("{}")),
				OutputHash: journal.HashOf(c.entry.Answer), Metadata: c.metadata}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v (%+v), want %+v", got, got.Metadata, want)
			}
			if n := *r.AutonomyBudget.Consumed.ToolCalls; n != c.counted {
				t.Errorf("%d calls are counted, want %d", n, c.counted)
			}
		})
	}
}

// What is read of a server of tools counts as a call of a tool, and is what a replay is told; it
// has no effect.
func TestServedByTools(t *testing.T) {
	list := call(abi.CallResourceList, "mcp:s:resource.list:1", `{"server":"s"}`, `{"resources":[]}`)
	read := call(abi.CallResourceRead, "mcp:s:resource.read:1", `{"server":"s","uri":"a"}`, `{"contents":[]}`)
	prompt := call(abi.CallPromptGet, "mcp:s:prompt.get:1", `{"server":"s","name":"n"}`, `{"messages":[]}`)
	for _, e := range []*journal.Entry{&list, &read, &prompt} {
		e.Effect = abi.EffectRead
	}
	denied := with(read, abi.CallDenied)
	denied.Key = "mcp:s:resource.read:2"
	all := entries(list, read, prompt, denied)
	r := build(t, facts(), tallyOf(t, all))
	if n := *r.AutonomyBudget.Consumed.ToolCalls; n != 2 {
		t.Errorf("%d calls are counted", n)
	}
	if len(r.SideEffects.ToolCalls) != 0 {
		t.Errorf("effects: %+v", r.SideEffects.ToolCalls)
	}
	var told []string
	for _, m := range r.ReplayInput.Materials {
		if m.Kind == MaterialTool {
			told = append(told, m.ID)
		}
	}
	if want := []string{list.Key, read.Key, prompt.Key, denied.Key}; !slices.Equal(told, want) {
		t.Errorf("materials of %v, want %v", told, want)
	}
}

func TestEgress(t *testing.T) {
	fetch := call(abi.CallHTTPFetch, "host:http.fetch:1", `{"url":"https://user:pass@h:8443/p?q={{secret:x}}"}`, `{"status":200,"url":"https://h:8443/p","header":{},"bytes_sent":0}`)
	script := call(abi.CallLLMComplete, "llm:1", `{"messages":[]}`, `{"provider":"script","model":"m","text":"","stop_reason":"end","usage":{"input_tokens":1,"output_tokens":2},"cost":0,"currency":"USD","route":"r"}`)
	zero := int64(0)
	for name, c := range map[string]struct {
		entry journal.Entry
		want  []Egress
	}{
		"fetched":       {fetch, []Egress{{Destination: "h:8443", Purpose: "http.fetch", BytesSent: &zero}}},
		"denied":        {with(fetch, abi.CallDenied), nil},
		"invalid":       {with(fetch, abi.CallInvalid), nil},
		"unavailable":   {with(fetch, abi.CallUnavailable), []Egress{{Destination: "h:8443", Purpose: "http.fetch", Metadata: &CallMetadata{CallStatus: "unavailable"}}}},
		"indeterminate": {with(fetch, abi.CallIndeterminate), []Egress{{Destination: "h:8443", Purpose: "http.fetch", Metadata: &CallMetadata{CallStatus: "indeterminate", Indeterminate: true}}}},
		"script":        {script, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := build(t, facts(), tallyOf(t, entries(c.entry)))
			if got := r.SideEffects.NetworkEgress; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestApprovals(t *testing.T) {
	ask := func(answer string) journal.Entry {
		return call(abi.CallApprovalRequest, "host:approval.request:1", `{"action":"a","prompt":"?"}`, answer)
	}
	at := start.Add(1500 * time.Millisecond)
	for name, c := range map[string]struct {
		entry journal.Entry
		want  *Approval
	}{
		"approved":  {ask(`{"decision":"approved","actor":"u","decided_at":"2026-04-25T19:17:02Z"}`), &Approval{Actor: "u", Decision: "approved", DecidedAt: time.Date(2026, 4, 25, 19, 17, 2, 0, time.UTC)}},
		"denied":    {ask(`{"decision":"denied","actor":"u","decided_at":"2026-04-25T19:17:02Z"}`), &Approval{Actor: "u", Decision: "denied", DecidedAt: time.Date(2026, 4, 25, 19, 17, 2, 0, time.UTC)}},
		"timeout":   {with(ask(""), abi.CallTimeout), &Approval{Actor: "none", Decision: "timeout", DecidedAt: at}},
		"not asked": {with(ask(""), abi.CallDenied), nil},
		"unknown":   {ask(`{"decision":"maybe"}`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := build(t, facts(), tallyOf(t, entries(c.entry)))
			var want []Approval
			if c.want != nil {
				c.want.ApprovalID, c.want.Action, c.want.EvidenceHash = "host:approval.request:1", "a", journal.HashOf(c.entry.Answer)
				want = []Approval{*c.want}
			}
			if !reflect.DeepEqual(r.Approvals, want) {
				t.Errorf("got %+v, want %+v", r.Approvals, want)
			}
		})
	}
}

func completion(provider, model, currency string, cost float64) journal.Entry {
	return call(abi.CallLLMComplete, "llm:1", `{"messages":[]}`, fmt.Sprintf(
		`{"provider":%q,"model":%q,"text":"","stop_reason":"end","usage":{"input_tokens":10,"output_tokens":3},"cost":%v,"currency":%q,"route":"cheapest"}`, provider, model, cost, currency))
}

func TestCost(t *testing.T) {
	r := build(t, facts(), tallyOf(t, entries(
		completion("openai", "m", "USD", 0.1), completion("openai", "m", "USD", 0.2), completion("anthropic", "n", "USD", 0.3),
		completion("local", "o", "EUR", 5), with(completion("openai", "m", "USD", 0.1), abi.CallUnavailable))))
	if r.Cost.Total != 0.6 || r.Cost.Currency != "USD" { // and not 0.6000000000000001
		t.Errorf("cost %v %s", r.Cost.Total, r.Cost.Currency)
	}
	want := []ProviderCost{{"openai", "m", 0.3, 20, 6}, {"anthropic", "n", 0.3, 10, 3}, {"local", "o", 0, 10, 3}}
	if !reflect.DeepEqual(r.Cost.ProviderBreakdown, want) {
		t.Errorf("breakdown %+v", r.Cost.ProviderBreakdown)
	}
	if !reflect.DeepEqual(r.Metadata.OtherCosts, map[string]float64{"EUR": 5}) || r.Metadata.ModelCallsFailed != 1 {
		t.Errorf("metadata %+v", r.Metadata)
	}
	if c := r.AutonomyBudget.Consumed; *c.USD != 0.6 || *c.InputTokens != 40 || *c.OutputTokens != 12 {
		t.Errorf("consumed %v %v %v", *c.USD, *c.InputTokens, *c.OutputTokens)
	}
	if m := r.ModelRoute; m.ChosenModel != (ModelRef{Provider: "openai", Model: "m"}) || m.RoutePolicyReason != "cheapest" || len(m.AlternativesConsidered) != 2 {
		t.Errorf("route %+v", m)
	}
}

func TestNoModel(t *testing.T) {
	for want, es := range map[string][]journal.Entry{
		"no model was called": nil,
		"no model answered":   entries(with(completion("", "", "", 0), abi.CallNotFound)),
	} {
		r := build(t, facts(), tallyOf(t, es))
		if m := r.ModelRoute; m.ChosenModel.Provider != "none" || m.RoutePolicyReason != want || r.Cost.Total != 0 {
			t.Errorf("route %+v, cost %+v", m, r.Cost)
		}
	}
}

// TestListsAreBounded holds that a long run has a short receipt that says what it
// lacks, and a root over all of it.
func TestListsAreBounded(t *testing.T) {
	tally := NewTally(program(), nil, "task_1")
	e := call(abi.CallToolCall, "mcp:s:c", `{"server":"s","name":"n"}`, `{"content":[]}`)
	for e.Index = range maxListed + 5 {
		if err := tally.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	r := build(t, facts(), tally)
	if n := len(r.SideEffects.ToolCalls); n != maxListed || r.Metadata.Omitted == nil || *r.Metadata.Omitted != (Omitted{Materials: 5, ToolCalls: 5}) {
		t.Errorf("%d tool calls listed, omitted %+v", n, r.Metadata.Omitted)
	}
	if *r.AutonomyBudget.Consumed.ToolCalls != maxListed+5 || r.Metadata.RecordLength != maxListed+5 {
		t.Errorf("consumed %d of a record of %d", *r.AutonomyBudget.Consumed.ToolCalls, r.Metadata.RecordLength)
	}
	if err := CheckSchema(r.AppendCanonical(nil)); err == nil || !strings.Contains(err.Error(), "receipt_hash") {
		t.Errorf("an unsealed receipt passes the schema, or fails elsewhere: %v", err)
	}
}

func TestTallyWantsEntriesInOrder(t *testing.T) {
	es := agentRun()
	tally := tallyOf(t, es[:2])
	open := es[2]
	open.Open = true
	for name, e := range map[string]*journal.Entry{"skipped": &es[3], "repeated": &es[1], "open": &open} {
		if err := tally.Add(e); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := tally.Add(&es[2]); err != nil {
		t.Errorf("after refusals: %v", err)
	}
}

func TestBuildSaysWhatIsMissing(t *testing.T) {
	for want, change := range map[string]func(*Facts){
		"has not ended": func(f *Facts) { f.Status = abi.TaskWorking },
		"Workspace":     func(f *Facts) { f.WorkspaceID = "" },
		"time":          func(f *Facts) { f.IssuedAt = time.Time{} },
	} {
		f := facts()
		change(f)
		if _, err := Build(f, tallyOf(t, nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %q", err, want)
		}
	}
}

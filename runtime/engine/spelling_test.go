package engine_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// spoken is a guest that makes the host calls its input lists, and passes each request
// to the byte as its input has it. Its output is a digest of all that it was told.
func spoken(ctx context.Context, h sandbox.Host) error {
	sum := sha256.New()
	tell := func(call string, request []byte) ([]byte, error) {
		status, answer, err := h.Call(ctx, call, request)
		fmt.Fprintf(sum, "%s %d %s\n", call, status, answer)
		return answer, err
	}
	answer, err := tell(abi.CallInput, nil)
	if err != nil {
		return err
	}
	var given struct {
		Task struct {
			Input struct {
				Program []struct {
					Call    string         `json:"call"`
					Request jsontext.Value `json:"request"`
				} `json:"program"`
			} `json:"input"`
		} `json:"task"`
	}
	if err := json.Unmarshal(answer, &given); err != nil {
		return err
	}
	for _, step := range given.Task.Input.Program {
		if _, err := tell(step.Call, step.Request); err != nil {
			return err
		}
	}
	_, _, err = h.Call(ctx, abi.CallOutput, fmt.Appendf(nil, `{"summary":"%x"}`, sum.Sum(nil)))
	return err
}

// spokenPrograms are inputs of spoken. What they say to others is spelled as they are.
var spokenPrograms = []string{
	`{"program":[{"call":"clock","request":{"call_id":"t"}},{"call":"state.set","request":{"key":"k","value":{"b":[1,2.50,12345678901234567890],"a":"Aé/"}}},{"call":"state.get","request":{"key":"k"}}]}`,
	`{"program":[{"call":"input.request","request":{"prompt":"who?","schema":{"type":["object","string"],"properties":{"n":{"type":"integer"}}}}},{"call":"clock","request":{}}]}`,
	`{"program":[{"call":"sleep","request":{"ms":1}},{"call":"memory.write","request":{"scope":"session","content":{"text":"the sky","n":1e2}}},{"call":"memory.query","request":{"scope":"session","text":"sky"}}]}`,
	`{"program":[{"call":"message.append","request":{"role":"assistant","parts":[{"type":"json","value":{"z":1,"a":[" ","\\",null]}},{"type":"text","text":"so \"it\" is"}],"metadata":{"m":{"n":0.10}}}},{"call":"transcript.read","request":{"last":3}}]}`,
	`{"program":[{"call":"task.spawn","request":{"persona_id":"persona_spoken","input":{"program":[{"call":"sleep","request":{"ms":1}},{"call":"clock","request":{"call_id":"child"}}]},"metadata":{"why":"é"}}},{"call":"transcript.read","request":{}}]}`,
	`{"program":[{"call":"handoff","request":{"persona_id":"persona_spoken","input":{"program":[{"call":"input.request","request":{"prompt":"?"}}]}}},{"call":"event.emit","request":{"kind":"com.example.thing","payload":{"a":{"b":1}}}}]}`,
	`{"program":[{"call":"approval.request","request":{"action":"a","prompt":"p","arguments":{"path":"a/b","n":1.0}}},{"call":"log","request":{"level":"info","message":"m","fields":{"a":1}}}]}`,
	`{"program":[{"call":"tool.call","request":{"server":"fs","name":"write","arguments":{"path":"a/b","n":[1,2]}}},{"call":"host.fact","request":{"name":"task"}}]}`,
	`{"program":[{"call":"resource.list","request":{"server":"fs","kind":"prompt"}},{"call":"resource.read","request":{"call_id":"é","server":"fs","uri":"file:///a/b"}},{"call":"prompt.get","request":{"server":"fs","name":"greet","arguments":{"who":"é/","b":"\\"}}}]}`,
	`{"role":"user","parts":[{"type":"json","value":{"z":[1,2.50],"a":"é/"}},{"type":"text","text":"sealed","visibility":"receipt_only"}],"metadata":{"b":1,"a":" "}}`,
	`{"role":"user","parts":[{"type":"tool_call","tool_call_id":"c","name":"n","input":{"b":1,"a":"\\u"}}],"program":[{"call":"clock"}]}`,
}

// respell writes a JSON text anew, with white space, escapes, the order of members and
// the form of numbers as they are drawn.
func respell(t *rapid.T, text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v, json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, into *any) error {
		if d.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		number, err := d.ReadValue()
		*into = jsontext.Value(number.Clone())
		return err
	}))); err != nil {
		t.Fatal(err)
	}
	return spell(t, v)
}

func spell(t *rapid.T, v any) string {
	blank := func() string { return rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n  "}).Draw(t, "blank") }
	switch v := v.(type) {
	case jsontext.Value:
		return blank() + spellNumber(t, string(v)) + blank()
	case string:
		return blank() + spellString(t, v) + blank()
	case []any:
		var parts []string
		for _, element := range v {
			parts = append(parts, spell(t, element))
		}
		return blank() + "[" + blank() + strings.Join(parts, ",") + "]" + blank()
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		var parts []string
		for _, name := range rapid.Permutation(names).Draw(t, "order") {
			parts = append(parts, blank()+spellString(t, name)+blank()+":"+spell(t, v[name]))
		}
		return blank() + "{" + blank() + strings.Join(parts, ",") + "}" + blank()
	}
	return blank() + map[any]string{true: "true", false: "false", nil: "null"}[v] + blank()
}

func spellNumber(t *rapid.T, n string) string {
	if strings.ContainsAny(n, "eE") || !rapid.Bool().Draw(t, "longer") {
		return n
	}
	return n + rapid.SampledFrom([]string{"e0", "E+00"}).Draw(t, "exponent")
}

func spellString(t *rapid.T, s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c < 0x10000 && rapid.IntRange(0, 9).Draw(t, "escape") == 0:
			fmt.Fprintf(&b, rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "case"), c)
		case c == '/' && rapid.Bool().Draw(t, "solidus"):
			b.WriteString(`\/`)
		default:
			quoted, _ := jsontext.AppendQuote(nil, string(c))
			b.Write(quoted[1 : len(quoted)-1])
		}
	}
	return `"` + b.String() + `"`
}

// descendants returns a Task and all that it has made others do.
func (n *node) descendants(t testing.TB, id string) []string {
	t.Helper()
	list, err := n.List(context.Background(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	all := []string{id}
	for i := 0; i < len(all); i++ {
		for _, doc := range list.Docs {
			if task := enginetest.As[abi.Task](t, doc); task.ParentTaskID == all[i] && task.Replay == nil && task.Fork == nil {
				all = append(all, task.ID)
			}
		}
	}
	return all
}

// However an input is spelled, a Task that waits, is killed, resumed, replayed, forked
// and proved is told the same bytes: no run leaves its record, and the receipt is that
// of the record.
func TestSpellingChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		input := respell(rt, rapid.SampledFrom(spokenPrograms).Draw(rt, "program"))
		if rapid.IntRange(0, 3).Draw(rt, "large") == 0 { // read from the log when it runs
			input = strings.Replace(input, "{", `{ "filler" : "`+strings.Repeat("x", engine.MaxInputInMemory)+`",`, 1)
		}
		tier := rapid.SampledFrom([]abi.AutonomyTier{abi.TierActAuto, abi.TierActWithApproval, abi.TierSuggest, abi.TierShadow}).Draw(rt, "tier")
		configure := []enginetest.Configure{keepingKeys(t), withTools(&toolbox{}), withSources, atTier(tier)}
		g := enginetest.Guests{"spoken": spoken, "echo": enginetest.Echo}
		n := boot(t, crashtest.NewDisk(), g, configure...)
		defer func() { n.Stop(t) }()
		doc, err := n.SubmitTask(context.Background(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), PersonaID: "persona_spoken",
			Input: jsontext.Value(input), Metadata: jsontext.Value(respell(rt, `{"from":"a client","n":[1,2]}`))})
		if err != nil {
			rt.Fatal(err)
		}
		if rapid.Bool().Draw(rt, "killed") {
			disk := n.Disk.Crash(rapid.Uint64().Draw(rt, "seed"), rapid.Float64Range(0, 1).Draw(rt, "kept"))
			n.abandon()
			n = boot(t, disk, g, configure...)
		}
		p := newProgram()
		for _, id := range n.descendants(t, doc.ID) {
			n.until(t, id, p)
		}
		for _, id := range n.descendants(t, doc.ID) {
			n.until(t, id, p)
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				rt.Fatalf("%s: %s %+v", id, task.Status, task.Failure)
			}
			n.wantReplay(t, id)
			n.wantProof(t, id)
		}
		rec := n.recordOf(t, doc.ID)
		at := rec.Entries[rapid.IntRange(0, len(rec.Entries)-1).Draw(rt, "fork")].EventID
		forked, err := n.ForkTask(context.Background(), n.Root, nil, doc.ID, abi.ForkTaskRequest{AtEventID: at})
		if err != nil {
			rt.Fatal(err)
		}
		n.until(t, forked.ID, p)
		if fork := n.Wait(t, forked.ID); fork.Status != abi.TaskCompleted {
			rt.Fatalf("the fork: %s %+v", fork.Status, fork.Failure)
		}
		n.wantReplay(t, forked.ID)
		n.wantProof(t, forked.ID)
	})
}

// A plugin is told the input in its plain spelling, whichever way a Task comes in.
func TestInputHasOneSpelling(t *testing.T) {
	const spelled = "{ \"n\" : [ 12345678901234567890, 1.50 ],\n\"b\" : \"\\u0041\\/\" }"
	const plain = `{"n":[12345678901234567890,1.50],"b":"A/"}`
	told := make(chan string, 10)
	g := enginetest.Guests{
		"hears": func(ctx context.Context, h sandbox.Host) error {
			_, answer, err := h.Call(ctx, abi.CallInput, nil)
			told <- string(answer)
			return err
		},
		"spawns": func(ctx context.Context, h sandbox.Host) error {
			_, _, err := h.Call(ctx, abi.CallTaskSpawn, []byte(`{ "persona_id":"persona_hears", "input": `+spelled+` }`))
			return err
		},
		"hands": func(ctx context.Context, h sandbox.Host) error {
			_, _, err := h.Call(ctx, abi.CallHandoff, []byte(`{ "persona_id":"persona_hears", "input": `+spelled+` }`))
			return err
		},
		"sorter": func(ctx context.Context, h sandbox.Host) error {
			_, answer, err := h.Call(ctx, abi.CallDeliveries, nil)
			if err != nil {
				return err
			}
			var got abi.CallDeliveriesAnswer
			if err := json.Unmarshal(answer, &got); err != nil {
				return err
			}
			_, _, err = h.Call(ctx, abi.CallNormalized, []byte(`{"results":[{"id":"`+got.Deliveries[0].ID+`","tasks":[{ "persona_id":"persona_hears", "input": `+spelled+` }]}]}`))
			return err
		},
	}
	n := newNode(t, g)
	for way, submit := range map[string]func(){
		"a client": func() {
			if _, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), PersonaID: "persona_hears", Input: jsontext.Value(spelled)}); err != nil {
				t.Fatal(err)
			}
		},
		"task.spawn":  func() { n.Submit(t, n.Session(t), "persona_spawns") },
		"handoff":     func() { n.Submit(t, n.Session(t), "persona_hands") },
		"a connector": func() { n.deliver(t, n.connector(t, nil), "1", "x") },
	} {
		submit()
		if got := <-told; !strings.Contains(got, `"input":`+plain+`}`) {
			t.Errorf("by way of %s the plugin was told %s", way, got)
		}
	}
}

// jsonCalls are calls that take JSON and are recorded, with a request that each takes.
// In %s is place for any JSON value.
var jsonCalls = []struct{ call, request string }{
	{abi.CallClock, `{"call_id":"a","x":%s}`}, {abi.CallID, `{"x":%s}`}, {abi.CallOutput, `{"summary":"s","failure":{"code":"c","message":"m","details":%s}}`},
	{abi.CallMessageAppend, `{"role":"user","parts":[{"type":"json","value":%s}]}`}, {abi.CallTranscriptRead, `{"x":%s}`},
	{abi.CallLLMComplete, `{"messages":[],"x":%s}`}, {abi.CallToolList, `{"x":%s}`}, {abi.CallToolCall, `{"server":"fs","name":"write","arguments":{"a":%s}}`},
	{abi.CallResourceList, `{"server":"fs","x":%s}`}, {abi.CallResourceRead, `{"server":"fs","uri":"a","x":%s}`}, {abi.CallPromptGet, `{"server":"fs","name":"n","x":%s}`},
	{abi.CallHTTPFetch, `{"method":"POST","url":"http://x/","x":%s}`}, {abi.CallSecretUse, `{"name":"n","x":%s}`},
	{abi.CallMemoryQuery, `{"scope":"session","text":"a","x":%s}`}, {abi.CallMemoryWrite, `{"scope":"tenant","content":{"a":%s}}`},
	{abi.CallArtifactPut, "{\"kind\":\"file\",\"mime_type\":\"text/plain\",\"x\":%s}\ncontent"}, {abi.CallArtifactGet, `{"artifact_id":"art_1","x":%s}`},
	{abi.CallFileRead, `{"path":"a","x":%s}`}, {abi.CallFileWrite, `{"path":"a","x":%s}`}, {abi.CallFileList, `{"path":"a","x":%s}`},
	{abi.CallSkillRead, `{"skill":"a","x":%s}`}, {abi.CallSkillMatch, `{"prompt":"a","x":%s}`},
	{abi.CallFileEdit, `{"path":"a","old":"a","new":"b","x":%s}`}, {abi.CallFileRemove, `{"path":"a","x":%s}`}, {abi.CallFileSearch, `{"text":"a","x":%s}`},
	{abi.CallBlockList, `{"x":%s}`}, {abi.CallBlockWrite, `{"label":"a","value":"v","x":%s}`},
	{abi.CallCompositionBegin, `{"language":"js","x":%s}`}, {abi.CallCompositionEnd, `{"composition_id":"c","result":%s}`},
	{abi.CallPlanSet, `{"steps":[],"x":%s}`}, {abi.CallPlanGet, `{"x":%s}`}, {abi.CallInboxTake, `{"checkpoint":"step","x":%s}`},
	{abi.CallStateGet, `{"key":"k","x":%s}`}, {abi.CallStateSet, `{"key":"k","value":%s}`}, {abi.CallSleep, `{"ms":1,"x":%s}`},
	{abi.CallInputRequest, `{"prompt":"p","schema":{"a":%s}}`}, {abi.CallAuthRequest, `{"provider":"p","prompt":"p","x":%s}`},
	{abi.CallApprovalRequest, `{"action":"a","prompt":"p","arguments":%s}`}, {abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{"a":%s}}`},
	{abi.CallTaskAwait, `{"task_id":"task_1","x":%s}`}, {abi.CallHandoff, `{"persona_id":"persona_echo","input":{"a":%s}}`},
	{abi.CallAgentDelegate, `{"agent":"coder","task":"t","budget":{"usd":1},"expected_scope":%s}`},
	{abi.CallEventEmit, `{"kind":"com.example.thing","payload":{"a":%s}}`}, {abi.CallConfigGet, `{"name":"n","x":%s}`},
	{abi.CallHostFact, `{"name":"task","x":%s}`}, {abi.CallNormalized, `{"results":[],"x":%s}`}, {abi.CallDeliver, `{"deliveries":[],"x":%s}`},
}

// malformedJSON makes malformed requests of one that is not.
var malformedJSON = map[string]func(request string) string{
	"cut off":                  func(r string) string { r = fmt.Sprintf(r, `1`); return r[:strings.LastIndexByte(r, '}')] },
	"duplicate names":          func(r string) string { return fmt.Sprintf(r, `{"a":1,"\u0061":2}`) },
	"a lone surrogate":         func(r string) string { return fmt.Sprintf(r, `"\ud800"`) },
	"no UTF-8":                 func(r string) string { return fmt.Sprintf(r, "\"\xff\"") },
	"a list":                   func(r string) string { return `[]` },
	"two texts":                func(r string) string { return strings.Replace(fmt.Sprintf(r, `1`), "{", "{} {", 1) },
	"deep: one level too many": func(r string) string { return fmt.Sprintf(r, nestedLists(abi.MaxDepth)) },
	"deep: very":               func(r string) string { return fmt.Sprintf(r, nestedLists(9_990)) },
	"deep: as deep as is read": func(r string) string { return fmt.Sprintf(r, nestedLists(9_996)) },
	"deep: deeper than that":   func(r string) string { return fmt.Sprintf(r, nestedLists(10_001)) },
}

func nestedLists(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// everyPerformer answers whatever leaves the node.
func everyPerformer(_ *engine.Config, p *engine.Parts) {
	p.Performers = map[string]provider.Performer{}
	for _, call := range []string{abi.CallLLMComplete, abi.CallToolList, abi.CallResourceList, abi.CallResourceRead, abi.CallPromptGet, abi.CallHTTPFetch, abi.CallSecretUse, abi.CallConfigGet} {
		p.Performers[call] = &target{}
	}
	p.Performers[abi.CallToolCall] = &toolbox{}
}

// A malformed request is answered alike on every tier, before anybody is asked or told
// of it; the Task goes on, and what is recorded is proved.
func TestMalformedRequestsOnEveryTier(t *testing.T) {
	defined := map[string]bool{abi.CallRandom: true, abi.CallInput: true, abi.CallDeliveries: true}
	for _, c := range jsonCalls {
		defined[c.call] = true
	}
	for _, def := range abi.HostCalls() {
		if def.Effect != abi.EffectHint && !defined[def.Name] {
			t.Errorf("%s is not tested", def.Name)
		}
	}
	for _, tier := range []abi.AutonomyTier{abi.TierActAuto, abi.TierActWithApproval, abi.TierSuggest, abi.TierShadow} {
		t.Run(string(tier), func(t *testing.T) {
			var ops []op
			var whats []string
			for _, c := range jsonCalls {
				for _, what := range slices.Sorted(maps.Keys(malformedJSON)) {
					ops = append(ops, op{c.call, malformedJSON[what](c.request)})
					whats = append(whats, what)
				}
			}
			p := newProgram(ops...)
			n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, everyPerformer, atTier(tier))
			session := n.Session(t)
			id := n.Submit(t, session, "persona_program")
			task := n.Wait(t, id)
			if task.Status != abi.TaskCompleted {
				t.Fatalf("%s %+v", task.Status, task.Failure)
			}
			for i, told := range p.runs()[0] {
				if deep := strings.HasPrefix(whats[i], "deep:"); !strings.HasPrefix(told, "1 ") || deep != strings.Contains(told, provider.CodeTooDeep) {
					t.Errorf("%s, %s, was answered %s", ops[i].call, whats[i], told)
				}
			}
			n.wantReplay(t, id)
			n.wantProof(t, id)
			n.wantReadable(t, session, id)
		})
	}
}

// wantReadable wants all that tells of a Task to be readable, also by a node that
// starts anew.
func (n *node) wantReadable(t *testing.T, session, id string) {
	t.Helper()
	for _, n := range []*node{n, boot(t, n.Disk.Crash(1, 1), enginetest.Guests{"program": enginetest.Echo, "echo": enginetest.Echo})} {
		n.task(t, id)
		n.recordOf(t, id)
		n.transcript(t, session)
		if _, _, err := n.Events(t.Context(), n.Root, desk.Filter{TaskID: id}, 0, 10_000); err != nil {
			t.Error(err)
		}
		if _, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 200}); err != nil {
			t.Error(err)
		}
	}
}

// deepest fills a request up to the bound.
func deepest(request string) string {
	levels := abi.MaxDepth
	for abi.TooDeep(fmt.Appendf(nil, request, nestedLists(levels)), abi.MaxDepth) >= 0 {
		levels--
	}
	return fmt.Sprintf(request, nestedLists(levels))
}

// What is as deep as it may be is taken, and whatever tells of it can be read, by the
// Session's later Tasks, too.
func TestDeepestRequests(t *testing.T) {
	for _, tier := range []abi.AutonomyTier{abi.TierActAuto, abi.TierActWithApproval, abi.TierShadow} {
		t.Run(string(tier), func(t *testing.T) {
			var ops []op
			for _, c := range jsonCalls {
				if c.call != abi.CallOutput {
					ops = append(ops, op{c.call, deepest(c.request)})
				}
			}
			ops = append(ops, op{abi.CallOutput, deepest(`{"summary":"s","metrics":{},"x":%s}`)}, op{abi.CallTranscriptRead, `{}`},
				op{abi.CallMemoryQuery, `{"scope":"session","text":""}`}, op{abi.CallStateGet, `{"key":"k"}`})
			p := newProgram(ops...)
			n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, everyPerformer, atTier(tier))
			session := n.Session(t)
			id := n.Submit(t, session, "persona_program")
			n.until(t, id, p)
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%s %+v", task.Status, task.Failure)
			}
			runs := p.runs()
			for i, told := range runs[len(runs)-1] {
				if strings.Contains(told, provider.CodeTooDeep) {
					t.Errorf("%s was answered %s", ops[i].call, told)
				}
			}
			n.wantReplay(t, id)
			n.wantProof(t, id)
			n.wantReadable(t, session, id)
		})
	}
}

// Whatever a plugin asks, on whatever tier, is answered: the Task ends well or waits,
// and what was recorded is replayed and proved.
func FuzzRequests(f *testing.F) {
	tiers := []abi.AutonomyTier{abi.TierActAuto, abi.TierActWithApproval, abi.TierSuggest, abi.TierShadow}
	for i, c := range jsonCalls {
		if testing.Short() && i%8 != 0 {
			continue
		}
		f.Add(uint8(i%len(tiers)), uint8(i), fmt.Sprintf(c.request, `{"a":[1.50]}`))
		f.Add(uint8((i+1)%len(tiers)), uint8(i), malformedJSON["cut off"](c.request))
		f.Add(uint8((i+2)%len(tiers)), uint8(i), malformedJSON["duplicate names"](c.request))
		f.Add(uint8((i+3)%len(tiers)), uint8(i), malformedJSON["deep: as deep as is read"](c.request))
	}
	nodes := make([]*node, len(tiers))
	asking := func(ctx context.Context, h sandbox.Host) error {
		_, answer, err := h.Call(ctx, abi.CallInput, nil)
		if err != nil {
			return err
		}
		var given struct {
			Task struct {
				Input struct {
					Call    string `json:"call"`
					Request []byte `json:"request"`
				} `json:"input"`
			} `json:"task"`
		}
		if err := json.Unmarshal(answer, &given); err != nil {
			return err
		}
		for _, o := range []op{{given.Task.Input.Call, string(given.Task.Input.Request)}, {abi.CallStateSet, `{"key":"n","value":1}`}} {
			if _, _, err := h.Call(ctx, o.call, []byte(o.request)); err != nil {
				return err
			}
		}
		return nil
	}
	for i, tier := range tiers {
		nodes[i] = newNode(f, enginetest.Guests{"asking": asking, "echo": enginetest.Echo}, everyPerformer, atTier(tier))
	}
	f.Fuzz(func(t *testing.T, tier, call uint8, request string) {
		n := nodes[int(tier)%len(nodes)]
		input, err := json.Marshal(map[string]any{"call": jsonCalls[int(call)%len(jsonCalls)].call, "request": []byte(request)})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), PersonaID: "persona_asking", Input: input})
		if err != nil {
			t.Fatal(err)
		}
		task := n.task(t, doc.ID)
		for !task.Status.Terminal() && task.Waiting == nil {
			n.yield(t)
			task = n.task(t, doc.ID)
		}
		if task.Waiting != nil {
			_, err := n.CancelTask(t.Context(), n.Root, nil, task.ID, abi.CancelTaskRequest{})
			if err == nil {
				return
			}
			if task = n.task(t, task.ID); !task.Status.Terminal() { // it has not ended by itself meanwhile
				t.Fatal(err)
			}
		}
		if f := task.Failure; f != nil && (f.Code == abi.FailureHost || f.Code == abi.FailureDivergence) {
			t.Fatalf("%s %+v", task.Status, f)
		}
		n.wantReplay(t, task.ID)
		n.wantProof(t, task.ID)
	})
}

// What cannot be written down is not counted: the receipt is that of the record, and
// the Task goes on.
func TestWhatCannotBeWrittenIsNotCounted(t *testing.T) {
	n, task := calling(t, func(ctx context.Context, h sandbox.Host) {
		if engine.TellNoJSON(ctx, h) == nil {
			t.Error("an event that is no JSON was taken")
		}
		for _, o := range []op{{abi.CallClock, ""}, say("after")} {
			if status, answer, err := h.Call(ctx, o.call, []byte(o.request)); err != nil || status != abi.CallOK {
				t.Errorf("%s: %d %s %v", o.call, status, answer, err)
			}
		}
	})
	if task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	n.wantReplay(t, task.ID)
	n.wantProof(t, task.ID)
}

// What a Connector's plugin makes of a delivery is held to the same bound.
func TestDeepNormalized(t *testing.T) {
	for levels, taken := range map[int]bool{abi.MaxDepth: true, abi.MaxDepth + 1: false, 9_990: false, 9_999: false, 10_001: false} {
		answers := make(chan string, 1)
		n := newNode(t, enginetest.Guests{"sorter": func(ctx context.Context, h sandbox.Host) error {
			_, answer, err := h.Call(ctx, abi.CallDeliveries, nil)
			if err != nil {
				return err
			}
			var got abi.CallDeliveriesAnswer
			if err := json.Unmarshal(answer, &got); err != nil {
				return err
			}
			// The input is the sixth level.
			status, answer, err := h.Call(ctx, abi.CallNormalized, []byte(`{"results":[{"id":"`+got.Deliveries[0].ID+`","tasks":[{"input":{"a":`+nestedLists(levels-6)+`}}]}]}`))
			answers <- fmt.Sprint(status, " ", string(answer))
			return err
		}})
		connector := n.connector(t, nil)
		n.deliver(t, connector, "1", "x")
		want := "1 {\"code\":\"" + provider.CodeTooDeep
		if taken {
			want = "0 "
		}
		if got := <-answers; !strings.HasPrefix(got, want) {
			t.Errorf("%d levels: %s", levels, got)
		}
		if c := n.settled(t, connector); taken != (c.Counters.Tasks == 1) || taken == (c.Counters.Failed == 1) {
			t.Errorf("%d levels: %+v", levels, *c.Counters)
		}
		for _, task := range n.tasksOf(t, connector) {
			n.Wait(t, task.ID)
			n.recordOf(t, task.ID)
		}
	}
}

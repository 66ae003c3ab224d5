package engine_test

import (
	"context"
	"fmt"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// defined is a tool server whose tools have definitions.
type defined struct{ toolbox }

func (d *defined) Prepare(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	plan, err := d.toolbox.Prepare(ctx, c)
	plan.Tool = &abi.Tool{Server: "fs", Destructive: true, OpenWorld: true}
	return plan, err
}

// A request for approval, and the receipt, name the call that is asked about, the files it
// declares, its risks and the rule: the same whether the node dies meanwhile or not, and none
// of it where a plugin asks by itself.
func TestWhyItIsAsked(t *testing.T) {
	const rule = `"matched_rule":"autonomy_tier.act_with_approval"`
	for name, test := range map[string]struct {
		op   op
		want string // "" for nothing
	}{
		"a tool, called by an id":  {op{abi.CallToolCall, `{"call_id":"toolu_7","server":"fs","name":"write","arguments":{"path":"a"}}`}, `{"tool_call_id":"toolu_7","risk_labels":["write","destructive","open_world"],` + rule + `}`},
		"a tool, called by no id":  {op{abi.CallToolCall, `{"server":"fs","name":"write","arguments":{"path":"a"}}`}, `{"tool_call_id":"call-2","risk_labels":["write","destructive","open_world"],` + rule + `}`},
		"a file, by a tool":        {op{abi.CallToolCall, `{"server":"host","name":"file_write","arguments":{"path":"/docs/a.txt","content":"x"}}`}, `{"tool_call_id":"call-2","declared_paths":["docs/a.txt"],"risk_labels":["write","destructive","open_world"],` + rule + `}`},
		"a file that is written":   {op{abi.CallFileWrite, `{"path":"docs/a.txt","text":"x"}`}, `{"declared_paths":["docs/a.txt"],"risk_labels":["write"],` + rule + `}`},
		"a file that is removed":   {op{abi.CallFileRemove, `{"path":"docs/b.txt"}`}, `{"declared_paths":["docs/b.txt"],"risk_labels":["write","destructive"],` + rule + `}`},
		"another persona":          {op{abi.CallHandoff, `{"persona_id":"persona_echo","input":{"x":1}}`}, `{"risk_labels":["write","delegation"],` + rule + `}`},
		"a plugin asks by itself":  {op{abi.CallApprovalRequest, `{"action":"pay","prompt":"?","matched_rule":"mine","risk_labels":["money"]}`}, `{}`},
		"and in odd words of it's": {op{abi.CallApprovalRequest, `{"action":"pay","prompt":"?","call":5,"by":[]}`}, `{}`},
	} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, crash %v", name, crash), func(t *testing.T) {
				p := newProgram(say("before"), test.op)
				g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
				configure := []enginetest.Configure{withFiles(t), atTier(abi.TierActWithApproval), func(_ *engine.Config, parts *engine.Parts) {
					parts.Performers = map[string]provider.Performer{abi.CallToolCall: &defined{}}
				}}
				n := newNode(t, g, configure...)
				id := n.Submit(t, n.Session(t), "persona_program")
				n.parked(t, id)
				if crash {
					n = boot(t, n.Disk.Crash(1, 0), g, configure...)
					defer n.Stop(t)
				}
				asked := n.request(t, id)
				wantGrounds(t, "the request", asked.Grounds, test.want)
				if _, err := n.RespondPermission(t.Context(), n.actor("boss"), nil, asked.ID, approve("")); err != nil {
					t.Fatal(err)
				}
				task := n.Wait(t, id)
				for _, u := range n.tools(t, id) {
					if u.tool.CallID != asked.ToolCallID {
						t.Errorf("%s names the call %q, and the request %q", u.kind, u.tool.CallID, asked.ToolCallID)
					}
				}
				r := n.wire(t, task)
				if len(r.Approvals) != 1 {
					t.Fatalf("the receipt has %d approvals", len(r.Approvals))
				}
				if got := r.Metadata.Approvals; test.want == "{}" && got != nil {
					t.Errorf("the receipt says %+v", got)
				} else if test.want != "{}" {
					if len(got) != 1 || got[0].Place != 0 {
						t.Fatalf("the receipt says %+v", got)
					}
					wantGrounds(t, "the receipt", got[0].Grounds, test.want)
				}
				if err := receipt.CheckRecord(&r, n.recordOf(t, id)); err != nil {
					t.Error(err)
				}
				n.wantReplay(t, id)
			})
		}
	}
}

func wantGrounds(t *testing.T, where string, g abi.Grounds, want string) {
	t.Helper()
	got, err := json.Marshal(&g)
	if err != nil || string(got) != want {
		t.Errorf("%s has %s, want %s (%v)", where, got, want, err)
	}
}

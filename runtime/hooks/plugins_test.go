package hooks_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/runtime/apart"
	"github.com/wharf-dev/wharf/runtime/hooks"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// oneModule is a node whose plugins are all the same module.
type oneModule struct{ *sandbox.Module }

func (m oneModule) Resolve(context.Context, string) (string, error) { return m.Digest(), nil }

func (m oneModule) Ready(_ context.Context, _, export string) (apart.Plugin, error) {
	return apart.Plugin{Digest: m.Digest(), Limits: sandbox.DefaultLimits(), Run: func(ctx context.Context, h sandbox.Host, l sandbox.Limits) (sandbox.Usage, error) {
		return m.Run(ctx, export, h, l)
	}}, nil
}

// TestModulesAnswerForHooks has a module asked: what it is told follows from the question and the id, and
// whatever it does ends within its bounds.
func TestModulesAnswerForHooks(t *testing.T) {
	runtime, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = runtime.Close(context.Background()) })
	module, err := runtime.Compile(t.Context(), plugintest.Calls())
	if err != nil {
		t.Fatal(err)
	}
	p := hooks.NewPlugins(oneModule{module}, slog.New(slog.DiscardHandler))
	ask := func(id, steps string, milliseconds int64) string {
		w := &abi.WebhookEndpoint{Hook: &abi.HookTerms{Event: abi.HookPreTool, Command: "wasm:calls#run", TimeoutMS: milliseconds}}
		answer, failed := p.RunPlugin(t.Context(), 1, w, id, fmt.Appendf(nil, `{"event":"pre_tool","task_id":"task_1","at":"2026-01-02T03:04:05Z","program":[%s]}`, steps))
		if failed != nil {
			return failed.Code
		}
		return string(answer)
	}
	const minute = 60_000
	const facts = `{"call":"clock"},{"call":"random","bytes":16},{"call":"wasi.random","bytes":16},{"call":"wasi.clock"},{"call":"http.fetch","request":{"url":"https://example.com"}}`
	first := ask("whd_1", facts, minute)
	if first == "" || first != ask("whd_1", facts, minute) {
		t.Errorf("what a plugin is told changes: %s", first)
	}
	if other := ask("whd_2", facts, minute); other == first {
		t.Errorf("two questions have one randomness: %s", other)
	}
	const deny = `{"call":"message.append","request":{"role":"assistant","parts":[{"type":"json","value":{"decision":"deny"}}]}}`
	for steps, want := range map[string]string{
		deny: `{"decision":"deny"}`, `{"call":"trap"}`: abi.FailurePluginTrap, `{"call":"return","bytes":3}`: abi.FailurePluginError,
		`{"call":"wasi.sleep","bytes":59000},` + deny: `{"decision":"deny"}`,
	} {
		if got := ask("whd_1", steps, minute); got != want {
			t.Errorf("%s: %s", steps, got)
		}
	}
	if got := ask("whd_1", `{"call":"spin"}`, 1); got != abi.FailurePluginGas && got != abi.FailurePluginTimeout {
		t.Errorf("without an end: %s", got)
	}
}

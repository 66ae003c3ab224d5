package model

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/figures"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// What was asked of each model is counted: of one that fails, why, and of its fallback what it costs.
func TestCallsAreCounted(t *testing.T) {
	script := filepath.Join(t.TempDir(), "answers.json")
	steps := `[{"match":{"model":"first"},"error":{"status":400,"message":"canary"},"times":-1},{"match":{"model":"second"},"answer":{"text":"Hello!","usage":{"input_tokens":12,"output_tokens":3}},"times":-1}]`
	if err := os.WriteFile(script, []byte(steps), 0o600); err != nil {
		t.Fatal(err)
	}
	book := figures.New(slog.New(slog.DiscardHandler))
	m, err := New(Config{Script: script, Default: "first", Figures: book, Prices: map[string]Price{"script/script": {InputPerMillion: 1e6, OutputPerMillion: 1e6}},
		Models: map[string]Model{"first": {Provider: ProviderScript, Fallbacks: []string{"second"}}, "second": {Provider: ProviderScript}}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for range 2 {
		plan, err := m.Prepare(t.Context(), &provider.Call{Name: abi.CallLLMComplete, Plugin: "agent", TaskID: "task_1", Request: []byte(`{"messages":[{"role":"user","text":"Hi"}]}`)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Do(t.Context(), func(string) {}); err != nil {
			t.Fatal(err)
		}
	}
	all := book.Models()
	if len(all) != 2 || all[0].Name != "first" || all[0].Answered != 0 || len(all[0].Failed) != 1 {
		t.Fatalf("%+v", all)
	}
	for code, n := range all[0].Failed {
		if n != 2 || code == "" || code == figures.Other {
			t.Errorf("%d with the code %q", n, code)
		}
	}
	if two := all[1]; two.Answered != 2 || two.Input != 24 || two.Output != 6 || two.Cost["USD"] != 30 || two.Provider != ProviderScript {
		t.Errorf("%+v", two)
	}
}

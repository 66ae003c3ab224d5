package node

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
)

func TestModelsHoldNoSecret(t *testing.T) {
	t.Setenv("THERE_KEY", "s3cret")
	n := &Node{}
	n.options.Config.Named = config.Named{
		Models: map[string]config.Model{
			"far":    {Provider: "anthropic", Model: "claude", APIKeyEnv: "THERE_KEY", ContextWindow: 200_000},
			"cold":   {Provider: "openai", Model: "gpt", APIKey: "named"},
			"near":   {Provider: "openai", Model: "qwen", BaseURL: "http://192.168.1.5:11434/v1"},
			"theirs": {Provider: "client", Fallbacks: []string{"far"}},
		},
		Secrets:    map[string]config.Secret{"named": {Env: "ABSENT_KEY"}},
		Prices:     map[string]config.Price{"anthropic/claude": {Input: 3, Output: 15}},
		ModelNames: map[string]string{"anthropic/claude": "far", "near": "far"},
	}
	n.options.Config.Model.Default = "far"
	var all []string
	for _, m := range n.models() {
		text, err := json.Marshal(&m, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	want := []string{
		`"name":"cold","aliases":[],"provider":"","kind":"openai","model":"gpt","default":false,"place":"cloud","auth":{"required":true,"env":["ABSENT_KEY"]},"available":false`,
		`"name":"far","aliases":["anthropic/claude"],"provider":"","kind":"anthropic","model":"claude","default":true,"place":"cloud","auth":{"required":true,"env":["THERE_KEY"]},"available":true,"context_window":200000`,
		`"name":"near","aliases":[],"provider":"","kind":"openai","model":"qwen","default":false,"place":"local","auth":{"required":false,"env":[]},"available":true`,
		`"name":"theirs","aliases":[],"provider":"","kind":"client","model":"","default":false,"place":"client"`,
	}
	if len(all) != len(want) {
		t.Fatalf("%d models: %v", len(all), all)
	}
	for i, text := range all {
		if !strings.Contains(text, want[i]) {
			t.Errorf("%s, want %s", text, want[i])
		}
		if strings.Contains(text, "s3cret") || strings.Contains(text, "192.168") {
			t.Errorf("%s tells too much", text)
		}
	}
	if !strings.Contains(all[1], `"price":{"input_per_million":3,"output_per_million":15,"currency":"USD"}`) {
		t.Errorf("its price: %s", all[1])
	}
}

// The agent is told what the operator has said of its models, unless the operator has told it something else.
func TestTheAgentKnowsTheWindows(t *testing.T) {
	said := map[string]map[string]jsontext.Value{"agent": {"context_windows": jsontext.Value(`{"":5000}`)}, "other": {"a": jsontext.Value("1")}}
	models := map[string]config.Model{"far": {ContextWindow: 200_000}, "near": {ContextWindow: 8_000}, "unknown": {}}
	names := map[string]string{"claude": "far", "vast": "far"}
	for name, c := range map[string]struct {
		named config.Named
		model string // the default
		want  string
	}{
		"a default":           {config.Named{Models: models, ModelNames: names}, "near", `{"":8000,"claude":200000,"far":200000,"near":8000,"vast":200000}`},
		"by another name":     {config.Named{Models: models, ModelNames: names}, "vast", `{"":200000,"claude":200000,"far":200000,"near":8000,"vast":200000}`},
		"none":                {config.Named{Models: models}, "", `{"far":200000,"near":8000}`},
		"the only one":        {config.Named{Models: map[string]config.Model{"far": {ContextWindow: 9}}}, "", `{"":9,"far":9}`},
		"nobody has said any": {config.Named{Models: map[string]config.Model{"far": {}}}, "", ""},
		"it was told":         {config.Named{Models: models, Settings: said}, "near", `{"":5000}`},
	} {
		all := &config.Config{Named: c.named}
		all.Model.Default = c.model
		set, err := pluginSettings(all)
		if err != nil || string(set["agent"]["context_windows"]) != c.want || len(set["other"]) != len(c.named.Settings["other"]) {
			t.Errorf("%s: %s, %v", name, set, err)
		}
		if c.named.Settings == nil && all.Settings != nil {
			t.Errorf("%s: the configuration has become %s", name, all.Settings)
		}
	}
}

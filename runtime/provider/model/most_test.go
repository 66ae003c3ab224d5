package model

import (
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// What a call can cost is known beforehand, and is never less than what it costs.
func TestMost(t *testing.T) {
	m := &Models{config: Config{Default: "main",
		Models: map[string]Model{
			"main":  {Provider: "openai", Model: "small", Fallbacks: []string{"dear"}},
			"dear":  {Provider: "anthropic", Model: "large"},
			"alias": {Provider: "openai", Model: "latest"},
			"free":  {Provider: "script"},
			"euros": {Provider: "eu", Model: "x"},
		},
		Prices: map[string]Price{
			"openai/small":            {InputPerMillion: 1, OutputPerMillion: 2},
			"openai/small-2026-01-01": {InputPerMillion: 2, OutputPerMillion: 2},
			"openai/smaller":          {InputPerMillion: 9, OutputPerMillion: 9},
			"anthropic/large":         {InputPerMillion: 1, OutputPerMillion: 10},
			"eu/x":                    {InputPerMillion: 5, OutputPerMillion: 5, Currency: "EUR"},
		}}}
	for _, test := range []struct {
		model  string
		tokens int
		usd    float64
		known  bool
	}{
		{"", 1000, 1e-6*100 + 10e-6*1000, true},
		{"dear", 0, 0, false},
		{"alias", 1000, 9e-6*100 + 9e-6*1000, true},
		{"free", 0, 0, true},
		{"euros", 0, 0, true},
	} {
		usd, known := m.Most(&abi.ModelRequest{Model: test.model, MaxTokens: test.tokens}, 100)
		if known != test.known || known && (usd < test.usd-1e-12 || usd > test.usd+1e-12) {
			t.Errorf("%q with %d tokens: %v, %v; want %v, %v", test.model, test.tokens, usd, known, test.usd, test.known)
		}
	}
}

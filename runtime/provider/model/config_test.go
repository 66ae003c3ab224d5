package model

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

func TestConfigMistakes(t *testing.T) {
	good := Model{Provider: ProviderOpenAI, Model: "small", APIKey: staticKey("k")}
	with := func(change func(*Model)) Config {
		m := good
		change(&m)
		return Config{Models: map[string]Model{"main": m, "other": good}}
	}
	for says, c := range map[string]Config{
		`model "main": the provider is missing: it is openai, anthropic, script or client`:                         with(func(m *Model) { m.Provider = "" }),
		`model "main": the provider "gemini" is unknown: it is openai, anthropic, script or client`:                with(func(m *Model) { m.Provider = "gemini" }),
		`model "main": the provider's name of the model is missing`:                                                with(func(m *Model) { m.Model = "" }),
		`model "main": the API key is missing: only a server of your own, named by a base URL, may want none`:      with(func(m *Model) { m.APIKey = nil }),
		`model "main": the base URL is malformed`:                                                                  with(func(m *Model) { m.BaseURL = "http://a b/" }),
		`model "main": the base URL is not of the form http://HOST or https://HOST`:                                with(func(m *Model) { m.BaseURL = "localhost:11434" }),
		`model "main": the base URL holds a user, a query or a fragment: credentials go into the API key`:          with(func(m *Model) { m.BaseURL = "https://u:p@h/v1" }),
		`model "main": the timeout -1ns is negative`:                                                               with(func(m *Model) { m.Timeout = -1 }),
		`model "main": retries is 11; it is 0 to 10`:                                                               with(func(m *Model) { m.Retries = 11 }),
		`model "main": the limit of -1 tokens is negative`:                                                         with(func(m *Model) { m.MaxTokens = -1 }),
		`model "main": the -1 tokens of thinking are negative`:                                                     with(func(m *Model) { m.Thinking = -1 }),
		`model "main": thinking is 1023; it is at least 1024, and less than the max_tokens of 4096`:                with(func(m *Model) { m.Provider, m.Thinking = ProviderAnthropic, 1023 }),
		`model "main": thinking is 5000; it is at least 1024, and less than the max_tokens of 5000`:                with(func(m *Model) { m.Provider, m.MaxTokens, m.Thinking = ProviderAnthropic, 5000, 5000 }),
		`model "main": the fallback "none" is not a configured model`:                                              with(func(m *Model) { m.Fallbacks = []string{"other", "none"} }),
		`model "main": it is its own fallback`:                                                                     with(func(m *Model) { m.Fallbacks = []string{"main"} }),
		`model "main": the provider script needs the path of a script file`:                                        with(func(m *Model) { m.Provider = ProviderScript }),
		`model "": the name is empty`:                                                                              {Models: map[string]Model{"": good}},
		`the default model "main" is not configured`:                                                               {Default: "main"},
		`price "small": the name is not of the form provider/model`:                                                {Prices: map[string]Price{"small": {}}},
		`price "openai/small": a price is negative or no number`:                                                   {Prices: map[string]Price{"openai/small": {InputPerMillion: math.NaN()}}},
		`models allowed to "agent": the pattern "[": syntax error in pattern`:                                      {Allow: map[string][]string{"agent": {"["}}},
		`reading the script of answers: open ` + filepath.Join("testdata", "none") + `: no such file or directory`: {Script: filepath.Join("testdata", "none"), Models: map[string]Model{"s": {Provider: ProviderScript}}},
	} {
		if _, err := New(c); err == nil || err.Error() != "configuring models: "+says {
			t.Errorf("got  %v\nwant configuring models: %s", err, says)
		}
	}
}

func TestNothingConfigured(t *testing.T) {
	refusal := refused(t, newRig(t, Config{}).ask(t, hello(false)).err, abi.CallUnavailable, "model_not_configured")
	for _, part := range []string{"models.default", "provider: openai", "api_key_env", "docs/configuration.md"} {
		if !strings.Contains(refusal.Message, part) {
			t.Errorf("%q does not tell of %q", refusal.Message, part)
		}
	}
}

// TestWhichModel holds who gets which model, and what those who do not are told.
func TestWhichModel(t *testing.T) {
	s := serve(t, jsonBody(openAIText))
	m := s.openAI()
	models := map[string]Model{"large": m, "small": m, "small-new": m}
	for _, c := range []struct {
		name, plugin, model string
		config              Config
		route               string
		status              abi.CallStatus
		code, says          string
	}{
		{name: "default", config: Config{Default: "small"}, route: "configured default"},
		{name: "named", model: "large", config: Config{Default: "small"}, route: "named by the plugin"},
		{name: "unknown", model: "huge", status: abi.CallNotFound, code: "model_unknown",
			says: `no model "huge" is configured; it may use large, small, small-new`},
		{name: "no default", status: abi.CallUnavailable, code: "model_not_configured",
			says: `this node has several models and no default: name one in "models.default", or in the call; it may use large, small, small-new`},
		{name: "granted by pattern", plugin: "agent", model: "small-new", route: "named by the plugin",
			config: Config{Allow: map[string][]string{"agent": {"small*"}}}},
		{name: "not granted", plugin: "agent", model: "large", config: Config{Allow: map[string][]string{"agent": {"small*"}}},
			status: abi.CallDenied, code: "model_denied", says: `the plugin "agent" has no grant for the model "large"; it may use small, small-new`},
		{name: "default not granted", plugin: "other", config: Config{Default: "small", Allow: map[string][]string{"agent": {"*"}}},
			status: abi.CallDenied, code: "model_denied", says: `the plugin "other" has no grant for the model "small"; it may use none`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Models = models
			request := hello(false)
			request.Model = c.model
			got := newRig(t, c.config).askAs(t, t.Context(), request, provider.Call{Plugin: c.plugin})
			if c.code != "" {
				equal(t, "message", refused(t, got.err, c.status, c.code).Message, c.says)
				return
			}
			equal(t, "route", answered(t, got).Route, c.route)
		})
	}
}

func TestFallbacks(t *testing.T) {
	down, odd, up := serve(t, status(503, "")), serve(t, status(400, `{"error":"odd"}`)), serve(t, jsonBody(anthropicText))
	first, second := withRetries(down.openAI(), 1), odd.openAI()
	second.Model = "medium"
	first.Fallbacks = []string{"secret", "second", "third"}
	config := Config{Default: "first", Allow: map[string][]string{"agent": {"first", "second", "third"}}, Models: map[string]Model{
		"first": first, "second": second, "third": up.anthropic(), "secret": up.openAI(),
	}}
	answer := answered(t, newRig(t, config).ask(t, hello(false)))
	equal(t, "provider", answer.Provider, ProviderAnthropic)
	equal(t, "route", answer.Route, `fallback after "second": HTTP 400: odd`)
	equal(t, "considered", answer.Considered, []abi.ModelConsidered{
		{Provider: "openai", Model: "small", Reason: "HTTP 503 (2 attempts)"},
		{Provider: "openai", Model: "small", Reason: "the plugin has no grant for it"},
		{Provider: "openai", Model: "medium", Reason: "HTTP 400: odd"},
	})

	config.Models["third"] = withRetries(down.anthropic(), 0)
	refusal := refused(t, newRig(t, config).ask(t, hello(false)).err, abi.CallUnavailable, "model_unavailable")
	equal(t, "message", refusal.Message, `model "first": HTTP 503 (2 attempts); model "second": HTTP 400: odd; model "third": HTTP 503`)
}

func TestCost(t *testing.T) {
	for _, c := range []struct {
		prices   map[string]Price
		cost     float64
		currency string
	}{
		{nil, 0, "USD"},
		{map[string]Price{"anthropic/small": {InputPerMillion: 5}}, 0, "USD"},
		{map[string]Price{"openai/small": {InputPerMillion: 3, OutputPerMillion: 15}}, 0.000087, "USD"},
		{map[string]Price{"openai/small": {InputPerMillion: 3}, "openai/small-2": {InputPerMillion: 0.1, Currency: "EUR"}}, 0.0000009, "EUR"},
		{map[string]Price{"openai/small": {InputPerMillion: 0.00004}}, 0, "USD"}, // under half a billionth
	} {
		s := serve(t, jsonBody(openAIText)) // 9 tokens in, 4 out
		r := newRig(t, Config{Models: map[string]Model{"main": s.openAI()}, Prices: c.prices})
		answer := answered(t, r.ask(t, hello(false)))
		equal(t, fmt.Sprint(c.prices), []any{answer.Cost, answer.Currency}, []any{c.cost, c.currency})
	}
}

// TestTokenLimit holds that the operator's limit caps what a call asks for, and
// is what a call gets that does not ask.
func TestTokenLimit(t *testing.T) {
	for _, c := range []struct{ limit, asked, openAI, anthropic int }{
		{0, 0, 0, anthropicTokens}, {0, 7, 7, 7}, {50, 0, 50, 50}, {50, 7, 7, 7}, {50, 70, 50, 50},
	} {
		request := hello(false)
		request.MaxTokens = c.asked
		o, a := serve(t, jsonBody(openAIText)), serve(t, jsonBody(anthropicText))
		om, am := o.openAI(), a.anthropic()
		om.MaxTokens, am.MaxTokens = c.limit, c.limit
		answered(t, one(t, om).ask(t, request))
		answered(t, one(t, am).ask(t, request))
		for got, want := range map[string]int{o.only(t): c.openAI, a.only(t): c.anthropic} {
			limit, stated := fmt.Sprintf(`"max_tokens": %d`, want), strings.Contains(got, `"max_tokens"`)
			if stated != (want > 0) || stated && !strings.Contains(got, limit) {
				t.Errorf("limit %d, asked %d: not %d in %s", c.limit, c.asked, want, got)
			}
		}
	}
}

// TestSecretPrintsNowhere holds that no way of writing a Secret, or what holds
// one, shows its value.
func TestSecretPrintsNowhere(t *testing.T) {
	s := NewSecret(testKey)
	held := struct {
		Key  Secret
		Keys map[string]*Secret
	}{s, map[string]*Secret{"a": &s}}
	var all strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%c"} {
		_, _ = fmt.Fprintf(&all, verb+" "+verb+"\n", s, held)
	}
	for _, v := range []any{s, &s, held} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&all, nil), slog.NewJSONHandler(&all, nil)} {
		slog.New(handler).Info("it", "key", s, "pointer", &s, "held", held)
	}
	if out := all.String(); strings.Contains(out, testKey) || strings.Contains(strings.ToLower(out), fmt.Sprintf("%x", testKey)) {
		t.Error(out)
	}
}

func TestRequestMistakes(t *testing.T) {
	r := newRig(t, Config{})
	const user = `{"role":"user","text":"hi"}`
	for body, says := range map[string]string{
		``:   `the request is not understood`,
		`[]`: `the request is not understood`,
		`{"messages":[` + user + `],"max_token":1}`: `there is no member "max_token": did you mean "max_tokens"?`,
		`{"messages":[` + user + `],"messages":[]}`: `/messages is given twice`,
		`{"messages":[]}`:                                          `messages is empty`,
		`{"messages":[{"role":"user"}]}`:                           `messages[0]: a message of the user has a text`,
		`{"messages":[` + user + `,{"role":"system","text":"x"}]}`: `messages[1]: the role "system" is none of user, assistant and tool`,
		`{"messages":[` + user + `,{"role":"tool","text":"x"}]}`:   `messages[1]: a message of a tool names its tool_call_id`,
		`{"messages":[{"role":"user","text":"x","tool_calls":[{"id":"a","name":"b","arguments":{}}]}]}`:        `messages[0]: only an assistant has tool_calls`,
		`{"messages":[` + user + `,{"role":"assistant","tool_calls":[{"id":"a","name":"b","arguments":[]}]}]}`: `messages[1]: tool_calls[0]: arguments is not an object`,
		`{"messages":[` + user + `,{"role":"assistant","tool_calls":[{"id":"","name":"b","arguments":{}}]}]}`:  `messages[1]: tool_calls[0]: id or name is missing`,
		`{"messages":[` + user + `],"max_tokens":-1}`:                                                          `max_tokens is negative`,
		`{"messages":[` + user + `],"tools":[{"name":""}]}`:                                                    `tools[0]: the name is missing`,
		`{"messages":[` + user + `],"tools":[{"name":"a","input_schema":3}]}`:                                  `tools[0]: input_schema is not an object`,
		`{"messages":[` + user + `],"tool_choice":"any"}`:                                                      `tool_choice is any, and there are no tools`,
		`{"messages":[` + user + `],"tools":[{"name":"a"}],"tool_choice":"b"}`:                                 `tool_choice "b" is none of auto, none, any and the tools`,
	} {
		_, err := r.Prepare(t.Context(), &provider.Call{Request: []byte(body)})
		if refusal := refused(t, err, abi.CallInvalid, "invalid_request"); !strings.Contains(refusal.Message, says) {
			t.Errorf("%s: told %q, not %q", body, refusal.Message, says)
		}
	}
}

func TestDocumentedScriptIsRead(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "models.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```json\n")
	script, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("the page shows no script")
	}
	if _, err := ParseScript([]byte(script)); err != nil {
		t.Error(err)
	}
}

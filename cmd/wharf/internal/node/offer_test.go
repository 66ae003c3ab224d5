package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// Clients are told which plugins and models can be used, and nothing of how.
func TestWhatTasksReachIsToldWithoutSecrets(t *testing.T) {
	c := configured(t, `
models:
  tiny: {provider: openai, base_url: "http://inner.example/v1", model: tiny-hidden, api_key: {secret: token}}
secrets:
  token: {env: HIDDEN_TOKEN}
tools:
  t: {url: "http://hidden.example"}
grants:
  p:
    secrets: [token]
    tools: ["t:*"]
    http: [{hosts: "hidden.example"}]
  q: {models: ["*"]}
settings:
  p: {color: hidden}
`)
	all := reach(c)
	for call, want := range map[string]string{
		abi.CallLLMComplete: "{true [] [tiny] []}", abi.CallToolList: "{true [p] [] [t]}", abi.CallToolCall: "{true [p] [] [t]}",
		abi.CallHTTPFetch: "{true [p] [] []}", abi.CallSecretUse: "{true [p] [] []}", abi.CallConfigGet: "{true [p] [] []}",
	} {
		if got := fmt.Sprint(all[call]); got != want {
			t.Errorf("%s reaches %s, want %s", call, got, want)
		}
	}
	if text := strings.ToLower(fmt.Sprint(all)); strings.Contains(text, "hidden") || strings.Contains(text, "inner") || strings.Contains(text, "token") {
		t.Errorf("what is told: %s", text)
	}
	nothing := reach(configured(t, "{}"))
	for _, call := range []string{abi.CallLLMComplete, abi.CallToolCall, abi.CallToolList, abi.CallHTTPFetch} {
		if nothing[call].Available {
			t.Errorf("%s is available on a node for which nothing is configured", call)
		}
	}
}

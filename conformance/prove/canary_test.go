package prove_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble"
)

// The canaries. Those of the first group may be nowhere, not even in the data folder.
const (
	nodeKey       = "canary-node-key-1a2b3c4d5e6f"
	modelKey      = "canary-model-key-2b3c4d5e6f7a"
	anthropicKey  = "canary-anthropic-key-3c4d5e6f"
	crmToken      = "canary-crm+token/4d5e6f7a8b9c"
	vaultToken    = "canary-vault-token-5e6f7a8b9c"
	wrongKey      = "canary-wrong-key-6f7a8b9c0d1e"
	secretValue   = "canary-overridden-secret-7a8b"
	hiddenThought = "canary-hidden-reasoning-8b9c0"

	depositOld     = "canary-deposit-old+value/9c0d1e"
	deposit        = "canary-deposit+value/0d1e2f3a4b"
	depositRemoved = "canary-deposit-removed-1e2f3a4b"
	depositBad     = "canary-deposit-malformed-2f3a4b"
	signingSecret  = "canary-signing-secret-3a4b5c6d7e"
	webhookSecret  = "canary-webhook-secret-4b5c6d7e8f9a0b1c2d"
	webhookHeader  = "canary-webhook-header-5c6d7e8f9a"
	toolHeader     = "canary-tool-server-header-6d7e8f9a"
	mcpHeader      = "canary-harness-mcp-header-7e8f9a0b"
	toldSecret     = "canary-harness-hook-secret-8f9a0b1c2d3e4f5a"
	eventsSecret   = "canary-harness-events-secret-9a0b1c2d3e4f5a6b"
	harnessKey     = "canary-harness-key-0b1c2d3e4f5a"
	hostedKey      = "canary-hosted-key+value/1c2d3e4f5a6b"
	agentKey       = "canary-agent-key+value/2d3e4f5a6b7c"
	pushToken      = "canary-push-token-3e4f5a6b7c8d"
	pushKey        = "canary-push-credentials-4f5a6b7c"
)

// Those of the second are content that nobody is shown; those of the third are for
// readers of internal content alone.
const (
	onlyInMessage  = "canary-receipt-only-message-a1"
	onlyInSession  = "canary-receipt-only-initial-b2"
	onlyInPlugin   = "canary-receipt-only-plugin-c3"
	onlyInArtifact = "canary-receipt-only-artifact-d4"
	onlyInOverride = "canary-receipt-only-override-e5"
	onlyInAppended = "canary-receipt-only-appended-f6"
	onlyInMemory   = "canary-receipt-only-memory-a7"
	onlyForAgent   = "canary-receipt-only-for-agent-b8"
	onlyForDigest  = "canary-receipt-only-for-digest-c9"

	internalPart    = "canary-internal-part-1c"
	internalState   = "canary-internal-state-2d"
	internalHeader  = "canary-internal-header-3e"
	internalPrompt  = "canary-internal-prompt-4f"
	internalHidden  = "canary-internal-artifact-5a"
	internalSetting = "canary-internal-setting-6b"
	internalMemory  = "canary-internal-memory-7c"
	internalDigest  = "canary-internal-for-digest-8d"
)

// known are the canaries that are told, and how: what is still to be mended. One that
// is told no more has to leave the list.
var known = map[string]string{}

// told are the canaries of known leaks that were met.
type told map[string]bool

// tell reports a canary that was told.
func (met told) tell(t *testing.T, where, canary string, content []byte) {
	t.Helper()
	if known[canary] != "" {
		met[canary] = true
		return
	}
	t.Errorf("%s tells %s: …%.300q…", where, canary, content)
}

// settle skips for what is known, and fails for what is known no more.
func (met told) settle(t *testing.T) {
	t.Helper()
	for canary, how := range known {
		if !met[canary] {
			t.Errorf("%s is told no more: take it off the list of what is known", canary)
			continue
		}
		t.Run("known "+canary, func(t *testing.T) { t.Skip("known: " + how) })
	}
}

// places maps canaries, in each form in which they may travel, to what they are.
type places map[string]string

func forms(canaries ...string) places {
	p := places{}
	for _, c := range canaries {
		quoted, _ := jsontext.AppendQuote(nil, c)
		for _, form := range []string{c, url.QueryEscape(c), url.PathEscape(c), string(quoted[1 : len(quoted)-1]),
			hex.EncodeToString([]byte(c))} {
			p[form] = c
		}
		// Within base64 a text looks different at each of three offsets.
		for shift := range 3 {
			encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + c))
			p[encoded[4:len(encoded)-4]] = c
		}
	}
	return p
}

// search reports the canaries in a text.
func (p places) search(t *testing.T, met told, where string, content []byte) {
	t.Helper()
	for form, canary := range p {
		if i := bytes.Index(content, []byte(form)); i >= 0 {
			met.tell(t, where, canary, content[max(0, i-120):min(len(content), i+len(form)+60)])
		}
	}
}

// indiscreet is a model provider, an MCP-less service and a web server that repeat
// what they were told.
func indiscreet(t *testing.T) *httptest.Server {
	t.Helper()
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		http.SetCookie(w, &http.Cookie{Name: "token", Value: url.QueryEscape(r.Header.Get("Authorization"))})
		_, _ = fmt.Fprintf(w, "you sent %q with %q", r.URL.String(), r.Header)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/echo?again="+url.QueryEscape(r.Header.Get("Authorization")), http.StatusFound)
	})
	mux.HandleFunc("/nowhere", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.0.2.1/?token="+url.QueryEscape(r.Header.Get("Authorization")), http.StatusFound)
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/far/harnesses/there/", far)
	mux.HandleFunc("/far/harnesses/there", far)
	mux.HandleFunc("/agent/", func(w http.ResponseWriter, r *http.Request) { repeatingAgent(w, r, "http://"+r.Host) })
	mux.HandleFunc("/openai/v1/chat/completions", thinkOpenAI)
	mux.HandleFunc("/anthropic/v1/messages", thinkAnthropic)
	mux.HandleFunc("/denied/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s%s","type":"authentication_error"}}`, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// far is another server of the Open Harness API, that repeats the key that it is asked with.
func far(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.Header().Set("Content-Type", "application/json")
	switch strings.TrimPrefix(r.URL.Path, "/far/harnesses/there") {
	case "/execute":
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, `{"execution_id":"exec_1","status":"pending","stream_url":%q}`, "/"+key)
	case "/executions/exec_1":
		_, _ = fmt.Fprintf(w, `{"execution":{"id":"exec_1","status":"completed","progress":{"current_step":%q}}}`, key)
	case "/executions/exec_1/result":
		_, _ = fmt.Fprintf(w, `{"result":{"status":"completed","output":%q}}`, "It is done far away. My key is "+key)
	default:
		if key != hostedKey {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = fmt.Fprintf(w, `{"harness":{"description":%q}}`, key)
	}
}

// repeatingAgent is an agent that repeats the key that it is asked with: in its card, as what it does, and
// where it refuses.
func repeatingAgent(w http.ResponseWriter, r *http.Request, at string) {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		_, _ = fmt.Fprintf(w, `{"name":%[1]q,"supportedInterfaces":[{"url":"%[2]s/agent/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],`+
			`"skills":[{"id":"fix","description":%[1]q}],"capabilities":{"externalAgent":{"schema":"harn.external_agent.v1","pre_dispatch_checkpoint":true,`+
			`"budget_cap":true,"idempotency":true,"reviewable_handoff":true,"dispatch":true}}}`, key, at)
		return
	}
	body, _ := io.ReadAll(r.Body)
	said := fmt.Sprintf(`"result":{"task":{"id":"t1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"parts":[{"text":%[1]q},{"data":{"key":%[1]q}}]}]}}`, key)
	switch {
	case strings.Contains(string(body), "refuse"):
		said = fmt.Sprintf(`"error":{"code":-32000,"message":%q}`, key)
	case strings.Contains(string(body), "externalAgent.plan"):
		said = fmt.Sprintf(`"result":{"checkpoint_id":"c","plan":{"steps":[%q]}}`, key)
	case strings.Contains(string(body), "externalAgent.dispatch"):
		said = fmt.Sprintf(`"result":{"task_id":%[1]q,"handoff":{"key":%[1]q},"diff":%[1]q,"receipts":[%[1]q]}`, key)
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,%s}`, said)
}

// pushed has the node tell a receiver, with secrets, of a Task. Whoever gave them is answered with them,
// that once.
func pushed(t *testing.T, root *client, task string) {
	t.Helper()
	made := root.ask(t, "POST", "/a2a", object{"jsonrpc": "2.0", "id": 1, "method": "CreateTaskPushNotificationConfig", "params": object{
		"taskId": task, "id": "p", "url": "https://receiver.example/", "token": pushToken,
		"authentication": object{"scheme": "Bearer", "credentials": pushKey}}}, "A2A-Version", "1.0")
	if made.status != http.StatusOK || !strings.Contains(string(made.body), `"result"`) {
		t.Errorf("there is no push: %s", made.body)
	}
}

// hosted has a harness run on that server, by a key that the node keeps.
func hosted(t *testing.T, root *client, s *httptest.Server) {
	t.Helper()
	const at = "/v1/harnesses/far"
	root.post(t, "/v1/harnesses", object{"id": "far", "name": "Far", "vendor": "v", "description": "d", "execution_type": "hosted",
		"config": object{"base_url": s.URL + "/far/harnesses/there"}})
	root.ask(t, "POST", at+"/validate-credentials", object{"api_key": wrongKey})
	if kept := root.post(t, at+"/validate-credentials", object{"api_key": hostedKey, "store": true}); kept["valid"] != true || kept["stored"] != true {
		t.Errorf("the key is not kept: %v", kept)
	}
	ran := text(root.post(t, at+"/execute", object{"message": "go"}), "execution_id")
	if task := root.settled(t, ran); text(task, "status") != "COMPLETED" {
		t.Errorf("the execution is %v: %v", task["status"], task["failure"])
	}
}

// thinkOpenAI thinks aloud in every place where such servers do. Asked with tools, it
// wants one called first.
func thinkOpenAI(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	said := "Here is the answer. " + "My key is " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	call := bytes.Contains(body, []byte(`"tools"`)) && !bytes.Contains(body, []byte(`"role":"tool"`))
	if !bytes.Contains(body, []byte(`"stream":true`)) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":"small","choices":[{"index":0,"finish_reason":"stop",
			"message":{"role":"assistant","content":%q,"reasoning_content":%q,"reasoning":%q}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
			"<think>"+hiddenThought+"</think>"+said, hiddenThought, hiddenThought)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(format string, args ...any) {
		_, _ = fmt.Fprintf(w, "data: "+format+"\n\n", args...)
		w.(http.Flusher).Flush()
	}
	send(`{"id":"c","object":"chat.completion.chunk","model":"small","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":%q,"reasoning":%q}}]}`, hiddenThought, hiddenThought)
	end := "stop"
	if call {
		end = "tool_calls"
		send(`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"desk__tell","arguments":"{}"}},{"index":1,"id":"t2","type":"function","function":{"name":"desk__fail","arguments":"{}"}}]}}]}`)
	} else {
		for _, piece := range []string{"<thi", "nk>" + hiddenThought[:9], hiddenThought[9:] + "</think>", said[:25], said[25:]} {
			send(`{"id":"c","choices":[{"index":0,"delta":{"content":%q}}]}`, piece)
		}
	}
	send(`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":%q}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, end)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func thinkAnthropic(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"id":"m","type":"message","role":"assistant","model":"small","content":[{"type":"thinking","thinking":%q,"signature":%q},
		{"type":"redacted_thinking","data":%q},{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
		hiddenThought, hiddenThought, hiddenThought, "Good day. My key is "+r.Header.Get("X-Api-Key"))
}

// indiscreetNode starts a node that is told every secret there is.
func indiscreetNode(t *testing.T, s *httptest.Server) *nodetest.Node {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "crm"), crmToken+"\n")
	put(t, filepath.Join(dir, "vault"), vaultToken)
	put(t, filepath.Join(dir, "coder"), agentKey)
	put(t, filepath.Join(dir, "wharf.yaml"), fmt.Sprintf(`
models:
  default: thinker
  thinker: {provider: openai, base_url: "%[1]s/openai/v1", model: small, api_key: {secret: model}}
  other: {provider: anthropic, base_url: "%[1]s/anthropic", model: small, api_key_env: CANARY_ANTHROPIC}
  denied: {provider: openai, base_url: "%[1]s/denied/v1", model: small, api_key: {secret: model}}
  denied-too: {provider: anthropic, base_url: "%[1]s/denied", model: small, api_key_env: CANARY_ANTHROPIC}
secrets:
  model: {env: CANARY_MODEL}
  crm: {file: "%[2]s/crm"}
  vault: {command: [cat, "%[2]s/vault"]}
  coder: {file: "%[2]s/coder"}
tools:
  coder: {a2a: "%[1]s/agent/card.json", private: true, headers: {Authorization: "Bearer {{secret:coder}}"}}
  desk: {command: "%[3]s", env: {%[4]s: "1", %[5]s: "{{secret:vault}}"}}
  gone: {url: "%[1]s/denied/mcp", timeout: 2s, headers: {Authorization: "Bearer {{secret:vault}}"}}
grants:
  agent: {models: ["*"], tools: ["desk:*"]}
  calls:
    models: ["*"]
    tools: ["desk:*", "gone:*", "coder:*"]
    agents: [coder]
    secrets: [crm, vault]
    http: [{hosts: ["%[6]s", "192.0.2.1"], methods: [GET, POST], private: true}]
settings:
  calls: {greeting: "%[7]s"}
  agent: {approve: never}
`, s.URL, dir, self(t), asTools, toolToken, strings.TrimPrefix(s.URL, "http://"), internalSetting))
	return builder.StartWith(t, nodetest.Options{
		Args: append(withPlugins(t), "--config", filepath.Join(dir, "wharf.yaml"), "--log-level", "debug", "--log-format", "json", "--set", "http.timeout=1s", "--set", "openharness.private=true"),
		Env:  []string{"WHARF_API_KEY=" + nodeKey, "CANARY_MODEL=" + modelKey, "CANARY_ANTHROPIC=" + anthropicKey},
	})
}

// split hides a canary in a program, which everybody may read: what stands in the
// middle is empty as long as no child was made.
func split(canary string) string { return canary[:9] + "$task_id" + canary[9:] }

// leaky makes every call that carries something that is not to be told.
func leaky(s *httptest.Server, vault string) plugintest.Program {
	ask := func(model string) plugintest.Step {
		return step("llm.complete", fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","text":%q}]}`, model, split(internalPrompt)))
	}
	fetch := func(path, header string) plugintest.Step {
		return step("http.fetch", fmt.Sprintf(`{"url":%q,"header":{"Authorization":%q}}`, s.URL+path, header))
	}
	handle := "Bearer {{secret:" + vault + "/deposit}}"
	return program(
		step("secret.use", `{"name":"deposit"}`), step("secret.use", `{"name":"hook"}`), step("secret.use", `{"name":"removed"}`),
		fetch("/echo", handle), fetch("/away", handle), fetch("/nowhere", handle), fetch("/broken", handle),
		fetch("/echo?key={{secret:"+vault+"/deposit}}", "none"), fetch("/echo", "Bearer {{secret:"+vault+"/elsewhere}}"),
		fetch("/echo", "Bearer {{secret:"+vault+"/removed}}"), fetch("/echo", "Bearer {{secret:"+vault+"/lines}}"),
		step("http.fetch", fmt.Sprintf(`{"method":"POST","url":%q,"header":{"Authorization":%q},"text":"hello"}`, s.URL+"/echo", handle)),
		ask("thinker"), ask("other"), ask("denied"), ask("denied-too"),
		step("llm.complete", `{"stream":true,"messages":[{"role":"user","text":"aloud"}]}`),
		step("secret.use", `{"name":"crm"}`), step("secret.use", `{"name":"model"}`),
		fetch("/echo", "Bearer $handle"), fetch("/echo", "Bearer {{secret:vault}}"), fetch("/away", "Bearer {{secret:crm}}"),
		fetch("/nowhere", "Bearer {{secret:crm}}"), fetch("/broken", "Bearer {{secret:crm}}"),
		fetch("/echo?key={{secret:crm}}", "none"), fetch("/echo", "Bearer "+split(internalHeader)),
		step("http.fetch", fmt.Sprintf(`{"url":"http://refused.invalid/","header":{"Authorization":"Bearer %s"}}`, split(internalHeader))),
		step("http.fetch", fmt.Sprintf(`{"method":"POST","url":%q,"header":{"Authorization":"Bearer {{secret:vault}}"},"text":"hello"}`, s.URL+"/echo")),
		step("tool.list", `{}`), step("tool.call", `{"server":"desk","name":"tell"}`), step("tool.call", `{"server":"desk","name":"fail"}`),
		step("tool.call", `{"server":"gone","name":"x"}`),
		step("tool.call", `{"server":"coder","name":"fix","arguments":{"message":"go"}}`),
		step("tool.call", `{"server":"coder","name":"fix","arguments":{"message":"refuse"}}`),
		step("agent.delegate", `{"agent":"coder","task":"go","budget":{"usd":1}}`),
		step("agent.delegate", `{"agent":"coder","task":"go","budget":{"usd":1},"checkpoint":{"approved":true}}`),
		step("agent.delegate", `{"agent":"coder","task":"refuse","budget":{"usd":1},"checkpoint":{"approved":true}}`),
		step("config.get", `{"name":"greeting"}`),
		step("state.set", fmt.Sprintf(`{"key":"k","value":%q}`, split(internalState))), step("state.get", `{"key":"k"}`),
		step("memory.write", fmt.Sprintf(`{"scope":"session","content":%q,"visibility":"receipt_only"}`, split(onlyInMemory))),
		step("memory.write", fmt.Sprintf(`{"scope":"session","content":%q}`, split(internalMemory))), step("memory.query", `{"scope":"session"}`),
		step("message.append", fmt.Sprintf(`{"role":"assistant","parts":[{"type":"text","text":%q,"visibility":"receipt_only"},{"type":"text","text":%q,"visibility":"internal"},{"type":"text","text":"for all","visibility":"public"}]}`, split(onlyInPlugin), split(internalPart))),
		step("transcript.read", `{"last":50}`),
		put2("artifact.put", "{\"kind\":\"log\",\"mime_type\":\"text/plain\",\"visibility\":\"receipt_only\"}\n"+split(onlyInArtifact)), step("artifact.get", `{"artifact_id":"$artifact_id"}`),
		put2("artifact.put", "{\"kind\":\"log\",\"mime_type\":\"text/plain\",\"visibility\":\"internal\"}\n"+split(internalHidden)), step("artifact.get", `{"artifact_id":"$artifact_id"}`),
		step("task.spawn", fmt.Sprintf(`{"persona_id":"persona_echo","input":{"role":"user","parts":[{"type":"text","text":%q,"visibility":"receipt_only"}]}}`, split(onlyInPlugin))),
		step("task.await", `{"task_id":"$task_id"}`),
		step("input.request", `{"prompt":"well?"}`),
	)
}

func parts(visibility ...string) object {
	m := object{"role": "user", "parts": []any{object{"type": "text", "text": "for everybody", "visibility": "public"}}}
	for i := 0; i < len(visibility); i += 2 {
		m["parts"] = append(m["parts"].([]any), object{"type": "text", "text": visibility[i+1], "visibility": visibility[i]})
	}
	return m
}

// traffic plants the canaries, and has everything happen that may spread them.
func traffic(t *testing.T, root *client, s *httptest.Server, met told) {
	t.Helper()
	workspace := text(root.all(t, "/v1/workspaces")[0], "id")
	session := text(root.post(t, "/v1/sessions", object{"workspace_id": workspace, "initial_messages": []any{parts("receipt_only", onlyInSession)}}), "id")
	root.post(t, "/v1/sessions/"+session+"/messages", object{"message": parts("receipt_only", onlyInAppended, "internal", internalPart)})
	for _, order := range []struct {
		persona string
		input   object
	}{
		{"persona_agent", parts("receipt_only", onlyForAgent, "internal", internalPart)}, // first: it reads what was said before
		{"persona_echo", parts("receipt_only", onlyInMessage, "internal", internalPart)},
		{"persona_digest", parts("receipt_only", onlyForDigest, "internal", internalDigest)},
	} {
		if task := root.settled(t, root.submit(t, session, order.persona, order.input)); text(task, "status") != "COMPLETED" {
			t.Errorf("%s: %v %v", order.persona, task["status"], task["failure"])
		}
	}
	waiting := "/wharf/v1/sessions/" + text(root.post(t, "/v1/sessions", object{"workspace_id": workspace}), "id")
	for range 2 { // one is taken back
		root.post(t, waiting+"/injections", object{"mode": "queue", "parts": parts("receipt_only", onlyInAppended, "internal", internalPart)["parts"]})
	}
	root.post(t, waiting+"/reminders", object{"body": "The tide turns."})
	hosted(t, root, s)
	vault := deposits(t, root)
	delivered(t, root, workspace, vault)
	session = text(root.post(t, "/v1/sessions", object{"workspace_id": workspace, "vault_ids": []string{vault}}), "id")
	root.post(t, "/v1/sessions/"+session+"/messages", object{"message": parts("receipt_only", onlyInAppended, "internal", internalPart)})
	task := root.submit(t, session, "persona_calls", leaky(s, vault))
	root.waitsFor(t, task, "agent.delegate")
	root.decide(t, task, `{"decision":"approved"}`)
	root.waitsFor(t, task, "input.request")
	pushed(t, root, task)
	root.post(t, "/v1/tasks/"+task+"/messages", object{"kind": "input", "message": parts("receipt_only", onlyInAppended)})
	if done := root.settled(t, task); text(done, "status") != "COMPLETED" {
		t.Errorf("the leaky task is %v: %v", done["status"], done["failure"])
	}
	for _, how := range []object{
		{"mode": "exact"},
		{"mode": "with_overrides", "override": object{"secret:crm": value("secret_value", secretValue)}},
		{"mode": "with_overrides", "override": object{"llm:1": value("llm_provider_response", object{"text": onlyInOverride, "stop_reason": "end"})}},
		{"mode": "with_overrides", "override": object{"host:input.request:1": value("host_fact", object{"actor": "x",
			"message": object{"id": "msg_x", "object": "message", "role": "user", "metadata": object{}, "parts": []any{object{"type": "text", "text": onlyInOverride, "visibility": "receipt_only"}}}})}},
	} {
		root.replayed(t, task, how)
	}
	// Requests that are refused, or kept for a while, hold secrets too.
	for i, overrides := range []object{
		{"secret:nobody": value("secret_value", object{"a": secretValue})}, {"secret:crm": value("no_such_kind", secretValue)},
		{"secret:crm": object{"kind": "secret_value", "value": secretValue, "sha256": "sha256:" + strings.Repeat("0", 64)}},
		{"llm:1": value("secret_value", secretValue)},
	} {
		a, err := root.try(t.Context(), "POST", "/v1/tasks/"+task+"/replay", object{"mode": "with_overrides", "override": overrides}, "Idempotency-Key", fmt.Sprint("replay ", i))
		if err != nil {
			t.Fatal(err)
		}
		if a.status < 300 {
			root.settled(t, text(a.doc(), "id"))
		}
		forms(secretValue).search(t, met, fmt.Sprint("the answer to ", slices.Collect(maps.Keys(overrides))), a.body)
	}
	root.post(t, "/wharf/v1/tasks/"+task+"/fork", object{})
	root.post(t, "/v1/sessions/"+session+"/fork", object{})
	for _, path := range []string{"/v1/tasks", "/v1/events/stream", "/v1/nothing"} {
		a, err := root.with(wrongKey).try(t.Context(), "GET", path, nil)
		if err != nil || a.status < 400 {
			t.Errorf("a wrong key opens %s: %v %v", path, a, err)
		}
		forms(wrongKey).search(t, met, "the refusal of "+path, a.body)
	}
}

// deposits fills a Vault, in right and in wrong ways, and returns its id.
func deposits(t *testing.T, root *client) string {
	t.Helper()
	vault := text(root.post(t, "/v1/vaults", object{"provider": "local", "capabilities": []string{"read", "write", "sign"},
		"access": object{"personas": []string{"persona_calls"}, "connectors": []string{"*"}}}), "id")
	secrets := "/wharf/v1/vaults/" + vault + "/secrets/"
	put := func(status int, name string, body object, header ...string) {
		a, err := root.try(t.Context(), "PUT", secrets+name, body, header...)
		if err != nil || a.status != status {
			t.Fatalf("PUT %s: %v %v", name, a, err)
		}
		forms(depositOld, deposit, depositRemoved, depositBad, signingSecret).search(t, told{}, "the answer to "+name, a.body)
	}
	put(200, "deposit", object{"value": depositOld})
	put(200, "deposit", object{"value": deposit}, "Idempotency-Key", "deposit")
	put(409, "deposit", object{"value": depositBad}, "Idempotency-Key", "deposit")
	put(200, "elsewhere", object{"value": deposit, "hosts": []string{"elsewhere.test"}})
	put(200, "lines", object{"value": deposit + "\nsecond line"})
	put(200, "hook", object{"value": signingSecret})
	put(200, "removed", object{"value": depositRemoved})
	for _, body := range []object{
		{"value": []string{depositBad}}, {"value": object{depositBad: depositBad}},
		{"value": depositBad, "hosts": []string{"no host"}}, {"value": depositBad, "hosts": "x"},
	} {
		put(400, "deposit", body)
	}
	put(400, "no%20name", object{"value": depositBad})
	for _, name := range []string{"removed"} {
		if a, err := root.try(t.Context(), "DELETE", secrets+name, nil); err != nil || a.status != 204 {
			t.Fatalf("DELETE %s: %v %v", name, a, err)
		}
	}
	if a, err := root.try(t.Context(), "POST", "/wharf/v1/vault-key", nil); err != nil || a.status != 200 {
		t.Fatalf("rotating the key: %v %v", a, err)
	}
	receivers(t, root)
	return vault
}

// harness is where the node speaks of its own Workspace as of a harness.
const harness = "/v1/harnesses/wharf"

// receivers tells the node of a receiver of events and of a server of tools, with the secrets that
// each is sent.
func receivers(t *testing.T, root *client) {
	t.Helper()
	for path, body := range map[string]object{
		"/wharf/v1/webhooks": {"url": "https://receiver.example/", "events": []string{"task.completed"}, "status": "PAUSED",
			"secret": webhookSecret, "headers": object{"X-Token": webhookHeader}},
		"/wharf/v1/tool-servers":          {"name": "elsewhere", "url": "https://tools.example/mcp", "headers": object{"Authorization": toolHeader}},
		harness + "/mcp-servers":          {"name": "far", "transport": object{"type": "http", "url": "https://tools.example/far", "headers": object{"Authorization": mcpHeader}}},
		harness + "/hooks":                {"event": "tool.after", "secret": toldSecret, "handler": object{"type": "webhook", "url": "https://receiver.example/hook"}},
		harness + "/webhooks":             {"url": "https://receiver.example/events", "events": []string{"execution.completed"}, "secret": eventsSecret},
		harness + "/validate-credentials": {"api_key": harnessKey},
		harness + "/agents":               {"name": "Careless", "config": object{"system_prompt": "x"}},
	} {
		a, err := root.try(t.Context(), "POST", path, body, "Idempotency-Key", "elsewhere")
		if err != nil || a.status/100 != 2 {
			t.Fatalf("POST %s: %v %s %v", path, a.status, a.body, err)
		}
		forms(webhookHeader, toolHeader, mcpHeader, harnessKey).search(t, told{}, "the answer to "+path, a.body)
	}
}

// delivered has a Connector check signatures with a secret of the Vault: a right one, a
// wrong one, and none.
func delivered(t *testing.T, root *client, workspace, vault string) {
	t.Helper()
	hook := root.post(t, "/v1/connectors", object{"provider": "github", "workspace_id": workspace, "webhook": object{"enabled": true},
		"auth": object{"secrets": []string{"hook"}, "vault_id": vault}})
	path := text(hook["webhook"].(map[string]any), "path")
	body := []byte(`{"zen":"Keep it logically awesome."}`)
	mac := hmac.New(sha256.New, []byte(signingSecret))
	mac.Write(body)
	for signature, want := range map[string]int{"sha256=" + hex.EncodeToString(mac.Sum(nil)): 202, "sha256=" + strings.Repeat("0", 64): 401, "": 401} {
		a, err := root.with("").try(t.Context(), "POST", path, jsontext.Value(body), "X-GitHub-Delivery", "d1", "X-GitHub-Event", "ping", "X-Hub-Signature-256", signature)
		if err != nil || a.status != want {
			t.Fatalf("a delivery with the signature %q: %v %s %v", signature, a.status, a.body, err)
		}
		forms(signingSecret).search(t, told{}, "the answer to a delivery", a.body)
	}
}

// outputs is everything that a key is shown, by where.
func (c *client) outputs(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	fetch := func(path string, header ...string) []byte {
		a, err := c.try(t.Context(), "GET", path, nil, header...)
		if err != nil {
			t.Fatalf("GET %s: %v", path, err)
		}
		var head bytes.Buffer
		_ = a.header.Write(&head)
		all[strings.Join(append([]string{"GET " + path}, header...), " ")] = append(head.Bytes(), a.body...)
		return a.body
	}
	list := func(path string) (ids []string) {
		a, err := c.try(t.Context(), "GET", path, nil)
		if err != nil || a.status != 200 {
			t.Fatalf("GET %s: %v %v", path, a, err)
		}
		for _, one := range c.all(t, path) {
			text1, _ := json.Marshal(one)
			all["GET "+path] = append(all["GET "+path], text1...)
			ids = append(ids, text(one, "id"))
		}
		return ids
	}
	for _, path := range []string{"/v1", "/v1/agent-card", "/openapi.json", "/.well-known/wharf-keys.json", "/wharf/v1/signing-keys", "/metrics", "/wharf/v1/keys", "/wharf/v1/tenants", "/healthz", "/readyz"} {
		fetch(path)
	}
	for _, kind := range []string{"workspaces", "personas", "artifacts", "outcomes", "tasks", "sessions", "memories", "vaults", "connectors", "skills", "quotas", "permission-requests"} {
		for _, id := range list("/v1/" + kind) {
			fetch("/v1/" + kind + "/" + id)
			switch kind {
			case "vaults":
				list("/wharf/v1/vaults/" + id + "/secrets")
				for _, name := range []string{"deposit", "hook", "removed"} {
					fetch("/wharf/v1/vaults/" + id + "/secrets/" + name)
				}
			case "artifacts":
				fetch("/v1/artifacts/"+id+"/content", "Accept", "*/*")
			case "sessions":
				for _, message := range list("/v1/sessions/" + id + "/messages") {
					fetch("/v1/messages/" + message)
				}
				list("/v1/sessions/" + id + "/events")
				list("/v1/sessions/" + id + "/branches")
			case "tasks":
				list("/v1/tasks/" + id + "/events")
				list("/v1/tasks/" + id + "/permission-requests")
				all["the stream of "+id] = c.stream(t, "/v1/tasks/"+id+"/stream", "")
				for _, receipt := range list("/v1/tasks/" + id + "/receipts") {
					for _, media := range []string{"application/json", "application/vnd.harn.receipt+json", "application/vnd.harn.receipt+cbor"} {
						fetch("/v1/receipts/"+receipt, "Accept", media)
					}
					if a, err := c.try(t.Context(), "POST", "/v1/receipts/"+receipt+"/verify", nil); err == nil {
						all["the verification of "+receipt] = a.body
					}
				}
			}
		}
	}
	for _, kind := range []string{"webhooks", "tool-servers"} {
		for _, id := range list("/wharf/v1/" + kind) {
			fetch("/wharf/v1/" + kind + "/" + id)
		}
	}
	fetch("/v1/harnesses")
	for _, harness := range []string{harness, "/v1/harnesses/far"} {
		for _, path := range []string{"", "/capabilities", "/health", "/diagnostics", "/events", "/logs", "/tools"} {
			fetch(harness + path)
		}
		for _, kind := range []string{"agents", "skills", "executions", "sessions", "mcp-servers", "hooks", "webhooks"} {
			var page struct {
				Data []struct {
					ID string `json:"id"`
				} `json:"data"`
			}
			if err := json.Unmarshal(fetch(harness+"/"+kind+"?limit=100"), &page); err != nil {
				t.Fatalf("the %s of the harness: %v", kind, err)
			}
			for _, one := range page.Data {
				fetch(harness + "/" + kind + "/" + one.ID)
				switch kind {
				case "sessions":
					fetch(harness + "/sessions/" + one.ID + "/history?limit=100")
				case "executions":
					fetch(harness + "/executions/" + one.ID + "/tool-calls")
					fetch(harness + "/executions/" + one.ID + "/artifacts")
				case "mcp-servers":
					fetch(harness + "/mcp-servers/" + one.ID + "/health")
				}
			}
		}
	}
	events := list("/v1/events")
	for _, id := range events {
		fetch("/v1/events/" + id)
	}
	all["the stream of everything"] = c.stream(t, "/v1/events/stream", events[len(events)-1])
	all["the WebSocket of everything"] = c.socket(t, "/v1/events/stream", events[len(events)-1])
	return all
}

// stream reads a stream to its end, or to the event with the given id.
func (c *client) stream(t *testing.T, path, last string) []byte {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body, err := c.events(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	var all bytes.Buffer
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 16<<20)
	for passed := false; lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if id, ok := strings.CutPrefix(lines.Text(), "id:"); ok {
			at, _ := strconv.Atoi(strings.TrimSpace(id))
			end, err := strconv.Atoi(last)
			passed = err == nil && at >= end
		}
		if passed && lines.Text() == "" {
			break
		}
	}
	return all.Bytes()
}

// TestNobodyIsToldASecret plants a canary of every kind in every input, and searches
// every output, the log, and what is on disk.
func TestNobodyIsToldASecret(t *testing.T) {
	s := indiscreet(t)
	node := indiscreetNode(t, s)
	root := newClient(node).with(nodeKey)
	made := root.post(t, "/wharf/v1/keys", object{"name": "a reader"})
	readerKey := text(made, "key")
	met := told{}
	traffic(t, root, s, met)
	issued := token(t, root, nodeKey, met)

	nowhere := []string{nodeKey, readerKey, issued, modelKey, anthropicKey, crmToken, vaultToken, wrongKey, secretValue, hiddenThought, signingSeed(t, node.Data),
		depositOld, deposit, depositRemoved, depositBad, signingSecret, webhookSecret, webhookHeader, toolHeader, mcpHeader, toldSecret, eventsSecret, harnessKey, hostedKey, agentKey, pushToken, pushKey}
	only := []string{onlyInMessage, onlyInSession, onlyInPlugin, onlyInArtifact, onlyInOverride, onlyInAppended, onlyInMemory, onlyForAgent, onlyForDigest}
	internal := []string{internalPart, internalState, internalHeader, internalPrompt, internalHidden, internalSetting, internalMemory, internalDigest}
	t.Run("a reader", func(t *testing.T) {
		hidden := forms(slices.Concat(nowhere, only, internal)...)
		found := root.with(readerKey).outputs(t)
		for where, content := range found {
			hidden.search(t, met, where, content)
		}
		wantTraffic(t, found)
	})
	t.Run("a reader of what is internal", func(t *testing.T) {
		hidden := forms(slices.Concat(nowhere, only)...)
		for where, content := range root.outputs(t) {
			hidden.search(t, met, where, content)
		}
	})
	t.Run("bundles and records", func(t *testing.T) {
		hidden := forms(nowhere...)
		for _, task := range root.all(t, "/v1/tasks") {
			if task["replay"] == nil && terminal(task) {
				hidden.search(t, met, "the bundle of "+text(task, "id"), root.bundle(t, text(task, "id")))
				hidden.search(t, met, "the record of "+text(task, "id"), root.ask(t, "GET", "/wharf/v1/tasks/"+text(task, "id")+"/record", nil).body)
			}
		}
	})
	t.Run("the process", func(t *testing.T) {
		arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", node.PID()))
		if err != nil {
			t.Skipf("this system does not tell the arguments of processes: %v", err)
		}
		forms(nowhere...).search(t, met, "the arguments of the node", arguments)
	})
	copied := filepath.Join(t.TempDir(), "copy")
	root.post(t, "/wharf/v1/backup", object{"dir": copied})
	node.Stop(t)
	t.Run("a backup", func(t *testing.T) { searchFolder(t, copied, forms(nowhere...), met) })
	t.Run("a careless adapter", func(t *testing.T) {
		withheld, always := forms(slices.Concat(nowhere, only, internal)...), forms(slices.Concat(nowhere, only)...)
		searchCareless(t, copied, func(c *api.Caller) places {
			if c.Can(abi.ScopeEventsInternal) {
				return always
			}
			return withheld
		}, met)
	})
	t.Run("the log", func(t *testing.T) {
		log, err := os.ReadFile(node.Log)
		if err != nil {
			t.Fatal(err)
		}
		forms(slices.Concat(nowhere, only, internal)...).search(t, met, "the log", log)
		if !bytes.Contains(log, []byte("the desk has the token")) {
			t.Error("the log does not have what the server of tools wrote: this test has shown nothing about it")
		}
	})
	t.Run("the data folder", func(t *testing.T) { searchFolder(t, node.Data, forms(nowhere...), met) })
	met.settle(t)
}

// wantTraffic makes sure that there was something to find.
func wantTraffic(t *testing.T, found map[string][]byte) {
	t.Helper()
	everything := bytes.Join(slices.Collect(func(yield func([]byte) bool) {
		for _, content := range found {
			if !yield(content) {
				return
			}
		}
	}), []byte("\n"))
	for _, what := range []string{"Here is the answer", "for everybody", "desk", "replay.event_replayed", "message_delta", "receipt.issued", "vendor.wharf.secret_used", "vendor.wharf.secret_removed", `"redacted":true`, "tool.completed", "It is done far away"} {
		if !bytes.Contains(everything, []byte(what)) {
			t.Errorf("%q is nowhere: the canaries were not where they were meant to be", what)
		}
	}
}

// signingSeed returns the private half of a node's key, as its file writes it.
func signingSeed(t *testing.T, data string) string {
	t.Helper()
	seed := ""
	err := filepath.WalkDir(filepath.Join(data, "keys"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		var file struct {
			Seed []byte `json:"seed"`
		}
		if json.Unmarshal(content, &file) == nil && len(file.Seed) == 32 {
			seed = string(file.Seed)
		}
		return err
	})
	if err != nil || seed == "" {
		t.Fatalf("no private key was found: %v", err)
	}
	return seed
}

// searchFolder searches the files of a data folder as they are, and every event and
// blob as the store reads them. The private key is where it belongs.
func searchFolder(t *testing.T, data string, hidden places, met told) {
	t.Helper()
	var blobs []storage.Hash
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) == "keys" {
			return err
		}
		content, err := os.ReadFile(path)
		hidden.search(t, met, path, content)
		var h storage.Hash
		if raw, bad := hex.DecodeString(d.Name()); bad == nil && len(raw) == len(h) {
			blobs = append(blobs, storage.Hash(raw))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	store, err := pebble.Open(data, pebble.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	events := 0
	for tenant := range storage.Tenant(3) {
		events += searchEvents(t, store, tenant, hidden, met)
	}
	for _, h := range blobs {
		b, err := store.Blobs().Open(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(b)
		if err := errors.Join(err, b.Close()); err != nil {
			t.Fatal(err)
		}
		hidden.search(t, met, fmt.Sprintf("the blob %x", h), content)
	}
	if events < 100 || len(blobs) < 5 {
		t.Errorf("only %d events and %d blobs were searched", events, len(blobs))
	}
}

func searchEvents(t *testing.T, store storage.Store, tenant storage.Tenant, hidden places, met told) (n int) {
	t.Helper()
	var after storage.Position
	for {
		events, more, err := store.Events(t.Context(), tenant, storage.Scope{}, after, 500)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			after = e.Position()
			r := e.Record()
			content := slices.Concat([]byte(r.Kind), r.State, r.Payload, []byte(r.IdempotencyKey), []byte(e.Frame.Actor))
			hidden.search(t, met, fmt.Sprintf("event %d, %s", after, r.Kind), content)
		}
		if n += len(events); !more {
			return n
		}
	}
}

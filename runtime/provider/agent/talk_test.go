package agent_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/runtime/provider/agent"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// stranger is an agent outside that says what a test wants.
type stranger struct {
	*httptest.Server
	card    func(url string) string
	answers map[string]func(w http.ResponseWriter, params string)
	asked   []string
}

func newStranger(t *testing.T, card string, answers map[string]func(http.ResponseWriter, string)) (*stranger, *agent.Peer) {
	t.Helper()
	s := &stranger{card: func(url string) string { return strings.ReplaceAll(card, "URL", url) }, answers: answers}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	p, err := agent.NewPeer(agent.Config{Name: "stranger", URL: s.URL, Private: true, Headers: map[string]string{"Authorization": "Bearer own"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return s, p
}

func (s *stranger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, s.card(s.URL))
		return
	}
	var call struct {
		Method string         `json:"method"`
		Params jsontext.Value `json:"params"`
	}
	_ = json.UnmarshalRead(r.Body, &call)
	s.asked = append(s.asked, call.Method)
	if answer := s.answers[call.Method]; answer != nil {
		answer(w, string(call.Params))
		return
	}
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"there is no such method"}}`)
}

func results(all ...string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, _ string) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, all[0])
		if len(all) > 1 {
			all = all[1:]
		}
	}
}

func streams(all ...string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, text := range all {
			fmt.Fprintf(w, ": keep\n\nid: 1\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":1,\"result\":%s}\r\n\r\n", text)
		}
	}
}

// heard is what a person hears: states, what is said, and the error at the end.
func heard(t *testing.T, p *agent.Peer, m agent.Message) string {
	t.Helper()
	card, err := p.Card(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for u, err := range p.Talk(t.Context(), card, &m) {
		if err != nil {
			all = append(all, "error "+err.Error())
			continue
		}
		said := u.State
		for _, c := range u.Content {
			said += fmt.Sprintf(" %s%q", map[bool]string{true: "+"}[u.More], c.Text)
		}
		if u.Progress {
			said += " (progress)"
		}
		all = append(all, said)
	}
	return strings.Join(all, "\n")
}

const (
	newCard = `{"name":"n","capabilities":{"streaming":true},"supportedInterfaces":[{"url":"URL/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`
	oldCard = `{"name":"o","capabilities":{"streaming":true},"url":"URL/rpc","protocolVersion":"0.3.0"}`
	mute    = `{"name":"m","capabilities":{"streaming":"yes"},"url":"URL/rpc","protocolVersion":"0.3.0"}`
)

// A person hears the same of an agent of either version: what it says as it comes, pieces of artifacts
// in their order, and how its task ends.
func TestTalk(t *testing.T) {
	const progress = `"metadata":{"https://harnlang.com/spec/harn-extensions/v1":{"type":"progress"}}`
	for name, c := range map[string]struct {
		card    string
		answers map[string]func(http.ResponseWriter, string)
		want    string
	}{
		"1.0": {newCard, map[string]func(http.ResponseWriter, string){"SendStreamingMessage": streams(
			`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}`,
			`{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_WORKING","message":{"parts":[{"text":"half"}]}},`+progress+`}}`,
			`{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"Hel"}]}}}`,
			`{"artifactUpdate":{"taskId":"t","append":true,"artifact":{"artifactId":"a","parts":[{"text":"lo"}]}}}`,
			`{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`)},
			"submitted\nworking \"half\" (progress)\nworking \"Hel\"\nworking +\"lo\"\ncompleted"},
		"0.3": {oldCard, map[string]func(http.ResponseWriter, string){"message/stream": streams(
			`{"kind":"task","id":"t","contextId":"c","status":{"state":"submitted"}}`,
			`{"kind":"artifact-update","taskId":"t","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"Hello"}]}}`,
			`{"kind":"status-update","taskId":"t","final":true,"status":{"state":"failed","message":{"parts":[{"kind":"text","text":"no"}]}}}`)},
			"submitted\nworking \"Hello\"\nfailed \"no\""},
		"a message is all": {oldCard, map[string]func(http.ResponseWriter, string){
			"message/stream": streams(`{"kind":"message","messageId":"m","parts":[{"kind":"text","text":"Hi"}]}`)}, ` "Hi"`},
		"it answers once instead of streaming": {newCard, map[string]func(http.ResponseWriter, string){
			"SendStreamingMessage": results(`{"message":{"messageId":"m","parts":[{"text":"Hi"}]}}`)}, ` "Hi"`},
		"a stream breaks off": {newCard, map[string]func(http.ResponseWriter, string){
			"SendStreamingMessage": streams(`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}`),
			"GetTask":              results(`{"id":"t","status":{"state":"TASK_STATE_WORKING"}}`, `{"id":"t","artifacts":[{"artifactId":"a","parts":[{"text":"Hi"}]}],"status":{"state":"TASK_STATE_COMPLETED"}}`)},
			"working\nworking\nworking \"Hi\"\ncompleted"},
		"it does not stream, and asks": {mute, map[string]func(http.ResponseWriter, string){
			"message/send": results(`{"kind":"task","id":"t","status":{"state":"submitted"}}`),
			"tasks/get":    results(`{"kind":"task","id":"t","status":{"state":"input-required","message":{"parts":[{"kind":"text","text":"Which?"}]}}}`)},
			"submitted\ninput-required \"Which?\""},
		"it refuses":        {newCard, nil, "error there is no such method (-32601)"},
		"it says nothing":   {newCard, map[string]func(http.ResponseWriter, string){"SendStreamingMessage": streams()}, `error agent_rejected: the answer of the agent "stranger" cannot be read`},
		"it talks nonsense": {newCard, map[string]func(http.ResponseWriter, string){"SendStreamingMessage": streams(`[1]`)}, `error agent_rejected: the answer of the agent "stranger" cannot be read`},
		"it has a task with no id": {newCard, map[string]func(http.ResponseWriter, string){"SendStreamingMessage": streams(`{"task":{"status":{"state":"TASK_STATE_WORKING"}}}`)},
			`error agent_rejected: the answer of the agent "stranger" cannot be read`},
		"an event is too long": {newCard, map[string]func(http.ResponseWriter, string){"SendStreamingMessage": streams(`{"message":{"parts":[{"text":"` + strings.Repeat("x", 5<<20) + `"}]}}`)},
			`error agent_too_large: the answer of the agent "stranger" has more than 4194304 bytes`},
		"it locks us out": {newCard, map[string]func(http.ResponseWriter, string){"SendStreamingMessage": func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusUnauthorized) }},
			`error agent_denied: the agent "stranger" does not let us in (HTTP 401)`},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := newStranger(t, c.card, c.answers)
			if got := heard(t, p, agent.Message{ID: "m", Text: "hello"}); got != c.want {
				t.Errorf("heard\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// The message names what it goes on with, and one that nobody waits for leaves the task alone.
func TestSay(t *testing.T) {
	var sent string
	s, p := newStranger(t, newCard, map[string]func(http.ResponseWriter, string){"SendMessage": func(w http.ResponseWriter, params string) {
		sent = params
		results(`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`)(w, "")
	}})
	card, err := p.Card(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Say(t.Context(), card, &agent.Message{ID: "m-1", Text: "hello", ContextID: "c", TaskID: "t"})
	if err != nil {
		t.Fatal(err)
	}
	for u := range all {
		if u.TaskID != "t" || u.ContextID != "c" || u.Over() || u.Completed() {
			t.Errorf("%+v", u)
		}
	}
	for _, want := range []string{`"messageId":"m-1"`, `"contextId":"c"`, `"taskId":"t"`, `"text":"hello"`} {
		if !strings.Contains(sent, want) {
			t.Errorf("%s is not in %s", want, sent)
		}
	}
	if strings.Join(s.asked, " ") != "SendMessage" {
		t.Errorf("the agent was asked %q", s.asked)
	}
}

// signed signs a card as a node does.
func signed(t *testing.T, key *receipt.Key, card, keys string) string {
	t.Helper()
	protected, signature, err := key.JWS([]byte(card), keys)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`%s,"signatures":[{"protected":%q,"signature":%q}]}`, strings.TrimSuffix(card, "}"), protected, signature)
}

// A signature is valid only over the very card, by a key that is published on the card's own host.
func TestSignatures(t *testing.T) {
	key := receipt.NewKey([]byte(strings.Repeat("k", ed25519.SeedSize)))
	public, err := base64.StdEncoding.DecodeString(key.Public(time.Now()).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	set := fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":%q,"x":%q}]}`, key.ID, base64.RawURLEncoding.EncodeToString(public))
	for name, c := range map[string]struct {
		keys, change, into string
		set                string
		want               agent.SignatureVerdict
	}{
		"own keys":           {"URL/keys", "", "", set, agent.SignatureValid},
		"another card":       {"URL/keys", `"name":"n"`, `"name":"m"`, set, agent.SignatureInvalid},
		"another's keys":     {"https://other.example/keys", "", "", set, agent.SignatureUnknown},
		"no place":           {"", "", "", set, agent.SignatureUnknown},
		"a key that is gone": {"URL/keys", "", "", `{"keys":[]}`, agent.SignatureUnknown},
		"keys that are none": {"URL/keys", "", "", `[]`, agent.SignatureUnknown},
		"no header":          {"URL/keys", `"protected":"`, `"protected":"!`, set, agent.SignatureInvalid},
		"no signatures":      {"URL/keys", `"signatures":[`, `"signatures":7,"x":[`, set, agent.SignatureInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := newStranger(t, "", nil)
			card := strings.ReplaceAll(newCard, "URL", s.URL)
			card = signed(t, key, card, strings.ReplaceAll(c.keys, "URL", s.URL))
			if c.change != "" {
				card = strings.Replace(card, c.change, c.into, 1)
			}
			first := true
			s.card = func(string) string {
				if first {
					first = false
					return card
				}
				return c.set
			}
			shown, err := p.Show(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(shown.Signatures) != 1 || shown.Signatures[0].Verify != c.want {
				t.Errorf("%+v, want %s", shown.Signatures, c.want)
			}
		})
	}
}

// A card that speaks nothing that is spoken here is shown all the same.
func TestShowOther(t *testing.T) {
	_, p := newStranger(t, `{"name":"r","description":"d","version":7,"supportedInterfaces":[{"url":"URL/a2a","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]}`, nil)
	shown, err := p.Show(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if shown.Unusable == nil || len(shown.Interfaces) != 1 || shown.Description != "d" || len(shown.External.Lacks()) == 0 {
		t.Errorf("%+v", shown)
	}
}

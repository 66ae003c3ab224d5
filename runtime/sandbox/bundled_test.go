package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/plugins"
)

// task is a Host for a bundled plugin: it gives the input and keeps what comes.
type task struct {
	host
	input     []byte
	artifacts map[string][]byte
	message   abi.MessageInput
	output    abi.CallOutputRequest
	stored    []byte
	progress  int
}

func newTask(t testing.TB, input string) *task {
	t.Helper()
	answer := abi.CallInputAnswer{SessionID: "sess_1", Persona: plugins.Personas()[0]}
	answer.Task = abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, "task_1", answer.Persona.CreatedAt, jsontext.Value(`{"input":"not this one","a":[{"b":"}]\""}]}`))}
	answer.Task.Input = jsontext.Value(input)
	encoded, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return &task{input: encoded, artifacts: map[string][]byte{}}
}

func (h *task) Call(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	var err error
	switch call {
	case abi.CallInput:
		return abi.CallOK, h.input, nil
	case abi.CallMessageAppend:
		request = bytes.Clone(request) // json keeps parts of what it reads
		err = json.Unmarshal(request, &h.message)
	case abi.CallOutput:
		err = json.Unmarshal(bytes.Clone(request), &h.output)
	case abi.CallArtifactPut:
		_, content, _ := bytes.Cut(request, []byte("\n"))
		h.stored = bytes.Clone(content)
		return abi.CallOK, []byte(`{"artifact_id":"art_2","sha256":"00"}`), nil
	case abi.CallArtifactGet:
		var get abi.CallArtifactGetRequest
		if err = json.Unmarshal(request, &get); err == nil {
			content := h.artifacts[get.ArtifactID]
			return abi.CallOK, content[min(get.Offset, int64(len(content))):min(get.Offset+get.Length, int64(len(content)))], nil
		}
	case abi.CallProgress:
		h.progress++
	}
	if err != nil {
		return abi.CallInvalid, fmt.Appendf(nil, `{"code":"invalid_request","message":%q}`, err), nil
	}
	return abi.CallOK, []byte(`{"message_id":"msg_1"}`), nil
}

func bundled(t testing.TB, r *Runtime, name string) *Module {
	t.Helper()
	p, ok := plugins.Lookup(name)
	if !ok {
		t.Fatalf("no plugin %q", name)
	}
	return compile(t, r, p.Wasm())
}

// TestBundledCapabilities holds that Personas claim the host calls that their
// plugins make, and that digests are those of the modules. One whose export does less than its
// module claims no more than that.
func TestBundledCapabilities(t *testing.T) {
	share.Alone(t)
	r := newRuntime(t, Config{CacheDir: cacheDir})
	for _, p := range plugins.Personas() {
		plugin, _, some := strings.Cut(p.EntryWorkflow, "#")
		m := bundled(t, r, plugin)
		named := slices.DeleteFunc(slices.Clone(p.Capabilities), func(call string) bool { return call == "file.*" }) // tools stand for these
		beyond := slices.DeleteFunc(slices.Clone(named), func(call string) bool { return slices.Contains(m.Imports(), call) })
		if !some && fmt.Sprint(m.Imports()) != fmt.Sprint(named) || len(beyond) > 0 {
			t.Errorf("%s makes the host calls %v and claims %v", p.ID, m.Imports(), p.Capabilities)
		}
		if b, _ := plugins.Lookup(plugin); "sha256:"+b.Digest != m.Digest() {
			t.Errorf("%s has the digest %s, its module %s", p.ID, b.Digest, m.Digest())
		}
	}
}

func TestEcho(t *testing.T) {
	r := newRuntime(t, Config{})
	m := bundled(t, r, "echo")
	long := strings.Repeat(`long \"text\" {[ `, 1<<18)
	for _, test := range []struct{ name, input, parts string }{
		{"a message", `{"role":"user","parts":[{"type":"text","text":"hi","visibility":"public"}]}`,
			`[{"type":"text","text":"hi","visibility":"public"}]`},
		{"parts first, spaced", " { \"parts\" :\n [ {\"type\" : \"text\", \"text\":\"\\\\\"} ] , \"role\":\t\"user\" } ",
			`[{"type":"text","text":"\\"}]`},
		{"wide text", `{"role":"user","parts":[{"type":"text","text":"漢字 😀 \u00e9\"","visibility":"internal"}]}`,
			`[{"type":"text","text":"漢字 😀 é\"","visibility":"internal"}]`},
		{"no parts", `{"role":"user","parts":[]}`, `[]`},
		{"an object", `{"question":[1,{"a":"]}"},null,true,-1.5e3]}`,
			`[{"type":"json","value":{"question":[1,{"a":"]}"},null,true,-1.5e3]},"visibility":"public"}]`},
		{"an empty object", `{}`, `[{"type":"json","value":{},"visibility":"public"}]`},
		{"parts that are no list", `{"role":"user","parts":1}`, `[{"type":"json","value":{"role":"user","parts":1},"visibility":"public"}]`},
		{"no role", `{"parts":[]}`, `[{"type":"json","value":{"parts":[]},"visibility":"public"}]`},
		{"a number", `17`, `[{"type":"json","value":17,"visibility":"public"}]`},
		{"megabytes", `{"role":"user","parts":[{"type":"text","text":"` + long + `"}]}`, `[{"type":"text","text":"` + long + `"}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newTask(t, test.input)
			if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
				t.Fatal(err)
			}
			want := canonicalParts(t, test.parts)
			if got := marshal(t, h.message.Parts); got != want || h.message.Role != abi.RoleAssistant {
				t.Errorf("%s says %.200s, want %.200s", h.message.Role, got, want)
			}
			if !strings.HasPrefix(h.output.Summary, "echoed ") {
				t.Errorf("the summary is %q", h.output.Summary)
			}
		})
	}
}

func canonicalParts(t *testing.T, text string) string {
	t.Helper()
	var parts []abi.Part
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		t.Fatal(err)
	}
	return marshal(t, parts)
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEchoWithoutMemory runs echo on more than fits: it has to be told apart from a
// plugin that is broken.
func TestEchoWithoutMemory(t *testing.T) {
	m := bundled(t, newRuntime(t, Config{}), "echo")
	h := newTask(t, `{"text":"`+strings.Repeat("x", 1<<20)+`"}`)
	_, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{MemoryBytes: 1 << 20})
	checkFailure(t, err, abi.FailurePluginMemory, "refused more than 1048576")
}

func TestDigest(t *testing.T) {
	share.Alone(t)
	m := bundled(t, newRuntime(t, Config{CacheDir: cacheDir}), "digest")
	h := newTask(t, `{"role":"user","parts":[{"type":"text","text":"# Title\n\nSome text, see [there](http://a.b)."},{"type":"artifact_ref","artifact_id":"art_1"}]}`)
	h.artifacts["art_1"] = []byte("## Part two\n\nMore text.")
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	if want := `"Title": 9 words, 2 headings, 1 link, less than a minute to read`; h.output.Summary != want {
		t.Errorf("the summary is %s, want %s", h.output.Summary, want)
	}
	if len(h.message.Parts) != 3 || !strings.Contains(*h.message.Parts[0].Text, "- Part two (line 5)") {
		t.Errorf("the answer is %s", marshal(t, h.message))
	}
	if !strings.Contains(string(h.stored), "# Digest of Title") || h.progress == 0 {
		t.Errorf("stored %q after telling progress %d times", h.stored, h.progress)
	}
}

func TestDigestFails(t *testing.T) {
	m := bundled(t, newRuntime(t, Config{CacheDir: cacheDir}), "digest")
	h := newTask(t, `{"question":"?"}`)
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	if h.output.Failure == nil || h.output.Failure.Code != "no_document" {
		t.Errorf("without a document it answers %+v", h.output)
	}
}

// largeDocument is real prose and Markdown, repeated with changes up to the size.
func largeDocument(t testing.TB, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	text, err := os.ReadFile("../../plugins/digest/digest/testdata/manual.md")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; out.Len() < size; n++ {
		fmt.Fprintf(&out, "# Part %d\n\n", n)
		out.Write(bytes.ReplaceAll(text, []byte("the "), fmt.Appendf(nil, "the word%d ", n%997)))
		out.WriteString("\n\n")
	}
	return out.Bytes()[:size]
}

// TestDigestLarge holds that a document of 10 MB is digested within the default
// limits, from an Artifact and from a Message.
func TestDigestLarge(t *testing.T) {
	size := 10 << 20
	if os.Getenv("WHARF_LONG") == "" {
		t.Log("WHARF_LONG is not set: a document of 1 MB has to do")
		size = 1 << 20
	}
	m := bundled(t, newRuntime(t, Config{CacheDir: cacheDir}), "digest")
	text := largeDocument(t, size)
	quoted, err := jsontext.AppendQuote(nil, bytes.ToValidUTF8(text, nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, input := range map[string]string{
		"an artifact": `{"artifact_id":"art_1"}`,
		"a message":   `{"role":"user","parts":[{"type":"text","text":` + string(quoted) + `}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newTask(t, input)
			h.artifacts["art_1"] = text
			usage, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v to make the instance, %v to run, %d MiB, %d host calls: %s",
				usage.Instantiate, usage.Run, usage.MemoryBytes>>20, usage.HostCalls, h.output.Summary)
			if h.output.Failure != nil || h.progress < 5 {
				t.Errorf("answered %+v after telling progress %d times", h.output, h.progress)
			}
		})
	}
}

// TestAgent runs the agent as it ships: with a model that wants a tool called, and
// without a model. On both engines it asks for the same.
func TestAgent(t *testing.T) {
	share.Alone(t)
	for _, test := range []struct {
		name    string
		refusal string // of the model
		calls   []string
		want    string // part of the output
	}{
		{"a tool", "", []string{"input", "config.get", "config.get", "config.get", "config.get", "config.get", "config.get", "config.get", "tool.list", "transcript.read", "block.list",
			"inbox.take", "progress", "llm.complete", "message.append", "plan", "approval.request", "tool.call", "message.append", "agent.event",
			"inbox.take", "block.list", "agent.event", "progress", "llm.complete", "message.append", "inbox.take", "output"}, `"summary":"The file is gone."`},
		{"no model", `{"code":"model_not_configured","message":"configure a model"}`, nil, `"failure":{"code":"model_not_configured","message":"configure a model"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var first []asked
			for _, engine := range engines() {
				engine.config.CacheDir = cacheDir
				m := bundled(t, newRuntime(t, engine.config), "agent")
				h := agentHost(t, test.refusal)
				if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = h.asked
				}
				if !slices.Equal(h.asked, first) {
					t.Errorf("the %s asks\n%q, want\n%q", engine.name, h.asked, first)
				}
			}
			if last := first[len(first)-1]; !strings.Contains(last.request, test.want) {
				t.Errorf("it ended with %q, want %s", last, test.want)
			}
			var calls []string
			for _, a := range first {
				calls = append(calls, a.call)
			}
			if test.calls != nil && !slices.Equal(calls, test.calls) {
				t.Errorf("it made the calls %q, want %q", calls, test.calls)
			}
		})
	}
}

// agentHost has a model that wants one file deleted, and a person who agrees.
func agentHost(t *testing.T, refusal string) *host {
	input := newTask(t, `{"role":"user","parts":[{"type":"text","text":"Delete a."}]}`).input
	asked := 0
	answers := map[string]string{
		abi.CallInput: string(input), abi.CallConfigGet: `{"value":null}`, abi.CallTranscriptRead: `{"messages":[]}`,
		abi.CallToolList:        `{"tools":[{"server":"files","name":"delete","destructive":true}]}`,
		abi.CallApprovalRequest: `{"decision":"approved","actor":"ada","decided_at":"2026-01-01T00:00:00Z"}`,
		abi.CallToolCall:        `{"content":[{"type":"text","text":"deleted"}]}`,
		abi.CallMessageAppend:   `{"message_id":"msg_1"}`,
		abi.CallBlockList:       `{"version":0,"blocks":[]}`,
		abi.CallInboxTake:       `{"messages":[],"reminders":[]}`,
	}
	return &host{keep: true, answer: func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
		if call != abi.CallLLMComplete {
			return abi.CallOK, []byte(answers[call]), nil
		}
		asked++
		switch {
		case refusal != "":
			return abi.CallUnavailable, []byte(refusal), nil
		case asked == 1:
			return abi.CallOK, []byte(`{"stop_reason":"tools","tool_calls":[{"id":"c1","name":"files__delete","arguments":{"path":"a"}}],"usage":{"input_tokens":1,"output_tokens":1}}`), nil
		}
		return abi.CallOK, []byte(`{"stop_reason":"end","text":"The file is gone.","usage":{"input_tokens":1,"output_tokens":1}}`), nil
	}}
}

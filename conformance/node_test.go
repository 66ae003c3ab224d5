package conformance_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance"
	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

var builder = nodetest.NewBuilder()

func TestMain(m *testing.M) {
	code := m.Run()
	if err := builder.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// TestWharfConforms runs every check of every level against the real binary.
// Nothing may fail, SHOULDs included, and nothing may be skipped.
func TestWharfConforms(t *testing.T) {
	report, err := conformance.Run(t.Context(), wharf(t), conformance.LevelAll)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		t.Run(r.ID, func(t *testing.T) {
			if r.Status != conformance.Pass {
				t.Errorf("%s: %s (%s, %q): %s", r.Status, r.Title, r.Strength, r.Section, r.Seen)
			}
		})
	}
	if len(report.Results) < 135 {
		t.Errorf("only %d checks ran", len(report.Results))
	}
}

// wharf starts a node with a plugin whose Tasks ask for what their input says, and
// returns what the suite needs to know of it. The API key is an OAuth2 client too.
func wharf(t *testing.T) conformance.Config {
	t.Helper()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	plugins := t.TempDir()
	calls, err := os.ReadFile(filepath.Join(root, "plugins", "plugintest", "wasm", "calls.wasm"))
	if err == nil {
		err = os.WriteFile(filepath.Join(plugins, "calls.wasm"), calls, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := builder.StartWith(t, nodetest.Options{Args: []string{"--set", "plugins.dir=" + plugins}})
	sum := sha256.Sum256([]byte(nodetest.Key))
	return conformance.Config{
		BaseURL: n.URL, APIKey: nodetest.Key, ClientID: "key_" + hex.EncodeToString(sum[:16]), ClientSecret: nodetest.Key,
		AskingPersonaID: "persona_calls", AskingInput: `{"program":[{"call":"input.request","request":{"prompt":"When is high water?"}}]}`,
	}
}

// mutant is a fault that a proxy puts between a right server and the suite.
type mutant struct {
	name    string
	catches string // the check that has to notice
	request func(*http.Request)
	answer  func(*http.Response, map[string]any) // changes the answer's JSON object in place
	body    func(*http.Response, []byte) []byte
	frames  func(string) []string // what becomes of a stream's frame
}

func mutants() []mutant {
	drop := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Del(name) }
	}
	dropQuery := func(name string) func(*http.Request) {
		return func(r *http.Request) {
			q := r.URL.Query()
			q.Del(name)
			r.URL.RawQuery = q.Encode()
		}
	}
	members := func(change func(doc map[string]any)) func(*http.Response, map[string]any) {
		return func(_ *http.Response, doc map[string]any) {
			data, isList := doc["data"].([]any)
			if !isList {
				change(doc)
			}
			for _, member := range data {
				change(member.(map[string]any))
			}
		}
	}
	return slices.Concat(coreMutants(drop, dropQuery, members), receiptMutants(drop, members), replayMutants(drop, members), extendedMutants(members))
}

func extendedMutants(members changing) []mutant {
	set := func(kind, name string, value any) func(*http.Response, map[string]any) {
		return members(of(kind, func(doc map[string]any) { doc[name] = value }))
	}
	return []mutant{
		{name: "lets anybody in", catches: "oauth.tampered", request: func(r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
				r.Header.Set("Authorization", "Bearer "+nodetest.Key)
			}
		}},
		{name: "tokens for every secret", catches: "oauth.wrong-secret", request: func(r *http.Request) {
			if r.URL.Path == "/oauth/token" {
				sum := sha256.Sum256([]byte(nodetest.Key))
				r.SetBasicAuth("key_"+hex.EncodeToString(sum[:16]), nodetest.Key)
			}
		}},
		{name: "a Persona that never changes", catches: "persona.crud", answer: set("persona", "description", "Made by a check.")},
		{name: "a Task that forgets its Persona", catches: "persona.on-task", answer: set("task", "persona_id", "persona_other")},
		{name: "receipts whatever the policy says", catches: "persona.receipt-policy", answer: func(r *http.Response, doc map[string]any) {
			if strings.HasSuffix(r.Request.URL.Path, "/receipts") {
				doc["data"] = []any{map[string]any{"id": "rcpt_x", "object": "receipt"}}
			}
		}},
		{name: "a Workspace that keeps its name", catches: "workspace.crud", answer: set("workspace", "name", "conformance")},
		{name: "a Branch without its parent", catches: "branch.crud", answer: set("branch", "parent_branch_id", nil)},
		{name: "a Memory that never forgets", catches: "memory.forgotten", answer: set("memory", "content", "to be forgotten")},
		{name: "a Vault that tells", catches: "vault.crud", answer: set("vault", "value", "hunter2")},
		{name: "a delivery that counts twice", catches: "connector.dedupe", answer: members(of("connector", func(doc map[string]any) {
			child(doc, "counters")["received"] = 2
		}))},
		{name: "a Skill without schemas", catches: "skill.list", answer: members(of("skill", func(doc map[string]any) { delete(doc, "input_schema") }))},
		{name: "capabilities without a name", catches: "discovery.tools", answer: members(of("capability", func(doc map[string]any) { delete(doc, "name") }))},
		{name: "somebody else's request", catches: "permission.answered", answer: set("permission_request", "task_id", "task_other")},
		{name: "a card without a key", catches: "card.signed", answer: members(of("harn_agent_card", func(doc map[string]any) { delete(child(doc, "signature"), "key_id") }))},
		{name: "WebSockets for everybody", catches: "socket.unauthenticated", request: func(r *http.Request) {
			if r.Header.Get("Authorization") == "" && r.Header.Get("Upgrade") != "" {
				r.Header.Set("Authorization", "Bearer "+nodetest.Key)
			}
		}},
		{name: "streams that always begin anew", catches: "socket.resume", request: dropQueryOf("after_event_id")},
	}
}

// dropQueryOf takes a parameter out of the queries of WebSockets.
func dropQueryOf(name string) func(*http.Request) {
	return func(r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			return
		}
		q := r.URL.Query()
		q.Del(name)
		r.URL.RawQuery = q.Encode()
	}
}

type (
	dropping func(name string) func(*http.Request)
	changing func(change func(doc map[string]any)) func(*http.Response, map[string]any)
)

// child returns an object within an object; one that is not there is nobody's.
func child(doc map[string]any, path ...string) map[string]any {
	for _, name := range path {
		inner, ok := doc[name].(map[string]any)
		if !ok {
			return map[string]any{}
		}
		doc = inner
	}
	return doc
}

// of changes the resources of one kind.
func of(kind string, change func(doc map[string]any)) func(map[string]any) {
	return func(doc map[string]any) {
		if doc["object"] == kind {
			change(doc)
		}
	}
}

func receiptMutants(drop dropping, members changing) []mutant {
	return []mutant{
		{name: "a Task without its receipt", catches: "receipts.listed", answer: members(of("task", func(doc map[string]any) { delete(doc, "receipt_id") }))},
		{name: "an Outcome without it", catches: "receipts.outcome", answer: members(of("outcome", func(doc map[string]any) { delete(doc, "receipt_id") }))},
		{name: "events without it", catches: "receipts.references", answer: members(of("event", func(doc map[string]any) { delete(doc, "receipt_id") }))},
		{name: "an Artifact without it", catches: "receipts.references", answer: members(of("artifact", func(doc map[string]any) { delete(doc, "receipt_id") }))},
		{name: "a receipt of another Task", catches: "receipts.wire", answer: members(of("receipt", func(doc map[string]any) {
			child(doc, "wire", "identifiers")["task_id"] = "task_other"
		}))},
		{name: "a receipt with more than it may have", catches: "receipts.wire", answer: members(of("receipt", func(doc map[string]any) {
			child(doc, "wire")["trace"] = "all of it"
		}))},
		{name: "a receipt that was changed", catches: "receipts.hash", answer: members(of("receipt", func(doc map[string]any) {
			child(doc, "wire", "cost")["total"] = 0.01
		}))},
		{name: "a receipt by itself", catches: "receipts.chain", answer: members(of("receipt", func(doc map[string]any) {
			child(doc, "wire", "chain")["previous_receipt_hash"] = nil
		}))},
		{name: "an untidy receipt", catches: "receipts.canonical", body: func(r *http.Response, body []byte) []byte {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "application/vnd.harn.receipt+json") {
				return append([]byte(" "), body...)
			}
			return body
		}},
		{name: "one form for all", catches: "receipts.cbor", request: drop("Accept")},
		{name: "any form will do", catches: "receipts.not-acceptable", request: drop("Accept")},
		{name: "finds nothing valid", catches: "receipts.verify", answer: func(_ *http.Response, doc map[string]any) {
			if _, ok := doc["valid"]; ok {
				doc["valid"] = false
			}
		}},
		{name: "finds everything valid", catches: "receipts.verify-anchor", answer: func(_ *http.Response, doc map[string]any) {
			if _, ok := doc["valid"]; ok {
				doc["valid"] = true
			}
		}},
	}
}

func replayMutants(drop dropping, members changing) []mutant {
	body := func(change func(doc map[string]any)) func(*http.Request) {
		return func(r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/replay") || r.Body == nil {
				return
			}
			text, _ := io.ReadAll(r.Body)
			var doc map[string]any
			if json.Unmarshal(text, &doc) == nil && doc != nil {
				change(doc)
				text, _ = json.Marshal(doc)
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		}
	}
	marked := func(change func(e map[string]any)) func(*http.Response, map[string]any) {
		return members(of("event", func(e map[string]any) {
			if e["replay"] != nil {
				change(e)
			}
		}))
	}
	return []mutant{
		{name: "a replay without a parent", catches: "replay.exact", answer: members(of("task", func(doc map[string]any) { delete(doc, "parent_task_id") }))},
		{name: "a replay that fails", catches: "replay.outcome", answer: members(of("task", func(doc map[string]any) {
			if doc["parent_task_id"] != nil && doc["status"] == "COMPLETED" {
				doc["status"] = "FAILED"
			}
		}))},
		{name: "replayed events without marks", catches: "replay.marks", answer: marked(func(e map[string]any) { e["replayed"] = false })},
		{name: "marks without a source", catches: "replay.marks", answer: marked(func(e map[string]any) { delete(child(e, "replay"), "source_task_id") })},
		{name: "events out of thin air", catches: "replay.marks", answer: marked(func(e map[string]any) { child(e, "replay")["original_event_id"] = "0" })},
		{name: "replays backwards", catches: "replay.order", answer: func(_ *http.Response, doc map[string]any) {
			var marks []map[string]any
			list, _ := doc["data"].([]any)
			for _, e := range list {
				if m := child(e.(map[string]any), "replay"); m["original_event_id"] != nil {
					marks = append(marks, m)
				}
			}
			for i, j := 0, len(marks)-1; i < j; i, j = i+1, j-1 {
				marks[i]["original_event_id"], marks[j]["original_event_id"] = marks[j]["original_event_id"], marks[i]["original_event_id"]
			}
		}},
		{name: "receipts with the time of day", catches: "replay.identical", body: func(r *http.Response, body []byte) []byte {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "application/vnd.harn.receipt+json") {
				return bytes.Replace(body, []byte(`"schema":"`), []byte(`"schema":"`+rand.Text()), 1)
			}
			return body
		}},
		{name: "one mode for all", catches: "replay.unknown-mode", request: body(func(doc map[string]any) { delete(doc, "mode") })},
		{name: "checkpoints anywhere", catches: "replay.no-checkpoint", request: body(func(doc map[string]any) { delete(doc, "mode") })},
		{name: "overrides nothing", catches: "replay.unknown-key", request: body(func(doc map[string]any) { clear(doc) })},
		{name: "believes any hash", catches: "replay.wrong-hash", request: body(func(doc map[string]any) {
			for key := range child(doc, "override") {
				delete(child(doc, "override", key), "sha256")
			}
		})},
		{name: "forgets keys: replays", catches: "replay.idempotent", request: drop("Idempotency-Key")},
	}
}

func coreMutants(drop dropping, dropQuery dropping, members changing) []mutant {
	return []mutant{
		{name: "needs no version", catches: "version.absent", request: func(r *http.Request) {
			r.Header.Set("Harn-Agents-Protocol-Version", nodetest.Version)
		}},
		{name: "needs no key", catches: "auth.absent", request: func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+nodetest.Key)
		}},
		{name: "forgets keys: Tasks", catches: "idempotency.task", request: drop("Idempotency-Key")},
		{name: "forgets keys: races", catches: "idempotency.concurrent", request: drop("Idempotency-Key")},
		{name: "forgets keys: Messages", catches: "idempotency.message", request: drop("Idempotency-Key")},
		{name: "forgets keys: other bodies", catches: "idempotency.reused", request: drop("Idempotency-Key")},
		{name: "starts streams over", catches: "sse.resume", request: drop("Last-Event-ID")},
		{name: "streams from anywhere", catches: "sse.bad-cursor", request: drop("Last-Event-ID")},
		{name: "doubles frames", catches: "sse.history", frames: func(f string) []string { return []string{f, f} }},
		{name: "loses frames", catches: "sse.live", frames: func(f string) []string {
			if strings.Contains(f, "event: task.started") {
				return nil
			}
			return []string{f}
		}},
		{name: "frames without ids", catches: "sse.frames", frames: func(f string) []string {
			return []string{regexp.MustCompile(`(?m)^id:.*\n`).ReplaceAllString(f, "")}
		}},
		{name: "ranges start over", catches: "events.range", request: dropQuery("after_event_id")},
		{name: "pages start over", catches: "list.pages", request: dropQuery("cursor")},
		{name: "hides a transition", catches: "task.events", answer: func(_ *http.Response, doc map[string]any) {
			data, _ := doc["data"].([]any)
			for i, e := range data {
				if e.(map[string]any)["event"] == "task.started" {
					doc["data"] = append(data[:i:i], data[i+1:]...)
					return
				}
			}
		}},
		{name: "sequence stands still", catches: "events.sequence", answer: members(func(doc map[string]any) {
			if doc["sequence"] != nil {
				doc["sequence"] = 1
			}
		})},
		{name: "local times", catches: "resources.envelope", answer: members(func(doc map[string]any) {
			if doc["object"] == "session" {
				doc["created_at"] = "2026-04-25T19:00:00+02:00"
			}
		})},
		{name: "loses metadata", catches: "session.metadata", answer: members(func(doc map[string]any) {
			if doc["object"] == "session" {
				doc["metadata"] = map[string]any{}
			}
		})},
		{name: "swaps Messages", catches: "message.order", answer: func(r *http.Response, doc map[string]any) {
			data, _ := doc["data"].([]any)
			if strings.HasSuffix(r.Request.URL.Path, "/messages") && len(data) > 1 {
				data[0], data[1] = data[1], data[0]
			}
		}},
		{name: "errors without a type", catches: "errors.envelope", answer: func(_ *http.Response, doc map[string]any) {
			if e, ok := doc["error"].(map[string]any); ok {
				delete(e, "type")
			}
		}},
		{name: "errors with another code", catches: "errors.not-found", answer: func(_ *http.Response, doc map[string]any) {
			if e, ok := doc["error"].(map[string]any); ok {
				e["code"] = "internal_error"
			}
		}},
		{name: "shows the key", catches: "auth.key-never-shown", answer: func(_ *http.Response, doc map[string]any) {
			doc["you_sent"] = nodetest.Key
		}},
		{name: "an Outcome without its Workspace", catches: "outcome.workspace", answer: members(of("outcome", func(doc map[string]any) { delete(doc, "workspace_id") }))},
		{name: "Messages without their Workspace", catches: "outcome.workspace", answer: members(of("message", func(doc map[string]any) { delete(doc, "workspace_id") }))},
		{name: "a retried cancel without the input", catches: "idempotency.cancel", answer: func(r *http.Response, doc map[string]any) {
			if r.Header.Get("Idempotent-Replayed") != "" {
				delete(doc, "input")
			}
		}},
		{name: "an Outcome of another Task", catches: "outcome.get", answer: members(func(doc map[string]any) {
			if doc["object"] == "outcome" {
				doc["task_id"] = "task_other"
			}
		})},
		{name: "cuts content", catches: "artifact.read", body: func(r *http.Response, body []byte) []byte {
			if strings.HasSuffix(r.Request.URL.Path, "/content") {
				return body[:len(body)/2]
			}
			return body
		}},
	}
}

// TestChecksNotice puts one fault at a time between the real binary and the
// suite, and wants the check that is about it to fail.
func TestChecksNotice(t *testing.T) {
	to := wharf(t)
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			proxy := httptest.NewServer(m.proxy(t, to.BaseURL))
			defer proxy.Close()
			config := to
			config.BaseURL, config.Only = proxy.URL, []string{"errors.not-found", "session.create", m.catches}
			report, err := conformance.Run(t.Context(), config, conformance.LevelAll)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range report.Results {
				if r.ID == m.catches && r.Status != conformance.Fail {
					t.Errorf("%s: %s %s", r.ID, r.Status, r.Seen)
				}
			}
		})
	}
}

func (m mutant) proxy(t *testing.T, to string) http.Handler {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if m.request != nil {
				m.request(r.Out)
			}
		},
		ModifyResponse: m.modify,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
}

func (m mutant) modify(r *http.Response) error {
	if r.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		if m.frames != nil {
			r.Body = m.stream(r.Body)
		}
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	var doc map[string]any
	if m.answer != nil && json.Unmarshal(body, &doc) == nil && doc != nil {
		m.answer(r, doc)
		if body, err = json.Marshal(doc); err != nil {
			return err
		}
	}
	if m.body != nil {
		body = m.body(r, body)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Length", fmt.Sprint(len(body)))
	return nil
}

// stream changes a stream frame by frame.
func (m mutant) stream(from io.ReadCloser) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		defer from.Close()
		var pending []byte
		part := make([]byte, 32<<10)
		for {
			n, err := from.Read(part)
			pending = append(pending, part[:n]...)
			for {
				frame, rest, whole := bytes.Cut(pending, []byte("\n\n"))
				if !whole {
					break
				}
				for _, f := range m.frames(string(frame)) {
					if _, err := in.Write([]byte(f + "\n\n")); err != nil {
						return
					}
				}
				pending = bytes.Clone(rest)
			}
			if err != nil {
				in.CloseWithError(err)
				return
			}
		}
	}()
	return out
}

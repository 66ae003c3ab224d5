package wharftest_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// run runs a handler that has no result, and fails the test with its error.
func run(t *testing.T, h *wharftest.Host, handler func() error) {
	t.Helper()
	outcome := h.Text(func(*wharf.Task) (wharf.Result, error) { return wharf.Result{}, handler() }, "hello")
	if outcome.Failure != nil {
		t.Fatal(outcome.Failure)
	}
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestBeyondTheNode holds that what a plugin asks of models, tools, web and people
// reaches the test's functions whole, and their answers the plugin.
func TestBeyondTheNode(t *testing.T) {
	var asked []any
	h := &wharftest.Host{
		Tools: []wharf.Tool{{Server: "files", Name: "read", ReadOnly: true}, {Server: "mail", Name: "send"}},
		Complete: func(r wharf.ModelRequest) (wharf.ModelAnswer, error) {
			asked = append(asked, r)
			return wharf.ModelAnswer{Text: "four", StopReason: wharf.StopEnd, Usage: wharf.ModelUsage{OutputTokens: 1}}, nil
		},
		CallTool: func(r wharf.ToolRequest) (wharf.ToolAnswer, error) {
			asked = append(asked, r)
			return wharf.ToolAnswer{Content: []wharf.ToolContent{{Type: "text", Text: "a"}, {Type: "image"}, {Type: "text", Text: "b"}}}, nil
		},
		Fetch: func(r wharf.FetchRequest) (wharf.FetchAnswer, error) {
			asked = append(asked, r)
			return wharf.FetchAnswer{Status: 200, Body: []byte{0xff}}, nil
		},
		Input: func(r wharf.InputRequest) (wharf.InputAnswer, error) {
			asked = append(asked, r)
			return wharf.InputAnswer{Message: wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart("blue")}}, Actor: "ada"}, nil
		},
		Approve: func(r wharf.ApprovalRequest) (wharf.Approval, error) {
			asked = append(asked, r)
			return wharf.Approval{Decision: wharf.DecisionDenied, Actor: "ada"}, nil
		},
		Ask: func(q wharf.Questions) ([]wharf.QuestionAnswer, error) {
			asked = append(asked, q)
			return []wharf.QuestionAnswer{{Key: "a", Status: wharf.QuestionTimeout},
				{Key: "b", Status: wharf.QuestionApproved, Approval: &wharf.Approval{Decision: wharf.DecisionApproved}}}, nil
		},
	}
	h.ListResources = func(r wharf.ResourceListRequest) (wharf.ResourceList, error) {
		return map[string]wharf.ResourceList{"resource": {Resources: []wharf.Resource{{URI: "file:///a"}}}, "template": {Templates: []wharf.ResourceTemplate{{URITemplate: "file:///{p}"}}},
			"prompt": {Prompts: []wharf.Prompt{{Name: "greet", Arguments: []wharf.PromptArgument{{Name: "who", Required: true}}}}}}[r.Kind], nil
	}
	h.ReadResource = func(r wharf.ResourceRequest) ([]wharf.ResourceContent, error) {
		asked = append(asked, r)
		return []wharf.ResourceContent{{URI: r.URI, Text: "a"}, {URI: r.URI, Data: []byte{0xff}}}, nil
	}
	h.GetPrompt = func(r wharf.PromptRequest) (wharf.PromptAnswer, error) {
		asked = append(asked, r)
		return wharf.PromptAnswer{Messages: []wharf.PromptMessage{{Role: "user", Content: wharf.ToolContent{Type: "text", Text: "hello " + r.Arguments["who"]}}}}, nil
	}
	resource := wharf.ResourceRequest{CallID: "r", Server: "files", URI: "file:///a"}
	prompt := wharf.PromptRequest{Server: "files", Name: "greet", Arguments: map[string]string{"who": "ada"}}
	model := wharf.ModelRequest{System: "s", Messages: []wharf.ModelMessage{{Role: "user", Text: "2+2?"}}, Stream: true}
	tool := wharf.ToolRequest{Server: "files", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)}
	fetch := wharf.FetchRequest{Method: "POST", URL: "https://example.com", Body: []byte{1, 2}}
	input := wharf.InputRequest{Prompt: "Which color?"}
	several := wharf.Questions{Requests: []wharf.Question{{Key: "a", Prompt: "?"}, {Key: "b", Kind: wharf.KindApproval, Action: "pay"}}}
	approval := wharf.ApprovalRequest{Action: "mail.send", Prompt: "Send?"}
	run(t, h, func() error {
		tools, err := wharf.ListTools("files")
		same(t, tools, h.Tools[:1])
		answer, err2 := wharf.Complete(model)
		same(t, answer.Text, "four")
		read, err3 := wharf.CallTool(tool)
		same(t, read.Text(), "a\nb")
		resources, err8 := wharf.ListResources("files")
		templates, err9 := wharf.ListResourceTemplates("files")
		prompts, err10 := wharf.ListPrompts("files")
		same(t, len(resources) == 1 && resources[0].URI == "file:///a" && len(templates) == 1 && len(prompts) == 1 && prompts[0].Arguments[0].Required, true)
		contents, err11 := wharf.ReadResource(resource)
		same(t, contents, []wharf.ResourceContent{{URI: "file:///a", Text: "a"}, {URI: "file:///a", Data: []byte{0xff}}})
		filled, err12 := wharf.GetPrompt(prompt)
		same(t, filled.Messages[0].Content.Text, "hello ada")
		page, err4 := wharf.Fetch(fetch)
		same(t, page.Bytes(), []byte{0xff})
		said, err5 := wharf.RequestInput(input)
		same(t, said.Message.Text()+said.Actor, "blueada")
		decided, err6 := wharf.RequestApproval(approval)
		same(t, decided.Decision, wharf.DecisionDenied)
		answers, err7 := wharf.Ask(several)
		same(t, len(answers) == 2 && answers[1].Key == "b" && answers[1].Approval.Decision == wharf.DecisionApproved, true)
		return errors.Join(err, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11, err12)
	})
	same(t, asked, []any{model, tool, resource, prompt, fetch, input, approval, several})
}

// TestSession holds that what a plugin keeps is there for itself and for the test.
func TestSession(t *testing.T) {
	h := &wharftest.Host{
		Now:        time.Unix(5, 0).UTC(),
		Transcript: []wharf.Message{{ID: "m1", Role: "user", Parts: []wharf.Part{wharf.TextPart("one")}}, {ID: "m2", Role: "assistant", Parts: []wharf.Part{wharf.TextPart("two")}}},
		Config:     map[string]any{"limit": 3},
		Facts:      map[string]string{"os": "linux"},
		Secrets:    []string{"token"},
	}
	run(t, h, func() error {
		var n int
		found, err := wharf.State("count").Get(&n)
		same(t, found, false)
		err = errors.Join(err, wharf.State("count").Set(4))
		found, err2 := wharf.State("count").Get(&n)
		same(t, found && n == 4, true)
		err = errors.Join(err, err2, wharf.State("gone").Set("x"), wharf.State("gone").Delete())

		found, err2 = wharf.Config("limit", &n)
		same(t, found && n == 3, true)
		fact, err3 := wharf.Fact("os")
		same(t, fact, "linux")
		handle, err4 := wharf.UseSecret("token")
		same(t, handle, "{{secret:token}}")
		last, earlier, err5 := wharf.Transcript(1)
		same(t, len(last) == 1 && last[0].Text() == "two" && earlier, true)
		_, err6 := wharf.Remember(wharf.NewMemory{Scope: wharf.ScopeSession, Content: "likes Blue"})
		memories, err7 := wharf.QueryMemory(wharf.MemoryQuery{Scope: wharf.ScopeSession, Text: "BLUE likes"})
		same(t, len(memories) == 1 && memories[0].Text() == "likes Blue", true)
		now, err8 := wharf.NowAs("begin")
		same(t, now, h.Now)
		one, err9 := wharf.NewID()
		two, _ := wharf.NewID()
		same(t, one < two, true)
		return errors.Join(err, err2, err3, err4, err5, err6, err7, err8, err9,
			wharf.Emit("vendor.test.done", map[string]int{"n": 1}), wharf.Delta("a"), wharf.Delta("b"),
			wharf.SetPlan(wharf.PlanStep{Title: "think", Status: "pending"}), wharf.Sleep(90*time.Second))
	})
	same(t, h.State, map[string]any{"count": 4.0})
	same(t, h.Deltas, []string{"a", "b"})
	same(t, h.Plans, [][]wharf.PlanStep{{{Title: "think", Status: "pending"}}})
	same(t, h.Slept, 90*time.Second)
	same(t, string(h.Events[0].Payload), `{"n":1}`)
}

func TestChildren(t *testing.T) {
	h := &wharftest.Host{Child: func(r wharf.SpawnRequest) (wharf.ChildOutcome, error) {
		if r.PersonaID == "persona_broken" {
			return wharf.ChildOutcome{Status: "FAILED", Failure: &wharf.Failure{Code: "broken", Message: "no"}}, nil
		}
		return wharf.ChildOutcome{Status: "SUCCEEDED", Summary: "did " + string(mustJSON(r.Input))}, nil
	}}
	run(t, h, func() error {
		one, err := wharf.Spawn(wharf.SpawnRequest{Input: map[string]int{"n": 1}})
		two, err2 := wharf.Handoff(wharf.HandoffRequest{PersonaID: "persona_broken", Input: struct{}{}, Reason: "it can"})
		good, err3 := wharf.Await(one, time.Minute)
		bad, err4 := wharf.Await(two, 0)
		same(t, good.Summary, `did {"n":1}`)
		same(t, bad.Failure.Code, "broken")
		if _, err := wharf.Await("task_of_somebody", 0); !errors.Is(err, wharf.StatusNotFound) {
			t.Errorf("awaiting a stranger's task: %v", err)
		}
		return errors.Join(err, err2, err3, err4)
	})
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// TestRefusals holds that each status can be told apart, and that a plugin that does
// not look fails with the host's words.
func TestRefusals(t *testing.T) {
	for _, status := range []wharf.Status{wharf.StatusInvalid, wharf.StatusDenied, wharf.StatusNotFound, wharf.StatusTooLarge,
		wharf.StatusUnavailable, wharf.StatusIndeterminate, wharf.StatusTimeout} {
		h := &wharftest.Host{Complete: func(wharf.ModelRequest) (wharf.ModelAnswer, error) {
			return wharf.ModelAnswer{}, &wharf.Error{Status: status, Code: "why", Message: "because"}
		}}
		outcome := h.Text(func(*wharf.Task) (wharf.Result, error) {
			_, err := wharf.Complete(wharf.ModelRequest{})
			if !errors.Is(err, status) || errors.Is(err, wharf.Status(99)) {
				t.Errorf("the status %d gives %v", status, err)
			}
			return wharf.Result{}, err
		}, "")
		same(t, outcome.Failure, &wharf.Failure{Code: wharf.CodeError, Message: "llm.complete: because (why)"})
		if status.Error() == "" {
			t.Errorf("the status %d has no words", status)
		}
	}
	var h wharftest.Host
	h.Text(func(*wharf.Task) (wharf.Result, error) {
		if _, err := wharf.UseSecret("token"); !errors.Is(err, wharf.StatusDenied) {
			t.Errorf("a secret that is not allowed: %v", err)
		}
		if _, err := wharf.Complete(wharf.ModelRequest{}); !errors.Is(err, wharf.StatusUnavailable) {
			t.Errorf("a model that is not there: %v", err)
		}
		return wharf.Result{}, nil
	}, "")
	if want := []string{"input", "secret.use", "llm.complete", "output"}; !slices.Equal(h.Calls, want) {
		t.Errorf("the calls were %v, want %v", h.Calls, want)
	}
}

// TestFiles holds that a plugin finds the files that it is given, and leaves what it writes.
func TestFiles(t *testing.T) {
	h := &wharftest.Host{Files: map[string][]byte{"a/in": []byte("one\ntwo"), "a/b/c": {0xff}, "old": nil, "d/e": nil, "d/f/g": nil}}
	h.Text(func(*wharf.Task) (wharf.Result, error) {
		content, err := wharf.ReadFile("a/in")
		same(t, string(content), "one\ntwo")
		same(t, err, nil)
		if content, err = wharf.ReadFile("a/b/c"); string(content) != "\xff" || err != nil {
			t.Errorf("%q, %v", content, err)
		}
		_, missing := wharf.ReadFile("none")
		written, err := wharf.WriteFile("out", []byte("x"))
		_, taken := wharf.WriteFileAs(wharf.WriteFileRequest{Path: "out", Mode: wharf.FileCreate})
		_, appended := wharf.WriteFileAs(wharf.WriteFileRequest{Path: "out", Text: "y", Mode: wharf.FileAppend, SHA256: written.SHA256})
		page, listed := wharf.ListFiles(wharf.ListFilesRequest{Path: "a"})
		found, searched := wharf.SearchFiles(wharf.SearchFilesRequest{Glob: "i*", Text: "TWO", IgnoreCase: true})
		removed := wharf.RemoveFile("old", "")
		edited, changed := wharf.EditFile(wharf.EditFileRequest{Path: "out", Old: "y", New: "z!"})
		_, twice := wharf.EditFile(wharf.EditFileRequest{Path: "a/in", Old: "o", New: "0"})
		same(t, []int{int(edited.Size), edited.Replaced}, []int{3, 1})
		if !errors.Is(twice, wharf.StatusInvalid) || errors.Join(changed, wharf.RemoveFolder("d")) != nil {
			t.Error(changed, twice)
		}
		if !errors.Is(missing, wharf.StatusNotFound) || !errors.Is(taken, wharf.StatusInvalid) || errors.Join(err, appended, listed, searched, removed) != nil {
			t.Error(missing, taken, err, appended, listed, searched, removed)
		}
		same(t, []string{page.Entries[0].Path, page.Entries[1].Path}, []string{"a/b", "a/in"})
		same(t, found.Matches, []wharf.FileMatch{{Path: "a/in", Line: 2, Text: "two"}})
		return wharf.Result{}, nil
	}, "")
	if _, there := h.Files["old"]; there || string(h.Files["out"]) != "xz!" || len(h.Files) != 3 {
		t.Errorf("it left %q", h.Files)
	}
}

// TestClient holds that a plugin learns what its client can, and what the client says or does not.
func TestClient(t *testing.T) {
	h := &wharftest.Host{
		Facts: map[string]string{"client.protocol": "mcp/2025-11-25", "client.capabilities": "sampling,roots", "client.name": "editor"}, // an older host knows no version
		Ask: func(q wharf.Questions) ([]wharf.QuestionAnswer, error) {
			said := map[string]string{
				wharf.KindSampling: `{"role":"assistant","model":"m","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}`,
				wharf.KindRoots:    `{"roots":[{"uri":"file:///a","name":"a"}]}`,
			}[q.Requests[0].Kind]
			if q.CallID == "none" {
				return []wharf.QuestionAnswer{{Key: q.Requests[0].Key, Status: wharf.QuestionDenied, Code: wharf.CodeUnsupported, Reason: "no"}}, nil
			}
			return []wharf.QuestionAnswer{{Key: q.Requests[0].Key, Status: wharf.QuestionAnswered,
				Message: &wharf.Message{Role: "user", Parts: []wharf.Part{{Type: "json", Value: json.RawMessage(said)}}}}}, nil
		},
	}
	run(t, h, func() error {
		client, err := wharf.AskingClient()
		same(t, client, wharf.Client{Protocol: "mcp/2025-11-25", Name: "editor", Capabilities: []string{"sampling", "roots"}})
		same(t, client.Can(wharf.ClientHasRoots) && !client.Can(wharf.ClientElicitsForm), true)
		sampling := wharf.Sampling{Messages: []wharf.SamplingMessage{wharf.SaysText("user", "hi")}, MaxTokens: 5}
		said, err2 := wharf.Sample("s", sampling, time.Minute)
		same(t, said.Text()+said.Model, "a\n\nbm")
		roots, err3 := wharf.Roots("", 0)
		same(t, roots, []wharf.Root{{URI: "file:///a", Name: "a"}})
		_, err4 := wharf.Sample("none", sampling, 0)
		var none *wharf.NotAnswered
		same(t, errors.As(err4, &none) && none.Answer.Code == wharf.CodeUnsupported, true)
		var text string
		err5 := wharf.QuestionAnswer{Message: &wharf.Message{Parts: []wharf.Part{wharf.TextPart("plain words")}}}.Decode(&text)
		same(t, text, "plain words")
		return errors.Join(err, err2, err3, err5)
	})
	same(t, string(mustJSON(wharf.SaysText("user", `a "b"`))), `{"role":"user","content":{"type":"text","text":"a \"b\""}}`)
}

// A composition has the tool calls that are made until it ends, however it ends.
func TestCompositions(t *testing.T) {
	h := &wharftest.Host{CallTool: func(r wharf.ToolRequest) (wharf.ToolAnswer, error) {
		if r.Name == "far" {
			return wharf.ToolAnswer{}, &wharf.Error{Status: wharf.StatusDenied, Code: wharf.CodeCompositionCeiling}
		}
		return wharf.ToolAnswer{}, nil
	}}
	snippet := wharf.Snippet{Language: "js", SnippetHash: "a", ManifestHash: "b", Ceiling: wharf.WorkspaceWrite}
	run(t, h, func() error {
		_, err := wharf.Compose(snippet, func(c *wharf.Composition) (wharf.CompositionResult, error) {
			_, err := c.CallTool(wharf.ToolRequest{Server: "s", Name: "near"})
			_, again := wharf.Compose(snippet, nil)
			same(t, codeOf(again), wharf.CodeCompositionOpen)
			return wharf.CompositionResult{Stdout: "out"}, err
		})
		_, far := wharf.Compose(snippet, func(c *wharf.Composition) (wharf.CompositionResult, error) {
			_, err := c.CallTool(wharf.ToolRequest{Server: "s", Name: "far"})
			return wharf.CompositionResult{}, err
		})
		same(t, codeOf(far), wharf.CodeCompositionCeiling)
		_, wrong := wharf.CallTool(wharf.ToolRequest{Server: "s", Name: "near", CompositionID: h.Composed[0].ID})
		same(t, codeOf(wrong), wharf.CodeUnknownComposition)
		_, own := wharf.Compose(snippet, func(*wharf.Composition) (wharf.CompositionResult, error) {
			return wharf.CompositionResult{FailureCategory: wharf.SnippetTimeout}, errors.New("it took too long")
		})
		same(t, own != nil, true)
		return err
	})
	same(t, len(h.Composed), 3)
	same(t, len(h.Composed[0].Children), 1)
	same(t, h.Composed[0].Ceiling, wharf.WorkspaceWrite)
	same(t, *h.Composed[0].Ended, wharf.CompositionResult{Stdout: "out"})
	same(t, h.Composed[1].Ended.FailureCategory, wharf.CeilingExceeded)
	same(t, *h.Composed[2].Ended, wharf.CompositionResult{FailureCategory: wharf.SnippetTimeout, Message: "it took too long"})
}

func codeOf(err error) string {
	var refused *wharf.Error
	errors.As(err, &refused)
	if refused == nil {
		return ""
	}
	return refused.Code
}

package mcp_test

//lint:file-ignore SA1019 clients may use what is deprecated as long as the protocol has it

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

func names(tools []*sdk.Tool) (all []string) {
	for _, tool := range tools {
		all = append(all, tool.Name)
	}
	return all
}

func TestSkillsAreTools(t *testing.T) {
	const schema = `{"type":"object","properties":{"who":{"type":"string","x-of":"theirs"}},"required":["who"],"$defs":{"a":{"$anchor":"b"}}}`
	both(t, func(t *testing.T, revision string) {
		n := newNode(t, nil)
		n.skill(t, "echo", abi.CreateSkillRequest{Name: "greet", Description: "says hello", InputSchema: jsontext.Value(schema), OutputSchema: jsontext.Value(`{"type":"object"}`),
			Metadata: jsontext.Value(`{"mcp":{"title":"Greeter","annotations":{"readOnlyHint":true,"destructiveHint":false}}}`)})
		n.skill(t, "echo", abi.CreateSkillRequest{Name: "two words"})
		n.skill(t, "echo", abi.CreateSkillRequest{Name: "ask-me", Metadata: jsontext.Value(`{"mcp":{"as":"prompt"}}`)})
		second := n.skill(t, "echo", abi.CreateSkillRequest{Name: "greet"})
		list, err := n.connect(t, enginetest.RootKey, revision, nil).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := names(list.Tools), []string{"echo", "greet", "greet_" + second, "two_words"}; !slices.Equal(got, want) {
			t.Fatalf("tools %q, want %q", got, want)
		}
		tool := list.Tools[1]
		if tool.Title != "Greeter" || tool.Description != "says hello" || !tool.Annotations.ReadOnlyHint || *tool.Annotations.DestructiveHint {
			t.Errorf("tool %+v", tool)
		}
		if in := tool.InputSchema.(map[string]any); in["$defs"] == nil || in["properties"].(map[string]any)["who"].(map[string]any)["x-of"] != "theirs" {
			t.Errorf("input schema %v", in)
		}
		if list.Tools[3].Title != "two words" {
			t.Errorf("title %q", list.Tools[3].Title)
		}
	})
}

// speaks is a guest that makes host calls, and ends with a summary.
func speaks(calls ...string) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		for i := 0; i < len(calls); i += 2 {
			if err := enginetest.Call(ctx, h, calls[i], calls[i+1]); err != nil {
				return err
			}
		}
		return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"done"}`)
	}
}

func TestCallsAreTasks(t *testing.T) {
	guests := enginetest.Guests{
		"structured": speaks(abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"json","value":{"n":1}}]}`),
		"pictures": speaks(abi.CallArtifactPut, `{"kind":"image","mime_type":"image/png","name":"a.png"}`+"\nPNG", abi.CallArtifactPut,
			`{"kind":"file","mime_type":"text/plain","name":"a.txt"}`+"\nhello", abi.CallArtifactPut, `{"kind":"file","mime_type":"application/zip","name":"a.zip"}`+"\nhello"),
		"fails": func(ctx context.Context, h sandbox.Host) error {
			return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"","failure":{"code":"no_paper","message":"there is no paper"}}`)
		},
		"traps": func(context.Context, sandbox.Host) error {
			return &abi.Failure{Code: abi.FailurePluginTrap, Message: "it has trapped"}
		},
		"quiet": speaks(),
	}
	both(t, func(t *testing.T, revision string) {
		n := newNode(t, guests)
		for name := range guests {
			n.skill(t, name, abi.CreateSkillRequest{Name: name + "-it"})
		}
		n.skill(t, "echo", abi.CreateSkillRequest{Name: "picky", InputSchema: jsontext.Value(`{"type":"object","required":["who"]}`)})
		s := n.connect(t, enginetest.RootKey, revision, nil)
		call := func(name string) *sdk.CallToolResult {
			t.Helper()
			r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: map[string]any{}})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := call("structured-it")
		if text(t, r) != `{"n":1}` || r.StructuredContent.(map[string]any)["n"] != 1.0 || r.IsError {
			t.Errorf("structured: %+v", r)
		}
		if id, _ := r.Meta["wharf.dev/taskId"].(string); n.Wait(t, id).Status != abi.TaskCompleted {
			t.Errorf("the result names the task %q", id)
		}
		if r := call("quiet-it"); text(t, r) != "done" {
			t.Errorf("quiet: %+v", r)
		}
		if r := call("fails-it"); text(t, r) != "there is no paper" || !r.IsError || r.Meta["wharf.dev/code"] != "no_paper" {
			t.Errorf("fails: %+v", r)
		}
		if r := call("picky"); !r.IsError || !strings.Contains(text(t, r), "who") {
			t.Errorf("arguments that do not fit: %+v", r)
		}
		if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "traps-it"}); code(err) != -32603 {
			t.Errorf("a trap: %v", err)
		}
		if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "nobody"}); code(err) != -32602 {
			t.Errorf("an unknown tool: %v", err)
		}
		r = call("pictures-it")
		if len(r.Content) != 3 {
			t.Fatalf("content %+v", r.Content)
		}
		image, _ := r.Content[0].(*sdk.ImageContent)
		document, _ := r.Content[1].(*sdk.EmbeddedResource)
		link, _ := r.Content[2].(*sdk.ResourceLink)
		if image == nil || image.MIMEType != "image/png" || string(image.Data) != "PNG" {
			t.Errorf("image %+v", r.Content[0])
		}
		if document == nil || document.Resource.Text != "hello" || !strings.HasPrefix(document.Resource.URI, "wharf://artifacts/art_") {
			t.Errorf("text %+v", r.Content[1])
		}
		if link == nil || link.Name != "a.zip" || *link.Size != 5 {
			t.Errorf("archive %+v", r.Content[2])
		}
	})
}

func TestCallsTellOfTheirProgress(t *testing.T) {
	guests := enginetest.Guests{"works": speaks(abi.CallLog, `{"level":"debug","message":"begun"}`, abi.CallProgress, `{"fraction":0}`,
		abi.CallLog, `{"level":"warn","message":"slow"}`, abi.CallProgress, `{"fraction":0.5,"message":"half"}`,
		abi.CallProgress, `{"fraction":0.2}`, abi.CallProgress, `{"fraction":1}`)}
	both(t, func(t *testing.T, revision string) {
		n := newNode(t, guests)
		n.skill(t, "works", abi.CreateSkillRequest{Name: "work"})
		progress, lines := make(chan float64, 10), make(chan string, 10)
		s := n.connect(t, enginetest.RootKey, revision, &sdk.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
			LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) {
				lines <- string(r.Params.Level) + " " + r.Params.Data.(string)
			},
		})
		p := &sdk.CallToolParams{Name: "work", Meta: sdk.Meta{}}
		if _, err := s.CallTool(t.Context(), p); err != nil {
			t.Fatal(err) // this one has asked for nothing, and what it were told would come first
		}
		p.SetProgressToken("token")
		if revision == withSessions {
			if err := s.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: "info"}); err != nil {
				t.Fatal(err)
			}
		} else {
			p.Meta[sdk.MetaKeyLogLevel] = "info"
		}
		if _, err := s.CallTool(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for _, want := range []float64{0, 50, 100} {
			if got := receive(t, progress); got != want {
				t.Errorf("progress %v, want %v", got, want)
			}
		}
		if got := receive(t, lines); got != "warning slow" {
			t.Errorf("the line %q", got)
		}
	})
}

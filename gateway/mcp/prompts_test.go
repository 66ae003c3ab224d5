package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// says is a guest that says what its input is.
func says(ctx context.Context, h sandbox.Host) error {
	_, answer, err := h.Call(ctx, abi.CallInput, nil)
	var given abi.CallInputAnswer
	if err = errors.Join(err, json.Unmarshal(answer, &given)); err != nil {
		return err
	}
	input := string(given.Task.Input)
	parts := mustJSON(abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: &input, Visibility: abi.VisibilityPublic}}})
	if err := enginetest.Call(ctx, h, abi.CallMessageAppend, string(parts)); err != nil {
		return err
	}
	if err := enginetest.Call(ctx, h, abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"file_ref","uri":"test://other","mime_type":"text/plain","text":"embedded"}]}`); err != nil {
		return err
	}
	return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"a prompt"}`)
}

func fails(ctx context.Context, h sandbox.Host) error {
	return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"","failure":{"code":"broken","message":"it does not go"}}`)
}

var promptSchema = []byte(`{"type":"object","properties":{"language":{"type":"string","description":"which one","enum":["German","Greek","Finnish","greek-ish"]},"count":{"type":"integer","minimum":1},
	"loud":{"type":"boolean"},"deep":{"type":"object"},"text":{"type":"string","title":"Text"}},"required":["text","language"]}`)

func newPrompts(t testing.TB) *node {
	t.Helper()
	n := newNode(t, enginetest.Guests{"says": says, "fails": fails})
	n.skill(t, "says", abi.CreateSkillRequest{Name: "translate", InputSchema: promptSchema, Metadata: []byte(`{"mcp":{"as":"prompt","title":"Translate"}}`)})
	n.skill(t, "echo", abi.CreateSkillRequest{Name: "a-tool"})
	n.skill(t, "fails", abi.CreateSkillRequest{Name: "broken", Metadata: []byte(`{"mcp":{"as":"prompt"}}`)})
	n.skill(t, "says", abi.CreateSkillRequest{Name: "static", Metadata: []byte(`{"mcp":{"as":"resource","uri":"test://static","mime_type":"text/x-said"}}`)})
	n.skill(t, "says", abi.CreateSkillRequest{Name: "templated", Metadata: []byte(`{"mcp":{"as":"resource","uri_template":"test://data/{id}/of/{kind}"}}`),
		InputSchema: []byte(`{"type":"object","properties":{"id":{"type":"integer"},"kind":{"type":"string","enum":["cat","cow","dog"]}},"additionalProperties":false}`)})
	n.skill(t, "says", abi.CreateSkillRequest{Name: "pretender", Metadata: []byte(`{"mcp":{"as":"resource","uri":"wharf://artifacts/art_x"}}`)})
	return n
}

// refused checks that an error is one of the parameters.
func refused(t *testing.T, what string, err error) {
	t.Helper()
	if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != -32602 {
		t.Errorf("%s: %v, want error -32602", what, err)
	}
}

func TestPromptsAreSkills(t *testing.T) {
	n := newPrompts(t)
	both(t, func(t *testing.T, revision string) {
		s := n.connect(t, enginetest.RootKey, revision, nil)
		list, err := s.ListPrompts(t.Context(), nil)
		if err != nil || len(list.Prompts) != 2 {
			t.Fatalf("the prompts are %v (%v), want two", list, err)
		}
		p := list.Prompts[1]
		var arguments []string
		for _, a := range p.Arguments {
			arguments = append(arguments, fmt.Sprint(a.Name, " ", a.Required))
		}
		if p.Name != "translate" || p.Title != "Translate" || !slices.Equal(arguments, []string{"text true", "language true", "count false", "loud false"}) {
			t.Errorf("the prompt is %+v with %q", p, arguments)
		}
		got, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "translate", Arguments: map[string]string{"text": "12", "language": "Greek", "count": "2", "loud": "true"}})
		if err != nil || len(got.Messages) != 2 {
			t.Fatalf("the prompt says %+v (%v)", got, err)
		}
		said, ok := got.Messages[0].Content.(*sdk.TextContent)
		if !ok || got.Messages[0].Role != "user" || said.Text != `{"count":2,"language":"Greek","loud":true,"text":"12"}` {
			t.Errorf("the prompt says %+v", got.Messages[0].Content)
		}
		part, ok := got.Messages[1].Content.(*sdk.EmbeddedResource)
		if !ok || got.Messages[1].Role != "assistant" || part.Resource.Text != "embedded" || part.Resource.URI != "test://other" {
			t.Errorf("the prompt has %+v", got.Messages[1].Content)
		}
		for what, arguments := range map[string]map[string]string{
			"an argument is missing": {"text": "x"}, "a value that is none": {"text": "x", "language": "Latin"}, "a count that is none": {"text": "x", "language": "Greek", "count": "0"},
			"a number that is none": {"text": "x", "language": "Greek", "count": "many"},
		} {
			_, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "translate", Arguments: arguments})
			refused(t, what, err)
		}
		for _, name := range []string{"nothing", "a-tool", "static", "Translate"} {
			_, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name})
			refused(t, name, err)
		}
		_, err = s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "broken"})
		if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != -32603 || !strings.Contains(wire.Message, "it does not go") {
			t.Errorf("a prompt that fails: %v, want error -32603", err)
		}
	})
}

func TestPromptsOfOthers(t *testing.T) {
	n := newPrompts(t)
	get := &sdk.GetPromptParams{Name: "translate", Arguments: map[string]string{"text": "x", "language": "Greek"}}
	both(t, func(t *testing.T, revision string) {
		s := n.connect(t, n.stranger(t), revision, nil)
		if list, err := s.ListPrompts(t.Context(), nil); err != nil || len(list.Prompts) > 0 {
			t.Errorf("another tenant sees %v (%v)", list, err)
		}
		_, err := s.GetPrompt(t.Context(), get)
		refused(t, "another tenant", err)
		s = n.connect(t, n.key(t, []string{"tasks:write"}), revision, nil)
		if list, err := s.ListPrompts(t.Context(), nil); err == nil {
			t.Errorf("who may not see Skills sees %v", list)
		}
		if _, err := s.GetPrompt(t.Context(), get); err == nil {
			t.Error("who may not see Skills gets a prompt")
		}
		s = n.connect(t, n.key(t, []string{"skills:read"}), revision, nil)
		if _, err := s.GetPrompt(t.Context(), get); err == nil {
			t.Error("who may not submit Tasks gets a prompt")
		}
	})
}

// A Skill can be a resource, or many by a template. None takes the place of what the node has.
func TestResourcesThatAreSkills(t *testing.T) {
	n := newPrompts(t)
	both(t, func(t *testing.T, revision string) {
		s := n.connect(t, enginetest.RootKey, revision, nil)
		var listed []string
		for _, r := range all(t, s) {
			if !strings.HasPrefix(r.URI, "wharf://receipts/") {
				listed = append(listed, r.URI+" "+r.MIMEType)
			}
		}
		if !slices.Equal(listed, []string{"test://static text/x-said"}) {
			t.Errorf("the list has %q", listed)
		}
		templates, err := s.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(templates.ResourceTemplates) != 5 || templates.ResourceTemplates[4].URITemplate != "test://data/{id}/of/{kind}" {
			t.Errorf("the templates are %v (%v)", templates, err)
		}
		for uri, want := range map[string]string{"test://static": "{}", "test://data/7/of/c%20t": ``, "test://data/7/of/cat": `{"id":7,"kind":"cat"}`} {
			res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if want == "" {
				refused(t, uri, err)
				continue
			}
			if err != nil || len(res.Contents) != 2 || res.Contents[0].Text != want || res.Contents[0].URI != uri || res.Contents[1].URI != "test://other" {
				t.Errorf("%s is %+v (%v), want %s", uri, res, err, want)
			}
		}
		for _, uri := range []string{"test://other", "test://data/7", "TEST://static", "test://static/", "wharf://artifacts/art_x", "test://data/7/8/of/cat"} {
			_, err := read(t, s, uri)
			notThere(t, revision, uri, err)
		}
		_, err = read(t, n.connect(t, n.stranger(t), revision, nil), "test://static")
		notThere(t, revision, "test://static", err)
		_, err = read(t, n.connect(t, n.key(t, []string{"tasks:write", "artifacts:read"}), revision, nil), "test://static")
		notThere(t, revision, "test://static", err)
	})
}

func TestCompletion(t *testing.T) {
	n := newStored(t)
	n.node.skill(t, "echo", abi.CreateSkillRequest{Name: "translate", InputSchema: promptSchema, Metadata: []byte(`{"mcp":{"as":"prompt"}}`)})
	n.node.skill(t, "echo", abi.CreateSkillRequest{Name: "data", Metadata: []byte(`{"mcp":{"as":"resource","uri_template":"test://data/{kind}"}}`),
		InputSchema: []byte(`{"type":"object","properties":{"kind":{"type":"string","enum":["cat","cow","dog"]}}}`)})
	n.file(t, n.workspace, "docs/c.md", "x")
	n.file(t, n.workspace, "docs/deeper/d.md", "x")
	const artifacts, receipts, files, skills = "wharf://artifacts/{artifact_id}", "wharf://receipts/{receipt_id}", "wharf://workspaces/{workspace_id}/files/{+path}", "skill://{workspace_id}/{skill}/{+path}"
	here := map[string]string{"workspace_id": n.workspace, "skill": "pdf-forms"}
	cases := []struct {
		prompt, template, argument, written string
		known                               map[string]string
		want                                []string
	}{
		{"translate", "", "language", "g", nil, []string{"German", "Greek", "greek-ish"}},
		{"translate", "", "language", "GREE", nil, []string{"Greek", "greek-ish"}},
		{"translate", "", "language", "Latin", nil, nil},
		{"translate", "", "loud", "", nil, []string{"true", "false"}},
		{"translate", "", "text", "x", nil, nil},
		{"", artifacts, "artifact_id", "art_", nil, []string{n.artifact}},
		{"", receipts, "receipt_id", "", nil, []string{n.receipt}},
		{"", files, "path", "", here, []string{"docs/"}},
		{"", files, "path", "docs/", here, []string{"docs/a b.md", "docs/c.md", "docs/deeper/"}},
		{"", files, "path", "docs/c", here, []string{"docs/c.md"}},
		{"", files, "path", "../", here, nil},
		{"", files, "path", "nothing/", here, nil},
		{"", files, "path", "", nil, nil},
		{"", files, "path", "", map[string]string{"workspace_id": "ws_x"}, nil},
		{"", skills, "skill", "p", here, []string{"pdf-forms"}},
		{"", skills, "path", "re", here, []string{"references/FORMS.md"}},
		{"", skills, "path", "", map[string]string{"workspace_id": n.workspace, "skill": "other"}, nil},
		{"", "test://data/{kind}", "kind", "c", nil, []string{"cat", "cow"}},
	}
	ask := func(t *testing.T, s *sdk.ClientSession, prompt, template, argument, written string, known map[string]string) (*sdk.CompleteResult, error) {
		t.Helper()
		p := &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: prompt}, Argument: sdk.CompleteParamsArgument{Name: argument, Value: written}}
		if template != "" {
			p.Ref = &sdk.CompleteReference{Type: "ref/resource", URI: template}
		}
		if known != nil {
			p.Context = &sdk.CompleteContext{Arguments: known}
		}
		return s.Complete(t.Context(), p)
	}
	both(t, func(t *testing.T, revision string) {
		s, stranger := n.connect(t, enginetest.RootKey, revision, nil), n.connect(t, n.stranger(t), revision, nil)
		narrow := n.connect(t, n.key(t, []string{"tasks:read"}), revision, nil)
		for _, c := range cases {
			got, err := ask(t, s, c.prompt, c.template, c.argument, c.written, c.known)
			if err != nil {
				t.Errorf("%+v: %v", c, err)
				continue
			}
			if v := got.Completion; len(v.Values)+len(c.want) > 0 && !slices.Equal(v.Values, c.want) || v.Total != len(c.want) || v.HasMore {
				t.Errorf("%+v: got %+v", c, v)
			}
			if got, err := ask(t, stranger, c.prompt, c.template, c.argument, c.written, c.known); err == nil && len(got.Completion.Values) > 0 {
				t.Errorf("%+v: another tenant got %q", c, got.Completion.Values)
			}
			if got, err := ask(t, narrow, c.prompt, c.template, c.argument, c.written, c.known); err == nil {
				t.Errorf("%+v: who may look at none of this got %q", c, got.Completion.Values)
			}
		}
		for _, c := range [][3]string{{"nothing", "", "x"}, {"translate", "", "x"}, {"translate", "", "deep"}, {"", "test://nothing/{x}", "x"}, {"", artifacts, "x"}, {"", files, "artifact_id"}, {"", "test://data/{kind}", "x"}} {
			_, err := ask(t, s, c[0], c[1], c[2], "", nil)
			refused(t, fmt.Sprint(c), err)
		}
	})
	for i := range 120 {
		n.node.artifact(t, n.workspace, "text/plain", []byte{byte(i)}, abi.VisibilityPublic)
	}
	got, err := ask(t, n.connect(t, enginetest.RootKey, withSessions, nil), "", artifacts, "artifact_id", "", nil)
	if err != nil || len(got.Completion.Values) != 100 || got.Completion.Total != 121 || !got.Completion.HasMore {
		t.Errorf("of 121 the completion has %d, says %d, more %v (%v)", len(got.Completion.Values), got.Completion.Total, got.Completion.HasMore, err)
	}
}

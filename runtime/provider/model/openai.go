package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"github.com/wharf-dev/wharf/abi"
)

// openAI speaks chat completions: the API that every compatible server has.
type openAI struct {
	service openai.ChatCompletionService
	model   string
	own     bool // the server is OpenAI's
}

// newOpenAI takes the one service that is needed. The SDK's whole client would
// also read addresses, keys and headers from the environment.
func newOpenAI(m Model, client *http.Client) *openAI {
	options := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithHTTPClient(client), option.WithMaxRetries(0),
	}
	if m.BaseURL != "" {
		options = append(options, option.WithBaseURL(m.BaseURL))
	}
	return &openAI{service: openai.NewChatCompletionService(options...), model: m.Model, own: m.BaseURL == ""}
}

func (o *openAI) complete(ctx context.Context, a *ask) (*reply, error) {
	var options []option.RequestOption
	if a.key != "" {
		options = append(options, option.WithAPIKey(a.key))
	}
	if a.request.Stream {
		return o.stream(ctx, a, options)
	}
	answer, err := o.service.New(ctx, o.params(a), options...)
	if err != nil {
		return nil, err
	}
	if len(answer.Choices) == 0 {
		return nil, fmt.Errorf("%w: it has no choices", errNotWhole)
	}
	choice := answer.Choices[0]
	a.text.write(choice.Message.Content)
	a.text.write(choice.Message.Refusal)
	r := &reply{
		model: answer.Model,
		stop:  openAIStop(choice.FinishReason, choice.Message.Refusal != ""),
		usage: abi.ModelUsage{InputTokens: answer.Usage.PromptTokens, OutputTokens: answer.Usage.CompletionTokens},
	}
	for _, c := range choice.Message.ToolCalls {
		r.calls = append(r.calls, toolCall{c.ID, c.Function.Name, argumentText(c.Function.Arguments, c.Function.JSON.Arguments.Raw())})
	}
	return r, nil
}

// argumentText returns the arguments of a tool call. They are to be a string of
// JSON; some servers put the object itself there.
func argumentText(text, raw string) string {
	if text == "" && len(raw) > 0 && raw[0] == '{' {
		return raw
	}
	return text
}

func (o *openAI) stream(ctx context.Context, a *ask, options []option.RequestOption) (*reply, error) {
	params := o.params(a)
	params.StreamOptions.IncludeUsage = param.NewOpt(true)
	stream := o.service.NewStreaming(ctx, params, options...)
	defer func() { _ = stream.Close() }()
	var s openAIStream
	for stream.Next() {
		chunk := stream.Current()
		s.take(&chunk, a.text)
	}
	if err := stream.Err(); err != nil {
		return nil, openAIStreamError(err)
	}
	return s.reply()
}

func openAIStreamError(err error) error {
	var told *ssestream.StreamError
	if errors.As(err, &told) {
		return fmt.Errorf("%w: %s", errReported, said(told.Event.Data))
	}
	return err
}

// openAIStream puts an answer together from its chunks.
type openAIStream struct {
	model    string
	finish   string
	refused  bool
	calls    []toolCall
	position []int64 // of each call, as the server counts
	usage    abi.ModelUsage
}

func (s *openAIStream) take(chunk *openai.ChatCompletionChunk, t *text) {
	if chunk.Model != "" {
		s.model = chunk.Model
	}
	if chunk.JSON.Usage.Valid() {
		s.usage = abi.ModelUsage{InputTokens: chunk.Usage.PromptTokens, OutputTokens: chunk.Usage.CompletionTokens}
	}
	for i := range chunk.Choices {
		choice := &chunk.Choices[i]
		if choice.Index != 0 {
			continue // one is asked for
		}
		t.write(choice.Delta.Content)
		t.write(choice.Delta.Refusal)
		s.refused = s.refused || choice.Delta.Refusal != ""
		for j := range choice.Delta.ToolCalls {
			s.call(&choice.Delta.ToolCalls[j])
		}
		if choice.FinishReason != "" {
			s.finish = choice.FinishReason
		}
	}
}

// call takes a piece of a tool call. A piece with another id is another call,
// also when the server gives all of them the same position.
func (s *openAIStream) call(c *openai.ChatCompletionChunkChoiceDeltaToolCall) {
	at := -1
	for i := range s.calls {
		if s.position[i] == c.Index && (c.ID == "" || s.calls[i].id == "" || s.calls[i].id == c.ID) {
			at = i
		}
	}
	if at < 0 {
		at = len(s.calls)
		s.calls, s.position = append(s.calls, toolCall{}), append(s.position, c.Index)
	}
	into := &s.calls[at]
	if into.id == "" {
		into.id = c.ID
	}
	if into.name == "" {
		into.name = c.Function.Name
	}
	into.arguments += argumentText(c.Function.Arguments, c.Function.JSON.Arguments.Raw())
}

func (s *openAIStream) reply() (*reply, error) {
	if s.finish == "" {
		return nil, fmt.Errorf("%w: the stream ended early", errNotWhole)
	}
	return &reply{model: s.model, calls: s.calls, stop: openAIStop(s.finish, s.refused), usage: s.usage}, nil
}

func openAIStop(reason string, refused bool) abi.StopReason {
	switch {
	case refused || reason == "content_filter":
		return abi.StopRefusal
	case reason == "tool_calls" || reason == "function_call":
		return abi.StopTools
	case reason == "length":
		return abi.StopLength
	}
	return abi.StopEnd
}

func (o *openAI) params(a *ask) openai.ChatCompletionNewParams {
	r := a.wire
	p := openai.ChatCompletionNewParams{
		Model: o.model, Messages: openAIMessages(r), Tools: openAITools(r.Tools),
		Stop: openai.ChatCompletionNewParamsStopUnion{OfStringArray: r.Stop},
	}
	if r.Temperature != nil {
		p.Temperature = param.NewOpt(*r.Temperature)
	}
	if len(r.Tools) > 0 {
		p.ToolChoice = openAIToolChoice(r.ToolChoice)
	}
	if a.maxTokens == 0 {
		return p
	}
	// OpenAI's newer models refuse the old name of the limit, and other servers
	// do not know the new one.
	if o.own {
		p.MaxCompletionTokens = param.NewOpt(int64(a.maxTokens))
	} else {
		p.MaxTokens = param.NewOpt(int64(a.maxTokens))
	}
	return p
}

func openAIMessages(r *abi.ModelRequest) []openai.ChatCompletionMessageParamUnion {
	var all []openai.ChatCompletionMessageParamUnion
	if r.System != "" {
		all = append(all, openai.SystemMessage(r.System))
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		switch m.Role {
		case "user":
			all = append(all, openai.UserMessage(m.Text))
		case "tool":
			all = append(all, openai.ToolMessage(toolText(m), m.ToolCallID))
		default:
			all = append(all, openAIAssistant(m))
		}
	}
	return all
}

// toolText returns what a tool answered, with its failure said in words: chat
// completions have no mark for it.
func toolText(m *abi.ModelMessage) string {
	if m.IsError {
		return "The tool failed: " + m.Text
	}
	return m.Text
}

func openAIAssistant(m *abi.ModelMessage) openai.ChatCompletionMessageParamUnion {
	p := openai.ChatCompletionAssistantMessageParam{}
	if m.Text != "" || len(m.ToolCalls) == 0 {
		p.Content.OfString = param.NewOpt(m.Text)
	}
	for _, c := range m.ToolCalls {
		p.ToolCalls = append(p.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: c.ID,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name: c.Name, Arguments: string(c.Arguments),
				},
			},
		})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &p}
}

func openAITools(tools []abi.ModelTool) []openai.ChatCompletionToolUnionParam {
	var all []openai.ChatCompletionToolUnionParam
	for i := range tools {
		function := shared.FunctionDefinitionParam{Name: tools[i].Name}
		if tools[i].Description != "" {
			function.Description = param.NewOpt(tools[i].Description)
		}
		// As it was written: models mind the order of a schema's members.
		function.SetExtraFields(map[string]any{"parameters": schemaOf(&tools[i])})
		all = append(all, openai.ChatCompletionFunctionTool(function))
	}
	return all
}

func openAIToolChoice(choice string) openai.ChatCompletionToolChoiceOptionUnionParam {
	switch choice {
	case "":
		return openai.ChatCompletionToolChoiceOptionUnionParam{}
	case "any":
		choice = "required"
	case "auto", "none":
	default:
		return openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: choice})
	}
	return openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt(choice)}
}

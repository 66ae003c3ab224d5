package model

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"

	json "github.com/go-json-experiment/json"
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
	var response *http.Response
	options := []option.RequestOption{option.WithResponseBodyInto(&response)}
	if a.key != "" {
		options = append(options, option.WithAPIKey(a.key))
	}
	params := o.params(a)
	if a.request.Stream {
		params.StreamOptions.IncludeUsage = param.NewOpt(true)
		options = append(options, option.WithJSONSet("stream", true))
	}
	if _, err := o.service.New(ctx, params, options...); err != nil {
		return nil, err
	}
	if a.request.Stream {
		return readOpenAIStream(ctx, response, a.text)
	}
	return readOpenAI(response, a.text)
}

// The part of a chat completion, or of a chunk of one, that is used.
type (
	openAIAnswer struct {
		Model   word         `json:"model"`
		Choices choiceList   `json:"choices"`
		Usage   *openAIUsage `json:"usage"`
		Error   present      `json:"error"`
	}
	openAIUsage struct {
		Input  count `json:"prompt_tokens"`
		Output count `json:"completion_tokens"`
	}
	openAIChoice struct {
		Index        count      `json:"index"`
		Message      openAISaid `json:"message"`
		Delta        openAISaid `json:"delta"`
		FinishReason word       `json:"finish_reason"`
	}
	openAISaid struct {
		Content   word            `json:"content"`
		Refusal   word            `json:"refusal"`
		Thinking  word            `json:"reasoning_content"`
		Reasoning word            `json:"reasoning"` // as others call it; some send both
		ToolCalls few[openAICall] `json:"tool_calls"`
	}
	openAICall struct {
		Index    count `json:"index"`
		ID       word  `json:"id"`
		Function struct {
			Name      word    `json:"name"`
			Arguments written `json:"arguments"`
		} `json:"function"`
	}
)

func (u *openAIUsage) neutral() abi.ModelUsage {
	if u == nil {
		return abi.ModelUsage{}
	}
	return abi.ModelUsage{InputTokens: tokens(u.Input), OutputTokens: tokens(u.Output)}
}

func readOpenAI(response *http.Response, t *text) (*reply, error) {
	var answer openAIAnswer
	if err := readWhole(response, &answer); err != nil {
		return nil, err
	}
	if len(answer.Choices) == 0 {
		return nil, fmt.Errorf("%w: it has no choices", errNotWhole)
	}
	choice := &answer.Choices[0]
	said := &choice.Message
	t.write(string(said.Content))
	t.write(string(said.Refusal))
	r := &reply{
		model: string(answer.Model),
		stop:  openAIStop(string(choice.FinishReason), said.Refusal != ""),
		usage: answer.Usage.neutral(),
	}
	for i := range said.ToolCalls {
		c := &said.ToolCalls[i]
		r.calls = append(r.calls, toolCall{string(c.ID), string(c.Function.Name), string(c.Function.Arguments)})
	}
	return r, nil
}

func readOpenAIStream(ctx context.Context, response *http.Response, t *text) (*reply, error) {
	var s openAIStream
	events := ssestream.NewDecoder(response)
	err := eachEvent(ctx, events, func() (bool, error) { return s.event(events.Event().Data, t) })
	if err != nil {
		return nil, err
	}
	return s.reply()
}

// openAIStream puts an answer together from its chunks.
type openAIStream struct {
	chunk   openAIAnswer // the one that is being taken
	model   string
	finish  string
	refused bool
	calls   []streamedCall
	last    map[int64]int        // the newest call at a position, as the server counts
	known   map[openAICallID]int // calls by position and id
	usage   abi.ModelUsage
}

// streamedCall is a tool call whose arguments come in pieces.
type streamedCall struct {
	toolCall
	pieces []byte
}

type openAICallID struct {
	index int64
	id    string
}

// event takes an event's data, and reports whether it was the last.
func (s *openAIStream) event(data []byte, t *text) (last bool, err error) {
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		return true, nil
	}
	s.chunk = openAIAnswer{}
	if err := json.Unmarshal(data, &s.chunk, asServersWrite); err != nil {
		return false, err
	}
	if s.chunk.Error {
		return false, reported(data)
	}
	return false, s.take(&s.chunk, t)
}

func (s *openAIStream) take(chunk *openAIAnswer, t *text) error {
	if chunk.Model != "" {
		s.model = string(chunk.Model)
	}
	if chunk.Usage != nil {
		s.usage = chunk.Usage.neutral()
	}
	for i := range chunk.Choices {
		choice := &chunk.Choices[i]
		if choice.Index != 0 {
			continue // one is asked for
		}
		t.thoughts.write(string(cmp.Or(choice.Delta.Thinking, choice.Delta.Reasoning)))
		t.write(string(choice.Delta.Content))
		t.write(string(choice.Delta.Refusal))
		s.refused = s.refused || choice.Delta.Refusal != ""
		for j := range choice.Delta.ToolCalls {
			if err := s.call(&choice.Delta.ToolCalls[j]); err != nil {
				return err
			}
		}
		if choice.FinishReason != "" {
			s.finish = string(choice.FinishReason)
		}
	}
	return nil
}

// call takes a piece of a tool call.
func (s *openAIStream) call(c *openAICall) error {
	at, err := s.place(int64(c.Index), string(c.ID))
	if err != nil {
		return err
	}
	into := &s.calls[at]
	if into.name == "" {
		into.name = string(c.Function.Name)
	}
	into.pieces = append(into.pieces, c.Function.Arguments...)
	return nil
}

// place returns which call a piece belongs to. A piece with another id is another
// call, also when the server gives all of them the same position; one without an id
// belongs to the newest call at its position.
func (s *openAIStream) place(index int64, id string) (int, error) {
	newest, begun := s.last[index]
	switch {
	case begun && id == "":
		return newest, nil
	case begun && s.calls[newest].id == "":
		s.calls[newest].id = id
		s.known[openAICallID{index, id}] = newest
		return newest, nil
	}
	if at, ok := s.known[openAICallID{index, id}]; ok {
		return at, nil
	}
	if len(s.calls) == maxParts {
		return 0, errTooMany
	}
	if s.last == nil {
		s.last, s.known = map[int64]int{}, map[openAICallID]int{}
	}
	at := len(s.calls)
	s.calls = append(s.calls, streamedCall{toolCall: toolCall{id: id}})
	s.last[index], s.known[openAICallID{index, id}] = at, at
	return at, nil
}

// whole returns calls with the arguments that came for them.
func whole(streamed []streamedCall) (calls []toolCall) {
	for i := range streamed {
		c := streamed[i].toolCall
		c.arguments = string(streamed[i].pieces)
		calls = append(calls, c)
	}
	return calls
}

func (s *openAIStream) reply() (*reply, error) {
	if s.finish == "" {
		return nil, fmt.Errorf("%w: the stream ended early", errNotWhole)
	}
	return &reply{model: s.model, calls: whole(s.calls), stop: openAIStop(s.finish, s.refused), usage: s.usage}, nil
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

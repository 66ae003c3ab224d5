package model

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// anthropicTokens is the limit of a call for which neither the plugin nor the
// operator names one: the API wants it stated.
const anthropicTokens = 4096

// claude speaks Anthropic's messages.
type claude struct {
	service anthropic.MessageService
	model   string
}

// newAnthropic takes the one service that is needed. The SDK's whole client would
// also read addresses, keys and profiles from the environment and the home folder.
func newAnthropic(m Model, client *http.Client) *claude {
	options := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithHTTPClient(client), option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
		// Stated, because the SDK else guesses one and refuses long answers; the
		// attempt's own timeout ends it before.
		option.WithRequestTimeout(24 * time.Hour),
	}
	if m.BaseURL != "" {
		options = append(options, option.WithBaseURL(m.BaseURL))
	}
	return &claude{service: anthropic.NewMessageService(options...), model: m.Model}
}

func (c *claude) complete(ctx context.Context, a *ask) (*reply, error) {
	var response *http.Response
	options := []option.RequestOption{option.WithResponseBodyInto(&response)}
	if a.key != "" {
		options = append(options, option.WithAPIKey(a.key))
	}
	if a.request.Stream {
		options = append(options, option.WithJSONSet("stream", true))
	}
	if _, err := c.service.New(ctx, c.params(a), options...); err != nil {
		return nil, err
	}
	if a.request.Stream {
		return readClaudeStream(ctx, response, a.text)
	}
	return readClaude(response, a.text)
}

// The part of a message, or of an event of one, that is used.
type (
	claudeMessage struct {
		Model      word             `json:"model"`
		StopReason word             `json:"stop_reason"`
		Content    few[claudeBlock] `json:"content"`
		Usage      claudeUsage      `json:"usage"`
	}
	claudeBlock struct {
		Type  word    `json:"type"`
		ID    word    `json:"id"`
		Name  word    `json:"name"`
		Text  word    `json:"text"`
		Think word    `json:"thinking"`
		Input written `json:"input"`
	}
	// claudeUsage counts what was read from and written to the prompt cache apart.
	claudeUsage struct {
		Input   count `json:"input_tokens"`
		Created count `json:"cache_creation_input_tokens"`
		Read    count `json:"cache_read_input_tokens"`
		Output  count `json:"output_tokens"`
	}
	claudeEvent struct {
		Type         word          `json:"type"`
		Index        count         `json:"index"`
		Message      claudeMessage `json:"message"`
		ContentBlock claudeBlock   `json:"content_block"`
		Delta        struct {
			Type       word `json:"type"`
			Text       word `json:"text"`
			Think      word `json:"thinking"`
			Input      word `json:"partial_json"`
			StopReason word `json:"stop_reason"`
		} `json:"delta"`
		Usage claudeUsage `json:"usage"`
	}
)

func (u *claudeUsage) input() int64 {
	return tokens(u.Input) + tokens(u.Created) + tokens(u.Read)
}

func readClaude(response *http.Response, t *text) (*reply, error) {
	var answer claudeMessage
	if err := readWhole(response, &answer); err != nil {
		return nil, err
	}
	if answer.StopReason == "" {
		return nil, fmt.Errorf("%w: it has no stop reason", errNotWhole)
	}
	r := &reply{model: string(answer.Model), stop: anthropicStop(answer.StopReason),
		usage: abi.ModelUsage{InputTokens: answer.Usage.input(), OutputTokens: tokens(answer.Usage.Output)}}
	for i := range answer.Content {
		switch block := &answer.Content[i]; block.Type {
		case "text":
			t.write(string(block.Text))
		case "tool_use":
			r.calls = append(r.calls, toolCall{string(block.ID), string(block.Name), string(block.Input)})
		}
	}
	return r, nil
}

func readClaudeStream(ctx context.Context, response *http.Response, t *text) (*reply, error) {
	s := claudeStream{at: map[int64]int{}}
	events := ssestream.NewDecoder(response)
	err := eachEvent(ctx, events, func() (bool, error) {
		e := events.Event()
		return false, s.event(e.Type, e.Data, t)
	})
	if err != nil {
		return nil, err
	}
	return s.finish()
}

// claudeStream puts an answer together from its events. Blocks of thinking are
// no part of it, whatever their events are.
type claudeStream struct {
	now   claudeEvent // the one that is being taken
	reply reply
	calls []streamedCall
	at    map[int64]int // which tool call a block is
	ended bool
}

// event takes an event of a name, which may have no data.
func (s *claudeStream) event(name string, data []byte, t *text) error {
	switch {
	case name == "error":
		return reported(data)
	case name == "ping" || name == "" || len(bytes.TrimSpace(data)) == 0:
		return nil
	}
	s.now = claudeEvent{}
	if err := json.Unmarshal(data, &s.now, asServersWrite); err != nil {
		return err
	}
	return s.take(&s.now, t)
}

func (s *claudeStream) take(e *claudeEvent, t *text) error {
	switch e.Type {
	case "message_start":
		s.reply.model = string(e.Message.Model)
		s.reply.usage = abi.ModelUsage{InputTokens: e.Message.Usage.input(), OutputTokens: tokens(e.Message.Usage.Output)}
	case "content_block_start":
		return s.start(e, t)
	case "content_block_delta":
		s.delta(e, t)
	case "message_delta":
		s.reply.stop = anthropicStop(e.Delta.StopReason)
		s.count(&e.Usage)
	case "message_stop":
		s.ended = true
	}
	return nil
}

func (s *claudeStream) start(e *claudeEvent, t *text) error {
	switch block := &e.ContentBlock; block.Type {
	case "text":
		t.write(string(block.Text))
	case "thinking":
		t.thoughts.write(string(block.Think))
	case "tool_use":
		if len(s.calls) == maxParts {
			return errTooMany
		}
		s.at[int64(e.Index)] = len(s.calls)
		s.calls = append(s.calls, streamedCall{toolCall: toolCall{id: string(block.ID), name: string(block.Name)}})
	}
	return nil
}

func (s *claudeStream) delta(e *claudeEvent, t *text) {
	switch e.Delta.Type {
	case "text_delta":
		t.write(string(e.Delta.Text))
	case "thinking_delta":
		t.thoughts.write(string(e.Delta.Think))
	case "input_json_delta":
		if i, ok := s.at[int64(e.Index)]; ok {
			s.calls[i].pieces = append(s.calls[i].pieces, e.Delta.Input...)
		}
	}
}

// count takes the usage at the end of a stream. Its numbers are totals; those of
// the input may be left out, and then hold from the start of the stream.
func (s *claudeStream) count(u *claudeUsage) {
	s.reply.usage.OutputTokens = tokens(u.Output)
	if in := u.input(); in > 0 {
		s.reply.usage.InputTokens = in
	}
}

func (s *claudeStream) finish() (*reply, error) {
	if !s.ended {
		return nil, fmt.Errorf("%w: the stream ended early", errNotWhole)
	}
	s.reply.calls = whole(s.calls)
	return &s.reply, nil
}

func anthropicStop(reason word) abi.StopReason {
	switch anthropic.StopReason(reason) {
	case anthropic.StopReasonToolUse:
		return abi.StopTools
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		return abi.StopLength
	case anthropic.StopReasonRefusal:
		return abi.StopRefusal
	}
	return abi.StopEnd
}

func (c *claude) params(a *ask) anthropic.MessageNewParams {
	r := a.wire
	p := anthropic.MessageNewParams{
		Model: c.model, MaxTokens: int64(a.maxTokens), Messages: anthropicMessages(r.Messages),
		Tools: anthropicTools(r.Tools), StopSequences: r.Stop,
	}
	if p.MaxTokens == 0 {
		p.MaxTokens = anthropicTokens
	}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	if r.Temperature != nil {
		p.Temperature = param.NewOpt(*r.Temperature)
	}
	if len(r.Tools) > 0 {
		p.ToolChoice = anthropicToolChoice(r.ToolChoice)
	}
	if thinks(r) && a.thinking > 0 && int64(a.thinking) < p.MaxTokens {
		p.Thinking = anthropic.ThinkingConfigParamOfEnabled(int64(a.thinking))
	}
	return p
}

// thinks reports whether a request can be answered by a model that thinks. The API takes no temperature
// then and no tool that has to be called, and wants what was thought before a tool was called to be sent
// back with its answer: what is thought is not kept, so that such a request is answered without.
func thinks(r *abi.ModelRequest) bool {
	calls := func(m abi.ModelMessage) bool { return len(m.ToolCalls) > 0 }
	return r.Temperature == nil && (r.ToolChoice == "" || r.ToolChoice == "auto" || r.ToolChoice == "none") && !slices.ContainsFunc(r.Messages, calls)
}

// anthropicMessages merges what follows one another in the same role: the API
// wants the answers of all tools in one message of the user.
func anthropicMessages(messages []abi.ModelMessage) []anthropic.MessageParam {
	var all []anthropic.MessageParam
	for i := range messages {
		role, blocks := anthropicBlocks(&messages[i])
		if last := len(all) - 1; last >= 0 && all[last].Role == role {
			all[last].Content = append(all[last].Content, blocks...)
		} else if len(blocks) > 0 {
			all = append(all, anthropic.MessageParam{Role: role, Content: blocks})
		}
	}
	return all
}

func anthropicBlocks(m *abi.ModelMessage) (anthropic.MessageParamRole, []anthropic.ContentBlockParamUnion) {
	if m.Role == "tool" {
		result := anthropic.ToolResultBlockParam{ToolUseID: m.ToolCallID, IsError: param.NewOpt(m.IsError)}
		if m.Text != "" { // the API refuses empty text
			result.Content = []anthropic.ToolResultBlockParamContentUnion{{OfText: &anthropic.TextBlockParam{Text: m.Text}}}
		}
		return anthropic.MessageParamRoleUser, []anthropic.ContentBlockParamUnion{{OfToolResult: &result}}
	}
	var blocks []anthropic.ContentBlockParamUnion
	if m.Text != "" {
		blocks = append(blocks, anthropic.NewTextBlock(m.Text))
	}
	if m.Role == "user" {
		return anthropic.MessageParamRoleUser, blocks
	}
	for _, call := range m.ToolCalls {
		blocks = append(blocks, anthropic.NewToolUseBlock(call.ID, call.Arguments, call.Name))
	}
	return anthropic.MessageParamRoleAssistant, blocks
}

func anthropicTools(tools []abi.ModelTool) []anthropic.ToolUnionParam {
	var all []anthropic.ToolUnionParam
	for i := range tools {
		tool := anthropic.ToolParam{
			Name: tools[i].Name,
			// As it was written: models mind the order of a schema's members.
			InputSchema: param.Override[anthropic.ToolInputSchemaParam](schemaOf(&tools[i])),
		}
		if tools[i].Description != "" {
			tool.Description = param.NewOpt(tools[i].Description)
		}
		all = append(all, anthropic.ToolUnionParam{OfTool: &tool})
	}
	return all
}

func anthropicToolChoice(choice string) anthropic.ToolChoiceUnionParam {
	switch choice {
	case "":
		return anthropic.ToolChoiceUnionParam{}
	case "auto":
		return anthropic.ToolChoiceUnionParam{OfAuto: &anthropic.ToolChoiceAutoParam{}}
	case "any":
		return anthropic.ToolChoiceUnionParam{OfAny: &anthropic.ToolChoiceAnyParam{}}
	case "none":
		return anthropic.ToolChoiceUnionParam{OfNone: &anthropic.ToolChoiceNoneParam{}}
	}
	return anthropic.ToolChoiceParamOfTool(choice)
}

package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

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
	var options []option.RequestOption
	if a.key != "" {
		options = append(options, option.WithAPIKey(a.key))
	}
	if a.request.Stream {
		return c.stream(ctx, a, options)
	}
	answer, err := c.service.New(ctx, c.params(a), options...)
	if err != nil {
		return nil, err
	}
	if answer.StopReason == "" {
		return nil, fmt.Errorf("%w: it has no stop reason", errNotWhole)
	}
	r := &reply{model: answer.Model, stop: anthropicStop(answer.StopReason), usage: anthropicUsage(&answer.Usage)}
	for i := range answer.Content {
		switch block := &answer.Content[i]; block.Type {
		case "text":
			a.text.write(block.Text)
		case "tool_use":
			r.calls = append(r.calls, toolCall{block.ID, block.Name, string(block.Input)})
		}
	}
	return r, nil
}

func (c *claude) stream(ctx context.Context, a *ask, options []option.RequestOption) (*reply, error) {
	stream := c.service.NewStreaming(ctx, c.params(a), options...)
	defer func() { _ = stream.Close() }()
	s := claudeStream{at: map[int64]int{}}
	for stream.Next() {
		event := stream.Current()
		s.take(&event, a.text)
	}
	if err := stream.Err(); err != nil {
		return nil, anthropicStreamError(err)
	}
	return s.finish()
}

func anthropicStreamError(err error) error {
	var told *anthropic.Error
	if errors.As(err, &told) {
		return fmt.Errorf("%w: %s", errReported, said([]byte(told.RawJSON())))
	}
	return err
}

// claudeStream puts an answer together from its events. Blocks of thinking are
// passed over, whatever their events are.
type claudeStream struct {
	reply reply
	at    map[int64]int // which tool call a block is
	ended bool
}

func (s *claudeStream) take(e *anthropic.MessageStreamEventUnion, t *text) {
	switch e.Type {
	case "message_start":
		s.reply.model = e.Message.Model
		s.reply.usage = anthropicUsage(&e.Message.Usage)
	case "content_block_start":
		s.start(e, t)
	case "content_block_delta":
		s.delta(e, t)
	case "message_delta":
		s.reply.stop = anthropicStop(e.Delta.StopReason)
		s.count(&e.Usage)
	case "message_stop":
		s.ended = true
	}
}

func (s *claudeStream) start(e *anthropic.MessageStreamEventUnion, t *text) {
	switch block := &e.ContentBlock; block.Type {
	case "text":
		t.write(block.Text)
	case "tool_use":
		s.at[e.Index] = len(s.reply.calls)
		s.reply.calls = append(s.reply.calls, toolCall{id: block.ID, name: block.Name})
	}
}

func (s *claudeStream) delta(e *anthropic.MessageStreamEventUnion, t *text) {
	switch e.Delta.Type {
	case "text_delta":
		t.write(e.Delta.Text)
	case "input_json_delta":
		if i, ok := s.at[e.Index]; ok {
			s.reply.calls[i].arguments += e.Delta.PartialJSON
		}
	}
}

// count takes the usage at the end of a stream. Its numbers are totals; those of
// the input may be left out, and then hold from the start of the stream.
func (s *claudeStream) count(u *anthropic.MessageDeltaUsage) {
	s.reply.usage.OutputTokens = u.OutputTokens
	if in := u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens; in > 0 {
		s.reply.usage.InputTokens = in
	}
}

func (s *claudeStream) finish() (*reply, error) {
	if !s.ended {
		return nil, fmt.Errorf("%w: the stream ended early", errNotWhole)
	}
	return &s.reply, nil
}

// anthropicUsage counts what was read from and written to the prompt cache as input.
func anthropicUsage(u *anthropic.Usage) abi.ModelUsage {
	return abi.ModelUsage{
		InputTokens:  u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens,
		OutputTokens: u.OutputTokens,
	}
}

func anthropicStop(reason anthropic.StopReason) abi.StopReason {
	switch reason {
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
	return p
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

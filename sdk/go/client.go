package wharf

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The functions of this file are for what the client that gave the Task knows: a model of its own, and
// the folders that may be worked in. Each is a question, which waits as those of wait.go do and
// which anybody may answer who answers questions.

// Client is what the client that gave the Task has said of itself. It is empty where it has said
// nothing, as one that is no agent does not.
type Client struct {
	Protocol     string // that it speaks, such as mcp/2025-11-25
	Name         string
	Version      string
	Capabilities []string
}

// What clients can answer.
const (
	ClientElicitsForm  = "elicitation.form" // inputs
	ClientElicitsURL   = "elicitation.url"  // authorizations that have a URL
	ClientSamples      = "sampling"
	ClientSamplesTools = "sampling.tools" // samplings that have tools
	ClientHasRoots     = "roots"
)

// Can reports whether the client has said that it can answer something.
func (c Client) Can(capability string) bool { return slices.Contains(c.Capabilities, capability) }

// AskingClient returns what the client that gave the Task has said of itself.
func AskingClient() (Client, error) {
	var c Client
	var capabilities string
	for _, fact := range []struct {
		name string
		into *string
	}{{"client.protocol", &c.Protocol}, {"client.name", &c.Name}, {"client.version", &c.Version}, {"client.capabilities", &capabilities}} {
		value, err := Fact(fact.name)
		if err != nil && !errors.Is(err, StatusNotFound) { // which an older host says
			return Client{}, err
		}
		*fact.into = value
	}
	if capabilities != "" {
		c.Capabilities = strings.Split(capabilities, ",")
	}
	return c, nil
}

// Sampling is what a model of the client's is asked, as MCP's sampling/createMessage has it.
type Sampling struct {
	Messages     []SamplingMessage `json:"messages"`
	SystemPrompt string            `json:"systemPrompt,omitempty"`
	MaxTokens    int               `json:"maxTokens"` // at least 1
	Temperature  *float64          `json:"temperature,omitempty"`
	Stop         []string          `json:"stopSequences,omitempty"`
	// Preferences, Tools and Choice are MCP's modelPreferences, tools and toolChoice. A client takes
	// tools that can do [ClientSamplesTools].
	Preferences json.RawMessage `json:"modelPreferences,omitempty"`
	Tools       json.RawMessage `json:"tools,omitempty"`
	Choice      json.RawMessage `json:"toolChoice,omitempty"`
}

// SamplingMessage is one message of a conversation. Content is a block of MCP's, or a list of them.
type SamplingMessage struct {
	Role    string          `json:"role"` // user or assistant
	Content json.RawMessage `json:"content"`
}

// SaysText returns a message that is a text.
func SaysText(role, text string) SamplingMessage {
	content, _ := json.Marshal(samplingBlock{Type: "text", Text: text}) // two strings always encode
	return SamplingMessage{Role: role, Content: content}
}

type samplingBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Sampled is what a model of the client's has said.
type Sampled struct {
	SamplingMessage
	Model      string `json:"model"`
	StopReason string `json:"stopReason,omitempty"`
}

// Text returns the text blocks, joined by empty lines.
func (s Sampled) Text() string {
	var blocks []samplingBlock
	if json.Unmarshal(s.Content, &blocks) != nil {
		blocks = make([]samplingBlock, 1)
		if json.Unmarshal(s.Content, &blocks[0]) != nil {
			return ""
		}
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Root is a folder that may be worked in.
type Root struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// SamplingQuestion returns the question to a model of the client's, to be asked with [Ask].
func SamplingQuestion(key string, s Sampling) (Question, error) {
	params, err := json.Marshal(s)
	return Question{Key: key, Kind: KindSampling, Params: params}, err
}

// Sample asks a model of the client's, and waits for what it says, at most for the given time, if that
// is not 0. The error is a [*NotAnswered] when nothing was said.
func Sample(callID string, s Sampling, timeout time.Duration) (Sampled, error) {
	q, err := SamplingQuestion(clientKey, s)
	if err != nil {
		return Sampled{}, fmt.Errorf("writing the sampling: %w", err)
	}
	var said Sampled
	err = askClient(callID, q, timeout, &said)
	return said, err
}

// Roots asks which folders may be worked in, as [Sample] asks a model.
func Roots(callID string, timeout time.Duration) ([]Root, error) {
	var answer struct {
		Roots []Root `json:"roots"`
	}
	err := askClient(callID, Question{Key: clientKey, Kind: KindRoots}, timeout, &answer)
	return answer.Roots, err
}

// clientKey names a question that is asked by itself.
const clientKey = "client"

func askClient(callID string, q Question, timeout time.Duration, v any) error {
	answers, err := Ask(Questions{CallID: callID, Requests: []Question{q}, Timeout: timeout})
	if err != nil {
		return err
	}
	return answers[0].Decode(v)
}

// NotAnswered is the error of a question that was not answered.
type NotAnswered struct{ Answer QuestionAnswer }

// Error implements the error interface.
func (e *NotAnswered) Error() string {
	text := "the question " + e.Answer.Key + " was not answered: " + e.Answer.Status
	if e.Answer.Code != "" {
		text += " (" + e.Answer.Code + ")"
	}
	if e.Answer.Reason != "" {
		text += ": " + e.Answer.Reason
	}
	return text
}

// Decode stores the value that was answered in v, as json.Unmarshal does: that of the first json part,
// or the text, which is JSON or a text itself. The error is a [*NotAnswered] when there is none.
func (a QuestionAnswer) Decode(v any) error {
	if a.Message == nil {
		return &NotAnswered{Answer: a}
	}
	for _, p := range a.Message.Parts {
		if p.Type == "json" {
			return json.Unmarshal(p.Value, v)
		}
	}
	text := a.Message.Text()
	if err := json.Unmarshal([]byte(text), v); err == nil {
		return nil
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return err
	}
	return json.Unmarshal(quoted, v)
}

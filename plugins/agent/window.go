package main

import (
	"errors"
	"fmt"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

const (
	// defaultWindow is how many tokens a model reads at most, unless the setting context_tokens says so, or
	// context_windows of this model.
	defaultWindow = 128_000
	minWindow     = 1_000
	// smallRequest is what every model reads, in tokens: the settings are asked for beyond it.
	smallRequest = 4_000
	// maxShrinks is how often a request that a model finds too long is made shorter.
	maxShrinks = 4
)

// Why a conversation is made shorter.
const (
	reasonPressure = "context_pressure"        // it comes near to what the model reads
	reasonRefused  = "context_length_exceeded" // the model has refused it
)

// window is what is known of how much the model reads, and of how the conversation is kept within that.
type window struct {
	known     bool   // the settings were asked for
	model     string // "" for the node's default
	tokens    int64  // that the model reads
	compact   compaction
	perKiB    int64    // tokens that a KiB has: the most that the model has counted
	begin     int      // the first message of this Task in the conversation: those before are of the Session, or a summary
	wishes    []string // what the user has said in this Task, as far as a summary stands for it
	summaries int      // how many there have been
}

// initialPerKiB is what is taken for granted before the model has counted: 3.4 bytes are a token.
const initialPerKiB = 300

func newWindow(messages int, model string) window {
	return window{model: model, tokens: defaultWindow, compact: defaultCompaction(), perKiB: initialPerKiB, begin: messages - 1}
}

// complete asks the model, with a conversation that it can read. One that it refuses for its length is
// made shorter, and asked again.
func (a *agent) complete(r wharf.ModelRequest) (wharf.ModelAnswer, error) {
	id := r.CallID
	a.fit(&r, reasonPressure)
	answer, err := a.put(r)
	for try := 2; tooLong(err) && try < 2+maxShrinks && a.refused(&r); try++ {
		r.CallID = fmt.Sprintf("%s.%d", id, try)
		answer, err = a.put(r)
	}
	if err == nil {
		a.window.learn(requestBytes(&r), answer.Usage.InputTokens)
	}
	return answer, err
}

// put asks the model, which is shown the reminders of this turn besides: they are no part of the conversation.
func (a *agent) put(r wharf.ModelRequest) (wharf.ModelAnswer, error) {
	r.Messages = a.inbox.with(r.Messages)
	return wharf.Complete(r)
}

func tooLong(err error) bool {
	var refused *wharf.Error
	return errors.As(err, &refused) && refused.Code == reasonRefused
}

// refused makes a request shorter that the model has found too long: it reads less than was thought.
// It reports whether anything has become of it.
func (a *agent) refused(r *wharf.ModelRequest) bool {
	before := requestBytes(r)
	a.window.settle()
	a.window.tokens = max(min(a.window.tokens, a.window.estimate(before))*3/4, minWindow)
	a.fit(r, reasonRefused)
	return requestBytes(r) < before
}

// fit makes the conversation shorter when it comes near to what the model reads: first what tools have
// answered before, and if that is not enough all that is older.
func (a *agent) fit(r *wharf.ModelRequest, reason string) {
	w := &a.window
	if reason == reasonPressure && w.estimate(requestBytes(r)) <= smallRequest {
		return
	}
	w.settle()
	if w.compact.Strategy == strategyOff || w.estimate(requestBytes(r)) <= w.limit(r) {
		return
	}
	a.project(r, reason)
	last := groupBefore(r.Messages, len(r.Messages))
	a.squeeze(r, last, w.bytes(w.limit(r)/4), reason) // one turn can have more answers of tools than a model reads
	if w.estimate(requestBytes(r)) > w.limit(r)*3/4 { // else it would be the same again soon
		a.archive(r, reason)
	}
	a.squeeze(r, 0, w.bytes(w.limit(r))-requestBytes(r)+messagesBytes(r.Messages), reason)
}

// settle asks for the settings, once.
func (w *window) settle() {
	if w.known {
		return
	}
	w.known = true
	tokens, windows := int64(0), map[string]int64{}
	read("context_tokens", &tokens)
	if tokens <= 0 {
		read("context_windows", &windows) // by the names of models, and under "" the default's
		tokens = windows[w.model]
	}
	if tokens > 0 {
		w.tokens = max(tokens, minWindow)
	}
	w.compact.read()
}

// read reads a setting. One that is wrong does not end a Task that is at work.
func read(setting string, v any) {
	if _, err := wharf.Config(setting, v); err != nil {
		_ = wharf.Log(wharf.LevelWarn, "the setting %s of the agent: %v", setting, err)
	}
}

// limit is how many tokens a request may have: what is left of the window is for the answer.
func (w *window) limit(r *wharf.ModelRequest) int64 {
	answer := min(int64(r.MaxTokens), w.tokens/4)
	return min(int64(float64(w.tokens)*w.compact.At), w.tokens-answer)
}

func (w *window) estimate(bytes int64) int64 { return (bytes*w.perKiB + 1023) / 1024 }

// bytes is how much text so many tokens are.
func (w *window) bytes(tokens int64) int64 { return tokens * 1024 / w.perKiB }

// learn takes over how many tokens the model has counted. Those that a provider had kept it may leave
// out, so fewer mean nothing.
func (w *window) learn(bytes, tokens int64) {
	if bytes > 0 {
		w.perKiB = min(max(w.perKiB, tokens*1024/bytes), 1024)
	}
}

func requestBytes(r *wharf.ModelRequest) int64 {
	n := int64(len(r.System))
	for i := range r.Tools {
		n += int64(len(r.Tools[i].Name) + len(r.Tools[i].Description) + len(r.Tools[i].InputSchema) + perItem)
	}
	return n + messagesBytes(r.Messages)
}

// perItem is what a message, a call or a tool costs besides its text.
const perItem = 16

func messagesBytes(messages []wharf.ModelMessage) (n int64) {
	for i := range messages {
		m := &messages[i]
		n += int64(len(m.Text) + len(m.ToolCallID) + perItem)
		for _, c := range m.ToolCalls {
			n += int64(len(c.ID) + len(c.Name) + len(c.Arguments) + perItem)
		}
	}
	return n
}

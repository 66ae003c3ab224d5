package updates

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
)

// The discriminators of chunks.
const (
	userChunk    = "user_message_chunk"
	agentChunk   = "agent_message_chunk"
	thoughtChunk = "agent_thought_chunk"
	userWhole    = "user_message" // which the documents of Harn have, and the schema has not
)

// separator stands between two texts that nothing else stands between.
const separator = "\n\n"

// chunk is a piece of a Message.
type chunk struct {
	SessionUpdate string       `json:"sessionUpdate"`
	Content       shapes.Block `json:"content"`
	Meta          *shapes.Meta `json:"_meta,omitzero"`
}

// ofMessage says which Message a chunk is of, which schema v0.12.2 has no member for.
type ofMessage struct {
	MessageID string `json:"messageId"`
}

func chunkOf(discriminator, message string, b shapes.Block) chunk {
	c := chunk{SessionUpdate: discriminator, Content: b}
	if message != "" {
		c.Meta = &shapes.Meta{Harn: ofMessage{message}}
	}
	return c
}

// visible is what Harn hosts show of a text.
type visible struct {
	Text  string `json:"visible_text"`  // all of the Message by now
	Delta string `json:"visible_delta"` // what is new
}

// texts are the Messages of the agent that are being written.
type texts struct {
	writing map[string]*text  // by the id of the Message
	said    map[string]string // Messages that were told whole, with their Tasks, until those end
}

// text is as much of a Message as was told.
type text struct {
	task string
	told strings.Builder
}

func (x *text) len() int { return x.told.Len() }

// put replaces what was told.
func (x *text) put(whole string) {
	x.told.Reset()
	x.told.WriteString(whole)
}

// end forgets the Messages of a Task.
func (x *texts) end(task string) {
	for id, w := range x.writing {
		if w.task == task {
			delete(x.writing, id)
		}
	}
	for id, of := range x.said {
		if of == task {
			delete(x.said, id)
		}
	}
}

// delta tells what a piece of a Message adds to what was told of it. A piece that was told, and one
// that something is missing before, adds nothing: the Message tells what they have not.
func (t *Teller) delta(ev *abi.Event, o *told) {
	d, ok := payload[abi.MessageDelta](ev)
	if !ok || d.MessageID == "" || d.Text == "" || d.Offset < 0 {
		return
	}
	if _, said := t.texts.said[d.MessageID]; said {
		return
	}
	w := t.texts.writing[d.MessageID]
	if w == nil && d.Offset > 0 {
		return
	}
	if w == nil {
		w = &text{task: ev.TaskID}
		t.texts.writing[d.MessageID] = w
	}
	had := w.told.String()
	if d.Offset > len(had) || d.Offset < len(had) && !utf8.RuneStart(had[d.Offset]) {
		return
	}
	if again := had[d.Offset:]; len(again) >= len(d.Text) {
		if !strings.HasPrefix(again, d.Text) {
			t.anew(o, d.MessageID, w, had[:d.Offset]+d.Text)
		}
		return
	} else if !strings.HasPrefix(d.Text, again) {
		t.anew(o, d.MessageID, w, had[:d.Offset]+d.Text)
		return
	}
	t.say(o, d.MessageID, w, d.Text[len(had)-d.Offset:])
}

// anew tells a text that is another one than was told.
func (t *Teller) anew(o *told, message string, w *text, whole string) {
	w.put("")
	t.lastChunk = anew
	t.say(o, message, w, whole)
}

// anew is no id of a Message: what follows is set apart.
const anew = " "

// say tells more of a Message.
func (t *Teller) say(o *told, message string, w *text, more string) {
	if more == "" {
		return
	}
	w.told.WriteString(more)
	b := shapes.Text(more)
	if t.lastChunk != "" && t.lastChunk != message {
		b = shapes.Text(separator + more)
	}
	if t.f.Harn {
		b.Meta = &shapes.Meta{Harn: visible{w.told.String(), more}}
	}
	o.add(chunkOf(agentChunk, message, b))
	t.lastChunk = message
}

// message is what is read of an event of a Message.
type message struct {
	Message *abi.Message `json:"message"`
}

// agentMessage tells what of a Message its pieces have not told.
func (t *Teller) agentMessage(ev *abi.Event, o *told) {
	p, ok := payload[message](ev)
	if !ok || p.Message == nil {
		return
	}
	m := p.Message
	if _, said := t.texts.said[m.ID]; said {
		return
	}
	w := t.texts.writing[m.ID]
	delete(t.texts.writing, m.ID)
	if w == nil {
		w = &text{}
	}
	if ev.TaskID != "" && m.ID != "" {
		t.texts.said[m.ID] = ev.TaskID
	}
	whole := wordsOf(m)
	if had := w.told.String(); !strings.HasPrefix(whole, had) {
		w.put("")
		t.lastChunk = anew
	}
	t.parts(o, m, w)
}

// parts tells the parts of a Message in their order, but for the text that was told.
func (t *Teller) parts(o *told, m *abi.Message, w *text) {
	skip, first := w.len(), true
	for i := range m.Parts {
		p := &m.Parts[i]
		if words, ok := saidBy(p); ok {
			if !first {
				words = "\n" + words
			}
			first = false
			cut := min(skip, len(words))
			skip -= cut
			t.say(o, m.ID, w, words[cut:])
			continue
		}
		if b, ok := shapes.BlockOf(p, t.f.Contents); ok && p.Type != abi.PartText {
			o.add(chunkOf(agentChunk, m.ID, b))
			t.lastChunk = m.ID
		}
	}
}

// saidBy returns the text of a part that says something.
func saidBy(p *abi.Part) (string, bool) {
	if p.Type != abi.PartText || p.Text == nil || *p.Text == "" {
		return "", false
	}
	_, ok := shapes.BlockOf(p, nil)
	return *p.Text, ok
}

// wordsOf returns the text of a Message.
func wordsOf(m *abi.Message) string {
	var all []string
	for i := range m.Parts {
		if words, ok := saidBy(&m.Parts[i]); ok {
			all = append(all, words)
		}
	}
	return strings.Join(all, "\n")
}

// userWholeMessage is a Message of the user that was delivered while the agent worked.
type userWholeMessage struct {
	SessionUpdate string         `json:"sessionUpdate"`
	MessageID     string         `json:"messageId"`
	Content       []shapes.Block `json:"content"`
}

// userMessage tells what somebody has said to the agent.
func (t *Teller) userMessage(ev *abi.Event, o *told) {
	p, ok := payload[message](ev)
	if !ok || p.Message == nil {
		return
	}
	m := p.Message
	injected := t.injected[m.ID]
	delete(t.injected, m.ID)
	var blocks []shapes.Block
	for i := range m.Parts {
		if b, ok := shapes.BlockOf(&m.Parts[i], t.f.Contents); ok {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return
	}
	t.lastChunk = ""
	if injected && t.f.Harn {
		o.add(userWholeMessage{userWhole, m.ID, blocks})
		return
	}
	for _, b := range blocks {
		o.add(chunkOf(userChunk, m.ID, b))
	}
}

// appended tells a Message that came neither from the user nor from the agent just now: one of a fork
// that was merged. Those of other roles, such as instructions, are told to nobody.
func (t *Teller) appended(ev *abi.Event, o *told) {
	p, ok := payload[message](ev)
	if !ok || p.Message == nil {
		return
	}
	switch p.Message.Role {
	case abi.RoleUser:
		t.userMessage(ev, o)
	case abi.RoleAssistant, abi.RoleAgent:
		t.agentMessage(ev, o)
	}
}

// reasoning tells the summary of what a model has thought. What it has thought itself is no summary,
// and told to nobody.
func (t *Teller) reasoning(ev *abi.Event, o *told) {
	p, ok := payload[struct {
		Summary    jsontext.Value `json:"summary"`
		Text       jsontext.Value `json:"text"`
		Visibility abi.Visibility `json:"visibility"`
		Redacted   bool           `json:"redacted"`
	}](ev)
	if !ok || p.Redacted || p.Visibility != "" && p.Visibility != abi.VisibilityPublic {
		return
	}
	says, ok := stringOf(p.Summary)
	if !ok {
		says, ok = stringOf(p.Text)
	}
	if ok && says != "" {
		t.lastChunk = ""
		o.add(chunkOf(thoughtChunk, "", shapes.Text(says)))
	}
}

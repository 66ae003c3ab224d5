package agent

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"iter"
	"mime"
	"net/http"
	"reflect"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

// Message is what somebody says to an agent.
type Message struct {
	ID        string // the same id again is the same message
	Text      string
	ContextID string // to go on with a conversation
	TaskID    string // to answer a task, or to tell it something
}

// Update is something that an agent tells.
type Update struct {
	JSON jsontext.Value // as the agent has it

	TaskID, ContextID string
	State             string // of the task, in the words of 0.3; "" for what tells none
	Content           []abi.ToolContent
	// Artifact is the id of the one that Content is of, or more of; "" for what the agent says.
	Artifact, Name string
	More           bool // Content goes on where that of the Artifact has ended
	Progress       bool // Content says how far the agent is, and no more
}

// Over reports whether nothing more comes before somebody says something.
func (u *Update) Over() bool { return over(u.State) || u.State == "" && u.TaskID == "" }

// Waits reports whether the agent waits for an answer.
func (u *Update) Waits() bool { return u.State == stateInput || u.State == stateAuth }

// Completed reports whether a task has ended well.
func (u *Update) Completed() bool {
	return u.State == stateCompleted || u.State == "" && u.TaskID == ""
}

// Say sends a message and returns what the agent says at once: a task as it stands, or a message.
// The errors are those of [Peer.Plan].
func (p *Peer) Say(ctx context.Context, card *Card, m *Message) (iter.Seq[*Update], error) {
	var text jsontext.Value
	_, err := p.ask(ctx, "", card, methods[card.speaks].send, card.sending(m.written()), &text)
	if err != nil {
		return nil, refused(err)
	}
	return p.updates(text)
}

// Talk sends a message and yields what the agent tells until its task is over. Where the agent streams,
// it is told as it comes; a stream that breaks off, and an agent that does not stream, is asked again
// how the task stands.
func (p *Peer) Talk(ctx context.Context, card *Card, m *Message) iter.Seq2[*Update, error] {
	return func(yield func(*Update, error) bool) {
		t := &talk{peer: p, card: card, yield: yield}
		err := t.begin(ctx, m)
		for pause := firstPause; err == nil && !t.over && t.last != nil; pause = min(2*pause, longestPause) {
			if err = sleep(ctx, pause); err == nil {
				err = t.look(ctx)
			}
		}
		if err != nil && !t.left {
			yield(nil, refused(err))
		}
	}
}

// talk is a message and what comes of it.
type talk struct {
	peer  *Peer
	card  *Card
	yield func(*Update, error) bool
	last  *Update // of its task
	over  bool
	left  bool // nobody wants to hear more
	lost  int  // answers in a row that did not come
}

func (t *talk) begin(ctx context.Context, m *Message) error {
	if !t.card.Streams {
		all, err := t.peer.Say(ctx, t.card, m)
		if err != nil {
			return err
		}
		t.tell(all)
		return nil
	}
	err := t.peer.stream(ctx, t.card, methods[t.card.speaks].stream, t.card.sending(m.written()), t.heard)
	if t.last != nil && ctx.Err() == nil { // it broke off: what became of it is asked
		return nil
	}
	if err == nil && !t.over {
		return t.peer.unreadable()
	}
	return err
}

// look asks how the task stands.
func (t *talk) look(ctx context.Context) error {
	var text jsontext.Value
	retry, err := t.peer.ask(ctx, "", t.card, methods[t.card.speaks].get, t.card.within(map[string]any{"id": t.last.TaskID}), &text)
	if err != nil {
		if t.lost++; retry && ctx.Err() == nil && t.lost <= maxLost {
			return nil
		}
		return err
	}
	t.lost = 0
	_, err = t.heard(text)
	return err
}

// heard tells what an agent has said, and reports whether there is no more to come.
func (t *talk) heard(text jsontext.Value) (bool, error) {
	all, err := t.peer.updates(text)
	if err != nil {
		return true, err
	}
	t.tell(all)
	return t.over, nil
}

func (t *talk) tell(all iter.Seq[*Update]) {
	for u := range all {
		if u.TaskID != "" {
			t.last = u
		}
		t.over = t.over || u.Over()
		if !t.yield(u, nil) {
			t.over, t.left = true, true
			return
		}
	}
}

func (m *Message) written() *message {
	return &message{id: m.ID, text: m.Text, context: m.ContextID, task: m.TaskID}
}

// event is what a stream has, or a method results in, in either version: in 1.0 by a member, in 0.3
// by its kind.
type event struct {
	Task     *told   `json:"task"`
	Message  *told   `json:"message"`
	Status   *change `json:"statusUpdate"`
	Artifact *change `json:"artifactUpdate"`
}

// change is an update of a task.
type change struct {
	TaskID    string `json:"taskId"`
	ContextID string `json:"contextId"`
	Status    struct {
		State   string `json:"state"`
		Message *told  `json:"message"`
	} `json:"status"`
	Artifact struct {
		ID    string `json:"artifactId"`
		Name  string `json:"name"`
		Parts []part `json:"parts"`
	} `json:"artifact"`
	Append   bool                      `json:"append"`
	Metadata map[string]jsontext.Value `json:"metadata"`
}

// harnExtension is the extension by which a node tells how far it is.
const harnExtension = "https://harnlang.com/spec/harn-extensions/v1"

// updates reads what an agent tells.
func (p *Peer) updates(text jsontext.Value) (iter.Seq[*Update], error) {
	var kind struct {
		Kind string `json:"kind"`
	}
	e := event{}
	if provider.Readable(text, reflect.TypeFor[event]()) != nil {
		return nil, p.unreadable()
	}
	var err error
	_ = json.Unmarshal(text, &kind)
	switch kind.Kind {
	case "task":
		err = json.Unmarshal(text, &e.Task)
	case "message":
		err = json.Unmarshal(text, &e.Message)
	case "status-update":
		err = json.Unmarshal(text, &e.Status)
	case "artifact-update":
		err = json.Unmarshal(text, &e.Artifact)
	default:
		if err = json.Unmarshal(text, &e); err == nil && e == (event{}) { // a task that was asked for in 1.0
			err = json.Unmarshal(text, &e.Task)
		}
	}
	if err != nil || e.Task != nil && e.Task.ID == "" {
		return nil, p.unreadable()
	}
	return e.updates(text), nil
}

func (e *event) updates(text jsontext.Value) iter.Seq[*Update] {
	return func(yield func(*Update) bool) {
		switch {
		case e.Message != nil:
			u := &Update{JSON: text, ContextID: e.Message.ContextID}
			u.Content, _ = content(e.Message.Parts)
			yield(u)
		case e.Status != nil:
			yield(e.Status.status(text))
		case e.Artifact != nil:
			c := e.Artifact
			u := &Update{JSON: text, TaskID: c.TaskID, ContextID: c.ContextID, State: "working", Artifact: c.Artifact.ID, Name: c.Artifact.Name, More: c.Append}
			u.Content, _ = content(c.Artifact.Parts)
			yield(u)
		case e.Task != nil:
			e.Task.updates(text, yield)
		}
	}
}

func (c *change) status(text jsontext.Value) *Update {
	u := &Update{JSON: text, TaskID: c.TaskID, ContextID: c.ContextID, State: state(c.Status.State)}
	if c.Status.Message != nil {
		u.Content, _ = content(c.Status.Message.Parts)
	}
	var said struct {
		Type string `json:"type"`
	}
	u.Progress = json.Unmarshal(c.Metadata[harnExtension], &said) == nil && said.Type == "progress"
	return u
}

// updates tells a task: its artifacts, and then how it stands. Only the last has the JSON.
func (t *told) updates(text jsontext.Value, yield func(*Update) bool) {
	for _, a := range t.Artifacts {
		u := &Update{TaskID: t.ID, ContextID: t.ContextID, State: "working", Artifact: a.ID, Name: a.Name}
		if u.Content, _ = content(a.Parts); !yield(u) {
			return
		}
	}
	u := &Update{JSON: text, TaskID: t.ID, ContextID: t.ContextID, State: state(t.Status.State)}
	if t.Status.Message != nil {
		u.Content, _ = content(t.Status.Message.Parts)
	}
	yield(u)
}

// stream calls a method that answers with a stream, and hands each result to heard until that wants no
// more. An agent that answers with one result only is one that streams no more than that.
func (p *Peer) stream(ctx context.Context, card *Card, method string, params any, heard func(jsontext.Value) (bool, error)) error {
	body, err := json.Marshal(call{"2.0", 1, method, params}, json.Deterministic(true))
	if err != nil {
		return provider.Malformed(err)
	}
	r := &request{method: http.MethodPost, url: card.Endpoint, header: card.header(), body: body, most: p.config.Answer}
	r.header["Accept"] = "text/event-stream, application/json"
	req, values, err := p.prepare(ctx, r)
	if err != nil {
		return err
	}
	resp, err := p.send.RoundTrip(req)
	if err != nil {
		return p.unanswered(ctx, err)
	}
	defer resp.Body.Close()
	scrub := secret.NewScrub(values)
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		return p.single(ctx, resp, r, scrub, heard)
	}
	for text, err := range eventData(resp.Body, p.config.Answer) {
		if err == bufio.ErrTooLong {
			return p.tooLarge(p.config.Answer)
		}
		if err != nil {
			return p.unanswered(ctx, err)
		}
		if done, err := p.result([]byte(scrub.Text(string(text))), heard); done || err != nil {
			return err
		}
	}
	return nil
}

func (p *Peer) single(ctx context.Context, resp *http.Response, r *request, scrub *secret.Scrub, heard func(jsontext.Value) (bool, error)) error {
	if _, err := p.accepted(resp); err != nil {
		return err
	}
	text, err := p.bounded(ctx, "", resp, r.most)
	if err != nil {
		return err
	}
	_, err = p.result([]byte(scrub.Text(string(text))), heard)
	return err
}

// result hands on what a response of JSON-RPC results in.
func (p *Peer) result(text []byte, heard func(jsontext.Value) (bool, error)) (bool, error) {
	var result jsontext.Value
	if err := p.response(text, &result); err != nil {
		return true, err
	}
	return heard(result)
}

// eventData yields the data of server-sent events, each of at most so many bytes.
func eventData(r io.Reader, most int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 16<<10), int(most))
		var data []byte
		for lines.Scan() {
			line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
			if text, is := bytes.CutPrefix(line, []byte("data:")); is {
				data = append(append(data, bytes.TrimPrefix(text, []byte(" "))...), '\n')
			}
			if int64(len(data)) > most {
				yield(nil, bufio.ErrTooLong)
				return
			}
			if len(line) > 0 || len(data) == 0 {
				continue
			}
			if !yield(data, nil) {
				return
			}
			data = data[:0]
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}

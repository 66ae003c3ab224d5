// Drives the client in Go: takes a command in each line of its input, an object with the member
// do, and answers with lines of objects, the last of which has done or error.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/client/go"
)

type command struct {
	Do, URL, Key, Session, Task, Persona, Text, IdempotencyKey, Until string
	Wire                                                              []byte
	Keys                                                              []wharf.SigningKey
	OrAsked                                                           bool
}

func main() {
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		client := wharf.New(wharf.Config{URL: c.URL, Key: c.Key})
		done, err := c.run(context.Background(), client, out)
		if err != nil {
			out.Encode(map[string]any{"error": told(err)})
			continue
		}
		out.Encode(map[string]any{"done": done})
	}
}

func told(err error) map[string]any {
	said := map[string]any{"text": err.Error(), "receipt": errors.Is(err, wharf.ErrReceipt)}
	if e, ok := errors.AsType[*wharf.Error](err); ok {
		said["status"], said["code"], said["message"], said["advice"] = e.Status, e.Code, e.Message, e.Advice
		said["request_id"], said["retry_after"], said["param"] = e.RequestID, e.After.Seconds(), e.Param
	}
	return said
}

func (c *command) run(ctx context.Context, client *wharf.Client, out *json.Encoder) (any, error) {
	var options []wharf.Option
	if c.IdempotencyKey != "" {
		options = append(options, wharf.IdempotencyKey(c.IdempotencyKey))
	}
	switch c.Do {
	case "session":
		spaces, err := client.Workspaces().List(ctx, nil)
		if err != nil {
			return nil, err
		}
		session, err := client.Sessions().Create(ctx, &wharf.CreateSessionRequest{WorkspaceID: spaces.Data[0].ID}, options...)
		if err != nil {
			return nil, err
		}
		return session.ID, nil
	case "submit":
		task, err := client.Sessions().Submit(ctx, c.Session, &wharf.SubmitTaskRequest{PersonaID: &c.Persona, Input: wharf.Say(c.Text)}, options...)
		if err != nil {
			return nil, err
		}
		return task.ID, nil
	case "append":
		message, err := client.Sessions().Append(ctx, c.Session, &wharf.AppendMessageRequest{Message: *wharf.Say(c.Text)}, options...)
		if err != nil {
			return nil, err
		}
		return message.ID, nil
	case "messages":
		limit := int64(1)
		var texts []string
		query := &wharf.ListSessionMessagesQuery{Limit: &limit}
		for {
			page, err := client.Sessions().Messages(ctx, c.Session, query)
			if err != nil {
				return nil, err
			}
			for _, m := range page.Data {
				texts = append(texts, *m.Parts[0].Text)
			}
			if query.Cursor = page.Page.NextCursor; query.Cursor == nil {
				return texts, nil
			}
		}
	case "wait":
		wait := client.Tasks().Wait
		if c.OrAsked {
			wait = client.Tasks().WaitOrAsked
		}
		task, err := wait(ctx, c.Task)
		if err != nil {
			return nil, err
		}
		return task.Status, nil
	case "outcome":
		outcome, err := client.Tasks().Outcome(ctx, c.Task)
		if err != nil {
			return nil, err
		}
		return outcome.Summary, nil
	case "stream":
		events := client.Sessions().Stream(ctx, c.Session, "")
		if c.Task != "" {
			events = client.Tasks().Stream(ctx, c.Task, "")
		}
		for e, err := range events {
			if err != nil {
				return nil, err
			}
			out.Encode(map[string]any{"event": e.ID, "about": e.Resource.ID})
			if e.Resource.ID == c.Until {
				break
			}
		}
		return nil, nil
	case "upload":
		name := "tide.txt"
		artifact, err := client.Artifacts().Upload(ctx, []byte(c.Text), &wharf.RegisterArtifactQuery{Name: &name, SessionID: &c.Session}, options...)
		if err != nil {
			return nil, err
		}
		content, err := client.Artifacts().Content(ctx, artifact.ID)
		if err != nil {
			return nil, err
		}
		defer content.Close()
		text, err := io.ReadAll(content)
		return string(text), err
	case "receipt":
		task, err := client.Tasks().Get(ctx, c.Task)
		if err != nil {
			return nil, err
		}
		keys, err := client.Node().Keys(ctx)
		if err != nil {
			return nil, err
		}
		verified, err := client.Receipts().Verify(ctx, *task.ReceiptID, keys.Keys)
		if err != nil {
			return nil, err
		}
		return verified.Subject, nil
	case "verify":
		verified, err := wharf.VerifyReceipt(c.Wire, c.Keys)
		if err != nil {
			return nil, err
		}
		return verified.Hash, nil
	case "create key":
		answer := map[string]any{}
		err := client.Call(ctx, wharf.OpCreateKey, nil, nil, map[string]any{"name": c.Text, "scopes": []string{"tasks:read"}}, &answer)
		return answer["id"], err
	case "get task":
		task, err := client.Tasks().Get(ctx, c.Task)
		if err != nil {
			return nil, err
		}
		return task.Status, nil
	case "crowd":
		return c.crowd(ctx, client)
	case "socket":
		return c.socket(ctx, client)
	}
	return nil, fmt.Errorf("%s is not known", c.Do)
}

// crowd follows a Session many times at once, says something, and counts the streams that have shown it.
func (c *command) crowd(ctx context.Context, client *wharf.Client) (any, error) {
	const many = 50
	opened, showed := make(chan bool, many), make(chan bool, many)
	for range many {
		go func() {
			first := true
			for e, err := range client.Sessions().Stream(ctx, c.Session, "") {
				if first {
					opened <- true
				}
				first = false
				if err != nil || e.Event == "user.message" {
					showed <- err == nil
					return
				}
			}
			showed <- false
		}()
	}
	for range many {
		<-opened
	}
	if _, err := client.Sessions().Append(ctx, c.Session, &wharf.AppendMessageRequest{Message: *wharf.Say(c.Text)}); err != nil {
		return nil, err
	}
	count := 0
	for range many {
		if <-showed {
			count++
		}
	}
	return count, nil
}

// socket says something over a WebSocket and returns the ids of the Message in the answer and in the event.
func (c *command) socket(ctx context.Context, client *wharf.Client) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s, err := client.Sessions().Connect(ctx, c.Session, "")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	id, err := s.Send("message", map[string]any{"message": wharf.Say(c.Text)})
	if err != nil {
		return nil, err
	}
	var acked, event string
	for acked == "" || event == "" {
		f, err := s.Receive()
		if err != nil {
			return nil, err
		}
		var has struct {
			Resource struct{ ID string }
			Event    struct{ Resource struct{ ID string } }
			Error    any
		}
		if err := json.NewDecoder(bytes.NewReader(f.Text)).Decode(&has); err != nil {
			return nil, err
		}
		switch {
		case f.Type == "error":
			return nil, fmt.Errorf("%s", f.Text)
		case f.Type == "ack" && f.ID == id:
			acked = has.Resource.ID
		case f.Type == "event":
			event = has.Event.Resource.ID
		}
	}
	return []string{acked, event}, nil
}

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
	"strings"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/client/go"
)

type command struct {
	Do, URL, Key, Session, Task, Persona, Text, IdempotencyKey, Until, Module, Package string
	Wire                                                                               []byte
	Keys                                                                               []wharf.SigningKey
	OrAsked                                                                            bool
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
		artifact, err := client.Artifacts().Upload(ctx, strings.NewReader(c.Text), &wharf.RegisterArtifactQuery{Name: &name, SessionID: &c.Session}, options...)
		if err != nil {
			return nil, err
		}
		return text(client.Artifacts().Content(ctx, artifact.ID))
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
	case "install":
		return c.install(ctx, client, options)
	case "plugins":
		return c.plugins(ctx, client)
	case "connectors":
		return c.connectors(ctx, client)
	case "vaults":
		return c.vaults(ctx, client)
	case "files":
		return c.files(ctx, client)
	case "crowd":
		return c.crowd(ctx, client)
	case "socket":
		return c.socket(ctx, client)
	}
	return nil, fmt.Errorf("%s is not known", c.Do)
}

// text reads what a request was answered with.
func text(content io.ReadCloser, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	defer content.Close()
	all, err := io.ReadAll(content)
	return string(all), err
}

// install installs a module from its file, and returns its digest.
func (c *command) install(ctx context.Context, client *wharf.Client, options []wharf.Option) (any, error) {
	module, err := os.Open(c.Module)
	if err != nil {
		return nil, err
	}
	defer module.Close()
	p, err := client.Plugins().Install(ctx, c.Text, module, nil, options...)
	if err != nil {
		return nil, err
	}
	return p.Digest, nil
}

// plugins installs, switches and removes a plugin, and returns what it saw.
func (c *command) plugins(ctx context.Context, client *wharf.Client) (any, error) {
	var seen []any
	packed, err := os.Open(c.Package)
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	p, err := client.Plugins().InstallPackage(ctx, c.Text, packed, nil)
	if err != nil {
		return nil, err
	}
	seen = append(seen, p.Version, *p.PersonaID)
	manifest, err := client.Plugins().Manifest(ctx, c.Text, nil)
	if err != nil {
		return nil, err
	}
	seen = append(seen, strings.Contains(manifest.Text, "tide"))
	module, err := os.ReadFile(c.Module)
	if err != nil {
		return nil, err
	}
	second := "second"
	if p, err = client.Plugins().Install(ctx, c.Text, bytes.NewReader(module), &wharf.InstallPluginQuery{Version: &second}); err != nil {
		return nil, err
	}
	seen = append(seen, p.Version, len(p.Versions))
	if p, err = client.Plugins().Rollback(ctx, c.Text, &wharf.RollbackPluginRequest{}); err != nil {
		return nil, err
	}
	seen = append(seen, p.Version)
	if p, err = client.Plugins().Disable(ctx, c.Text); err != nil {
		return nil, err
	}
	seen = append(seen, p.Status)
	if p, err = client.Plugins().Enable(ctx, c.Text); err != nil {
		return nil, err
	}
	force := "true" // a Persona names it
	if err := client.Plugins().Remove(ctx, c.Text, &wharf.RemovePluginQuery{Force: &force}); err != nil {
		return nil, err
	}
	_, err = client.Plugins().Get(ctx, c.Text)
	return append(seen, p.Status, wharf.IsCode(err, wharf.CodeResourceNotFound)), nil
}

// connectors hands a Connector a delivery, twice, and follows what becomes of it.
func (c *command) connectors(ctx context.Context, client *wharf.Client) (any, error) {
	made, err := client.Connectors().Create(ctx, &wharf.CreateConnectorRequest{
		Provider: "generic", TargetPersonaID: &c.Persona, TargetSessionID: &c.Session, Settings: map[string]any{"task": map[string]any{"text": "{$.say}"}}})
	if err != nil {
		return nil, err
	}
	var seen []any
	for range 2 {
		received, err := client.Connectors().Deliver(ctx, made.ID, strings.NewReader(`{"say":"spring tide"}`),
			wharf.Header("Content-Type", "application/json"), wharf.Header("webhook-id", "msg_1"))
		if err != nil {
			return nil, err
		}
		seen = append(seen, received.Status)
	}
	for e, err := range client.Sessions().Stream(ctx, c.Session, "") {
		if err != nil {
			return nil, err
		}
		if e.Event == "task.completed" {
			break
		}
	}
	letters, err := client.Connectors().DeadLetters(ctx, made.ID, nil)
	if err != nil {
		return nil, err
	}
	if err := client.Connectors().Delete(ctx, made.ID); err != nil {
		return nil, err
	}
	return append(seen, len(letters.Data)), nil
}

// vaults keeps a secret, and removes it.
func (c *command) vaults(ctx context.Context, client *wharf.Client) (any, error) {
	vault, err := client.Vaults().Create(ctx, &wharf.CreateVaultRequest{Provider: "local", Capabilities: []string{"read", "write"}})
	if err != nil {
		return nil, err
	}
	if _, err := client.Vaults().Store(ctx, vault.ID, "crm", &wharf.StoreSecretRequest{Value: "s3cret", Hosts: []string{"crm.example.com"}}); err != nil {
		return nil, err
	}
	before, err := client.Vaults().Secrets(ctx, vault.ID, nil)
	if err != nil {
		return nil, err
	}
	if err := client.Vaults().RemoveSecret(ctx, vault.ID, "crm"); err != nil {
		return nil, err
	}
	after, err := client.Vaults().Secrets(ctx, vault.ID, nil)
	if err != nil {
		return nil, err
	}
	return []any{before.Data[0].Name, before.Data[0].Hosts[0], len(after.Data)}, nil
}

// files writes a file of a Workspace, reads it and removes it, and exports a Task.
func (c *command) files(ctx context.Context, client *wharf.Client) (any, error) {
	spaces, err := client.Workspaces().List(ctx, nil)
	if err != nil {
		return nil, err
	}
	space, path := spaces.Data[0].ID, "tides/"+c.Task+".txt"
	if _, err := client.Workspaces().PutFile(ctx, space, strings.NewReader(c.Text), &wharf.PutFileQuery{Path: &path}); err != nil {
		return nil, err
	}
	read, err := text(client.Workspaces().File(ctx, space, &wharf.GetFileQuery{Path: &path}))
	if err != nil {
		return nil, err
	}
	if err := client.Workspaces().DeleteFile(ctx, space, &wharf.DeleteFileQuery{Path: &path}); err != nil {
		return nil, err
	}
	_, err = client.Workspaces().File(ctx, space, &wharf.GetFileQuery{Path: &path})
	bundle, failed := text(client.Tasks().Bundle(ctx, c.Task))
	if failed != nil {
		return nil, failed
	}
	return []any{read, wharf.IsCode(err, wharf.CodeResourceNotFound), bundle.(string)[:2]}, nil
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

package main

import (
	"encoding/json"
	"fmt"
	"net/url"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// What is changed: a Skill each, which is made when it is first changed.
const (
	changingTool   = "test_changing_tool"
	changingPrompt = "test_changing_prompt"
)

// protocolVersion is that of the node's API that is spoken here.
const protocolVersion = "agents-protocol-2026-04-25"

func changeTool(*wharf.Task) (wharf.Result, error) { return change(changingTool, `{}`) }

func changePrompt(*wharf.Task) (wharf.Result, error) {
	return change(changingPrompt, `{"mcp":{"as":"prompt"}}`)
}

// node is the API of the node that this runs on: the setting "node" says where it is, and the secret
// "conformance" is a key to it.
type node struct{ url, key string }

func ownNode() (node, error) {
	var n node
	found, err := wharf.Config("node", &n.url)
	if err != nil {
		return node{}, err
	}
	if !found {
		return node{}, &wharf.Failure{Code: "not_configured", Message: "settings.conformance.node does not say where the node is"}
	}
	n.key, err = wharf.UseSecret("conformance")
	return n, err
}

// call sends a request and stores what is answered in v.
func (n node) call(method, path string, body, v any) error {
	r := wharf.FetchRequest{Method: method, URL: n.url + path, Purpose: "to change what is offered",
		Header: map[string]string{"Authorization": "Bearer " + n.key, "Harn-Agents-Protocol-Version": protocolVersion, "Content-Type": "application/json"}}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r.Text, r.IdempotencyHeader = string(text), "Idempotency-Key"
	}
	answer, err := wharf.Fetch(r)
	if err != nil {
		return err
	}
	if answer.Status >= 400 {
		return fmt.Errorf("%s %s: status %d: %s", method, path, answer.Status, answer.Text)
	}
	return json.Unmarshal(answer.Bytes(), v)
}

type skill struct {
	ID, Name, Description string
}

// find returns the id of a Skill, "" if there is none of the name.
func (n node) find(name string) (string, error) {
	var cursor string
	for {
		var page struct {
			Data []skill
			Page struct {
				NextCursor string `json:"next_cursor"`
				HasMore    bool   `json:"has_more"`
			}
		}
		if err := n.call("GET", "/v1/skills?limit=200&cursor="+url.QueryEscape(cursor), nil, &page); err != nil {
			return "", err
		}
		for _, s := range page.Data {
			if s.Name == name {
				return s.ID, nil
			}
		}
		if !page.Page.HasMore {
			return "", nil
		}
		cursor = page.Page.NextCursor
	}
}

// change makes a Skill, or gives the one that is there another description.
func change(name, metadata string) (wharf.Result, error) {
	n, err := ownNode()
	if err != nil {
		return wharf.Result{}, err
	}
	id, err := n.find(name)
	if err != nil {
		return wharf.Result{}, err
	}
	now, err := wharf.NewID()
	if err != nil {
		return wharf.Result{}, err
	}
	description := "Changes whenever it is told to; last as " + now + "."
	var changed skill
	if id != "" {
		err = n.call("PATCH", "/wharf/v1/skills/"+url.PathEscape(id), map[string]any{"description": description}, &changed)
	} else {
		err = n.call("POST", "/wharf/v1/skills", map[string]any{
			"persona_id": "persona_conformance_test_simple_text", "name": name, "description": description,
			"input_schema": map[string]any{"type": "object"}, "metadata": json.RawMessage(metadata),
		}, &changed)
	}
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("%s has changed.", changed.Name)
}

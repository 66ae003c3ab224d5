package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// minded is an office whose agent has blocks, and the tools that change them. between is called
// after each answer of the model.
func minded(have []wharf.Block, between func(h *wharftest.Host, turn int), answers ...wharf.ModelAnswer) (*wharftest.Host, *scripted) {
	h, model := office(answers...)
	h.Blocks = &wharf.Blocks{Version: int64(len(have)), Blocks: have}
	h.Tools = append(h.Tools, wharf.Tool{Server: "host", Name: "memory_replace"}, wharf.Tool{Server: "host", Name: "memory_append"})
	h.Complete = func(r wharf.ModelRequest) (wharf.ModelAnswer, error) {
		answer, err := model.complete(r)
		between(h, len(model.asked))
		return answer, err
	}
	h.CallTool = func(r wharf.ToolRequest) (wharf.ToolAnswer, error) {
		var asked struct {
			Label, Value, Text string
			Version            *int64
		}
		if err := json.Unmarshal(r.Arguments, &asked); err != nil {
			return wharf.ToolAnswer{}, err
		}
		w := wharf.BlockWrite{Label: asked.Label, Value: asked.Value, Version: asked.Version}
		if r.Name == "memory_append" {
			w.Value, w.Append = asked.Text, true
		}
		written, err := h.WriteBlock(w)
		if err != nil {
			return wharf.ToolAnswer{}, err
		}
		text, err := json.Marshal(written)
		return wharf.ToolAnswer{Content: []wharf.ToolContent{{Type: "text", Text: string(text)}}}, err
	}
	return h, model
}

func user(value string) []wharf.Block {
	return []wharf.Block{{Label: "user", Value: value, Version: 1}}
}

// What an agent has in mind is in its prompt, and what it or somebody else makes of it in the next.
func TestTheModelSeesItsBlocks(t *testing.T) {
	h, model := minded([]wharf.Block{{Label: "law", Value: "Be kind.", ReadOnly: true, Version: 1}, {Label: "user", Value: "Likes tea.", Version: 2}},
		func(h *wharftest.Host, turn int) {
			if turn == 2 {
				h.Blocks.Version, h.Blocks.Blocks[0].Value = 9, "Be brief."
			}
		}, wants(toolCall("c1", "host__memory_append", `{"label":"user","text":"Lives in Bern."}`)), wants(toolCall("c2", "host__memory_replace", `{"label":"a","value":"new"}`)), says("Done."))
	if outcome := h.Text(handle, "go"); outcome.Failure != nil {
		t.Fatal(outcome.Failure)
	}
	for i, want := range []string{
		"<block label=\"law\" read-only>\nBe kind.\n</block>\n\n<block label=\"user\">\nLikes tea.\n</block>",
		"<block label=\"user\">\nLikes tea.\nLives in Bern.\n</block>",
		"<block label=\"a\">\nnew\n</block>\n\n<block label=\"law\" read-only>\nBe brief.\n</block>",
	} {
		if got := model.asked[i].System; !strings.HasPrefix(got, defaultPrompt+"\n\nYour memory") || !strings.Contains(got, want) ||
			!strings.Contains(got, "host__memory_replace") || !strings.Contains(got, "host__memory_append") {
			t.Errorf("turn %d is told %q", i, got)
		}
	}
}

// A block that somebody has changed in the same turn is not lost: the model is told, and sees it. What it
// has written itself it replaces again without a look.
func TestNoBlockIsOverwrittenUnseen(t *testing.T) {
	replace := func(id, label, value string) wharf.ModelToolCall {
		return toolCall(id, "host__memory_replace", `{"label":"`+label+`","value":"`+value+`"}`)
	}
	h, model := minded(user("old"), func(h *wharftest.Host, turn int) {
		if turn == 1 {
			h.Blocks = &wharf.Blocks{Version: 5, Blocks: []wharf.Block{{Label: "hers", Value: "made", Version: 5}, {Label: "user", Value: "hers", Version: 4}}}
		}
	}, wants(replace("c1", "user", "mine"), replace("c2", "hers", "mine"), replace("c3", "own", "one"), replace("c4", "own", "two")),
		wants(replace("c6", "user", "both")), says("Done."))
	h.Text(handle, "go")
	for i, m := range model.asked[1].Messages[2:] {
		if failed := i < 2; m.IsError != failed {
			t.Errorf("call %d: %+v", i, m)
		}
	}
	if got := model.asked[1].System; !strings.Contains(got, "\nhers\n") || !strings.Contains(got, "\nmade\n") || !strings.Contains(got, "\ntwo\n") {
		t.Errorf("then the model is told %q", got)
	}
	if got := model.asked[2].System; !strings.Contains(got, "\nboth\n") {
		t.Errorf("after it has seen the block it is %q", got)
	}
}

// A line that is added does not make a change of somebody else's seen.
func TestAddingIsNotSeeing(t *testing.T) {
	h, model := minded(user("old"), func(h *wharftest.Host, turn int) {
		if turn == 1 {
			h.Blocks = &wharf.Blocks{Version: 2, Blocks: []wharf.Block{{Label: "user", Value: "hers", Version: 2}}}
		}
	}, wants(toolCall("c1", "host__memory_append", `{"label":"user","text":"more"}`), toolCall("c2", "host__memory_replace", `{"label":"user","value":"mine"}`)), says("Done."))
	h.Text(handle, "go")
	if got := model.asked[1].System; !strings.Contains(got, "\nhers\nmore\n") {
		t.Errorf("the model is told %q", got)
	}
}

// A Persona that has no blocks is offered no tools for them, and costs one question; so does one
// that may not ask.
func TestNoBlocks(t *testing.T) {
	for name, spoil := range map[string]func(*wharftest.Host){
		"no agent": func(h *wharftest.Host) { h.Blocks = nil },
		"denied": func(h *wharftest.Host) {
			h.Refuse = map[string]*wharf.Error{"block.list": {Status: wharf.StatusDenied, Code: "capability_denied", Message: "no"}}
		},
	} {
		h, model := minded(user("x"), nobody, wants(toolCall("c1", "files__read_file", `{}`)), says("Done."))
		spoil(h)
		if outcome := h.Text(handle, "go"); outcome.Failure != nil {
			t.Fatal(name, outcome.Failure)
		}
		asked := 0
		for _, call := range h.Calls {
			if call == "block.list" {
				asked++
			}
		}
		if model.asked[1].System != defaultPrompt || asked != 1 || len(model.asked[0].Tools) != 2 {
			t.Errorf("%s: %q, asked %d times, %d tools", name, model.asked[1].System, asked, len(model.asked[0].Tools))
		}
	}
	h, model := minded(nil, nobody, says("Done."))
	if h.Text(handle, "go"); model.asked[0].System != defaultPrompt || len(model.asked[0].Tools) != 4 {
		t.Errorf("an agent without blocks is told %q and offered %d tools: it makes its first", model.asked[0].System, len(model.asked[0].Tools))
	}
	h, model = minded(user("x"), nobody, says("Done."))
	h.Tools = slices.DeleteFunc(h.Tools, func(t wharf.Tool) bool { return t.Server == "host" })
	if h.Text(handle, "go"); !strings.Contains(model.asked[0].System, "Your memory") || strings.Contains(model.asked[0].System, "host__") {
		t.Errorf("one that may not change them is told %q", model.asked[0].System)
	}
	h, _ = minded(nil, nobody)
	h.Refuse = map[string]*wharf.Error{"block.list": {Status: wharf.StatusUnavailable, Code: "unreadable", Message: "no"}}
	if outcome := h.Text(handle, "go"); outcome.Failure == nil {
		t.Error("an agent whose memory cannot be read works without it")
	}
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// The host's tools that change blocks of memory.
func replacesBlocks(t wharf.Tool) bool  { return t.Server == "host" && t.Name == "memory_replace" }
func appendsToBlocks(t wharf.Tool) bool { return t.Server == "host" && t.Name == "memory_append" }

// blocks is the memory of the agent, as the model knows it.
type blocks struct {
	wharf.Blocks
	none bool // the Persona can have none: the host is not asked again
}

// look reads the blocks as they are now: people change them, and so do other Tasks of the agent.
func (b *blocks) look() error {
	if b.none {
		return nil
	}
	now, err := wharf.CurrentBlocks()
	if errors.Is(err, wharf.StatusNotFound) || errors.Is(err, wharf.StatusDenied) { // of a Persona that is no agent, or of before there were blocks
		b.none = true
		return nil
	}
	b.Blocks = now
	return err
}

// section is what the prompt says of the blocks. A model that has none yet learns of them by the
// tools.
func (b *blocks) section(box toolbox) string {
	if len(b.Blocks.Blocks) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("Your memory, which you have in every task. It is in blocks with labels.")
	if tool := box.nameOf(replacesBlocks); tool != "" {
		fmt.Fprintf(&text, " With the tool %s you give a block another value, or make one.", tool)
	}
	if tool := box.nameOf(appendsToBlocks); tool != "" {
		fmt.Fprintf(&text, " With the tool %s you add a line to one.", tool)
	}
	for _, block := range b.Blocks.Blocks {
		how := ""
		if block.ReadOnly {
			how = " read-only"
		}
		fmt.Fprintf(&text, "\n\n<block label=%q%s>\n%s\n</block>", block.Label, how, block.Value)
	}
	return text.String()
}

// find returns a block of which only the label need be there.
func (b *blocks) find(label string) *wharf.Block {
	for i := range b.Blocks.Blocks {
		if b.Blocks.Blocks[i].Label == label {
			return &b.Blocks.Blocks[i]
		}
	}
	return nil
}

// from puts into the arguments of the tool that replaces a value which one the model has seen: when
// somebody has changed the block meanwhile, nothing is lost.
func (b *blocks) from(arguments json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	var asked struct {
		Label string `json:"label"`
	}
	if json.Unmarshal(arguments, &members) != nil || members == nil || json.Unmarshal(arguments, &asked) != nil {
		return arguments // the host says what is wrong
	}
	var seen int64
	if block := b.find(asked.Label); block != nil {
		seen = block.Version
	}
	members["version"] = fmt.Appendf(nil, "%d", seen)
	with, err := json.Marshal(members)
	if err != nil {
		return arguments
	}
	return with
}

// take takes over that the model itself has given a block its value: what it has written it has seen.
// What it adds a line to it may not have seen as a whole: that it is shown in its next turn.
func (b *blocks) take(answer wharf.ToolAnswer) {
	var now wharf.WrittenBlock
	if json.Unmarshal([]byte(answer.Text()), &now) != nil {
		return
	}
	if block := b.find(now.Label); block != nil {
		block.Version = now.Version
		return
	}
	b.Blocks.Blocks = append(b.Blocks.Blocks, wharf.Block{Label: now.Label, Version: now.Version})
}
